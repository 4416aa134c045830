"""The pipeline from inputs to an output: the work on each batch, and the engines that do it.

To plug in another engine, write a function that takes batches and the :class:`Work`, and yields
each batch with the result of ``work(batch.units)``, in order. It must read only a few batches ahead
and raise any error. The results are bytes that are ready to be written. ``work`` is deterministic,
so a batch may be repeated, as after a lost machine. Both travel to other processes, so a custom
rewriter must pickle small and load its model on first use, as :class:`SplitterTask` does.

    def my_engine(batches, work):
        for batch in batches:
            yield batch, work(batch.units)
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, NamedTuple

from parataxis.api import DEFAULT_SPLITTER, LARGEST_BATCH, Splitter
from parataxis.cli.terminal import whole_step
from parataxis.errors import InputError, ParataxisError
from parataxis.rewrite.compose import left_whole
from parataxis.rewrite.record import Rewrite
from parataxis.run.cache import RewriteCache
from parataxis.run.encode import OutputFrame, RecordEncoder
from parataxis.run.files import DataFile
from parataxis.run.reading import START, Batch, Position, read_batches
from parataxis.run.units import BadRecord, Columns, Unit
from parataxis.splitters.registry import SentenceSplitter
from parataxis.splitters.settings import SplitSettings, too_long

if TYPE_CHECKING:
    from parataxis.run.gpu.splitter import Models
    from parataxis.run.output import AppendedFile
    from parataxis.run.watch import RunWatcher
    from parataxis.syntax.patterns import Occurrence

SENTENCES = 256
"""Sentences per batch when the results go to a file."""

_SHARED = frozenset(["pointer", "rules"])
"""Splitters whose models take memory and stay usable in a fork."""

WARM_UP = (
    "The mill, which was built in 1850 by Ann Reed, a chemist serving in Oslo, burned down, and "
    "Bob, having lost his keys, left the town."
)
"""A sentence that makes a splitter load everything: trees, checks and inflections too."""

Rewriter = Callable[[Sequence[str]], Iterable[Rewrite]]
"""Rewrites a batch of sentences, in order: one rewrite for each."""


class Encoded(NamedTuple):
    """The bytes of a batch, and counts of what was in it."""

    data: bytes
    records: int
    sentences: int
    problems: Sequence[BadRecord] = ()
    too_long: int = 0
    """Simple sentences with more words than the limit of the settings."""
    repeated: int = 0
    """Sentences that a cache knew."""


def require_device_splitter(splitter: str) -> None:
    """Raise InputError for a splitter whose models do not run on a GPU."""
    if splitter != DEFAULT_SPLITTER:
        raise InputError(f'Only the splitter "{DEFAULT_SPLITTER}" runs on a GPU, not "{splitter}".')


@dataclass
class SplitterTask:
    """The usual rewriter: an installed splitter, made where and when it is first called.
    ``models`` are those of the pointer splitter when they are on a GPU; ``cache`` has the rewrites
    of sentences that are repeated."""

    splitter: str
    settings: SplitSettings = field(default_factory=SplitSettings)
    check: bool = False
    models: "Models | None" = None
    cache: RewriteCache | None = None
    _loaded: Splitter | None = field(default=None, init=False, repr=False, compare=False)

    def __getstate__(self) -> dict[str, object]:
        return {**self.__dict__, "_loaded": None}  # the models stay here; a fork has them anyway

    def load(self) -> Splitter:
        if self._loaded is None:
            splitter: str | SentenceSplitter = self.splitter
            if self.models is not None:
                from parataxis.run.gpu.splitter import DevicePointerSplitter

                splitter = DevicePointerSplitter(self.models)
            self._loaded = Splitter(splitter, check=self.check, **asdict(self.settings))
        return self._loaded

    @property
    def prepare(self) -> Callable[[], object] | None:
        """Loads the models for processes that are forked afterwards and share them. A third-party
        splitter may start threads or open connections, so it is not loaded before a fork."""
        can_share = self.splitter in _SHARED and self.models is None
        return (lambda: self._split([WARM_UP])) if can_share else None

    @property
    def hits(self) -> int:
        """The sentences that were repeated, and not split again."""
        return self.cache.hits if self.cache else 0

    def __call__(self, sentences: Sequence[str]) -> list[Rewrite]:
        return self.cache(sentences, self._split) if self.cache else self._split(sentences)

    def _split(self, sentences: Sequence[str]) -> list[Rewrite]:
        first = LARGEST_BATCH if self.models is None else len(sentences)
        return list(self.load().pipe(sentences, first=first))

    def in_context(self, rewrites: Sequence[Rewrite], following: Sequence[str]) -> list[Rewrite]:
        """The rewrites of sentences that stand in a text."""
        return self.load().in_context(rewrites, following)


@dataclass
class Work:
    """Rewrites the sentences of units and encodes the results. ``splitter`` is the name in the
    records of problems. A sentence on which the rewriter fails is left whole, with a note and a
    problem. A ParataxisError ends the run, and so does a failure on all of several sentences."""

    rewrite: Rewriter
    encode: RecordEncoder
    splitter: str

    def __call__(self, units: Sequence[Unit]) -> Encoded:
        sentences = [sentence for unit in units for sentence in unit.sentences]
        sources = [sentence.source for sentence in sentences]
        problems = [unit.problem for unit in units if unit.problem]
        known = getattr(self.rewrite, "hits", 0)
        rewrites, failed = self.rewrites(sources)
        for place, error in failed.items():
            named = sentences[place]
            complaint = f"the splitter failed ({_in_words(error)}), so it is left whole"
            problems.append(BadRecord(named.id, named.id, complaint, named.source))
        ready = iter(
            rewrite.model_copy(update={"id": sentence.id})
            for sentence, rewrite in zip(sentences, rewrites, strict=True)
        )
        results = [
            (unit, self._in_context(unit, [next(ready) for _ in unit.sentences], problems))
            for unit in units
        ]
        patterns = find_all_patterns(sources) if self.encode.needs_patterns else None
        data = self.encode(results, self.splitter, patterns)
        records = sum(bool(unit.sentences or unit.problem) for unit in units)
        long = sum(len(too_long(each, limit)) for each in rewrites) if (limit := self.limit) else 0
        repeated = getattr(self.rewrite, "hits", 0) - known
        return Encoded(data, records, len(sentences), problems, long, repeated)

    def _in_context(
        self, unit: Unit, rewrites: list[Rewrite], problems: list[BadRecord]
    ) -> list[Rewrite]:
        """The rewrites of a unit of running text; where that fails, those of its sentences."""
        if len(rewrites) < 2 or not isinstance(self.rewrite, SplitterTask):
            return rewrites
        try:
            return self.rewrite.in_context(rewrites, unit.rebuild.document.following)
        except ParataxisError:
            raise
        except Exception as error:
            name = unit.sentences[0].id
            complaint = f"the splitter failed on the text ({_in_words(error)})"
            problems.append(BadRecord(name, name, complaint, rewrites[0].source))
            return rewrites

    @property
    def limit(self) -> int | None:
        """The most words of a simple sentence, if the user gave a limit."""
        settings = getattr(self.rewrite, "settings", None)
        return settings.max_words if isinstance(settings, SplitSettings) else None

    def on(self, models: "Models") -> "Work":
        """The same work with the models of its splitter elsewhere, as on a GPU."""
        if not isinstance(self.rewrite, SplitterTask):
            raise ParataxisError("Only the models of an installed splitter run on a GPU.")
        return replace(self, rewrite=replace(self.rewrite, models=models))

    def rewrites(self, sources: Sequence[str]) -> tuple[list[Rewrite], dict[int, Exception]]:
        """The rewrite of each source, and the errors of those left whole, by index."""
        if not sources:
            return [], {}
        try:
            return list(self.rewrite(sources)), {}
        except ParataxisError:
            raise
        except Exception as error:
            if len(sources) == 1:
                note = f"Left whole because the splitter failed: {_in_words(error)}."
                return [left_whole(sources[0], splitter=self.splitter, note=note)], {0: error}
        found = [self.rewrites([source]) for source in sources]
        failed = {place: errors[0] for place, (_, errors) in enumerate(found) if errors}
        if len(failed) == len(sources):
            raise next(iter(failed.values()))
        return [rewrite for (rewrite,), _ in found], failed


def find_all_patterns(sources: Sequence[str]) -> list[Sequence["Occurrence"]]:
    """The patterns of each source; none in one that is too long to be analysed."""
    from parataxis.syntax.analyser import load_trees
    from parataxis.syntax.analysis import Analysis
    from parataxis.syntax.patterns import find_patterns

    return [
        find_patterns(analysis) if isinstance(analysis, Analysis) else ()
        for analysis in load_trees().pipe(sources)
    ]


def _in_words(error: Exception) -> str:
    return " ".join(f"{type(error).__name__}: {error}".split())


@dataclass(frozen=True)
class Checkpoint:
    """How far a run has come: all units before ``position`` (``consumed`` bytes of the input) are
    in the first ``length`` bytes of the output. ``is_ending`` says that the output is complete and
    only has to be moved to its place."""

    position: Position = START
    length: int = 0
    consumed: int = 0
    is_ending: bool = False
    records: int = 0
    sentences: int = 0
    problems: int = 0
    too_long: int = 0
    repeated: int = 0
    errors: int = 0
    """Bytes of the file of bad records."""
    parts: int = 0
    """Part files that are complete."""
    saved: str = ""
    """The file with what is not yet a part."""

    def after(self, batch: Batch, encoded: Encoded) -> "Checkpoint":
        return replace(
            self,
            position=batch.end,
            consumed=self.consumed + batch.size,
            records=self.records + encoded.records,
            sentences=self.sentences + encoded.sentences,
            problems=self.problems + len(encoded.problems),
            too_long=self.too_long + encoded.too_long,
            repeated=self.repeated + encoded.repeated,
            errors=self.errors + sum(len(each.line) for each in encoded.problems),
        )


class StreamOutput:
    """Writes the results of batches to a stream, such as standard output, in their order.
    ``errors`` is a file for all bad records."""

    by_file = False
    errors: "AppendedFile | None" = None

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
        """Complete what was written when the run ends early."""
        if self._has_begun and self._frame.end:
            self._write(self._frame.end)

    def finish(self) -> None:
        start = b"" if self._has_begun else self._frame.start
        if start or self._frame.end:
            self._write(start + self._frame.end)


Engine = Callable[[Iterable[Batch], Work], Iterable[tuple[Batch, Encoded]]]
"""Does the work on batches, and gives them back in order with their results."""


@dataclass(frozen=True)
class Local:
    """The engine of this machine: ``jobs`` processes."""

    jobs: int = 1

    def __call__(self, batches: Iterable[Batch], work: Work) -> Iterator[tuple[Batch, Encoded]]:
        if self.jobs == 1:  # without loading what processes need
            return ((batch, work(batch.units)) for batch in batches)
        from parataxis.run.pool import in_order

        prepare = getattr(work.rewrite, "prepare", None)
        return in_order(
            batches, work, sent=lambda each: each.units, jobs=self.jobs, threads=1, prepare=prepare
        )


def run(
    files: Sequence[DataFile],
    work: Work,
    output: StreamOutput,
    watcher: "RunWatcher",
    *,
    engine: Engine,
    columns: Columns | None = None,
    sentences: int = SENTENCES,
) -> Checkpoint:
    """Read the inputs from where the output has come to, work on them, and write the rest. However
    it ends, the output is complete or can be resumed. Returns the counts of the whole run,
    including what was done before it was resumed."""
    batches = read_batches(
        files, columns, output.now.position, sentences=sentences, by_file=output.by_file
    )
    try:
        for batch, encoded in engine(batches, work):
            for problem in encoded.problems:
                watcher.problem(problem)
                if output.errors:
                    output.errors.append(problem.line)
            output.append(batch, encoded)
            watcher.advance(batch.size, encoded.sentences)
    except BaseException:
        with suppress(ParataxisError):  # the reason why it ended is the one to report
            output.commit()
        raise
    output.finish()
    return output.now
