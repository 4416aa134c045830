"""Repeated sentences are split once, and the output is the same as if they were not."""

import json
import pickle
from collections.abc import Sequence
from pathlib import Path

import pytest

from parataxis.cli.main import main
from parataxis.rewrite.record import Rewrite
from parataxis.run import cache
from parataxis.run.cache import RewriteCache
from parataxis.run.pipeline import SplitterTask

MILL = "The mill, which was built in 1850, burned down."


class Counted:
    """Rewrites, and notes what it was asked for."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def __call__(self, sentences: Sequence[str]) -> list[Rewrite]:
        self.asked += sentences
        return [Rewrite(source=each, simple=[each], splitter="x") for each in sentences]


def test_cache_asks_for_each_sentence_once() -> None:
    made, kept = Counted(), RewriteCache("x")
    for batch in (["A.", "B.", "A."], ["B.", "C."], ["A."]):
        assert [each.source for each in kept(batch, made)] == batch
    assert (made.asked, kept.hits) == (["A.", "B.", "C."], 3)


def test_cache_in_memory_is_bounded_and_drops_what_was_not_used_for_longest() -> None:
    made, size = Counted(), RewriteCache("x")
    size(["A."], made)
    kept = RewriteCache("x", room=2 * size._size + 1)
    for each in ("A.", "B.", "A.", "C.", "A.", "B."):
        kept([each], made)
    assert made.asked[1:] == ["A.", "B.", "C.", "B."]
    assert len(pickle.dumps(kept)) < len(pickle.dumps(RewriteCache("x"))) + 20


@pytest.mark.parametrize("change", ["", "made_by", "weights", "version", "threads"])
def test_cache_on_disk_knows_what_made_its_rewrites(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, change: str
) -> None:
    path = tmp_path / "cache"
    made = Counted()
    RewriteCache("x", path)(["A.", "B."], made)
    if change == "weights":
        monkeypatch.setattr(cache, "weights", lambda: "others")
    if change == "version":
        monkeypatch.setattr(cache, "__version__", "9")
    if change == "threads":
        monkeypatch.setenv(cache.THREADS_VARIABLE, "7")
    again = RewriteCache("y" if change == "made_by" else "x", path)
    again(["B."], made)
    assert made.asked == (["A.", "B.", "B."] if change else ["A.", "B."])


def test_cache_gives_back_the_very_rewrite() -> None:
    plain = SplitterTask("pointer", check=True)
    kept = SplitterTask("pointer", check=True, cache=RewriteCache("x"))
    assert kept([MILL])[0] == kept([MILL])[0] == plain([MILL])[0]
    assert kept.hits == 1


def test_cache_does_not_change_what_a_run_writes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    rows = [json.dumps({"source": each}) for each in [MILL, "Ann sang.", MILL] * 2]
    Path("in.jsonl").write_text("\n".join(rows))
    arguments = ["split", "in.jsonl", "--beam", "1", "--jobs", "1", "--explain"]
    with monkeypatch.context() as patch:
        patch.setattr(RewriteCache, "__call__", lambda self, sentences, rewrite: rewrite(sentences))
        assert main([*arguments, "-o", "plain.jsonl"]) == 0
    assert main([*arguments, "-o", "one.jsonl", "--cache", "cache"]) == 0
    assert "4 sentences (67%) known, and not split again." in capsys.readouterr().err
    assert main([*arguments, "-o", "two.jsonl", "--cache", "cache"]) == 0
    assert "6 sentences (100%) known" in capsys.readouterr().err
    whole = Path("plain.jsonl").read_bytes()
    assert whole == Path("one.jsonl").read_bytes() == Path("two.jsonl").read_bytes()


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        (["--cache", "bad", "-s", "rules"], "bad cannot be used as a cache of rewrites"),
        (["--cache", "new", "-s", "source"], "does not know the weights"),
        (["--cache", "new", "-s", "rules", "--engine", "ray"], "is a file of this machine"),
    ],
)
def test_cache_that_cannot_be_used_is_told(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    options: list[str],
    complaint: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("bad").write_text("This is no database, but a text, which nobody can open as one.")
    assert main(["split", MILL, *options]) == 2
    assert complaint in capsys.readouterr().err
