"""A splitter of another package, used through the command line as its users would."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

LOUD = """
from parataxis import Rewrite


class ShoutSplitter:
    name = "shout"
    summary = "Cuts at every semicolon, loudly."

    def __call__(self, sentence):
        parts = [part.strip(" .").upper() + "!" for part in sentence.split(";")]
        return Rewrite(source=sentence, simple=parts, splitter=self.name)

    def pipe(self, sentences):
        return map(self, sentences)


class DroppingSplitter(ShoutSplitter):
    name = "dropping"

    def pipe(self, sentences):
        return map(self, list(sentences)[1:])
"""
ENTRY_POINTS = """\
[parataxis.splitters]
shout = loud:ShoutSplitter
dropping = loud:DroppingSplitter
"""


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """A folder as pip leaves it behind, written by hand: neither pip nor a network is needed."""
    metadata = tmp_path / "loud_splitters-1.0.dist-info"
    metadata.mkdir()
    for path, text in {
        tmp_path / "loud.py": LOUD,
        metadata / "METADATA": "Metadata-Version: 2.1\nName: loud-splitters\nVersion: 1.0\n",
        metadata / "entry_points.txt": ENTRY_POINTS,
    }.items():
        path.write_text(text, encoding="utf-8")
    return tmp_path


def run_program(site: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    paths = [str(site), *filter(None, [os.environ.get("PYTHONPATH")])]
    return subprocess.run(
        [sys.executable, "-m", "parataxis", *arguments],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)},
    )


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_third_party_splitter_splits(site: Path, jobs: str) -> None:
    done = run_program(site, "split", "-s", "shout", "-j", jobs, "Ann left; Ben stayed. It rained.")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == "ANN LEFT! BEN STAYED! IT RAINED!\n"


def test_third_party_splitter_is_listed(site: Path) -> None:
    done = run_program(site, "splitters")
    assert done.returncode == 0
    assert "Cuts at every semicolon, loudly." in done.stdout


def test_third_party_splitter_that_drops_a_sentence_is_refused(site: Path) -> None:
    done = run_program(site, "split", "-s", "dropping", "One came. Two came. Three came.")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith('parataxis: The splitter "dropping" did not return one rewrite')
    assert done.stderr.count("\n") == 1
