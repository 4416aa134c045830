"""How the speed of the default splitter changes with cores, batches, lengths and documents."""

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from parataxis.api import Splitter
from parataxis.splitters.pointer.model import load_decoder
from parataxis.splitters.pointer.search import search
from parataxis.syntax.onnx import THREADS_VARIABLE
from timing import ours
from timing.measure import seconds
from timing.sentences import Item, batches, by_length

__all__ = ["batch_sizes", "cores", "document_sizes", "lengths", "using"]

SIZES = (1, 2, 4, 8, 16, 32, 64)
LENGTHS = (10, 20, 30, 40, 60, 80)
DOCUMENTS = (1, 3, 10, 30, 100, 300)
BEAM = 4

Curve = dict[str, dict[str, float]]
"""For each line its points: x, and sentences per second."""


@contextmanager
def using(threads: int) -> Iterator[None]:
    """Use a number of threads within the context."""
    before = os.environ.get(THREADS_VARIABLE)
    os.environ[THREADS_VARIABLE] = str(threads)
    try:
        yield
    finally:
        if before is None:
            del os.environ[THREADS_VARIABLE]
        else:
            os.environ[THREADS_VARIABLE] = before


def _best(run: Callable[[], object], rounds: int) -> float:
    """The best round: other work on the machine can only slow a run down."""
    return min(seconds(run) for _ in range(rounds))


def cores(items: Sequence[Item], counts: Sequence[int], rounds: int) -> Curve:
    """Sentences a second in batches, by number of threads."""
    curve: Curve = {}
    for beam in ours.BEAMS:
        points = curve[f"beam {beam}"] = {}
        for count in counts:
            with using(count):
                system = ours.pointer(items, items[:1], beam)
                points[str(count)] = len(items) / _best(
                    lambda system=system: system.start().many(items),  # type: ignore[misc]
                    rounds,
                )
    return curve


def batch_sizes(items: Sequence[Item], rounds: int) -> Curve:
    """Sentences a second of the search alone, on one core, by number of sources in a batch."""
    decoder = load_decoder()
    curve: Curve = {}
    with using(1):
        for beam in ours.BEAMS:
            points = curve[f"beam {beam}"] = {}
            for size in SIZES:
                some = items[:: max(1, 8 // size)]  # few of them show how fast small batches are

                def run(some: Sequence[Item] = some, size: int = size, beam: int = beam) -> None:
                    for batch in batches(some, size):
                        search(decoder, [item.source for item in batch], beam=beam)

                points[str(size)] = len(some) / _best(run, rounds)
    return curve


def lengths(items: Sequence[Item], count: int, rounds: int) -> Curve:
    """Sentences a second for sentences of about so many words."""
    curve: Curve = {"alone": {}, "in batches": {}}
    for some in by_length(items, LENGTHS, count):
        system = ours.pointer(some, some, BEAM)
        few = some[::4]

        def alone(system: ours.System = system, few: Sequence[Item] = few) -> None:
            runs = system.start()
            for item in few:
                runs.one(item)

        def together(system: ours.System = system, some: Sequence[Item] = some) -> None:
            system.start().many(some)

        words = str(round(sum(len(item.source) for item in some) / len(some)))
        curve["alone"][words] = len(few) / _best(alone, rounds)
        curve["in batches"][words] = len(some) / _best(together, rounds)
    return curve


def document_sizes(items: Sequence[Item], rounds: int) -> Curve:
    """Sentences a second for documents of so many sentences, segmentation included."""
    points: dict[str, float] = {}
    for size in DOCUMENTS:
        texts = [items[place % len(items)].text for place in range(size)]
        text = "\n\n".join(texts)

        def run(text: str = text) -> None:
            Splitter(ours.made("pointer", BEAM)).split(text)

        points[str(size)] = size / _best(run, rounds)
    return {f"beam {BEAM}": points}
