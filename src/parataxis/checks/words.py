"""Words that were lost and words that are new. No analyser is needed here.

A word is kept where the other side has the same word, another form of it ("serving", "serves"),
a word derived from it ("terminate", "termination"), or the same characters spaced differently
("counter-clockwise"). Everything is compared over the whole rewrite, so order does not matter.
"""

from collections import Counter
from collections.abc import Iterable, Sequence

from parataxis.checks import lexicon
from parataxis.checks.findings import lost, new, runs
from parataxis.checks.units import Sort, Unit
from parataxis.rewrite.forms import is_known, lemmas
from parataxis.rewrite.record import Finding

__all__ = ["lost_words", "new_words"]

_LONGEST_COMPOUND = 4
_SHORTEST_MISSPELT = 5


def lost_words(
    source: str, source_units: Sequence[Unit], output: Sequence[Sequence[Unit]]
) -> list[Finding]:
    """Content words, names and numbers of the source that no simple sentence has."""
    written = [unit for sentence in output for unit in sentence]
    missing = [unit for unit in _unmatched(source_units, written) if unit.is_fact]
    missing = [unit for unit in missing if not _is_respelt(unit, written)]
    if _negations(written) > _negations(source_units):  # "unable" became "not able"
        missing = [unit for unit in missing if not _has_opposite(unit, written)]
    missing += _fewer_numbers(source_units, written)
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
    # Units compare by value, and two sentences may hold equal ones: identity tells them apart.
    unmatched = {
        id(unit)
        for unit in _unmatched(written, source_units)
        if unit.is_fact
        and not _may_be_inserted(unit, source, source_units)
        and not any(_is_respelt(other, [unit]) for other in source_units)
        and not (_negations([*source_units, *written]) and _has_opposite(unit, source_units))
    }
    findings = []
    for index, (sentence, sentence_units) in enumerate(zip(simple, output, strict=True)):
        found = [unit for unit in sentence_units if id(unit) in unmatched]
        findings += [new(index, sentence, run) for run in runs(found, sentence_units)]
    return findings


def _unmatched(units: Sequence[Unit], others: Sequence[Unit]) -> list[Unit]:
    """The units that have no equal, no other form and no twin among the others."""
    keys = {unit.key for unit in others}
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
    return [u for u in rest if u.sort is Sort.NUMBER or not _has_twin(u, others)]


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


def _adjacent(units: Sequence[Unit]) -> Iterable[Sequence[Unit]]:
    for length in range(2, _LONGEST_COMPOUND + 1):
        for first in range(len(units) - length + 1):
            yield units[first : first + length]


def _compounds(units: Sequence[Unit], keys: set[str]) -> set[int]:
    """The units that, written together, are one word of the other side."""
    return {
        id(unit) for run in _adjacent(units) if "".join(u.key for u in run) in keys for unit in run
    }


def _has_twin(unit: Unit, others: Iterable[Unit]) -> bool:
    return any(lexicon.are_twins(unit.key, other.key) for other in others if other.is_fact)


def _negations(units: Iterable[Unit]) -> int:
    return sum(unit.sort is Sort.NEGATION for unit in units)


def _has_opposite(unit: Unit, others: Iterable[Unit]) -> bool:
    """Whether a word and one of the others differ by a negative prefix: "unable" and "able"."""
    return any(
        longer.removesuffix(shorter) in lexicon.NEGATIVE_PREFIXES
        for other in others
        for longer, shorter in ((unit.key, other.key), (other.key, unit.key))
        if longer != shorter and longer.endswith(shorter)
    )


def _is_respelt(unit: Unit, others: Iterable[Unit]) -> bool:
    """Whether the source misspells a word ("feburary") that the rewrite corrects."""
    if len(unit.key) < _SHORTEST_MISSPELT or not unit.key.isalpha() or is_known(unit.key):
        return False
    return any(_one_edit_apart(unit.key, other.key) for other in others if other.is_fact)


def _one_edit_apart(one: str, other: str) -> bool:
    """Whether one letter was added, left out or changed, or two neighbours were exchanged."""
    if abs(len(one) - len(other)) > 1:
        return False
    first = next((i for i, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), None)
    if first is None:
        return True
    a, b = one[first:], other[first:]
    return a[1:] == b[1:] or a[1:] == b or a == b[1:] or (a[1::-1] == b[:2] and a[2:] == b[2:])


def _may_be_inserted(unit: Unit, source: str, source_units: Sequence[Unit]) -> bool:
    forms = lemmas(unit.key)
    if forms & lexicon.INSERTABLE or unit.key in ("1", "2"):
        return True
    if forms & lexicon.WITH_CONDITIONS:
        return any(other.sort is Sort.CONDITION for other in source_units)
    return bool(forms & lexicon.LIFE_DATES) and "(" in source
