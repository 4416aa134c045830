"""The secrets of a study: in a file that nobody else reads, or in the environment."""

import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier

import pytest

pytest.importorskip("argon2", reason="needs the extra [study]")

from parataxis.errors import InputError
from parataxis.studies.pages.keys import (
    SecretsFile,
    first_password,
    hash_password,
    is_password,
    keep_password,
    load_secrets,
)


@pytest.fixture(autouse=True)
def _plain_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("PARATAXIS_STUDY_KEY", "PARATAXIS_STUDY_PASSWORD_HASH"):
        monkeypatch.delenv(name, raising=False)


def test_keys_are_made_once_and_readable_by_nobody_else(tmp_path: Path) -> None:
    path = tmp_path / "study.secrets"
    made = load_secrets(path)
    assert load_secrets(path) == made
    assert len(made.key) >= 32
    assert path.stat().st_mode & 0o777 == 0o600
    assert load_secrets(tmp_path / "other.secrets").key != made.key
    assert [each.name for each in tmp_path.iterdir()].count("study.secrets") == 1
    assert made.key not in repr(made)


def test_keys_a_password_keeps_the_key(tmp_path: Path) -> None:
    path = tmp_path / "study.secrets"
    key = load_secrets(path).key
    kept = keep_password(path, "a long password")
    assert load_secrets(path) == kept
    assert kept.key == key
    assert "a long password" not in path.read_text()
    assert is_password("a long password", kept.password_hash)
    assert not is_password("another password", kept.password_hash)
    assert path.stat().st_mode & 0o777 == 0o600
    assert len(list(tmp_path.iterdir())) == 1


def test_keys_a_password_must_be_long() -> None:
    with pytest.raises(InputError, match="10 characters"):
        hash_password("short")


@pytest.mark.parametrize("hash_", [None, "", "plain", "$argon2id$broken"])
def test_keys_without_a_good_hash_no_password_is_right(hash_: str | None) -> None:
    assert not is_password("", hash_)
    assert not is_password("plain", hash_)


def test_keys_of_the_environment_win_and_write_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PARATAXIS_STUDY_KEY", "e" * 40)
    monkeypatch.setenv("PARATAXIS_STUDY_PASSWORD_HASH", "hash")
    found = load_secrets(tmp_path / "study.secrets")
    assert (found.key, found.password_hash) == ("e" * 40, "hash")
    assert list(tmp_path.iterdir()) == []
    monkeypatch.setenv("PARATAXIS_STUDY_KEY", "short")
    with pytest.raises(InputError, match="32 characters"):
        load_secrets(tmp_path / "study.secrets")


@pytest.mark.skipif(os.name != "posix", reason="there are no such modes")
def test_keys_that_others_can_read_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "study.secrets"
    load_secrets(path)
    path.chmod(0o640)
    with pytest.raises(InputError, match="chmod 600"):
        load_secrets(path)


@pytest.mark.parametrize("content", ["", "{}", '{"key": "short"}', "key: x"])
def test_keys_a_file_with_something_else_is_refused(tmp_path: Path, content: str) -> None:
    path = tmp_path / "study.secrets"
    path.write_text(content)
    path.chmod(0o600)
    with pytest.raises(InputError, match="does not hold the secrets"):
        load_secrets(path)


def test_keys_a_new_password_holds_at_once(tmp_path: Path) -> None:
    path = tmp_path / "study.secrets"
    running = SecretsFile(path)
    key = running.key
    assert running.password_hash is None
    keep_password(path, "a long password")
    assert is_password("a long password", running.password_hash)
    keep_password(path, "another password")
    assert not is_password("a long password", running.password_hash)
    assert is_password("another password", running.password_hash)
    assert running.key == key


def test_keys_a_file_that_is_gone_or_spoilt_changes_nothing(tmp_path: Path) -> None:
    path = tmp_path / "study.secrets"
    keep_password(path, "a long password")
    running = SecretsFile(path)
    key = running.key
    for spoil in (
        lambda: path.write_text("{}"),
        lambda: path.write_bytes(b"\xff"),
        lambda: path.chmod(0o644),
        path.unlink,
    ):
        spoil()
        assert running.key == key
        assert is_password("a long password", running.password_hash)
    assert not path.exists()  # a running server draws no new key: all links would end


def test_keys_a_key_of_the_environment_and_a_password_of_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PARATAXIS_STUDY_KEY", "e" * 40)
    path = tmp_path / "study.secrets"
    running = SecretsFile(path)
    assert running.password_hash is None
    keep_password(path, "a long password")
    assert is_password("a long password", running.password_hash)
    assert running.key == "e" * 40


def test_keys_of_servers_that_start_together_one_draws_the_password(tmp_path: Path) -> None:
    path = tmp_path / "pilot.secrets"
    load_secrets(path)  # an invitation has made the key before
    start = Barrier(6)

    def begin(_: int) -> tuple[str | None, str | None]:
        start.wait()
        return first_password(path), SecretsFile(path).password_hash

    with ThreadPoolExecutor(6) as pool:
        found = list(pool.map(begin, range(6)))
    (drawn,) = [password for password, _ in found if password is not None]
    assert all(is_password(drawn, hash_) for _, hash_ in found)
    assert first_password(path) is None
