"""A run as the command line asks for it: its inputs, its output, its engine, and its report."""

import os
import signal
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path
from time import monotonic

import typer

from parataxis import __version__
from parataxis.api import BATCH
from parataxis.cli.terminal import ENDINGS, Output, Progress, open_output, wants_colour, warn
from parataxis.errors import InputError
from parataxis.report import counted
from parataxis.run.encode import RECORDS, OutputFormat, RecordEncoder
from parataxis.run.files import (
    DataFile,
    DataFormat,
    HeldInput,
    Packing,
    data_format,
    find_inputs,
    is_remote,
    packing_of,
)
from parataxis.run.pipeline import (
    SENTENCES,
    Checkpoint,
    Engine,
    Local,
    RunOutput,
    StreamOutput,
    run,
)
from parataxis.run.reading import check_columns
from parataxis.run.rows import Columns, RowKind
from parataxis.run.units import BadRecord
from parataxis.run.work import SplitterTask, Work
from parataxis.syntax.onnx import THREADS_VARIABLE, cores
from parataxis.text.inputs import STDIN

PASSED_THROUGH = 3
"""The exit code where records could not be read, or sentences not be rewritten."""

_SHOWN = 20
"""Problems that are reported one by one; the others are counted."""
_MINUTE = 60.0
"""Seconds between two reports where there is no progress bar."""
_WORTH_A_PROCESS = 1 << 15
"""Bytes of input for which another process is worth its start."""
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
"""Suffixes of formats that are not written, or not without being asked for."""


class OnError(StrEnum):
    """What to do with a record that cannot be read."""

    PASS = "pass"
    STOP = "stop"


@dataclass(frozen=True)
class SplitRun:
    """What ``parataxis split`` is to do with inputs other than formatted documents."""

    inputs: Sequence[str]
    output: str | None
    output_format: OutputFormat | None
    input_format: DataFormat
    task: SplitterTask
    columns: Columns
    rows: RowKind = RowKind.INPUT
    explain: bool = False
    provenance: bool | None = None
    resume: bool = False
    on_error: OnError = OnError.PASS
    jobs: int | None = None
    engine: Engine | None = None
    device: str | None = None

    def __call__(self) -> None:
        """Do it; report problems and, where the output is a file, a summary on standard error."""
        files = self._find_files()
        check_columns(files, self.columns)
        encoder = self._encoder(files)
        files = [_repeatable(file, encoder) for file in files]
        encoder = self._with_kept(encoder, files)
        with ExitStack() as stack:
            task, sentences = self._task(stack)
            out = stack.enter_context(open_output(Path(self.output) if self.output else None))
            output = self._output(files, encoder, out, stack)
            if output is None:
                return
            jobs = self._jobs(files, output)
            if jobs > 1 or not isinstance(output, StreamOutput):
                stack.enter_context(_one_thread())
            stack.enter_context(_interruptible())
            total = sum(file.size for file in files) - output.now.consumed
            is_known = not any(file.is_stream for file in files)
            watcher = stack.enter_context(_Watcher(total if is_known else None, out, self.on_error))
            try:
                done = run(
                    files,
                    Work(task, encoder, task.load().name),
                    output,
                    watcher,
                    engine=self.engine or Local(jobs),
                    columns=self.columns,
                    sentences=BATCH if isinstance(output, StreamOutput) else sentences,
                )
            except KeyboardInterrupt:
                if output.now.sentences and not isinstance(output, StreamOutput):
                    warn("Interrupted; go on with --resume.")
                raise
        by_record = all(file.kind is not DataFormat.TEXT for file in files)
        watcher.summarise(done, by_record=by_record, is_short=isinstance(output, StreamOutput))
        if done.problems:
            raise typer.Exit(PASSED_THROUGH)

    def _find_files(self) -> list[DataFile]:
        """The inputs. What a run writes into a folder that it reads is not among them; where it
        would be, now or the next time, that is refused."""
        files = find_inputs(self.inputs, self.input_format, self.columns.text)
        if self.output is None or self._is_stream or is_remote(self.output):
            return files
        output = Path(self.output).resolve()
        folders = [Path(each) for each in self.inputs if os.path.isdir(each)]  # noqa: PTH112
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
        packing = packing_of(self.output) if self.output and not self.is_folder else Packing.NONE
        if form is OutputFormat.PARQUET and (packing or self._is_stream):
            raise InputError("Parquet is written to a file that is not packed; name one with -o.")
        is_given = isinstance(files[0].path, HeldInput) and files[0].name == "text"
        return RecordEncoder(
            form,
            packing,
            self.provenance is not False
            if form is not OutputFormat.PARQUET
            else bool(self.provenance),
            rows=self.rows,
            explain=self.explain,
            title=", ".join(file.name for file in files[:20]),
            header=not is_given,
            colour=wants_colour(Output(Path(self.output) if self.output else None)),
        )

    def _form(self, files: Sequence[DataFile]) -> OutputFormat:
        if self.output_format is not None:
            return self.output_format
        if self.is_folder:
            return _form_of({file.kind for file in files})
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

    def _with_kept(self, encoder: RecordEncoder, files: Sequence[DataFile]) -> RecordEncoder:
        """The encoder with the types of the columns that are kept, where it has to know them."""
        if encoder.form is not OutputFormat.PARQUET:
            return encoder
        from parataxis.run.tables import kept_schema, united

        schemas = {file.name: kept_schema(file, self.columns) for file in files}
        return replace(encoder, kept=schemas if self.is_folder else {"": united(schemas)})

    @property
    def is_folder(self) -> bool:
        """Whether the output is a folder: an existing one, or a name that ends in a slash."""
        if self.output is None:
            return False
        return self.output.endswith(("/", os.sep)) or Path(self.output).is_dir()

    @property
    def _is_stream(self) -> bool:
        """Whether the output is standard output, a pipe or a device."""
        if self.output is None or self.output == STDIN:
            return True
        path = Path(self.output)
        return path.exists() and not path.is_file() and not path.is_dir()

    def _task(self, stack: ExitStack) -> tuple[SplitterTask, int]:
        """What is done, and with how many sentences at a time."""
        if self.device is None:
            return self.task, SENTENCES
        from parataxis.run.gpu.server import RemoteModels, served
        from parataxis.run.gpu.splitter import WINDOW

        if self.engine is not None:  # the models are where the engine works
            return self.task, WINDOW
        models = RemoteModels(stack.enter_context(served(self.device)))
        return replace(self.task, models=models), WINDOW

    def _jobs(self, files: Sequence[DataFile], output: RunOutput) -> int:
        """How many processes to use."""
        if self.jobs is not None or self.engine is not None:
            return self.jobs or 1
        if self.device:
            from parataxis.run.pool import BESIDE_GPU

            return cores() * BESIDE_GPU
        if isinstance(output, StreamOutput):
            return 1
        size = sum(file.size for file in files)
        return max(1, min(cores(), size // _WORTH_A_PROCESS))

    def _output(
        self, files: Sequence[DataFile], encoder: RecordEncoder, out: Output, stack: ExitStack
    ) -> RunOutput | None:
        """Where to write; None where all is written already."""
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
        if is_remote(self.output):
            raise InputError(
                f"{self.output} is remote, and output is written to a local disk; copy it there "
                "afterwards."
            )
        from parataxis.run.checkpoint import Manifest
        from parataxis.run.output import (
            FileOutput,
            is_unfinished,
            require_finished,
            state_of,
            sweep,
        )

        path = Path(self.output)
        targets = [path]
        if self.is_folder:
            targets = [path / _place(file.place, encoder.form) for file in files]
        _check_targets(targets, files)
        state = state_of(path, is_folder=self.is_folder)
        if not is_resumable and not self.is_folder and encoder.form is not OutputFormat.PARQUET:
            require_finished(state)
            return StreamOutput(out.write, encoder.frame)
        if self.resume and not is_unfinished(state) and all(each.exists() for each in targets):
            sweep(state)
            warn(f"{self.output} is complete, so nothing is left to do.")
            return None
        output = FileOutput(
            targets, state, encoder=encoder, by_file=self.is_folder, is_resumable=is_resumable
        )
        manifest = Manifest.of(self._options(encoder), files)
        stack.enter_context(output.opened(manifest, files, resume=self.resume))
        return output

    def _options(self, encoder: RecordEncoder) -> Mapping[str, str]:
        """All that the output depends on, as a user would name it."""
        keep = self.columns.keep
        return {
            "version": __version__,
            "--splitter": self.task.splitter,
            "--strict": str(self.task.strict),
            "--beam": str(self.task.beam),
            "--device": str(self.device),
            "--format": f"{encoder.form}{encoder.packing}",
            "--explain": str(encoder.explain),
            "--provenance": str(encoder.provenance),
            "--input": self.input_format,
            "--column": str(self.columns.text),
            "--cell": self.columns.cell,
            "--rows": encoder.rows,
            "--keep": "all" if keep is None else ",".join(keep) or "none",
            THREADS_VARIABLE: os.environ.get(THREADS_VARIABLE, "1"),
        }


def _repeatable(file: DataFile, encoder: RecordEncoder) -> DataFile:
    """The input; for Parquet, whose columns have to be known before, one that can be read twice."""
    return file.held() if file.is_stream and encoder.form is OutputFormat.PARQUET else file


def _form_of(kinds: set[DataFormat]) -> OutputFormat:
    """In a folder, the output has the format of the inputs, where they all have one."""
    if kinds <= {DataFormat.TEXT, DataFormat.LINES}:
        return OutputFormat.TEXT
    return OutputFormat.PARQUET if kinds == {DataFormat.PARQUET} else OutputFormat.JSONL


def _place(place: Path, form: OutputFormat) -> Path:
    """Where in the folder the output for an input stands: "a/b.csv.gz" becomes "a/b.jsonl"."""
    inner = place.with_suffix("") if packing_of(place) else place
    suffix = _SUFFIXES[form]
    return inner.with_suffix(suffix) if data_format(inner) else Path(f"{inner}{suffix}")


def _check_targets(targets: Sequence[Path], files: Sequence[DataFile]) -> None:
    inputs = {file.path.resolve() for file in files}
    seen: set[Path] = set()
    for target in targets:
        if target.resolve() in inputs:
            raise InputError(f"{target} is also an input; write the output to another file.")
        if target in seen:
            raise InputError(f"Two inputs would both be written to {target}; split them apart.")
        seen.add(target)


@contextmanager
def _one_thread() -> Iterator[None]:
    """Let splitters use one thread: processes are faster, and the batches that a model sees, on
    which its figures depend a little, are then the same for any number of jobs."""
    if os.environ.get(THREADS_VARIABLE):
        yield
        return
    os.environ[THREADS_VARIABLE] = "1"
    try:
        yield
    finally:
        del os.environ[THREADS_VARIABLE]


@contextmanager
def _interruptible() -> Iterator[None]:
    """Let SIGTERM and SIGHUP end a run as Ctrl-C does: what was done until then is kept, and its
    processes end too. Signals that are ignored, as under nohup, stay ignored."""
    changed = [each for each in ENDINGS if signal.getsignal(each) is signal.SIG_DFL]
    for number in changed:
        signal.signal(number, signal.default_int_handler)
    try:
        yield
    finally:
        for number in changed:
            signal.signal(number, signal.SIG_DFL)


class _Watcher(Progress):
    """Shows progress, reports problems, and at the end what was done."""

    def __init__(self, total: int | None, output: Output, on_error: OnError) -> None:
        super().__init__(total, output)
        self._on_error = on_error
        self._problems = 0
        self._reported_at = monotonic()

    def problem(self, problem: BadRecord) -> None:
        """Report a problem, or stop there."""
        if self._on_error is OnError.STOP:
            raise InputError(str(problem))
        self._problems += 1
        if self._problems <= _SHOWN:
            warn(str(problem))

    def advance(self, size: int, sentences: int) -> None:
        """Count; where there is no progress bar, report every minute how far it has come."""
        super().advance(size, sentences)
        now = monotonic()
        if not sys.stderr.isatty() and now - self._reported_at > _MINUTE:
            self._reported_at = now
            warn(self.report)

    def summarise(self, done: Checkpoint, *, by_record: bool, is_short: bool) -> None:
        """Say what was done, and how much of it was passed through; and of how many records, where
        a user would count these."""
        if done.problems:
            hidden = max(0, self._problems - _SHOWN)
            more = f" ({hidden:,} more than were reported here)" if hidden else ""
            warn(f"Passed through as they were: {counted(done.problems, 'record')}{more}.")
        if is_short:
            return
        records = f" of {counted(done.records, 'record')}" if by_record else ""
        warn(f"{counted(done.sentences, 'sentence')}{records} done, {self.rate:,.0f} per second.")
