"""``parataxis split``: sentences, files or a stream in, the same with simple sentences out."""

import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import redirect_stdout
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import chain
from pathlib import Path
from typing import Annotated

import typer

from parataxis.api import DEFAULT_SPLITTER
from parataxis.cli.options import Inputs
from parataxis.cli.terminal import (
    Output,
    Progress,
    open_output,
    require_other_file,
    wants_colour,
    warn,
    whole_step,
)
from parataxis.errors import InputError
from parataxis.rewrite.jsonl import SourceLine
from parataxis.run.cluster import Cluster, ray_package
from parataxis.run.documents import DocumentFormat, document_format, open_document
from parataxis.run.files import DataFormat, data_format
from parataxis.run.inspect import total_size
from parataxis.run.long import LongRun, OnError, wants_long_run
from parataxis.run.output import require_finished, state_of
from parataxis.run.reading import Batch
from parataxis.run.run import Engine
from parataxis.run.streams import (
    ExplainedSentence,
    InputFormat,
    SentenceTask,
    batches,
    check_records,
    read_units,
    reported,
    run,
)
from parataxis.run.units import Unit
from parataxis.run.work import Encoded, SplitterTask, Work, require_device_splitter
from parataxis.run.writers import OutputFormat, Writer, make_writer
from parataxis.text.files import write_whole
from parataxis.text.inputs import STDIN, Input, resolve_inputs

# Where a long run is done: on this machine, or on a cluster.


class EngineName(StrEnum):
    """Where the work is done."""

    LOCAL = "local"
    RAY = "ray"


def make_engine(
    name: EngineName,
    address: str | None,
    task: SplitterTask,
    *,
    most: int | None,
    device: str | None = None,
) -> Engine | None:
    """The engine that the command line asks for; None is that of this machine."""
    if name is EngineName.LOCAL:
        if address is not None:
            raise InputError("--address is that of a Ray cluster; add --engine ray.")
        return None
    if device is not None and ":" in device:
        raise InputError("On a cluster each actor has its own GPU; give --device cuda.")
    splitter = task.load()
    if splitter.keeps_books:
        raise InputError(
            f'The splitter "{splitter.name}" keeps its books in one process; leave --engine out.'
        )
    ray_package()
    return _Quiet(Cluster(address, most=most, device=device, tell=warn))


@dataclass(frozen=True)
class _Quiet:
    """Keeps what Ray prints to standard output out of the results there."""

    engine: Engine

    def __call__(self, batches: Iterable[Batch], work: Work) -> Iterator[tuple[Batch, Encoded]]:
        """Do the work."""
        with Path(os.devnull).open("w", encoding="utf-8") as nowhere, redirect_stdout(nowhere):
            yield from self.engine(batches, work)


# ``parataxis split`` for a file with formatting: the whole document in, the whole document out.

_LARGEST = {
    DocumentFormat.WORD: 256 << 20,
    DocumentFormat.MARKDOWN: 8 << 20,
    DocumentFormat.HTML: 8 << 20,
}
"""Bytes of a file that is read as a whole; text, character by character, takes some hundred times
as much memory."""


def find_document(
    arguments: Sequence[str], output: Path | None, *, tracked: bool, plain: bool
) -> Path | None:
    """The file, where the arguments ask for a document of the same kind as it.

    ``plain`` says that other options ask for something else. Raises InputError where a Word
    document is mixed with anything else.
    """
    named = [argument for argument in arguments if document_format(argument)]
    # os.path.isfile, unlike pathlib, answers for any string, however long.
    files = [Path(argument) for argument in named if os.path.isfile(argument)]  # noqa: PTH113
    if len(files) < len(named):
        return None  # which is told where the inputs are looked for
    word = next((file for file in files if document_format(file) is DocumentFormat.WORD), None)
    made = document_format(output) if output else None
    if word is None and tracked:
        raise InputError("Only a Word document (.docx) can have tracked changes.")
    if word is None and made is DocumentFormat.WORD:
        raise InputError(f"Only a Word document can be written as {output}; give one to read.")
    if word and (made is not DocumentFormat.WORD or plain):
        raise InputError(
            f"{word} is a Word document; write it to one with -o FILE.docx, without --format, "
            "--explain and --input."
        )
    if word and len(arguments) > 1:
        raise InputError(f"{word} is a Word document; split it alone.")
    is_same = len(arguments) == len(files) == 1 and made is document_format(files[0])
    return files[0] if is_same and not plain and str(output) != STDIN else None


def split_file(path: Path, output: Path, task: SentenceTask, *, jobs: int, tracked: bool) -> None:
    """Split the sentences of a document; the output appears whole or not at all. Says on standard
    error how many sentences had to be left alone."""
    require_other_file(output, path)
    limit = _LARGEST[document_format(path) or DocumentFormat.WORD]
    if path.stat().st_size > limit:
        raise InputError(f"{path} is too large: such a document has at most {limit >> 20} MB.")
    document = open_document(path.read_bytes(), str(path))
    sentences = document.sentences
    task.load()
    units = (_unit(f"{path}:{n}", text) for n, text in enumerate(sentences, start=1))
    rewrites = []
    with Progress(sum(len(text.encode()) for text in sentences), Output(output)) as progress:
        for unit, explained in run(batches(units, lambda: True), task, jobs=jobs):
            rewrites += [result.rewrite for result in explained]
            progress.advance(unit.size, len(unit.sentences))
    data, report = document.rewritten(rewrites, tracked=tracked)
    write_whole(output, data)
    if note := report.note():
        warn(note)


def _unit(name: str, text: str) -> Unit:
    return Unit([SourceLine(name, text)], lambda rewrites: "", len(text.encode()))


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
        DataFormat,
        typer.Option(
            "--input",
            "-i",
            help="text: running text. lines: a sentence on each line. tsv: the first column, or "
            "--column. csv, parquet: the column that --column names. jsonl: the field source or "
            "complex, or --column. auto: by the file's suffix, else text.",
        ),
    ] = DataFormat.AUTO,
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
        given, path, tracked=tracked, plain=is_plain or input_format is not DataFormat.AUTO
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
    task = SentenceTask(splitter, strict=strict, beam=beam, provenance=not no_provenance)
    if document and path:
        with reported(task, jobs):
            split_file(document, path, task, jobs=jobs or 1, tracked=tracked)
        return
    if output_format is None:
        is_jsonl = path is not None and data_format(path) is DataFormat.JSONL
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
    task: SentenceTask,
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
    results: Iterator[tuple[Unit, list[ExplainedSentence]]],
    writer: Writer,
    out: Output,
    progress: Progress,
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
