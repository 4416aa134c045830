"""The one task of a run: rewrite the sentences of a batch of units, and encode the results.

It is sent to processes and machines; models are loaded there, on first use.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, NamedTuple

from parataxis.api import DEFAULT_SPLITTER, LARGEST_BATCH, Splitter
from parataxis.errors import InputError, ParataxisError
from parataxis.rewrite.compose import left_whole
from parataxis.rewrite.record import Rewrite
from parataxis.run.encode import RecordEncoder
from parataxis.run.units import BadRecord, Unit
from parataxis.splitters.registry import SentenceSplitter

if TYPE_CHECKING:
    from parataxis.run.gpu.splitter import Models
    from parataxis.syntax.patterns import Occurrence

Rewriter = Callable[[Sequence[str]], Iterable[Rewrite]]
"""Rewrites a batch of sentences, in order: one rewrite for each."""


_SHARED = frozenset(["pointer", "rules"])
"""Splitters whose models take memory, and stay usable in a fork."""


_WARM_UP = (
    "The mill, which was built in 1850 by Ann Reed, a chemist serving in Oslo, burned down, and "
    "Bob, having lost his keys, left the town."
)
"""A sentence that makes a splitter load all it has: trees, checks and inflections too."""


class Encoded(NamedTuple):
    """The bytes that a batch results in, and counts of what was in it."""

    data: bytes
    records: int
    sentences: int
    problems: Sequence[BadRecord] = ()


def require_device_splitter(splitter: str) -> None:
    """Raise InputError for a splitter whose models do not run on a GPU."""
    if splitter != DEFAULT_SPLITTER:
        raise InputError(f'Only the splitter "{DEFAULT_SPLITTER}" runs on a GPU, not "{splitter}".')


@dataclass
class SplitterTask:
    """The usual rewriter: an installed splitter, made where and when it is first called."""

    splitter: str
    strict: bool = False
    beam: int | None = None
    check: bool = False
    models: "Models | None" = None
    """The models of the pointer splitter, where they are on a GPU."""
    _loaded: Splitter | None = field(default=None, init=False, repr=False, compare=False)

    def __getstate__(self) -> dict[str, object]:
        return {**self.__dict__, "_loaded": None}  # the models stay here; a fork has them anyway

    def load(self) -> Splitter:
        """The splitter, made on first use."""
        if self._loaded is None:
            splitter: str | SentenceSplitter = self.splitter
            if self.models is not None:
                from parataxis.run.gpu.splitter import DevicePointerSplitter

                splitter = DevicePointerSplitter(self.models)
            self._loaded = Splitter(splitter, strict=self.strict, beam=self.beam, check=self.check)
        return self._loaded

    @property
    def prepare(self) -> Callable[[], object] | None:
        """Loads the models, where processes that are forked afterwards can share them. A splitter
        of a third party may start threads or open connections, so it is not loaded before."""
        return self._warm_up if self.splitter in _SHARED and self.models is None else None

    def _warm_up(self) -> None:
        list(self([_WARM_UP]))

    def __call__(self, sentences: Sequence[str]) -> list[Rewrite]:
        """Rewrite sentences, in order."""
        first = LARGEST_BATCH if self.models is None else len(sentences)
        return list(self.load().pipe(sentences, first=first))


@dataclass
class Work:
    """Rewrites the sentences of units and encodes the results.

    ``splitter`` is the name in the records of problems. A sentence on which the rewriter fails is
    left whole, with a note and a problem: one sentence must not end a run. A ParataxisError does
    end it, and so does a failure on all of several sentences.
    """

    rewrite: Rewriter
    encode: RecordEncoder
    splitter: str

    def __call__(self, units: Sequence[Unit]) -> Encoded:
        """Work on one batch."""
        sentences = [sentence for unit in units for sentence in unit.sentences]
        problems = [unit.problem for unit in units if unit.problem]
        rewrites, failed = self.rewrites([sentence.source for sentence in sentences])
        for place, error in failed.items():
            named = sentences[place]
            complaint = f"the splitter failed ({_in_words(error)}), so it is left whole"
            problems.append(BadRecord(named.id, named.id, complaint, named.source))
        ready = iter(
            rewrite.model_copy(update={"id": sentence.id})
            for sentence, rewrite in zip(sentences, rewrites, strict=True)
        )
        results = [(unit, [next(ready) for _ in unit.sentences]) for unit in units]
        patterns = None
        if self.encode.needs_patterns:
            patterns = find_all_patterns([sentence.source for sentence in sentences])
        data = self.encode(results, self.splitter, patterns)
        records = sum(bool(unit.sentences or unit.problem) for unit in units)
        return Encoded(data, records, len(sentences), problems)

    def on(self, models: "Models") -> "Work":
        """The same work with the models of its splitter elsewhere, as on a GPU."""
        if not isinstance(self.rewrite, SplitterTask):
            raise ParataxisError("Only the models of an installed splitter run on a GPU.")
        return replace(self, rewrite=replace(self.rewrite, models=models))

    def rewrites(self, sources: Sequence[str]) -> tuple[list[Rewrite], dict[int, Exception]]:
        """The rewrite of each source, and the errors of those left whole, by their places."""
        if not sources:
            return [], {}
        try:
            return list(self.rewrite(sources)), {}
        except ParataxisError:
            raise
        except Exception as error:
            if len(sources) == 1:
                return [self._whole(sources[0], error)], {0: error}
        rewrites: list[Rewrite] = []
        failed: dict[int, Exception] = {}
        for place, source in enumerate(sources):
            (rewrite,), errors = self.rewrites([source])
            rewrites.append(rewrite)
            if errors:
                failed[place] = errors[0]
        if len(failed) == len(sources):
            raise next(iter(failed.values()))
        return rewrites, failed

    def _whole(self, source: str, error: Exception) -> Rewrite:
        note = f"Left whole because the splitter failed: {_in_words(error)}."
        return left_whole(source, splitter=self.splitter, note=note)


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
