"""Relative clauses: set off, or attached to a noun that is new to the reader."""

from parataxis.syntax.analysis import ROOT, Word
from parataxis.syntax.patterns.asides import FINITE, close_aside
from parataxis.syntax.patterns.kinds import Pattern
from parataxis.syntax.patterns.lexicon import WH_WORDS
from parataxis.syntax.patterns.phrases import Found, Phrase, SentenceView

__all__ = ["relative_clause"]


def relative_clause(view: SentenceView, word: Word) -> Found | None:
    if word.head == ROOT or word.index < word.head:
        return None
    phrase = _with_quantifier(view, word)
    if word.deprel not in ("acl:relcl", "advcl:relcl") and not _looks_relative(view, word, phrase):
        return None
    opening = view.lower[phrase.first : min(phrase.first + 5, word.index + 1)]
    if view.size(phrase) < 3 or not WH_WORDS & set(opening):
        return None
    if view.is_set_off(phrase):
        return Found(Pattern.RC, close_aside(view, phrase, FINITE), free=True)
    if word.deprel == "acl:relcl" and view.is_new(view.words[word.head]):
        return Found(Pattern.RC, phrase)
    return None


def _with_quantifier(view: SentenceView, word: Word) -> Phrase:
    """In "half of whom work at home" parsers make "half" an apposition of the noun, and only the
    verb a relative clause, of the noun or of "half"."""
    phrase = view.phrase(word)
    before = view.lower[max(phrase.first - 1, 0)]
    if word.deprel != "acl:relcl" or before not in ("which", "whom"):
        return phrase
    noun = view.words[word.head]
    for quantifier in [noun, *view.analysis.children(noun.index, "appos")]:
        other = view.phrase(quantifier)
        if quantifier.deprel == "appos" and quantifier.index < phrase.first <= other.last + 1:
            return Phrase(other.first, phrase.last)
    return phrase


def _looks_relative(view: SentenceView, word: Word, phrase: Phrase) -> bool:
    """Parsers like to call "..., neither of whom may vote" or "..., whom we call the Major" a
    conjunct, parataxis or an apposition."""
    start = view.lower[phrase.first : phrase.first + 3]
    if word.relation in ("appos", "acl", "parataxis") and start[0] in ("who", "whom", "whose"):
        return True
    quantified = start[1:] in (["of", "whom"], ["of", "which"])
    return quantified and word.relation in ("conj", "parataxis", "appos", "advcl", "ccomp")
