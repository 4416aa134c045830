"""Rewrites of a corpus by an exported model, also by one that reads the corpus's triples."""

import logging
from collections.abc import Iterator, Sequence
from pathlib import Path

from parataxis.corpora.example import Example, gather
from parataxis.corpora.files import write_files
from parataxis.errors import InputError
from parataxis.rewrite.jsonl import to_json
from parataxis.rewrite.record import Rewrite
from parataxis.splitters.lstm import CopySplitter, Seq2SeqSplitter
from parataxis.splitters.lstm.model import TRIPLES, Description
from parataxis.splitters.lstm.triples import TriplesSplitter
from parataxis.training.lstm.data import read_corpora

__all__ = ["rewrite_corpora", "rewrite_examples"]

log = logging.getLogger(__name__)

_EVERY = 200
"""Rewrites between two lines of progress."""


def rewrite_corpora(
    model: Path, names: Sequence[str], output: Path, *, beam: int, limit: int | None = None
) -> int:
    """Write a rewrite of each source of the corpora, with the id of its example, and return their
    number; the file appears when all are written."""
    examples = gather(read_corpora(names, limit))
    rewrite_examples(model, examples, output, beam=beam, name=", ".join(names))
    return len(examples)


def rewrite_examples(
    model: Path, examples: Sequence[Example], output: Path, *, beam: int, name: str
) -> None:
    """Write a rewrite of each source, with the id of its example; the file appears when all are
    written. Messages call the examples by ``name``."""
    description = Description.read(model)
    rewrites = (
        _from_triples(TriplesSplitter(model, beam=beam), examples, name)
        if description.reads == TRIPLES
        else (CopySplitter if description.copies else Seq2SeqSplitter)(model, beam=beam).pipe(
            example.source for example in examples
        )
    )
    with write_files([output]) as (write,):
        for number, (example, rewrite) in enumerate(zip(examples, rewrites, strict=True), start=1):
            write(to_json(rewrite.model_copy(update={"id": example.id})))
            if number % _EVERY == 0 or number == len(examples):
                log.info("%d of %d sources are rewritten", number, len(examples))


def _from_triples(
    splitter: TriplesSplitter, examples: Sequence[Example], name: str
) -> Iterator[Rewrite]:
    if not any(example.triples for example in examples):
        raise InputError(f"{name} has no triples, and {splitter.name} reads them.")
    return (splitter.rewrite(example.source, example.triples) for example in examples)
