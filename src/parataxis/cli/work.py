"""The work behind ``split``: batches of units in, their rewrites out, in one process or several."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

from parataxis.api import Splitter
from parataxis.cli.terminal import warn
from parataxis.cli.units import Unit
from parataxis.errors import InputError
from parataxis.rewrite.jsonl import SourceLine
from parataxis.rewrite.record import Rewrite
from parataxis.scale.pool import in_order
from parataxis.syntax.analysis import Analysis
from parataxis.syntax.patterns import Occurrence, find_patterns

__all__ = ["Explained", "Task", "reported", "run"]


class Explained(NamedTuple):
    """A rewrite with the patterns of its source, where they were asked for."""

    rewrite: Rewrite
    patterns: Sequence[Occurrence] | None


@dataclass
class Task:
    """What to do with sentences; it travels to other processes, its splitter does not."""

    splitter: str
    strict: bool = False
    beam: int | None = None
    explain: bool = False
    provenance: bool = True
    _loaded: Splitter | None = field(default=None, init=False, repr=False)

    def __getstate__(self) -> dict[str, object]:
        return {**self.__dict__, "_loaded": None}

    def load(self) -> Splitter:
        """The splitter, made on first use."""
        if self._loaded is None:
            self._loaded = Splitter(
                self.splitter, strict=self.strict, beam=self.beam, check=self.explain
            )
        return self._loaded

    def __call__(self, sentences: Sequence[SourceLine]) -> list[Explained]:
        """Rewrite sentences, in order."""
        rewrites = self.load().pipe(sentence.source for sentence in sentences)
        patterns = self._patterns([sentence.source for sentence in sentences])
        left_out = {} if self.provenance else {"provenance": None}
        return [
            Explained(rewrite.model_copy(update={"id": sentence.id, **left_out}), found)
            for sentence, rewrite, found in zip(sentences, rewrites, patterns, strict=True)
        ]

    def _patterns(self, sources: Sequence[str]) -> Iterator[Sequence[Occurrence] | None]:
        if not self.explain:
            yield from [None] * len(sources)
            return
        from parataxis.syntax.analyser import load_trees

        for analysis in load_trees().pipe(sources):
            yield find_patterns(analysis) if isinstance(analysis, Analysis) else ()


class _Loading(Protocol):
    def load(self) -> Splitter: ...


@contextmanager
def reported(task: _Loading, jobs: int | None) -> Iterator[int | None]:
    """How many processes to use, which is one for a splitter that keeps books; when the work is
    over, however it ends, its report is shown."""
    splitter = task.load()
    if splitter.keeps_books and (jobs or 1) > 1:
        raise InputError(
            f'The splitter "{splitter.name}" keeps its books in one process; leave --jobs out.'
        )
    try:
        yield 1 if splitter.keeps_books else jobs
    finally:
        if sentence := splitter.report():
            warn(sentence)


def run(
    batches: Iterable[Sequence[Unit]], task: Task, *, jobs: int = 1
) -> Iterator[tuple[Unit, list[Explained]]]:
    """Each unit with its rewrites, in order, as they are made."""
    for batch, results in in_order(batches, task, sent=_sentences, jobs=jobs):
        yield from _deal(batch, results)


def _sentences(batch: Sequence[Unit]) -> list[SourceLine]:
    return [sentence for unit in batch for sentence in unit.sentences]


def _deal(
    batch: Sequence[Unit], results: Sequence[Explained]
) -> Iterator[tuple[Unit, list[Explained]]]:
    start = 0
    for unit in batch:
        end = start + len(unit.sentences)
        yield unit, list(results[start:end])
        start = end
