"""Sentences and facts that a rewrite states twice. No analyser is needed here."""

from collections import Counter
from collections.abc import Sequence

from parataxis.checks.units import Sort, Unit
from parataxis.rewrite.record import Finding, Kind

__all__ = ["repeated_sentences"]

_FEWEST_FACTS = 2


def repeated_sentences(
    source_units: Sequence[Unit], simple: Sequence[str], output: Sequence[Sequence[Unit]]
) -> list[Finding]:
    """Simple sentences that could be struck out without losing a fact.

    Such a sentence repeats another one word for word, or each of its facts stands in the other
    sentences at least as often as in the source.
    """
    needed = Counter(unit.key for unit in source_units)
    kept = list(range(len(simple)))
    findings = []
    # From the end, so that of two equal sentences the later one is the repetition.
    for index in reversed(range(len(simple))):
        others = [output[other] for other in kept if other != index]
        if _is_copy(output[index], others) or _is_redundant(output[index], others, needed):
            kept.remove(index)
            findings.append(_finding(index, simple[index]))
    return findings[::-1]


def _is_copy(sentence: Sequence[Unit], others: Sequence[Sequence[Unit]]) -> bool:
    keys = [unit.key for unit in sentence]
    return bool(keys) and any([unit.key for unit in other] == keys for other in others)


def _is_redundant(
    sentence: Sequence[Unit], others: Sequence[Sequence[Unit]], needed: Counter[str]
) -> bool:
    stated = [unit for unit in sentence if unit.sort is not Sort.FUNCTION]
    # A sentence of names only ("These are the Anna shaft and the Konrad shaft") introduces them.
    if len({unit.key for unit in stated if unit.is_fact}) < _FEWEST_FACTS:
        return False
    if all(unit.sort is Sort.NAME for unit in stated):
        return False
    elsewhere = Counter(unit.key for other in others for unit in other)
    return all(elsewhere[unit.key] >= max(1, needed[unit.key]) for unit in stated)


def _finding(index: int, sentence: str) -> Finding:
    return Finding(
        kind=Kind.REPEATED,
        words=sentence,
        sentence=index,
        start=0,
        end=len(sentence),
        message=f"The sentence '{sentence}' says again what the other sentences say.",
    )
