"""Resuming: wherever a run is killed, what it and its successors write is the same as what one
uninterrupted run writes."""

import json
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from parataxis.run.encode import OutputFormat, RecordEncoder
from parataxis.run.files import Packing, find_inputs
from parataxis.run.output import FileOutput, Manifest, state_of
from parataxis.run.pipeline import Local, SplitterTask, Work, run
from parataxis.run.units import BadRecord

pytest.importorskip("pyarrow")


class Killed(BaseException):
    """The process is no more: nothing that it does afterwards has an effect."""


class Silent:
    """Watches and says nothing."""

    def advance(self, size: int, sentences: int) -> None:
        pass

    def problem(self, problem: BadRecord) -> None:
        pass


@contextmanager
def killed_after(effects: int) -> Iterator[list[int]]:
    """Let so many effects on the disk happen, the last write of them only in part, then none."""
    count = [0]
    names = ("write", "fsync", "replace", "ftruncate", "unlink", "mkdir")
    real = {name: getattr(os, name) for name in names}
    real["fsync"] = lambda number: None  # the system lives on, so nothing depends on it, but time

    def wrapped(name: str) -> Callable[..., Any]:
        def effect(*arguments: Any, **named: Any) -> Any:
            count[0] += 1
            if count[0] == effects and name == "write":
                real["write"](arguments[0], bytes(arguments[1])[: len(arguments[1]) // 2])
            if count[0] >= effects:
                raise Killed
            return real[name](*arguments, **named)

        return effect

    with pytest.MonkeyPatch.context() as patch:
        for name in real:
            patch.setattr(os, name, wrapped(name))
        yield count


def go(form: str, *, by_file: bool, resume: bool = True) -> None:
    """One attempt at a run over the files that are here, with a checkpoint after each batch."""
    files = find_inputs(["a.jsonl", "b.txt"])
    end, _, packing = form.partition(".")
    target = Path("out") if by_file else Path(f"out.{form}")
    targets = [target / f"{file.place.stem}.{form}" for file in files] if by_file else [target]
    state = state_of(target, is_folder=by_file)
    encoder = RecordEncoder(OutputFormat(end), Packing(f".{packing}" if packing else ""))
    output = FileOutput(targets, state, encoder=encoder, by_file=by_file, every=0)
    work = Work(SplitterTask("source"), encoder, "source")
    with output.opened(Manifest.of({"--format": form}, files), files, resume=resume):
        run(files, work, output, Silent(), engine=Local(), sentences=3)


def results() -> dict[str, bytes]:
    return {
        str(path): path.read_bytes()
        for path in sorted(Path().rglob("*"))
        if path.is_file() and str(path) not in ("a.jsonl", "b.txt")
    }


def fill() -> None:
    lines = [json.dumps({"source": f"Ann ate {n} plums, and Bob left."}) for n in range(8)]
    lines[3:5] = ["{", '{"source": null}', ""]
    Path("a.jsonl").write_text("\n".join(lines))
    Path("b.txt").write_bytes(b"One came. Two left.\n\nBad \xff line.\n\nThree sang.\n" * 2)


def clear() -> None:
    for path in Path().iterdir():
        if path.is_dir():
            shutil.rmtree(path)
        elif path.name not in ("a.jsonl", "b.txt"):
            path.unlink()


@pytest.mark.parametrize(
    ("form", "by_file"),
    [
        ("text", False),
        ("jsonl.gz", False),
        ("jsonl.zst", False),
        ("parquet", False),
        ("jsonl", True),
        ("parquet", True),
    ],
)
def test_resume_after_a_kill_at_every_effect(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, form: str, by_file: bool
) -> None:
    monkeypatch.chdir(tmp_path)
    fill()
    with killed_after(10**9) as count:
        go(form, by_file=by_file)
    whole = results()
    assert count[0] > 30
    assert len(whole) == 1 + by_file
    for effects in range(1, count[0] + 1):
        clear()
        with pytest.raises(Killed), killed_after(effects):
            go(form, by_file=by_file)
        with killed_after(10**9):
            go(form, by_file=by_file)
        assert results() == whole, effects


@settings(max_examples=12)
@given(st.lists(st.integers(1, 60), max_size=5), st.sampled_from(["jsonl", "parquet"]))
def test_resume_after_any_kills_one_after_the_other(
    tmp_path_factory: pytest.TempPathFactory, kills: list[int], form: str
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path_factory.mktemp("x"))
        fill()
        with killed_after(10**9):
            go(form, by_file=True)
            whole = results()
            clear()
        for effects in kills:
            with suppress(Killed), killed_after(effects):
                go(form, by_file=True)
        with killed_after(10**9):
            go(form, by_file=True)
        assert results() == whole
