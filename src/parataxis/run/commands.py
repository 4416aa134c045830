"""``parataxis split`` and ``parataxis claims``: their options, and the run that they ask for."""

import inspect
import os
import re
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import asdict, dataclass, replace
from enum import StrEnum
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from parataxis import __version__
from parataxis.api import BATCH, DEFAULT_SPLITTER
from parataxis.cli.options import Inputs, OptionalCount, documented
from parataxis.cli.terminal import (
    Output,
    Progress,
    open_output,
    require_other_file,
    wants_colour,
    warn,
)
from parataxis.errors import InputError, system_errors
from parataxis.report import counted
from parataxis.rewrite.record import Level
from parataxis.run.cache import BUILT_IN, RewriteCache
from parataxis.run.encode import RECORDS, OutputFormat, RecordEncoder
from parataxis.run.files import (
    DataFile,
    DataFormat,
    Packing,
    Shard,
    data_format,
    find_inputs,
    is_remote,
    packing_of,
)
from parataxis.run.pipeline import (
    SENTENCES,
    Engine,
    Local,
    SplitterTask,
    StreamOutput,
    Work,
    require_device_splitter,
    run,
)
from parataxis.run.reading import check_columns
from parataxis.run.units import CellKind, Columns, RowKind
from parataxis.run.watch import OnError, ProgressForm, RunWatcher
from parataxis.splitters.settings import SplitSettings, too_long
from parataxis.syntax.onnx import HOMES, THREADS_VARIABLE, cores, weights_named
from parataxis.text.inputs import STDIN

if TYPE_CHECKING:
    from parataxis.run.cluster import Cluster

PASSED_THROUGH = 3
"""The exit code if records could not be read, or sentences not be rewritten."""

_WORTH_A_PROCESS = 1 << 15  # bytes of input for which another process is worth its start
_DOCUMENT = re.compile(r"\.(docx|md|markdown|html?|pdf|odt|rtf)$", re.I)
"""How the names of documents with formatting end."""
_SUFFIXES = {
    OutputFormat.TEXT: ".txt",
    OutputFormat.DIFF: ".diff",
    **{each: f".{each}" for each in (*RECORDS, OutputFormat.HTML)},
}
_BY_SUFFIX = {
    ".jsonl": OutputFormat.JSONL,
    ".ndjson": OutputFormat.JSONL,
    ".parquet": OutputFormat.PARQUET,
}
_UNWRITTEN = frozenset([".csv", ".tsv", ".json", ".bz2", ".xz", ".zip"])
"""Suffixes of formats that are not written, or only if asked for."""


class EngineName(StrEnum):
    """Where the work is done."""

    LOCAL = "local"
    RAY = "ray"


@dataclass(frozen=True)
@documented
class SplitRun:
    """Split complex sentences into simple ones.

    Everything else comes back exactly as it was: white space, blank lines, list markers and
    sentences that need no split. An argument that names a file or a folder is read; tables and
    JSON lines keep their columns. All but Parquet may be compressed (.gz, .zst).

    A run whose output is a file or a folder can be interrupted at any time and resumed. A Word
    (.docx), Markdown (.md) or HTML (.html) file keeps its formatting if the output is of the same
    kind. The text of a PDF, OpenDocument (.odt) or RTF file is written as Word or text.

    Options:
    --splitter, -s NAME: Which splitter to use.
    --format, -f: text: the input with its sentences split. jsonl, json, parquet: one record for
        each sentence of running text, or for each row of a table. diff: source against simple
        sentences. html: a page that shows where each word came from. Default: jsonl or parquet if
        the output has that suffix, else text.
    --strict: Use no rewrite in which a check finds a fault or of which the splitter is not sure; if
        there is no other, leave the sentence whole.
    --beam N: Beam width of a splitter that searches: a smaller beam is faster, a larger one leaves
        more rewrites to choose from.
    --level: How far to split. light: only main clauses and what makes a sentence too long. plain:
        one main idea in each sentence. atomic: one claim in each sentence, which can be understood
        by itself.
    --max-words N: Split simple sentences of more than N words further, where a good split is found.
    --keep-phrases FILE: Terms that no rewrite may tear apart or change, one on each line.
    --confidence X: Use no rewrite whose confidence is below X, from 0 to 1. Default: the limit of
        --strict, if given, else none.
    --explain: Show the patterns of each source, the origin of the words, and what the checks find.
    --input, -i: text: running text. lines: a sentence on each line. tsv: the first column, or
        --column. csv, parquet: the column source, complex or sentence, or --column. jsonl: the
        field source or complex, or --column. auto: by the suffix of the file, else text.
    --column, -c NAME: The column or field with the text; doc.text is the field text inside doc.
    --cell: What a cell of a table or a field of a record holds: text, which is cut into sentences,
        or one sentence.
    --rows: Write one record for each row of the input, one for each sentence in it, or one for each
        claim, as the command claims does.
    --names: In claims, put a name in place of a pronoun that opens a sentence, where only one
        person of the paragraph can be meant.
    --keep COLUMNS: The columns or fields of the input to write again: a,b, or none. Default: all.
    --jobs, -j N: How many processes to use. Default: 1 if results go to standard output, else up to
        one for each core, with --device two. With --engine ray: how many actors at most. Default:
        as many as the cluster has cores, or with --device GPUs.
    --output, -o FILE: Write to this file, not to standard output. A folder (FOLDER/) gets one file
        for each input.
    --part-size MB: Write part files of about this size into the folder that -o names. At addresses
        such as s3://bucket/out/ the default is 128.
    --shard I/N: Only the I-th of N parts of the input, for jobs of a scheduler. Its output is named
        after it: out-00003-of-00064.jsonl.
    --resume: Continue a run that was interrupted; if there is none, begin one.
    --cache FILE: Keep the rewrites in this file, and take from it those of earlier runs with the
        same splitter, settings and version.
    --on-error: What to do with a record that cannot be read. pass: report it and pass it through;
        the exit code is 3. stop: end with exit code 2.
    --errors FILE: Write every bad record to this file, as JSON lines.
    --progress: auto: a bar on a terminal, else a line every minute. json: a JSON object on standard
        error every ten seconds, and when the run begins and ends. none: neither.
    --metrics FILE: Keep the state of the run in this file, in the text format of Prometheus.
    --engine: Where to do the work: local, this machine; ray, a Ray cluster.
    --address HOST:PORT: The Ray cluster. Default: the one in RAY_ADDRESS or on this machine; if
        there is none, one is started here.
    --device NAME: Run the models of the splitter pointer on a GPU: cuda, or cuda:1 for the second.
        Processes compose and check; they share one copy of the models. With --engine ray: on the
        GPUs of the cluster.
    --tracked: In a Word document, make each split a tracked change that can be accepted or
        rejected.
    """

    inputs: Inputs = None
    splitter: str = DEFAULT_SPLITTER
    format_: OutputFormat | None = None
    strict: bool = False
    beam: Annotated[int | None, typer.Option(min=1, max=8)] = None
    level: Level = Level.PLAIN
    max_words: OptionalCount = None
    keep_phrases: Path | None = None
    confidence: Annotated[float | None, typer.Option(min=0, max=1)] = None
    explain: bool = False
    input_: DataFormat = DataFormat.AUTO
    column: str | None = None
    cell: CellKind = CellKind.TEXT
    rows: RowKind = RowKind.INPUT
    names: bool = False
    keep: str | None = None
    jobs: OptionalCount = None
    output: str | None = None
    part_size: Annotated[float | None, typer.Option(min=0)] = None
    shard: str | None = None
    resume: bool = False
    cache: str | None = None
    on_error: OnError = OnError.PASS
    errors: str | None = None
    progress: ProgressForm = ProgressForm.AUTO
    metrics: str | None = None
    provenance: Annotated[
        bool | None,
        typer.Option(
            "--provenance/--no-provenance",
            help="Whether records say where each word came from. Default: yes, but not in Parquet.",
            show_default=False,
        ),
    ] = None
    engine: EngineName = EngineName.LOCAL
    address: str | None = None
    device: str | None = None
    tracked: bool = False

    def __call__(self) -> None:
        """Do it; report problems and, if the output is a file, a summary on standard error."""
        document = self._document()
        if self.device is not None:
            require_device_splitter(self.splitter)
        engine = self._engine()
        splitter = self.task.load()
        if splitter.tracks_costs and (self.jobs or 1) > 1:
            raise self._tracks_costs("--jobs")
        try:
            if document and self.output:
                self._split_document(document, Path(self.output))
            else:
                self._split_files(engine)
        finally:
            if sentence := splitter.report():
                warn(sentence)

    @cached_property
    def task(self) -> SplitterTask:
        check = self.explain or self.format_ is OutputFormat.HTML
        task = SplitterTask(self.splitter, SplitSettings.of(self), check=check)
        if self.cache is not None:
            if self.splitter not in BUILT_IN:
                raise InputError(
                    f'--cache does not know the weights of the splitter "{self.splitter}", only '
                    f"those of {' and '.join(BUILT_IN)}."
                )
            if self.engine is not EngineName.LOCAL:
                raise InputError("--cache is a file of this machine; leave it out with --engine.")
        if not task.load().tracks_costs:
            path = Path(self.cache) if self.cache else None
            made_by = f"{self.splitter} {task.settings} {check} {self.device}"
            task.cache = RewriteCache(made_by, path)
        return task

    @cached_property
    def columns(self) -> Columns:
        if self.keep is None:
            return Columns(self.column, self.cell)
        kept = [] if self.keep == "none" else [each.strip() for each in self.keep.split(",")]
        return Columns(self.column, self.cell, [each for each in kept if each])

    @cached_property
    def is_folder(self) -> bool:
        """Whether the output is a folder: an existing one, or a name that ends in a slash."""
        if self.output is None or self._in_parts:
            return False
        return self.output.endswith(("/", os.sep)) or Path(self.output).is_dir()

    @cached_property
    def _in_parts(self) -> bool:
        """Whether the output is a folder of part files."""
        if self.output is None or self.output == STDIN:
            if self.part_size is not None:
                raise InputError("--part-size needs a folder for the parts; name one with -o.")
            return False
        if is_remote(self.output) and not self.output.endswith("/"):
            raise InputError(
                f"Output at an address is a folder of part files; write to {self.output}/."
            )
        return self.part_size is not None or is_remote(self.output)

    @cached_property
    def _is_stream(self) -> bool:
        """Whether the output is standard output, a pipe or a device."""
        if self.output is None or self.output == STDIN:
            return True
        path = Path(self.output)
        return path.exists() and not path.is_file() and not path.is_dir()

    def _engine(self) -> "Cluster | None":
        """The engine; None is that of this machine."""
        if self.engine is EngineName.LOCAL:
            if self.address is not None:
                raise InputError("--address is that of a Ray cluster; add --engine ray.")
            return None
        if self.device is not None and ":" in self.device:
            raise InputError("On a cluster each actor has its own GPU; give --device cuda.")
        if self.task.load().tracks_costs:
            raise self._tracks_costs("--engine")
        from parataxis.run.cluster import Cluster, ray_package

        ray_package()
        return Cluster(self.address, most=self.jobs, device=self.device, report=warn)

    def _tracks_costs(self, option: str) -> InputError:
        return InputError(
            f'The splitter "{self.task.load().name}" tracks spending in a single process, so it '
            f"cannot run with {option}."
        )

    def _document(self) -> Path | None:
        """The input, if it is a document of the same kind as the output, which then keeps its
        formatting. Raises InputError if a Word document is mixed with anything else."""
        given = self.inputs or []
        output = Path(self.output) if self.output else None
        named = [argument for argument in given if _DOCUMENT.search(argument)]
        if not named and not self.tracked and not (output and _DOCUMENT.search(str(output))):
            return None
        from parataxis.run.documents import DocumentFormat, document_format

        # os.path.isfile, unlike pathlib, answers for any string, however long.
        files = [Path(argument) for argument in named if os.path.isfile(argument)]  # noqa: PTH113
        if len(files) < len(named):
            return None  # reported where the inputs are found
        forms = {file: document_format(file) for file in files}
        word = next((file for file in files if forms[file] is DocumentFormat.WORD), None)
        made = document_format(output) if output else None
        if made and not made.is_written:
            raise InputError(f"{made} files are not written; name the output .docx or .txt.")
        is_plain = bool(
            self.explain
            or self.column
            or self.resume
            or self.shard
            or self.errors
            or self.metrics
            or self.device
            or self.format_ not in (None, OutputFormat.TEXT)
            or self.input_ is not DataFormat.AUTO
            or self.engine is not EngineName.LOCAL
        )
        for file, form in forms.items():
            if form and not form.is_written:
                is_text = output is not None and output.suffix.lower() == ".txt"
                if is_plain or len(given) > 1 or not (is_text or made is DocumentFormat.WORD):
                    raise InputError(
                        f"{file} can be written as Word or text; split it alone, with -o FILE.docx "
                        "or -o FILE.txt, and without --format, --explain and --input."
                    )
                if self.tracked and is_text:
                    raise InputError("Only a Word document (.docx) can have tracked changes.")
                return file
        if word is None and self.tracked:
            raise InputError("Only a Word document (.docx) can have tracked changes.")
        if word is None and made is DocumentFormat.WORD:
            raise InputError(f"Only a Word document can be written as {output}; give one to read.")
        if word and (made is not DocumentFormat.WORD or is_plain):
            raise InputError(
                f"{word} is a Word document; write it to one with -o FILE.docx, without --format, "
                "--explain and --input."
            )
        if word and len(given) > 1:
            raise InputError(f"{word} is a Word document; split it alone.")
        is_same = len(given) == len(files) == 1 and made is document_format(files[0])
        return files[0] if is_same and not is_plain and self.output != STDIN else None

    def _split_document(self, path: Path, output: Path) -> None:
        """Split the sentences of a document; the output appears whole or not at all. Reports how
        many sentences had to be left alone."""
        from parataxis.run.documents import DocumentFormat, document_format, open_document
        from parataxis.run.documents.imported import ImportedDocument
        from parataxis.run.output import require_finished, state_of
        from parataxis.run.pool import in_order
        from parataxis.text.files import write_whole

        require_finished(state_of(output, is_folder=False))
        require_other_file(output, path)
        # Text takes some hundred times as much memory as its bytes.
        is_text = document_format(path) in (DocumentFormat.MARKDOWN, DocumentFormat.HTML)
        limit = (8 if is_text else 256) << 20
        if path.stat().st_size > limit:
            raise InputError(f"{path} is too large: such a document has at most {limit >> 20} MB.")
        document = open_document(path.read_bytes(), str(path))
        if isinstance(document, ImportedDocument):
            warn(document.loss)
        sentences = document.sentences
        batches = (sentences[start : start + BATCH] for start in range(0, len(sentences), BATCH))
        rewrites = []
        with Progress(sum(len(text.encode()) for text in sentences), Output(output)) as progress:
            for batch, results in in_order(batches, self.task, sent=list, jobs=self.jobs or 1):
                rewrites += results
                progress.advance(sum(len(text.encode()) for text in batch), len(batch))
        rewrites = self.task.in_context(rewrites, document.following)
        data, report = document.rewritten(rewrites, tracked=self.tracked)
        if isinstance(document, ImportedDocument) and output.suffix.lower() == ".txt":
            data = document.rewritten_text(rewrites).encode()
        write_whole(output, data)
        if note := report.note():
            warn(note)
        if most := self.max_words:
            _warn_of_length(sum(len(too_long(each, most)) for each in rewrites), most)

    @cached_property
    def _shard(self) -> Shard | None:
        return None if self.shard is None else Shard.parse(self.shard)

    def _split_files(self, engine: "Cluster | None") -> None:
        files = self._find_files()
        check_columns(files, self.columns)
        encoder = self._encoder(files)
        if encoder.form is OutputFormat.PARQUET:  # its columns have to be known before
            from parataxis.run.tables import kept_schema, united

            files = [file.held() if file.is_stream else file for file in files]
            schemas = {file.name: kept_schema(file, self.columns) for file in files}
            kept = schemas if self.is_folder else {"": united(list(schemas.values()))}
            encoder = replace(encoder, kept=kept)
        if self._shard:
            if any(encoder.frame[:3]) and not (self.is_folder or self._in_parts):
                raise InputError(
                    f"Shards of {encoder.form} cannot be joined; choose another --format."
                )
            files = self._shard.of(files, whole=self.is_folder)
        with ExitStack() as stack:
            task, sentences = self._task(engine, stack)
            out = stack.enter_context(open_output(Path(self.output) if self.output else None))
            if engine is not None and self._in_parts:
                engine = replace(engine, keep_results=True)
                stack.enter_context(engine.connected())
            output = self._output(files, encoder, out, stack, engine)
            if output is None:
                return
            is_short = type(output) is StreamOutput
            jobs = self._jobs(files, engine, is_short=is_short)
            if (jobs > 1 or not is_short) and not os.environ.get(THREADS_VARIABLE):
                # Processes are faster than threads, and the batches that a model sees, on which its
                # figures depend a little, are then the same for any number of jobs.
                os.environ[THREADS_VARIABLE] = "1"
                stack.callback(os.environ.pop, THREADS_VARIABLE)
            total = sum(file.length for file in files) - output.now.consumed
            is_known = not any(file.is_stream for file in files)
            if self.errors is not None:
                from parataxis.run.output import AppendedFile

                with system_errors(f"{self.errors} cannot be written"):
                    file = AppendedFile(Path(self.errors), output.now.errors)
                output.errors = stack.enter_context(closing(file))
            watcher = stack.enter_context(
                RunWatcher(
                    total if is_known else None,
                    out,
                    output,
                    on_error=self.on_error,
                    form=self.progress,
                    metrics=Path(self.metrics) if self.metrics else None,
                )
            )
            try:
                done = run(
                    files,
                    Work(task, encoder, task.load().name),
                    output,
                    watcher,
                    engine=engine or Local(jobs),
                    columns=self.columns,
                    sentences=BATCH if is_short else sentences,
                )
            except KeyboardInterrupt:
                if output.now.sentences and not is_short:
                    warn("Interrupted; go on with --resume.")
                raise
        by_record = all(file.kind is not DataFormat.TEXT for file in files)
        watcher.summarise(by_record=by_record, is_short=is_short)
        if self.max_words:
            _warn_of_length(done.too_long, self.max_words)
        if done.problems:
            raise typer.Exit(PASSED_THROUGH)

    def _find_files(self) -> list[DataFile]:
        """The inputs. What a run writes into a folder that it reads is not among them; where it
        would be, now or the next time, that is refused."""
        files = find_inputs(self.inputs or [], self.input_, self.column)
        if self.output is None or self._is_stream:
            return files
        if is_remote(self.output):
            if any(self.output.startswith(f"{each.rstrip('/')}/") for each in self.inputs or []):
                raise InputError(f"{self.output} is in a folder that is read; write elsewhere.")
            return files
        output = Path(self.output).resolve()
        folders = [Path(each) for each in self.inputs or [] if os.path.isdir(each)]  # noqa: PTH112
        around = [each for each in folders if output.is_relative_to(each.resolve())]
        if self.is_folder and output in [each.resolve() for each in around]:
            raise InputError(f"{self.output} is also an input; write to another folder.")
        if around and not self.is_folder and data_format(output):
            raise InputError(
                f"{self.output} would be read as an input the next time, since it is in "
                f"{around[0]}; write it to another place."
            )

        def is_own(file: DataFile) -> bool:
            listed = [each / file.place for each in around]
            return any(
                each == file.path and each.resolve().is_relative_to(output) for each in listed
            )

        if not (kept := [file for file in files if not is_own(file)]):
            raise InputError(f"There is nothing to read but what is in {self.output}.")
        return kept

    def _encoder(self, files: Sequence[DataFile]) -> RecordEncoder:
        form = self._form(files)
        is_file = self.output and not self.is_folder and not self._in_parts
        packing = packing_of(self.output or "") if is_file else Packing.NONE
        if form is OutputFormat.PARQUET and (packing or self._is_stream):
            raise InputError("Parquet is written to a file without .gz or .zst; name one with -o.")
        return RecordEncoder(
            form,
            packing,
            (form is not OutputFormat.PARQUET) if self.provenance is None else self.provenance,
            rows=self.rows,
            names=self.names,
            explain=self.explain,
            title=", ".join(file.name for file in files[:20]),
            header=not files[0].is_given_text,
            colour=wants_colour(Output(Path(self.output) if self.output else None)),
        )

    def _form(self, files: Sequence[DataFile]) -> OutputFormat:
        if self.format_ is not None:
            return self.format_
        if self.is_folder or self._in_parts:
            kinds = {file.kind for file in files}  # their own format, if they all have one
            if kinds <= {DataFormat.TEXT, DataFormat.LINES}:
                return OutputFormat.TEXT
            return OutputFormat.PARQUET if kinds == {DataFormat.PARQUET} else OutputFormat.JSONL
        if self.output is None:
            return OutputFormat.TEXT
        path = Path(self.output)
        suffix = (path.with_suffix("") if packing_of(path) else path).suffix.lower()
        if suffix in _UNWRITTEN:
            raise InputError(
                f"{suffix} files are not written; name the output .txt, .jsonl or .parquet, or "
                "choose what to write with --format."
            )
        return _BY_SUFFIX.get(suffix, OutputFormat.TEXT)

    def _task(self, engine: Engine | None, stack: ExitStack) -> tuple[SplitterTask, int]:
        """What is done, and with how many sentences at a time."""
        if self.device is None:
            return self.task, SENTENCES
        from parataxis.run.gpu.server import RemoteModels, served
        from parataxis.run.gpu.splitter import WINDOW

        if engine is not None:  # the models are where the engine works
            return self.task, WINDOW
        models = RemoteModels(stack.enter_context(served(self.device)))
        return replace(self.task, models=models), WINDOW

    def _jobs(self, files: Sequence[DataFile], engine: Engine | None, *, is_short: bool) -> int:
        if self.jobs is not None or engine is not None or self.task.load().tracks_costs:
            return self.jobs or 1
        if self.device:
            from parataxis.run.pool import BESIDE_GPU

            return cores() * BESIDE_GPU
        size = sum(file.length for file in files)
        return 1 if is_short else max(1, min(cores(), size // _WORTH_A_PROCESS))

    def _output(
        self,
        files: Sequence[DataFile],
        encoder: RecordEncoder,
        out: Output,
        stack: ExitStack,
        engine: "Cluster | None",
    ) -> StreamOutput | None:
        """Where to write; None if everything is written already."""
        is_resumable = all(file.can_be_resumed for file in files)
        if self.output is None or self._is_stream:
            if self.resume:
                raise InputError(
                    "Only output to a file or folder can be resumed; name one with -o."
                )
            return StreamOutput(out.write, encoder.frame)
        if self.resume and not is_resumable:
            raise InputError(
                "Standard input cannot be read again, so this run cannot be resumed; name files."
            )
        if self._in_parts:
            return self._part_output(files, encoder, stack, engine)
        from parataxis.run.output import (
            FileOutput,
            Manifest,
            is_unfinished,
            require_finished,
            state_of,
            sweep,
        )

        path = Path(self.output)
        if self._shard and not self.is_folder:
            path = self._shard.named(path)
        targets = [path]
        if self.is_folder:
            targets = [path / _place(file.place, encoder.form) for file in files]
        _check_targets(targets, files)
        state = state_of(path, is_folder=self.is_folder)
        if self._shard and self.is_folder:
            state = state.with_name(f"{state.name}-{self._shard}")
        if not is_resumable and not self.is_folder and encoder.form is not OutputFormat.PARQUET:
            require_finished(state)
            return StreamOutput(out.write, encoder.frame)
        if self.resume and not is_unfinished(state) and all(each.exists() for each in targets):
            sweep(state)
            warn(f"{path} is complete, so nothing is left to do.")
            return None
        output = FileOutput(
            targets, state, encoder=encoder, by_file=self.is_folder, is_resumable=is_resumable
        )
        manifest = Manifest.of(self._options(encoder), files)
        stack.enter_context(output.opened(manifest, files, resume=self.resume))
        return output

    def _part_output(
        self,
        files: Sequence[DataFile],
        encoder: RecordEncoder,
        stack: ExitStack,
        engine: "Cluster | None",
    ) -> StreamOutput | None:
        from parataxis.run.output import Manifest
        from parataxis.run.parts import PART_SIZE, PartOutput, store_part
        from parataxis.run.remote import open_store

        if not all(file.can_be_resumed for file in files):
            raise InputError("Standard input cannot be written to part files; name files.")
        address = str(self.output)
        if not is_remote(address):
            Path(address).mkdir(parents=True, exist_ok=True)
            address = Path(address).resolve().as_uri()
        output = PartOutput(
            open_store(address),
            encoder,
            size=int((PART_SIZE if self.part_size is None else self.part_size) * 1_000_000),
            suffix=_SUFFIXES[encoder.form],
            stem=f"shard-{self._shard}-" if self._shard else "",
            store_part=engine.store_part if engine else store_part,
        )
        manifest = Manifest.of(
            {**self._options(encoder), "--part-size": str(self.part_size)}, files
        )
        if not stack.enter_context(output.opened(manifest, files, resume=self.resume)):
            warn(f"{self.output} is complete, so nothing is left to do.")
            return None
        return output

    def _options(self, encoder: RecordEncoder) -> Mapping[str, str]:
        """Everything that the output depends on, as a user would name it."""
        keep = self.columns.keep
        return {
            "version": __version__,
            "weights": weights_named(*HOMES),
            "--splitter": self.splitter,
            **{
                f"--{name.replace('_', '-')}": str(value)
                for name, value in asdict(self.task.settings).items()
            },
            "--device": str(self.device),
            "--format": f"{encoder.form}{encoder.packing}",
            "--explain": str(encoder.explain),
            "--provenance": str(encoder.provenance),
            "--input": self.input_,
            "--column": str(self.column),
            "--cell": self.cell,
            "--rows": encoder.rows,
            "--names": str(encoder.names),
            "--shard": str(self.shard),
            "--errors": str(self.errors),
            "--keep": "all" if keep is None else ",".join(keep) or "none",
            THREADS_VARIABLE: os.environ.get(THREADS_VARIABLE, "1"),
        }


def split(**options: Any) -> None:
    SplitRun(**options)()


split.__doc__ = SplitRun.__doc__
split.__annotations__ = SplitRun.__annotations__
split.__signature__ = inspect.signature(SplitRun)  # type: ignore[attr-defined]


class ClaimFormat(StrEnum):
    """What ``claims`` can write."""

    JSONL = "jsonl"
    JSON = "json"
    PARQUET = "parquet"
    TEXT = "text"


_NOT_OF_CLAIMS = ("level", "max_words", "explain", "rows", "provenance", "tracked")
"""Options of ``split`` that ``claims`` does not have."""


def claims(format_: ClaimFormat | None = None, **options: Any) -> None:
    """Find the claims of texts: what they say, one thing at a time.

    One record for each claim, with its id, its sentence, its places in the document, what it is
    said under (a condition, somebody's word, ...), its links to other claims, and the confidence.
    Sentences are split at the level atomic; one in which a claim would lose its condition or its
    speaker stays whole. Inputs and long runs are those of the command split.
    """
    form = OutputFormat(format_) if format_ else None
    if form is None and _BY_SUFFIX.get(Path(options["output"] or "").suffix) is None:
        form = OutputFormat.JSONL
    SplitRun(**options, format_=form, level=Level.ATOMIC, rows=RowKind.CLAIM)()


_parameters = inspect.signature(SplitRun).parameters
claims.__annotations__ = {
    **{name: SplitRun.__annotations__[name] for name in _parameters if name not in _NOT_OF_CLAIMS},
    "format_": Annotated[
        ClaimFormat | None,
        typer.Option(
            "--format",
            "-f",
            help="jsonl, json, parquet: one record for each claim. text: one claim on each line. "
            "Default: parquet if the output has that suffix, else jsonl.",
        ),
    ],
}
claims.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
    [
        each.replace(annotation=claims.__annotations__[name])
        for name, each in _parameters.items()
        if name not in _NOT_OF_CLAIMS
    ]
)


def _place(place: Path, form: OutputFormat) -> Path:
    """Where in the folder the output for an input stands: "a/b.csv.gz" becomes "a/b.jsonl"."""
    inner = place.with_suffix("") if packing_of(place) else place
    suffix = _SUFFIXES[form]
    return inner.with_suffix(suffix) if data_format(inner) else Path(f"{inner}{suffix}")


def _check_targets(targets: Sequence[Path], files: Sequence[DataFile]) -> None:
    inputs = {file.path.resolve() for file in files if file.path}
    seen: set[Path] = set()
    for target in targets:
        if target.resolve() in inputs:
            raise InputError(f"{target} is also an input; write the output to another file.")
        if target in seen:
            raise InputError(f"Two inputs would both be written to {target}; split them apart.")
        seen.add(target)


def _warn_of_length(sentences: int, limit: int) -> None:
    if sentences:
        warn(f"Still over {limit} words: {counted(sentences, 'sentence')}.")
