"""Conjunction handling, the second process (Zhang et al. 2020, appendix A)."""

from collections.abc import Iterator, Sequence

from parataxis.rewrite.compose import Copy, Part, copies
from parataxis.splitters.rules.roles import argument_before, is_argument, trimmed, verb_frames
from parataxis.syntax.analysis import Analysis, Argument

__all__ = ["split_conjunction"]


def split_conjunction(
    analysis: Analysis, sentence: Sequence[Part]
) -> Iterator[tuple[list[Part], list[Part]]]:
    """Split at each "and" that an argument follows, or a verb with a Subject Argument."""
    for place, part in enumerate(sentence[:-1]):
        following = sentence[place + 1]
        if not isinstance(part, Copy) or not isinstance(following, Copy):
            continue
        if analysis[part.word].text.lower() != "and":
            continue
        first, rest = list(sentence[:place]), list(sentence[place + 1 :])
        if _starts_argument(analysis, following.word):
            yield first, rest
        elif (subject := _subject(analysis, following.word)) is not None:
            yield first, [*copies(trimmed(analysis, subject.first, subject.last)), *rest]


def _starts_argument(analysis: Analysis, index: int) -> bool:
    return any(
        argument.first == index and is_argument(argument)
        for frame in verb_frames(analysis)
        for argument in frame.arguments
    )


def _subject(analysis: Analysis, index: int) -> Argument | None:
    """The Subject Argument of the verb at ``index``, or of the verb whose auxiliary it is, or of
    the verb that it is joined to."""
    word = analysis[index]
    if word.upos not in ("VERB", "AUX"):
        return None
    main = analysis[word.head] if word.relation in ("aux", "cop") else word
    verbs = [index, main.index]
    if main.relation == "conj":
        verbs += [main.head, *(v.index for v in analysis.children(main.head, "cop"))]
    frames = {frame.predicate: frame for frame in verb_frames(analysis)}
    subjects = (argument_before(frames[v], min(v, index)) for v in verbs if v in frames)
    return next(filter(None, subjects), None)
