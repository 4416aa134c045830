"""Negations, modal verbs, conditions, and the links of cause, contrast and order.

A word such as "not" stands in many sentences, so that it is there somewhere proves little; that
the rewrite has fewer of its kind than the source proves a loss.
"""

from collections import Counter
from collections.abc import Collection, Sequence
from itertools import pairwise

from parataxis.checks import lexicon
from parataxis.checks.findings import lost, new
from parataxis.checks.same_word import has_opposite
from parataxis.checks.units import FactUnit, Side, Sort
from parataxis.rewrite.forms import lemmas
from parataxis.rewrite.record import Finding
from parataxis.text import english

_SCOPE = 6
_PURE_CONDITIONS = frozenset(("if", "unless"))
"""Conditions that are no exception as well: "however" cannot stand for them."""
_LINKS = frozenset(lexicon.CONNECTIVES)
# What a word of each sort may turn into; such a word counts where it stands only in the rewrite.
_SUBSTITUTES: dict[Sort, Collection[str]] = {
    Sort.NEGATION: lexicon.NEGATIVE_SUBSTITUTES,
    Sort.MODAL: frozenset(("able", "permitted", "allowed", "required", "to")),
    Sort.CONDITION: lexicon.CONDITION_SUBSTITUTES,
}


def lost_links(source: Side, simple: Side) -> list[Finding]:
    """Negations, modals and conditions that are fewer in the rewrite, and links that are gone."""
    missing = {unit.start: unit for sort in _SUBSTITUTES for unit in _missing(sort, source, simple)}
    for unit in [
        *_flipped(source, simple),
        *_unconnected(source, simple),
        *_exchanged(source, simple),
    ]:
        missing.setdefault(unit.start, unit)
    return [lost(source.text, [missing[start]]) for start in sorted(missing)]


def new_links(source: Side, simple: Side) -> list[Finding]:
    """Negations and modals in a rewrite whose source has nothing that could turn into one."""
    barred = set()
    if simple.of(Sort.NEGATION) and not _may_be_denied(source, simple):
        barred.add(Sort.NEGATION)
    if simple.of(Sort.MODAL) and source.keys.isdisjoint(lexicon.MODAL_GROUNDS):
        barred.add(Sort.MODAL)
    if not barred:
        return []
    return [
        new(index, sentence, [unit])
        for index, (sentence, units) in enumerate(zip(simple.texts, simple.sentences, strict=True))
        for unit in units
        if unit.sort in barred
    ]


def _may_be_denied(source: Side, simple: Side) -> bool:
    """Whether a negation may come from the source; a word may have carried it in it: "unaware"
    became "not aware"."""
    if not source.keys.isdisjoint(lexicon.NEGATIVE_GROUNDS):
        return True
    added = simple.keys - source.keys
    return any(has_opposite(word, added) for word in source.keys)


def _missing(sort: Sort, source: Side, simple: Side) -> list[FactUnit]:
    """The units of a sort that are too many in the source, those without a partner first."""
    needed = source.of(sort)
    kept = len(simple.of(sort))
    if len(needed) <= kept:
        return []
    kept += _added_substitutes(sort, source, simple)
    surplus = len(needed) - kept
    if surplus <= 0:
        return []
    partners = {form for forms in _following(sort, simple.units).values() for form in forms}
    following = _following(sort, source.units)
    # Those without a partner come first, then the last of the others.
    order = sorted(needed, key=lambda unit: (bool(partners & following[unit.start]), -unit.start))
    return order[:surplus]


def _added_substitutes(sort: Sort, source: Side, simple: Side) -> int:
    """How many words of the rewrite may stand for units of a sort."""

    allowed = set(_SUBSTITUTES[sort])
    if {unit.key for unit in source.of(sort)} <= _PURE_CONDITIONS:
        allowed -= lexicon.CONTRASTS

    def substitutes(side: Side) -> list[str]:
        return [u.key for u in side.units if u.sort is not sort and u.key in allowed]

    before, after = substitutes(source), substitutes(simple)
    if sort is Sort.CONDITION:
        return max(0, len(after) - len(before))
    # A phrase that is repeated ("all other work") denies nothing.
    return sum(key not in before for key in after)


def _following(sort: Sort, units: Sequence[FactUnit]) -> dict[int, frozenset[str]]:
    """For each unit of a sort, by its place, the lemmas of the first fact after it."""
    found: dict[int, frozenset[str]] = {}
    following: frozenset[str] = frozenset()
    for unit in reversed(units):
        if unit.sort is sort:
            found[unit.start] = following
        elif unit.is_fact:
            following = lemmas(unit.key)
    return found


def _exchanged(source: Side, simple: Side) -> list[FactUnit]:
    """Modals that only others of the source stand in for: "must" became "may", which the source
    has too. A word of the rewrite's own was chosen for it, and negations all say the same."""
    if not source.of(Sort.MODAL):
        return []
    kept = {lemma for unit in simple.of(Sort.MODAL) for lemma in lemmas(unit.key)}
    gone = [unit for unit in source.of(Sort.MODAL) if kept.isdisjoint(lemmas(unit.key))]
    if not gone:
        return []
    own = [unit for unit in simple.units if unit.key not in source.keys]
    chosen = any(u.sort is Sort.MODAL or u.key in _SUBSTITUTES[Sort.MODAL] for u in own)
    return [] if chosen else gone


def _flipped(source: Side, simple: Side) -> list[FactUnit]:
    """Each "not" whose next word, the only one of its kind in the source, is asserted."""
    if not source.of(Sort.NEGATION):
        return []
    found = []
    for unit, following in pairwise(source.units):
        if unit.sort is not Sort.NEGATION or unit.key not in english.NEGATIVE_ADVERBS:
            continue
        if following.sort is not Sort.WORD or len(_places(following, source.units)) > 1:
            continue
        if any(not _is_denied(simple.units, place) for place in _places(following, simple.units)):
            found.append(unit)
    return found


def _unconnected(source: Side, simple: Side) -> list[FactUnit]:
    """Links of the source that no word of the rewrite carries on."""
    gone = (_LINKS & source.keys) - simple.keys
    if not gone:
        return []
    before, after = source.counts(), simple.counts()
    found = []
    for unit in source.units:
        if unit.key not in gone or unit.sort is not Sort.FUNCTION:
            continue
        # "But" often stands beside another contrast ("but rather"), which then is enough.
        known = Counter[str]() if unit.key == "but" else before
        if not any(after[word] > known[word] for word in lexicon.CONNECTIVES[unit.key]):
            found.append(unit)
    return found


def _places(word: FactUnit, units: Sequence[FactUnit]) -> list[int]:
    forms = lemmas(word.key)
    return [i for i, unit in enumerate(units) if not forms.isdisjoint(lemmas(unit.key))]


def _is_denied(units: Sequence[FactUnit], place: int) -> bool:
    return any(
        unit.sort is Sort.NEGATION or unit.key in lexicon.NEGATIVE_SUBSTITUTES
        for unit in units[max(0, place - _SCOPE) : place]
    )
