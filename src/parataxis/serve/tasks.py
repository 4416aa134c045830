"""The tasks that the engine runs, and the splitters that the service offers."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from parataxis.api import Splitter, with_findings
from parataxis.errors import InputError, ParataxisError, UnknownSplitterError
from parataxis.rewrite.align import align
from parataxis.rewrite.record import Rewrite
from parataxis.rewrite.split_patterns import ClauseHalves, clause_halves, said_apart
from parataxis.serve.models import (
    AnalysedSentence,
    Explained,
    FoundPattern,
    OfferedSplitter,
    SplitOptions,
    WrittenRewrite,
)
from parataxis.splitters.registry import (
    AdjustableSplitter,
    SentenceSplitter,
    load_splitter,
    splitter_names,
)
from parataxis.syntax.analysis import Analysis
from parataxis.syntax.patterns import Pattern, find_patterns

_READING = "reading"
"""The lane of the tasks without a splitter."""


@dataclass(frozen=True)
class SplitTask:
    """Splits sentences. Tasks with the same splitter and options are equal, and each splitter has
    its own lane, so that a slow one does not delay the others."""

    splitter: Splitter = field(compare=False)
    lane: str
    strict: bool
    beam: int | None
    check: bool
    patterns: bool

    def size(self, item: str, /) -> int:
        return len(item)

    def __call__(self, items: Sequence[str], /) -> list[Explained]:
        """Split sentences."""
        rewrites = list(self.splitter.pipe(items))
        return _explained(rewrites) if self.patterns else [Explained(rewrite=r) for r in rewrites]


@dataclass(frozen=True)
class CheckTask:
    """Checks rewrites that came without provenance."""

    lane: str = _READING

    def size(self, item: WrittenRewrite, /) -> int:
        return len(item.source) + sum(map(len, item.simple))

    def __call__(self, items: Sequence[WrittenRewrite], /) -> list[Explained]:
        """Align and check rewrites."""
        rewrites = (
            Rewrite(
                source=item.source,
                simple=tuple(item.simple),
                splitter=item.splitter,
                provenance=align(item.source, item.simple),
            )
            for item in items
        )
        return _explained(list(with_findings(rewrites)))


@dataclass(frozen=True)
class AnalyseTask:
    """Analyses sentences."""

    lane: str = _READING

    def size(self, item: str, /) -> int:
        return len(item)

    def __call__(self, items: Sequence[str], /) -> list[AnalysedSentence]:
        """Analyse sentences."""
        from parataxis.syntax.analyser import load_analyser

        analyses = load_analyser().pipe(items)
        return [
            AnalysedSentence.of(analysis, find_patterns(analysis))
            if isinstance(analysis, Analysis)
            else AnalysedSentence(text=item, problem=str(analysis))
            for item, analysis in zip(items, analyses, strict=True)
        ]


def _explained(rewrites: Sequence[Rewrite]) -> list[Explained]:
    from parataxis.syntax.analyser import load_trees  # shared with the checks, so it is cached

    analyses = load_trees().pipe(rewrite.source for rewrite in rewrites)
    return [
        _explain(rewrite, clause_halves(analysis) if isinstance(analysis, Analysis) else [])
        for rewrite, analysis in zip(rewrites, analyses, strict=True)
    ]


def _explain(rewrite: Rewrite, found: Sequence[ClauseHalves]) -> Explained:
    provenance = rewrite.provenance or align(rewrite.source, rewrite.simple)
    splits: list[list[Pattern]] = [[] for _ in rewrite.simple]
    for each in found:
        for sentence in said_apart(each, provenance):
            splits[sentence].append(each.occurrence.pattern)
    patterns = [FoundPattern.of(each.occurrence, rewrite.source) for each in found]
    return Explained(rewrite=rewrite, patterns=patterns, splits=splits)


@dataclass(frozen=True)
class Offer:
    """A splitter that the service offers, or the reason why it cannot be used."""

    name: str
    splitter: SentenceSplitter | None
    problem: str | None = None

    def listed(self) -> OfferedSplitter:
        """The entry in the list of splitters."""
        return OfferedSplitter(
            name=self.name,
            summary=self.splitter.summary if self.splitter else "",
            adjustable=isinstance(self.splitter, AdjustableSplitter),
            problem=self.problem,
        )


class Offers(dict[str, Offer]):
    """The offered splitters by name, each loaded once. Clients choose by name; only the operator
    of the service can give "NAME:DIR"."""

    def __init__(self, splitters: Sequence[str | SentenceSplitter]) -> None:
        super().__init__()
        if not splitters:
            raise InputError("No splitter is offered; name at least one.")
        for each in splitters:
            offer = _offer(each) if isinstance(each, str) else Offer(each.name, each)
            if offer.name in self:
                raise InputError(f'The splitter "{offer.name}" is named twice.')
            self[offer.name] = offer
        self.default = next(iter(self))

    def task(self, options: SplitOptions | None = None) -> SplitTask:
        """The task for the splitter and options of a request."""
        options = options or SplitOptions()
        name = self.default if options.splitter is None else options.splitter
        if name not in self:
            raise UnknownSplitterError(
                f'There is no splitter "{name}" here; there are: {", ".join(self)}.'
            )
        offer = self[name]
        if offer.splitter is None:
            raise ParataxisError(offer.problem)
        strict, beam, check = options.strict, options.beam, options.check
        splitter = Splitter(offer.splitter, strict=strict, beam=beam, check=check)
        return SplitTask(splitter, name, strict, beam, check, options.patterns)


def _offer(specification: str) -> Offer:
    name = specification.partition(":")[0]
    if name not in splitter_names():
        load_splitter(name)  # raises an error that lists the installed ones
    try:
        return Offer(name, load_splitter(specification))
    except ParataxisError as error:
        return Offer(name, None, str(error))
