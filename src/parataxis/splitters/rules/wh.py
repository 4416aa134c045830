"""Wh handling, the first process (Zhang et al. 2020, appendix A)."""

from collections.abc import Sequence

from parataxis.rewrite.compose import Copy, Insert, Part, copies
from parataxis.splitters.rules.roles import argument_before, is_relational, trimmed, verb_frames
from parataxis.syntax.analysis import Analysis, Argument

__all__ = ["split_wh"]


def split_wh(analysis: Analysis, sentence: Sequence[Part]) -> tuple[list[Part], list[Part]] | None:
    """Split before the first R-ARG that has a Subject Argument, which takes its place."""
    found = [
        (relational, subject)
        for frame in verb_frames(analysis)
        for relational in frame.arguments
        if is_relational(relational)
        and (subject := argument_before(frame, relational.first)) is not None
    ]
    for relational, subject in sorted(found, key=lambda pair: pair[0].first):
        if Copy(relational.first) not in sentence:
            continue
        cut = sentence.index(Copy(relational.first))
        length = relational.last - relational.first + 1
        if cut:
            replaced = _replaced(analysis, relational, subject)
            return list(sentence[:cut]), [*replaced, *sentence[cut + length :]]
    return None


def _replaced(analysis: Analysis, relational: Argument, subject: Argument) -> list[Part]:
    """The R-ARG with the subject in place of its relative word: "to which" as "to the house"."""
    words = range(relational.first, relational.last + 1)
    relative = next((w for w in words if analysis[w].xpos.startswith("W")), None)
    phrase = copies(trimmed(analysis, subject.first, subject.last))
    if relative is None:
        return phrase
    if analysis[relative].xpos == "WP$":
        phrase.append(Insert("'s"))
    before, after = copies(range(words.start, relative)), copies(range(relative + 1, words.stop))
    return [*before, *phrase, *after]
