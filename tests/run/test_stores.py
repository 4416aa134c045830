"""Object stores: real clients, and servers that these tests start. What is written there is what is
written here, whatever is killed; and whatever fails is told in one sentence."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from shutil import which
from socket import create_server
from typing import Any, NamedTuple

import pytest

from parataxis.cli.main import main
from parataxis.run import parts, remote
from parataxis.run.remote import ObjectStore, open_store

pyarrow = pytest.importorskip("pyarrow", reason="needs the extra [scale]")
parquet = pytest.importorskip("pyarrow.parquet")

KEY = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=="
"""The key of the account of Microsoft's emulator, which its documentation names."""
ROWS = [{"source": f"Ann ate {n} plums, and Bob left.", "n": n} for n in range(2000)]


GOOGLE = """
import sys
from http.server import ThreadingHTTPServer
from gcp_storage_emulator import server

server.server.HTTPServer = ThreadingHTTPServer  # a client may hold several connections
made = server.create_server("127.0.0.1", int(sys.argv[1]), in_memory=True, default_bucket="texts")
made.start()
print("ready", flush=True)
"""


@contextmanager
def amazon() -> Iterator[dict[str, str]]:
    server = pytest.importorskip("moto.server").ThreadedMotoServer(port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    try:
        yield {
            "AWS_ENDPOINT_URL": f"http://{host}:{port}",
            "AWS_ACCESS_KEY_ID": "key",
            "AWS_SECRET_ACCESS_KEY": "secret",
            "AWS_REGION": "us-east-1",
        }
    finally:
        server.stop()


@contextmanager
def google() -> Iterator[dict[str, str]]:
    pytest.importorskip("gcp_storage_emulator")
    with create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    with subprocess.Popen([sys.executable, "-c", GOOGLE, str(port)], stdout=subprocess.PIPE) as run:
        try:
            assert run.stdout
            assert run.stdout.readline() == b"ready\n"
            yield {"STORAGE_EMULATOR_HOST": f"http://127.0.0.1:{port}"}
        finally:
            run.kill()


@contextmanager
def microsoft() -> Iterator[dict[str, str]]:
    program = which("azurite-blob") or os.environ.get("PARATAXIS_AZURITE")
    if program is None:
        pytest.skip("needs Azurite (npm install azurite)")
    options = ["--inMemoryPersistence", "--blobPort", "0", "--disableTelemetry"]
    with subprocess.Popen(
        [program, *options, "--skipApiVersionCheck"], stdout=subprocess.PIPE, text=True
    ) as process:
        try:
            assert process.stdout
            found = next(
                filter(None, (re.search(r"listens on (\S+)", line) for line in process.stdout))
            )
            account = "DefaultEndpointsProtocol=http;AccountName=devstoreaccount1"
            yield {
                "AZURE_STORAGE_CONNECTION_STRING": f"{account};AccountKey={KEY};"
                f"BlobEndpoint={found[1]}/devstoreaccount1"
            }
        finally:
            process.kill()


class Place(NamedTuple):
    address: str
    store: ObjectStore

    def put(self, name: str, data: bytes) -> str:
        self.store.write(f"{self.store.path}/{name}", data)
        return f"{self.address}/{name}"

    def files(self, folder: str) -> dict[str, bytes]:
        """The files in a folder, without those of the state of a run."""
        from pyarrow.fs import FileSelector, FileType

        selector = FileSelector(f"{self.store.path}/{folder}", allow_not_found=True)
        found = [
            each.path
            for each in self.store.filesystem.get_file_info(selector)
            if each.type == FileType.File
        ]
        return {Path(each).name: self.store.read(each) or b"" for each in sorted(found)}


@pytest.fixture(scope="module", params=[("s3", amazon), ("gs", google), ("abfs", microsoft)])
def server(request: pytest.FixtureRequest) -> Iterator[str]:
    scheme, started = request.param
    with started() as variables, pytest.MonkeyPatch.context() as patch:
        for name, value in variables.items():
            patch.setenv(name, value)
        if scheme != "gs":  # that one has it
            query = "?allow_bucket_creation=true" if scheme == "s3" else ""
            open_store(f"{scheme}://texts{query}").filesystem.create_dir("texts")
        yield scheme


@pytest.fixture
def place(
    server: str, request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Place:
    monkeypatch.chdir(tmp_path)
    address = f"{server}://texts/{re.sub(r'[^a-z0-9]+', '-', request.node.name.lower())}"
    return Place(address, open_store(address))


def lines(rows: list[dict[str, Any]]) -> bytes:
    return "".join(f"{json.dumps(row)}\n" for row in rows).encode()


def split(*arguments: str) -> int:
    return main(["split", *arguments, "--splitter", "source", "--jobs", "1"])


def test_stores_have_parts_of_a_size_that_joined_are_the_output(place: Place) -> None:
    source = place.put("in/a.jsonl", lines(ROWS[:1500]))
    place.put("in/deep/b.jsonl", lines(ROWS[1500:]))
    options = ("--no-provenance", "--part-size", "0.1")
    assert split(f"{place.address}/in", "-o", f"{place.address}/out/", *options) == 0
    found = place.files("out")
    assert list(found) == [f"part-{n:05}.jsonl" for n in range(len(found))]
    assert all(100_000 <= len(data) < 200_000 for data in list(found.values())[:-1])
    assert split(f"{place.address}/in", "-o", "here.jsonl", "--no-provenance") == 0
    assert b"".join(found.values()) == Path("here.jsonl").read_bytes()
    assert source.encode() in found["part-00000.jsonl"]


def test_stores_hold_tables(place: Place) -> None:
    pyarrow.parquet.write_table(pyarrow.Table.from_pylist(ROWS), "in.parquet")
    place.put("in/a.parquet", Path("in.parquet").read_bytes())
    assert split(f"{place.address}/in", "-o", f"{place.address}/out/", "--part-size", "0.01") == 0
    found = place.files("out")
    assert len(found) > 2
    tables = [parquet.read_table(pyarrow.BufferReader(data)) for data in found.values()]
    table = pyarrow.concat_tables(tables)
    assert table["n"].to_pylist() == list(range(2000))
    assert "provenance" not in table.column_names


def test_stores_resume_wherever_a_run_was_killed(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each write to the store is the last one before a kill, once."""
    source = place.put("in.jsonl", lines(ROWS[:700]))
    monkeypatch.setattr(parts, "_EVERY", 0.0)  # also what is not yet a part is saved
    arguments = (source, "-f", "jsonl", "--no-provenance", "--part-size", "0.06")
    write, count = ObjectStore.write, 0

    def counted(self: ObjectStore, path: str, data: bytes) -> None:
        nonlocal count
        count += 1
        if count == last:
            raise KeyboardInterrupt
        write(self, path, data)

    monkeypatch.setattr(ObjectStore, "write", counted)
    last = 0
    assert split(*arguments, "-o", f"{place.address}/whole/") == 0
    whole, writes = place.files("whole"), count
    assert len(whole) == 2
    for last in range(1, writes + 1):
        count = 0
        out = f"{place.address}/out{last}/"
        assert split(*arguments, "-o", out) == 130
        assert split(*arguments, "-o", out, "--resume") == 0
        assert place.files(f"out{last}") == whole, last
    assert split(*arguments, "-o", out, "--resume") == 0
    assert split(*arguments, "-o", out) == 2


def test_stores_take_shards(place: Place) -> None:
    source = place.put("in.jsonl", lines(ROWS))
    for n in (1, 2, 3):
        assert split(source, "-o", f"{place.address}/out/", "--shard", f"{n}/3") == 0
    found = place.files("out")
    assert list(found) == [f"shard-0000{n}-of-00003-part-00000.jsonl" for n in (1, 2, 3)]
    assert split(source, "-o", "here.jsonl") == 0
    assert b"".join(found.values()) == Path("here.jsonl").read_bytes()


def test_stores_are_asked_once_for_a_small_file(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    for n in range(4):
        place.put(f"in/{n}.jsonl", lines(ROWS[n : n + 1]))
    called, opened = ObjectStore.call, []

    def noted(self: ObjectStore, what: str, method: str, *arguments: Any) -> Any:
        if method == "open_input_file" and arguments[0].endswith(".jsonl"):
            opened.append(arguments[0])
        return called(self, what, method, *arguments)

    monkeypatch.setattr(ObjectStore, "call", noted)
    assert split(f"{place.address}/in", "-o", "here.jsonl") == 0
    assert len(opened) == 4


def test_stores_that_have_nothing_there_say_so(
    place: Place, capsys: pytest.CaptureFixture[str]
) -> None:
    assert split(f"{place.address}/nothing", "-o", "here.jsonl") == 2
    assert f"There is no file or folder {place.address}/nothing." in capsys.readouterr().err
    assert split(f"{place.address}/in", "-o", f"{place.address}/in/out/") == 2


@pytest.mark.parametrize(
    ("address", "variables", "complaint"),
    [
        (
            "s3://texts/a.txt",
            {"AWS_ENDPOINT_URL": "http://127.0.0.1:1", "AWS_ACCESS_KEY_ID": "a",
             "AWS_SECRET_ACCESS_KEY": "b"},
            "s3://texts/a.txt cannot be read: .*Could not connect to server",
        ),
        (
            "gs://texts/a.txt",
            {"STORAGE_EMULATOR_HOST": "http://127.0.0.1:1"},
            "gs://texts/a.txt cannot be read: .*Could not connect to server",
        ),
        (
            "abfs://texts/a.txt",
            {"AZURE_STORAGE_ACCOUNT": ""},
            "abfs://texts/a.txt cannot be used: no account is named; set AZURE_STORAGE_ACCOUNT",
        ),
        (
            "abfs://texts/a.txt",
            {"AZURE_STORAGE_CONNECTION_STRING": f"AccountName=x;AccountKey={KEY};"
             "BlobEndpoint=http://127.0.0.1:1/x"},
            "abfs://texts/a.txt cannot be read: .*Could not connect to server",
        ),
    ],
)  # fmt: skip
def test_stores_that_cannot_be_reached_are_told_in_one_sentence(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    address: str,
    variables: dict[str, str],
    complaint: str,
) -> None:
    monkeypatch.setattr(remote, "_REQUEST", 1.0)
    for name in [each for each in os.environ if each.startswith(("AWS_", "AZURE_", "STORAGE_"))]:
        monkeypatch.delenv(name)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    for arguments in ([address, "-o", "out.jsonl"], ["Ann left.", "-o", f"{address}/"]):
        assert split(*arguments) == 2
        told = capsys.readouterr().err
        assert re.match(
            f"parataxis: {complaint.replace('read', '(read|used|written)')}",
            told.replace("a.txt/_parataxis/run.json", "a.txt"),
        )
        assert len(told.splitlines()) == 1
        assert "bug" not in told


def test_stores_that_refuse_name_the_variables_of_credentials() -> None:
    said = remote._reason(OSError("AWS Error ACCESS_DENIED during HeadObject operation."), "s3")
    assert said.endswith(
        "; credentials are read from AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE"
    )
    said = remote._reason(OSError("Failed to get token from DefaultAzureCredential."), "abfss")
    assert "AZURE_STORAGE_KEY" in said
    said = remote._reason(OSError(f"The key is wrong. {'And more ' * 40}."), "s3")
    assert said == "The key is wrong"
    said = remote._reason(OSError("[Errno 2] No such bucket (Request ID: aB3)."), "s3")
    assert said == "No such bucket"


def test_stores_of_azure_do_not_ask_a_program_that_is_not_installed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in [each for each in os.environ if each.startswith("AZURE_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("AZURE_STORAGE_ACCOUNT", "account")
    for program, credentials in (("/bin/az", None), (None, "prod")):
        monkeypatch.setattr(remote, "which", lambda _, found=program: found)
        open_store("abfs://texts/a.txt")
        assert os.environ.get("AZURE_TOKEN_CREDENTIALS") == credentials
    monkeypatch.delenv("AZURE_TOKEN_CREDENTIALS")


def test_stores_that_are_silent_are_reported_and_given_up(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from threading import Event

    monkeypatch.setattr(remote, "_REPORTED", 0.01)
    held = Event()
    with pytest.raises(remote.InputError, match="s3://a cannot be read: no answer in 0 seconds"):
        remote.patient("s3://a cannot be read", "s3", held.wait, patience=0.05)
    held.set()
    assert "s3://a has not answered for" in capsys.readouterr().err
