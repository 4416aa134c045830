"""The sentences of a command's inputs, and their analyses, as they arrive."""

from collections.abc import Iterable, Iterator, Sequence

from parataxis.cli.inputs import Input
from parataxis.cli.terminal import Progress
from parataxis.cli.units import InputFormat, read_units
from parataxis.errors import TooLongError
from parataxis.rewrite.jsonl import SourceLine
from parataxis.syntax.analysis import Analysis

__all__ = ["analyse_batches", "read_sentences", "total_size"]


def read_sentences(
    sources: Iterable[Input], chosen: InputFormat, progress: Progress | None = None
) -> Iterator[list[SourceLine]]:
    """The sentences of all inputs, in batches, fewer at a time where no more has arrived yet."""
    for source in sources:
        for batch in read_units(source, chosen):
            sentences = [sentence for unit in batch for sentence in unit.sentences]
            yield sentences
            if progress:
                progress.advance(sum(unit.size for unit in batch), len(sentences))


def analyse_batches(
    batches: Iterable[Sequence[SourceLine]],
) -> Iterator[tuple[SourceLine, Analysis | TooLongError]]:
    """Each sentence with its analysis, or with the error where it is too long for one."""
    from parataxis.syntax.analyser import load_analyser  # slow, and `--help` does without

    for batch in batches:
        results = load_analyser().pipe(sentence.source for sentence in batch)
        yield from zip(batch, results, strict=True)


def total_size(sources: Sequence[Input]) -> int | None:
    """The bytes of all inputs together, or None where one of them is a stream."""
    sizes = [source.size for source in sources if source.size is not None]
    return sum(sizes) if len(sizes) == len(sources) else None
