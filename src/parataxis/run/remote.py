"""Object stores: the files behind addresses such as ``s3://texts/news``, read and written with
pyarrow. A store that does not answer is reported, and given up after a minute."""

import errno
import io
import os
import re
from collections.abc import Callable
from contextlib import suppress
from datetime import timedelta
from queue import Empty, SimpleQueue
from shutil import which
from threading import Thread
from typing import Any, BinaryIO, NamedTuple, cast
from urllib.parse import parse_qsl, unquote, urlsplit

from parataxis.cli.terminal import warn
from parataxis.errors import InputError, in_words, needs

_BUFFER = 1 << 20
_TRIES = 3
_CONNECT, _REQUEST = 5.0, 20.0  # seconds that a try may take
_REPORTED, _PATIENCE = 10.0, 60.0  # seconds after which a silent store is reported, and given up
_CREDENTIALS = re.compile(
    r"credential|token|access.?denied|forbidden|unauthorized|authenticat|signature|"
    r"InvalidAccessKeyId|status code: 40[13]|\b40[13]\b",
    re.I,
)
_NOISE = re.compile(
    r"N5Azure\S+: |google::cloud::Status\(|Retry policy exhausted, with a last message of |"
    r"\[Errno \d+\] | \(Request ID: \w+\)"
)
_DETAILS = re.compile(r" error_info=| See Azure::|; Details: | Learn more | x-amz|, metadata=")
"""Where an error of a store stops saying what is wrong."""
_SHOWN = 300  # characters of such an error
_FAMILIES = {"gcs": "gs", "abfss": "abfs"}
_HINTS = {
    "s3": "AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE",
    "gs": "GOOGLE_APPLICATION_CREDENTIALS",
    "abfs": "AZURE_STORAGE_ACCOUNT with AZURE_STORAGE_KEY or AZURE_STORAGE_SAS_TOKEN",
}
"""The variables that name credentials."""


class ObjectStore(NamedTuple):
    """A filesystem of pyarrow, a path in it, and the scheme of its addresses."""

    filesystem: Any
    path: str
    scheme: str

    def name(self, path: str) -> str:
        """The address of a path, without credentials."""
        return f"{self.scheme}://{path}"

    def call(self, what: str, method: str, *arguments: Any) -> Any:
        """The result of a method of the filesystem; its error becomes an InputError: ``what``, and
        the reason."""
        return patient(what, self.scheme, getattr(self.filesystem, method), *arguments)

    def read(self, path: str) -> bytes | None:
        """The bytes of a small file; None if there is none."""
        from pyarrow.fs import FileType

        what = f"{self.name(path)} cannot be read"
        (found,) = self.call(what, "get_file_info", [path])
        if found.type != FileType.File:
            return None
        with open_remote(self, path) as stream:
            return stream.read()

    def write(self, path: str, data: bytes) -> None:
        """Write a file, which appears when it is whole."""

        def put() -> None:
            if self.filesystem.type_name == "local":
                from pathlib import Path

                from parataxis.run.output import write_atomically

                Path(path).parent.mkdir(parents=True, exist_ok=True)
                write_atomically(Path(path), data)
                return
            stream = self.filesystem.open_output_stream(path)
            stream.write(data)
            stream.close()  # only now an object store has it

        patient(f"{self.name(path)} cannot be written", self.scheme, put, patience=None)

    def remove(self, path: str) -> None:
        with suppress(InputError):  # what is left over does no harm
            self.call(f"{self.name(path)} cannot be removed", "delete_file", path)


def open_store(address: str) -> ObjectStore:
    """The store of an address. Credentials and endpoints come from the environment, by the names
    that the tools of each store use, or from the query of the address."""
    with needs("Parquet, .zst files and addresses such as s3://... need pyarrow", "scale"):
        from pyarrow import fs
    parts = urlsplit(address)
    query = dict(parse_qsl(parts.query))
    path = f"{parts.hostname or ''}{unquote(parts.path)}".rstrip("/")
    what = f"{parts.scheme}://{path} cannot be used"
    family = _FAMILIES.get(parts.scheme, parts.scheme)
    make = {"s3": _s3, "gs": _google, "abfs": _azure}.get(family)
    if make is None:
        filesystem, path = patient(what, parts.scheme, fs.FileSystem.from_uri, address)
        return ObjectStore(filesystem, path.rstrip("/"), parts.scheme)
    if family == "abfs" and "@" in parts.netloc:  # abfs://container@account.host/path
        path = f"{parts.netloc.partition('@')[0]}{unquote(parts.path)}".rstrip("/")
        what = f"{parts.scheme}://{path} cannot be used"
    filesystem = patient(what, parts.scheme, make, fs, parts, query)
    return ObjectStore(filesystem, path, parts.scheme)


def _s3(fs: Any, parts: Any, query: dict[str, str]) -> Any:
    endpoint = os.environ.get("AWS_ENDPOINT_URL_S3") or os.environ.get("AWS_ENDPOINT_URL") or ""
    scheme, _, host = endpoint.rpartition("://")
    options = {
        "endpoint_override": host,
        "scheme": scheme or "https",
        "region": os.environ.get("AWS_REGION") or os.environ.get("AWS_DEFAULT_REGION") or "",
        **query,
    }
    if not options["region"]:
        own = bool(options["endpoint_override"])
        options["region"] = "us-east-1" if own else fs.resolve_s3_region(parts.hostname)
    if parts.username:
        options["access_key"] = unquote(parts.username)
        options["secret_key"] = unquote(parts.password or "")
    if not options.keys() & {"access_key", "anonymous", "role_arn"}:
        # pyarrow would find these itself, but then not send them to the machines of a cluster.
        names = ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN")
        key, secret, token = (os.environ.get(name, "") for name in names)
        if key and secret:
            options |= {"access_key": key, "secret_key": secret, "session_token": token}
    return fs.S3FileSystem(
        connect_timeout=_CONNECT,
        request_timeout=_REQUEST,
        retry_strategy=fs.AwsStandardS3RetryStrategy(max_attempts=_TRIES),
        **{name: value for name, value in options.items() if value},
    )


def _google(fs: Any, parts: Any, query: dict[str, str]) -> Any:
    options: dict[str, Any] = {}
    if emulator := os.environ.get("STORAGE_EMULATOR_HOST"):
        scheme, _, host = emulator.rpartition("://")
        options = {"endpoint_override": host, "scheme": scheme or "http", "anonymous": True}
    options |= {name: query[name] for name in ("endpoint_override", "scheme") if name in query}
    if parts.username == "anonymous":
        options["anonymous"] = True
    return fs.GcsFileSystem(retry_time_limit=timedelta(seconds=_REQUEST), **options)


def _azure(fs: Any, parts: Any, query: dict[str, str]) -> Any:
    given = os.environ.get("AZURE_STORAGE_CONNECTION_STRING", "")
    connection = dict(each.split("=", 1) for each in given.split(";") if "=" in each)
    account = parts.hostname.partition(".")[0] if "@" in parts.netloc else ""
    options: dict[str, Any] = {
        "account_key": connection.get("AccountKey") or os.environ.get("AZURE_STORAGE_KEY"),
        "sas_token": connection.get("SharedAccessSignature")
        or os.environ.get("AZURE_STORAGE_SAS_TOKEN"),
    }
    if endpoint := connection.get("BlobEndpoint"):
        place = urlsplit(endpoint)
        for kind in ("blob", "dfs"):
            options[f"{kind}_storage_authority"] = place.netloc
            options[f"{kind}_storage_scheme"] = place.scheme
    account = (
        account or connection.get("AccountName") or os.environ.get("AZURE_STORAGE_ACCOUNT", "")
    )
    if not account:
        raise ValueError("no account is named; set AZURE_STORAGE_ACCOUNT")
    if which("az") is None:  # else the shell prints that it does not find this program
        os.environ.setdefault("AZURE_TOKEN_CREDENTIALS", "prod")
    return fs.AzureFileSystem(account, **{name: each for name, each in options.items() if each})


def open_remote(store: ObjectStore, path: str) -> BinaryIO:
    """The bytes of a file, read in this process as they stream in."""
    name = store.name(path)
    stream = store.call(f"{name} cannot be read", "open_input_file", path)
    return cast(BinaryIO, io.BufferedReader(_Raw(stream, name, store.scheme), _BUFFER))


class _Raw(io.RawIOBase):
    """A stream of pyarrow whose errors have a number, which says that the connection is broken,
    not the data: the run ends, and can be resumed."""

    def __init__(self, stream: Any, name: str, scheme: str) -> None:
        self._stream, self._name, self._scheme = stream, name, scheme
        self._at = 0  # some streams of pyarrow ask the store where they are

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        count = int(self._call(self._stream.readinto, buffer))
        self._at += count
        return count

    def readall(self) -> bytes:
        """All that is left, with one request."""
        data: bytes = self._call(self._stream.read)
        self._at += len(data)
        return data

    def _call(self, call: Callable[..., Any], *arguments: Any) -> Any:
        try:
            return patient(self._name, self._scheme, call, *arguments)
        except InputError as error:
            said = str(error).removeprefix(f"{self._name}: ").removesuffix(".")
            raise OSError(errno.EIO, said) from error

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        self._at = int(self._call(self._stream.seek, offset, whence))
        return self._at

    def tell(self) -> int:
        return self._at

    def close(self) -> None:
        self._stream.close()
        super().close()


def patient(
    what: str,
    scheme: str,
    call: Callable[..., Any],
    *arguments: Any,
    patience: float | None = _PATIENCE,
) -> Any:
    """The result of a call that may wait for a network. While it is silent, that is said; after
    ``patience`` seconds it is given up. Its error becomes an InputError: ``what``, and why."""
    answers: SimpleQueue[tuple[Any, BaseException | None]] = SimpleQueue()

    def run() -> None:
        try:
            answers.put((call(*arguments), None))
        except BaseException as error:
            answers.put((None, error))

    Thread(target=run, daemon=True).start()
    waited = 0.0
    while True:
        try:
            answer, error = answers.get(timeout=_REPORTED)
            break
        except Empty:
            waited += _REPORTED
            if patience is not None and waited >= patience:
                raise InputError(f"{what}: no answer in {waited:.0f} seconds.") from None
            warn(f"{what.partition(' ')[0]} has not answered for {waited:.0f} seconds.")
    if error is None:
        return answer
    from pyarrow import ArrowException

    if isinstance(error, OSError | ValueError | NotImplementedError | TypeError | ArrowException):
        raise InputError(f"{what}: {_reason(error, scheme)}.") from error
    raise error


def _reason(error: BaseException, scheme: str) -> str:
    """What is wrong, in a few words, and where credentials are looked for if they are missing."""
    said = _NOISE.sub("", in_words(error))
    said = _DETAILS.split(said)[0]
    if len(said) > _SHOWN:  # whole sentences, as far as there are any
        said = said[:_SHOWN].rpartition(". ")[0] or f"{said[:_SHOWN]} ..."
    family = _FAMILIES.get(scheme, scheme)
    said = said.rstrip(" .:{")
    if family in _HINTS and _CREDENTIALS.search(said):
        return f"{said}; credentials are read from {_HINTS[family]}"
    return said
