"""The sources that the verifier learns from, and their candidates.

The candidates of a source are the rewrites that the pointer finds, the source itself, the reference
if there is one, and what the teacher wrote if it was asked.
"""

import gzip
import json
import logging
import math
import os
import random
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from parataxis.errors import InputError
from parataxis.rewrite.record import Level
from parataxis.splitters.pointer.actions import read_source
from parataxis.splitters.pointer.choose import compose_found
from parataxis.splitters.pointer.model import load_decoder
from parataxis.splitters.pointer.search import Decoder, Found, search
from parataxis.splitters.pointer.splitter import untouched, width_batches
from parataxis.syntax.analyser import Analyser, load_trees
from parataxis.syntax.analysis import Analysis
from parataxis.syntax.onnx import THREADS_VARIABLE, threads
from parataxis.text.tokens import tokenize

log = logging.getLogger(__name__)

BEAM, CAUTION = 6, 0.5
"""Of the search for candidates: wider and less cautious than that of the splitter."""

CHUNK = 256
"""The number of sources in one file of candidates."""

TINIEST = 1e-9
"""Replaces a probability of zero, which has no logarithm."""

FOUND, WHOLE, REFERENCE, BY_TEACHER = "found", "whole", "reference", "teacher"


@dataclass
class TrainingCandidate:
    """A rewrite: its kind, and the log-probabilities that the pointer and the teacher give it."""

    simple: list[str]
    kind: str
    log_chance: float | None = None
    teacher: float | None = None
    risks: list[float] | None = None
    """The teacher's probability of a fault in each simple sentence."""
    more: list[float] | None = None
    """Its probability that the sentence should be split further."""


@dataclass
class RankedSource:
    """A source and its candidates at a level; ``whole`` is the probability that it stays whole."""

    id: str
    domain: str
    complex: str
    reference: list[str] | None = None
    whole: float = 0.0
    candidates: list[TrainingCandidate] = field(default_factory=list)
    level: Level = Level.PLAIN

    def as_json(self) -> str:
        """One line of JSON."""
        return json.dumps(asdict(self), ensure_ascii=False)

    @classmethod
    def from_json(cls, line: str) -> "RankedSource":
        """The source in a line that :meth:`as_json` wrote."""
        fields: dict[str, Any] = json.loads(line)
        fields["candidates"] = [TrainingCandidate(**each) for each in fields.get("candidates", ())]
        fields["level"] = Level(fields.get("level") or Level.PLAIN)
        return cls(**fields)


def read_sources(path: Path) -> list[RankedSource]:
    """Read sources from a JSONL file, with or without candidates."""
    with path.open(encoding="utf-8") as stream:
        return [RankedSource.from_json(line) for line in stream]


def write_sources(sources: Iterable[RankedSource], path: Path) -> None:
    """Write what :func:`read_sources` reads; the file is complete or not there at all."""
    partial = path.with_suffix(".part")
    partial.write_text("".join(source.as_json() + "\n" for source in sources), encoding="utf-8")
    partial.replace(path)


def read_labels(path: Path) -> Iterator[dict[str, Any]]:
    """The records of a file, or of a folder, from ``--only label``."""
    for part in sorted(path.glob("*.jsonl.gz")) if path.is_dir() else [path]:
        yield from map(json.loads, gzip.decompress(part.read_bytes()).splitlines())


RISK_SHARE = 2.0
"""The weight of the log-probability that a rewrite is right, beside that of the rewrite itself."""


def preference(log_chance: float, risks: Iterable[float]) -> float:
    """How much the teacher prefers a rewrite with this log-probability and these probabilities of a
    fault in its sentences."""
    return log_chance + RISK_SHARE * sum(math.log1p(-min(risk, 0.999)) for risk in risks)


def find_candidates(
    sources: Iterable[RankedSource], decoder: Decoder, analyser: Analyser
) -> Iterator[RankedSource]:
    """Add candidates to the sources; those that cannot be rewritten are left out."""
    readable = []
    for source in sources:
        words = [token.text for token in tokenize(source.complex)]
        features = read_source(words, source.level)
        if words and untouched(source.complex, words, features) is None:
            readable.append((source, features))
    for batch in width_batches([features for _, features in readable]):
        some = [readable[place][1] for place in batch]
        for place, found in zip(
            batch, search(decoder, some, beam=BEAM, caution=CAUTION), strict=True
        ):
            source = readable[place][0]
            source.candidates = _candidates(source, analyser(source.complex), found)
            source.whole = found.whole
            yield source


def _candidates(source: RankedSource, analysis: Analysis, found: Found) -> list[TrainingCandidate]:
    by_text: dict[tuple[str, ...], TrainingCandidate] = {}

    def add(simple: Sequence[str], kind: str) -> TrainingCandidate:
        return by_text.setdefault(tuple(simple), TrainingCandidate(list(simple), kind))

    whole = add([source.complex], WHOLE)
    whole.log_chance = math.log(max(found.whole, TINIEST))
    for composed in compose_found(analysis, found):
        candidate = add(composed.simple, FOUND)
        if candidate.log_chance is None:
            candidate.log_chance = composed.log_chance
    if source.reference is not None:
        add(source.reference, REFERENCE)
    return list(by_text.values())


DOMAINS = {
    "contracts": ("contract", 24_000),
    "law": ("statute", 24_000),
    "gov_factbook": ("encyclopaedia", 8_000),
    "gov": ("government", 6_000),
    "fiction": ("fiction", 10_000),
    "news": ("news", 6_000),
    "wiki": ("encyclopaedia", 8_000),
    "edu": ("textbook", 10_000),
    "sci": ("science", 9_000),
    "docs": ("technical", 8_000),
    "speeches": ("speech", 5_000),
    "guides": ("guide", 4_000),
    "terms": ("terms", 4_000),
}
"""The domain of a file of real sentences, by the first prefix that its name has, and the maximum
number of sentences from that domain."""
REWRITES = {"real-train.jsonl": 7_045, "train.jsonl": 6_000, "original.jsonl": 9_000}
"""The maximum number of sources with a reference from each file of rewrites."""
AT_LEVELS = {Level.ATOMIC: 6, Level.LIGHT: 12}
"""Every so many-th real sentence is also a source at another level."""
HELD_OUT = 100
"""The number of sentences of each domain that are held out for raters."""


def collect_sources(text: Path, rewrites: Sequence[Path], output: Path) -> None:
    """Sample sources from the sentences in a folder (``NAME.txt.gz``) and from files of rewrites.

    ``output`` receives ``sources.jsonl``, in random order, and ``held-out.jsonl``.
    """
    chance = random.Random(17)
    by_domain: dict[str, list[RankedSource]] = {}
    for path in sorted(text.glob("*.txt.gz")):
        known = [name for start, name in DOMAINS.items() if path.name.startswith(start)]
        if not known:
            raise InputError(f"{path.name} must begin with one of {', '.join(DOMAINS)}.")
        domain = known[0][0]
        by_domain.setdefault(domain, []).extend(_sentences(path, domain))
    shares = dict(DOMAINS.values())
    aside: list[RankedSource] = []
    sources: list[RankedSource] = []
    for domain, found in sorted(by_domain.items()):
        chance.shuffle(found)
        aside += found[:HELD_OUT]
        own = found[HELD_OUT : HELD_OUT + shares[domain]]
        sources += own
        for level, every in AT_LEVELS.items():
            sources += [replace(each, level=level) for each in own[::every]]
    for path in rewrites:
        some = list(_rewrites(path))
        sources += chance.sample(some, min(len(some), REWRITES.get(path.name, len(some))))
    chance.shuffle(sources)
    output.mkdir(parents=True, exist_ok=True)
    for name, chosen in (("sources.jsonl", sources), ("held-out.jsonl", aside)):
        write_sources(chosen, output / name)


def _sentences(path: Path, domain: str) -> Iterator[RankedSource]:
    name = path.name.removesuffix(".txt.gz")
    with gzip.open(path, "rt", encoding="utf-8") as stream:
        for number, line in enumerate(stream, start=1):
            if line.strip():
                yield RankedSource(f"{name}:{number}", domain, line.strip())


def _rewrites(path: Path) -> Iterator[RankedSource]:
    with path.open(encoding="utf-8") as stream:
        for record in map(json.loads, stream):
            level = Level(record.get("level") or Level.PLAIN)
            yield RankedSource(
                *(record["id"], record["domain"], record["complex"], record["simple"]), level=level
            )


def make_candidates(sources: Path, output: Path, limit: int | None = None) -> None:
    """Find the candidates of all sources, in several processes; ``output`` has a file per chunk.

    Chunks that are there already are not made again.
    """
    output.mkdir(parents=True, exist_ok=True)
    known = read_sources(sources)[:limit]
    chunks = [
        (output / f"{number:05}.found", known[start : start + CHUNK])
        for number, start in enumerate(range(0, len(known), CHUNK))
    ]
    with ProcessPoolExecutor(threads(), initializer=_use_one_thread) as pool:
        made = sum(pool.map(_make_chunk, [each for each in chunks if not each[0].exists()]))
    log.info("%d sources with candidates", made)


def _use_one_thread() -> None:
    os.environ[THREADS_VARIABLE] = "1"


def _make_chunk(task: tuple[Path, list[RankedSource]]) -> int:
    path, sources = task
    found = list(find_candidates(sources, load_decoder(), load_trees()))
    write_sources(found, path)
    return len(found)
