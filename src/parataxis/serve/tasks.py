"""The tasks that the engine runs, and the splitters that the service offers."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from json import dumps
from typing import NamedTuple, Self

from parataxis.api import Splitter, with_findings
from parataxis.errors import InputError, ParataxisError, UnknownSplitterError
from parataxis.lint.rules import has_nested_clauses
from parataxis.rewrite.align import align
from parataxis.rewrite.record import Level, Rewrite
from parataxis.rewrite.split_patterns import clause_halves, said_apart
from parataxis.serve import models
from parataxis.splitters.registry import (
    AdjustableSplitter,
    LevelledSplitter,
    SentenceSplitter,
    load_splitter,
    splitter_names,
)
from parataxis.splitters.settings import SplitSettings, word_count
from parataxis.syntax.analysis import Analysis
from parataxis.syntax.patterns import Pattern, find_patterns

_READING = "reading"
"""The lane of the tasks without a splitter."""
LONGEST_SENTENCE = 5_000
"""Characters of the longest sentence that is read; the models read none of that length."""
LONGEST_WORD = 500
"""Characters of the longest word: words are remembered, and there may be 65,536 of them."""
_TOO_LONG = (
    f"Left whole because it has more than {LONGEST_SENTENCE:,} characters, or {LONGEST_WORD} in "
    "one word."
)


def is_readable(sentence: str) -> bool:
    """Whether a sentence is short enough to be read.

    >>> is_readable("It rained."), is_readable("word " * 1_001), is_readable("w" * 501)
    (True, False, False)
    """
    return (
        len(sentence) <= LONGEST_SENTENCE
        and max(map(len, sentence.split()), default=0) <= LONGEST_WORD
    )


class Made(NamedTuple):
    """The JSON of a result, and the simple sentences if they differ from the source. The objects
    behind it take ten times as much memory, so they are not kept."""

    json: bytes
    simple: Sequence[str] | None = None


class InText(str):
    """A sentence of a text, which knows the one that follows it."""

    following: str

    def __new__(cls, sentence: str, following: str = "") -> Self:
        made = super().__new__(cls, sentence)
        made.following = following
        return made


@dataclass(frozen=True)
class SplitTask:
    """Splits sentences. Tasks with the same splitter and options are equal, and each splitter has
    its own lane, so that a slow one does not delay the others."""

    splitter: Splitter = field(compare=False)
    lane: str
    settings: SplitSettings
    check: bool
    patterns: bool

    def __call__(self, items: Sequence[str], /) -> list[Made]:
        readable = list(filter(is_readable, items))
        following = [each.following if isinstance(each, InText) else "" for each in readable]
        following = [each if is_readable(each) else "" for each in following]
        rewrites = list(self.splitter.pipe(map(str, readable)))
        rewrites = self.splitter.in_context(rewrites, following)
        made = _explained(rewrites) if self.patterns else _unexplained(rewrites)
        return [next(made) if is_readable(item) else self._left_whole(item) for item in items]

    def _left_whole(self, item: str) -> Made:
        findings = () if self.check else None
        whole = Rewrite(
            source=item, simple=(item,), splitter=self.lane, findings=findings, note=_TOO_LONG
        )
        if not self.patterns:
            return _made(models.Explained(rewrite=whole))
        words = word_count(item)
        return _made(
            models.Explained(
                rewrite=whole,
                patterns=(),
                splits=((),),
                words=(words,),
                source_words=words,
                nested=False,
            )
        )


@dataclass(frozen=True)
class AlternativesTask:
    """Finds other rewrites of sentences, in the lane of their splitter."""

    splitter: Splitter = field(compare=False)
    lane: str
    settings: SplitSettings

    def __call__(self, items: Sequence[str], /) -> list[Made]:
        found = (_explained(self.splitter.alternatives(item)) for item in items)
        listed = (b",".join(made.json for made in rewrites) for rewrites in found)
        return [Made(b'{"rewrites":[' + each + b"]}") for each in listed]


@dataclass(frozen=True)
class DifficultyTask:
    """Says of sentences how many words they have and whether their clauses are nested."""

    lane: str = _READING

    def __call__(self, items: Sequence[str], /) -> list[Made]:
        from parataxis.syntax.analyser import load_trees

        trees = load_trees().pipe(filter(is_readable, items))
        made = []
        for item in items:
            tree = next(trees) if is_readable(item) else None
            nested = isinstance(tree, Analysis) and has_nested_clauses(tree)
            made.append(Made(dumps({"words": word_count(item), "nested": nested}).encode()))
        return made


@dataclass(frozen=True)
class CheckTask:
    """Checks rewrites that came without provenance."""

    lane: str = _READING

    def __call__(self, items: Sequence[models.WrittenRewrite], /) -> list[Made]:
        rewrites = (
            Rewrite(
                source=item.source,
                simple=tuple(item.simple),
                splitter=item.splitter,
                provenance=align(item.source, item.simple),
            )
            for item in items
        )
        return list(_explained(list(with_findings(rewrites))))


@dataclass(frozen=True)
class AnalyseTask:
    """Analyses sentences."""

    lane: str = _READING

    def __call__(self, items: Sequence[str], /) -> list[Made]:
        from parataxis.syntax.analyser import load_analyser

        analyses = load_analyser().pipe(filter(is_readable, items))
        made = []
        for item in items:
            analysis = next(analyses) if is_readable(item) else _TOO_LONG
            found = (
                models.AnalysedSentence.of(analysis, find_patterns(analysis))
                if isinstance(analysis, Analysis)
                else models.AnalysedSentence(text=item, problem=str(analysis))
            )
            made.append(Made(found.model_dump_json(exclude={"start", "end"}).encode()))
        return made


def _unexplained(rewrites: Iterable[Rewrite]) -> Iterator[Made]:
    return (_made(models.Explained(rewrite=rewrite)) for rewrite in rewrites)


def _made(result: models.Explained) -> Made:
    rewrite = result.rewrite
    return Made(result.model_dump_json().encode(), rewrite.simple if rewrite.is_split else None)


def _explained(rewrites: Sequence[Rewrite]) -> Iterator[Made]:
    from parataxis.syntax.analyser import load_trees  # shared with the checks, so it is cached

    analyses = load_trees().pipe(rewrite.source for rewrite in rewrites)
    for rewrite, analysis in zip(rewrites, analyses, strict=True):
        found = clause_halves(analysis) if isinstance(analysis, Analysis) else []
        provenance = rewrite.provenance or align(rewrite.source, rewrite.simple)
        splits: list[list[Pattern]] = [[] for _ in rewrite.simple]
        for each in found:
            for sentence in said_apart(each, provenance):
                splits[sentence].append(each.occurrence.pattern)
        patterns = [models.FoundPattern.of(each.occurrence, rewrite.source) for each in found]
        yield _made(
            models.Explained(
                rewrite=rewrite,
                patterns=patterns,
                splits=splits,
                words=[word_count(sentence) for sentence in rewrite.simple],
                source_words=word_count(rewrite.source),
                nested=isinstance(analysis, Analysis) and has_nested_clauses(analysis),
            )
        )


class Offers(dict[str, SentenceSplitter | ParataxisError]):
    """The offered splitters by name, each loaded once, or why one cannot be used. Clients choose by
    name; only the operator of the service can give "NAME:DIR"."""

    def __init__(self, splitters: Sequence[str | SentenceSplitter]) -> None:
        super().__init__()
        if not splitters:
            raise InputError("No splitter is offered; name at least one.")
        for each in splitters:
            name = each.partition(":")[0] if isinstance(each, str) else each.name
            if name in self:
                raise InputError(f'The splitter "{name}" is named twice.')
            if isinstance(each, str) and name not in splitter_names():
                load_splitter(name)  # raises an error that lists the installed ones
            try:
                self[name] = load_splitter(each) if isinstance(each, str) else each
            except ParataxisError as error:
                self[name] = error
        self.default = next(iter(self))

    def listed(self) -> list[models.OfferedSplitter]:
        """The list of splitters."""
        return [
            models.OfferedSplitter(
                name=name,
                summary=getattr(found, "summary", ""),
                adjustable=isinstance(found, AdjustableSplitter),
                levels=found.levels if isinstance(found, LevelledSplitter) else [Level.PLAIN],
                problem=str(found) if isinstance(found, ParataxisError) else None,
            )
            for name, found in self.items()
        ]

    def task(self, options: models.SplitOptions | None = None) -> SplitTask:
        """The task for the splitter and options of a request."""
        options = options or models.SplitOptions()
        name = self.default if options.splitter is None else options.splitter
        if name not in self:
            raise UnknownSplitterError(
                f'There is no splitter "{name[:40]}" here; there are: {", ".join(self)}.'
            )
        found = self[name]
        if isinstance(found, ParataxisError):
            raise ParataxisError(str(found))
        settings = SplitSettings.of(options)
        splitter = Splitter(found, check=options.check, **asdict(settings))
        return SplitTask(splitter, name, settings, options.check, options.patterns)
