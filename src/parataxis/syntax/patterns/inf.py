"""Infinitive clauses that state a purpose, not what a verb or noun needs for its sense."""

from parataxis.syntax.analysis import Word
from parataxis.syntax.patterns.kinds import Pattern
from parataxis.syntax.patterns.lexicon import (
    COMPLEMENT_NOUNS,
    COMPLEMENT_VERBS,
    DEFINITE,
    PURPOSE_VERBS,
    TIME_WORDS,
)
from parataxis.syntax.patterns.phrases import Found, Phrase, SentenceView

__all__ = ["infinitive"]

_LONG_MARKS = frozenset([("in", "order", "to"), ("so", "as", "to")])


def infinitive(view: SentenceView, word: Word) -> Found | None:
    if word.relation not in ("advcl", "acl", "xcomp"):
        return None
    phrase = view.phrase(word)
    if "to" not in view.mark(word) and not view.starts_with(phrase, _LONG_MARKS):
        return None
    start = view.lower[phrase.first : phrase.first + 3]
    if "to" not in start or view.size(phrase) - start.index("to") < 4:
        return None
    if not _states_purpose(view, word, phrase):
        return None
    return Found(Pattern.INF, phrase)


def _states_purpose(view: SentenceView, word: Word, phrase: Phrase) -> bool:
    governor = view.words[word.head]
    text = view.lower[governor.index]
    if word.relation == "acl":
        dets = {view.lower[child.index] for child in view.analysis.children(governor.index, "det")}
        known = dets & (DEFINITE - {"all"}) or view.has_child(governor, "nmod:poss")
        return not known and governor.upos == "NOUN" and text not in COMPLEMENT_NOUNS
    if word.relation == "xcomp":
        return text in PURPOSE_VERBS
    if word.index < governor.index:
        return True
    degree = {"too", "enough", "so"} & set(view.lower[governor.index + 1 : phrase.first])
    if governor.upos in ("ADJ", "ADV") or text.startswith(COMPLEMENT_VERBS) or degree:
        return False
    if text in ("go", "goes", "going", "gone", "went"):  # "went on to lead the team" is one verb
        return "on" not in view.lower[governor.index + 1 : governor.index + 2]
    objects = view.analysis.children(governor.index, "obj")
    takes_time = text.startswith(("take", "took")) and any(
        view.lower[o.index] in TIME_WORDS for o in objects
    )
    return not takes_time
