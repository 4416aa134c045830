"""Capitals of copied words that have left the name or the place which gave them their capital."""

from parataxis.rewrite.compose import Copy, Inflect
from parataxis.rewrite.forms import key
from parataxis.splitters.pointer.actions import closed_word
from parataxis.syntax.analysis import Analysis, Word
from parataxis.text.casing import lower_first
from parataxis.text.tokens import has_word
from parataxis.text.wordlists import words

__all__ = ["with_own_capital"]

_CLAUSE_OPENERS = frozenset(":;.)-–—•")
"""Marks behind which a word may have its capital from its place."""
_NEVER_NAMES = frozenset(["VERB", "ADP", "ADV", "SCONJ", "AUX"])
_DETERMINERS = words("the this that these those such a an")
_CLASSES = words(
    "abbey academy agency airport album association band baron baronet baths battle bishop bridge"
    " brigade building canal captain castle cathedral channel church club college colonel"
    " commission committee company corporation council count county court dam department diocese"
    " district duchy duke earl emperor empress expedition festival film foundation gallery general"
    " glacier government governor harbour hospital hotel institute island king kingdom lake league"
    " library ministry minister monastery mosque mountain museum novel orchestra palace parish"
    " park peninsula philharmonic prefecture president prince princess prize professor programme"
    " province queen rabbi railway regiment region republic reserve river road school senator"
    " series show society stadium station street studio sultan symphony synagogue team temple"
    " theater theatre tower town tournament treaty tribe university valley village volcano war"
)
"""What a name may end or begin with, and what the thing is called without its name."""


def with_own_capital(
    analysis: Analysis, part: Copy, before: int | None, after: int | None, last: str
) -> Copy | Inflect:
    """A copied word, without its capital where only its place in the source gave it one.

    ``before`` and ``after`` are the source words next to it in the simple sentence, ``last`` is
    the text before it. "The Aurora Engine Company" becomes "the company", and "(a) The Buyer" in
    the middle of a sentence "the Buyer".
    """
    word = analysis[part.word]
    if not word.text[:1].isupper() or analysis.text.isupper() or word.index == analysis.opener:
        return part
    if before == word.index - 1:
        return part
    goes_on = after == word.index + 1 and has_word(analysis[after].text)
    if closed_word(key(word.text)) is not None or word.upos in _NEVER_NAMES:
        lowers = _is_plain(analysis, word, goes_on=goes_on)
    else:
        lowers = not goes_on and last in _DETERMINERS and _names_class(analysis, word)
    return Inflect(word.index, lower_first(word.text, keep=False)) if lowers else part


def _is_plain(analysis: Analysis, word: Word, *, goes_on: bool) -> bool:
    """Whether a word that is no name has its capital from its place: not that of "The Hague"."""
    if word.upos == "PROPN" or len(word.text) == 1:
        return False
    opened_clause = analysis[word.index - 1].text in _CLAUSE_OPENERS
    return opened_clause or (not goes_on and word.upos not in _NEVER_NAMES)


def _names_class(analysis: Analysis, word: Word) -> bool:
    """Whether a word says what kind of thing a name names, and is never a term of its own."""
    if key(word.text) not in _CLASSES:
        return False
    return all(
        _is_in_name(analysis, other) for other in analysis if key(other.text) == key(word.text)
    )


def _is_in_name(analysis: Analysis, word: Word) -> bool:
    """Whether a word stands beside one with a capital, or a number: "District 57A"."""
    beside = [word.index - 1, word.index + 1]
    if word.index + 2 < len(analysis) and analysis[word.index + 1].text == "of":
        beside.append(word.index + 2)
    return any(
        0 <= place < len(analysis)
        and (analysis[place].text[:1].isupper() or analysis[place].text[:1].isdigit())
        and analysis[place].upos in ("PROPN", "ADJ", "NOUN", "NUM")
        for place in beside
    )
