"""What a run says while it works and at its end: to people, to programs (JSON lines on standard
error) and to Prometheus (a file of its text format)."""

import json
import sys
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from time import monotonic, time
from typing import Any

from parataxis.cli.terminal import Output, Progress, warn
from parataxis.errors import InputError, system_errors
from parataxis.report import counted
from parataxis.run.pipeline import StreamOutput
from parataxis.run.units import BadRecord

_SHOWN = 20  # problems that are reported one by one; the others are counted
_MINUTE = 60.0  # seconds between two reports if there is no progress bar
_TICK = 10.0  # seconds between two reports for programs

_METRICS = {
    "sentences": ("counter", "_total", "Sentences done, also before the run was resumed."),
    "records": ("counter", "_total", "Records done."),
    "problems": ("counter", "_total", "Records that were passed through because of a problem."),
    "known": ("counter", "_total", "Sentences that were known, and not split again."),
    "per_second": ("gauge", "", "Sentences per second since the run was started or resumed."),
    "done": ("gauge", "_ratio", "The share of the input that is done."),
    "memory": ("gauge", "_bytes", "The most memory that the process of the run has used."),
    "running": ("gauge", "", "Whether the run goes on."),
    "updated_seconds": ("gauge", "", "When this was written."),
}


class OnError(StrEnum):
    """What to do with a record that cannot be read."""

    PASS = "pass"
    STOP = "stop"


class ProgressForm(StrEnum):
    """How progress is shown."""

    AUTO = "auto"
    JSON = "json"
    NONE = "none"


def peak_memory() -> tuple[int, int]:
    """The most memory that this process has used, and the largest of those that it started and
    that have ended, in bytes; 0 where the system does not say."""
    try:
        import resource
    except ImportError:  # Windows
        return 0, 0
    unit = 1 if sys.platform == "darwin" else 1024
    return (
        resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit,
        resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * unit,
    )


class RunWatcher(Progress):
    """Follows a run that writes to ``output``, of which ``total`` bytes of input are left."""

    def __init__(
        self,
        total: int | None,
        shown_on: Output,
        output: StreamOutput,
        *,
        on_error: OnError = OnError.PASS,
        form: ProgressForm = ProgressForm.AUTO,
        metrics: Path | None = None,
    ) -> None:
        super().__init__(total, shown_on)
        self._output, self._on_error, self._form, self._metrics = output, on_error, form, metrics
        self._visible = self._visible and form is ProgressForm.AUTO
        self._problems = 0
        self._reported_at = monotonic()

    def problem(self, problem: BadRecord) -> None:
        if self._on_error is OnError.STOP:
            raise InputError(str(problem))
        self._problems += 1
        if self._problems <= _SHOWN:
            warn(str(problem))

    def advance(self, size: int, sentences: int) -> None:
        """Count, and report from time to time how far it has come."""
        super().advance(size, sentences)
        for_programs = self._form is ProgressForm.JSON or self._metrics
        now = monotonic()
        if now - self._reported_at >= (_TICK if for_programs else _MINUTE):
            self._reported_at = now
            self._report("progress")
            if self._form is ProgressForm.AUTO and not sys.stderr.isatty():
                warn(self.report)

    def state(self) -> dict[str, Any]:
        """How far it has come."""
        now = self._output.now
        share = min(1.0, self._done / self._total) if self._total else None
        left = None
        if share:
            left = round((monotonic() - self._started) * (1 / share - 1), 1)
        return {
            "sentences": now.sentences,
            "records": now.records,
            "problems": now.problems,
            "known": now.repeated,
            "per_second": round(self.rate, 2),
            "done": None if share is None else round(share, 4),
            "seconds_left": left,
            "memory": peak_memory()[0],
        }

    def _report(self, event: str, **more: Any) -> None:
        state = self.state()
        if self._form is ProgressForm.JSON:
            when = datetime.now(UTC).isoformat(timespec="seconds")
            sys.stderr.write(f"{json.dumps({'event': event, 'time': when, **state, **more})}\n")
            sys.stderr.flush()
        if self._metrics:
            from parataxis.run.output import write_atomically

            with system_errors(f"{self._metrics} cannot be written"):
                write_atomically(self._metrics, self._prometheus(state, event != "end").encode())

    def _prometheus(self, state: dict[str, Any], is_running: bool) -> str:
        """The state in the text format of Prometheus, version 0.0.4."""
        values = {**state, "running": int(is_running), "updated_seconds": round(time())}
        lines = []
        for name, (kind, unit, about) in _METRICS.items():
            full, value = f"parataxis_split_{name}{unit}", values[name]
            if value is not None:
                lines += [f"# HELP {full} {about}", f"# TYPE {full} {kind}", f"{full} {value}"]
        return "\n".join(lines) + "\n"

    def __enter__(self) -> "RunWatcher":
        self._report("start")
        return self

    def __exit__(self, *error: object) -> None:
        super().__exit__(*error)
        outcome = "done"
        if error[0] is not None:
            outcome = "interrupted" if isinstance(error[1], KeyboardInterrupt) else "failed"
        self._report("end", outcome=outcome)

    def summarise(self, *, by_record: bool, is_short: bool) -> None:
        """Say what was done, and how much of it was passed through; and of how many records, where
        a user would count these."""
        done = self._output.now
        if done.problems:
            hidden = max(0, self._problems - _SHOWN)
            more = f" ({hidden:,} more than were reported here)" if hidden else ""
            warn(f"Passed through as they were: {counted(done.problems, 'record')}{more}.")
        if is_short:
            return
        if done.repeated:
            share = done.repeated / max(1, done.sentences)
            warn(f"{counted(done.repeated, 'sentence')} ({share:.0%}) known, and not split again.")
        records = f" of {counted(done.records, 'record')}" if by_record else ""
        own, largest = peak_memory()
        memory = f", with at most {own >> 20:,} MB of memory" if own else ""
        if largest and own:
            memory += f" and {largest >> 20:,} MB in its largest process"
        rate = f"{self.rate:,.0f}" if self.rate >= 10 else f"{self.rate:.1f}"
        warn(f"{counted(done.sentences, 'sentence')}{records} done, {rate} per second{memory}.")
