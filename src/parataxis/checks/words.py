"""Lost and new words, repeated sentences and lost quotations. These checks need no analyser.

A word is kept if the other side has the same word, another form of it ("serving", "serves"), a
word derived from it ("terminate", "termination"), or the same characters spaced differently
("counter-clockwise"). The whole rewrite is compared, so order does not matter.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import lru_cache

from parataxis.checks import lexicon
from parataxis.checks.findings import finding, lost, new, runs
from parataxis.checks.units import FactUnit, Side, Sort
from parataxis.rewrite.forms import common_start, is_known, key, lemmas
from parataxis.rewrite.record import Finding, FindingKind
from parataxis.text import english
from parataxis.text.tokens import find_symbols, may_have_symbols, tokenize

_LONGEST_COMPOUND = 4
_NUMBER_SIGNS = frozenset("$£€¥%")
_LINKING_PHRASE = re.compile(
    r"\bon the (?:one|other) (hand)\b"
    r"|\b(?:this|it) (?:is|was) (?:not |only )?(necessary|possible) (?:because|if|unless|when)\b",
    re.IGNORECASE,
)
"""Phrases that link a sentence to another one, with the word that may be new in them."""


def lost_words(source: Side, simple: Side) -> list[Finding]:
    """Content words, names and numbers of the source that no simple sentence has."""
    missing = _unmatched(source, simple)
    if missing:
        facts = simple.facts()
        # A word that the source has too is not a correction of another word of the source.
        respelt = Respellings(facts - source.keys)
        missing = [u for u in missing if not (is_misspelt(u.key) and u.key in respelt)]
        in_signs = _words_for_signs(simple, source)
        missing = [unit for unit in missing if unit.key not in in_signs]
        missing = _without_replaced(missing, simple.counts() - source.counts())
        if len(simple.of(Sort.NEGATION)) > len(source.of(Sort.NEGATION)):
            # "unable" became "not able"
            missing = [unit for unit in missing if not has_opposite(unit.key, facts)]
    missing += _fewer_numbers(source, simple)
    missing += [unit for unit in _lost_signs(source, simple) if unit not in missing]
    missing.sort(key=lambda unit: unit.start)
    return [lost(source.text, run) for run in runs(missing, source.units)]


def lost_symbols(source: Side, simple: Side) -> list[Finding]:
    """Symbols that the source has more often than the rewrite: ™, ✓, emoji, empty brackets.

    Currency and percent signs belong to their numbers, which are compared with them.
    """
    if not may_have_symbols(source.text):
        return []
    findings = []
    tokens = tokenize(source.text)
    rewrite = " ".join(simple.texts)
    wanted: Counter[str] = Counter()
    for place in find_symbols(source.text, tokens):
        start, end = tokens[place[0]].start, tokens[place[-1]].end
        symbol = source.text[start:end]
        wanted[symbol] += 1
        if symbol not in _NUMBER_SIGNS and rewrite.count(symbol) < wanted[symbol]:
            message = f"The symbol '{symbol}' is missing."
            findings.append(finding(FindingKind.LOST, symbol, message, start=start))
    return findings


def new_words(source: Side, simple: Side) -> list[Finding]:
    """Content words, names and numbers of the simple sentences that the source does not have."""
    unmatched = _unmatched(simple, source)
    signed = _new_signs(source, simple)
    if not unmatched and not signed:
        return []
    facts = source.facts()
    misspelt = Respellings(filter(is_misspelt, facts))
    may_deny = bool(source.of(Sort.NEGATION) or simple.of(Sort.NEGATION))
    # Units of two sentences may be equal, so they are compared by identity.
    new_ids = {
        id(unit)
        for unit in unmatched
        if not _may_be_inserted(unit, source)
        and unit.key not in misspelt
        and not (may_deny and has_opposite(unit.key, facts))
    }
    new_ids |= {id(unit) for unit in signed}
    findings = []
    for index, (sentence, units) in enumerate(zip(simple.texts, simple.sentences, strict=True)):
        found = [unit for unit in units if id(unit) in new_ids]
        phrases = _LINKING_PHRASE.finditer(sentence) if found else ()
        linking = {match.start(match.lastindex or 0) for match in phrases}
        found = [unit for unit in found if unit.start not in linking]
        findings += [new(index, sentence, run) for run in runs(found, units)]
    return findings


def _without_replaced(missing: Iterable[FactUnit], added: Counter[str]) -> list[FactUnit]:
    """The missing words without those for which a link was added: "according to" for "said". Each
    link stands for one of them."""
    kept = []
    for unit in missing:
        forms = {unit.key, *lemmas(unit.key)}
        links = [each for form in forms for each in lexicon.REPLACED_BY.get(form, ())]
        link = next((each for each in links if added[each] > 0), None)
        if link is None:
            kept.append(unit)
        else:
            added[link] -= 1
    return kept


def _unmatched(side: Side, other: Side) -> list[FactUnit]:
    """The facts of one side without the same word, another form or a derived word on the other."""
    keys = other.keys | {"1"} if "one" in other.keys else other.keys
    rest = side.facts_among(side.keys - keys)
    if not rest:
        return []
    other_lemmas = {lemma for key in other.keys for lemma in lemmas(key)}
    rest = [unit for unit in rest if other_lemmas.isdisjoint(lemmas(unit.key))]
    if not rest:
        return []
    joined = {
        id(unit)
        for run in _adjacent(side.units)
        if "".join(each.key for each in run) in keys
        for unit in run
    }
    keys = keys | {"".join(u.key for u in run) for run in _adjacent(other.units)}
    rest = [u for u in rest if u.key not in keys and id(u) not in joined]
    facts = other.facts()
    # A name is not kept by a word that both sides have: "German" does not replace "Germany".
    kept = {Sort.WORD: DerivedWords(facts), Sort.NAME: DerivedWords(facts - side.keys)}
    return [unit for unit in rest if unit.key not in kept.get(unit.sort, ())]


def _fewer_numbers(source: Side, simple: Side) -> list[FactUnit]:
    """Numbers that the source has more often than the rewrite: the last ones are missing."""
    numbers = source.of(Sort.NUMBER)
    if len({unit.key for unit in numbers}) == len(numbers):  # none occurs twice
        return []
    rest = simple.counts()
    missing = []
    for unit in numbers:
        if unit.key in rest:
            if not rest[unit.key]:
                missing.append(unit)
            else:
                rest[unit.key] -= 1
    return missing


def _lost_signs(source: Side, simple: Side) -> list[FactUnit]:
    """Numbers that the rewrite has without their sign ("%", "$", "-")."""
    signed = _signed(source)
    if not signed:
        return []
    added = simple.keys - source.keys  # "5%" may become "5 percent"
    rest = Counter((unit.key, sign) for unit in _signed(simple) for sign in unit.signs)
    missing = []
    for unit in signed:
        for sign in unit.signs:
            if rest[unit.key, sign]:
                rest[unit.key, sign] -= 1
            elif unit.key in simple.keys and added.isdisjoint(lexicon.SIGNS[sign]):
                missing.append(unit)
                break
    return missing


def _new_signs(source: Side, simple: Side) -> list[FactUnit]:
    """Numbers with a sign that the source does not have, neither as a sign nor in words."""
    signed = _signed(simple)
    if not signed:
        return []
    known = {sign for sign, words in lexicon.SIGNS.items() if not source.keys.isdisjoint(words)}
    known.update(sign for unit in _signed(source) for sign in unit.signs)
    return [u for u in signed if u.key in source.keys and not known.issuperset(u.signs)]


def _signed(side: Side) -> list[FactUnit]:
    return [unit for unit in side.of(Sort.NUMBER) if unit.signs]


def _words_for_signs(side: Side, other: Side | None = None) -> set[str]:
    """Words for the signs that this side has more often: "percent" for "%"."""
    more = Counter(sign for unit in _signed(side) for sign in unit.signs)
    if other is not None:
        more.subtract(sign for unit in _signed(other) for sign in unit.signs)
    return {word for sign, count in more.items() if count > 0 for word in lexicon.SIGNS[sign]}


def _adjacent(units: Sequence[FactUnit]) -> Iterable[Sequence[FactUnit]]:
    for length in range(2, _LONGEST_COMPOUND + 1):
        for first in range(len(units) - length + 1):
            yield units[first : first + length]


def _may_be_inserted(unit: FactUnit, source: Side) -> bool:
    forms = lemmas(key(unit.text))  # "two" may be inserted, "2" not
    if forms & lexicon.INSERTABLE or unit.key in _words_for_signs(source):
        return True
    if forms & lexicon.WITH_CONDITIONS:
        return bool(source.of(Sort.CONDITION))
    return bool(forms & lexicon.LIFE_DATES) and "(" in source.text


_FEWEST_FACTS = 2
_STATING = frozenset(Sort) - {Sort.FUNCTION}


def repeated_sentences(source: Side, simple: Side) -> list[Finding]:
    """Simple sentences that add nothing to the sentences before them.

    Such a sentence repeats one of them word for word, or each of its facts occurs in them at least
    as often as in the source. A sentence that only a later one repeats is not redundant: "It is a
    clan. The clan is old." introduces the clan.
    """
    said: set[str] = set()
    findings = []
    for index, (text, sentence) in enumerate(zip(simple.texts, simple.sentences, strict=True)):
        # Most sentences have a new word, so this test is enough for them.
        if index and said.issuperset([unit.key for unit in sentence if unit.sort in _STATING]):
            before = simple.sentences[:index]
            keys = [unit.key for unit in sentence]
            is_copy = bool(keys) and any([unit.key for unit in each] == keys for each in before)
            if is_copy or _is_redundant(sentence, before, source):
                message = f"The sentence '{text}' says again what was said before."
                findings.append(finding(FindingKind.REPEATED, text, message, sentence=index))
        said.update([unit.key for unit in sentence])
    return findings


def _is_redundant(
    sentence: Sequence[FactUnit], before: Sequence[Sequence[FactUnit]], source: Side
) -> bool:
    stated = [unit for unit in sentence if unit.sort in _STATING]
    # A sentence of names only ("These are the Anna shaft and the Konrad shaft") introduces them.
    if len({unit.key for unit in stated if unit.is_fact}) < _FEWEST_FACTS:
        return False
    if all(unit.sort is Sort.NAME for unit in stated):
        return False
    said, needed = Counter(unit.key for other in before for unit in other), source.counts()
    return all(said[unit.key] >= max(1, needed[unit.key]) for unit in stated)


# Single marks are left out: most of them are apostrophes.
_QUOTATION = re.compile(r"“([^“”]+)”|„([^„“”]+)[“”]|«([^«»]+)»|\"([^\"]+)\"|``(.+?)''")
_OPENERS = re.compile(r'["“„«`]')
_AT_CUTS = (english.COORDINATORS - {"so", "yet"}) | (english.RELATIVES - {"whom"})
"""Words that may go where a quotation is cut in two."""
_INCHES = re.compile(r"\d\"")


def lost_quotations(source: Side, simple: Side, known: Sequence[Finding]) -> list[Finding]:
    """Quotations of the source whose words are outside quotation marks in the rewrite, or missing.

    A quotation may be cut in two. ``known`` are the findings on lost words, which are not reported
    twice.
    """
    if not _OPENERS.search(source.text):
        return []
    quoted = Counter(
        key
        for sentence, units in zip(simple.texts, simple.sentences, strict=True)
        for span in _spans(sentence)
        for key in _keys(units, span)
    )
    written = simple.counts()
    findings = []
    for start, end in _spans(source.text):
        needed = Counter(_keys(source.units, (start, end)))
        cut = Counter({key: count for key, count in needed.items() if key not in _AT_CUTS})
        if (cut or needed) <= quoted or any(f.start < end and start < f.end for f in known):
            continue
        words = source.text[start:end].strip(" ,.;:")
        if cut <= written:
            message = f"The quotation marks around '{words}' are missing."
        else:
            message = f"The quotation '{words}' is not whole."
        place = source.text.index(words, start)
        findings.append(finding(FindingKind.LOST, words, message, start=place))
    return findings


def _spans(text: str) -> Iterator[tuple[int, int]]:
    """The places of quotations, without their marks."""
    if _INCHES.search(text) and text.count('"') % 2:
        return  # one of the marks means inches, but which one is not certain
    for match in _QUOTATION.finditer(text):
        yield match.span(match.lastindex or 0)


def _keys(units: Sequence[FactUnit], span: tuple[int, int]) -> list[str]:
    return [unit.key for unit in units if span[0] <= unit.start and unit.end <= span[1]]


_STEM = 4
_SHORT_STEM = 3
_SHORTEST_MISSPELT = 5
_LONGEST_MISSPELT = 40  # longer strings are not words, and their variants would fill the memory


class DerivedWords:
    """Finds words that share a stem with one of a set of words.

    >>> derived = DerivedWords(["termination", "death", "care"])
    >>> [word for word in ("terminate", "die", "car") if word in derived]
    ['terminate', 'die']
    """

    def __init__(self, words: Iterable[str]) -> None:
        self._lemmas = {lemma for word in words for lemma in lemmas(word)}
        self._by_start: dict[str, list[str]] = {}
        for lemma in self._lemmas:
            self._by_start.setdefault(lemma[:_SHORT_STEM], []).append(lemma)

    def __contains__(self, word: str) -> bool:
        return any(
            not self._lemmas.isdisjoint(lexicon.IRREGULAR_DERIVATIONS.get(lemma, ()))
            or any(_share_stem(lemma, other) for other in self._by_start.get(lemma[:3], ()))
            for lemma in lemmas(word)
        )


@lru_cache(maxsize=1 << 16)
def _share_stem(one: str, other: str) -> bool:
    common = common_start(one, other)
    if common < _SHORT_STEM:
        return False
    rests = sorted((one[common:], other[common:]))
    if common < _STEM:  # "pay" and "payment": the short word must be whole, the rest an ending
        return not rests[0] and len(rests[1]) > _SHORT_STEM and rests[1] in lexicon.ENDINGS
    return rests[0] in lexicon.ENDINGS and rests[1] in lexicon.ENDINGS


def has_opposite(word: str, keys: Collection[str]) -> bool:
    """Whether a word and one of the keys differ by a negative prefix.

    >>> has_opposite("unable", ["able"]), has_opposite("able", ["unable"])
    (True, True)
    """
    return any(
        prefix + word in keys or (word.startswith(prefix) and word.removeprefix(prefix) in keys)
        for prefix in lexicon.NEGATIVE_PREFIXES
    )


def is_misspelt(word: str) -> bool:
    """Whether a word may be a misspelling ("feburary"): long enough, and not in the dictionary."""
    is_word = _SHORTEST_MISSPELT <= len(word) <= _LONGEST_MISSPELT and word.isalpha()
    return is_word and not is_known(word)


class Respellings:
    """Finds words that are one edit away from one of a set of words.

    Two words that are one edit apart have a common variant with at most one letter left out, so
    only words with a common variant are compared.

    >>> [word for word in ("feburary", "febuary", "brewery") if word in Respellings(["february"])]
    ['feburary', 'febuary']
    """

    def __init__(self, words: Iterable[str]) -> None:
        self._by_variant: defaultdict[str, set[str]] = defaultdict(set)
        for word in words:
            if _SHORTEST_MISSPELT - 1 <= len(word) <= _LONGEST_MISSPELT:
                for variant in _variants(word):
                    self._by_variant[variant].add(word)

    def __contains__(self, word: str) -> bool:
        if len(word) > _LONGEST_MISSPELT:
            return False
        return any(
            _one_edit_apart(word, other)
            for variant in _variants(word)
            for other in self._by_variant.get(variant, ())
        )


def _variants(word: str) -> Iterator[str]:
    yield word
    for index in range(len(word)):
        yield word[:index] + word[index + 1 :]


def _one_edit_apart(one: str, other: str) -> bool:
    """Whether one letter was added, left out or changed, or two neighbours were swapped."""
    if abs(len(one) - len(other)) > 1:
        return False
    common = common_start(one, other)
    a, b = one[common:], other[common:]
    return a[1:] == b[1:] or a[1:] == b or a == b[1:] or (a[1::-1] == b[:2] and a[2:] == b[2:])
