"""``parataxis corpus build-websplit``, ``split`` and ``verify``: WebSplit and splits by triples."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, replace
from enum import StrEnum
from itertools import chain
from pathlib import Path

import typer

from parataxis.cli.options import OptionalCount, ReportFormatOption, documented
from parataxis.cli.terminal import Output, Progress, warn
from parataxis.errors import InputError
from parataxis.evaluate.commands.corpus import (
    CorpusArgument,
    StrictOption,
    counting,
    overlap_records,
    overlap_table,
    parse_corpora,
    read_corpus,
)
from parataxis.evaluate.corpora.example import Example, Triple, entities, group, relations
from parataxis.evaluate.corpora.leaks import find_overlaps
from parataxis.evaluate.corpora.registry import FORMATS, Corpus, parse_corpus
from parataxis.evaluate.corpora.webnlg import Entry, read_webnlg
from parataxis.evaluate.corpora.websplit import WebSplit, read_parts, write_parts
from parataxis.lab import rdf_split as splitting
from parataxis.lab import websplit as verifying
from parataxis.lab.websplit import (
    PartCounts,
    Verbalisations,
    build,
    keeping,
    part_counts,
    published,
    verbalisations,
)
from parataxis.report import (
    Block,
    Notes,
    Report,
    ReportFormat,
    ReportParagraph,
    Table,
    counted,
)

_PARTS = ("train", "validation", "test")
_SHOWN = 20
"""Violations that ``verify`` lists as text; JSON has them all."""


@documented
def build_websplit(
    webnlg: Path,
    to: str = "websplit-v1.0:websplit",
    category: list[str] | None = None,
    across: bool = False,
    max_references: OptionalCount = None,
    seed: int = 0,
    tokens: bool = False,
    output_format: ReportFormatOption = ReportFormat.TEXT,
) -> None:
    """Build WebSplit from WebNLG: complex sentences and the sequences of simple ones that say the
    same triples.

    The files are large (1 GB for WebNLG's release 2); they appear when all is written. The counts
    are printed beside those of the papers.

    Options:
    WEBNLG: WebNLG's XML files: their folder, or a tar archive of it.
    --to, -t CORPUS: What to write, FORMAT:FILE.
    --category NAME: Only this category of WebNLG; can be repeated. WebSplit v0.1 has Astronaut,
        Building, Monument, SportsTeam, University and WrittenWork.
    --across: Put texts of different categories together, too.
    --max-references N: Sample at most N references of each complex sentence; the default is all.
    --seed S: The same seed samples the same references.
    --tokens: Put spaces between words and marks, as the releases do.
    """
    target = parse_corpus(to)
    out = Output()
    entries = _of_categories(read_webnlg(webnlg), category or [])
    known = verbalisations(entries, across=across, tokenised=tokens)
    kept: list[Example] = []
    with Progress(len(known.sources), out) as progress:
        examples = build(known, max_references=max_references, seed=seed)
        first = next(examples, None)
        if first is None:
            raise InputError(f"{webnlg} has no sentence that simpler ones could rewrite.")
        passing = counting(keeping(chain([first], examples), kept), progress, 1)
        form = FORMATS.load(target.format)
        if isinstance(form, WebSplit) and len(target.paths) == 1:
            written = form.write_benchmark(passing, target.paths[0], known.names)
        else:
            written = form.write(passing, target.paths)
    out.write(_build_report(known, part_counts(kept)).render(output_format))
    warn(f"{counted(written, 'complex sentence')} written to {target.paths[0]}.")


def _of_categories(entries: Iterable[Entry], wanted: Sequence[str]) -> Iterator[Entry]:
    met: set[str] = set()
    for entry in entries:
        met.add(entry.name.category)
        if not wanted or entry.name.category in wanted:
            yield entry
    for name in wanted:
        if name not in met:
            raise InputError(
                f'There is no category "{name}" in WebNLG\'s files; they have '
                f"{', '.join(sorted(met))}."
            )


def _build_report(known: Verbalisations, counts: PartCounts) -> Report:
    """The counts beside those of the papers."""
    triples = [triple for triples in known.names for triple in triples]
    here = {
        "RDF entities": (2 * known.triples, len(entities(triples))),
        "RDF relations": (known.triples, len(relations(triples))),
        "complex sentences": (counts.complex, counts.complex_unique),
        "simple sentences": (counts.simple, counts.simple_unique),
    }
    papers = published()
    rows = [
        (row, *_numbers(*cell, *papers["v0.1"][row], *papers["v1.0"].get(row, (-1, -1))))
        for row, cell in here.items()
    ]
    summary = (
        f"{counted(known.texts, 'text')} of {counted(known.entries, 'triple set')} read, "
        f"{counted(known.left_out, 'text')} not marked as good left out; "
        f"{len(known.sources) - counts.complex_unique:,} of {len(known.sources):,} complex "
        "sentences have no reference"
    )
    webnlg = {
        "triple_sets": known.entries,
        "texts": known.texts,
        "texts_left_out": known.left_out,
        "triples": known.triples,
        "complex_sentences": len(known.sources),
    }
    table = Table(("", "here", "unique", "v0.1", "unique", "v1.0", "unique"), rows)
    record = {"webnlg": webnlg, "websplit": asdict(counts)}
    return Report("WebSplit in numbers", [table, Notes([summary])], record, bare=True)


SplitBy = StrEnum("SplitBy", "TRIPLES CHANCE")
"""What a split of a corpus goes by."""


@documented
def split(
    corpus: CorpusArgument,
    by: SplitBy = SplitBy.TRIPLES,
    output: Path | None = None,
    shares: str = "80/10/10",
    seed: int = 0,
    output_format: ReportFormatOption = ReportFormat.TEXT,
    strict: StrictOption = False,
) -> None:
    """Split a corpus by its triples, such that none is in two parts and each relation in training.

    The conditions are those of Aharoni and Goldberg (2018). Sentences are dropped only where the
    parts could not be filled otherwise, and counted. `parataxis corpus verify` checks the result.

    Options:
    --by: Split by triples, or by chance, as the first WebSplit was: then facts leak.
    --output, -o FILE: The JSON file of the parts; for a WebSplit folder, its own is the default.
    --shares A/B/C: Per cent for train, validation and test.
    --seed S: The same seed makes the same split.
    """
    (source,) = parse_corpora([corpus])
    wanted = _shares(shares)
    path = output or _parts_file(source, "--output")
    kept: list[Example] = []
    out = Output()
    with Progress(None, out) as progress:
        examples = group(read_corpus(source, strict=strict))
        for _ in counting(keeping(examples, kept), progress):
            pass
    found, parts = _split(kept, wanted, seed, source.label, by)
    ids = {part.upper(): [each.id for each in examples] for part, examples in parts.items()}
    write_parts(path, {part: each for part, each in ids.items() if each or part != "DROPPED"})
    out.write(_split_report(found, parts, by).render(output_format))
    for part, share, size in zip(_PARTS[1:], wanted, found.wanted, strict=True):
        made = len(getattr(found, part))
        if made < (1 - splitting.TOLERANCE) * size or (share and not made):
            warn(
                f"The part {part} has {made:,} of {counted(max(size, 1), 'complex sentence')} that "
                "it should have: the triples tie too many together."
            )
    warn(f"The parts are written to {path}.")


def _shares(text: str) -> tuple[float, float]:
    try:
        train, validation, test = (float(part) for part in text.split("/"))
    except ValueError:
        train = validation = test = -1.0
    if min(train, validation, test) < 0 or abs(train + validation + test - 100) > 1e-6:
        raise InputError(f'The shares "{text}" must be three numbers such as 80/10/10, 100 in all.')
    return validation / 100, test / 100


def _parts_file(corpus: Corpus, option: str) -> Path:
    form = FORMATS.load(corpus.format)
    if isinstance(form, WebSplit) and corpus.paths[0].is_dir():
        return corpus.paths[0] / form.parts_file
    raise InputError(f"Name the file of the parts with {option}.")


def _split(
    examples: Sequence[Example], shares: tuple[float, float], seed: int, label: str, by: SplitBy
) -> tuple[splitting.DataSplit, dict[str, list[Example]]]:
    """The split of the different sources, and the examples of each part."""
    triples: dict[str, frozenset[Triple]] = {}
    for each in examples:
        triples[each.source] = triples.get(each.source, frozenset()) | each.triples
    if by is SplitBy.TRIPLES and not any(triples.values()):
        raise InputError(f"{label} has no triples; a split by triples needs them.")
    known, by_chance = list(triples.values()), by is SplitBy.CHANCE
    found = splitting.split(known, shares=shares, seed=seed, by_chance=by_chance)
    names, sources = (*_PARTS, "dropped"), list(triples)
    part_of = {sources[index]: part for part in names for index in getattr(found, part)}
    parts: dict[str, list[Example]] = {part: [] for part in names}
    for each in examples:
        parts[part_of[each.source]].append(each)
    return found, parts


def _split_report(
    found: splitting.DataSplit, parts: dict[str, list[Example]], by: SplitBy
) -> Report:
    """The counts of each part beside those of the paper, and what of it is in training."""
    counts = {part: part_counts(parts[part]) for part in _PARTS}
    record: dict[str, object] = {part: asdict(each) for part, each in counts.items()}
    whole = sum(len(getattr(found, part)) for part in (*_PARTS, "dropped"))
    papers = published()
    rows = []
    for part, each in counts.items():
        share = f"{100 * each.complex_unique / whole:.1f}"
        ours = {"complex": (each.complex, each.complex_unique, share)}
        ours["simple"] = (each.simple, each.simple_unique, "")
        for side, (total, unique, shown) in ours.items():
            label, paper = f"{part} {side} sentences", _numbers(*papers[f"{by} {part}"][side])
            rows.append((label, *_numbers(total, unique), shown, *paper))
    header = ("", "count", "unique", "% of unique", "A&G 2018", "unique")
    blocks: list[Block] = [Table(header, rows)]
    # As ``parataxis corpus leaks`` counts it.
    held_out = {part: parts[part] for part in _PARTS[1:]}
    for part, seen in find_overlaps(parts["train"], held_out, near=1.0).items():
        record[part] = {**asdict(counts[part]), "in_training": overlap_records(seen)}
        blocks += [ReportParagraph(f"{part} in train"), overlap_table(seen)]
    summary = (
        f"{counted(found.groups, 'group')} of sentences tied by triples, the largest of "
        f"{found.largest:,}; {counted(len(found.dropped), 'sentence')} dropped"
    )
    record |= {
        "dropped": len(found.dropped),
        "groups": found.groups,
        "largest_group": found.largest,
    }
    return Report(f"A split by {by}", [*blocks, Notes([summary])], record, bare=True)


@documented
def verify(
    corpora: list[str],
    train: list[str] | None = None,
    parts: Path | None = None,
    fail: bool = False,
    output_format: ReportFormatOption = ReportFormat.TEXT,
    strict: StrictOption = False,
) -> None:
    """Verify a split by triples: each relation is in training, no triple is in two parts.

    Works on any split of a corpus that has triples, no matter how it was made. It also reports a
    complex sentence that occurs in two parts, and an empty part.

    Options:
    CORPUS...: The parts other than training, or a whole corpus that --parts divides:
        FORMAT:FILE,FILE (see `parataxis corpus formats`); the format may be left out where the
        names of the files tell it, and - is standard input.
    --train CORPUS: The training part; can be repeated.
    --parts FILE: The JSON file of the parts; for a WebSplit folder, its own is the default.
    --fail: Exit with code 1 if a condition is violated.
    """
    chosen = parse_corpora(corpora)
    trained = parse_corpora(train or [])
    if not trained and len(chosen) > 1:
        raise InputError("Name the training part with --train, or one corpus and its --parts.")
    if trained and parts:
        raise InputError("--train and --parts exclude each other: the file says what is training.")
    out = Output()
    with Progress(None, out) as progress:
        if trained:
            examples = _named_parts(trained, chosen, progress, strict=strict)
        else:
            path = parts or _parts_file(chosen[0], "--parts")
            examples = _divided(chosen[0], path, progress, strict=strict)
        verdict = verifying.verify(examples)
    if verdict.sources == verdict.without_triples:
        raise InputError("The corpus has no triples; there is nothing to verify.")
    out.write(_verdict_report(verdict).render(output_format))
    if verdict.without_triples:
        warn(f"{counted(verdict.without_triples, 'source')} without triples cannot be verified.")
    if fail and verdict.violations:
        raise typer.Exit(1)


def _named_parts(
    trained: Sequence[Corpus], others: Sequence[Corpus], progress: Progress, *, strict: bool
) -> dict[str, Iterable[Example]]:
    training = chain.from_iterable(read_corpus(each, strict=strict) for each in trained)
    parts: dict[str, Iterable[Example]] = {"train": counting(training, progress)}
    for number, each in enumerate(others, start=1):
        name = each.label if each.label not in parts else f"{each.label} ({number})"
        parts[name] = counting(read_corpus(each, strict=strict), progress)
    return parts


def _divided(
    corpus: Corpus, path: Path, progress: Progress, *, strict: bool
) -> dict[str, Iterable[Example]]:
    """The examples of each part, without their references; those in no part, and those that the
    file lists as dropped, are counted."""
    parts_of: dict[str, set[str]] = {}  # a faulty file may give an example to two parts
    for name, ids in read_parts(path).items():
        for id_ in ids:
            parts_of.setdefault(id_, set()).add(name.lower())
    parts: dict[str, list[Example]] = {part: [] for part in _PARTS}
    dropped: list[Example] = []
    outside = 0
    for example in counting(read_corpus(corpus, strict=strict), progress):
        bare = replace(example, references=(), reference_triples=())
        for part in parts_of.get(example.id, ()):
            parts.get(part, dropped).append(bare)
        outside += example.id not in parts_of
    if dropped:
        warn(f"{counted(len(dropped), 'example')} of {corpus.label} dropped, as {path} says.")
    if outside:
        warn(f"{counted(outside, 'example')} of {corpus.label} in no part of {path}.")
    return {**parts}


def _verdict_report(verdict: verifying.Verdict) -> Report:
    violations = verdict.violations
    shown = [str(each) for each in violations[:_SHOWN]]
    if len(violations) > _SHOWN:
        shown.append(f"... and {len(violations) - _SHOWN:,} more; --format json lists all.")
    by_condition = [
        (condition.value, str(sum(each.condition is condition for each in violations)))
        for condition in verifying.Condition
    ]
    looked_at = (
        f"{counted(verdict.sources, 'source')}, {counted(verdict.triples, 'triple')} and "
        f"{counted(verdict.relations, 'relation')} looked at"
    )
    sizes = [(part, f"{size:,}") for part, size in verdict.sizes.items()]
    blocks: list[Block] = [
        *([Notes(shown)] if shown else []),
        Table(("part", "sources"), sizes),
        Table(("condition", "violations"), by_condition),
        Notes([looked_at]),
    ]
    return Report("A split by triples, verified", blocks, asdict(verdict), bare=True)


def _numbers(*numbers: int) -> list[str]:
    """Cells of a table; a number that the papers do not print is negative."""
    return [f"{number:,}" if number >= 0 else "" for number in numbers]
