"""Findings of the verifier: estimates of where a careful reader objects, and to what.

A rewrite has at most one estimate, on the first simple sentence with a high risk: whatever follows
it is judged by a reader who has stumbled already.
"""

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from parataxis.checks.checker import RISKY
from parataxis.checks.verifier import RewriteVerdict, rewrite_pieces
from parataxis.rewrite.record import Finding, FindingKind
from parataxis.text.tokens import has_word, tokenize

UNLIKELY = -2.5
"""The score of a word, in nats, below which it is named as the place of the fault."""

_DOUBTS = {
    "lost": (FindingKind.LOST, "something that the source says may be missing here."),
    "new": (FindingKind.NEW, "the source may not say this."),
    "referent": (FindingKind.RELATION, "this may be said of the wrong person or thing."),
    "scope": (FindingKind.LOST, "a condition, a limit or the one who says this may be missing."),
    "modality": (
        FindingKind.NEW,
        "the time may be wrong, or this may be more or less certain than in the source.",
    ),
    "order": (FindingKind.RELATION, "the order may differ from that of the source."),
    "grammar": (FindingKind.FRAGMENT, "this sentence may be ungrammatical."),
    "fragment": (FindingKind.FRAGMENT, "this may not be a whole sentence."),
    "cut": (FindingKind.RELATION, "this sentence and its neighbour may belong together."),
}
"""The kind of finding and what the editor is told, for each kind of fault."""


def estimate(
    simple: Sequence[str], verdict: RewriteVerdict, *, risky: float = RISKY
) -> Finding | None:
    """The finding on the first simple sentence whose risk is high, if there is one."""
    risks = verdict.faults[:, -1]
    if verdict.risk < risky:
        return None
    place = int(np.argmax(risks >= risky))
    kind, text = _DOUBTS[verdict.kind(place)]
    start, end = _unlikely_word(simple, verdict, place) or (0, len(simple[place]))
    words = simple[place][start:end]
    is_whole = len(words) == len(simple[place])
    return Finding(
        kind=kind,
        words=words,
        sentence=place,
        start=start,
        end=end,
        message=text[0].upper() + text[1:] if is_whole else f"'{words}': {text}",
        probability=round(float(risks[place]), 4),
    )


def _unlikely_word(
    simple: Sequence[str], verdict: RewriteVerdict, place: int
) -> tuple[int, int] | None:
    """The least likely word of a sentence; None if the verifier expected more words instead."""
    if verdict.pieces is None:
        return None
    ends = rewrite_pieces(simple)[1]
    first = ends[place - 1][-1] + 1 if place else 0
    edges = [first, *(end + 1 for end in ends[place])]
    *scores, after = (float(verdict.pieces[start:end].sum()) for start, end in pairwise(edges))
    least = min(scores, default=0.0)
    if least > min(after, UNLIKELY):
        return None
    token = tokenize(simple[place])[scores.index(least)]
    return (token.start, token.end) if has_word(token.text) else None
