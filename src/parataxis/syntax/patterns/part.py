"""Participle and adjective phrases: relative clauses without their verb "to be"."""

from parataxis.syntax.analysis import Word
from parataxis.syntax.patterns.asides import PRESENT, close_aside
from parataxis.syntax.patterns.kinds import Pattern
from parataxis.syntax.patterns.lexicon import CONDITION_MARKS, PROVISOS, REPORTING_STARTS
from parataxis.syntax.patterns.phrases import Found, SentenceView

__all__ = ["participle"]

_NO_PARTICIPLES = REPORTING_STARTS | CONDITION_MARKS | PROVISOS


def participle(view: SentenceView, word: Word) -> Found | None:
    if word.relation not in ("acl", "advcl", "amod") or word.deprel == "acl:relcl":
        return None
    if not _is_participle(view, word) and not _is_loose_adjective(view, word):
        return None
    phrase = view.phrase(word)
    if view.size(phrase) < 2 or view.starts_with(phrase, _NO_PARTICIPLES):
        return None
    if view.is_set_off(phrase):
        return Found(Pattern.PART, close_aside(view, phrase, PRESENT), free=True)
    if word.deprel == "acl" and word.upos == "VERB":
        return Found(Pattern.PART, phrase) if view.is_new(view.words[word.head]) else None
    return None


def _is_participle(view: SentenceView, word: Word) -> bool:
    if word.relation == "amod" or set(view.mark(word)) - {"with"}:
        return False
    auxiliaries = view.analysis.children(word.index, "aux", "cop")
    # "having lost", "being tired": the first of the group carries the form.
    first = auxiliaries[0] if auxiliaries else word
    form = "VBG" if view.lower[first.index] in ("having", "being") else first.xpos
    if form == "VBD":  # "the railway, opened in 1869": a past tense would need a subject
        return not auxiliaries and not view.has_child(word, "nsubj")
    return form in ("VBG", "VBN")


def _is_loose_adjective(view: SentenceView, word: Word) -> bool:
    """An aside such as "popular with tourists": a relative clause without its verb."""
    if word.upos != "ADJ" or view.mark(word) or view.has_child(word, "cop", "nsubj"):
        return False
    return word.index > word.head or word.relation == "advcl"
