"""The items of a study, read from its files: sources to be rewritten, rewrites to be rated, and
items with known answers."""

import csv
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

from pydantic import ConfigDict, Field, TypeAdapter, ValidationError

from parataxis.errors import InputError
from parataxis.evaluate.corpora.sentences import by_segmenter, cut_line, has_mark, on_one_line
from parataxis.rewrite.jsonl import UNKNOWN_SPLITTER, id_of, read_record, read_rewrites, source_of
from parataxis.rewrite.record import Rewrite
from parataxis.studies.records import FLAG, REWRITE, Answers, Flag, Purpose, Text, Value
from parataxis.studies.study import ItemKind, Study
from parataxis.text.files import from_plain_cell, strict_lines, unquoted

Expected = Mapping[str, Value | Sequence[Value]]
"""Known answers by question; a list holds all correct answers."""

_Known = bool | int | float | str | None
_EXPECTED: TypeAdapter[dict[str, Any]] = TypeAdapter(
    Annotated[
        dict[str, _Known | Annotated[list[_Known], Field(min_length=1)]], Field(min_length=1)
    ],
    config=ConfigDict(strict=True),
)
_COLUMNS = {
    "source": ("source", "complex", "original"),
    "rewrite": ("rewrite", "simple", "target", "suggested rewrite"),
    "splitter": ("splitter", "system"),
    "id": ("id",),
    "hard": ("hard",),
}
"""The columns of a table, each by any of several names."""
_YES = ("true", "yes", "1")


@dataclass(frozen=True)
class Item:
    """A source or a rewrite. ``rewrite`` is None if it is yet to be written."""

    id: str
    source: str
    rewrite: Rewrite | None = None
    purpose: Purpose = Purpose.ITEM
    expected: Expected = field(default_factory=dict)
    feedback: Text | None = None
    hard: bool = False
    """Whether writers get a bonus for it."""

    @property
    def kind(self) -> ItemKind:
        return ItemKind.WRITE if self.rewrite is None else ItemKind.RATE


def as_expected(expected: Expected, answers: Answers, tolerance: float = 0) -> dict[str, bool]:
    """For each question with a known answer, whether that answer was given.

    >>> as_expected({"sensical": 5, "new": False}, {"sensical": 4, "new": False}, tolerance=1)
    {'sensical': True, 'new': True}
    """
    return {
        question: any(_same(answers.get(question), right, tolerance) for right in _list(known))
        for question, known in expected.items()
    }


SENTENCES, KEEPS = "sentences", "keeps"
"""What can be expected of a rewrite besides a flag: the number of its sentences, and words that it
must have."""


def written_as_expected(
    expected: Expected, answers: Answers, tolerance: float = 0
) -> dict[str, bool]:
    """The same for what a writer wrote.

    >>> written = {"rewrite": "Ann left in 1931. She is back."}
    >>> written_as_expected({"sentences": [2, 3], "keeps": ["1931", "not"]}, written)
    {'sentences': True, 'keeps': False}
    """
    flag, text = answers.get(FLAG), str(answers.get(REWRITE) or "")
    facts: Answers = {FLAG: flag, SENTENCES: 0 if flag else len(sentences_of(text))}
    words = expected.get(KEEPS, ())
    wanted = [words] if isinstance(words, str) else words
    kept = not flag and all(str(word).lower() in text.lower() for word in _list(wanted))
    found = as_expected(expected, facts, tolerance)
    return found | ({KEEPS: kept} if KEEPS in expected else {})


def _list(value: Any) -> Sequence[Any]:
    return value if isinstance(value, list | tuple) else [value]


def _same(given: Value, right: Any, tolerance: float) -> bool:
    """Whether an answer is correct; unlike in Python, yes and no are not numbers."""
    if isinstance(given, bool) or isinstance(right, bool):
        return given is right
    if isinstance(given, int | float) and isinstance(right, int | float):
        return abs(given - right) <= tolerance
    if isinstance(given, str) and isinstance(right, str):
        return on_one_line(given) == on_one_line(right)
    return bool(given == right)


def read_items(study: Study) -> list[Item]:
    """Read all items of a study from its files; ids must be unique."""
    if study.items is None and study.write is None:
        raise InputError(
            f'The study "{study.name}" has nothing to do: it needs "items" (rewrites to be rated) '
            'or "write" (sources to be rewritten).'
        )
    items: list[Item] = []
    if study.write:
        sources = [
            Item(id_, source, hard=str(record.get("hard", "")).strip().lower() in _YES)
            for id_, source, record in _sources(study.write.sources)
        ]
        items += _not_empty(sources, study.write.sources)
        if own := study.write.qualification:
            items += _source_controls(own.training, Purpose.TRAINING)
            items += _source_controls(own.test, Purpose.TEST)
    if study.items:
        items += _not_empty(_with_unique_ids(list(_rewrites(study.items))), study.items)
    if study.qualification:
        items += _controls(study.qualification.training, Purpose.TRAINING)
        items += _controls(study.qualification.test, Purpose.TEST)
    for purpose in (Purpose.ATTENTION, Purpose.KNOWN):
        if controls := study.controls(purpose):
            items += _controls(controls.items, purpose)
    seen: set[str] = set()
    for item in items:
        if item.id in seen:
            raise InputError(f'Two items of the study have the id "{item.id}".')
        seen.add(item.id)
    return items


def _not_empty(items: list[Item], path: Path) -> list[Item]:
    if not items:
        raise InputError(f"{path} has no items.")
    return items


def _with_unique_ids(rewrites: Sequence[Rewrite]) -> list[Item]:
    """The rewrites as items. Several systems that rewrote the same corpus use its ids; in that
    case the name of the system is added."""
    times = Counter(rewrite.id for rewrite in rewrites)
    by_system = Counter((rewrite.id, rewrite.splitter) for rewrite in rewrites)

    def id_of(rewrite: Rewrite) -> str:
        is_shared = times[rewrite.id] > 1 and by_system[rewrite.id, rewrite.splitter] == 1
        return f"{rewrite.id}@{rewrite.splitter}" if is_shared else rewrite.id or ""

    return [Item(id_of(rewrite), rewrite.source, rewrite) for rewrite in rewrites]


def _controls(path: Path | None, purpose: Purpose) -> list[Item]:
    """Read items with known answers. These are removed from the rewrite, which raters see."""
    if path is None:
        return []
    found = []
    for rewrite in _rewrites(path):
        record = rewrite.model_dump(exclude_none=True)
        expected, feedback = _known(record, rewrite.id or "", path)
        bare = Rewrite.model_validate(record)
        found.append(Item(rewrite.id or "", rewrite.source, bare, purpose, expected, feedback))
    return _not_empty(found, path)


def _source_controls(path: Path | None, purpose: Purpose) -> list[Item]:
    """Read sources to qualify with, and what is expected of their rewrites."""
    if path is None:
        return []
    found = []
    for id_, source, record in _sources(path):
        expected, feedback = _known(dict(record), id_, path)
        for name, value in expected.items():
            possible = {FLAG: list(Flag), SENTENCES: range(1, 1001), KEEPS: None}
            wrong = name not in possible
            if not wrong and (known := possible[name]) is not None:
                wrong = any(each not in known for each in _list(value))
            if wrong:
                raise InputError(
                    f'The item "{id_}" of {path} expects "{name}": {value!r}; of a rewrite can be '
                    f'expected "{FLAG}" (simple or too-hard), "{SENTENCES}" and "{KEEPS}".'
                )
        found.append(Item(id_, source, None, purpose, expected, feedback))
    return _not_empty(found, path)


def _known(record: dict[str, Any], id_: str, path: Path) -> tuple[Expected, Text | None]:
    """The expected answers and the feedback of an item, taken out of its record."""
    feedback = record.pop("feedback", None)
    try:
        expected = _EXPECTED.validate_python(record.pop("expected", None))
    except ValidationError as error:
        raise InputError(
            f'The item "{id_}" of {path} needs "expected": answers by question.'
        ) from error
    if feedback is not None and not isinstance(feedback, str | dict):
        raise InputError(f'The "feedback" of the item "{id_}" of {path} is not a text.')
    return expected, feedback


def _sources(path: Path) -> Iterator[tuple[str, str, Mapping[str, Any]]]:
    """The ids, the sources and the records of a file of sources."""
    match path.suffix.lower():
        case ".jsonl" | ".json":
            for number, line in enumerate(strict_lines(path), start=1):
                if line.strip():
                    record = read_record(line, path.name, number)
                    known = id_of(record, path.name, number), source_of(record, path.name, number)
                    yield *known, record
        case ".tsv" | ".csv":
            yield from ((row["id"], row["source"], row) for row in _rows(path, "source"))
        case _:
            for number, line in enumerate(strict_lines(path), start=1):
                if line.strip():
                    yield f"{path.name}:{number}", line.strip(), {}


def _rewrites(path: Path) -> Iterator[Rewrite]:
    if path.suffix.lower() not in {".tsv", ".csv"}:
        yield from read_rewrites(strict_lines(path), path.name)
        return
    rows = list(_rows(path, "source", "rewrite"))
    marked = any(has_mark(row["rewrite"]) for row in rows)
    for row in rows:
        yield Rewrite(
            source=row["source"],
            simple=cut_line(row["rewrite"], marked=marked),
            splitter=row["splitter"] or UNKNOWN_SPLITTER,
            id=row["id"],
        )


def _rows(path: Path, *needed: str) -> Iterator[dict[str, str]]:
    """The rows of a TSV or CSV file by the names of ``_COLUMNS``. The first row is a header if it
    names a source column; otherwise the first two columns are sources and rewrites."""
    header: list[str] | None = None
    for number, cells in _cells(path):
        if not any(cell.strip() for cell in cells):
            continue
        if header is None:
            header = [cell.strip().lower() for cell in cells]
            if set(header) & set(_COLUMNS["source"]):
                continue
            header = ["source", "rewrite"]
        texts = (from_plain_cell(cell).strip() for cell in cells)
        given = dict(zip(header, texts, strict=False))
        row = {
            column: next((given[name] for name in names if given.get(name)), "")
            for column, names in _COLUMNS.items()
        }
        for column in needed:
            if not row[column]:
                raise InputError(f'{path.name}, line {number}: there is no "{column}".')
        yield row | {"id": row["id"] or f"{path.name}:{number}"}


def _cells(path: Path) -> Iterator[tuple[int, list[str]]]:
    """The numbered rows. In TSV each line is a row, since texts may begin with a quotation mark."""
    if path.suffix.lower() == ".tsv":
        for number, line in enumerate(strict_lines(path), start=1):
            yield number, [unquoted(cell) for cell in line.split("\t")]
        return
    reader = csv.reader((f"{line}\n" for line in strict_lines(path)), strict=True)
    try:
        for row in reader:
            yield reader.line_num, row
    except csv.Error as error:
        raise InputError(f"{path.name}, line {reader.line_num}: {error}.") from error


# --- What writers type


class Effort(StrEnum):
    """Why a text is not accepted as a rewrite."""

    EMPTY = "empty"
    SAME = "same"
    """It is equal to the source."""
    TOO_FEW = "too-few"
    """It has fewer sentences than the study asks for."""


def sentences_of(text: str) -> tuple[str, ...]:
    """The simple sentences of a text: its lines if there are several, otherwise the sentences
    that the segmenter finds.

    >>> sentences_of("Dr. Lee left. He is back!"), sentences_of("One, e.g. this.\\n\\nTwo.")
    (('Dr. Lee left.', 'He is back!'), ('One, e.g. this.', 'Two.'))
    """
    lines = [on_one_line(line) for line in text.splitlines() if line.strip()]
    return tuple(lines) if len(lines) > 1 else by_segmenter(text)


def effort(source: str, text: str, sentences: int) -> Effort | None:
    """Why a text is not accepted as a rewrite, or None.

    >>> effort("Ann, who left, is back.", "Ann is back.", 2)
    <Effort.TOO_FEW: 'too-few'>
    """
    found = sentences_of(text)
    if not found:
        return Effort.EMPTY
    if on_one_line(text) == on_one_line(source):
        return Effort.SAME
    return Effort.TOO_FEW if len(found) < sentences else None
