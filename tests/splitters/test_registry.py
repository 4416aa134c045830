"""Finding splitters through entry points: built-in, third-party and broken ones."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from parataxis.errors import UnknownSplitterError
from parataxis.splitters.registry import (
    SentenceSplitter,
    available_splitters,
    load_splitter,
    splitter_names,
)
from parataxis.splitters.source import SourceSplitter

SHOUT = """
from parataxis.rewrite.record import Rewrite


class ShoutSplitter:
    name = "shout"
    summary = "Cuts at every semicolon, loudly."

    def __call__(self, sentence):
        parts = [part.strip().rstrip(".").upper() + "!" for part in sentence.split(";")]
        return Rewrite(source=sentence, simple=parts, splitter=self.name)

    def pipe(self, sentences):
        return map(self, sentences)


class NotASplitter:
    name = "hollow"
"""


def install(folder: Path, distribution: str, module: str, code: str, entries: dict[str, str]):
    """What pip leaves behind for a package: its module and its metadata, written by hand so that
    the test needs neither pip nor a network."""
    (folder / f"{module}.py").write_text(code, encoding="utf-8")
    metadata = folder / f"{distribution.replace('-', '_')}-1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text(
        f"Metadata-Version: 2.1\nName: {distribution}\nVersion: 1.0\n", encoding="utf-8"
    )
    lines = [f"{name} = {target}" for name, target in entries.items()]
    (metadata / "entry_points.txt").write_text(
        "\n".join(["[parataxis.splitters]", *lines]) + "\n", encoding="utf-8"
    )


def in_new_process(folder: Path, program: str):
    """Run a program that prints JSON in a process that has ``folder`` on its path."""
    prepare = f"import sys, json; sys.path[:0] = {[str(folder), *sys.path]!r}\n"
    done = subprocess.run(
        [sys.executable, "-c", prepare + program], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_registry_finds_the_built_in_splitters():
    assert {"pointer", "rules", "source"} <= set(splitter_names())
    assert isinstance(load_splitter("source"), SourceSplitter)


def test_registry_every_splitter_bears_its_entry_point_name():
    for name in ("pointer", "rules", "source"):
        splitter = load_splitter(name)
        assert isinstance(splitter, SentenceSplitter)
        assert splitter.name == name


def test_registry_describes_what_is_installed():
    found = {splitter.name: splitter for splitter in available_splitters()}
    assert found["source"].summary == "Leaves every sentence as it is."
    assert found["source"].distribution == "parataxis"
    assert found["source"].problem is None


@pytest.mark.parametrize(("name", "hint"), [("rulez", 'did you mean "rules"?'), ("qqq", "source.")])
def test_registry_unknown_name_lists_the_installed_ones(name, hint):
    with pytest.raises(UnknownSplitterError) as caught:
        load_splitter(name)
    message = str(caught.value)
    assert message.startswith(f'There is no splitter "{name}"; installed: ')
    assert "rules" in message
    assert message.endswith(hint)


def test_registry_uses_a_third_party_splitter(tmp_path):
    install(tmp_path, "loud-splitters", "loud", SHOUT, {"shout": "loud:ShoutSplitter"})
    result = in_new_process(
        tmp_path,
        """
from parataxis.splitters.registry import available_splitters, load_splitter, splitter_names
rewrite = load_splitter("shout")("Ann left; Ben stayed.")
shout = next(s for s in available_splitters() if s.name == "shout")
print(json.dumps([splitter_names(), rewrite.simple, shout.summary, shout.distribution]))
""",
    )
    assert {"rules", "shout", "source"} <= set(result[0])
    assert result[1:] == [
        ["ANN LEFT!", "BEN STAYED!"],
        "Cuts at every semicolon, loudly.",
        "loud-splitters",
    ]


def test_registry_a_broken_splitter_does_not_hide_the_others(tmp_path):
    entries = {
        "absent": "nowhere:Splitter",
        "failing": "broken:Failing",
        "hollow": "broken:NotASplitter",
        "source": "broken:NotASplitter",
    }
    failing = "class Failing:\n    def __init__(self):\n        raise OSError('no\\nmodel')\n"
    install(tmp_path, "broken-splitters", "broken", SHOUT + failing, entries)
    result = in_new_process(
        tmp_path,
        """
from parataxis.splitters.registry import available_splitters, load_splitter
simple = load_splitter("source")("It rained.").simple
print(json.dumps([simple, {s.name: s.problem for s in available_splitters()}]))
""",
    )
    owner = "of the package broken-splitters"
    assert result[0] == ["It rained."]
    assert result[1]["source"] is None
    assert result[1]["absent"] == (
        f'The splitter "absent" {owner} cannot be loaded '
        "(ModuleNotFoundError: No module named 'nowhere'); update or remove it."
    )
    assert result[1]["failing"] == (
        f'The splitter "failing" {owner} cannot be loaded (OSError: no model); update or remove it.'
    )
    assert result[1]["hollow"] == (
        f'The splitter "hollow" {owner} is not a splitter: '
        "it needs name, summary, __call__ and pipe."
    )
