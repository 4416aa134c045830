"""Documents that are made to harm end in one sentence, and the next one is read."""

import os
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest
from fastapi.testclient import TestClient

from parataxis.errors import InputError
from parataxis.serve.models import DocumentRead
from parataxis.serve.problems import LONGEST, TooMuchError
from parataxis.serve.reader import Readers

GOOD = b"Ann sings. Bob left."
LONG = b"Ann sings. " * 90_000
HARD = "The document takes too long to read, or too much memory."


@pytest.fixture(scope="module")
def readers() -> Readers:
    made = Readers(1_000_000, 100_000)
    yield made  # type: ignore[misc]
    made.close()


def sentences(readers: Readers) -> list[str]:
    return [each.text for each in shown(readers.read(GOOD, "a.md")).sentences]


shown = DocumentRead.model_validate_json


def test_reader_uses_a_process_again(readers: Readers) -> None:
    assert sentences(readers) == ["Ann sings.", "Bob left."]
    (first,) = readers._idle
    with pytest.raises(InputError, match="not UTF-8"):
        readers.read(b"\xff", "a.md")
    assert sentences(readers) == ["Ann sings.", "Bob left."]
    assert readers._idle == [first]


def test_reader_a_document_that_takes_too_long(
    readers: Readers, monkeypatch: pytest.MonkeyPatch
) -> None:
    sentences(readers)
    (first,) = readers._idle
    monkeypatch.setattr(readers, "_seconds", 0.01)
    with pytest.raises(TooMuchError) as caught:
        readers.read(LONG, "a.md")
    monkeypatch.undo()
    assert str(caught.value) == HARD
    assert first.poll() is not None  # it does not go on in secret
    assert sentences(readers) == ["Ann sings.", "Bob left."]


@pytest.mark.skipif(sys.platform != "linux", reason="memory can be limited on Linux only")
def test_reader_a_document_that_takes_all_memory() -> None:
    small = Readers(1_000_000, 10_000, seconds=30, memory=100 << 20)
    with pytest.raises(TooMuchError, match="too much memory"):
        small.read(b"Ann sings and Bob sings. " * 40_000, "a.md")
    assert small._idle == []
    small.close()


def test_reader_several_at_once_get_each_their_own(readers: Readers) -> None:
    def read(number: int) -> str:
        return shown(readers.read(f"Number {number} sings.".encode(), "a.txt")).text

    with ThreadPoolExecutor(3) as pool:
        assert list(pool.map(read, range(12))) == [f"Number {n} sings." for n in range(12)]


def test_reader_that_is_closed_ends_what_is_at_work() -> None:
    made = Readers(1_000_000, 10_000)
    with ThreadPoolExecutor(1) as pool:
        work = pool.submit(made.read, LONG, "a.md")
        while not made._busy:
            pass
        (process,) = made._busy
        made.close()
        with pytest.raises(TooMuchError):
            work.result(20)
    with pytest.raises(ProcessLookupError):
        os.kill(process.pid, 0)


def test_reader_bugs_are_noted_and_not_told(capfd: pytest.CaptureFixture[str]) -> None:
    made = Readers(1000, 10_000)
    with pytest.raises(RuntimeError):
        made._do("no such function", GOOD)
    made.close()
    assert "KeyError" in capfd.readouterr().err


def test_check_of_a_rewrite_that_is_too_long(plain: TestClient) -> None:
    source = "the " * (LONGEST // 4)
    body = {"rewrites": [{"source": source, "simple": [source]}]}
    assert plain.post("/v1/check", json=body).status_code == 200
    body["rewrites"][0]["source"] += "x"
    answer = plain.post("/v1/check", json=body)
    assert answer.status_code == 413
    assert answer.json()["detail"].startswith("A rewrite is too long: its source may have 2000")
