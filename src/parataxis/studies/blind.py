"""Blinded studies: rewrites by several systems as items that do not reveal the system.

The name of the system is replaced by an opaque one, the id by a random one, and all other fields
of the rewrite are dropped. The key, which raters must not see, is in a separate file outside the
folder of the study.
"""

import csv
import io
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from parataxis.evaluate.corpora.example import Example
from parataxis.evaluate.corpora.sentences import running_text
from parataxis.rewrite.jsonl import to_json
from parataxis.rewrite.record import Rewrite
from parataxis.text.files import plain_cell, write_files

ITEMS, STUDY, KEY = "items.jsonl", "study.yaml", "study-key.csv"


class KeyRow(NamedTuple):
    """The system and the example of an item."""

    id: str
    splitter: str
    """The opaque name of the system in the items."""
    system: str
    example: str


@dataclass(frozen=True)
class Blinded:
    """The items in the order in which they are shown, and their keys."""

    items: tuple[Rewrite, ...]
    key: tuple[KeyRow, ...]


def blind(
    examples: Sequence[Example],
    systems: Mapping[str, Sequence[tuple[str, ...]]],
    *,
    sources: int,
    seed: int,
) -> Blinded:
    """Draw so many sources at random, with the rewrites by every system. The rewrites of one
    source follow each other in random order. ``systems`` has a rewrite for each example.

    Tokenised corpora are detokenised, since people read running text.

    >>> ghent = Example("Ghent, a city, is old.", (), "corpus:1")
    >>> rewrites = {"mine": [("Ghent is a city.", "It is old.")], "yours": [("Ghent is old.",)]}
    >>> found = blind([ghent], rewrites, sources=30, seed=1)
    >>> [item.splitter for item in found.items], [row.system for row in found.key]
    (['system-2', 'system-1'], ['mine', 'yours'])
    """
    chance = random.Random(seed)
    names = list(systems)
    chance.shuffle(names)
    opaque = {name: f"system-{number}" for number, name in enumerate(names, start=1)}
    items, key = [], []
    used: set[str] = set()
    for place in chance.sample(range(len(examples)), min(sources, len(examples))):
        for name in chance.sample(names, len(names)):
            while (id_ := f"{chance.getrandbits(40):010x}") in used:
                pass
            used.add(id_)
            items.append(
                Rewrite(
                    source=running_text(examples[place].source),
                    simple=tuple(map(running_text, systems[name][place])),
                    splitter=opaque[name],
                    id=id_,
                )
            )
            key.append(KeyRow(id_, opaque[name], name, examples[place].id))
    return Blinded(tuple(items), tuple(key))


def write_study(blinded: Blinded, rubric: str, folder: Path, key: Path) -> None:
    """Write the items and the description of the study into its folder, and the key elsewhere.
    The files appear when all of them are written."""
    folder.mkdir(parents=True, exist_ok=True)
    with write_files([folder / ITEMS, folder / STUDY, key]) as (item, line, row):
        for each in blinded.items:
            item(to_json(each))
        line(f"# Blinded rewrites; for: parataxis study create {STUDY} --items {ITEMS}")
        line(f"rubric: {rubric}")
        line(f"items: {ITEMS}")
        out = io.StringIO()
        rows = ([plain_cell(cell) for cell in each] for each in (KeyRow._fields, *blinded.key))
        csv.writer(out, lineterminator="\n").writerows(rows)
        row(out.getvalue().removesuffix("\n"))
