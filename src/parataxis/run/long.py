"""``parataxis split`` over many or huge files: can be resumed, and passes bad records through."""

import os
import signal
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path
from time import monotonic
from typing import BinaryIO

from parataxis import __version__
from parataxis.cli.terminal import Output, Progress, ReaderGoneError, is_reader_gone, warn
from parataxis.errors import InputError
from parataxis.report import counted
from parataxis.run.checkpoint import Checkpoint, Manifest
from parataxis.run.encode import RecordEncoder, RecordFormat
from parataxis.run.files import (
    DataFile,
    DataFormat,
    Packing,
    data_format,
    find_files,
    is_remote,
    packing_of,
)
from parataxis.run.output import FileOutput, StreamOutput, is_unfinished, state_of, sweep
from parataxis.run.pool import BESIDE_GPU, ENDINGS
from parataxis.run.reading import check_columns
from parataxis.run.run import SENTENCES, Engine, Local, run
from parataxis.run.units import BadRecord
from parataxis.run.work import SplitterTask, Work
from parataxis.run.writers import OutputFormat
from parataxis.syntax.onnx import THREADS_VARIABLE, cores
from parataxis.text.inputs import STDIN

_SHOWN = 20
"""Problems that are told one by one; the others are counted."""
_MINUTE = 60.0
"""Seconds between two reports where nobody watches a progress bar."""
_SUFFIXES = {
    RecordFormat.TEXT: ".txt",
    RecordFormat.JSONL: ".jsonl",
    RecordFormat.PARQUET: ".parquet",
}
_UNWRITTEN = frozenset([".csv", ".tsv", ".json", ".bz2", ".xz", ".zip"])
"""Suffixes that promise something which is not written."""


class OnError(StrEnum):
    """What a bad record does."""

    PASS = "pass"
    STOP = "stop"


@dataclass(frozen=True)
class LongRun:
    """A long run as the command line asks for it."""

    inputs: Sequence[str]
    output: str | None
    output_format: OutputFormat | None
    input_format: DataFormat
    task: SplitterTask
    column: str | None = None
    provenance: bool = True
    resume: bool = False
    on_error: OnError = OnError.PASS
    jobs: int | None = None
    engine: Engine | None = None
    device: str | None = None

    def __call__(self) -> None:
        """Do it, and tell how it went on standard error."""
        files = self._find_files()
        check_columns(files, self.column)
        encoder = self._encoder(files)
        processes = cores() * (BESIDE_GPU if self.device else 1)
        engine = self.engine or Local(self.jobs or processes)
        with ExitStack() as stack:
            task, sentences = self._task(stack)
            work = Work(task, encoder, task.load().name)
            output = self._output(files, encoder, stack)
            if output is None:
                return
            stack.enter_context(_one_thread())
            stack.enter_context(_interruptible())
            left = sum(file.size for file in files) - output.now.consumed
            watcher = stack.enter_context(_Watcher(left, self.output, self.on_error))
            try:
                done = run(
                    files,
                    work,
                    output,
                    watcher,
                    engine=engine,
                    column=self.column,
                    sentences=sentences,
                )
            except KeyboardInterrupt:
                if output.now.sentences and not self._is_stream:
                    warn("Interrupted; go on with --resume.")
                raise
        watcher.summarise(done, by_record=all(file.kind is not DataFormat.TEXT for file in files))

    def _find_files(self) -> list[DataFile]:
        """The inputs. What a run writes into a folder that it reads is not among them; where it
        would be, now or the next time, that is refused."""
        if STDIN in self.inputs or not self.inputs:
            raise InputError("A long run reads files, not standard input; name files or folders.")
        files = find_files(self.inputs, self.input_format, self.column)
        if self.output is None or self._is_stream or is_remote(self.output):
            return files
        output = Path(self.output).resolve()
        folders = [Path(each) for each in self.inputs if Path(each).is_dir()]
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

    def _task(self, stack: ExitStack) -> tuple[SplitterTask, int]:
        """What is done, and with how many sentences at a time."""
        if self.device is None:
            return self.task, SENTENCES
        from parataxis.run.gpu.server import RemoteModels, served
        from parataxis.run.gpu.splitter import WINDOW

        if self.engine is not None:  # the models are where it works
            return self.task, WINDOW
        models = RemoteModels(stack.enter_context(served(self.device)))
        return replace(self.task, models=models), WINDOW

    def _encoder(self, files: Sequence[DataFile]) -> RecordEncoder:
        form = self._form(files)
        packing = packing_of(self.output) if self.output and not self.is_folder else Packing.NONE
        if form is RecordFormat.PARQUET and (packing or self._is_stream):
            raise InputError("Parquet is written to a file that is not packed; name one with -o.")
        return RecordEncoder(form, packing, self.provenance)

    def _form(self, files: Sequence[DataFile]) -> RecordFormat:
        if self.output_format is not None:
            if str(self.output_format) not in set(RecordFormat):
                raise InputError(
                    f"A long run writes text, jsonl or parquet, not {self.output_format}."
                )
            return RecordFormat(self.output_format)
        if self.is_folder:
            return _form_of({file.kind for file in files})
        self._require_written()
        kind = data_format(self.output) if self.output else None
        return {DataFormat.JSONL: RecordFormat.JSONL, DataFormat.PARQUET: RecordFormat.PARQUET}.get(
            kind or DataFormat.TEXT, RecordFormat.TEXT
        )

    def _require_written(self) -> None:
        """Refuse a name that promises what is not written."""
        path = Path(self.output or "")
        suffix = (path.with_suffix("") if packing_of(path) else path).suffix
        if suffix.lower() in _UNWRITTEN:
            raise InputError(
                f"A long run writes text, .jsonl and .parquet, the first two also packed as .gz or "
                f".zst, but not {suffix}; name it otherwise, or add --format text."
            )

    @property
    def is_folder(self) -> bool:
        """Whether the output is a folder."""
        return is_folder(self.output)

    @property
    def _is_stream(self) -> bool:
        """Whether the output is one that cannot be written again from an earlier place."""
        if self.output is None or self.output == STDIN:
            return True
        path = Path(self.output)
        return path.exists() and not path.is_file() and not path.is_dir()

    def _output(
        self, files: Sequence[DataFile], encoder: RecordEncoder, stack: ExitStack
    ) -> FileOutput | StreamOutput | None:
        """Where to write; None where all is written already."""
        if self.output is None or self._is_stream:
            if self.resume:
                raise InputError(
                    "Only output to a file or folder can be resumed; name one with -o."
                )
            return StreamOutput(stack.enter_context(_stream(self.output)))
        if is_remote(self.output):
            raise InputError(
                f"{self.output} is elsewhere, and output is written to a disk of this machine; "
                "copy it there afterwards."
            )
        path = Path(self.output)
        targets = [path]
        if self.is_folder:
            targets = [path / _place(file.place, encoder.form) for file in files]
        _check_targets(targets, files)
        state = state_of(path, is_folder=self.is_folder)
        if self.resume and not is_unfinished(state) and all(each.exists() for each in targets):
            sweep(state)
            warn(f"{self.output} is there and has no unfinished run, so nothing is left to do.")
            return None
        parquet = encoder.form is RecordFormat.PARQUET
        output = FileOutput(
            targets, state, by_file=self.is_folder, parquet=parquet, empty=encoder.empty
        )
        manifest = Manifest.of(self._options(encoder), files)
        stack.enter_context(output.opened(manifest, files, resume=self.resume))
        return output

    def _options(self, encoder: RecordEncoder) -> Mapping[str, str]:
        """All that the output depends on, as a user would name it."""
        return {
            "version": __version__,
            "--splitter": self.task.splitter,
            "--strict": str(self.task.strict),
            "--beam": str(self.task.beam),
            "--device": str(self.device),
            "--format": f"{encoder.form}{encoder.packing}",
            "--no-provenance": str(not encoder.provenance),
            "--input": self.input_format,
            "--column": str(self.column),
            THREADS_VARIABLE: os.environ.get(THREADS_VARIABLE, "1"),
        }


def wants_long_run(
    inputs: Sequence[str], output: str | None, form: OutputFormat | None, kind: DataFormat
) -> bool:
    """Whether files of these kinds are read or written by a long run only."""
    tables = (DataFormat.CSV, DataFormat.PARQUET)
    if form is OutputFormat.PARQUET or kind in tables or is_folder(output):
        return True
    if output is not None and (
        is_remote(output) or packing_of(output) or data_format(output) is DataFormat.PARQUET
    ):
        return True
    return any(
        is_remote(each) or packing_of(each) or data_format(each) in tables for each in inputs
    )


def is_folder(output: str | None) -> bool:
    """Whether the output is to be a folder: one that is there, or a name that ends in a slash."""
    return output is not None and (output.endswith(("/", os.sep)) or Path(output).is_dir())


def _form_of(kinds: set[DataFormat]) -> RecordFormat:
    """In a folder, the output is as the inputs are, where they are all alike."""
    if kinds <= {DataFormat.TEXT, DataFormat.LINES}:
        return RecordFormat.TEXT
    return RecordFormat.PARQUET if kinds == {DataFormat.PARQUET} else RecordFormat.JSONL


def _place(place: Path, form: RecordFormat) -> Path:
    """Where in the folder the output for an input stands: "a/b.csv.gz" becomes "a/b.jsonl"."""
    inner = place.with_suffix("") if packing_of(place) else place
    return (
        inner.with_suffix(_SUFFIXES[form])
        if data_format(inner)
        else Path(f"{inner}{_SUFFIXES[form]}")
    )


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
    """Let a process that is told to end do so as after Ctrl-C: what was done until then is kept,
    and the others end too. What is ignored, as under nohup, stays so."""
    changed = [each for each in ENDINGS if signal.getsignal(each) is signal.SIG_DFL]
    for number in changed:
        signal.signal(number, signal.default_int_handler)
    try:
        yield
    finally:
        for number in changed:
            signal.signal(number, signal.SIG_DFL)


@contextmanager
def _stream(path: str | None) -> Iterator[Callable[[bytes], None]]:
    """Write bytes to standard output, a pipe or a device."""
    if path is None or path == STDIN:
        if sys.stdout is None:
            raise InputError("Standard output is closed; name a file for the output.")
        yield _writer(sys.stdout.buffer, "The output")
    else:
        with Path(path).open("wb") as stream:
            yield _writer(stream, path)


def _writer(stream: BinaryIO, name: str) -> Callable[[bytes], None]:
    def write(data: bytes) -> None:
        try:
            stream.write(data)
            stream.flush()
        except OSError as error:
            if is_reader_gone(error):
                raise ReaderGoneError from error
            reason = (error.strerror or str(error)).lower()
            raise InputError(f"{name} cannot be written: {reason}.") from error

    return write


class _Watcher(Progress):
    """Shows progress, tells problems, and at the end how it went."""

    def __init__(self, total: int, output: str | None, on_error: OnError) -> None:
        super().__init__(total, Output(Path(output) if output else None))
        self._on_error = on_error
        self._problems = 0
        self._told = monotonic()

    def problem(self, problem: BadRecord) -> None:
        """Tell a problem, or stop there."""
        if self._on_error is OnError.STOP:
            raise InputError(str(problem))
        self._problems += 1
        if self._problems <= _SHOWN:
            warn(str(problem))

    def advance(self, size: int, sentences: int) -> None:
        """Count, and where there is no progress bar say every minute how far it has come."""
        super().advance(size, sentences)
        now = monotonic()
        if not sys.stderr.isatty() and now - self._told > _MINUTE:
            self._told = now
            warn(self.report)

    def summarise(self, done: Checkpoint, *, by_record: bool) -> None:
        """Say what was done, and how much of it could not be read; and of how many records, where
        a user would count these."""
        if done.problems:
            hidden = max(0, self._problems - _SHOWN)
            more = f" ({hidden:,} more than were told here)" if hidden else ""
            warn(f"Passed through as they were: {counted(done.problems, 'record')}{more}.")
        records = f" of {counted(done.records, 'record')}" if by_record else ""
        warn(f"{counted(done.sentences, 'sentence')}{records} done, {self.rate:,.0f} per second.")
