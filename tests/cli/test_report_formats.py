"""Every command that reports numbers writes the same formats."""

import json
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any, get_type_hints

import pytest

from parataxis.cli.main import COMMANDS
from parataxis.report import ReportFormat

Run = Callable[..., Any]

REPORTING = (
    "evaluate",
    "correlate",
    "patterns",
    "corpus describe",
    "corpus leaks",
    "study report",
    "diagnose memorisation",
    "diagnose attention",
    "diagnose errors",
    "diagnose table",
    "downstream",
)
STARTS = {
    ReportFormat.TEXT: "     ",
    ReportFormat.MARKDOWN: "|  | ",
    ReportFormat.JSON: "[\n {\n",
    ReportFormat.CSV: ",",
    ReportFormat.TSV: "\t",
    ReportFormat.LATEX: r"\begin{tabular}{lr}",
    ReportFormat.HTML: "<!doctype html>",
}


@pytest.mark.parametrize("command", REPORTING)
def test_reporting_commands_share_one_format_option(command: str) -> None:
    try:
        module = import_module(COMMANDS[command])
    except ModuleNotFoundError as error:
        pytest.skip(str(error))
    hints = get_type_hints(getattr(module, command.split()[-1]))
    assert ReportFormat in hints.values()


@pytest.mark.parametrize("form", ReportFormat)
def test_a_description_in_every_format(run: Run, tmp_path: Path, form: ReportFormat) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text(json.dumps({"source": "It rained.", "simple": ["It rained."]}) + "\n")
    result = run("corpus", "describe", path, "--format", form.value)
    assert result.code == 0
    assert result.out.startswith(STARTS[form])
