"""The teacher rewrites sentences that have no rewrite, for the pointer to learn from."""

import gzip
import json
import logging
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from parataxis.lab.training import choose_device
from parataxis.lab.verifier.candidates import preference
from parataxis.lab.verifier.decode import BatchDecoder, Continuation
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
"""Rewrites that are sampled of a sentence that the teacher may wrongly leave whole, or of whose
rewrite it is in doubt."""
SURELY_WHOLE = -0.3
"""The log-probability of staying whole above which nothing is sampled."""
DOUBTFUL = 0.2
"""The probability of a fault above which other rewrites are sampled."""

Source = tuple[str, str | None]
"""A sentence, and the level of its rewrite unless it is plain."""


class Labelled(NamedTuple):
    """Simple sentences, their log-probability, and the probability of a fault in each."""

    simple: list[str]
    log_chance: float
    risks: list[float]


class Labeller:
    """Rewrites sources with the teacher."""

    def __init__(self, decode: BatchDecoder, tokens: TeacherTokens) -> None:
        self._decode, self._tokens = decode, tokens

    def __call__(self, sources: Sequence[Source], seed: int = 0) -> list[dict[str, Any]]:
        """The labels of sources; those whose rewrite does not end are left out.

        Where the most probable rewrite of a plain source is doubtful, or is the source, the best of
        a few sampled splits goes with it.
        """
        prompts = self._tokens.prompts(sources)
        best = self.rewrite(prompts)
        doubtful = [
            place
            for place, ((source, level), found) in enumerate(zip(sources, best, strict=True))
            if found and level is None and _is_doubtful(source, found)
        ]
        drawn = self.rewrite([prompts[place] for place in doubtful] * SAMPLES, TEMPERATURE, seed)
        splits = {
            place: [each for each in drawn[number :: len(doubtful)] if each and each.simple[1:]]
            for number, place in enumerate(doubtful)
        }
        labels = []
        for place, ((source, level), found) in enumerate(zip(sources, best, strict=True)):
            if found is None:
                continue
            label = {"complex": source, "level": level, **found._asdict()}
            if own := splits.get(place):
                label["split"] = max(own, key=lambda each: preference(*each[1:]))._asdict()
            labels.append(label)
        return labels

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
            texts = self._tokens.decode([own.tokens if own else [] for own in written])
            for place, own, text in zip(some, written, texts, strict=True):
                found[place] = self._labelled(own, text) if own else None
        return [found[place] for place in range(len(prompts))]

    def _labelled(self, own: Continuation, text: str) -> Labelled:
        ends = self._tokens.sentence_ends([*own.tokens, self._tokens.end]) if own.risks else []
        risks = [round(own.risks[place], 3) for place in ends]
        return Labelled(text.split("\n"), round(own.log_chance, 3), risks)


def _is_doubtful(source: str, found: Labelled) -> bool:
    if found.simple == [source]:
        return found.log_chance < SURELY_WHOLE
    return max(found.risks, default=0.0) > DOUBTFUL


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
