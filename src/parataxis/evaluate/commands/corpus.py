"""``parataxis corpus`` (formats, convert, collect, describe) and ``parataxis patterns``."""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, replace
from enum import StrEnum
from itertools import chain
from pathlib import Path
from typing import Annotated

import typer

from parataxis.cli.options import Inputs, ReportFormatOption
from parataxis.cli.terminal import Progress, ReaderGoneError, is_reader_gone, open_output, warn
from parataxis.errors import InputError
from parataxis.evaluate.commands.corpus_input import (
    CORPUS_HELP,
    CorpusArgument,
    SeedOption,
    StrictOption,
    counting,
    parse_corpora,
    read_corpus,
)
from parataxis.evaluate.corpora import describe as corpora
from parataxis.evaluate.corpora.describe import ZHANG_2020, CorpusDescription, Filter
from parataxis.evaluate.corpora.example import Example, gather
from parataxis.evaluate.corpora.registry import Corpus, corpus_formats, load_format, parse_corpus
from parataxis.evaluate.corpora.sentences import on_one_line, running_text
from parataxis.report import Report, ReportFormat, ReportParagraph, Table, counted
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
from parataxis.text.files import write_files
from parataxis.text.inputs import STDIN

_RANGE = re.compile(r"(\d*)-(\d*)")


class SentenceFormat(StrEnum):
    """How drawn sentences are written."""

    TEXT = "text"
    JSONL = "jsonl"


def collect(
    corpus: CorpusArgument,
    number: Annotated[
        int, typer.Option("--number", "-n", min=1, metavar="N", help="The number of sentences.")
    ] = 500,
    seed: SeedOption = 0,
    pattern: Annotated[
        str,
        typer.Option(
            "--pattern",
            metavar="REGEX",
            help="A regular expression for the whole sentence; by default only letters, digits, "
            "white space, commas and full stops, as in Zhang et al. 2020.",
        ),
    ] = ZHANG_2020,
    tokens: Annotated[
        str,
        typer.Option("--tokens", metavar="MIN-MAX", help="The length of a sentence: 15-60, 15-."),
    ] = "-",
    exclude: Annotated[
        list[str] | None,
        typer.Option(
            "--exclude",
            metavar="CORPUS",
            help="Do not draw sources of this corpus, such as a training set; repeatable.",
        ),
    ] = None,
    output_format: Annotated[
        SentenceFormat,
        typer.Option("--format", "-f", help="A sentence on each line, or JSON lines with ids."),
    ] = SentenceFormat.TEXT,
    output: Annotated[
        Path,
        typer.Option(
            "--output", "-o", metavar="FILE", help="The output file; - is standard output."
        ),
    ] = Path(STDIN),
    strict: StrictOption = False,
) -> None:
    """Draw complex sentences at random from a corpus.

    Each different source can be drawn once. The counts are reported on standard error.
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
        lines = [_line(each, output_format) for each in found.sentences]
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


def _line(example: Example, form: SentenceFormat) -> str:
    if form is SentenceFormat.TEXT:
        return on_one_line(example.source)
    return json.dumps({"id": example.id, "source": example.source}, ensure_ascii=False)


def formats(output_format: ReportFormatOption = ReportFormat.TEXT) -> None:
    """List the corpus formats that can be read and written."""
    found = corpus_formats()
    rows = [(each.name, each.about, each.distribution) for each in found]
    table = Table(("format", "its files", "comes with"), rows, names=3)
    record = [asdict(each) for each in found]
    with open_output(None) as out:
        out.write(Report("Corpus formats", [table], record, bare=True).render(output_format))


def convert(
    corpus: CorpusArgument,
    to: Annotated[
        str,
        typer.Option(
            "--to",
            "-t",
            metavar="CORPUS",
            help="The output, FORMAT:FILE,FILE; - is standard output.",
        ),
    ] = "jsonl:-",
    gathered: Annotated[
        bool,
        typer.Option(
            "--gather",
            help="Merge all references of a source, wherever they are (in memory).",
        ),
    ] = False,
    join_tokens: Annotated[
        bool,
        typer.Option("--join-tokens", help="Turn Penn Treebank tokens into running text."),
    ] = False,
    strict: StrictOption = False,
) -> None:
    """Write a corpus in another format.

    The files appear when everything is written. It is an error if the format cannot represent
    something.
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
    seed: SeedOption = 0,
    output_format: ReportFormatOption = ReportFormat.TEXT,
    strict: StrictOption = False,
) -> None:
    """Describe corpora: counts, lengths, references, patterns.

    A complex sentence counts once for each of its references. Averages over complex sentences
    count each different one once; those over the simple side count all.
    """
    chosen = parse_corpora(corpus)
    found = []
    with open_output(None) as out:
        with Progress(None, out) as progress:
            for each in chosen:
                examples = counting(read_corpus(each, strict=strict), progress)
                found.append(corpora.describe(examples, patterns=patterns, seed=seed))
        report = _description_report([each.label for each in chosen], found)
        out.write(report.render(output_format))


def _description_report(labels: Sequence[str], found: Sequence[CorpusDescription]) -> Report:
    rows = [(name, *map(cell, found)) for name, cell in _ROWS]
    if any(each.triples.total for each in found):
        rows += [(name, *map(cell, found)) for name, cell in _TRIPLE_ROWS]
    if any(each.patterns for each in found):
        rows += [
            (name, *("" if each.patterns is None else cell(each.patterns) for each in found))
            for name, cell in _PATTERN_ROWS
        ]
    records = [
        {"corpus": label, **_description_record(each)}
        for label, each in zip(labels, found, strict=True)
    ]
    return Report("Corpora", [Table(("", *labels), rows)], records, bare=True)


def _description_record(description: CorpusDescription) -> dict[str, object]:
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
_PATTERN_ROWS: tuple[tuple[str, Callable[[PatternTable], str]], ...] = (
    ("sentences looked at for patterns", lambda table: f"{table.sentences:,}"),
    *(
        (
            f"  {pattern.value}, in 100",
            lambda table, pattern=pattern: f"{table.per_hundred(pattern):.0f}",
        )
        for pattern in Pattern
    ),
    ("  patterns per sentence", lambda table: f"{table.patterns_per_sentence:.2f}"),
)


def _percent(part: int, whole: int) -> str:
    return f"{100 * part / whole:.1f}" if whole else ""


def patterns(
    inputs: Inputs = None,
    sample: Annotated[
        int | None,
        typer.Option(
            "--sample",
            "-n",
            min=1,
            metavar="N",
            help="Count in a random sample of N sentences.",
            show_default=False,
        ),
    ] = None,
    seed: SeedOption = 0,
    output_format: ReportFormatOption = ReportFormat.TEXT,
    input_format: InputFormatOption = DataFormat.AUTO,
) -> None:
    """Count the patterns at which sentences could be split.

    For each of the seven patterns: the number of sentences that have it, their percentage, and the
    number of occurrences.
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

    with open_output(None) as out:
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
    return Report(
        "Patterns",
        [
            Table(header, rows, names=2),
            ReportParagraph(f"{counted(table.sentences, 'sentence')}, {per_sentence}"),
        ],
        record={
            "sentences": table.sentences,
            "patterns_per_sentence": round(table.patterns_per_sentence, 4),
            "counts": {pattern.value: table.counts[pattern] for pattern in Pattern},
            "occurrences": {pattern.value: table.occurrences[pattern] for pattern in Pattern},
        },
        bare=True,
    )
