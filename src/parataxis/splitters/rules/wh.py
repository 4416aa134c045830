"""Wh handling, the first process (Zhang et al. 2020, appendix A)."""

from collections.abc import Iterator, Sequence

from parataxis.rewrite.compose import Copy, Insert, Part, copies
from parataxis.splitters.rules.roles import (
    RELATIVE_WORDS,
    argument_before,
    is_relational,
    trimmed,
    verb_frames,
)
from parataxis.syntax.analysis import Analysis, Argument

__all__ = ["split_wh"]


def split_wh(
    analysis: Analysis, sentence: Sequence[Part]
) -> Iterator[tuple[list[Part], list[Part]]]:
    """Split before each R-ARG that has a Subject Argument, which takes its place."""
    for relative, words, subject in _relational_arguments(analysis):
        if Copy(words.start) not in sentence:
            continue
        cut = sentence.index(Copy(words.start))
        before, after = range(words.start, relative), range(relative + 1, words.stop)
        phrase = copies(trimmed(analysis, subject.first, subject.last))
        if analysis[relative].text.lower() == "whose":
            phrase.append(Insert("'s"))
        second = [*copies(before), *phrase, *copies(after), *sentence[cut + len(words) :]]
        yield list(sentence[:cut]), second


def _relational_arguments(analysis: Analysis) -> list[tuple[int, range, Argument]]:
    """From left to right: the relative word, all words of the R-ARG, and the Subject Argument."""
    found = []
    for frame in verb_frames(analysis):
        for relational in filter(is_relational, frame.arguments):
            words = range(relational.first, relational.last + 1)
            relative = next((w for w in words if analysis[w].text.lower() in RELATIVE_WORDS), None)
            if relative is None:
                continue
            subject = argument_before(frame, words.start)
            if subject is not None:
                found.append((relative, words, subject))
    return sorted(found, key=lambda entry: entry[1].start)
