"""Trains a model that memorises, in two minutes: the example of docs/diagnostics.md.

    python benchmarks/memorisation.py FOLDER

Generates a corpus about invented towers, each with four facts, in which a complex sentence joins
two facts of one tower. It is divided at random, so that the test set contains facts that occur in
other combinations in training, as in the first WebSplit. Trains SEQ2SEQ and COPY on it and
diagnoses both.
Needs the extra [train].
"""

import argparse
import json
import random
from collections.abc import Iterator
from itertools import permutations
from pathlib import Path

from parataxis.cli.main import main

FIRST = ("Ada", "Bo", "Cleo", "Dag", "Elin", "Finn", "Greta", "Hugo")
LAST = ("Vell", "Morrow", "Quist", "Tarn", "Osk", "Brandel", "Lume", "Sarro")
TOWNS = ("Lund Bay", "Kestrel", "Arno Vale", "Port Mire", "Hollin", "Sesta")
STYLES = ("brick", "glass", "granite", "timber")


def facts(chance: random.Random) -> list[tuple[str, str]]:
    """The facts about a tower, each a relation and its object."""
    return [
        ("has", f"{chance.randrange(3, 90)} floors"),
        ("was completed in", str(chance.randrange(1880, 2020))),
        ("was designed by", f"{chance.choice(FIRST)} {chance.choice(LAST)}"),
        ("stands in", chance.choice(TOWNS)),
        ("is made of", chance.choice(STYLES)),
    ]


def examples(towers: int, seed: int) -> Iterator[dict[str, object]]:
    """Complex sentences with a reference and the triples."""
    chance = random.Random(seed)
    names = [f"{last} {kind}" for last in LAST for kind in ("Tower", "Hall", "House", "Court")]
    for name in chance.sample(names, towers):
        for first, second in permutations(facts(chance), 2):
            yield {
                "id": f"{name}, {first[0]}, {second[0]}",
                "source": f"{name} , which {' '.join(first)} , {' '.join(second)} .",
                "simple": [f"{name} {' '.join(first)} .", f"{name} {' '.join(second)} ."],
                "triples": [[name, relation, object_] for relation, object_ in (first, second)],
            }


def write(folder: Path) -> dict[str, str]:
    """Write the parts of the corpus, divided at random."""
    found = list(examples(24, seed=1))
    random.Random(2).shuffle(found)
    cuts = {"train": found[:380], "validation": found[380:430], "test": found[430:]}
    for part, records in cuts.items():
        text = "".join(json.dumps(record) + "\n" for record in records)
        (folder / f"{part}.jsonl").write_text(text, encoding="utf-8")
    return {part: str(folder / f"{part}.jsonl") for part in cuts}


def run(*arguments: str) -> None:
    """Run a command of Parataxis."""
    print("$ parataxis", " ".join(arguments), flush=True)
    code = main(arguments)
    if code:
        raise SystemExit(code)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    folder: Path = parser.parse_args().folder
    folder.mkdir(parents=True, exist_ok=True)
    parts = write(folder)
    settings = ["batch=16", "sizes.width=64", "epochs=60", "decay=0.9", "patience=60"]
    for model in ("seq2seq", "copynet"):
        chosen = [word for setting in settings for word in ("--set", setting)]
        data = ["--data", parts["train"], "--validation", parts["validation"]]
        run("train", model, *data, "--output", str(folder / model), *chosen)
    for splitter in (
        f"seq2seq:{folder}/seq2seq/model",
        f"copynet:{folder}/copynet/model",
        "pointer",
    ):
        common = ["--splitter", splitter, "--corpus", parts["test"]]
        name = splitter.partition(":")[0]
        out = ["--output", str(folder / f"diagnosis-{name}")]
        run("diagnose", "memorisation", *common, "--train", parts["train"], *out)
        run("diagnose", "attention", *common, *out)
        run("diagnose", "errors", *common, *out)
