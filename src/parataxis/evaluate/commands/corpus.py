"""``parataxis corpus`` (formats, convert, collect, describe, leaks) and ``parataxis patterns``."""

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, replace
from enum import StrEnum
from itertools import chain
from operator import attrgetter
from pathlib import Path
from typing import Annotated, Any, NamedTuple, TypeVar

import typer

from parataxis.cli.options import (
    Count,
    Inputs,
    Natural,
    OptionalCount,
    ReportFormatOption,
    documented,
)
from parataxis.cli.terminal import (
    Output,
    Progress,
    ReaderGoneError,
    is_reader_gone,
    open_output,
    warn,
)
from parataxis.errors import InputError
from parataxis.evaluate.corpora import describe as corpora
from parataxis.evaluate.corpora.describe import ZHANG_2020, CorpusDescription, Filter
from parataxis.evaluate.corpora.example import Example, gather
from parataxis.evaluate.corpora.leaks import NEAR, Overlap, Overlaps, find_overlaps
from parataxis.evaluate.corpora.registry import FORMATS, Corpus, parse_corpus
from parataxis.evaluate.corpora.sentences import on_one_line, running_text
from parataxis.report import Block, Notes, Report, ReportFormat, ReportParagraph, Table, counted
from parataxis.run.files import DataFormat
from parataxis.run.inspect import (
    InputFormatOption,
    analyse_batches,
    find_sentences,
    read_sentences,
    total_size,
)
from parataxis.syntax.analysis import Analysis
from parataxis.syntax.patterns import Pattern, PatternTable, draw_sample, pattern_table
from parataxis.text.files import Malformed, ReadReport, write_files
from parataxis.text.inputs import STDIN

T = TypeVar("T")

_SHOWN = 10
"""Malformed lines that are reported one by one; the others are only counted."""

CORPUS_HELP = (
    "FORMAT:FILE,FILE (see `parataxis corpus formats`); the format may be left out where the names "
    "of the files tell it, and - is standard input."
)

CorpusArgument = Annotated[
    str, typer.Argument(metavar="CORPUS", show_default=False, help=CORPUS_HELP)
]
SeedOption = Annotated[
    int, typer.Option("--seed", metavar="S", help="The same seed draws the same sample.")
]
StrictOption = Annotated[
    bool, typer.Option("--strict", help="Stop at the first malformed line instead of reporting it.")
]


def parse_corpora(words: Iterable[str]) -> list[Corpus]:
    """The corpora that the words name; standard input can be only one of them."""
    corpora = [parse_corpus(word) for word in words]
    if sum(str(path) == STDIN for corpus in corpora for path in corpus.paths) > 1:
        raise InputError("Standard input (-) can be read only once.")
    return corpora


def counting(items: Iterable[T], progress: Progress, size: int = 0) -> Iterator[T]:
    """The items, each counted by the progress bar, of which it fills ``size``."""
    for item in items:
        progress.advance(size, 1)
        yield item


def read_corpus(corpus: Corpus, *, strict: bool) -> Iterator[Example]:
    """The examples of a corpus. Malformed lines are reported on standard error; a corpus without
    any example is an error."""
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
        reasons = ", ".join(f"{reason} ({n:,})" for reason, n in report.reasons.items())
        bad = counted(report.malformed, "malformed line")
        warn(f"{bad} of {report.lines:,}: {reasons}.")
    if is_empty:
        raise InputError(f"{corpus.label} holds no example that can be used.")


SentenceFormat = StrEnum("SentenceFormat", "TEXT JSONL")
"""How drawn sentences are written."""


@documented
def collect(
    corpus: CorpusArgument,
    number: Count = 500,
    seed: SeedOption = 0,
    pattern: str = ZHANG_2020,
    tokens: str = "-",
    exclude: list[str] | None = None,
    format_: SentenceFormat = SentenceFormat.TEXT,
    output: Path = Path(STDIN),
    strict: StrictOption = False,
) -> None:
    """Draw complex sentences at random from a corpus.

    Each different source can be drawn once. The counts are reported on standard error.

    Options:
    --number, -n N: The number of sentences.
    --pattern REGEX: A regular expression for the whole sentence; by default only letters, digits,
        white space, commas and full stops, as in Zhang et al. 2020.
    --tokens MIN-MAX: The length of a sentence: 15-60, 15-.
    --exclude CORPUS: Do not draw sources of this corpus, such as a training set; repeatable.
    --format, -f: A sentence on each line, or JSON lines with ids.
    --output, -o FILE: The output file; - is standard output.
    """
    lengths = re.fullmatch(r"(\d*)-(\d*)", tokens.strip())
    if lengths is None:
        raise InputError(f'"{tokens}" is not a range of tokens; write MIN-MAX, such as 15-60.')
    longest = int(lengths[2]) if lengths[2] else None
    chosen = Filter(pattern, int(lengths[1] or 1), longest)
    source, *others = parse_corpora([corpus, *(exclude or [])])
    with open_output(None) as out, Progress(None, out) as progress:
        found = corpora.collect(
            counting(read_corpus(source, strict=strict), progress),
            number,
            chosen=chosen,
            seed=seed,
            exclude=(each for other in others for each in read_corpus(other, strict=strict)),
        )
        lines = [on_one_line(each.source) for each in found.sentences]
        if format_ is SentenceFormat.JSONL:
            records = [{"id": each.id, "source": each.source} for each in found.sentences]
            lines = [json.dumps(record, ensure_ascii=False) for record in records]
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


def formats(output_format: ReportFormatOption = ReportFormat.TEXT) -> None:
    """List the corpus formats that can be read and written."""
    found = FORMATS.available()
    rows = [(each.name, each.about, each.distribution) for each in found]
    table = Table(("format", "its files", "comes with"), rows, names=3)
    record = [asdict(each) for each in found]
    Output().write(Report("Corpus formats", [table], record, bare=True).render(output_format))


@documented
def convert(
    corpus: CorpusArgument,
    to: str = "jsonl:-",
    gather_: bool = False,
    join_tokens: bool = False,
    strict: StrictOption = False,
) -> None:
    """Write a corpus in another format.

    The files appear when everything is written. It is an error if the format cannot represent
    something.

    Options:
    --to, -t CORPUS: The output, FORMAT:FILE,FILE; - is standard output.
    --gather: Merge all references of a source, wherever they are (in memory).
    --join-tokens: Turn Penn Treebank tokens into running text.
    """
    (source,) = parse_corpora([corpus])
    target = parse_corpus(to)
    for path in target.paths:
        if path.exists() and any(each.exists() and path.samefile(each) for each in source.paths):
            raise InputError(f"{path} is also an input; write the output to another file.")
    if len(set(target.paths)) < len(target.paths):
        raise InputError("Each file of the output needs a name of its own.")
    with open_output(None) as out, Progress(None, out) as progress:
        examples: Iterable[Example] = counting(read_corpus(source, strict=strict), progress)
        if join_tokens:
            examples = map(_with_running_text, examples)
        if gather_:
            examples = gather(examples)
        try:
            written = FORMATS.load(target.format).write(examples, target.paths)
        except OSError as error:
            if isinstance(error, BrokenPipeError) or is_reader_gone(error):
                raise ReaderGoneError from error
            raise
    if Path(STDIN) not in target.paths:
        warn(f"{counted(written, 'source')} written to {', '.join(map(str, target.paths))}.")


def _with_running_text(example: Example) -> Example:
    references = tuple(tuple(map(running_text, each)) for each in example.references)
    return replace(example, source=running_text(example.source), references=references)


@documented
def describe(
    corpus: Annotated[list[str], typer.Argument(metavar="CORPUS...", help=CORPUS_HELP)],
    patterns: Natural = 0,
    seed: SeedOption = 0,
    output_format: ReportFormatOption = ReportFormat.TEXT,
    strict: StrictOption = False,
) -> None:
    """Describe corpora: counts, lengths, references, patterns.

    A complex sentence counts once for each of its references. Averages over complex sentences
    count each different one once; those over the simple side count all.

    Options:
    --patterns, -p N: Count the seven patterns in a random sample of N complex sentences.
    """
    chosen = parse_corpora(corpus)
    found = []
    out = Output()
    with Progress(None, out) as progress:
        for each in chosen:
            examples = counting(read_corpus(each, strict=strict), progress)
            found.append(corpora.describe(examples, patterns=patterns, seed=seed))
    report = _description_report([each.label for each in chosen], found)
    out.write(report.render(output_format))


_ROWS = (
    ("complex sentences", "complex.total", ","),
    ("  different", "complex.unique", ","),
    ("pairs", "pairs.total", ","),
    ("  different", "pairs.unique", ","),
    ("simple sentences", "simple.total", ","),
    ("  different", "simple.unique", ","),
    ("tokens per complex sentence", "tokens_per_complex", ".1f"),
    ("sentences per simple side", "sentences_per_pair", ".2f"),
    ("tokens per simple sentence", "tokens_per_simple", ".1f"),
    ("unsplit, %", "unsplit_percent", ""),
    ("references per source, least", "references.minimum", ","),
    ("  median", "references.median", "g"),
    ("  most", "references.maximum", ","),
    ("  mean", "references.mean", ".2f"),
    ("vocabulary", "vocabulary", ","),
)
_TRIPLE_ROWS = (
    ("triples", "triples.total", ","),
    ("  different", "triples.unique", ","),
    ("relations", "relations", ","),
    ("entities", "entities", ","),
)
_PATTERN_ROWS = (
    "sentences looked at for patterns",
    *(f"  {pattern.value}, in 100" for pattern in Pattern),
    "  patterns per sentence",
)


def _description_report(labels: Sequence[str], found: Sequence[CorpusDescription]) -> Report:
    shown = _ROWS + (_TRIPLE_ROWS if any(each.triples.total for each in found) else ())
    rows = [
        (name, *(format(attrgetter(figure)(each), form) for each in found))
        for name, figure, form in shown
    ]
    records, columns = [], []
    for label, each in zip(labels, found, strict=True):
        record = {"corpus": label, **asdict(replace(each, patterns=None))}
        column = [""] * len(_PATTERN_ROWS)
        del record["patterns"]
        if (table := each.patterns) is not None:
            shares = [f"{table.per_hundred(pattern):.0f}" for pattern in Pattern]
            column = [f"{table.sentences:,}", *shares, f"{table.patterns_per_sentence:.2f}"]
            record["patterns"] = {
                "sentences": table.sentences,
                "per_sentence": round(table.patterns_per_sentence, 4),
                "counts": {each.value: table.counts[each] for each in Pattern},
            }
        records.append(record)
        columns.append(column)
    if any(each.patterns for each in found):
        rows += zip(_PATTERN_ROWS, *columns, strict=True)
    return Report("Corpora", [Table(("", *labels), rows)], records, bare=True)


@documented
def patterns(
    inputs: Inputs = None,
    sample: OptionalCount = None,
    seed: SeedOption = 0,
    output_format: ReportFormatOption = ReportFormat.TEXT,
    input_format: InputFormatOption = DataFormat.AUTO,
) -> None:
    """Count the patterns at which sentences could be split.

    For each of the seven patterns: the number of sentences that have it, their percentage, and the
    number of occurrences.

    Options:
    --sample, -n N: Count in a random sample of N sentences.
    """
    sources = find_sentences(inputs, input_format)
    too_long = 0

    def readable() -> Iterator[Analysis]:
        nonlocal too_long
        for _, result in analyse_batches(batches):
            if isinstance(result, Analysis):
                yield result
            else:
                too_long += 1

    out = Output()
    with Progress(total_size(sources), out) as progress:
        batches = read_sentences(sources, progress)
        if sample is not None:  # sampled before the analysis, which is what takes the time
            batches = iter([draw_sample(chain.from_iterable(batches), sample, seed=seed)])
        table = pattern_table(readable())
    out.write(_pattern_report(table).render(output_format))
    if too_long:
        warn(f"Not counted, because too long to be analysed: {counted(too_long, 'sentence')}.")


def _pattern_report(table: PatternTable) -> Report:
    rows = [
        (
            pattern.value,
            pattern.plain_name,
            str(table.counts[pattern]),
            f"{table.per_hundred(pattern):.0f}",
            str(table.occurrences[pattern]),
        )
        for pattern in Pattern
    ]
    header = ("pattern", "name", "sentences", "in 100", "occurrences")
    per_sentence = f"{table.patterns_per_sentence:.2f} patterns per sentence"
    summary = ReportParagraph(f"{counted(table.sentences, 'sentence')}, {per_sentence}")
    record = {
        "sentences": table.sentences,
        "patterns_per_sentence": round(table.patterns_per_sentence, 4),
        "counts": {pattern.value: table.counts[pattern] for pattern in Pattern},
        "occurrences": {pattern.value: table.occurrences[pattern] for pattern in Pattern},
    }
    return Report("Patterns", [Table(header, rows, names=2), summary], record, bare=True)


_SETS_HELP = f"Evaluation sets, dev or test, each {CORPUS_HELP}"


@documented
def leaks(
    evaluation: Annotated[list[str], typer.Argument(metavar="CORPUS...", help=_SETS_HELP)],
    train: list[str],
    near: Annotated[float, typer.Option(min=0.5, max=1.0)] = NEAR,
    show: Annotated[int, typer.Option(min=0, max=5)] = 0,
    allow: Annotated[float, typer.Option(min=0.0, max=100.0)] = 0.0,
    fail: bool = False,
    output_format: ReportFormatOption = ReportFormat.TEXT,
    strict: StrictOption = False,
) -> None:
    """Check how much of an evaluation set is in a training set.

    Sources, simple sentences and triples that are also in the training set are leaks. Vocabulary,
    names and relations in common are no leaks; they are shown because results depend on them. A set
    whose sources are mostly in training always leaks.

    Options:
    --train CORPUS: A training set, named in the same way; repeatable.
    --near J: Texts are nearly the same if their word 3-grams overlap this much (Jaccard); 1 looks
        for none.
    --show N: Show up to N texts of each kind of leak.
    --allow P: Accept P % of texts in common: short ones can be equal by chance.
    --fail: Exit with code 1 if anything leaks.
    """
    sets, trains = parse_corpora(evaluation), parse_corpora(train)
    comparisons = []
    out = Output()
    with Progress(None, out) as progress:
        for each in trains:
            parts = {str(n): read_corpus(part, strict=strict) for n, part in enumerate(sets)}
            examples = counting(read_corpus(each, strict=strict), progress)
            overlaps = find_overlaps(examples, parts, near=near).values()
            comparisons += [
                _LeakCheck(each.label, part.label, found, allow / 100)
                for part, found in zip(sets, overlaps, strict=True)
            ]
    blocks = [block for each in comparisons for block in each.blocks(show)]
    records = [each.record() for each in comparisons]
    lines = [line for each in comparisons for line in each.lines()]
    out.write(Report("Leaks", blocks, records, lines, bare=True).render(output_format))
    if fail and any(each.is_leak for each in comparisons):
        raise typer.Exit(1)


class _LeakCheck(NamedTuple):
    """What one evaluation set has in common with one training set."""

    train: str
    evaluation: str
    found: Overlaps
    allowed: float

    @property
    def is_leak(self) -> bool:
        return self.found.is_leak(self.allowed)

    def record(self) -> dict[str, object]:
        return {
            "train": self.train,
            "evaluation": self.evaluation,
            "leak": self.is_leak,
            "inside": round(self.found.inside, 4),
            "overlaps": overlap_records(self.found, self.allowed),
        }

    def lines(self) -> Iterator[dict[str, object]]:
        """Every leak in numbers, without the texts that show it."""
        for record in overlap_records(self.found, self.allowed):
            del record["sights"]
            yield {"evaluation": self.evaluation, "train": self.train, **record}

    def blocks(self, show: int) -> list[Block]:
        title = ReportParagraph(f"{self.evaluation} in {self.train}")
        return [title, overlap_table(self.found, self.allowed), Notes(list(self._findings(show)))]

    def _findings(self, show: int) -> Iterator[str]:
        """A line for each leak, with up to ``show`` of its texts."""
        for leak in self.found.leaks:
            if not leak.is_leak(self.allowed):
                continue
            noun = leak.kind.value.partition(",")[0]
            near = "nearly " if leak.kind in (Overlap.NEAR_SOURCES, Overlap.NEAR_SIMPLE) else ""
            yield (
                f"LEAK: {leak.unique_found:,} of {leak.unique_total:,} different {noun} "
                f"of {self.evaluation} are {near}in {self.train}."
            )
            for sight in leak.sights[:show]:
                yield f"  {sight.text}"
                if sight.text != sight.seen:
                    yield f"  {sight.seen} ({sight.jaccard:.2f})"
                yield f"    {sight.id}"
        if self.found.is_inside:
            inside = self.found.inside
            share = "All" if inside == 1 else f"{100 * inside:.0f} %"
            yield (
                f"LEAK: {self.evaluation} is inside {self.train}: {share} of its sources "
                "are there. Do not train on one and report results on the other."
            )
        if not self.is_leak:
            yield "No leak."


def overlap_records(found: Overlaps, allowed: float = 0.0) -> list[dict[str, Any]]:
    """What was found in training, for JSON."""
    return [{**asdict(each), "leak": each.is_leak(allowed)} for each in found.leaks]


def overlap_table(found: Overlaps, allowed: float = 0.0) -> Table:
    """What was found in training; the last column marks leaks."""
    rows = [
        (
            leak.kind.value,
            *_shares(leak.found, leak.total),
            *_shares(leak.unique_found, leak.unique_total),
            "LEAK" if leak.is_leak(allowed) else "",
        )
        for leak in found.leaks
    ]
    return Table(("", "found", "of", "%", "different", "of", "%", ""), rows)


def _shares(part: int, whole: int) -> tuple[str, str, str]:
    return f"{part:,}", f"{whole:,}", f"{100 * part / max(whole, 1):.2f}"
