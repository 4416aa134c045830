"""``parataxis corpus formats`` and ``parataxis corpus convert``."""

import json
from collections.abc import Iterable, Iterator
from dataclasses import asdict, replace
from pathlib import Path
from typing import Annotated

import typer

from parataxis.cli.corpus_inputs import (
    CorpusArgument,
    StrictOption,
    TableFormat,
    TableFormatOption,
    counting,
    parse_corpora,
    read_corpus,
)
from parataxis.cli.inputs import STDIN
from parataxis.cli.tables import counted, plain_table
from parataxis.cli.terminal import Progress, ReaderGoneError, is_reader_gone, open_output, warn
from parataxis.corpora.choose import Corpus, parse_corpus
from parataxis.corpora.example import Example, gather
from parataxis.corpora.registry import corpus_formats, load_format
from parataxis.corpora.sentences import running_text
from parataxis.errors import InputError

__all__ = ["convert", "formats"]


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
