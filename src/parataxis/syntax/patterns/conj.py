"""Coordinated clauses and verb phrases, and clauses joined by a semicolon or brackets."""

from parataxis.syntax.analysis import ROOT, Word
from parataxis.syntax.patterns.kinds import Pattern
from parataxis.syntax.patterns.lexicon import (
    ADVERBIAL_MARKS,
    CONDITION_MARKS,
    COORDINATORS,
    REPORTING_VERBS,
)
from parataxis.syntax.patterns.phrases import Found, Phrase, SentenceView

__all__ = ["conjunction"]

_SUBORDINATE = ADVERBIAL_MARKS | CONDITION_MARKS


def conjunction(view: SentenceView, word: Word) -> Found | None:
    if word.head == ROOT or word.index < word.head or not view.is_clause(word):
        return None
    phrase = _conjunct(view, word)
    if view.has_child(word, "mark") and view.starts_with(phrase, _SUBORDINATE):
        return None  # "and, when it rained, stayed at home": a clause that the parser misplaced
    if word.relation in ("parataxis", "conj") and _follows_semicolon(view, phrase):
        return Found(Pattern.CONJ, phrase) if view.size(phrase) > 2 else None
    if word.relation == "parataxis" and _is_joined(view, word, phrase):
        return Found(Pattern.CONJ, phrase)
    if word.relation in ("advcl", "parataxis", "conj") and _is_result(view, phrase):
        return Found(Pattern.CONJ, phrase)
    if word.deprel != "conj" or not _joins_clauses(view, word, phrase):
        return None
    return Found(Pattern.CONJ, phrase)


def _follows_semicolon(view: SentenceView, phrase: Phrase) -> bool:
    return phrase.first > 0 and view.words[phrase.first - 1].text == ";"


def _conjunct(view: SentenceView, word: Word) -> Phrase:
    """The conjunct up to the next one: parsers disagree on whether conjuncts nest."""
    phrase = view.phrase(word)
    nested = [c for c in view.analysis.children(word.index, "conj") if view.is_clause(c)]
    starts = [start for c in nested if (start := view.phrase(c).first) > word.index]
    return view.trim(phrase.first, min([*starts, phrase.last + 1]) - 1)


def _is_joined(view: SentenceView, word: Word, phrase: Phrase) -> bool:
    """A clause beside the main one, which parsers call parataxis: after "and", in brackets, or in
    the middle of "he came, she saw him, and they left"."""
    if joints := view.analysis.children(word.index, "cc"):
        return view.lower[joints[0].index] in COORDINATORS and view.size(phrase) > 2
    if not view.has_child(word, "nsubj") or view.lower[word.index] in REPORTING_VERBS:
        return False
    if phrase.first > 0 and view.words[phrase.first - 1].text == "(":
        return view.size(phrase) > 2
    later = [c for c in view.analysis.children(word.head, "conj") if c.index > word.index]
    joined = any(view.has_child(c, "cc") and view.has_child(c, "nsubj") for c in later)
    return joined and view.is_set_off(phrase)


def _is_result(view: SentenceView, phrase: Phrase) -> bool:
    """Whether "so" coordinates: "..., so the market was held indoors", not "so that"."""
    start = view.lower[phrase.first : phrase.first + 2]
    return start[0] == "so" and start[-1] not in ("that", "as") and view.is_set_off(phrase)


def _joins_clauses(view: SentenceView, word: Word, phrase: Phrase) -> bool:
    left = view.words[word.head]
    if not view.is_clause(left) or left.relation in ("nsubj", "obj", "obl", "nmod", "amod"):
        return False
    if not _is_additive(view, word, phrase):
        return False
    own = view.size(phrase) - len(view.analysis.children(word.index, "cc"))
    if own < 2:
        return False
    if view.has_child(word, "nsubj", "csubj", "aux", "cop", "mark", "expl"):
        return True
    if view.is_negated(left) and not view.has_child(word, "cc"):
        return False  # "must not admit liability, make an offer ...": the negation reaches over
    return _predicate_size(view, left, phrase.first) > 1


def _is_additive(view: SentenceView, word: Word, phrase: Phrase) -> bool:
    """Joined by and, but, yet, nor; the members of a list share its last conjunction. What "or"
    and "neither ... nor" join is not asserted by itself."""
    if view.has_child(view.words[word.head], "cc:preconj"):
        return False
    for sibling in view.analysis.children(word.head, "conj"):
        joints = view.analysis.children(sibling.index, "cc")
        if sibling.index >= word.index and joints:
            return view.lower[joints[0].index] in COORDINATORS
    return view.lower[phrase.first] == "then"


def _predicate_size(view: SentenceView, verb: Word, end: int) -> int:
    """The words of a verb phrase before ``end``: not its subject, its auxiliaries, or conjuncts."""
    left_out: set[int] = set()
    for child in view.analysis.children(verb.index):
        fronted = child.relation == "advcl" and child.index < verb.index
        if fronted or child.relation in ("nsubj", "csubj", "aux", "conj", "mark", "cc", "punct"):
            left_out.update(view.analysis.subtree(child.index))
    return sum(i < end and i not in left_out for i in view.analysis.subtree(verb.index))
