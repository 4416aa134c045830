"""Negations, modal verbs, conditions, and the links of cause, contrast and order.

A word such as "not" stands in many sentences, so that it is there somewhere proves little; that
the rewrite has fewer of its kind than the source proves a loss.
"""

from collections import Counter
from collections.abc import Collection, Sequence
from itertools import pairwise

from parataxis.checks import lexicon
from parataxis.checks.findings import lost, new
from parataxis.checks.units import Sort, Unit
from parataxis.rewrite.forms import lemmas
from parataxis.rewrite.record import Finding

__all__ = ["lost_links", "new_links"]

_SCOPE = 6
_PURE_CONDITIONS = frozenset(("if", "unless"))
"""Conditions that are no exception as well: "however" cannot stand for them."""
_STRONG = frozenset(("not", "n't", "never"))
# What a word of each sort may turn into; such a word counts where it stands only in the rewrite.
_TWINS: dict[Sort, Collection[str]] = {
    Sort.NEGATION: lexicon.NEGATIVE_TWINS,
    Sort.MODAL: frozenset(("able", "permitted", "allowed", "required", "to")),
    Sort.CONDITION: lexicon.CONDITION_TWINS,
}


def lost_links(
    source: str, source_units: Sequence[Unit], output: Sequence[Sequence[Unit]]
) -> list[Finding]:
    """Negations, modals and conditions that are fewer in the rewrite, and links that are gone."""
    written = [unit for sentence in output for unit in sentence]
    missing = {
        unit.start: unit for sort in _TWINS for unit in _missing(sort, source_units, written)
    }
    for unit in [
        *_flipped(source_units, written),
        *_unconnected(source_units, written),
        *_exchanged(source_units, written),
    ]:
        missing.setdefault(unit.start, unit)
    return [lost(source, [missing[start]]) for start in sorted(missing)]


def new_links(
    source_units: Sequence[Unit], simple: Sequence[str], output: Sequence[Sequence[Unit]]
) -> list[Finding]:
    """Negations and modals in a rewrite whose source has nothing that could turn into one."""
    keys = {unit.key for unit in source_units}
    barred = set()
    if keys.isdisjoint(lexicon.NEGATIVE_GROUNDS) and not _carries_negation(keys, output):
        barred.add(Sort.NEGATION)
    if keys.isdisjoint(lexicon.MODAL_GROUNDS):
        barred.add(Sort.MODAL)
    return [
        new(index, sentence, [unit])
        for index, (sentence, units) in enumerate(zip(simple, output, strict=True))
        for unit in units
        if unit.sort in barred
    ]


def _carries_negation(keys: set[str], output: Sequence[Sequence[Unit]]) -> bool:
    """Whether a source word carried the negation in it: "unaware" became "not aware"."""
    added = {unit.key for sentence in output for unit in sentence} - keys
    return any(lexicon.has_opposite(word, added) for word in keys)


def _missing(sort: Sort, source_units: Sequence[Unit], written: Sequence[Unit]) -> list[Unit]:
    """The units of a sort that are too many in the source, those without a partner first."""
    needed = [unit for unit in source_units if unit.sort is sort]
    kept = sum(unit.sort is sort for unit in written)
    if len(needed) <= kept:
        return []
    kept += _added_twins(sort, source_units, written)
    surplus = len(needed) - kept
    if surplus <= 0:
        return []
    partners = {form for forms in _following(sort, written).values() for form in forms}
    following = _following(sort, source_units)
    # Those without a partner come first, then the last of the others.
    order = sorted(needed, key=lambda unit: (bool(partners & following[unit.start]), -unit.start))
    return order[:surplus]


def _added_twins(sort: Sort, source_units: Sequence[Unit], written: Sequence[Unit]) -> int:
    """How many words of the rewrite may stand for units of a sort."""

    allowed = set(_TWINS[sort])
    if {u.key for u in source_units if u.sort is sort} <= _PURE_CONDITIONS:
        allowed -= lexicon.CONTRASTS

    def twins(units: Sequence[Unit]) -> list[str]:
        return [u.key for u in units if u.sort is not sort and u.key in allowed]

    before, after = twins(source_units), twins(written)
    if sort is Sort.CONDITION:
        return max(0, len(after) - len(before))
    # A phrase that is repeated ("all other work") denies nothing.
    return sum(key not in before for key in after)


def _following(sort: Sort, units: Sequence[Unit]) -> dict[int, frozenset[str]]:
    """For each unit of a sort, by its place, the lemmas of the first fact after it."""
    found: dict[int, frozenset[str]] = {}
    following: frozenset[str] = frozenset()
    for unit in reversed(units):
        if unit.sort is sort:
            found[unit.start] = following
        elif unit.is_fact:
            following = lemmas(unit.key)
    return found


def _exchanged(source_units: Sequence[Unit], written: Sequence[Unit]) -> list[Unit]:
    """Modals that only others of the source stand in for: "must" became "may", which the source
    has too. A word of the rewrite's own was chosen for it, and negations all say the same."""
    kept = {lemma for u in written if u.sort is Sort.MODAL for lemma in lemmas(u.key)}
    gone = [u for u in source_units if u.sort is Sort.MODAL and kept.isdisjoint(lemmas(u.key))]
    if not gone:
        return []
    known = {unit.key for unit in source_units}
    own = [unit for unit in written if unit.key not in known]
    chosen = any(u.sort is Sort.MODAL or u.key in _TWINS[Sort.MODAL] for u in own)
    return [] if chosen else gone


def _flipped(source_units: Sequence[Unit], written: Sequence[Unit]) -> list[Unit]:
    """Each "not" whose next word, the only one of its kind in the source, is asserted."""
    found = []
    for unit, following in pairwise(source_units):
        if unit.sort is not Sort.NEGATION or unit.key not in _STRONG:
            continue
        if following.sort is not Sort.WORD or len(_places(following, source_units)) > 1:
            continue
        if any(not _is_denied(written, place) for place in _places(following, written)):
            found.append(unit)
    return found


def _unconnected(source_units: Sequence[Unit], written: Sequence[Unit]) -> list[Unit]:
    """Links of the source that no word of the rewrite carries on."""
    before = Counter(unit.key for unit in source_units)
    after = Counter(unit.key for unit in written)
    found = []
    for unit in source_units:
        if unit.sort is not Sort.FUNCTION or unit.key in after:
            continue
        carriers = lexicon.CONNECTIVES.get(unit.key)
        # "But" often stands beside another contrast ("but rather"), which then is enough.
        known = Counter[str]() if unit.key == "but" else before
        if carriers and not any(after[word] > known[word] for word in carriers):
            found.append(unit)
    return found


def _places(word: Unit, units: Sequence[Unit]) -> list[int]:
    forms = lemmas(word.key)
    return [i for i, unit in enumerate(units) if not forms.isdisjoint(lemmas(unit.key))]


def _is_denied(units: Sequence[Unit], place: int) -> bool:
    return any(
        unit.sort is Sort.NEGATION or unit.key in lexicon.NEGATIVE_TWINS
        for unit in units[max(0, place - _SCOPE) : place]
    )
