"""Adverbial clauses and phrases: time, cause, contrast, exception; not conditions."""

from parataxis.syntax.analysis import ROOT, Word
from parataxis.syntax.patterns.kinds import Pattern
from parataxis.syntax.patterns.lexicon import (
    ADVERBIAL_MARKS,
    CONDITION_MARKS,
    GERUND_MARKS,
    PROVISOS,
    TIME_WORDS,
)
from parataxis.syntax.patterns.phrases import Found, Phrase, SentenceView

__all__ = ["adverbial"]

_ADVERBIAL_RELATIONS = frozenset(["advcl", "obl", "advmod", "acl", "conj", "parataxis"])


def adverbial(view: SentenceView, word: Word) -> Found | None:
    if word.relation not in _ADVERBIAL_RELATIONS or word.deprel == "acl:relcl":
        return None
    phrase = _with_soon(view, word)
    now_that = view.starts_with(phrase, {("now", "that")})
    if word.relation != "advcl" and not now_that and not view.has_child(word, "mark"):
        return None
    if word.relation == "acl" and not view.is_set_off(phrase):
        return None
    opening = _opening(view, word, phrase)
    if view.starts_with(opening, PROVISOS):
        added = opening.first > 0 and view.is_set_off(opening)
        return Found(Pattern.ADV, phrase) if added else None
    if view.size(phrase) < 3 or view.starts_with(opening, CONDITION_MARKS):
        return None
    if _is_gerund(view, word) and not view.starts_with(opening, GERUND_MARKS):
        introduced = view.words[phrase.first].upos in ("ADP", "SCONJ")
        if not introduced or "with" in view.mark(word) or not view.is_set_off(phrase):
            return None
        return Found(Pattern.ADV, phrase)
    start = view.starts_with(opening, ADVERBIAL_MARKS | GERUND_MARKS)
    if not start or _compares(view, word):
        return None
    if start == ("when",) and _follows_time(view, phrase):
        return Found(Pattern.RC, phrase, free=True)
    return Found(Pattern.ADV, phrase)


def _opening(view: SentenceView, word: Word, phrase: Phrase) -> Phrase:
    """The phrase from its subordinating word on: "shortly before he died" opens at "before"."""
    marks = [m.index for m in view.analysis.children(word.index, "mark")]
    first = marks[0] if marks and phrase.first < marks[0] < word.index else phrase.first
    if any(view.words[i].upos in ("ADP", "SCONJ") for i in range(phrase.first, first)):
        first = phrase.first
    return Phrase(first, phrase.last)


def _with_soon(view: SentenceView, word: Word) -> Phrase:
    """Treebanks hang the clause of "as soon as it rains" on "soon": take the whole."""
    phrase = view.phrase(word)
    if word.head != ROOT and view.lower[word.head] in ("soon", "long"):
        return view.phrase(view.words[word.head])
    return phrase


def _is_gerund(view: SentenceView, word: Word) -> bool:
    return word.xpos == "VBG" and not view.has_child(word, "aux", "nsubj")


def _compares(view: SentenceView, word: Word) -> bool:
    """Whether the clause completes an adverb or adjective: "as fast as he could"."""
    governor = view.words[word.head]
    if view.lower[governor.index] == "soon":
        return False
    degrees = view.analysis.children(governor.index, "advmod")
    return any(view.lower[d.index] in ("as", "so") and d.index < word.index for d in degrees)


def _follows_time(view: SentenceView, phrase: Phrase) -> bool:
    """Whether the clause describes a time, as a relative clause does: "in 1950, when prices
    were low"."""
    before = phrase.first - 2
    if before < 0 or view.words[phrase.first - 1].text != ",":
        return False
    return view.lower[before] in TIME_WORDS or view.words[before].upos == "NUM"
