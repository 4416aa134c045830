"""``parataxis corpus collect``: draw complex sentences for a study or a benchmark."""

import json
import re
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from parataxis.cli.corpus_inputs import (
    CorpusArgument,
    StrictOption,
    counting,
    parse_corpora,
    read_corpus,
)
from parataxis.cli.inputs import STDIN
from parataxis.cli.tables import counted
from parataxis.cli.terminal import Progress, open_output, warn
from parataxis.corpora import collect as corpora
from parataxis.corpora.collect import ZHANG_2020, Filter
from parataxis.corpora.example import Example
from parataxis.corpora.files import write_files
from parataxis.corpora.sentences import on_one_line
from parataxis.errors import InputError

__all__ = ["collect"]

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
