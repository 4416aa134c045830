"""``parataxis split``: sentences, files or a stream in, the same with simple sentences out."""

from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import Annotated

import typer

from parataxis.api import DEFAULT_SPLITTER
from parataxis.cli.document_files import find_document, split_file
from parataxis.cli.inputs import Input, resolve_inputs
from parataxis.cli.options import InputFormatOption, Inputs
from parataxis.cli.sentences import total_size
from parataxis.cli.terminal import Output, Progress, open_output, wants_colour, whole_step
from parataxis.cli.units import InputFormat, Unit, check_records, read_units
from parataxis.cli.work import Explained, Task, run
from parataxis.cli.writers import OutputFormat, Writer, make_writer

__all__ = ["split"]


def split(
    inputs: Inputs = None,
    splitter: Annotated[
        str, typer.Option("--splitter", "-s", metavar="NAME", help="Which splitter to use.")
    ] = DEFAULT_SPLITTER,
    output_format: Annotated[
        OutputFormat,
        typer.Option(
            "--format",
            "-f",
            help="text: the document with its sentences split. jsonl, json: one record for each "
            "sentence. diff: source against simple sentences. html: a page that shows where "
            "each word came from.",
        ),
    ] = OutputFormat.TEXT,
    strict: Annotated[
        bool,
        typer.Option(
            "--strict",
            help="Take no rewrite that a check faults or of which the splitter is not sure; where "
            "there is no other, leave the sentence whole.",
        ),
    ] = False,
    beam: Annotated[
        int | None,
        typer.Option(
            "--beam",
            min=1,
            max=8,
            metavar="N",
            help="How many hypotheses a splitter that searches follows: fewer are faster, more "
            "leave more to choose from.",
        ),
    ] = None,
    explain: Annotated[
        bool,
        typer.Option(
            "--explain",
            help="Show the patterns of each source, the origin of the words, and what the checks "
            "find.",
        ),
    ] = False,
    input_format: InputFormatOption = InputFormat.AUTO,
    jobs: Annotated[
        int, typer.Option("--jobs", "-j", min=1, metavar="N", help="How many processes to use.")
    ] = 1,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", metavar="FILE", help="Write to this file, not to standard output."
        ),
    ] = None,
    tracked: Annotated[
        bool,
        typer.Option(
            "--tracked",
            help="In a Word document, make each split a tracked change that can be accepted or "
            "rejected.",
        ),
    ] = False,
) -> None:
    """Split complex sentences into simple ones.

    All else comes back exactly as it was: white space, blank lines, list markers and the
    sentences that need no split. An argument that names a file is read as a file. A Word (.docx),
    Markdown (.md) or HTML (.html) file keeps its formatting where the output is of the same kind.
    """
    is_plain = explain or output_format is not OutputFormat.TEXT
    document = find_document(
        inputs or [], output, tracked=tracked, plain=is_plain or input_format != InputFormat.AUTO
    )
    if document and output:
        task = Task(splitter, strict=strict, beam=beam)
        split_file(document, output, task, jobs=jobs, tracked=tracked)
        return
    sources = resolve_inputs(inputs or [])
    check_records(sources, input_format)
    shows_all = explain or output_format is OutputFormat.HTML
    task = Task(splitter, strict=strict, beam=beam, explain=shows_all)
    task.load()
    with open_output(output, sources) as out:
        is_text = sources[0].text is not None
        writer = make_writer(
            output_format,
            title=_title(sources),
            explain=explain,
            header=not is_text,
            colour=wants_colour(out),
        )
        batches = chain.from_iterable(read_units(source, input_format) for source in sources)
        with Progress(total_size(sources), out) as progress:
            write(run(batches, task, jobs=jobs), writer, out, progress)
        if is_text and output_format is OutputFormat.TEXT and not explain:
            out.write("\n")


def write(
    results: Iterator[tuple[Unit, list[Explained]]], writer: Writer, out: Output, progress: Progress
) -> None:
    """Write results as they are made; what has been written is whole even after Ctrl-C."""
    held, started = writer.start(), False
    try:
        for unit, explained in results:
            held += writer.unit(unit, explained)
            # Nothing is written before the first sentence: until then the input may prove bad.
            if started or unit.sentences:
                with whole_step():
                    out.write(held)
                    held, started = "", True
            progress.advance(unit.size, len(unit.sentences))
    except BaseException:
        if started:
            out.write(writer.end())
        raise
    out.write(held + writer.end())


def _title(sources: Sequence[Input]) -> str:
    return ", ".join(source.name for source in sources)
