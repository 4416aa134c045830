"""Prepositional phrases that state a fact of their own."""

from parataxis.syntax.analysis import Word
from parataxis.syntax.patterns.kinds import Pattern
from parataxis.syntax.patterns.lexicon import (
    LINKING_PREPOSITIONS,
    REPORTING_STARTS,
    ROLE_FRAMES,
    SET_OFF_PREPOSITIONS,
    TIME_WORDS,
)
from parataxis.syntax.patterns.phrases import Found, Phrase, SentenceView

__all__ = ["linked_phrase", "set_off_phrase"]

_NOT_ADJUNCTS = frozenset(
    ["root", "conj", "case", "mark", "fixed", "xcomp", "ccomp", "obj", "nsubj", "cc"]
)


def linked_phrase(view: SentenceView, word: Word) -> Found | None:
    """Prepositional phrases whose preposition alone shows that they state a second fact."""
    if word.upos in ("VERB", "AUX") or word.relation in _NOT_ADJUNCTS:
        return None
    if view.has_child(word, "cop", "nsubj"):
        return None
    phrase = _from_preposition(view, word)
    if view.size(phrase) < 4 or view.starts_with(phrase, REPORTING_STARTS):
        return None
    if view.starts_with(phrase, LINKING_PREPOSITIONS):
        return Found(Pattern.PREP, phrase)
    start = view.starts_with(phrase, SET_OFF_PREPOSITIONS)
    if not start or not view.is_set_off(phrase):
        return None
    if start == ("as",) and view.lower[word.index] in ROLE_FRAMES:
        return None
    return Found(Pattern.PREP, phrase)


def _from_preposition(view: SentenceView, word: Word) -> Phrase:
    """The phrase with the first words of its preposition ("together with", "thanks to"), which
    parsers often attach elsewhere."""
    phrase = view.phrase(word)
    for back in (1, 2):
        longer = Phrase(phrase.first - back, phrase.last)
        if longer.first < 0 or longer.first <= word.head < phrase.first:
            break
        if len(view.starts_with(longer, LINKING_PREPOSITIONS)) > 1:
            return longer
    return phrase


def set_off_phrase(view: SentenceView, word: Word) -> Found | None:
    """Other prepositional phrases: only asides and afterthoughts, not the frame of a clause."""
    if word.relation not in ("obl", "nmod") or not view.has_child(word, "case"):
        return None
    phrase = view.phrase(word)
    if word.index < word.head or view.size(phrase) < 4 or not view.is_set_off(phrase):
        return None
    starts_well = view.words[phrase.first].upos in ("ADP", "SCONJ", "ADV")
    if not starts_well or view.starts_with(phrase, REPORTING_STARTS):
        return None
    is_date = view.lower[word.index] in TIME_WORDS or word.upos == "NUM"
    if is_date and view.lower[phrase.first] not in ("after", "before"):
        return None
    return Found(Pattern.PREP, phrase, free=word.relation == "nmod")
