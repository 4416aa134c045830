"""The teacher rewrites sentences that have no rewrite, for the pointer to learn from."""

import gzip
import json
import logging
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

from parataxis.lab.training import choose_device
from parataxis.lab.verifier.decode import BatchDecoder
from parataxis.lab.verifier.teacher import load_teacher
from parataxis.lab.verifier.tokens import TeacherTokens

log = logging.getLogger(__name__)

CHUNK = 24_576
"""The number of sources in one file of labels."""
BATCH, LONG = 2048, 110
"""Prompts in a batch, half as many if one has more tokens than ``LONG``."""
ROOM = (2.0, 24)
"""A rewrite may have twice the tokens of its prompt, and a few more."""
SAMPLES, TEMPERATURE = 2, 0.8
"""Rewrites that are sampled of a sentence that the teacher would leave whole."""

Source = tuple[str, str | None]
"""A sentence, and the level of its rewrite unless it is plain."""
Labelled = tuple[list[str], float]
"""Simple sentences and their log-probability."""


class Labeller:
    """Rewrites sources with the teacher."""

    def __init__(self, decode: BatchDecoder, tokens: TeacherTokens) -> None:
        self._decode, self._tokens = decode, tokens

    def __call__(self, sources: Sequence[Source], seed: int = 0) -> list[dict[str, Any]]:
        """The labels of sources; those whose rewrite does not end are left out.

        Where the most probable rewrite of a plain source is the source, the most probable of a few
        sampled splits goes with it.
        """
        prompts = self._tokens.prompts(sources)
        best = self.rewrite(prompts)
        labels = [
            {"complex": source, "level": level, "simple": found[0], "log_chance": found[1]}
            if found
            else None
            for (source, level), found in zip(sources, best, strict=True)
        ]
        whole = [
            (place, label)
            for place, label in enumerate(labels)
            if label and label["simple"] == [label["complex"]] and label["level"] is None
        ]
        drawn = self.rewrite([prompts[place] for place, _ in whole] * SAMPLES, TEMPERATURE, seed)
        for number, (_, label) in enumerate(whole):
            splits = [each for each in drawn[number :: len(whole)] if each and len(each[0]) > 1]
            if splits:
                label["split"], label["split_log_chance"] = max(splits, key=lambda each: each[1])
        return [label for label in labels if label]

    def rewrite(
        self, prompts: Sequence[Sequence[int]], temperature: float = 0.0, seed: int = 0
    ) -> list[Labelled | None]:
        """Continue prompts, those of similar length together."""
        order = sorted(range(len(prompts)), key=lambda place: -len(prompts[place]))
        found: dict[int, Labelled | None] = {}
        times, more = ROOM
        while len(found) < len(order):
            longest = len(prompts[order[len(found)]])
            size = BATCH // 2 if longest > LONG else BATCH
            some = order[len(found) : len(found) + size]
            room = int(times * longest) + more
            written = self._decode(
                [prompts[place] for place in some], self._tokens.end, room, temperature, seed
            )
            texts = self._tokens.decode([own[0] if own else [] for own in written])
            for place, own, text in zip(some, written, texts, strict=True):
                found[place] = (text.split("\n"), round(own[1], 3)) if own else None
        return [found[place] for place in range(len(prompts))]


def label(folder: Path, sources: Path, output: Path, limit: int | None = None) -> None:
    """Label the sources in a file, in chunks; chunks that are there already are not made again.

    The file has one sentence a line or, as JSONL, ``complex`` and ``level``.
    """
    output.mkdir(parents=True, exist_ok=True)
    tokens = TeacherTokens(folder)
    labeller = Labeller(BatchDecoder(load_teacher(folder, choose_device())), tokens)
    lines = islice(_read(sources), limit)
    number = 0
    while some := list(islice(lines, CHUNK)):
        path = output / f"{number:05}.jsonl.gz"
        if not path.exists():
            partial = path.with_suffix(".part")
            with gzip.open(partial, "wt", encoding="utf-8") as stream:
                for each in labeller(some, number):
                    stream.write(json.dumps(each, ensure_ascii=False) + "\n")
            partial.replace(path)
        number += 1
        log.info("%d chunks labelled", number)


def _read(path: Path) -> Iterator[Source]:
    is_json = path.name.removesuffix(".gz").endswith(".jsonl")
    with (gzip.open if path.suffix == ".gz" else open)(path, "rt", encoding="utf-8") as lines:
        for line in lines:
            record = json.loads(line) if is_json else {"complex": line.strip()}
            if record["complex"]:
                yield record["complex"], record.get("level")
