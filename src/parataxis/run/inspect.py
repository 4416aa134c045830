"""The commands that look at rewrites, sentences and splitters: ``check``, ``analyse`` and
``splitters``."""

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from typing import Annotated

import typer

from parataxis.api import BATCH, DEFAULT_SPLITTER, with_findings
from parataxis.cli.options import Inputs, documented
from parataxis.cli.terminal import Progress, open_output, warn
from parataxis.errors import InputError, TooLongError
from parataxis.report import counted, plain_table
from parataxis.rewrite.jsonl import read_rewrites, to_json
from parataxis.rewrite.record import FindingKind, Rewrite, SourceLine
from parataxis.rewrite.render import describe, one_line
from parataxis.run.files import DataFile, DataFormat, find_inputs
from parataxis.run.reading import check_columns, read_batches
from parataxis.run.units import CellKind, Columns
from parataxis.splitters.registry import available_splitters
from parataxis.syntax.analysis import ROOT, Analysis, Word
from parataxis.syntax.onnx import (
    HOMES,
    checksums,
    model_folder,
    read_description,
    shipped_folder,
)
from parataxis.syntax.patterns import find_patterns
from parataxis.text.inputs import Lines


class CheckFormat(StrEnum):
    """How ``check`` writes what it found."""

    TEXT = "text"
    JSON = "json"
    JSONL = "jsonl"


@documented
def check(
    inputs: Annotated[list[str] | None, typer.Argument(show_default=False)] = None,
    format_: CheckFormat = CheckFormat.TEXT,
    fail: bool = False,
) -> None:
    """Check rewrites for lost or new facts and broken sentences.

    The checks look for lost and new words, names, numbers, negations and links, repeated facts,
    sentences without a verb, stranded clauses, ambiguous pronouns and changed relations. Where
    they find nothing, the verifier may: its findings are estimates, with their probability.

    Reads what `parataxis split --format jsonl` writes, or any JSON lines with the fields
    source (or complex) and simple.

    Options:
    FILES | -: Files of rewrites as JSON lines, or - for standard input.
    --format, -f: text: each finding, then a summary. json: the summary. jsonl: the rewrites with
        their findings.
    --fail: Exit with code 1 if anything is found.
    """
    sources = find_inputs(inputs or [], DataFormat.JSONL)
    for source in sources:
        _validate(source)
    summary = _Summary()
    with open_output(None) as out, Progress(None, out) as progress:
        for rewrite in with_findings(_read(sources)):
            summary.add(rewrite)
            if format_ is CheckFormat.TEXT:
                out.write("".join(f"{rewrite.id}: {describe(f)}\n" for f in rewrite.findings or ()))
            elif format_ is CheckFormat.JSONL:
                out.write(f"{to_json(rewrite)}\n")
            progress.advance(0, 1)
        if format_ is CheckFormat.TEXT:
            out.write(summary.table())
        elif format_ is CheckFormat.JSON:
            out.write(summary.json())
    if fail and summary.with_finding:
        raise typer.Exit(1)


@dataclass
class _Summary:
    rewrites: int = 0
    with_finding: int = 0
    estimated: int = 0
    """Rewrites whose only finding is an estimate of the verifier."""
    kinds: Counter[FindingKind] = field(default_factory=Counter)

    def add(self, rewrite: Rewrite) -> None:
        found = {finding.kind for finding in rewrite.findings or ()}
        self.rewrites += 1
        self.with_finding += bool(found)
        self.estimated += bool(found) and all(f.probability for f in rewrite.findings or ())
        self.kinds.update(found)

    def table(self) -> str:
        counts = [(kind.value, self.kinds[kind]) for kind in FindingKind]
        rows = [
            (name, str(count), f"{100 * count / max(1, self.rewrites):.1f}")
            for name, count in [
                *counts,
                ("any", self.with_finding),
                ("only estimated", self.estimated),
            ]
        ]
        table = plain_table(("finding", "rewrites", "%"), rows, right=(1, 2))
        gap = "\n" if self.with_finding else ""
        return f"{gap}{table}\n{counted(self.rewrites, 'rewrite')} checked\n"

    def json(self) -> str:
        record = {
            "rewrites": self.rewrites,
            "with_finding": self.with_finding,
            "only_estimated": self.estimated,
            "kinds": {kind.value: self.kinds[kind] for kind in FindingKind},
        }
        return json.dumps(record, indent=1) + "\n"


def _validate(source: DataFile) -> None:
    if source.is_given_text:
        with source.open() as stream:
            text = stream.read().decode().removesuffix("\n")
        raise InputError(f'There is no file "{text}"; check reads files of rewrites.')
    if not source.is_stream:
        for _ in _read([source]):
            pass


def _read(sources: Iterable[DataFile]) -> Iterator[Rewrite]:
    for source in sources:
        with source.unpacked() as stream:
            yield from read_rewrites(Lines(stream, source.name), source.name)


InputFormatOption = Annotated[
    DataFormat,
    typer.Option(
        "--input",
        "-i",
        help="text: running text. lines: a sentence on each line. tsv: the first column. csv, "
        "parquet: the column source, complex or sentence. jsonl: the field source or complex. "
        "auto: by the suffix of the file, else text.",
    ),
]


def read_sentences(
    sources: Sequence[DataFile], progress: Progress | None = None
) -> Iterator[list[SourceLine]]:
    """The sentences of all inputs, in batches, fewer at a time where no more has arrived yet.
    Raises InputError for what cannot be read."""
    for batch in read_batches(sources, Columns(cell=CellKind.SENTENCE), sentences=BATCH):
        for unit in batch.units:
            if unit.problem:
                raise InputError(str(unit.problem))
        sentences = [sentence for unit in batch.units for sentence in unit.sentences]
        yield sentences
        if progress:
            progress.advance(batch.size, len(sentences))


def find_sentences(arguments: Sequence[str] | None, chosen: DataFormat) -> list[DataFile]:
    """The inputs of a command that reads sentences. They are read through once, so that bad input
    is found before any work."""
    sources = find_inputs(arguments or [], chosen)
    check_columns(sources, Columns())
    for _ in read_sentences([source for source in sources if not source.is_stream]):
        pass
    return sources


def analyse_batches(
    batches: Iterable[Sequence[SourceLine]],
) -> Iterator[tuple[SourceLine, Analysis | TooLongError]]:
    """Each sentence with its analysis, or with the error where it is too long for one."""
    from parataxis.syntax.analyser import load_analyser  # slow, and `--help` does without

    for batch in batches:
        results = load_analyser().pipe(sentence.source for sentence in batch)
        yield from zip(batch, results, strict=True)


def total_size(sources: Sequence[DataFile]) -> int | None:
    """The bytes of all inputs together, or None where one of them is a stream."""
    if any(source.is_stream for source in sources):
        return None
    return sum(source.size for source in sources)


class AnalysisFormat(StrEnum):
    """How an analysis is written."""

    TEXT = "text"
    CONLLU = "conllu"
    JSON = "json"


@documented
def analyse(
    inputs: Inputs = None,
    format_: AnalysisFormat = AnalysisFormat.TEXT,
    input_format: InputFormatOption = DataFormat.AUTO,
) -> None:
    """Show what the analyser sees in each sentence.

    Tokens, tags, the tree, roles and patterns: this is what the splitters work on, so it tells
    why a sentence was split where it was.

    Options:
    --format, -f: text: tables to read. conllu: CoNLL-U, without roles. json: one object for each
        sentence, one on each line.
    """
    sources = find_sentences(inputs, input_format)
    write = _WRITERS[format_]
    with open_output(None) as out, Progress(total_size(sources), out) as progress:
        batches = read_sentences(sources, progress)
        for sentence, analysis in analyse_batches(batches):
            if isinstance(analysis, TooLongError):
                warn(f"{sentence.id} is left out: {analysis}")
            else:
                out.write(write(sentence, analysis))


def _as_text(sentence: SourceLine, analysis: Analysis) -> str:
    rows = [
        (
            str(word.index + 1),
            word.text,
            word.upos,
            word.xpos,
            "ROOT" if word.head == ROOT else f"{word.head + 1} {analysis[word.head].text}",
            word.deprel,
            _feats(word),
        )
        for word in analysis
    ]
    header = ("", "word", "tag", "xpos", "head", "relation", "features")
    lines = [f"# {sentence.id}\n", plain_table(header, rows, right=(0,))]
    for frame in analysis.frames:
        roles = "  ".join(
            f"{role.label} [{one_line(analysis.phrase(role.first, role.last))}]"
            for role in frame.arguments
        )
        lines.append(f"{analysis[frame.predicate].text}:  {roles or '(no roles)'}\n")
    for found in find_patterns(analysis):
        words = one_line(analysis.text[found.start : found.end])
        lines.append(f"{found.pattern} ({found.pattern.plain_name}):  {words}\n")
    return "".join(lines) + "\n"


def _as_conllu(sentence: SourceLine, analysis: Analysis) -> str:
    lines = [f"# sent_id = {sentence.id}", f"# text = {one_line(analysis.text)}"]
    for word in analysis:
        is_glued = word.index + 1 < len(analysis) and analysis[word.index + 1].start == word.end
        misc = "SpaceAfter=No" if is_glued else "_"
        columns = (
            str(word.index + 1),
            word.text,
            "_",
            word.upos,
            word.xpos,
            _feats(word) or "_",
            str(0 if word.head == ROOT else word.head + 1),
            "root" if word.head == ROOT else word.deprel,
            "_",
            misc,
        )
        lines.append("\t".join(columns))
    return "\n".join(lines) + "\n\n"


def _as_json(sentence: SourceLine, analysis: Analysis) -> str:
    record = {
        "id": sentence.id,
        "text": analysis.text,
        "words": [
            {
                **{name: getattr(word, name) for name in ("text", "start", "end", "upos", "xpos")},
                "feats": dict(word.feats),
                "head": None if word.head == ROOT else word.head,
                "deprel": word.deprel,
            }
            for word in analysis
        ],
        "frames": [
            {
                "predicate": frame.predicate,
                "arguments": [[role.first, role.last, role.label] for role in frame.arguments],
            }
            for frame in analysis.frames
        ],
        "patterns": [
            {"pattern": found.pattern.value, "first": found.first, "last": found.last}
            for found in find_patterns(analysis)
        ],
    }
    return json.dumps(record, ensure_ascii=False) + "\n"


def _feats(word: Word) -> str:
    return "|".join(f"{name}={value}" for name, value in sorted(word.feats.items()))


_WRITERS: dict[AnalysisFormat, Callable[[SourceLine, Analysis], str]] = {
    AnalysisFormat.TEXT: _as_text,
    AnalysisFormat.CONLLU: _as_conllu,
    AnalysisFormat.JSON: _as_json,
}


class ListFormat(StrEnum):
    """How a list is written."""

    TEXT = "text"
    JSON = "json"


@documented
def models(format_: ListFormat = ListFormat.TEXT) -> None:
    """List the models in use, with version, size, licence and card.

    They ship with Parataxis. PARATAXIS_MODELS=DIR uses others: DIR/analyser, DIR/pointer and
    DIR/verifier, where they exist. A model whose files are not those of its version is reported as
    changed.

    Options:
    --format, -f: A table, or JSON for programs.
    """
    records, rows = [], []
    for name in HOMES:
        folder = model_folder(name)
        found, now = read_description(folder), checksums(folder)
        size = sum((folder / file).stat().st_size for file in now)
        is_changed = now != found.files
        records.append(
            {
                **{
                    each: getattr(found, each) for each in ("name", "version", "licence", "summary")
                },
                "size": size,
                "changed": is_changed,
                "shipped": folder == shipped_folder(name),
                "card": str(folder / "CARD.md"),
            }
        )
        version = f"{found.version}{' (changed)' if is_changed else ''}"
        rows.append((name, version, f"{size / 1e6:.1f} MB", found.licence, found.summary))
    with open_output(None) as out:
        if format_ is ListFormat.JSON:
            out.write(json.dumps(records, ensure_ascii=False, indent=1) + "\n")
            return
        header = ("model", "version", "size", "licence", "what it does")
        out.write(plain_table(header, rows, right=(2,)))
        out.write("\n" + "".join(f"{each['card']}\n" for each in records))


@documented
def splitters(format_: ListFormat = ListFormat.TEXT) -> None:
    """List the installed splitters.

    The one with a star is used where none is named.

    Options:
    --format, -f: A table, or JSON for programs.
    """
    found = available_splitters()
    with open_output(None) as out:
        if format_ is ListFormat.JSON:
            records = [{**asdict(each), "default": each.name == DEFAULT_SPLITTER} for each in found]
            out.write(json.dumps(records, ensure_ascii=False, indent=1) + "\n")
            return
        rows = [
            (
                each.name + (" *" if each.name == DEFAULT_SPLITTER else ""),
                each.summary if each.problem is None else f"(unusable) {each.problem}",
                each.distribution,
            )
            for each in found
        ]
        out.write(plain_table(("splitter", "what it does", "comes with"), rows))
