"""Sentences and facts that a rewrite states twice. No analyser is needed here."""

from collections import Counter
from collections.abc import Sequence

from parataxis.checks.findings import whole
from parataxis.checks.sides import Side
from parataxis.checks.units import Sort, Unit
from parataxis.rewrite.record import Finding, Kind

__all__ = ["repeated_sentences"]

_FEWEST_FACTS = 2
_STATING = frozenset(Sort) - {Sort.FUNCTION}


def repeated_sentences(source: Side, simple: Side) -> list[Finding]:
    """Simple sentences that say nothing which the sentences before them do not say.

    Such a sentence repeats one of them word for word, or each of its facts stands in them at
    least as often as in the source. What only a later sentence says again was not idle: "It is a
    clan. The clan is old." introduces the clan.
    """
    said: set[str] = set()
    findings = []
    for index, sentence in enumerate(simple.sentences):
        # Most sentences say something new, which is seen at once.
        if index and said.issuperset([unit.key for unit in sentence if unit.sort in _STATING]):
            before = simple.sentences[:index]
            if _is_copy(sentence, before) or _is_redundant(sentence, before, source):
                findings.append(_finding(index, simple.texts[index]))
        said.update([unit.key for unit in sentence])
    return findings


def _is_copy(sentence: Sequence[Unit], before: Sequence[Sequence[Unit]]) -> bool:
    keys = [unit.key for unit in sentence]
    return bool(keys) and any([unit.key for unit in other] == keys for other in before)


def _is_redundant(sentence: Sequence[Unit], before: Sequence[Sequence[Unit]], source: Side) -> bool:
    stated = [unit for unit in sentence if unit.sort in _STATING]
    # A sentence of names only ("These are the Anna shaft and the Konrad shaft") introduces them.
    if len({unit.key for unit in stated if unit.is_fact}) < _FEWEST_FACTS:
        return False
    if all(unit.sort is Sort.NAME for unit in stated):
        return False
    said, needed = Counter(unit.key for other in before for unit in other), source.counts()
    return all(said[unit.key] >= max(1, needed[unit.key]) for unit in stated)


def _finding(index: int, sentence: str) -> Finding:
    message = f"The sentence '{sentence}' says again what was said before."
    return whole(Kind.REPEATED, index, sentence, message)
