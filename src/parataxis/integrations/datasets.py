"""Splitting a column of a Hugging Face dataset, with ``dataset.map``."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from parataxis import __version__
from parataxis.api import DEFAULT_SPLITTER, Splitter
from parataxis.errors import InputError, ParataxisError
from parataxis.integrations.texts import Names, split_texts
from parataxis.rewrite.jsonl import to_json
from parataxis.splitters.registry import SentenceSplitter

if TYPE_CHECKING:
    from datasets import Features

__all__ = ["SplitColumn"]


class SplitColumn:
    """A function for ``map`` that adds three columns; the options are those of ``Splitter``.

    For a column "text", whose texts may hold several sentences, these are "text_simple" (the text
    with its sentences split), "text_rewrites" (a list of rewrites as JSON lines, one for each
    sentence) and "text_sentences" (how many simple sentences there are). Where the text is None,
    all three are.

    It is sent to other processes without its models, and its fingerprint depends on the options
    and on the version of Parataxis, so the cache of a dataset is used when, and only when, the
    result would be the same.

    >>> batch = SplitColumn("text", splitter="source")({"text": ["It rained. Ann left.", None]})
    >>> batch["text_simple"], batch["text_sentences"]
    (['It rained. Ann left.', None], [2, None])
    """

    def __init__(
        self,
        column: str,
        *,
        splitter: str | SentenceSplitter = DEFAULT_SPLITTER,
        strict: bool = False,
        beam: int | None = None,
        check: bool = False,
    ) -> None:
        self.column = column
        self.version = __version__
        self._splitter = Splitter(splitter, check=check, strict=strict, beam=beam)

    def __call__(self, batch: Mapping[str, Sequence[Any]]) -> dict[str, list[Any]]:
        """The new columns of a batch."""
        texts = batch.get(self.column)
        if texts is None:
            raise InputError(f'The dataset has no column "{self.column}"; name one that it has.')
        if isinstance(texts, str):
            raise InputError("Texts are split in batches; call map with batched=True.")
        results = split_texts(self._splitter, texts)
        names = Names.of(self.column)
        return {
            names.simple: [each and each.text for each in results],
            names.rewrites: [each and list(map(to_json, each.rewrites)) for each in results],
            names.sentences: [each and len(each.simple) for each in results],
        }

    def features(self, features: "Features") -> "Features":
        """The columns of a dataset and the new ones with their types.

        ``map`` takes the types from the first texts. Where many texts are missing, tell it:
        ``dataset.map(split, batched=True, features=split.features(dataset.features))``.
        """
        try:
            from datasets import Features, Value
        except ImportError as error:
            raise ParataxisError(
                "Features need Hugging Face datasets; install them with: pip install datasets."
            ) from error
        names = Names.of(self.column)
        text = Value("string")
        added = {names.simple: text, names.rewrites: [text], names.sentences: Value("int64")}
        return Features({**features, **added})
