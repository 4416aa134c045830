"""The sources that the ranker learns from, and their candidates.

The candidates of a source are the rewrites that the pointer finds, the source itself, the reference
if there is one, and a rewrite with an artificial fault.
"""

import gzip
import json
import math
import random
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from parataxis.errors import InputError
from parataxis.splitters.pointer.actions import Features, read_source
from parataxis.splitters.pointer.choose import TINIEST, compose_found
from parataxis.splitters.pointer.search import Decoder, Found, search
from parataxis.splitters.pointer.splitter import untouched, width_batches
from parataxis.syntax.analyser import Analyser
from parataxis.syntax.analysis import Analysis
from parataxis.text.tokens import tokenize

SEARCHES = ((4, 1.0), (4, -1.0))
"""The beam and the caution of each search."""

FOUND, WHOLE, REFERENCE, FAULTY = "found", "whole", "reference", "faulty"


@dataclass
class TrainingCandidate:
    """A rewrite: its kind, the searches that found it, and the pointer's log-probability of it."""

    simple: list[str]
    kind: str
    searches: list[int] = field(default_factory=list)
    log_chance: float | None = None


@dataclass
class RankedSource:
    """A source and its candidates; ``whole`` is the probability that it stays whole."""

    id: str
    domain: str
    complex: str
    reference: list[str] | None = None
    whole: float = 0.0
    candidates: list[TrainingCandidate] = field(default_factory=list)

    def as_json(self) -> str:
        """One line of JSON."""
        return json.dumps(asdict(self), ensure_ascii=False)

    @classmethod
    def from_json(cls, line: str) -> "RankedSource":
        """The source in a line that :meth:`as_json` wrote."""
        fields: dict[str, Any] = json.loads(line)
        fields["candidates"] = [TrainingCandidate(**each) for each in fields.get("candidates", ())]
        return cls(**fields)


def read_sources(path: Path) -> list[RankedSource]:
    """Read sources from a JSONL file, with or without candidates."""
    with path.open(encoding="utf-8") as stream:
        return [RankedSource.from_json(line) for line in stream]


class _ReadOnce:
    """A decoder that reads the same sources only once for several searches."""

    def __init__(self, decoder: Decoder) -> None:
        self._decoder = decoder
        self._last: tuple[Sequence[Features], Any] | None = None
        self.step = decoder.step

    def read(self, sources: Sequence[Features]) -> Any:
        if self._last is None or self._last[0] is not sources:
            self._last = sources, self._decoder.read(sources)
        return self._last[1]


def find_candidates(
    sources: Iterable[RankedSource],
    decoder: Decoder,
    analyser: Analyser,
    *,
    searches: Sequence[tuple[int, float]] = SEARCHES,
) -> Iterator[RankedSource]:
    """Add candidates to the sources; those that cannot be rewritten are left out."""
    once = _ReadOnce(decoder)
    readable = []
    for source in sources:
        words = [token.text for token in tokenize(source.complex)]
        features = read_source(words)
        if words and untouched(source.complex, words, features) is None:
            readable.append((source, features))
    for batch in width_batches([features for _, features in readable]):
        some = [readable[place][1] for place in batch]
        founds = [search(once, some, beam=beam, caution=cost) for beam, cost in searches]
        for row, place in enumerate(batch):
            source = readable[place][0]
            analysis = analyser(source.complex)
            source.candidates = _candidates(source, analysis, [found[row] for found in founds])
            source.whole = founds[0][row].whole
            _add_fault(source)
            yield source


def _candidates(
    source: RankedSource, analysis: Analysis, founds: Sequence[Found]
) -> list[TrainingCandidate]:
    by_text: dict[tuple[str, ...], TrainingCandidate] = {}

    def add(simple: Sequence[str], kind: str) -> TrainingCandidate:
        return by_text.setdefault(tuple(simple), TrainingCandidate(list(simple), kind))

    whole = add([source.complex], WHOLE)
    whole.log_chance = math.log(max(founds[0].whole, TINIEST))
    for number, found in enumerate(founds):
        for composed in compose_found(analysis, found):
            candidate = add(composed.simple, FOUND)
            candidate.searches.append(number)
            if candidate.log_chance is None:
                candidate.log_chance = composed.log_chance
    if source.reference is not None:
        add(source.reference, REFERENCE)
    return list(by_text.values())


DOMAINS = {
    "contracts": "contract",
    "law": "statute",
    "gov_factbook": "encyclopaedia",
    "gov": "government",
    "fiction": "fiction",
    "news": "news",
    "wiki": "encyclopaedia",
    "edu": "textbook",
    "sci": "science",
    "docs": "technical",
    "speeches": "speech",
    "guides": "guide",
    "terms": "terms",
}
"""The domain of a file of real sentences: the first whose prefix its name has."""

SHARES = {
    "contract": 24_000,
    "statute": 24_000,
    "textbook": 10_000,
    "science": 9_000,
    "fiction": 10_000,
    "encyclopaedia": 8_000,
    "technical": 8_000,
    "news": 6_000,
    "government": 6_000,
    "speech": 5_000,
    "guide": 4_000,
    "terms": 4_000,
}
"""The maximum number of real sentences from each domain."""
REWRITES = {"real-train.jsonl": 7_045, "train.jsonl": 6_000, "original.jsonl": 9_000}
"""The maximum number of sources with a reference from each file of rewrites."""
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
        domain = known[0]
        by_domain.setdefault(domain, []).extend(_sentences(path, domain))
    aside: list[RankedSource] = []
    sources: list[RankedSource] = []
    for domain, found in sorted(by_domain.items()):
        chance.shuffle(found)
        aside += found[:HELD_OUT]
        sources += found[HELD_OUT : HELD_OUT + SHARES[domain]]
    for path in rewrites:
        some = list(_rewrites(path))
        sources += chance.sample(some, min(len(some), REWRITES.get(path.name, len(some))))
    chance.shuffle(sources)
    output.mkdir(parents=True, exist_ok=True)
    for name, chosen in (("sources.jsonl", sources), ("held-out.jsonl", aside)):
        lines = "".join(source.as_json() + "\n" for source in chosen)
        (output / name).write_text(lines, encoding="utf-8")


def _sentences(path: Path, domain: str) -> Iterator[RankedSource]:
    name = path.name.removesuffix(".txt.gz")
    with gzip.open(path, "rt", encoding="utf-8") as stream:
        for number, line in enumerate(stream, start=1):
            if line.strip():
                yield RankedSource(f"{name}:{number}", domain, line.strip())


def _rewrites(path: Path) -> Iterator[RankedSource]:
    with path.open(encoding="utf-8") as stream:
        for record in map(json.loads, stream):
            yield RankedSource(record["id"], record["domain"], record["complex"], record["simple"])


# Faults ---------------------------------------------------------------------------------------

_MODALS = ["may", "might", "can", "could", "shall", "should", "will", "would", "must"]
_PRONOUNS = ["he", "she", "it", "they", "this", "these"]
_NUMBER = re.compile(r"\b\d[\d,.]*\b")
_NAME = re.compile(r"(?<=[a-z,] )[A-Z][a-z]+(?: [A-Z][a-z]+)*")


def _add_fault(source: RankedSource) -> None:
    chance = random.Random(source.complex)
    split = [c for c in source.candidates if len(c.simple) > 1]
    if not split:
        return
    good = next((c for c in split if c.kind == REFERENCE), split[0])
    simple = with_fault(good.simple, chance)
    if simple is not None and all(simple != other.simple for other in source.candidates):
        source.candidates.append(TrainingCandidate(simple, FAULTY))


def with_fault(simple: Sequence[str], chance: random.Random) -> list[str] | None:
    """The rewrite with one fault of a random kind, or None if it allows none."""
    makers: list[Callable[[list[str], random.Random], list[str] | None]] = [
        _dropped,
        _reordered,
        _other_modal,
        _other_pronoun,
        _swapped(_NUMBER),
        _swapped(_NAME),
        _other_link,
    ]
    chance.shuffle(makers)
    for make in makers:
        made = make(list(simple), chance)
        if made is not None and made != list(simple):
            return made
    return None


def _dropped(simple: list[str], chance: random.Random) -> list[str] | None:
    del simple[chance.randrange(len(simple))]
    return simple or None


def _reordered(simple: list[str], chance: random.Random) -> list[str] | None:
    if len(simple) < 2:
        return None
    place = chance.randrange(len(simple) - 1)
    simple[place], simple[place + 1] = simple[place + 1], simple[place]
    return simple


def _other_word(simple: list[str], chance: random.Random, group: Sequence[str]) -> list[str] | None:
    pattern = re.compile(rf"\b(?:{'|'.join(group)})\b", re.IGNORECASE)
    places = [(row, match) for row, text in enumerate(simple) for match in pattern.finditer(text)]
    if not places:
        return None
    row, match = chance.choice(places)
    other = chance.choice([word for word in group if word != match.group().lower()])
    other = other.capitalize() if match.group()[0].isupper() else other
    simple[row] = simple[row][: match.start()] + other + simple[row][match.end() :]
    return simple


def _other_modal(simple: list[str], chance: random.Random) -> list[str] | None:
    return _other_word(simple, chance, _MODALS)


def _other_pronoun(simple: list[str], chance: random.Random) -> list[str] | None:
    return _other_word(simple, chance, _PRONOUNS)


def _other_link(simple: list[str], chance: random.Random) -> list[str] | None:
    """Turn an alternative into an addition, or drop a contrast."""
    for row, text in enumerate(simple):
        for old, new in ((" or ", " and "), ("Alternatively,", "Also,"), ("However, ", "")):
            if old in text:
                simple[row] = text.replace(old, new, 1)
                return simple
    return None


def _swapped(
    pattern: re.Pattern[str],
) -> Callable[[list[str], random.Random], list[str] | None]:
    """Swap two numbers or two names."""

    def swap(simple: list[str], chance: random.Random) -> list[str] | None:
        text = "\n".join(simple)
        found = list(pattern.finditer(text))
        pairs = [
            (one, other)
            for place, one in enumerate(found)
            for other in found[place + 1 :]
            if one.group() != other.group()
        ]
        if not pairs:
            return None
        one, other = chance.choice(pairs)
        text = (
            text[: one.start()]
            + other.group()
            + text[one.end() : other.start()]
            + one.group()
            + text[other.end() :]
        )
        return text.split("\n")

    return swap
