"""What is done with sentences and rewrites; each task runs in the lane that it names."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from parataxis.api import Splitter, with_findings
from parataxis.client.records import AnalysedSentence, Explained, FoundPattern
from parataxis.rewrite.align import align
from parataxis.rewrite.patterns import Sides, said_apart, sides
from parataxis.rewrite.record import Rewrite
from parataxis.syntax.analysis import Analysis
from parataxis.syntax.patterns import Pattern, find_patterns
from parataxis.web.service.models import WrittenRewrite

__all__ = ["AnalyseTask", "CheckTask", "SplitTask"]

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
