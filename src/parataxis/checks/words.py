"""Words that were lost and words that are new. No analyser is needed here.

A word is kept where the other side has the same word, another form of it ("serving", "serves"),
a word derived from it ("terminate", "termination"), or the same characters spaced differently
("counter-clockwise"). Everything is compared over the whole rewrite, so order does not matter.
"""

from collections import Counter
from collections.abc import Iterable, Sequence

from parataxis.checks import lexicon
from parataxis.checks.findings import lost, new, runs
from parataxis.checks.spelling import Respellings, is_misspelt
from parataxis.checks.units import Sort, Unit
from parataxis.rewrite.forms import key, lemmas
from parataxis.rewrite.record import Finding

__all__ = ["lost_words", "new_words"]

_LONGEST_COMPOUND = 4


def lost_words(
    source: str, source_units: Sequence[Unit], output: Sequence[Sequence[Unit]]
) -> list[Finding]:
    """Content words, names and numbers of the source that no simple sentence has."""
    written = [unit for sentence in output for unit in sentence]
    missing = _unmatched(source_units, written)
    if missing:
        facts = {unit.key for unit in written if unit.is_fact}
        # What stands in the source already corrects no other word of it.
        respelt = Respellings(facts - {unit.key for unit in source_units})
        missing = [u for u in missing if not (is_misspelt(u.key) and u.key in respelt)]
        in_signs = _words_for_signs(written, source_units)
        missing = [unit for unit in missing if unit.key not in in_signs]
        if _negations(written) > _negations(source_units):  # "unable" became "not able"
            missing = [unit for unit in missing if not lexicon.has_opposite(unit.key, facts)]
    missing += _fewer_numbers(source_units, written)
    missing += [unit for unit in _lost_signs(source_units, written) if unit not in missing]
    missing.sort(key=lambda unit: unit.start)
    return [lost(source, run) for run in runs(missing, source_units)]


def new_words(
    source: str,
    source_units: Sequence[Unit],
    simple: Sequence[str],
    output: Sequence[Sequence[Unit]],
) -> list[Finding]:
    """Content words, names and numbers of the simple sentences that the source does not have."""
    written = [unit for sentence in output for unit in sentence]
    unmatched = _unmatched(written, source_units)
    signed = _new_signs(source_units, written)
    if not unmatched and not signed:
        return []
    facts = {unit.key for unit in source_units if unit.is_fact}
    misspelt = Respellings(filter(is_misspelt, facts))
    may_deny = _negations([*source_units, *written]) > 0
    # Units compare by value, and two sentences may hold equal ones: identity tells them apart.
    new_ids = {
        id(unit)
        for unit in unmatched
        if not _may_be_inserted(unit, source, source_units)
        and unit.key not in misspelt
        and not (may_deny and lexicon.has_opposite(unit.key, facts))
    }
    new_ids |= {id(unit) for unit in signed}
    findings = []
    for index, (sentence, sentence_units) in enumerate(zip(simple, output, strict=True)):
        found = [unit for unit in sentence_units if id(unit) in new_ids]
        findings += [new(index, sentence, run) for run in runs(found, sentence_units)]
    return findings


def _unmatched(units: Sequence[Unit], others: Sequence[Unit]) -> list[Unit]:
    """The facts that have no equal, no other form and no twin among the others."""
    keys = {unit.key for unit in others}
    if "one" in keys:
        keys.add("1")
    rest = [unit for unit in units if unit.key not in keys]
    if not any(unit.is_fact for unit in rest):
        return []
    joined = _compounds(units, keys)
    keys |= {"".join(u.key for u in run) for run in _adjacent(others)}
    rest = [u for u in rest if u.is_fact and u.key not in keys and id(u) not in joined]
    if not rest:
        return []
    other_lemmas = {lemma for unit in others for lemma in lemmas(unit.key)}
    rest = [unit for unit in rest if other_lemmas.isdisjoint(lemmas(unit.key))]
    twins = lexicon.Twins(unit.key for unit in others if unit.is_fact)
    # A name is not kept by a word that stands on both sides: "German" is there beside "Germany".
    own = lexicon.Twins({unit.key for unit in others if unit.is_fact} - {u.key for u in units})
    kept = {Sort.WORD: twins, Sort.NAME: own}
    return [unit for unit in rest if unit.key not in kept.get(unit.sort, ())]


def _fewer_numbers(source_units: Sequence[Unit], written: Sequence[Unit]) -> list[Unit]:
    """Numbers that the source gives more often than the rewrite: the last ones are missing."""
    rest = Counter(unit.key for unit in written)
    missing = []
    for unit in source_units:
        if unit.sort is Sort.NUMBER and unit.key in rest:
            if not rest[unit.key]:
                missing.append(unit)
            else:
                rest[unit.key] -= 1
    return missing


def _lost_signs(source_units: Sequence[Unit], written: Sequence[Unit]) -> list[Unit]:
    """Numbers that are all there, but with a sign ("%", "$", "-") less often than in the source."""
    keys = {unit.key for unit in written}
    added = keys - {unit.key for unit in source_units}  # "5%" may become "5 percent"
    rest = Counter((unit.key, sign) for unit in written for sign in unit.signs)
    missing = []
    for unit in source_units:
        for sign in unit.signs:
            if rest[unit.key, sign]:
                rest[unit.key, sign] -= 1
            elif unit.key in keys and added.isdisjoint(lexicon.SIGNS[sign]):
                missing.append(unit)
                break
    return missing


def _new_signs(source_units: Sequence[Unit], written: Sequence[Unit]) -> list[Unit]:
    """Numbers with a sign that the source gives to no number, nor in words."""
    keys = {unit.key for unit in source_units}
    known = {sign for sign, words in lexicon.SIGNS.items() if not keys.isdisjoint(words)}
    known.update(sign for unit in source_units for sign in unit.signs)
    return [unit for unit in written if unit.key in keys and not known.issuperset(unit.signs)]


def _words_for_signs(units: Iterable[Unit], others: Iterable[Unit] = ()) -> set[str]:
    """What the signs are called that stand more often here than there: "percent" for "%"."""
    more = Counter(sign for unit in units for sign in unit.signs)
    more.subtract(sign for unit in others for sign in unit.signs)
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


def _negations(units: Iterable[Unit]) -> int:
    return sum(unit.sort is Sort.NEGATION for unit in units)


def _may_be_inserted(unit: Unit, source: str, source_units: Sequence[Unit]) -> bool:
    forms = lemmas(key(unit.text))  # "two" may be inserted, "2" not
    if forms & lexicon.INSERTABLE or unit.key in _words_for_signs(source_units):
        return True
    if forms & lexicon.WITH_CONDITIONS:
        return any(other.sort is Sort.CONDITION for other in source_units)
    return bool(forms & lexicon.LIFE_DATES) and "(" in source
