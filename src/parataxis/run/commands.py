"""``parataxis split``: the options of the command, and which kind of run they ask for."""

import os
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from parataxis.api import BATCH, DEFAULT_SPLITTER
from parataxis.cli.options import Inputs
from parataxis.cli.terminal import Output, Progress, require_other_file, warn
from parataxis.errors import InputError
from parataxis.run.encode import OutputFormat
from parataxis.run.files import DataFormat
from parataxis.run.pipeline import Engine
from parataxis.run.rows import CellKind, Columns, RowKind
from parataxis.run.split import OnError, SplitRun
from parataxis.run.work import SplitterTask, require_device_splitter
from parataxis.text.inputs import STDIN

_DOCUMENT = re.compile(r"\.(docx|md|markdown|html?)$", re.I)
"""How the names of documents with formatting end."""


class EngineName(StrEnum):
    """Where the work is done."""

    LOCAL = "local"
    RAY = "ray"


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
            help="text: the input with its sentences split. jsonl, json, parquet: one record for "
            "each sentence of running text, or for each row of a table. diff: source against "
            "simple sentences. html: a page that shows where each word came from. Default: jsonl "
            "or parquet if the output has that suffix, else text.",
        ),
    ] = None,
    strict: Annotated[
        bool,
        typer.Option(
            "--strict",
            help="Use no rewrite in which a check finds a fault or of which the splitter is not "
            "sure; if there is no other, leave the sentence whole.",
        ),
    ] = False,
    beam: Annotated[
        int | None,
        typer.Option(
            "--beam",
            min=1,
            max=8,
            metavar="N",
            help="Beam width of a splitter that searches: a smaller beam is faster, a larger one "
            "leaves more rewrites to choose from.",
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
            "--column. csv, parquet: the column source, complex or sentence, or --column. jsonl: "
            "the field source or complex, or --column. auto: by the suffix of the file, else text.",
        ),
    ] = DataFormat.AUTO,
    column: Annotated[
        str | None,
        typer.Option(
            "--column",
            "-c",
            metavar="NAME",
            help="The column or field with the text; doc.text is the field text inside doc.",
        ),
    ] = None,
    cell: Annotated[
        CellKind,
        typer.Option(
            "--cell",
            help="What a cell of a table or a field of a record holds: text, which is cut into "
            "sentences, or one sentence.",
        ),
    ] = CellKind.TEXT,
    rows: Annotated[
        RowKind,
        typer.Option(
            "--rows",
            help="Write one record for each row of the input, or one for each sentence in it.",
        ),
    ] = RowKind.INPUT,
    keep: Annotated[
        str | None,
        typer.Option(
            "--keep",
            metavar="COLUMNS",
            help="The columns or fields of the input to write again: a,b, or none. Default: all.",
        ),
    ] = None,
    jobs: Annotated[
        int | None,
        typer.Option(
            "--jobs",
            "-j",
            min=1,
            metavar="N",
            help="How many processes to use. Default: 1 if results go to standard output, else up "
            "to one for each core, with --device two. With --engine ray: how many actors at most. "
            "Default: as many as the cluster has cores, or with --device GPUs.",
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
            "--resume", help="Continue a run that was interrupted; if there is none, begin one."
        ),
    ] = False,
    on_error: Annotated[
        OnError,
        typer.Option(
            "--on-error",
            help="What to do with a record that cannot be read. pass: report it and pass it "
            "through; the exit code is 3. stop: end with exit code 2.",
        ),
    ] = OnError.PASS,
    provenance: Annotated[
        bool | None,
        typer.Option(
            "--provenance/--no-provenance",
            help="Whether records say where each word came from. Default: yes, but not in Parquet.",
            show_default=False,
        ),
    ] = None,
    engine: Annotated[
        EngineName,
        typer.Option(
            "--engine", help="Where to do the work: local, this machine; ray, a Ray cluster."
        ),
    ] = EngineName.LOCAL,
    address: Annotated[
        str | None,
        typer.Option(
            "--address",
            metavar="HOST:PORT",
            help="The Ray cluster. Default: the one in RAY_ADDRESS or on this machine; if there "
            "is none, one is started here.",
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

    Everything else comes back exactly as it was: white space, blank lines, list markers and
    sentences that need no split. An argument that names a file or a folder is read; tables and
    JSON lines keep their columns. All but Parquet may be packed (.gz, .zst).

    A run whose output is a file or a folder can be interrupted at any time and resumed. A Word
    (.docx), Markdown (.md) or HTML (.html) file keeps its formatting if the output is of the same
    kind.
    """
    given = inputs or []
    path = Path(output) if output else None
    is_default = input_format is DataFormat.AUTO and engine is EngineName.LOCAL
    is_plain = bool(
        explain or column or resume or device or output_format not in (None, OutputFormat.TEXT)
    )
    document = find_document(given, path, tracked=tracked, plain=is_plain or not is_default)
    if device is not None:
        require_device_splitter(splitter)
    is_checked = explain or output_format is OutputFormat.HTML
    task = SplitterTask(splitter, strict=strict, beam=beam, check=is_checked)
    chosen = make_engine(engine, address, task, most=jobs, device=device)
    with _reported(task, jobs) as processes:
        if document and path:
            split_file(document, path, task, jobs=processes or 1, tracked=tracked)
            return
        kept = None if keep is None else [each.strip() for each in keep.split(",") if each.strip()]
        SplitRun(
            given,
            output,
            output_format,
            input_format,
            task,
            columns=Columns(column, cell, [] if keep == "none" else kept),
            rows=rows,
            explain=explain,
            provenance=provenance,
            resume=resume,
            on_error=on_error,
            jobs=processes,
            engine=chosen,
            device=device,
        )()


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
    if splitter.tracks_costs:
        raise InputError(
            f'The splitter "{splitter.name}" tracks spending in a single process, so it cannot run '
            "with --engine."
        )
    from parataxis.run.cluster import Cluster, ray_package

    ray_package()
    return Cluster(address, most=most, device=device, tell=warn)


@contextmanager
def _reported(task: SplitterTask, jobs: int | None) -> Iterator[int | None]:
    """How many processes to use: one for a splitter that tracks spending. When the work is over,
    however it ends, the report of the splitter is shown."""
    splitter = task.load()
    if splitter.tracks_costs and (jobs or 1) > 1:
        raise InputError(
            f'The splitter "{splitter.name}" tracks spending in a single process, so it cannot run '
            "with --jobs."
        )
    try:
        yield 1 if splitter.tracks_costs else jobs
    finally:
        if sentence := splitter.report():
            warn(sentence)


def find_document(
    arguments: Sequence[str], output: Path | None, *, tracked: bool, plain: bool
) -> Path | None:
    """The file, where the arguments ask for a document of the same kind as it.

    ``plain`` says that other options ask for something else. Raises InputError where a Word
    document is mixed with anything else.
    """
    named = [argument for argument in arguments if _DOCUMENT.search(argument)]
    if not named and not tracked and not (output and _DOCUMENT.search(str(output))):
        return None
    from parataxis.run.documents import DocumentFormat, document_format

    # os.path.isfile, unlike pathlib, answers for any string, however long.
    files = [Path(argument) for argument in named if os.path.isfile(argument)]  # noqa: PTH113
    if len(files) < len(named):
        return None  # reported where the inputs are found
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


def split_file(path: Path, output: Path, task: SplitterTask, *, jobs: int, tracked: bool) -> None:
    """Split the sentences of a document; the output appears whole or not at all. Reports how many
    sentences had to be left alone."""
    from parataxis.run.documents import DocumentFormat, document_format, open_document
    from parataxis.run.output import require_finished, state_of
    from parataxis.run.pool import in_order
    from parataxis.text.files import write_whole

    require_finished(state_of(output, is_folder=False))
    require_other_file(output, path)
    # Text takes some hundred times as much memory as its bytes.
    limit = (256 if document_format(path) is DocumentFormat.WORD else 8) << 20
    if path.stat().st_size > limit:
        raise InputError(f"{path} is too large: such a document has at most {limit >> 20} MB.")
    document = open_document(path.read_bytes(), str(path))
    sentences = document.sentences
    batches = (sentences[start : start + BATCH] for start in range(0, len(sentences), BATCH))
    rewrites = []
    with Progress(sum(len(text.encode()) for text in sentences), Output(output)) as progress:
        for batch, results in in_order(batches, task, sent=list, jobs=jobs):
            rewrites += results
            progress.advance(sum(len(text.encode()) for text in batch), len(batch))
    data, report = document.rewritten(rewrites, tracked=tracked)
    write_whole(output, data)
    if note := report.note():
        warn(note)
