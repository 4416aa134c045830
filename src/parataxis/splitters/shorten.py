"""Splits simple sentences that have too many words: ``max_words``."""

from collections.abc import Callable, Iterable, Sequence, Set
from dataclasses import dataclass, replace

from parataxis.checks.verifier import load_verifier
from parataxis.rewrite.align import split_further
from parataxis.rewrite.record import FindingKind, Level, Rewrite
from parataxis.splitters.pointer.choose import BLOCKING
from parataxis.splitters.pointer.splitter import NO_SENTENCE
from parataxis.splitters.registry import (
    LevelledSplitter,
    ReportingSplitter,
    SentenceSplitter,
    adjusted,
    load_splitter,
)
from parataxis.splitters.settings import SplitSettings, broken_phrase, too_long, word_count

DOUBTFUL = 0.5
"""The probability of a fault from which a rewrite without a confidence is not taken."""


def further_splitters(
    splitter: SentenceSplitter, settings: SplitSettings
) -> list[SentenceSplitter]:
    """What long sentences are split with, in this order: the splitter at the levels plain and
    atomic, then the rules, unless only sure rewrites are wanted: they do not say how sure they
    are."""
    if isinstance(splitter, ReportingSplitter):  # to ask again would cost money
        splitter = load_splitter("pointer")
    levels = (
        (Level.PLAIN, Level.ATOMIC) if isinstance(splitter, LevelledSplitter) else [Level.PLAIN]
    )
    found = [adjusted(splitter, replace(settings, level=level, max_words=None)) for level in levels]
    if settings.strict or settings.confidence is not None or splitter.name == "rules":
        return found
    return [*found, load_splitter("rules")]


@dataclass(frozen=True)
class Shortener:
    """Replaces simple sentences that are too long by their own rewrites: the first, in the order of
    ``steps``, whose parts are shorter and that adds no blocking finding, or no finding at
    all if it has no confidence."""

    settings: SplitSettings
    steps: Sequence[Callable[[Sequence[str]], Sequence[Rewrite]]]
    check: Callable[[Iterable[Rewrite]], Iterable[Rewrite]]
    """Gives findings to the rewrites that have none yet."""

    @property
    def limit(self) -> int:
        """The most words of a sentence."""
        return self.settings.max_words or 0

    def __call__(self, rewrites: Sequence[Rewrite]) -> list[Rewrite]:
        done = dict(enumerate(rewrites))
        long = [place for place, rewrite in done.items() if too_long(rewrite, self.limit)]
        done |= zip(long, self.check([done[place] for place in long]), strict=True)
        for step in self.steps:
            tried: set[tuple[int, str]] = set()
            # One sentence of each rewrite at a time, so that each is judged by itself.
            while wanted := self._wanted(done, tried):
                tried |= {(place, done[place].simple[number]) for place, number in wanted.items()}
                self._improve(done, wanted, step)
        return list(done.values())

    def noted(self, rewrite: Rewrite) -> Rewrite:
        """The rewrite with a note of the sentences that are still too long."""
        if not (found := too_long(rewrite, self.limit)):
            return rewrite
        named = ", ".join(f"sentence {place + 1} ({words})" for place, words in found.items())
        note = f"Still over the limit of {self.limit} words: {named}."
        return rewrite.model_copy(update={"note": f"{rewrite.note or ''} {note}".strip()})

    def _wanted(self, done: dict[int, Rewrite], tried: Set[tuple[int, str]]) -> dict[int, int]:
        """The first long sentence of each rewrite that was not tried yet."""
        return {
            place: number
            for place, rewrite in done.items()
            for number in reversed(too_long(rewrite, self.limit))
            if (place, rewrite.simple[number]) not in tried
            and not NO_SENTENCE.match(rewrite.simple[number])
        }

    def _improve(
        self,
        done: dict[int, Rewrite],
        wanted: dict[int, int],
        step: Callable[[Sequence[str]], Sequence[Rewrite]],
    ) -> None:
        results = step([done[place].simple[number] for place, number in wanted.items()])
        candidates = {
            place: split_further(done[place], number, more)
            for (place, number), more in zip(wanted.items(), results, strict=True)
            if max(map(word_count, more.simple)) < word_count(more.source)
            and not _is_doubtful(more)
        }
        for place, rewrite in zip(candidates, self.check(candidates.values()), strict=True):
            if broken_phrase(self.settings.keep_phrases, rewrite.source, rewrite.simple):
                continue
            is_known = rewrite.confidence is not None and not self.settings.strict
            blocking = BLOCKING if is_known else frozenset(FindingKind)
            if _faults(rewrite, blocking) <= _faults(done[place], blocking):
                done[place] = rewrite


def _faults(rewrite: Rewrite, blocking: Set[FindingKind]) -> int:
    return sum(finding.kind in blocking for finding in rewrite.findings or ())


def _is_doubtful(rewrite: Rewrite) -> bool:
    """Whether a splitter that does not know how sure it is wrote something that looks faulty."""
    if rewrite.confidence is not None:
        return False
    return load_verifier()(rewrite.source, [rewrite.simple])[0].risk > DOUBTFUL
