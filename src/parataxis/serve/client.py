"""A client for a service run by ``parataxis serve``: :class:`Client`. Needs ``[client]``."""

import json
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, TypedDict, TypeVar, Unpack

from pydantic import BaseModel, TypeAdapter, ValidationError

from parataxis.errors import InputError, ParataxisError, TryLaterError
from parataxis.rewrite.record import Rewrite
from parataxis.serve.models import (
    Analysed,
    AnalysedSentence,
    Checked,
    DocumentRead,
    End,
    Explained,
    Failed,
    FoundPattern,
    Line,
    Problem,
    Readability,
    Readable,
    Split,
    SplitLine,
    Splitters,
    SplitText,
    Start,
)

if TYPE_CHECKING:
    import httpx2

__all__ = [
    "AnalysedSentence",
    "Client",
    "DocumentRead",
    "Explained",
    "FoundPattern",
    "Readable",
    "Split",
    "SplitText",
    "Splitters",
    "Stream",
]

M = TypeVar("M", bound=BaseModel)

_LINE: TypeAdapter[Start | SplitLine | End | Failed] = TypeAdapter(Line)
_BUSY = (429, 503)
_BROKEN = "The service ended its answer too early; try again."


class Options(TypedDict, total=False):
    """The options of :meth:`Client.split` and :meth:`Client.stream`, as in ``/v1/split``."""

    splitter: str | None
    strict: bool
    beam: int | None
    check: bool
    patterns: bool


class Client:
    """Sends requests to the service at a URL; every refusal is a ParataxisError.

    Threads can share a client, and it is a context manager. ``timeout`` is in seconds. If the
    service is busy, :class:`~parataxis.errors.TryLaterError` says when to retry.
    """

    def __init__(self, url: str = "http://127.0.0.1:8000", *, timeout: float = 300.0) -> None:
        try:
            import httpx2
        except ImportError as error:
            raise ParataxisError(
                "The client needs httpx2; install it with: pip install 'parataxis[client]'."
            ) from error
        self.url = url.rstrip("/")
        self._timeout = timeout
        self._errors: tuple[type[Exception], ...] = (httpx2.HTTPError, httpx2.InvalidURL)
        self._slow = httpx2.TimeoutException
        self._http = httpx2.Client(timeout=timeout)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connections."""
        self._http.close()

    def split(self, text: str | Sequence[str], **options: Unpack[Options]) -> SplitText:
        """Split the sentences of a text, or a list of separate sentences."""
        return self._send("POST", "split", SplitText, json={**_given(text), **options})

    def stream(self, text: str | Sequence[str], **options: Unpack[Options]) -> "Stream":
        """Like :meth:`split`, but yields each rewrite as soon as it is made. Closing the stream
        cancels the rest."""
        body = {**_given(text), **options}
        with self.errors_reported():
            request = self._http.build_request("POST", self._at("split/stream"), json=body)
            answer = self._http.send(request, stream=True)
            if answer.status_code != 200:
                answer.read()
        self._require_success(answer)
        return Stream(answer, self)

    def check(self, rewrites: Iterable[Rewrite | tuple[str, Sequence[str]]]) -> list[Explained]:
        """Check rewrites, or pairs of a source and its simple sentences: provenance, findings, and
        which patterns were split."""
        body = {"rewrites": [_written(each) for each in rewrites]}
        return list(self._send("POST", "check", Checked, json=body).rewrites)

    def analyse(self, text: str | Sequence[str]) -> list[AnalysedSentence]:
        """Analyse the sentences of a text, or a list of separate sentences."""
        return list(self._send("POST", "analyse", Analysed, json=_given(text)).sentences)

    def readability(self, texts: Iterable[Sequence[str]]) -> list[Readable]:
        """Measure the grade levels of texts, each given as its sentences."""
        body = {"texts": [list(text) for text in texts]}
        return list(self._send("POST", "readability", Readability, json=body).texts)

    def splitters(self) -> Splitters:
        """List the splitters that the service offers."""
        return self._send("GET", "splitters", Splitters)

    def is_ready(self) -> bool:
        """Whether the models of the service are loaded."""
        with self.errors_reported():
            return self._http.get(self._at("ready")).status_code == 200

    def read_document(self, path: Path) -> DocumentRead:
        """Read the text and the sentences of a document."""
        return self._send("POST", "documents", DocumentRead, files=_file(path))

    def rewrite_document(
        self, path: Path, rewrites: Sequence[Rewrite | None], *, tracked: bool = False
    ) -> bytes:
        """Return the document with a rewrite for each sentence; None leaves one unchanged."""
        listed = [each and each.model_dump(mode="json", exclude_none=True) for each in rewrites]
        fields = {"rewrites": json.dumps(listed), "tracked": str(tracked).lower()}
        with self.errors_reported():
            answer = self._http.post(
                self._at("documents/rewritten"), files=_file(path), data=fields
            )
        self._require_success(answer)
        return bytes(answer.content)

    def _at(self, path: str) -> str:
        return f"{self.url}/v1/{path}"

    def _send(self, method: str, path: str, model: type[M], **body: Any) -> M:
        with self.errors_reported():
            answer = self._http.request(method, self._at(path), **body)
        self._require_success(answer)
        try:
            return model.model_validate_json(answer.content)
        except ValidationError as error:
            raise self.not_understood() from error

    def _require_success(self, answer: "httpx2.Response") -> None:
        status = answer.status_code
        if status == 200:
            return
        try:
            detail = Problem.model_validate_json(answer.content).detail
        except ValidationError as error:
            raise self.not_understood() from error
        if status in _BUSY and (wait := answer.headers.get("retry-after", "")).isdecimal():
            raise TryLaterError(detail, float(wait))
        raise (InputError if 400 <= status < 500 else ParataxisError)(detail)

    def not_understood(self) -> ParataxisError:
        """The error for an answer that is not in the format of the service."""
        return ParataxisError(f"What answers at {self.url} is no Parataxis service that we know.")

    @contextmanager
    def errors_reported(self) -> Iterator[None]:
        """Turn the errors of the connection into one-sentence ParataxisErrors."""
        try:
            yield
        except self._slow as error:
            raise ParataxisError(
                f"The service at {self.url} said nothing for {self._timeout:g} seconds."
            ) from error
        except UnicodeEncodeError as error:  # UTF-8 cannot encode half characters
            raise InputError("A text has a lone surrogate (half a character).") from error
        except self._errors as error:
            reason = " ".join(str(error).split()) or type(error).__name__
            raise ParataxisError(f"There is no answer from {self.url}: {reason}.") from error


class Stream:
    """The rewrites of a request as they are made; iterate over it once, or close it.

    ``sentences`` is the number of rewrites and ``splitter`` the name of the splitter. ``text`` is
    the rewritten text after the last rewrite, if a text was sent, and None until then.
    """

    def __init__(self, answer: "httpx2.Response", client: Client) -> None:
        self._answer = answer
        self._client = client
        self._lines = self._read()
        first = next(self._lines, None)
        if not isinstance(first, Start):
            self.close()
            raise ParataxisError(first.detail if isinstance(first, Failed) else _BROKEN)
        self.sentences = first.sentences
        self.splitter = first.splitter
        self.text: str | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Stop reading; the service drops the sentences that it has not started."""
        self._answer.close()

    def __iter__(self) -> Iterator[Split]:
        try:
            for line in self._lines:
                match line:
                    case SplitLine():
                        yield line
                    case End():
                        self.text = line.text
                        return
                    case Failed():
                        raise ParataxisError(line.detail)
            raise ParataxisError(_BROKEN)
        finally:
            self.close()

    def _read(self) -> Iterator[Start | SplitLine | End | Failed]:
        rest = b""
        with self._client.errors_reported():
            for part in self._answer.iter_bytes():
                # Split at newlines only: other line separators can occur inside a text.
                *lines, rest = (rest + part).split(b"\n")
                for line in lines:
                    try:
                        yield _LINE.validate_json(line)
                    except ValidationError as error:
                        raise self._client.not_understood() from error


def _given(text: str | Sequence[str]) -> dict[str, Any]:
    return {"text": text} if isinstance(text, str) else {"sentences": list(text)}


def _written(rewrite: Rewrite | tuple[str, Sequence[str]]) -> dict[str, Any]:
    if isinstance(rewrite, Rewrite):
        return rewrite.model_dump(mode="json", include={"source", "simple", "splitter"})
    source, simple = rewrite
    return {"source": source, "simple": list(simple)}


def _file(path: Path) -> dict[str, tuple[str, bytes]]:
    try:
        return {"file": (path.name, path.read_bytes())}
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise InputError(f"{path} cannot be read: {reason}.") from error
