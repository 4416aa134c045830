"""How good a splitter is on references: every figure in two tables.

This measures any splitter, not only the pointer model, and needs no torch.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import chain
from pathlib import Path
from statistics import fmean
from typing import TypeVar

from rich.console import Console
from rich.progress import track

from parataxis.api import Splitter
from parataxis.checks import Checker
from parataxis.errors import InputError
from parataxis.evaluate.metrics import corpus_bleu, corpus_sari
from parataxis.report import Block, Report, ReportParagraph, Table
from parataxis.rewrite.jsonl import read_rewrites
from parataxis.rewrite.record import Finding, FindingKind, Rewrite
from parataxis.syntax.analyser import load_analyser

SAMPLE = 2000
"""How many simple sentences of the references are given to a splitter."""

_SUMMARY_LEGEND = (
    "In percent, except the number of sources and the sentences per source. Rightly whole: left "
    "whole, of the sources that the reference leaves whole; wrongly whole: of those that it "
    "splits. Faulty: the checks find something. Fallback: left whole with a note that says why."
)
_KINDS_LEGEND = "Percent of the rewrites in which the checks find something of this kind."

T = TypeVar("T")
Pair = tuple["Reference", Rewrite, list[Finding]]


@dataclass(frozen=True, slots=True)
class Reference:
    """A source, the domain it comes from, and how a writer rewrote it."""

    id: str
    domain: str
    source: str
    simple: tuple[str, ...]

    @property
    def is_whole(self) -> bool:
        """Whether the writer left the source as it is."""
        return self.simple == (self.source,)


@dataclass(frozen=True, slots=True)
class SplitterScores:
    """The figures of one group of rewrites; shares are between 0 and 1, None where of nothing."""

    number: int
    identical: float
    """Share of rewrites that are exactly the reference."""
    sari: float
    bleu: float
    sentences: float
    """Simple sentences per source."""
    reference_sentences: float
    rightly_whole: float | None
    """Share left whole of the sources that the reference leaves whole."""
    wrongly_whole: float | None
    """Share left whole of the sources that the reference splits."""
    fallbacks: float
    """Share left whole with a note that says why."""
    faulty: float
    """Share in which the checks find anything."""
    findings: Mapping[FindingKind, float]
    """Share in which the checks find something of this kind."""


@dataclass(frozen=True, slots=True)
class Stability:
    """What a splitter does to sentences that it should leave alone."""

    own: int
    """Simple sentences in the rewrites it made, without the sources it left whole."""
    own_changed: float | None
    """Share of these that it changes when they come in as sources."""
    simple: int
    """Simple sentences of references."""
    simple_changed: float | None
    """Share of these that it changes."""


def read_references(path: Path) -> list[Reference]:
    """The references in a file of JSON lines with ``id``, ``domain``, ``complex``, ``simple``."""
    references = []
    for record in _read(path):
        domain = (record.model_extra or {}).get("domain")
        if not isinstance(domain, str):
            raise InputError(f'{path}: the record "{record.id}" does not name its domain.')
        references.append(Reference(record.id or "", domain, record.source, record.simple))
    if not references:
        raise InputError(f"{path} holds no references.")
    return references


def measure(
    references: Sequence[Reference], rewrites: Sequence[Rewrite], checker: Checker
) -> SplitterScores:
    """The figures of rewrites, which are those of the references' sources in the same order."""
    return _scores(_pairs(references, rewrites, checker))


def evaluation_report(
    references: Sequence[Reference],
    rewrites: Sequence[Rewrite],
    checker: Checker,
    stability: Stability | None = None,
) -> Report:
    """The figures for each domain and for all."""
    groups = _by_domain(_pairs(references, rewrites, checker))
    scores = {name: _scores(group) for name, group in groups.items()}
    blocks: list[Block] = [
        _table({name: _summary(group) for name, group in scores.items()}),
        ReportParagraph(_SUMMARY_LEGEND),
        _table({name: _by_kind(group) for name, group in scores.items()}),
        ReportParagraph(_KINDS_LEGEND),
        *(map(ReportParagraph, _describe(stability)) if stability else ()),
    ]
    record = {
        "scores": {name: asdict(group) for name, group in scores.items()},
        "stability": asdict(stability) if stability else None,
    }
    return Report("The splitter on the references", blocks, record, bare=True)


def stability(
    splitter: Splitter, references: Iterable[Reference], rewrites: Iterable[Rewrite]
) -> Stability:
    """Give a splitter its own simple sentences again, and simple sentences of the references.

    ``rewrites`` are those of the same splitter. Sources that it left whole are not given again,
    because they would only say that it is deterministic.
    """
    own = [text for rewrite in rewrites if rewrite.is_split for text in rewrite.simple]
    simple = _sample(list(dict.fromkeys(chain(*(one.simple for one in references)))), SAMPLE)
    return Stability(
        own=len(own),
        own_changed=_changed(splitter, own, "Splitting its own output again"),
        simple=len(simple),
        simple_changed=_changed(splitter, simple, "Splitting simple sentences"),
    )


def run_evaluation(data: Path, splitter: str, rewrites: Path | None) -> Report:
    """The report on ``rewrites/dev.jsonl`` in the folder ``data``.

    The splitter of that name is measured or, if given, the rewrites in a file; the stability of
    those is not known.
    """
    references = read_references(data / "rewrites" / "dev.jsonl")
    stable = None
    if rewrites is not None:
        made = _in_order(references, rewrites)
    else:
        system = Splitter(splitter)
        made = _split(system, [one.source for one in references], "Splitting the sources")
        stable = stability(system, references, made)
    return evaluation_report(references, made, Checker(load_analyser()), stable)


def _read(path: Path) -> list[Rewrite]:
    try:
        with path.open(encoding="utf-8") as lines:
            return list(read_rewrites(lines, str(path)))
    except FileNotFoundError as error:
        raise InputError(f"There is no file {path}.") from error


def _in_order(references: Sequence[Reference], path: Path) -> list[Rewrite]:
    """The rewrites of a file in the order of the references, found by their sources."""
    made = {rewrite.source: rewrite for rewrite in _read(path)}
    missing = [one.id for one in references if one.source not in made]
    if missing:
        raise InputError(
            f"{path} has no rewrite for {len(missing)} of {len(references)} sources; "
            f'the first is "{missing[0]}".'
        )
    return [made[one.source] for one in references]


def _pairs(
    references: Sequence[Reference], rewrites: Sequence[Rewrite], checker: Checker
) -> list[Pair]:
    if [one.source for one in references] != [rewrite.source for rewrite in rewrites]:
        raise InputError("The rewrites are not those of the references' sources, in their order.")
    findings = checker.pipe(
        [(rewrite.source, rewrite.simple) for rewrite in rewrites],
        [rewrite.provenance for rewrite in rewrites],
    )
    checked = _watched(findings, len(rewrites), "Checking the rewrites")
    return list(zip(references, rewrites, checked, strict=True))


def _by_domain(pairs: Sequence[Pair]) -> dict[str, list[Pair]]:
    """The rows of the tables: the domains of found sentences, those of invented ones, and all."""
    groups: dict[str, list[Pair]] = {}
    for invented in (False, True):
        part = [pair for pair in pairs if pair[0].domain.startswith("original-") == invented]
        domains = sorted({one.domain for one, _, _ in part})
        for domain in domains:
            groups[domain] = [pair for pair in part if pair[0].domain == domain]
        if len(domains) > 1:
            groups["original (all)" if invented else " + ".join(domains)] = part
    return groups | {"all": list(pairs)}


def _scores(pairs: Sequence[Pair]) -> SplitterScores:
    if not pairs:
        raise InputError("There are no rewrites to measure.")
    references, rewrites, findings = zip(*pairs, strict=True)
    texts = [" ".join(rewrite.simple) for rewrite in rewrites]
    targets = [[" ".join(one.simple)] for one in references]
    kinds = [{finding.kind for finding in found} for found in findings]
    return SplitterScores(
        number=len(pairs),
        identical=fmean(one.simple == made.simple for one, made, _ in pairs),
        sari=corpus_sari([one.source for one in references], texts, targets).score,
        bleu=corpus_bleu(texts, targets),
        sentences=fmean(len(made.simple) for made in rewrites),
        reference_sentences=fmean(len(one.simple) for one in references),
        rightly_whole=_share(not made.is_split for one, made, _ in pairs if one.is_whole),
        wrongly_whole=_share(not made.is_split for one, made, _ in pairs if not one.is_whole),
        fallbacks=fmean(bool(made.note) and not made.is_split for made in rewrites),
        faulty=fmean(map(bool, findings)),
        findings={kind: fmean(kind in found for found in kinds) for kind in FindingKind},
    )


def _share(values: Iterable[bool]) -> float | None:
    """The share of true values; None where there are none at all."""
    known = list(values)
    return fmean(known) if known else None


def _split(splitter: Splitter, sentences: Sequence[str], task: str) -> list[Rewrite]:
    return _watched(splitter.pipe(sentences), len(sentences), task)


def _changed(splitter: Splitter, sentences: Sequence[str], task: str) -> float | None:
    return _share(rewrite.is_split for rewrite in _split(splitter, sentences, task))


def _watched(items: Iterable[T], total: int, task: str) -> list[T]:
    """All items, with a progress bar on a terminal while they are made."""
    console = Console(stderr=True)
    if not console.is_terminal:
        return list(items)
    return list(track(items, task, total=total, console=console, transient=True))


def _sample(sentences: Sequence[str], number: int) -> list[str]:
    """At most that many sentences, evenly spread over all: the same ones every time."""
    if len(sentences) <= number:
        return list(sentences)
    return [sentences[place * len(sentences) // number] for place in range(number)]


def _percent(share: float | None) -> str:
    return "-" if share is None else f"{100 * share:.1f}"


def _summary(scores: SplitterScores) -> dict[str, str]:
    return {
        "n": str(scores.number),
        "identical": _percent(scores.identical),
        "SARI": f"{scores.sari:.1f}",
        "BLEU": f"{scores.bleu:.1f}",
        "sentences": f"{scores.sentences:.2f}",
        "(reference)": f"{scores.reference_sentences:.2f}",
        "rightly whole": _percent(scores.rightly_whole),
        "wrongly whole": _percent(scores.wrongly_whole),
        "faulty": _percent(scores.faulty),
        "fallback": _percent(scores.fallbacks),
    }


def _by_kind(scores: SplitterScores) -> dict[str, str]:
    shares = {kind.value: _percent(share) for kind, share in scores.findings.items()}
    return shares | {"any": _percent(scores.faulty)}


def _table(rows: Mapping[str, Mapping[str, str]]) -> Table:
    header = ["domain", *next(iter(rows.values()))]
    return Table(header, [[name, *cells.values()] for name, cells in rows.items()])


def _describe(stable: Stability) -> list[str]:
    return [
        f"Changed when split again: {_percent(stable.own_changed)} % of {stable.own:,} simple "
        "sentences of its own rewrites.",
        f"Changed although simple: {_percent(stable.simple_changed)} % of {stable.simple:,} "
        "simple sentences of the references.",
    ]
