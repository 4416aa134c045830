"""``parataxis corpus``: read, write, describe and compare corpora of split sentences."""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from parataxis.cli.terminal import Progress, ReaderGoneError, is_reader_gone, open_output, warn
from parataxis.errors import InputError
from parataxis.evaluate.corpora import describe as corpora
from parataxis.evaluate.corpora.describe import ZHANG_2020, CorpusDescription, Filter
from parataxis.evaluate.corpora.example import Example, gather
from parataxis.evaluate.corpora.leaks import NEAR, Leak, Overlap, Overlaps, find_overlaps
from parataxis.evaluate.corpora.registry import Corpus, corpus_formats, load_format, parse_corpus
from parataxis.evaluate.corpora.sentences import on_one_line, running_text
from parataxis.report import counted, plain_table
from parataxis.syntax.patterns import Pattern, PatternTable
from parataxis.text.files import Malformed, ReadReport, write_files
from parataxis.text.inputs import STDIN

# What the corpus commands share: how a corpus is named, read, and its malformed lines told.

_SHOWN = 10
"""Malformed lines that are told one by one; the others are counted."""

CORPUS_HELP = (
    "FORMAT:FILE,FILE (see `parataxis corpus formats`); the format may be left out where the names "
    "of the files tell it, and - is standard input."
)

CorpusArgument = Annotated[
    str, typer.Argument(metavar="CORPUS", show_default=False, help=CORPUS_HELP)
]
StrictOption = Annotated[
    bool, typer.Option("--strict", help="Stop at the first malformed line; else they are told.")
]


class TableFormat(StrEnum):
    """How a table is written."""

    TEXT = "text"
    JSON = "json"


TableFormatOption = Annotated[
    TableFormat, typer.Option("--format", "-f", help="A table, or JSON for programs.")
]


def parse_corpora(words: Iterable[str]) -> list[Corpus]:
    """The corpora that the words name; standard input can be only one of them."""
    corpora = [parse_corpus(word) for word in words]
    if sum(str(path) == "-" for corpus in corpora for path in corpus.paths) > 1:
        raise InputError("Standard input (-) can be read only once.")
    return corpora


def read_corpus(corpus: Corpus, *, strict: bool) -> Iterator[Example]:
    """The examples of a corpus. Malformed lines are told on standard error, the first ones one by
    one; a corpus without any example is an error."""
    report = ReadReport(strict=strict)

    def tell(malformed: Malformed) -> None:
        if report.malformed <= _SHOWN:
            warn(f"{malformed}.")

    report.tell = tell
    is_empty = True
    for example in corpus.read(report):
        is_empty = False
        yield example
    if report.malformed:
        warn(_summary(report))
    if is_empty:
        raise InputError(f"{corpus.label} holds no example that can be used.")


def counting(examples: Iterable[Example], progress: Progress) -> Iterator[Example]:
    """The examples, with the progress shown."""
    for example in examples:
        progress.advance(0, 1)
        yield example


def _summary(report: ReadReport) -> str:
    reasons = ", ".join(f"{reason} ({n:,})" for reason, n in report.reasons.items())
    return f"{counted(report.malformed, 'malformed line')} of {report.lines:,}: {reasons}."


# ``parataxis corpus collect``: draw complex sentences for a study or a benchmark.

_RANGE = re.compile(r"(\d*)-(\d*)")


class SentenceFormat(StrEnum):
    """How the sentences are written."""

    TEXT = "text"
    JSONL = "jsonl"


def collect(
    corpus: CorpusArgument,
    number: Annotated[
        int, typer.Option("--number", "-n", min=1, metavar="N", help="How many sentences.")
    ] = 500,
    seed: Annotated[
        int, typer.Option("--seed", metavar="S", help="The same seed draws the same sentences.")
    ] = 0,
    pattern: Annotated[
        str,
        typer.Option(
            "--pattern",
            metavar="REGEX",
            help="What the whole sentence must match; by default only letters, digits, white "
            "space, commas and full stops, as in Zhang et al. 2020.",
        ),
    ] = ZHANG_2020,
    tokens: Annotated[
        str,
        typer.Option("--tokens", metavar="MIN-MAX", help="How long a sentence may be: 15-60, 15-."),
    ] = "-",
    exclude: Annotated[
        list[str] | None,
        typer.Option(
            "--exclude",
            metavar="CORPUS",
            help="Do not draw sources of this corpus, a training set say; several times.",
        ),
    ] = None,
    output_format: Annotated[
        SentenceFormat,
        typer.Option("--format", "-f", help="A sentence on each line, or JSON lines with ids."),
    ] = SentenceFormat.TEXT,
    output: Annotated[
        Path,
        typer.Option("--output", "-o", metavar="FILE", help="Where to write; - shows them."),
    ] = Path(STDIN),
    strict: StrictOption = False,
) -> None:
    """Draw complex sentences at random from a corpus.

    Each different source can be drawn once. What was drawn from how many is told on standard error.
    """
    chosen = Filter(pattern, *_range(tokens))
    source, *others = parse_corpora([corpus, *(exclude or [])])
    with open_output(None) as out, Progress(None, out) as progress:
        found = corpora.collect(
            counting(read_corpus(source, strict=strict), progress),
            number,
            chosen=chosen,
            seed=seed,
            exclude=(each for other in others for each in read_corpus(other, strict=strict)),
        )
        lines = [_WRITERS[output_format](each) for each in found.sentences]
        if str(output) == STDIN:
            out.write("".join(f"{line}\n" for line in lines))
        else:
            with write_files([output]) as (write,):
                for line in lines:
                    write(line)
    drawn = counted(len(found.sentences), "sentence")
    warn(
        f"Drew {drawn} of {found.passed:,} that pass the filter, out of {found.different:,} "
        f"different sources; seed {seed}."
    )
    if len(found.sentences) < number:
        warn(f"These are fewer than the {number:,} asked for.")


def _range(text: str) -> tuple[int, int | None]:
    match = _RANGE.fullmatch(text.strip())
    if match is None:
        raise InputError(f'"{text}" is not a range of tokens; write MIN-MAX, such as 15-60.')
    return int(match[1] or 1), int(match[2]) if match[2] else None


def _record(example: Example) -> str:
    return json.dumps({"id": example.id, "source": example.source}, ensure_ascii=False)


_WRITERS = {
    SentenceFormat.TEXT: lambda example: on_one_line(example.source),
    SentenceFormat.JSONL: _record,
}


# ``parataxis corpus formats`` and ``parataxis corpus convert``.


def formats(output_format: TableFormatOption = TableFormat.TEXT) -> None:
    """List the corpus formats that can be read and written."""
    found = corpus_formats()
    with open_output(None) as out:
        if output_format is TableFormat.JSON:
            records = [asdict(each) for each in found]
            out.write(json.dumps(records, ensure_ascii=False, indent=1) + "\n")
            return
        rows = [
            (
                each.name,
                each.summary if each.problem is None else f"(unusable) {each.problem}",
                each.distribution,
            )
            for each in found
        ]
        out.write(plain_table(("format", "its files", "comes with"), rows))


def convert(
    corpus: CorpusArgument,
    to: Annotated[
        str,
        typer.Option(
            "--to",
            "-t",
            metavar="CORPUS",
            help="What to write, FORMAT:FILE,FILE; - is standard output.",
        ),
    ] = "jsonl:-",
    gathered: Annotated[
        bool,
        typer.Option(
            "--gather",
            help="Put all references of a source together, wherever they stand (in memory).",
        ),
    ] = False,
    join_tokens: Annotated[
        bool,
        typer.Option("--join-tokens", help="Make running text of Penn Treebank tokens."),
    ] = False,
    strict: StrictOption = False,
) -> None:
    """Write a corpus in another format.

    The files appear when all is written; a format that cannot hold something says so.
    """
    (source,) = parse_corpora([corpus])
    target = parse_corpus(to)
    _check_paths(source, target)
    with open_output(None) as out, Progress(None, out) as progress:
        examples: Iterable[Example] = counting(read_corpus(source, strict=strict), progress)
        if join_tokens:
            examples = map(_joined, examples)
        if gathered:
            examples = gather(examples)
        try:
            written = load_format(target.format).write(examples, target.paths)
        except BrokenPipeError as error:
            raise ReaderGoneError from error
        except OSError as error:
            if is_reader_gone(error):
                raise ReaderGoneError from error
            raise
    if Path(STDIN) not in target.paths:
        warn(f"{counted(written, 'source')} written to {', '.join(map(str, target.paths))}.")


def _check_paths(source: Corpus, target: Corpus) -> None:
    for path in target.paths:
        if path.exists() and any(each.exists() and path.samefile(each) for each in source.paths):
            raise InputError(f"{path} is also an input; write the output to another file.")
    if len(set(target.paths)) < len(target.paths):
        raise InputError("Each file of the output needs a name of its own.")


def _joined(example: Example) -> Example:
    def each(reference: tuple[str, ...]) -> Iterator[str]:
        return map(running_text, reference)

    return replace(
        example,
        source=running_text(example.source),
        references=tuple(tuple(each(reference)) for reference in example.references),
    )


# ``parataxis corpus describe``: corpora in numbers, side by side.


def describe(
    corpus: Annotated[
        list[str],
        typer.Argument(metavar="CORPUS...", show_default=False, help=CORPUS_HELP),
    ],
    patterns: Annotated[
        int,
        typer.Option(
            "--patterns",
            "-p",
            min=0,
            metavar="N",
            help="Count the seven patterns in a random sample of N complex sentences.",
        ),
    ] = 0,
    seed: Annotated[
        int, typer.Option("--seed", metavar="S", help="The same seed draws the same sample.")
    ] = 0,
    output_format: TableFormatOption = TableFormat.TEXT,
    strict: StrictOption = False,
) -> None:
    """Describe corpora: counts, lengths, references, patterns.

    A complex sentence counts once for each of its references, a different one once. Averages over
    complex sentences take each different one once; those over the simple side take all.
    """
    chosen = parse_corpora(corpus)
    found = []
    with open_output(None) as out:
        with Progress(None, out) as progress:
            for each in chosen:
                examples = counting(read_corpus(each, strict=strict), progress)
                found.append(corpora.describe(examples, patterns=patterns, seed=seed))
        labels = [each.label for each in chosen]
        if output_format is TableFormat.JSON:
            records = [
                {"corpus": label, **_record_corpus_describe(each)}
                for label, each in zip(labels, found, strict=True)
            ]
            out.write(json.dumps(records, ensure_ascii=False, indent=1) + "\n")
        else:
            out.write(_table(labels, found))


def _record_corpus_describe(description: CorpusDescription) -> dict[str, object]:
    record = {key: value for key, value in asdict(description).items() if key != "patterns"}
    if description.patterns is not None:
        record["patterns"] = {
            "sentences": description.patterns.sentences,
            "per_sentence": round(description.patterns.patterns_per_sentence, 4),
            "counts": {each.value: description.patterns.counts[each] for each in Pattern},
        }
    return record


_ROWS: tuple[tuple[str, Callable[[CorpusDescription], str]], ...] = (
    ("complex sentences", lambda found: f"{found.complex.total:,}"),
    ("  different", lambda found: f"{found.complex.unique:,}"),
    ("pairs", lambda found: f"{found.pairs.total:,}"),
    ("  different", lambda found: f"{found.pairs.unique:,}"),
    ("simple sentences", lambda found: f"{found.simple.total:,}"),
    ("  different", lambda found: f"{found.simple.unique:,}"),
    ("tokens per complex sentence", lambda found: f"{found.tokens_per_complex:.1f}"),
    ("sentences per simple side", lambda found: f"{found.sentences_per_pair:.2f}"),
    ("tokens per simple sentence", lambda found: f"{found.tokens_per_simple:.1f}"),
    ("unsplit, %", lambda found: _percent(found.unsplit, found.pairs.total)),
    ("references per source, least", lambda found: f"{found.references.minimum:,}"),
    ("  median", lambda found: f"{found.references.median:g}"),
    ("  most", lambda found: f"{found.references.maximum:,}"),
    ("  mean", lambda found: f"{found.references.mean:.2f}"),
    ("vocabulary", lambda found: f"{found.vocabulary:,}"),
)
_TRIPLE_ROWS: tuple[tuple[str, Callable[[CorpusDescription], str]], ...] = (
    ("triples", lambda found: f"{found.triples.total:,}"),
    ("  different", lambda found: f"{found.triples.unique:,}"),
    ("relations", lambda found: f"{found.relations:,}"),
    ("entities", lambda found: f"{found.entities:,}"),
)


def _percent(part: int, whole: int) -> str:
    return f"{100 * part / whole:.1f}" if whole else ""


def _table(labels: Sequence[str], found: Sequence[CorpusDescription]) -> str:
    rows = [(name, *map(cell, found)) for name, cell in _ROWS]
    if any(each.triples.total for each in found):
        rows += [(name, *map(cell, found)) for name, cell in _TRIPLE_ROWS]
    tables = [each.patterns for each in found]
    if any(tables):
        rows += _pattern_rows(tables)
    return plain_table(("", *labels), rows, right=range(1, len(labels) + 1))


def _pattern_rows(tables: Sequence[PatternTable | None]) -> list[tuple[str, ...]]:
    def row(name: str, cell: Callable[[PatternTable], str]) -> tuple[str, ...]:
        return (name, *("" if table is None else cell(table) for table in tables))

    def in_hundred(pattern: Pattern) -> tuple[str, ...]:
        return row(f"  {pattern.value}, in 100", lambda table: f"{table.per_hundred(pattern):.0f}")

    return [
        row("sentences looked at for patterns", lambda table: f"{table.sentences:,}"),
        *map(in_hundred, Pattern),
        row("  patterns per sentence", lambda table: f"{table.patterns_per_sentence:.2f}"),
    ]


# What an evaluation set has in common with a training set, as the cells of a table.


def overlap_cells(
    found: Overlaps, allowed: float = 0.0
) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """Header and rows; the last cell says whether that is a leak."""
    header = ("", "found", "of", "%", "different", "of", "%", "")
    return header, [_row(each, allowed) for each in found.leaks]


def _row(leak: Leak, allowed: float) -> tuple[str, ...]:
    return (
        leak.kind.value,
        f"{leak.found:,}",
        f"{leak.total:,}",
        percent(leak.found, leak.total),
        f"{leak.unique_found:,}",
        f"{leak.unique_total:,}",
        percent(leak.unique_found, leak.unique_total),
        "LEAK" if leak.is_leak(allowed) else "",
    )


def percent(part: int, whole: int) -> str:
    """A share in percent.

    >>> percent(1, 3), percent(0, 0)
    ('33.33', '0.00')
    """
    return f"{100 * part / whole:.2f}" if whole else "0.00"


# ``parataxis corpus leaks``: what of an evaluation set stands in a training set.


@dataclass(frozen=True)
class _Comparison:
    train: str
    evaluation: str
    found: Overlaps
    allowed: float

    @property
    def is_leak(self) -> bool:
        return self.found.is_leak(self.allowed)


def leaks(
    evaluation: Annotated[
        list[str],
        typer.Argument(
            metavar="CORPUS...",
            show_default=False,
            help=f"Evaluation sets, dev or test, each {CORPUS_HELP}",
        ),
    ],
    train: Annotated[
        list[str],
        typer.Option(
            "--train",
            metavar="CORPUS",
            help="A training set, named in the same way; several times.",
        ),
    ],
    near: Annotated[
        float,
        typer.Option(
            "--near",
            min=0.5,
            max=1.0,
            metavar="J",
            help="Texts that share this part of their word 3-grams (Jaccard) are nearly the same; "
            "1 looks for none.",
        ),
    ] = NEAR,
    show: Annotated[
        int,
        typer.Option(
            "--show", min=0, max=5, metavar="N", help="Show up to N texts of each kind of leak."
        ),
    ] = 0,
    allow: Annotated[
        float,
        typer.Option(
            "--allow",
            min=0.0,
            max=100.0,
            metavar="P",
            help="Accept P % of texts in common: short ones can be the same by chance.",
        ),
    ] = 0.0,
    fail: Annotated[
        bool, typer.Option("--fail", help="Exit with code 1 if anything leaks.")
    ] = False,
    output_format: TableFormatOption = TableFormat.TEXT,
    strict: StrictOption = False,
) -> None:
    """Check what of an evaluation set stands in a training set.

    Sources, simple sentences and triples that also stand in training leak; vocabulary, names and
    relations in common are no leak, and are shown because results depend on them. A set of which
    most sources are in training leaks, whatever is allowed.
    """
    sets, trains = parse_corpora(evaluation), parse_corpora(train)
    comparisons = []
    with open_output(None) as out:
        with Progress(None, out) as progress:
            for each in trains:
                parts = {str(n): read_corpus(part, strict=strict) for n, part in enumerate(sets)}
                examples = counting(read_corpus(each, strict=strict), progress)
                overlaps = find_overlaps(examples, parts, near=near).values()
                comparisons += [
                    _Comparison(each.label, part.label, found, allow / 100)
                    for part, found in zip(sets, overlaps, strict=True)
                ]
        if output_format is TableFormat.JSON:
            records = [_record_corpus_leaks(each) for each in comparisons]
            out.write(json.dumps(records, ensure_ascii=False, indent=1) + "\n")
        else:
            out.write("\n".join(_text(each, show) for each in comparisons))
    if fail and any(each.is_leak for each in comparisons):
        raise typer.Exit(1)


def _record_corpus_leaks(comparison: _Comparison) -> dict[str, object]:
    return {
        "train": comparison.train,
        "evaluation": comparison.evaluation,
        "leak": comparison.is_leak,
        "inside": round(comparison.found.inside, 4),
        "overlaps": overlap_records(comparison.found, comparison.allowed),
    }


def overlap_records(found: Overlaps, allowed: float = 0.0) -> list[dict[str, object]]:
    """What was found in training, for JSON."""
    return [{**asdict(each), "leak": each.is_leak(allowed)} for each in found.leaks]


def overlap_table(found: Overlaps, allowed: float = 0.0) -> str:
    """What was found in training, as a table."""
    header, rows = overlap_cells(found, allowed)
    return plain_table(header, rows, right=range(1, 7))


def _text(comparison: _Comparison, show: int) -> str:
    head = f"{comparison.evaluation} in {comparison.train}\n"
    table = overlap_table(comparison.found, comparison.allowed)
    return head + table + "".join(_loud(comparison, show))


def _loud(comparison: _Comparison, show: int) -> Iterator[str]:
    """A line for each leak, and what it is about."""
    for leak in comparison.found.leaks:
        if not leak.is_leak(comparison.allowed):
            continue
        yield (
            f"LEAK: {leak.unique_found:,} of {leak.unique_total:,} different {_noun(leak.kind)} "
            f"of {comparison.evaluation} stand {_how(leak.kind)}in {comparison.train}.\n"
        )
        for sight in leak.sights[:show]:
            yield f"  {sight.text}\n"
            if sight.text != sight.seen:
                yield f"  {sight.seen} ({sight.jaccard:.2f})\n"
            yield f"    {sight.id}\n"
    if comparison.found.is_inside:
        inside = comparison.found.inside
        share = "All" if inside == 1 else f"{100 * inside:.0f} %"
        yield (
            f"LEAK: {comparison.evaluation} sits inside {comparison.train}: {share} of its sources "
            "are there. Do not train on the one and report results on the other.\n"
        )
    if not comparison.is_leak:
        yield "No leak.\n"


def _noun(kind: Overlap) -> str:
    return kind.value.partition(",")[0]


def _how(kind: Overlap) -> str:
    return "nearly " if kind in (Overlap.NEAR_SOURCES, Overlap.NEAR_SIMPLE) else ""
