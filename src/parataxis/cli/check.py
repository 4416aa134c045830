"""``parataxis check``: what the checks find in rewrites, whoever made them."""

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Annotated

import typer

from parataxis.api import with_findings
from parataxis.cli.inputs import Input, resolve_inputs
from parataxis.cli.tables import counted, plain_table
from parataxis.cli.terminal import Progress, open_output
from parataxis.errors import InputError
from parataxis.rewrite.jsonl import read_rewrites, to_json
from parataxis.rewrite.record import Kind, Rewrite
from parataxis.rewrite.render import describe

__all__ = ["check"]


class CheckFormat(StrEnum):
    """How ``check`` writes what it found."""

    TEXT = "text"
    JSON = "json"
    JSONL = "jsonl"


def check(
    inputs: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="FILES | -",
            show_default=False,
            help="Files of rewrites as JSON lines, or - for standard input.",
        ),
    ] = None,
    output_format: Annotated[
        CheckFormat,
        typer.Option(
            "--format",
            "-f",
            help="text: each finding, then a summary. json: the summary. jsonl: the rewrites "
            "with their findings.",
        ),
    ] = CheckFormat.TEXT,
    fail: Annotated[
        bool, typer.Option("--fail", help="Exit with code 1 if anything is found.")
    ] = False,
) -> None:
    """Check rewrites for lost or new facts and broken sentences.

    The checks look for lost and new words, names, numbers, negations and links, repeated facts,
    sentences without a verb, stranded clauses, ambiguous pronouns and changed relations.

    Reads what `parataxis split --format jsonl` writes, or any JSON lines with the fields
    source (or complex) and simple.
    """
    sources = resolve_inputs(inputs or [])
    for source in sources:
        _validate(source)
    summary = _Summary()
    with open_output(None) as out, Progress(None, out) as progress:
        for rewrite in with_findings(_read(sources)):
            summary.add(rewrite)
            out.write(_FINDINGS[output_format](rewrite))
            progress.advance(0, 1)
        out.write(_SUMMARIES[output_format](summary))
    if fail and summary.with_finding:
        raise typer.Exit(1)


@dataclass
class _Summary:
    rewrites: int = 0
    with_finding: int = 0
    kinds: Counter[Kind] = field(default_factory=Counter)

    def add(self, rewrite: Rewrite) -> None:
        found = {finding.kind for finding in rewrite.findings or ()}
        self.rewrites += 1
        self.with_finding += bool(found)
        self.kinds.update(found)

    def share(self, count: int) -> float:
        return 100 * count / self.rewrites if self.rewrites else 0.0


def _validate(source: Input) -> None:
    if source.text is not None:
        raise InputError(f'There is no file "{source.text}"; check reads files of rewrites.')
    if not source.is_stream:
        for _ in _read([source]):
            pass


def _read(sources: Iterable[Input]) -> Iterator[Rewrite]:
    for source in sources:
        with source.lines() as lines:
            yield from read_rewrites(lines, source.name)


def _finding_lines(rewrite: Rewrite) -> str:
    return "".join(f"{rewrite.id}: {describe(each)}\n" for each in rewrite.findings or ())


def _summary_table(summary: _Summary) -> str:
    counts = [(kind.value, summary.kinds[kind]) for kind in Kind]
    rows = [(name, str(n), f"{summary.share(n):.1f}") for name, n in counts]
    total = str(summary.with_finding), f"{summary.share(summary.with_finding):.1f}"
    table = plain_table(("finding", "rewrites", "%"), [*rows, ("any", *total)], right=(1, 2))
    gap = "\n" if summary.with_finding else ""
    return f"{gap}{table}\n{counted(summary.rewrites, 'rewrite')} checked\n"


def _summary_json(summary: _Summary) -> str:
    record = {
        "rewrites": summary.rewrites,
        "with_finding": summary.with_finding,
        "kinds": {kind.value: summary.kinds[kind] for kind in Kind},
    }
    return json.dumps(record, indent=1) + "\n"


def _nothing(_: object) -> str:
    return ""


_FINDINGS: dict[CheckFormat, Callable[[Rewrite], str]] = {
    CheckFormat.TEXT: _finding_lines,
    CheckFormat.JSON: _nothing,
    CheckFormat.JSONL: lambda rewrite: f"{to_json(rewrite)}\n",
}
_SUMMARIES: dict[CheckFormat, Callable[[_Summary], str]] = {
    CheckFormat.TEXT: _summary_table,
    CheckFormat.JSON: _summary_json,
    CheckFormat.JSONL: _nothing,
}
