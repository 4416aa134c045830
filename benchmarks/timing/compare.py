"""Ratios to other systems measured in the same rounds, and whether one has dropped."""

import statistics
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from timing import ours, t5
from timing.measure import System, measure, rounds_of
from timing.sentences import Item, spread

__all__ = ["TOLERATED", "ratios", "worse"]

TOLERATED = 0.10
"""The share by which a ratio may drop below the recorded one."""
COUNT, FEW = 96, 10
"""Sentences of a round in batches, and one at a time."""


def ratios(items: Sequence[Item], rounds: int, threads: int) -> dict[str, float]:
    """The speed of the default splitter relative to T5-small (CTranslate2, int8), and of the
    analyser relative to spaCy's small pipeline: medians over interleaved rounds."""
    some, few = spread(items, COUNT), spread(items, FEW)
    pairs: dict[str, tuple[System, System]] = {}
    with tempfile.TemporaryDirectory() as folder:
        small = t5.convert("T5-small", Path(folder))
        for beam in ours.BEAMS:
            other = t5.ctranslate2_system("T5-small", small, some, few, beam, threads)
            pairs[f"pointer to T5-small, beam {beam}"] = ours.pointer(some, few, beam), other
    pairs["analyser to spaCy small"] = (
        ours.analyser(some, few, roles=True),
        ours.spacy_small(some, few),
    )
    systems = [system for pair in pairs.values() for system in pair]
    measure(systems[:1], 1)  # whatever is loaded on first use
    for latencies in (systems[0].latencies, systems[0].totals):
        latencies.clear()
    measure(systems, rounds)
    return {
        f"{name}, {how}": statistics.median(rounds_of(own, other, way))
        for name, (own, other) in pairs.items()
        for way, how in (("alone", "alone"), ("batched", "in batches"))
    }


def worse(
    recorded: Mapping[str, float], now: Mapping[str, float], tolerated: float = TOLERATED
) -> dict[str, tuple[float, float]]:
    """The ratios that have dropped by more than is tolerated: recorded and now. A ratio that is no
    longer measured counts as zero."""
    return {
        name: (before, now.get(name, 0.0))
        for name, before in recorded.items()
        if now.get(name, 0.0) < (1 - tolerated) * before
    }
