"""``parataxis analyse``: what the analyser sees in sentences."""

import json
from collections.abc import Callable
from enum import StrEnum
from typing import Annotated

import typer

from parataxis.cli.inputs import resolve_inputs
from parataxis.cli.options import InputFormatOption, Inputs
from parataxis.cli.sentences import analyse_batches, read_sentences, total_size
from parataxis.cli.tables import plain_table
from parataxis.cli.terminal import Progress, open_output, warn
from parataxis.cli.units import InputFormat, check_records
from parataxis.errors import TooLongError
from parataxis.rewrite.jsonl import SourceLine
from parataxis.syntax.analysis import ROOT, Analysis, Word
from parataxis.syntax.patterns import find_patterns

__all__ = ["analyse"]


class AnalysisFormat(StrEnum):
    """How an analysis is written."""

    TEXT = "text"
    CONLLU = "conllu"
    JSON = "json"


def analyse(
    inputs: Inputs = None,
    output_format: Annotated[
        AnalysisFormat,
        typer.Option(
            "--format",
            "-f",
            help="text: tables to read. conllu: CoNLL-U, without roles. json: one object for "
            "each sentence, one on each line.",
        ),
    ] = AnalysisFormat.TEXT,
    input_format: InputFormatOption = InputFormat.AUTO,
) -> None:
    """Show what the analyser sees in each sentence.

    Tokens, tags, the tree, roles and patterns: this is what the splitters work on, so it tells
    why a sentence was split where it was.
    """
    sources = resolve_inputs(inputs or [])
    check_records(sources, input_format)
    write = _WRITERS[output_format]
    with open_output(None) as out, Progress(total_size(sources), out) as progress:
        batches = read_sentences(sources, input_format, progress)
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
            f"{role.label} [{_one_line(analysis.phrase(role.first, role.last))}]"
            for role in frame.arguments
        )
        lines.append(f"{analysis[frame.predicate].text}:  {roles or '(no roles)'}\n")
    for found in find_patterns(analysis):
        words = _one_line(analysis.text[found.start : found.end])
        lines.append(f"{found.pattern} ({found.pattern.plain_name}):  {words}\n")
    return "".join(lines) + "\n"


def _as_conllu(sentence: SourceLine, analysis: Analysis) -> str:
    lines = [f"# sent_id = {sentence.id}", f"# text = {_one_line(analysis.text)}"]
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
                "text": word.text,
                "start": word.start,
                "end": word.end,
                "upos": word.upos,
                "xpos": word.xpos,
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


def _one_line(text: str) -> str:
    return " ".join(text.split())


_WRITERS: dict[AnalysisFormat, Callable[[SourceLine, Analysis], str]] = {
    AnalysisFormat.TEXT: _as_text,
    AnalysisFormat.CONLLU: _as_conllu,
    AnalysisFormat.JSON: _as_json,
}
