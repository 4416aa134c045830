"""Appositions that say something about a noun and do not merely name or place it."""

from parataxis.syntax.analysis import Word
from parataxis.syntax.patterns.asides import FINITE, close_aside
from parataxis.syntax.patterns.kinds import Pattern
from parataxis.syntax.patterns.lexicon import TIME_WORDS
from parataxis.syntax.patterns.phrases import Found, Phrase, SentenceView

__all__ = ["apposition"]


def apposition(view: SentenceView, word: Word) -> Found | None:
    if word.relation == "nsubj":
        return _fronted_apposition(view, word)
    if word.relation not in ("appos", "acl", "advcl", "parataxis") or word.deprel == "acl:relcl":
        return None
    noun = view.words[word.head]
    if noun.relation == "nsubj" and _fronted_apposition(view, noun):
        return None
    if not _is_nominal(view, word) or view.mark(word):
        return None
    if view.has_child(word, "cop", "nsubj") or not _describes(view, word):
        return None
    phrase = _whole_apposition(view, word)
    if {"which", "whom"} & set(view.lower[phrase.first : phrase.first + 4]):
        return None  # "half of whom work at home"
    if view.size(phrase) < 2 or not view.is_set_off(phrase) or _is_definition(view, phrase):
        return None
    return Found(Pattern.APPOS, close_aside(view, phrase, FINITE), free=True)


def _fronted_apposition(view: SentenceView, word: Word) -> Found | None:
    """In "A gifted linguist, Moser spoke ..." a parser takes the noun for the subject, and the
    name for its apposition or a second subject."""
    subjects = view.analysis.children(word.head, "nsubj")
    names = [*view.analysis.children(word.index, "appos"), *(s for s in subjects if s is not word)]
    for name in names:
        phrase = view.phrase(name)
        opens = word.index < phrase.first - 1 and view.words[phrase.first - 1].text == ","
        closed = phrase.last + 1 == len(view.words) or view.is_punct(phrase.last + 1)
        if name.upos == "PROPN" and opens and not closed:
            noun = view.trim(view.phrase(word).first, phrase.first - 1)
            if noun.first == 0 and view.size(noun) > 1:
                return Found(Pattern.APPOS, noun, free=True)
    return None


def _is_nominal(view: SentenceView, word: Word) -> bool:
    with_article = view.has_child(word, "det", "nmod:poss")
    if word.relation == "parataxis" or word.upos in ("ADJ", "NUM"):
        return with_article and word.upos != "VERB"
    return word.upos in ("NOUN", "PROPN", "PRON")


def _whole_apposition(view: SentenceView, word: Word) -> Phrase:
    """Parsers hang "in the south" of "Katanga, a province in the south" on either noun; without a
    comma between them it belongs to the apposition."""
    phrase = view.phrase(word)
    for sibling in view.analysis.children(word.head, "nmod", "acl", "appos"):
        other = view.phrase(sibling)
        if other.first == phrase.last + 1:
            phrase = Phrase(phrase.first, other.last)
    # "Zadran, a carpet dealer from Kabul" after "its founder,": two appositions, one after another
    for nested in view.analysis.children(word.index, "appos"):
        start = view.phrase(nested)
        if word.upos == "PROPN" and word.index < start.first and view.is_set_off(start):
            phrase = view.trim(phrase.first, start.first - 1)
    return phrase


def _describes(view: SentenceView, word: Word) -> bool:
    """Not a place in a place ("Austin, Texas") and not a date ("Friday, the twelfth of May")."""
    noun = view.words[word.head]
    if view.lower[noun.index] in TIME_WORDS:
        return False
    return not (noun.upos == word.upos == "PROPN" and not view.has_child(word, "det"))


def _is_definition(view: SentenceView, phrase: Phrase) -> bool:
    """(the "Buyer"): a contract's defined term names the thing, it says nothing about it."""
    if phrase.first == 0 or view.words[phrase.first - 1].text not in ("(", "[", '"', "“"):
        return False
    return any(
        view.words[i].text in ('"', "“", "''", "``")
        for i in range(phrase.first - 1, phrase.last + 1)
    )
