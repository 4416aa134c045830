"""Splitting a column of a Hugging Face dataset, with ``dataset.map``."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Unpack

from parataxis import __version__
from parataxis.api import Splitter
from parataxis.errors import InputError, ParataxisError
from parataxis.integrations.texts import ColumnOptions, TextColumn

if TYPE_CHECKING:
    from datasets import Features

__all__ = ["SplitColumn"]


class SplitColumn:
    """A function for ``map`` that adds the columns that
    :func:`parataxis.integrations.pandas.split_column` adds; records are JSON.

    It is pickled without its models. Its fingerprint depends on the options and on the version of
    Parataxis, so a dataset is read from the cache exactly if the result would be the same.

    >>> batch = SplitColumn("text", splitter="source")({"text": ["It rained. Ann left.", None]})
    >>> batch["text_simple"], batch["text_sentences"]
    (['It rained. Ann left.', None], [['It rained.', 'Ann left.'], None])
    """

    def __init__(self, column: str, **options: Unpack[ColumnOptions]) -> None:
        self.column, given = TextColumn.of(column, options)
        self.version = __version__
        self._splitter = Splitter(**given)

    def __call__(self, batch: Mapping[str, Sequence[Any]]) -> dict[str, list[Any]]:
        """The added columns of a batch."""
        texts = batch.get(self.column.name)
        if texts is None:
            raise InputError(
                f'The dataset has no column "{self.column.name}"; name one that it has.'
            )
        if isinstance(texts, str):
            raise InputError("Texts are split in batches; call map with batched=True.")
        places, added = self.column(self._splitter, texts)
        if not self.column.by_sentence:
            return dict(added)
        others = {name: [values[place] for place in places] for name, values in batch.items()}
        return {**others, **added}

    def features(self, features: "Features") -> "Features":
        """The columns of a dataset and the added ones, with their types.

        ``map`` infers types from the first texts. If many texts are missing, pass the types:
        ``dataset.map(split, batched=True, features=split.features(dataset.features))``.
        """
        try:
            from datasets import Features, Value
        except ImportError as error:
            raise ParataxisError(
                "Features need Hugging Face datasets; install them with: pip install datasets."
            ) from error
        text = Value("string")
        added = {name: [text] if many else text for name, many in self.column.added.items()}
        return Features({**features, **added})
