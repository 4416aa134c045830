"""What the first two processes read from the semantic roles."""

import re
from collections.abc import Iterator

from parataxis.syntax.analysis import Analysis, Argument, Frame

__all__ = [
    "RELATIVE_WORDS",
    "argument_before",
    "is_argument",
    "is_relational",
    "trimmed",
    "verb_frames",
]

RELATIVE_WORDS = frozenset(["who", "whom", "whose", "which", "that"])

_NUMBERED = re.compile(r"ARG\d")
_BRACKETS = frozenset(["()", "[]"])
_MARKS = frozenset([",", ";", ":", ".", "-", "--", "–", "—"])
_RELATIONAL = re.compile(r"R-ARG\d")


def verb_frames(analysis: Analysis) -> Iterator[Frame]:
    """The frames of verbs; the paper's role labeller knows no others."""
    return (f for f in analysis.frames if analysis[f.predicate].upos in ("VERB", "AUX"))


def is_argument(argument: Argument) -> bool:
    """Whether it is a numbered argument (ARG0 to ARG5), not a modifier (ARGM)."""
    return _NUMBERED.fullmatch(argument.label) is not None


def is_relational(argument: Argument) -> bool:
    """Whether it is a numbered R-ARG: "who", "which", "that", not "where" or "when"."""
    return _RELATIONAL.fullmatch(argument.label) is not None


def argument_before(frame: Frame, index: int) -> Argument | None:
    """The last numbered argument of a frame that ends before a word: the paper's Subject
    Argument."""
    before = [a for a in frame.arguments if is_argument(a) and a.last < index]
    return max(before, key=lambda a: a.last, default=None)


def trimmed(analysis: Analysis, first: int, last: int) -> range:
    """The words of a span without commas and the like at its ends, or brackets around it."""
    while first < last:
        if analysis[first].text + analysis[last].text in _BRACKETS:
            first, last = first + 1, last - 1
        elif analysis[first].text in _MARKS:
            first += 1
        elif analysis[last].text in _MARKS:
            last -= 1
        else:
            break
    return range(first, last + 1)
