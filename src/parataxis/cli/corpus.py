"""``parataxis corpus``: read, write, describe and compare corpora of split sentences."""

from parataxis.cli.corpus_collect import collect
from parataxis.cli.corpus_convert import convert, formats
from parataxis.cli.corpus_describe import describe
from parataxis.cli.corpus_inputs import TableFormat, TableFormatOption
from parataxis.cli.corpus_leaks import leaks
from parataxis.cli.corpus_websplit import build_websplit, split, verify
from parataxis.cli.group import make_group

__all__ = ["TableFormat", "TableFormatOption", "corpus"]

corpus = make_group(
    "corpus",
    (formats, convert, describe, leaks, collect, build_websplit, split, verify),
    summary="Read, write, describe and compare corpora of split sentences.",
)
