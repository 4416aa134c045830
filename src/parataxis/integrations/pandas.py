"""Splitting a column of a pandas frame.

It is a function, not an accessor (``frame["text"].parataxis``): it needs no import for its side
effect, editors and type checkers know its options, and it chains as
``frame.pipe(split_column, "text")``.
"""

from typing import TYPE_CHECKING

from parataxis.api import DEFAULT_SPLITTER, Splitter
from parataxis.errors import InputError, ParataxisError
from parataxis.integrations.texts import Names, split_texts
from parataxis.splitters.registry import SentenceSplitter

if TYPE_CHECKING:
    from pandas import DataFrame

__all__ = ["split_column"]


def split_column(
    frame: "DataFrame",
    column: str,
    *,
    splitter: str | SentenceSplitter = DEFAULT_SPLITTER,
    strict: bool = False,
    beam: int | None = None,
    check: bool = False,
) -> "DataFrame":
    """A copy of the frame with three more columns; index and other columns stay as they are.

    For a column "text", whose cells may hold several sentences, these are "text_simple" (the text
    with its sentences split), "text_rewrites" (a list of rewrites, one for each sentence) and
    "text_sentences" (how many simple sentences there are). Where the text is missing, all three
    are. The options are those of :class:`parataxis.Splitter`.
    """
    try:
        import pandas
    except ImportError as error:
        raise ParataxisError(
            "Splitting a column needs pandas; install it with: pip install 'parataxis[pandas]'."
        ) from error
    names = Names.of(column)
    _check(frame, column, names)
    made = Splitter(splitter, check=check, strict=strict, beam=beam)
    cells = frame[column]
    texts = [None if gone else text for text, gone in zip(cells, cells.isna(), strict=True)]
    results = split_texts(made, texts)
    # Another kind of column, such as categories, cannot hold new texts.
    text_type = cells.dtype if pandas.api.types.is_string_dtype(cells.dtype) else None

    def series(values: list[object], dtype: object) -> object:
        return pandas.Series(values, index=frame.index, dtype=dtype)

    return frame.assign(
        **{
            names.simple: series([each and each.text for each in results], text_type),
            names.rewrites: series([each and list(each.rewrites) for each in results], object),
            names.sentences: series([each and len(each.simple) for each in results], "Int64"),
        }
    )


def _check(frame: "DataFrame", column: str, names: Names) -> None:
    found = list(frame.columns).count(column)
    if found != 1:
        problem = "no column" if found == 0 else f"{found} columns"
        raise InputError(f'The frame has {problem} "{column}"; name one that it has once.')
    for name in names:
        if name in frame.columns:
            raise InputError(f'The frame has a column "{name}" already; drop or rename it.')
