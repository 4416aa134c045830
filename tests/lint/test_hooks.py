"""The hooks for pre-commit and the action for GitHub."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from parataxis.cli.reference import commands, parameters

yaml = pytest.importorskip("yaml", reason="needs the extra [study]")
ROOT = Path(__file__).parents[2]


def test_hooks_call_options_that_exist() -> None:
    hooks = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))
    known = {name for each in parameters(commands()["lint"]) for name in each.names}
    assert [hook["id"] for hook in hooks] == ["parataxis-lint", "parataxis-fix"]
    for hook in hooks:
        program, command, *options = hook["entry"].split()
        assert (program, command) == ("parataxis", "lint")
        assert set(options) <= known
        assert hook["language"] == "python"


@pytest.mark.skipif(not shutil.which("bash"), reason="the action is written for bash")
@pytest.mark.parametrize(
    ("code", "fail", "expected"), [(0, "true", 0), (1, "true", 1), (1, "false", 0), (2, "false", 2)]
)
def test_action_runs_the_command(tmp_path: Path, code: int, fail: str, expected: int) -> None:
    action = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
    step = action["runs"]["steps"][-1]
    given = {**{name: each["default"] for name, each in action["inputs"].items()}, "fail": fail}
    given |= {"paths": "docs README.md", "output": "a b.sarif", "arguments": "--max-words 22"}
    values = {
        name: given[value.removeprefix("${{ inputs.").removesuffix(" }}")]
        for name, value in step["env"].items()
    }
    program = tmp_path / "parataxis"
    program.write_text(f'#!/bin/sh\nprintf "%s\\n" "$@"\nexit {code}\n', encoding="utf-8")
    program.chmod(0o755)
    done = subprocess.run(
        ["bash", "-e", "-c", step["run"]],
        env={**os.environ, **values, "PATH": f"{tmp_path}{os.pathsep}{os.environ['PATH']}"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == expected
    assert done.stdout.splitlines() == [
        *("lint", "docs", "README.md", "--format", "github", "--output", "a b.sarif"),
        *("--max-words", "22"),
    ]
