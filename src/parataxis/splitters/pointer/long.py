"""Sentences that are too long for the models are first cut at semicolons between full clauses."""

import re
from collections.abc import Callable, Iterable, Sequence

from parataxis.errors import TooLongError
from parataxis.rewrite.record import Origin, OutputToken, Rewrite
from parataxis.syntax.analysis import Analysis
from parataxis.text.tokens import capitalise

_JOINT = re.compile(r";\s+(?:and\s+)?(?=[A-Za-z“\"])")
_GOVERNING = re.compile(
    r"(?:if|unless|provided|except|subject|notwithstanding|whereas|when|whenever|where|upon|should"
    r"|without|in the event|to the extent|for purposes|for the purposes)\b",
    re.IGNORECASE,
)
"""What opens a sentence and may govern all its clauses."""
_TIED = re.compile(
    r"(?:or|nor|but|which|who|whose|that|such|however|otherwise|and|to|including|namely|in each"
    r" case|provided|except|unless|if|subject|so)\b",
    re.IGNORECASE,
)
"""What opens a part that belongs to the one before it."""
_DEPTH = {"(": 1, "[": 1, "“": 1, ")": -1, "]": -1, "”": -1}

Analyse = Callable[[Sequence[str]], Iterable[Analysis | TooLongError]]


def cut_long(sentence: str, analyse: Analyse) -> list[tuple[int, str]]:
    """The parts of a sentence, each with its place; only one if it cannot be cut.

    Each part but the last has a full stop in place of its semicolon, so that its characters are
    where they were.
    """
    joints = [match for match in _JOINT.finditer(sentence) if _is_outside(sentence, match.start())]
    if not joints or _GOVERNING.match(sentence):
        return [(0, sentence)]
    starts = [0, *(joint.end() for joint in joints)]
    ends = [*(joint.start() for joint in joints), len(sentence)]
    parts = [sentence[start:end].rstrip(" .") for start, end in zip(starts, ends, strict=True)]
    is_full = [
        not _TIED.match(part) and _is_clause(analysis)
        for part, analysis in zip(parts, analyse([f"{capitalise(p)}." for p in parts]), strict=True)
    ]
    # A part begins at each full clause behind another one.
    begins = [0, *(n for n in range(1, len(parts)) if is_full[n] and is_full[n - 1])]
    cuts = [starts[n] for n in begins]
    stops = [*(ends[n - 1] for n in begins[1:]), len(sentence)]
    return [
        (start, capitalise(sentence[start:stop]) + ("" if stop == len(sentence) else "."))
        for start, stop in zip(cuts, stops, strict=True)
    ]


def _is_outside(sentence: str, place: int) -> bool:
    """Whether a place is in no brackets or quotation marks."""
    depth = sum(_DEPTH.get(char, 0) for char in sentence[:place])
    return depth == 0 and sentence.count('"', 0, place) % 2 == 0


def _is_clause(analysis: Analysis | TooLongError) -> bool:
    """Whether a part has a subject and a finite verb; what is too long to be read counts as one."""
    if not isinstance(analysis, Analysis):
        return True
    root = analysis.root
    verbs = [root, *analysis.children(root.index, "aux", "cop")]
    is_finite = any(verb.feats.get("VerbForm") == "Fin" or verb.xpos == "MD" for verb in verbs)
    return is_finite and bool(analysis.children(root.index, "nsubj", "expl"))


def joined(sentence: str, places: Sequence[int], rewrites: Sequence[Rewrite]) -> Rewrite:
    """The rewrites of the parts of a sentence as one."""
    sure = [each.confidence for each in rewrites if each.confidence is not None]
    further = [each.further for each in rewrites if each.further is not None]
    before = 0
    shifted = []
    for place, each in zip(places, rewrites, strict=True):
        shifted += [
            found.model_copy(
                update={"start": found.start + place, "end": found.end + place}
                if found.sentence is None
                else {"sentence": found.sentence + before}
            )
            for found in each.findings or ()
        ]
        before += len(each.simple)
    return Rewrite(
        source=sentence,
        simple=tuple(simple for each in rewrites for simple in each.simple),
        splitter=rewrites[0].splitter,
        provenance=tuple(
            tuple(_moved(sentence, place, token) for token in tokens)
            for place, each in zip(places, rewrites, strict=True)
            for tokens in each.provenance or ()
        ),
        findings=tuple(shifted),
        note="Cut at semicolons first, because it is very long.",
        confidence=min(sure, default=None),
        further=max(further, default=None),
        level=rewrites[0].level,
    )


def _moved(sentence: str, place: int, token: OutputToken) -> OutputToken:
    """A token whose place in a part becomes one in the sentence; a stop that replaced a semicolon
    was inserted."""
    if token.source is None:
        return token
    start, end = token.source[0] + place, token.source[1] + place
    if sentence[start:end] == ";":
        return token.model_copy(update={"origin": Origin.INSERTED, "source": None})
    return token.model_copy(update={"source": (start, end)})
