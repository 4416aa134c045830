"""Lost and new negations, modal verbs, conditions, and links of cause, contrast and order.

A word such as "not" occurs in many sentences, so its presence somewhere in the rewrite proves
little. A rewrite with fewer negations than its source has lost one.
"""

from collections import Counter
from collections.abc import Sequence
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
"""Conditions that are not exceptions too: "however" cannot replace them."""
_LINKS = frozenset(lexicon.CONNECTIVES)
_COUNTED = (Sort.NEGATION, Sort.MODAL, Sort.CONDITION)


def lost_links(source: Side, simple: Side) -> list[Finding]:
    """Negations, modals and conditions that the rewrite has fewer of, and links that are gone."""
    missing = {unit.start: unit for sort in _COUNTED for unit in _missing(sort, source, simple)}
    for unit in [
        *_flipped(source, simple),
        *_unconnected(source, simple),
        *_exchanged(source, simple),
    ]:
        missing.setdefault(unit.start, unit)
    return [lost(source.text, [missing[start]]) for start in sorted(missing)]


def new_links(source: Side, simple: Side) -> list[Finding]:
    """Negations and modals in a rewrite whose source has nothing that could become one."""
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
    """Whether a negation may come from the source, be it a prefix: "unaware" became "not aware"."""
    if not source.keys.isdisjoint(lexicon.NEGATIVE_GROUNDS):
        return True
    added = simple.keys - source.keys
    return any(has_opposite(word, added) for word in source.keys)


def _missing(sort: Sort, source: Side, simple: Side) -> list[FactUnit]:
    """The units of a sort that the rewrite lacks: those without a partner first, then the last."""
    needed = source.of(sort)
    surplus = len(needed) - len(simple.of(sort))
    if sort is Sort.CONDITION and surplus > 0:
        surplus -= _added_substitutes(source, simple)
    if surplus <= 0:
        return []
    partners = {form for forms in _following(sort, simple.units).values() for form in forms}
    following = _following(sort, source.units)
    order = sorted(needed, key=lambda unit: (bool(partners & following[unit.start]), -unit.start))
    return order[:surplus]


def _added_substitutes(source: Side, simple: Side) -> int:
    """How many words of the rewrite may stand for conditions of the source."""
    allowed = lexicon.CONDITION_SUBSTITUTES
    if {unit.key for unit in source.of(Sort.CONDITION)} <= _PURE_CONDITIONS:
        allowed -= lexicon.CONTRASTS

    def count(side: Side) -> int:
        return sum(u.sort is not Sort.CONDITION and u.key in allowed for u in side.units)

    return max(0, count(simple) - count(source))


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
    """Modals that the rewrite replaces by other modals of the source: "must" became "may", which
    the source has too. A modal that the source does not have was chosen on purpose."""
    if not source.of(Sort.MODAL):
        return []
    kept = {lemma for unit in simple.of(Sort.MODAL) for lemma in lemmas(unit.key)}
    gone = [unit for unit in source.of(Sort.MODAL) if kept.isdisjoint(lemmas(unit.key))]
    if not gone:
        return []
    return [] if any(unit.key not in source.keys for unit in simple.of(Sort.MODAL)) else gone


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
    """Links of the source that no word of the rewrite expresses."""
    gone = (_LINKS & source.keys) - simple.keys
    if not gone:
        return []
    before, after = source.counts(), simple.counts()
    found = []
    for unit in source.units:
        if unit.key not in gone or unit.sort is not Sort.FUNCTION:
            continue
        # "But" often occurs with another contrast ("but rather"), which is enough.
        known = Counter[str]() if unit.key == "but" else before
        if not any(after[word] > known[word] for word in lexicon.CONNECTIVES[unit.key]):
            found.append(unit)
    return found


def _places(word: FactUnit, units: Sequence[FactUnit]) -> list[int]:
    forms = lemmas(word.key)
    return [i for i, unit in enumerate(units) if not forms.isdisjoint(lemmas(unit.key))]


def _is_denied(units: Sequence[FactUnit], place: int) -> bool:
    return any(unit.sort is Sort.NEGATION for unit in units[max(0, place - _SCOPE) : place])
