"""A long run: many or huge files in, rewrites out, by any engine.

How to plug in another engine (a cluster, a GPU). Everything that is special to where the work is
done is in two callables; reading, order, checkpoints, resuming and writing are the same for all.

*A rewriter* (:data:`parataxis.run.work.Rewriter`) turns a list of sentences into their rewrites,
in order. It must pickle small: make a dataclass that loads its model on the first call, as
:class:`parataxis.run.work.SplitterTask` does. A GPU is a rewriter that is called with large
batches: ``run(..., sentences=8192)``.

*An engine* (:data:`Engine`) takes the batches and the :class:`parataxis.run.work.Work`, applies
``work(batch.units)`` to each batch wherever it likes, and gives back ``(batch, encoded)`` in the
order of the batches. It must read batches lazily, only a few ahead, and raise what fails. What it
gives back are bytes that are ready to be written, so that little travels. ``work`` is
deterministic, so a batch may be done twice (after a lost machine) and the output stays the same.

    def my_engine(batches, work):
        for batch in batches:
            yield batch, work(batch.units)
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Protocol

from parataxis.errors import ParataxisError
from parataxis.run.checkpoint import Checkpoint
from parataxis.run.files import DataFile
from parataxis.run.output import RunOutput
from parataxis.run.pool import in_order
from parataxis.run.reading import Batch, read_batches
from parataxis.run.units import BadRecord, Unit
from parataxis.run.work import Encoded, Work

SENTENCES = 256
"""Sentences of a batch."""

Engine = Callable[[Iterable[Batch], Work], Iterable[tuple[Batch, Encoded]]]
"""Does the work on batches, and gives them back in order with their results."""


class Watcher(Protocol):
    """Is told how a run goes on; an error that it raises ends the run, which can be resumed."""

    def advance(self, size: int, sentences: int) -> None:
        """So many bytes of the input and sentences are done."""

    def problem(self, problem: BadRecord) -> None:
        """Something could not be read or rewritten, and is passed through."""


@dataclass(frozen=True)
class Local:
    """The engine of this machine: ``jobs`` processes."""

    jobs: int = 1

    def __call__(self, batches: Iterable[Batch], work: Work) -> Iterator[tuple[Batch, Encoded]]:
        """Do the work here."""
        prepare = getattr(work.rewrite, "prepare", None)
        return in_order(batches, work, sent=_units, jobs=self.jobs, threads=1, prepare=prepare)


def run(
    files: Sequence[DataFile],
    work: Work,
    output: RunOutput,
    watcher: Watcher,
    *,
    engine: Engine,
    column: str | None = None,
    sentences: int = SENTENCES,
) -> Checkpoint:
    """Read files from where the output has come to, work on them, write the rest of the output.

    Returns the counts of the whole run, also of the parts that were done before.
    """
    batches = read_batches(
        files, column, output.now.position, sentences=sentences, by_file=output.by_file
    )
    write_all(engine(batches, work), output, watcher)
    return output.now


def write_all(
    results: Iterable[tuple[Batch, Encoded]], output: RunOutput, watcher: Watcher
) -> None:
    """Write results as they come. However it ends, the output is complete or can be resumed."""
    try:
        for batch, encoded in results:
            for problem in encoded.problems:
                watcher.problem(problem)
            output.append(batch, encoded)
            watcher.advance(batch.size, encoded.sentences)
    except BaseException:
        with suppress(ParataxisError):  # the reason why it ended is the one to tell
            output.commit()
        raise
    output.finish()


def _units(batch: Batch) -> Sequence[Unit]:
    return batch.units
