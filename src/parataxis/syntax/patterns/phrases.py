"""Patterns, their occurrences, and the sentence as the pattern rules see it.

The seven patterns are those of Zhang et al. (2020), §2 and §4.1.3; docs/patterns.md defines them.
"""

from collections.abc import Collection
from dataclasses import dataclass
from enum import StrEnum

from parataxis.syntax.analysis import ROOT, Analysis, Word
from parataxis.syntax.patterns.lexicon import (
    ADDITIVE,
    DEFINITE,
    INDEFINITE,
    NEGATIONS,
    WH_WORDS,
)
from parataxis.text.english import MODALS


class Pattern(StrEnum):
    """A syntactic pattern at which a sentence can be split, in the order of the paper's table 1."""

    RC = "rc"
    CONJ = "conj"
    PART = "part"
    PREP = "prep"
    ADV = "adv"
    APPOS = "appos"
    INF = "inf"

    @property
    def plain_name(self) -> str:
        """The name for writers: "relative clause" for ``rc``."""
        return _PLAIN_NAMES[self]


_PLAIN_NAMES = {
    Pattern.RC: "relative clause",
    Pattern.CONJ: "joined clause or verb phrase",
    Pattern.PART: "participle phrase",
    Pattern.PREP: "prepositional phrase",
    Pattern.ADV: "adverbial clause",
    Pattern.APPOS: "apposition",
    Pattern.INF: "infinitive of purpose",
}


@dataclass(frozen=True, slots=True)
class Occurrence:
    """A phrase that could become a simple sentence.

    It covers the words ``first`` to ``last`` (inclusive, without punctuation at either end), or
    the characters ``start`` to ``end`` of the sentence; ``head`` is the word that governs it.
    """

    pattern: Pattern
    first: int
    last: int
    head: int
    start: int
    end: int


_SET_OFF = frozenset([",", "(", "[", "—", "–", "-", "--", "---"])
_PAIRS = (("(", ")"), ("[", "]"), ("“", "”"), ('"', '"'))
_QUOTES = frozenset("\"'“”‘’`«»") | {"``", "''"}


@dataclass(frozen=True, slots=True)
class Phrase:
    """A stretch of words, ends included."""

    first: int
    last: int


@dataclass(frozen=True, slots=True)
class FoundPhrase:
    """A phrase that a rule accepts. A ``free`` phrase is an aside of the writer, which can be taken
    out of anything, even reported speech."""

    pattern: Pattern
    phrase: Phrase
    free: bool = False


class SentenceView:
    """An analysis with what the pattern rules need to know about its words and phrases."""

    def __init__(self, analysis: Analysis) -> None:
        self.analysis = analysis
        self.words = analysis.words
        self.lower = [word.text.lower() for word in analysis.words]

    def phrase(self, word: Word) -> Phrase:
        """The unbroken stretch of the subtree around ``word``, without punctuation at its ends."""
        inside = set(self.analysis.subtree(word.index))
        first = last = word.index
        while first - 1 in inside or (first - 2 in inside and self.is_punct(first - 1)):
            first -= 1
        while last + 1 in inside or (last + 2 in inside and self.is_punct(last + 1)):
            last += 1
        return self.trim(first, last)

    def trim(self, first: int, last: int) -> Phrase:
        """Drop punctuation at both ends."""
        while first < last and self.is_punct(first):
            first += 1
        while last > first and self.is_punct(last):
            last -= 1
        return self._balance(Phrase(first, last))

    def _balance(self, phrase: Phrase) -> Phrase:
        """Add the bracket or quotation mark whose partner is inside the phrase."""
        inside = [self.words[i].text for i in range(phrase.first, phrase.last + 1)]
        after = self.words[phrase.last + 1].text if phrase.last + 1 < len(self.words) else ""
        before = self.words[phrase.first - 1].text if phrase.first else ""
        for opening, closing in _PAIRS:
            opened, closed = inside.count(opening), inside.count(closing)
            odd = opened % 2 == 1 if opening == closing else opened > closed
            if odd and after == closing:
                return self._balance(Phrase(phrase.first, phrase.last + 1))
            if (odd if opening == closing else closed > opened) and before == opening:
                return self._balance(Phrase(phrase.first - 1, phrase.last))
        return phrase

    def is_punct(self, index: int) -> bool:
        return self.words[index].upos == "PUNCT"

    def size(self, phrase: Phrase) -> int:
        """The number of words of a phrase, without punctuation."""
        return sum(not self.is_punct(i) for i in range(phrase.first, phrase.last + 1))

    def starts_with(self, phrase: Phrase, starts: Collection[tuple[str, ...]]) -> tuple[str, ...]:
        """The longest of ``starts`` that the phrase begins with, or ()."""
        for length in range(4, 0, -1):
            start = tuple(self.lower[phrase.first : min(phrase.first + length, phrase.last + 1)])
            if len(start) == length and start in starts:
                return start
        return ()

    def is_set_off(self, phrase: Phrase) -> bool:
        """Whether a comma, dash or bracket comes before the phrase, or after it if the phrase opens
        the sentence or a clause ("..., and despite the rain, ...")."""
        before = self._skip_quotes(phrase.first - 1, -1)
        if before >= 0 and self.words[before].text in _SET_OFF:
            return True
        after = self._skip_quotes(phrase.last + 1, 1)
        word = self.words[before]
        opens = before < 0 or word.text in (";", ":") or word.deprel == "cc"
        return opens and after < len(self.words) and self.words[after].text in _SET_OFF

    def _skip_quotes(self, index: int, step: int) -> int:
        while 0 <= index < len(self.words) and self.words[index].text in _QUOTES:
            index += step
        return index

    def mark(self, word: Word) -> list[str]:
        """The words that introduce a clause or a prepositional phrase."""
        return [
            self.lower[child.index] for child in self.analysis.children(word.index, "mark", "case")
        ]

    def has_child(self, word: Word, *relations: str) -> bool:
        return bool(self.analysis.children(word.index, *relations))

    def is_clause(self, word: Word) -> bool:
        """Whether the word heads a clause or verb phrase: a verb, or a predicate with a copula."""
        return word.upos in ("VERB", "AUX") or self.has_child(word, "cop", "nsubj", "csubj")

    def is_negated(self, verb: Word) -> bool:
        around = self.analysis.children(verb.index, "advmod", "det")
        return any(self.lower[child.index] in NEGATIONS for child in around)

    def is_new(self, noun: Word) -> bool:
        """Whether a noun phrase introduces something, so that a clause about it states a fact and
        does not identify it: a name, or an indefinite that is neither generic nor negated."""
        dets = {self.lower[child.index] for child in self.analysis.children(noun.index, "det")}
        if dets & DEFINITE or self.has_child(noun, "nmod:poss"):
            return False
        if noun.upos == "PROPN":
            return True
        if dets & INDEFINITE or self.has_child(noun, "nummod"):
            return not self._is_generic_or_negated(noun)
        # In "a cloud of dust surrounding a star" the indefinite is one step up.
        if noun.deprel == "nmod" and not dets and self.mark(noun) == ["of"]:
            return self.is_new(self.words[noun.head])
        return False

    def _is_generic_or_negated(self, noun: Word) -> bool:
        if noun.head == ROOT:
            return False
        verb = self.words[noun.head]
        around = self.analysis.children(verb.index)
        if self.is_negated(verb):
            return True
        if noun.relation != "nsubj":
            return False
        auxiliaries = [child for child in around if child.relation in ("aux", "cop")]
        finite = auxiliaries[0] if auxiliaries else verb
        if self.lower[finite.index] in MODALS:
            return True
        # "A charity that helps refugees has bought the mill" is about one charity.
        perfect = finite is not verb and self.lower[finite.index] in ("has", "have")
        return finite.feats.get("Tense") == "Pres" and not perfect


PRESENT = frozenset(["VBZ", "VBP"])
"""Verb forms that can only continue the main clause."""

FINITE = PRESENT | {"VBD", "VBN"}
"""The same after an aside that is no participle phrase. Taggers confuse past tense and participle,
so after a participle "and restored in 1950" may continue the aside."""


def close_aside(view: SentenceView, phrase: Phrase, forms: frozenset[str]) -> Phrase:
    """The aside up to the comma that closes it, if the parser included words after that comma:
    "Otto, who had inherited the farm, and planted ..."; "Otto, known as the Bold, to guard ..."."""
    for comma in range(phrase.first + 1, phrase.last - 1):
        if view.words[comma].text == "," and _resumes(view, comma + 1, forms):
            return view.trim(phrase.first, comma - 1)
    return phrase


def _resumes(view: SentenceView, index: int, forms: frozenset[str]) -> bool:
    """Whether the main clause continues at ``index``: with "to", or with "and" and a finite verb
    that has no subject and is not the last of a list."""
    word = view.words[index]
    if word.upos == "PART" and view.lower[index] == "to":
        return True
    if word.deprel != "cc" or view.lower[index] not in ADDITIVE:
        return False
    verb = view.words[word.head]
    if verb.deprel != "conj" or view.has_child(verb, "nsubj", "csubj"):
        return False
    if len([c for c in view.analysis.children(verb.head, "conj") if c.index <= verb.index]) > 1:
        return False
    auxiliaries = view.analysis.children(verb.index, "aux", "cop")
    finite = bool(auxiliaries) or (verb.upos == "VERB" and verb.xpos in forms)
    return finite and not WH_WORDS & set(view.lower[index : verb.index])
