"""The recipes fit what they run: their files exist, and their options are those of the command."""

import json
import re
import tomllib
from configparser import RawConfigParser
from pathlib import Path

import pytest

from parataxis.cli.reference import commands, parameters

ROOT = Path(__file__).parents[2]
DEPLOY = ROOT / "examples" / "deploy"

pytestmark = pytest.mark.skipif(
    not DEPLOY.exists(), reason="these tests are not run from a checkout"
)


def require_command(words: list[str]) -> None:
    program, command, *options = words
    assert program == "/opt/parataxis/bin/parataxis"
    known = {name for each in parameters(commands()[command]) for name in each.names}
    assert {word for word in options if word.startswith("-")} <= known


def test_deploy_container_runs_the_service() -> None:
    text = (DEPLOY / "Containerfile").read_text(encoding="utf-8")
    entry = re.search(r"^ENTRYPOINT (\[.*\])$", text, re.MULTILINE)
    assert entry
    require_command(json.loads(entry[1]))
    for copied in re.findall(r"^COPY (?!--from)(.*) \S+$", text, re.MULTILINE):
        for name in copied.split():
            assert (ROOT / name).exists(), name
    extras = re.search(r'"\.\[([\w,]+)\]"', text)
    assert extras
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert set(extras[1].split(",")) <= set(project["optional-dependencies"])


def test_deploy_unit_runs_the_service_for_this_machine_only() -> None:
    unit = RawConfigParser(strict=False, interpolation=None)
    unit.optionxform = str  # type: ignore[assignment, method-assign]
    unit.read(DEPLOY / "parataxis.service", encoding="utf-8")
    words = unit["Service"]["ExecStart"].split()
    require_command(words)
    assert words[words.index("--host") + 1] == "127.0.0.1"
    for name, value in (
        ("DynamicUser", "yes"),
        ("ProtectSystem", "strict"),
        ("IPAddressDeny", "any"),
        ("CapabilityBoundingSet", ""),
    ):
        assert unit["Service"][name] == value
