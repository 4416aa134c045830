"""The documentation is complete and true: nothing is left out, and every example is run.

``python tests/test_docs.py`` writes the real outputs into the examples; read them before you
believe them.
"""

import ast
import doctest
import os
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

import pytest

from parataxis.cli.main import EXIT_CODES
from parataxis.cli.reference import commands, parameters, reference
from parataxis.evaluate.metrics.registry import load_metric
from parataxis.splitters.registry import available_splitters

DOCS = Path(__file__).parents[1] / "docs"
PAGES = sorted(DOCS.glob("*.md"))
COMMANDS = (DOCS / "commands.md").read_text(encoding="utf-8")

_CONSOLE = re.compile(r"(?<=^```console\n).*?(?=^```$)", re.MULTILINE | re.DOTALL)
_EXAMPLE = re.compile(r"^\$ (.*(?:\n>.*)*)\n((?:(?!\$ ).*\n)*)", re.MULTILINE)


def test_docs_command_reference_is_fresh() -> None:
    assert reference() == COMMANDS, "run: python -m parataxis.cli.reference > docs/commands.md"


@pytest.mark.parametrize("name", commands())
def test_docs_name_every_command_and_option(name: str) -> None:
    section = COMMANDS.partition(f"## parataxis {name}\n")[2].partition("\n## ")[0]
    assert section
    for parameter in parameters(commands()[name]):
        assert parameter.help
        for option in parameter.names:
            assert f"`{option}`" in section


def test_docs_name_every_splitter() -> None:
    own = [each.name for each in available_splitters() if each.distribution == "parataxis"]
    assert own
    for name in own:
        assert f"| `{name}` |" in COMMANDS


def test_docs_name_every_exit_code() -> None:
    for code in EXIT_CODES:
        assert f"| `{code}` |" in COMMANDS


def test_docs_state_the_stability_of_every_public_name() -> None:
    """A module that users import says what is public in it; the table says how stable that is."""
    page = (DOCS / "api.md").read_text(encoding="utf-8")
    stated = {
        module: re.findall(r"`(\w+)`", names)
        for module, names in re.findall(r"^\| `(parataxis[\w.]*)` \|(.*)$", page, re.MULTILINE)
    }
    public = {}
    for path in (DOCS.parent / "src").rglob("*.py"):
        for line in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(line, ast.Assign) and ast.unparse(line.targets[0]) == "__all__":
                parts = path.relative_to(DOCS.parent / "src").with_suffix("").parts
                module = ".".join(part for part in parts if part != "__init__")
                public[module] = sorted(ast.literal_eval(line.value))
    assert {module: sorted(names) for module, names in stated.items()} == public
    shown = re.findall(r"^::: (\S+)$", page, re.MULTILINE)
    for module, names in public.items():
        assert module in shown or all(
            any(f"{each}.{name}" in shown or each in shown for each in (module, "parataxis"))
            for name in names
            if name not in ("__version__", "BATCH")
            and not (module == "parataxis" and name.endswith("Error"))
        )


def test_docs_name_every_page_for_assistants() -> None:
    linked = re.findall(r"\]\(([^)]+)\)", (DOCS.parent / "llms.txt").read_text(encoding="utf-8"))
    assert {path.relative_to(DOCS.parent).as_posix() for path in PAGES} <= {
        *linked,
        "docs/README.md",
    }
    for target in linked:
        assert (DOCS.parent / target).exists(), target


def test_docs_name_every_extra() -> None:
    page = (DOCS / "getting-started.md").read_text(encoding="utf-8")
    project = tomllib.loads((DOCS.parent / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert set(re.findall(r"^\| `(\w+)` \|", page, re.MULTILINE)) == set(
        project["optional-dependencies"]
    )


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_docs_links_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8")):
        if "://" not in target:
            assert (page.parent / target).exists(), target


def test_docs_results_have_the_signatures_of_today() -> None:
    page = (DOCS / "results.md").read_text(encoding="utf-8")
    printed = re.findall(r"^- `(.+)`$", page.partition("## Signatures")[2], re.MULTILINE)
    assert printed
    for signature in printed:
        today = str(load_metric(signature.partition("|")[0]).signature)
        assert _without_versions(signature) == _without_versions(today), "run benchmarks/results.py"


def _without_versions(signature: str) -> str:
    return re.sub(r"\|sacrebleu:[^|]*", "", signature)


_NEED = [
    ("$ parataxis evaluate", "sacrebleu", "metrics"),
    ("$ parataxis study create", "sqlalchemy", "study"),
    (".docx", "lxml", "docx"),
    (">>> import spacy", "spacy", "spacy"),
    (">>> import pandas", "pandas", "pandas"),
    (">>> from datasets", "datasets", "dev"),
    (">>> from langchain", "langchain_text_splitters", "langchain"),
]
"""What the examples use, and what that needs."""


def _skip_without_extras(text: str) -> None:
    for used, package, extra in _NEED:
        if used in text:
            pytest.importorskip(package, reason=f"needs the extra [{extra}]")


@pytest.mark.skipif(not shutil.which("bash"), reason="the examples are written for bash")
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_docs_console_examples_are_true(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    _skip_without_extras(text)
    assert with_real_outputs(text) == text


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_docs_python_examples_are_true(page: Path) -> None:
    _skip_without_extras(page.read_text(encoding="utf-8"))
    failed, _ = doctest.testfile(str(page), module_relative=False, encoding="utf-8")
    assert failed == 0


def with_real_outputs(text: str) -> str:
    """The page with what the commands of its console examples print, run one after the other."""
    if not _CONSOLE.search(text):
        return text
    with tempfile.TemporaryDirectory() as folder:
        parataxis = Path(folder, "bin", "parataxis")
        parataxis.parent.mkdir()
        parataxis.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m parataxis "$@"\n')
        parataxis.chmod(0o755)
        work = Path(folder, "work")
        work.mkdir()

        def rerun(example: re.Match[str]) -> str:
            return f"$ {example[1]}\n{_output(example[1], work, parataxis.parent)}"

        return _CONSOLE.sub(lambda block: _EXAMPLE.sub(rerun, block[0]), text)


def _output(command: str, work: Path, programs: Path) -> str:
    script = re.sub(r"\n> ?", "\n", command)
    path = os.pathsep.join([str(programs), str(Path(sys.executable).parent), os.environ["PATH"]])
    done = subprocess.run(
        ["bash", "-c", script],
        cwd=work,
        env={**os.environ, "PATH": path},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        encoding="utf-8",
        check=False,
    )
    return done.stdout


if __name__ == "__main__":
    for each in PAGES:
        each.write_text(with_real_outputs(each.read_text(encoding="utf-8")), encoding="utf-8")
