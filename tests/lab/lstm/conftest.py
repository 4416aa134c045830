"""A tiny corpus of our own, in which every source is about another invented name."""

import json
import random
from collections.abc import Iterator
from pathlib import Path

import pytest

SYLLABLES = ("ba", "ce", "di", "fo", "gu", "ha", "ji", "ko", "lu", "ma", "ne", "po", "ri", "su")
VERBS = ["painted", "sold", "built", "found", "lost"]
THINGS = ("a house", "two books", "the boat", "some tea")
PLACES = ("in town", "at sea", "by night")

_QUICK = {
    "batch": "16",
    "decay": "0.9",
    "patience": "30",
    "least": "2",
    "sizes.width": "48",
    "beam": "4",
}
"""Settings for so few sources: a name, which is with one source only, is no word of theirs."""


@pytest.fixture(scope="session")
def quick() -> dict[str, str]:
    """Changes of a configuration for a tiny corpus."""
    return dict(_QUICK)


@pytest.fixture(autouse=True, scope="session")
def _one_thread() -> Iterator[None]:
    torch = pytest.importorskip("torch", reason="needs the extra [train]")
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def name(chance: random.Random) -> str:
    """An invented name."""
    return "".join(chance.choices(SYLLABLES, k=3)).capitalize()


def records(count: int, seed: int) -> list[dict[str, object]]:
    """Sources with their references."""
    chance = random.Random(seed)
    found = []
    for _ in range(count):
        who, (one, other) = name(chance), chance.choices(VERBS, k=2)
        first, second = chance.choices(THINGS, k=2)
        where = chance.choice(PLACES)
        link = chance.choice([f"{who} , who {one} {first} ,", f"{who} {one} {first} and"])
        simple = [f"{who} {one} {first} .", f"{who} {other} {second} {where} ."]
        found.append({"source": f"{link} {other} {second} {where} .", "simple": simple})
    return found


def write(path: Path, lines: list[dict[str, object]]) -> str:
    """Write records, and return the name of the corpus."""
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return f"jsonl:{path}"


@pytest.fixture(scope="session")
def unseen() -> list[dict[str, object]]:
    """Records with names that no corpus has."""
    return records(20, seed=77)


@pytest.fixture(scope="session")
def corpora(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Names of corpora for training and validation."""
    folder = tmp_path_factory.mktemp("corpora")
    return {
        part: write(folder / f"{part}.jsonl", records(count, seed))
        for part, count, seed in (("train", 400, 1), ("validation", 20, 2), ("few", 40, 3))
    }
