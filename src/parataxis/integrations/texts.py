"""Splitting a column of texts: what all kinds of tables have in common.

The added columns are plain (text and lists of text), so every table can be saved.
"""

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from parataxis.api import DocumentRewrite, Splitter
from parataxis.errors import InputError
from parataxis.rewrite.jsonl import to_json
from parataxis.rewrite.record import Rewrite
from parataxis.run.units import CellKind, RowKind, cell_spans
from parataxis.splitters.registry import SentenceSplitter
from parataxis.splitters.settings import SettingOptions
from parataxis.syntax.onnx import THREADS_VARIABLE
from parataxis.text.documents import Document, read_document

Added = Mapping[str, list[Any]]
"""The values of the added columns."""


class ColumnOptions(SettingOptions, total=False):
    """The options of a function that splits a column: those of ``Splitter``, and ``cell``, ``rows``
    and ``records``; see :class:`TextColumn`."""

    splitter: str | SentenceSplitter
    check: bool
    cell: str
    rows: str
    records: bool


@dataclass(frozen=True)
class TextColumn:
    """A column of text. ``cell`` says whether each text is cut into sentences or is one sentence;
    ``rows``, whether each row gives one row or one for each of its sentences. With ``records``,
    there is a column of rewrites.

    >>> split = TextColumn("text", rows="sentence")
    >>> rows, added = split(Splitter("source"), ["It rained. Ann left.", None])
    >>> rows, added["text_source"]
    ([0, 0, 1], ['It rained.', 'Ann left.', None])
    """

    name: str
    cell: str = CellKind.TEXT
    rows: str = RowKind.INPUT
    records: bool = False

    @classmethod
    def of(cls, name: str, options: ColumnOptions) -> tuple["TextColumn", dict[str, Any]]:
        """The column with its options, and those of ``Splitter``."""
        given: dict[str, Any] = dict(options)
        own = {key: given.pop(key) for key in ("cell", "rows", "records") if key in given}
        return cls(name, **own), given

    def __post_init__(self) -> None:
        for name, choices in (
            ("cell", tuple(CellKind)),
            ("rows", (RowKind.INPUT, RowKind.SENTENCE)),
        ):
            if getattr(self, name) not in choices:
                raise InputError(f'{name} is "{choices[0]}" or "{choices[1]}".')

    @property
    def by_sentence(self) -> bool:
        return self.rows == RowKind.SENTENCE

    @property
    def added(self) -> dict[str, bool]:
        """The names of the added columns, and whether they hold lists."""
        kinds = {"source": False} if self.by_sentence else {}
        kinds |= {"simple": False, "sentences": True}
        if self.records:
            kinds["rewrites"] = True
        return {f"{self.name}_{each}": is_list for each, is_list in kinds.items()}

    def check(self, names: Sequence[str]) -> None:
        """Raise InputError unless a frame has the column once, and none of those that are added."""
        found = list(names).count(self.name)
        if found != 1:
            problem = "no column" if found == 0 else f"{found} columns"
            raise InputError(f'The frame has {problem} "{self.name}"; name one that it has once.')
        for name in self.added:
            if name in names:
                raise InputError(f'The frame has a column "{name}" already; drop or rename it.')

    def __call__(
        self,
        splitter: Splitter,
        texts: Sequence[str | None],
        record: Callable[[Rewrite], Any] = to_json,
    ) -> tuple[list[int], Added]:
        """The index of the text that each row comes from, and the added columns; ``record``
        converts each rewrite. A missing text gives a row of None."""
        documents = [self._read(place, text) for place, text in enumerate(texts)]
        rewrites = splitter.pipe(
            sentence.text for document in documents if document for sentence in document.sentences
        )
        rows: list[tuple[int, tuple[Any, ...]]] = []
        for place, document in enumerate(documents):
            if document is None:
                rows.append((place, (None,) * 4))
                continue
            made = [next(rewrites) for _ in document.sentences]
            made = splitter.in_context(made, document.following)
            if self.by_sentence and made:
                for each in made:
                    simple = list(each.simple)
                    rows.append((place, (each.source, " ".join(simple), simple, [record(each)])))
            else:
                whole = DocumentRewrite(document, made)
                records = [record(each) for each in made]
                rows.append((place, (None, whole.text, whole.simple, records)))
        first = 0 if self.by_sentence else 1
        values = [[cells[first + n] for _, cells in rows] for n in range(len(self.added))]
        return [place for place, _ in rows], dict(zip(self.added, values, strict=True))

    def _read(self, place: int, text: str | None) -> Document | None:
        if text is None:
            return None
        if not isinstance(text, str):
            raise InputError(
                f"Row {place + 1} holds {text!r}, which is no text; convert the column to text."
            )
        if self.cell == CellKind.TEXT or not text.strip():  # blank text has no sentences
            return read_document(text)
        return Document(text, cell_spans(text, CellKind.SENTENCE))


@cache
def splitter_of_process(**given: Any) -> Splitter:
    """The splitter of a worker process, which serves all its tasks and uses one core."""
    os.environ.setdefault(THREADS_VARIABLE, "1")
    return Splitter(**given)
