"""Words that were lost and words that are new. No analyser is needed here.

A word is kept where the other side has the same word, another form of it ("serving", "serves"),
a word derived from it ("terminate", "termination"), or the same characters spaced differently
("counter-clockwise"). Everything is compared over the whole rewrite, so order does not matter.
"""

from collections import Counter
from collections.abc import Iterable, Sequence

from parataxis.checks import lexicon
from parataxis.checks.findings import lost, new, runs
from parataxis.checks.sides import Side
from parataxis.checks.spelling import Respellings, is_misspelt
from parataxis.checks.units import Sort, Unit
from parataxis.rewrite.forms import key, lemmas
from parataxis.rewrite.record import Finding

__all__ = ["lost_words", "new_words"]

_LONGEST_COMPOUND = 4


def lost_words(source: Side, simple: Side) -> list[Finding]:
    """Content words, names and numbers of the source that no simple sentence has."""
    missing = _unmatched(source, simple)
    if missing:
        facts = simple.facts()
        # What stands in the source already corrects no other word of it.
        respelt = Respellings(facts - source.keys)
        missing = [u for u in missing if not (is_misspelt(u.key) and u.key in respelt)]
        in_signs = _words_for_signs(simple, source)
        missing = [unit for unit in missing if unit.key not in in_signs]
        if len(simple.of(Sort.NEGATION)) > len(source.of(Sort.NEGATION)):
            # "unable" became "not able"
            missing = [unit for unit in missing if not lexicon.has_opposite(unit.key, facts)]
    missing += _fewer_numbers(source, simple)
    missing += [unit for unit in _lost_signs(source, simple) if unit not in missing]
    missing.sort(key=lambda unit: unit.start)
    return [lost(source.text, run) for run in runs(missing, source.units)]


def new_words(source: Side, simple: Side) -> list[Finding]:
    """Content words, names and numbers of the simple sentences that the source does not have."""
    unmatched = _unmatched(simple, source)
    signed = _new_signs(source, simple)
    if not unmatched and not signed:
        return []
    facts = source.facts()
    misspelt = Respellings(filter(is_misspelt, facts))
    may_deny = bool(source.of(Sort.NEGATION) or simple.of(Sort.NEGATION))
    # Units compare by value, and two sentences may hold equal ones: identity tells them apart.
    new_ids = {
        id(unit)
        for unit in unmatched
        if not _may_be_inserted(unit, source)
        and unit.key not in misspelt
        and not (may_deny and lexicon.has_opposite(unit.key, facts))
    }
    new_ids |= {id(unit) for unit in signed}
    findings = []
    for index, (sentence, units) in enumerate(zip(simple.texts, simple.sentences, strict=True)):
        found = [unit for unit in units if id(unit) in new_ids]
        findings += [new(index, sentence, run) for run in runs(found, units)]
    return findings


def _unmatched(side: Side, other: Side) -> list[Unit]:
    """The facts of a side that have no equal, no other form and no twin on the other."""
    keys = other.keys | {"1"} if "one" in other.keys else other.keys
    rest = side.facts_among(side.keys - keys)
    if not rest:
        return []
    other_lemmas = {lemma for key in other.keys for lemma in lemmas(key)}
    rest = [unit for unit in rest if other_lemmas.isdisjoint(lemmas(unit.key))]
    if not rest:
        return []
    joined = _compounds(side.units, keys)
    keys = keys | {"".join(u.key for u in run) for run in _adjacent(other.units)}
    rest = [u for u in rest if u.key not in keys and id(u) not in joined]
    facts = other.facts()
    # A name is not kept by a word that stands on both sides: "German" is there beside "Germany".
    kept = {Sort.WORD: lexicon.Twins(facts), Sort.NAME: lexicon.Twins(facts - side.keys)}
    return [unit for unit in rest if unit.key not in kept.get(unit.sort, ())]


def _fewer_numbers(source: Side, simple: Side) -> list[Unit]:
    """Numbers that the source gives more often than the rewrite: the last ones are missing."""
    numbers = source.of(Sort.NUMBER)
    if len({unit.key for unit in numbers}) == len(numbers):  # none stands there twice
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


def _lost_signs(source: Side, simple: Side) -> list[Unit]:
    """Numbers that are all there, but with a sign ("%", "$", "-") less often than in the source."""
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


def _new_signs(source: Side, simple: Side) -> list[Unit]:
    """Numbers with a sign that the source gives to no number, nor in words."""
    signed = _signed(simple)
    if not signed:
        return []
    known = {sign for sign, words in lexicon.SIGNS.items() if not source.keys.isdisjoint(words)}
    known.update(sign for unit in _signed(source) for sign in unit.signs)
    return [u for u in signed if u.key in source.keys and not known.issuperset(u.signs)]


def _signed(side: Side) -> list[Unit]:
    return [unit for unit in side.of(Sort.NUMBER) if unit.signs]


def _words_for_signs(side: Side, other: Side | None = None) -> set[str]:
    """What the signs are called that stand more often here than there: "percent" for "%"."""
    more = Counter(sign for unit in _signed(side) for sign in unit.signs)
    if other is not None:
        more.subtract(sign for unit in _signed(other) for sign in unit.signs)
    return {word for sign, count in more.items() if count > 0 for word in lexicon.SIGNS[sign]}


def _adjacent(units: Sequence[Unit]) -> Iterable[Sequence[Unit]]:
    for length in range(2, _LONGEST_COMPOUND + 1):
        for first in range(len(units) - length + 1):
            yield units[first : first + length]


def _compounds(units: Sequence[Unit], keys: set[str]) -> set[int]:
    """The units that, written together, are one word of the other side."""
    return {
        id(unit) for run in _adjacent(units) if "".join(u.key for u in run) in keys for unit in run
    }


def _may_be_inserted(unit: Unit, source: Side) -> bool:
    forms = lemmas(key(unit.text))  # "two" may be inserted, "2" not
    if forms & lexicon.INSERTABLE or unit.key in _words_for_signs(source):
        return True
    if forms & lexicon.WITH_CONDITIONS:
        return bool(source.of(Sort.CONDITION))
    return bool(forms & lexicon.LIFE_DATES) and "(" in source.text
