"""What is done with sentences and rewrites; each task runs in the lane that it names."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from parataxis.api import Splitter, with_findings
from parataxis.errors import InputError, ParataxisError, UnknownSplitterError
from parataxis.rewrite.align import Sides, align, said_apart, sides
from parataxis.rewrite.record import Rewrite
from parataxis.serve.models import WrittenRewrite
from parataxis.serve.records import AnalysedSentence, Explained, FoundPattern
from parataxis.splitters.registry import (
    AdjustableSplitter,
    SentenceSplitter,
    load_splitter,
    splitter_names,
)
from parataxis.syntax.analysis import Analysis
from parataxis.syntax.patterns import Pattern, find_patterns

_READING = "reading"
"""The lane of what is done without a splitter."""


@dataclass(frozen=True)
class SplitTask:
    """Splits sentences; two with the same options are equal."""

    splitter: Splitter = field(compare=False)
    name: str
    strict: bool
    beam: int | None
    check: bool
    patterns: bool

    @property
    def lane(self) -> str:
        """Each splitter has its own, so that a slow one keeps nobody else waiting."""
        return self.name

    def size(self, item: str, /) -> int:
        return len(item)

    def __call__(self, items: Sequence[str], /) -> list[Explained]:
        """The rewrites of sentences."""
        rewrites = list(self.splitter.pipe(items))
        return _explained(rewrites) if self.patterns else [Explained(rewrite=r) for r in rewrites]


@dataclass(frozen=True)
class CheckTask:
    """Checks rewrites that came without provenance."""

    lane: str = _READING

    def size(self, item: WrittenRewrite, /) -> int:
        return len(item.source) + sum(map(len, item.simple))

    def __call__(self, items: Sequence[WrittenRewrite], /) -> list[Explained]:
        """The rewrites with all that can be told about them."""
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
        """The analyses of sentences."""
        from parataxis.syntax.analyser import load_analyser

        analyses = load_analyser().pipe(items)
        return [
            AnalysedSentence.of(analysis, find_patterns(analysis))
            if isinstance(analysis, Analysis)
            else AnalysedSentence(text=item, problem=str(analysis))
            for item, analysis in zip(items, analyses, strict=True)
        ]


def _explained(rewrites: Sequence[Rewrite]) -> list[Explained]:
    from parataxis.syntax.analyser import load_trees  # as the checks do, so it knows the sentences

    analyses = load_trees().pipe(rewrite.source for rewrite in rewrites)
    return [
        _explain(rewrite, sides(analysis) if isinstance(analysis, Analysis) else [])
        for rewrite, analysis in zip(rewrites, analyses, strict=True)
    ]


def _explain(rewrite: Rewrite, found: Sequence[Sides]) -> Explained:
    provenance = rewrite.provenance or align(rewrite.source, rewrite.simple)
    splits: list[list[Pattern]] = [[] for _ in rewrite.simple]
    for each in found:
        for sentence in said_apart(each, provenance):
            splits[sentence].append(each.occurrence.pattern)
    patterns = [FoundPattern.of(each.occurrence, rewrite.source) for each in found]
    return Explained(rewrite=rewrite, patterns=patterns, splits=splits)


# The splitters that the service offers, each loaded once.


@dataclass(frozen=True)
class Offer:
    """A splitter, or the reason why it cannot be used."""

    name: str
    splitter: SentenceSplitter | None
    problem: str | None = None

    @property
    def summary(self) -> str:
        """What it does, in one line."""
        return self.splitter.summary if self.splitter else ""

    @property
    def is_adjustable(self) -> bool:
        """Whether it follows a beam."""
        return isinstance(self.splitter, AdjustableSplitter)


class Offers(Mapping[str, Offer]):
    """The offered splitters by name. Those who ask give a name; only who runs the service can
    give "NAME:DIR"."""

    def __init__(self, splitters: Sequence[str | SentenceSplitter]) -> None:
        if not splitters:
            raise InputError("No splitter is offered; name at least one.")
        self._offers: dict[str, Offer] = {}
        for each in splitters:
            offer = _offer(each) if isinstance(each, str) else Offer(each.name, each)
            if offer.name in self._offers:
                raise InputError(f'The splitter "{offer.name}" is named twice.')
            self._offers[offer.name] = offer
        self.default = next(iter(self._offers))

    def __getitem__(self, name: str) -> Offer:
        return self._offers[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._offers)

    def __len__(self) -> int:
        return len(self._offers)

    def task(
        self,
        name: str | None = None,
        *,
        strict: bool = False,
        beam: int | None = None,
        check: bool = True,
        patterns: bool = True,
    ) -> SplitTask:
        """What splits with the splitter of that name (None: the default) and its options; a
        ParataxisError where there is none like that."""
        name = self.default if name is None else name
        if name not in self._offers:
            raise UnknownSplitterError(
                f'There is no splitter "{name}" here; there are: {", ".join(self._offers)}.'
            )
        offer = self._offers[name]
        if offer.splitter is None:
            raise ParataxisError(offer.problem)
        splitter = Splitter(offer.splitter, strict=strict, beam=beam, check=check)
        return SplitTask(splitter, name, strict, beam, check, patterns)


def _offer(specification: str) -> Offer:
    name = specification.partition(":")[0]
    if name not in splitter_names():
        load_splitter(name)  # which says what there is
    try:
        return Offer(name, load_splitter(specification))
    except ParataxisError as error:
        return Offer(name, None, str(error))
