"""The pipeline from inputs to an output, by any engine.

How to plug in another engine. All that depends on where the work is done is in two callables;
reading, order, checkpoints, resuming and writing are the same for all.

*A rewriter* (:data:`parataxis.run.work.Rewriter`) turns a list of sentences into their rewrites,
in order. It must pickle small: make a dataclass that loads its model on the first call, as
:class:`parataxis.run.work.SplitterTask` does.

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
from dataclasses import dataclass, replace
from typing import Protocol

from parataxis.cli.terminal import whole_step
from parataxis.errors import ParataxisError
from parataxis.run.encode import OutputFrame
from parataxis.run.files import DataFile
from parataxis.run.reading import START, Batch, Position, read_batches
from parataxis.run.rows import Columns
from parataxis.run.units import BadRecord
from parataxis.run.work import Encoded, Work

SENTENCES = 256
"""Sentences of a batch whose results go to a file."""

Engine = Callable[[Iterable[Batch], Work], Iterable[tuple[Batch, Encoded]]]
"""Does the work on batches, and gives them back in order with their results."""


@dataclass(frozen=True)
class Checkpoint:
    """How far a run has come: all units before ``position``, of which the input files have
    ``consumed`` bytes, are in the output, whose first ``length`` bytes count. ``is_ending`` says
    that the output is complete and only has to be moved to its place."""

    position: Position = START
    length: int = 0
    consumed: int = 0
    is_ending: bool = False
    records: int = 0
    sentences: int = 0
    problems: int = 0

    def after(self, batch: Batch, encoded: Encoded) -> "Checkpoint":
        """The checkpoint after one more batch."""
        return replace(
            self,
            position=batch.end,
            consumed=self.consumed + batch.size,
            records=self.records + encoded.records,
            sentences=self.sentences + encoded.sentences,
            problems=self.problems + len(encoded.problems),
        )


class Watcher(Protocol):
    """Follows a run; an error that it raises ends the run, which can be resumed."""

    def advance(self, size: int, sentences: int) -> None:
        """So many bytes of the input and sentences are done."""

    def problem(self, problem: BadRecord) -> None:
        """Something could not be read or rewritten, and is passed through."""


class RunOutput(Protocol):
    """Takes the results of batches, in their order. ``now`` is how far it has come."""

    now: Checkpoint
    by_file: bool

    def append(self, batch: Batch, encoded: Encoded) -> None:
        """Write the bytes of a batch."""

    def commit(self) -> None:
        """The run ends too early: make what was written until now whole, and keep it."""

    def finish(self) -> None:
        """All has been written."""


class StreamOutput:
    """Writes to a stream, such as standard output, as results come."""

    by_file = False

    def __init__(self, write: Callable[[bytes], object], frame: OutputFrame | None = None) -> None:
        self._write, self._frame = write, frame or OutputFrame()
        self._has_begun = False
        self.now = Checkpoint()

    def append(self, batch: Batch, encoded: Encoded) -> None:
        """Write the bytes of a batch, whole even if Ctrl-C is pressed meanwhile."""
        if encoded.data:
            before = self._frame.separator if self._has_begun else self._frame.start
            with whole_step():
                self._write(before + encoded.data)
                self._has_begun = True
        self.now = self.now.after(batch, encoded)

    def commit(self) -> None:
        """End what was begun."""
        if self._has_begun and self._frame.end:
            self._write(self._frame.end)

    def finish(self) -> None:
        """Write the end."""
        start = b"" if self._has_begun else self._frame.start
        if start or self._frame.end:
            self._write(start + self._frame.end)


@dataclass(frozen=True)
class Local:
    """The engine of this machine: ``jobs`` processes."""

    jobs: int = 1

    def __call__(self, batches: Iterable[Batch], work: Work) -> Iterator[tuple[Batch, Encoded]]:
        """Do the work here."""
        if self.jobs == 1:
            return ((batch, work(batch.units)) for batch in batches)
        from parataxis.run.pool import in_order

        prepare = getattr(work.rewrite, "prepare", None)
        return in_order(
            batches,
            work,
            sent=lambda batch: batch.units,
            jobs=self.jobs,
            threads=1,
            prepare=prepare,
        )


def run(
    files: Sequence[DataFile],
    work: Work,
    output: RunOutput,
    watcher: Watcher,
    *,
    engine: Engine,
    columns: Columns | None = None,
    sentences: int = SENTENCES,
) -> Checkpoint:
    """Read the inputs from where the output has come to, work on them, write the rest of it.

    However it ends, the output is complete or can be resumed. Returns the counts of the whole run,
    including the parts that were done before.
    """
    batches = read_batches(
        files, columns, output.now.position, sentences=sentences, by_file=output.by_file
    )
    try:
        for batch, encoded in engine(batches, work):
            for problem in encoded.problems:
                watcher.problem(problem)
            output.append(batch, encoded)
            watcher.advance(batch.size, encoded.sentences)
    except BaseException:
        with suppress(ParataxisError):  # the reason why it ended is the one to report
            output.commit()
        raise
    output.finish()
    return output.now
