"""Effects on the disk: whole or not at all, and one process at a time."""

import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from parataxis.errors import InputError
from parataxis.run.output import AppendedFile, locked, write_atomically

HOLD = """
import sys
from pathlib import Path
from parataxis.run.output import locked
with locked(Path(sys.argv[1])):
    print("held", flush=True)
    sys.stdin.read()
"""


def test_durable_lock_keeps_others_out_and_ends_with_its_process(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    with subprocess.Popen(
        [sys.executable, "-c", HOLD, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as holder:
        assert holder.stdout
        assert holder.stdout.readline() == b"held\n"
        with pytest.raises(InputError, match="Another process writes to"), locked(path):
            pass
        holder.kill()
        holder.wait()
    with locked(path):
        pass


def test_durable_lock_of_windows_lies_beside_the_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An open file cannot be removed there, so the folder must be free of it."""
    held: list[str] = []

    def locking(number: int, mode: int, length: int) -> None:
        assert (mode, length) == (2, 1)
        if held:
            raise PermissionError("locked")
        beside = tmp_path / "out.unfinished.lock"
        assert os.path.samestat(os.fstat(number), beside.stat())
        held.append(beside.name)

    fake = SimpleNamespace(locking=locking, LK_NBLCK=2)
    monkeypatch.setitem(sys.modules, "msvcrt", fake)
    monkeypatch.setattr(sys, "platform", "win32")
    state = tmp_path / "out.unfinished"
    state.mkdir()
    with locked(state / "lock"):
        state.rmdir()
        assert held
        with pytest.raises(InputError, match="Another process writes to"), locked(state / "lock"):
            pass
    assert not list(tmp_path.iterdir())


def test_durable_file_is_cut_where_it_counts(tmp_path: Path) -> None:
    path = tmp_path / "output"
    path.write_bytes(b"one two three")
    file = AppendedFile(path, 4)
    file.append(b"2")
    file.close()
    assert path.read_bytes() == b"one 2"
    assert file.length == 5
    with pytest.raises(InputError, match="fewer bytes than its checkpoint says"):
        AppendedFile(path, 6)


def test_durable_write_leaves_the_old_file_where_it_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "checkpoint"
    write_atomically(path, b"old")

    def fail(number: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", fail)
    with pytest.raises(OSError, match="No space left"):
        write_atomically(path, b"new")
    assert path.read_bytes() == b"old"


def test_durable_file_may_be_closed_twice(tmp_path: Path) -> None:
    file = AppendedFile(tmp_path / "output", 0)
    file.close()
    with (tmp_path / "other").open("wb") as other:  # gets the number that is free again
        file.close()
        other.write(b"whole")
    assert (tmp_path / "other").read_bytes() == b"whole"


@pytest.mark.skipif(sys.platform == "win32", reason="there are no such locks")
@pytest.mark.parametrize("is_made_anew", [False, True])
def test_durable_lock_that_was_removed_is_not_held(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_made_anew: bool
) -> None:
    """As where the process that held it ended, and removed it, just after this one opened it."""
    import fcntl

    path = tmp_path / "lock"
    lock = fcntl.lockf

    def late(*arguments: Any) -> None:
        path.unlink()
        if is_made_anew:
            path.touch()
        lock(*arguments)

    monkeypatch.setattr(fcntl, "lockf", late)
    with pytest.raises(InputError, match="Another process writes to"), locked(path):
        pass
