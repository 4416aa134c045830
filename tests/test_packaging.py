"""The package as users get it: a wheel with its models that installs and runs offline."""

import re
import shutil
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from importlib.util import find_spec
from pathlib import Path

import pytest
from packaging.requirements import Requirement

import parataxis

ROOT = Path(__file__).parents[1]

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not find_spec("hatchling"), reason="building a wheel needs hatchling"),
    pytest.mark.skipif(not find_spec("pip"), reason="building a wheel needs pip"),
    pytest.mark.skipif(
        not (ROOT / "pyproject.toml").exists(), reason="these tests are not run from a checkout"
    ),
]

# A program that fails at the first attempt to reach the network.
OFFLINE = """
import socket, sys

def refuse(*args, **kwargs):
    raise OSError("the network was used")

socket.socket.connect = socket.create_connection = socket.getaddrinfo = refuse
from parataxis.cli.main import main
import parataxis
assert parataxis.__file__.startswith(sys.argv[1]), parataxis.__file__
sys.exit(main(sys.argv[2:]))
"""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    pip("wheel", ROOT, "--no-build-isolation", "--no-deps", "--no-index", "--wheel-dir", folder)
    (built,) = folder.glob("*.whl")
    return built


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("installed")
    pip("install", wheel, "--no-deps", "--no-index", "--target", folder)
    return folder


def pip(*arguments: object) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "pip", "--disable-pip-version-check", *map(str, arguments)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize(
    "name",
    [
        "parataxis/py.typed",
        "parataxis/syntax/model/analyser.onnx",
        "parataxis/syntax/model/analyser.weights",
        "parataxis/syntax/model/trees.onnx",
        "parataxis/syntax/model/analyser.json",
        "parataxis/syntax/model/tokenizer.json",
        "parataxis/syntax/model/NOTICE",
        "parataxis/splitters/pointer/model/decoder.onnx",
        "parataxis/splitters/pointer/model/encoder.onnx",
        "parataxis/splitters/pointer/model/pointer.json",
        "parataxis/splitters/pointer/model/NOTICE",
        "parataxis/checks/model/verifier.onnx",
        "parataxis/checks/model/NOTICE",
        "parataxis/checks/model/CARD.md",
        "parataxis/checks/model/model.json",
        "parataxis/splitters/llm/assets/examples.jsonl",
        "parataxis/splitters/llm/assets/instructions.txt",
        "parataxis/rewrite/assets/page.css",
        "parataxis/rewrite/assets/page.js",
        "parataxis/studies/rubrics/six-criteria.yaml",
        "parataxis/studies/rubrics/write.yaml",
        "parataxis/studies/pages/interface.yaml",
        "parataxis/studies/pages/templates/rate.html",
    ],
)
def test_packaging_wheel_contains(wheel: Path, name: str) -> None:
    with zipfile.ZipFile(wheel) as archive:
        assert archive.getinfo(name).file_size > 0 or name.endswith("py.typed")


def test_packaging_source_archive_has_what_a_checkout_has(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "sdist", "-d", str(tmp_path)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    (built,) = tmp_path.glob("*.tar.gz")
    with tarfile.open(built) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    assert {
        ".ci/run",
        "README.md",
        "SECURITY.md",
        "constraints.txt",
        "benchmarks/README.md",
        "docs/commands.md",
        "pyproject.toml",
        "src/parataxis/splitters/pointer/model/decoder.onnx",
        "src/parataxis/syntax/model/analyser.onnx",
        "tests/conftest.py",
    } <= names


def test_packaging_wheel_is_small_and_carries_nothing_else(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        tops = {name.split("/")[0] for name in archive.namelist()}
    assert tops == {"parataxis", f"parataxis-{parataxis.__version__}.dist-info"}
    assert wheel.stat().st_size < 80_000_000


def test_packaging_wheel_registers_command_and_splitters(installed: Path) -> None:
    (entries,) = installed.glob("parataxis-*.dist-info/entry_points.txt")
    text = entries.read_text(encoding="utf-8")
    assert "parataxis = parataxis.__main__:main" in text
    assert "[parataxis.splitters]" in text


def test_packaging_splits_a_sentence_without_network(installed: Path, tmp_path: Path) -> None:
    sentence = "The mill, which was built in 1850, burned down."
    paths = [str(installed), *filter(None, sys.path)]
    prepare = f"import sys; sys.path[:0] = {paths!r}\n"
    done = subprocess.run(
        [sys.executable, "-I", "-c", prepare + OFFLINE, str(installed), "split", sentence],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == "The mill burned down. It was built in 1850.\n"


def test_packaging_works_without_the_numbers_of_the_learned_metric(
    installed: Path, tmp_path: Path
) -> None:
    """Their licence is not free, so whoever wants can delete them."""
    copy = tmp_path / "installed"
    shutil.copytree(installed, copy)
    (copy / "parataxis/evaluate/metrics/model/learned.json").unlink()
    (tmp_path / "out.jsonl").write_text(
        '{"source": "Ann left.", "simple": ["Ann left."], "splitter": "mine"}\n'
    )
    prepare = f"import sys; sys.path[:0] = {[str(copy), *filter(None, sys.path)]!r}\n"

    def run(*arguments: str) -> "subprocess.CompletedProcess[str]":
        return subprocess.run(
            [sys.executable, "-I", "-c", prepare + OFFLINE, str(copy), *arguments],
            capture_output=True,
            text=True,
            cwd=tmp_path,
            check=False,
        )

    good = run("evaluate", "out.jsonl", "-m", "copied", "--format", "json")
    assert (good.returncode, good.stderr) == (0, "")
    bad = run("evaluate", "out.jsonl", "-m", "learned")
    assert bad.returncode == 2
    assert 'numbers of the metric "learned" were removed' in " ".join(bad.stderr.split())


def test_packaging_names_the_pythons_that_are_tested() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    named = re.findall(r"Python :: (3\.\d+)", "\n".join(project["classifiers"]))
    workflow = (ROOT / ".github" / "workflows" / "ci.yml").read_text(encoding="utf-8")
    tested = re.search(r"python: \[(.*)\]", workflow)
    assert tested
    assert named == re.findall(r"3\.\d+", tested[1])
    assert project["requires-python"] == f">={named[0]}"


def test_packaging_recipes_agree_with_the_project() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    recipe = (ROOT / "packaging" / "conda" / "recipe.yaml").read_text(encoding="utf-8")
    run = recipe.partition("  run:\n")[2].partition("\n\n")[0]
    found = [line.strip("- ").replace(" ", "") for line in run.splitlines()]
    assert found == [f"python{project['requires-python']}", *project["dependencies"]]
    assert f'version: "{parataxis.__version__}"' in recipe


def test_packaging_constraints_keep_to_the_lower_bounds() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    pins = dict(line.split("==") for line in lines if not line.startswith("#"))
    needed = [Requirement(each) for each in project["dependencies"]]
    for extra in ("serve", "study", "client", "llm", "docx"):
        needed += map(Requirement, project["optional-dependencies"][extra])
    for each in needed:
        assert each.specifier.contains(pins[each.name.lower()]), each
    assert "LicenseRef-Learned-Metric" in project["license"]
