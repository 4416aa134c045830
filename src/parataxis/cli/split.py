"""``parataxis split``: sentences, files or a stream in, the same with simple sentences out."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Annotated

import typer

from parataxis.api import DEFAULT_SPLITTER
from parataxis.cli.document_files import find_document, split_file
from parataxis.cli.engines import EngineName, make_engine
from parataxis.cli.inputs import Input, resolve_inputs
from parataxis.cli.long_run import LongRun, OnError, wants_long_run
from parataxis.cli.options import Inputs
from parataxis.cli.sentences import total_size
from parataxis.cli.terminal import Output, Progress, open_output, wants_colour, whole_step
from parataxis.cli.units import InputFormat, Unit, check_records, read_units
from parataxis.cli.work import Explained, Task, reported, run
from parataxis.cli.writers import OutputFormat, Writer, make_writer
from parataxis.errors import InputError
from parataxis.scale.files import Kind, kind_of
from parataxis.scale.output import require_finished, state_of
from parataxis.scale.work import SplitterTask, require_device_splitter

__all__ = ["split"]


def split(
    inputs: Inputs = None,
    splitter: Annotated[
        str, typer.Option("--splitter", "-s", metavar="NAME", help="Which splitter to use.")
    ] = DEFAULT_SPLITTER,
    output_format: Annotated[
        OutputFormat | None,
        typer.Option(
            "--format",
            "-f",
            help="text: the document with its sentences split. jsonl, json, parquet: one record "
            "for each sentence. diff: source against simple sentences. html: a page that shows "
            "where each word came from. Default: jsonl or parquet where the output has that "
            "suffix, else text.",
        ),
    ] = None,
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
    input_format: Annotated[
        Kind,
        typer.Option(
            "--input",
            "-i",
            help="text: running text. lines: a sentence on each line. tsv: the first column, or "
            "--column. csv, parquet: the column that --column names. jsonl: the field source or "
            "complex, or --column. auto: by the file's suffix, else text.",
        ),
    ] = Kind.AUTO,
    column: Annotated[
        str | None,
        typer.Option(
            "--column",
            "-c",
            metavar="NAME",
            help="The column or field that holds the sentences.",
        ),
    ] = None,
    jobs: Annotated[
        int | None,
        typer.Option(
            "--jobs",
            "-j",
            min=1,
            metavar="N",
            help="How many processes to use. Default: 1, in a long run one for each core, with "
            "--device two. With --engine ray: how many actors at most. Default: as many as the "
            "cluster has cores, or with --device GPUs.",
        ),
    ] = None,
    output: Annotated[
        str | None,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            help="Write to this file, not to standard output. A folder (FOLDER/) gets one file for "
            "each input.",
        ),
    ] = None,
    resume: Annotated[
        bool,
        typer.Option(
            "--resume", help="Go on with the run that was interrupted; if there is none, begin one."
        ),
    ] = False,
    on_error: Annotated[
        OnError | None,
        typer.Option(
            "--on-error",
            help="What a record does that cannot be read. pass: it is told, and passed through. "
            "stop: the command ends. Default: stop, in a long run pass.",
        ),
    ] = None,
    no_provenance: Annotated[
        bool,
        typer.Option(
            "--no-provenance", help="Leave out of the records where each word came from: smaller."
        ),
    ] = False,
    engine: Annotated[
        EngineName,
        typer.Option(
            "--engine", help="Where the work is done: local, this machine; ray, a Ray cluster."
        ),
    ] = EngineName.LOCAL,
    address: Annotated[
        str | None,
        typer.Option(
            "--address",
            metavar="HOST:PORT",
            help="The Ray cluster. Default: the one that RAY_ADDRESS names or that runs on this "
            "machine, else one is started here.",
        ),
    ] = None,
    device: Annotated[
        str | None,
        typer.Option(
            "--device",
            metavar="NAME",
            help="Run the models of the splitter pointer on a GPU: cuda, or cuda:1 for the second. "
            "Processes compose and check; they share one copy of the models. With --engine ray: "
            "on the GPUs of the cluster.",
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

    Parquet, CSV and packed files (.gz, .zst), an output that is one of these or a folder, and
    --column, --resume, --on-error, --device and --engine ray make it a long run: it can be
    interrupted at any time.
    """
    given = inputs or []
    path = Path(output) if output else None
    is_far = engine is not EngineName.LOCAL or address is not None or device is not None
    is_long = bool(resume or column or on_error or is_far) or wants_long_run(
        given, output, output_format, input_format
    )
    is_plain = explain or is_long or output_format not in (None, OutputFormat.TEXT)
    document = find_document(
        given, path, tracked=tracked, plain=is_plain or input_format is not Kind.AUTO
    )
    if is_long:
        if explain:
            raise InputError("A long run explains nothing; leave out --explain, or give one file.")
        if device is not None:
            require_device_splitter(splitter)
        long_task = SplitterTask(splitter, strict=strict, beam=beam)
        chosen = make_engine(engine, address, long_task, most=jobs, device=device)
        with reported(long_task, jobs) as processes:
            LongRun(
                given,
                output,
                output_format,
                input_format,
                long_task,
                column=column,
                provenance=not no_provenance,
                resume=resume,
                on_error=on_error or OnError.PASS,
                jobs=processes,
                engine=chosen,
                device=device,
            )()
        return
    if path:
        require_finished(state_of(path, is_folder=False))
    task = Task(splitter, strict=strict, beam=beam, provenance=not no_provenance)
    if document and path:
        with reported(task, jobs):
            split_file(document, path, task, jobs=jobs or 1, tracked=tracked)
        return
    if output_format is None:
        is_jsonl = path is not None and kind_of(path) is Kind.JSONL
        output_format = OutputFormat.JSONL if is_jsonl else OutputFormat.TEXT
    task = replace(task, explain=explain or output_format is OutputFormat.HTML)
    _split_at_once(
        resolve_inputs(given),
        InputFormat(input_format),
        path,
        output_format,
        task,
        jobs=jobs or 1,
        explain=explain,
    )


def _split_at_once(
    sources: Sequence[Input],
    input_format: InputFormat,
    output: Path | None,
    output_format: OutputFormat,
    task: Task,
    *,
    jobs: int,
    explain: bool,
) -> None:
    check_records(sources, input_format)
    with reported(task, jobs), open_output(output, sources) as out:
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
