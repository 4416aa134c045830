"""Asking a service that ``parataxis serve`` runs: :class:`Client`. Needs the extra ``[client]``."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, TypeVar

from pydantic import BaseModel, TypeAdapter, ValidationError

from parataxis.errors import InputError, ParataxisError, TryLaterError
from parataxis.rewrite.record import Rewrite
from parataxis.serve.records import (
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


# The client: each method is one request, and every refusal is a ParataxisError.

M = TypeVar("M", bound=BaseModel)

_LINE: TypeAdapter[Start | SplitLine | End | Failed] = TypeAdapter(Line)
_BUSY = (429, 503)
_BROKEN = "The service ended its answer too early; try again."


class _Closing:
    """Something that is closed at the end of a ``with`` statement."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Give back what is held."""
        raise NotImplementedError


class Client(_Closing):
    """Asks the service at a URL. It can be used by several threads, and as a context manager.

    ``timeout`` is how many seconds the service may say nothing. Where it has too much to do, a
    :class:`~parataxis.errors.TryLaterError` says after how many seconds to ask again.
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

    def close(self) -> None:
        """Close the connections."""
        self._http.close()

    def split(
        self,
        text: str | Sequence[str],
        *,
        splitter: str | None = None,
        strict: bool = False,
        beam: int | None = None,
        check: bool = True,
        patterns: bool = True,
    ) -> SplitText:
        """Split the sentences of a text, or, where a list is given, single sentences."""
        options = _options(splitter, strict, beam, check, patterns)
        return self._post("split", {**_given(text), **options}, SplitText)

    def stream(
        self,
        text: str | Sequence[str],
        *,
        splitter: str | None = None,
        strict: bool = False,
        beam: int | None = None,
        check: bool = True,
        patterns: bool = True,
    ) -> "Stream":
        """The same, rewrite by rewrite, as each is made. To close the stream cancels the rest."""
        body = {**_given(text), **_options(splitter, strict, beam, check, patterns)}
        with self._told():
            request = self._http.build_request("POST", self._at("split/stream"), json=body)
            answer = self._http.send(request, stream=True)
            if answer.status_code != 200:
                answer.read()
        self._require_success(answer)
        return Stream(answer, self)

    def check(self, rewrites: Iterable[Rewrite | tuple[str, Sequence[str]]]) -> list[Explained]:
        """Check rewrites, or pairs of a source and its simple sentences: where each word comes
        from, what the checks find, and which patterns were split."""
        body = {"rewrites": [_written(each) for each in rewrites]}
        return list(self._post("check", body, Checked).rewrites)

    def analyse(self, text: str | Sequence[str]) -> list[AnalysedSentence]:
        """What the analyser sees in the sentences of a text, or in single sentences."""
        return list(self._post("analyse", _given(text), Analysed).sentences)

    def readability(self, texts: Iterable[Sequence[str]]) -> list[Readable]:
        """The grade levels of texts, each given as its sentences."""
        body = {"texts": [list(text) for text in texts]}
        return list(self._post("readability", body, Readability).texts)

    def splitters(self) -> Splitters:
        """The splitters that can be asked for."""
        with self._told():
            answer = self._http.get(self._at("splitters"))
        return self._read(answer, Splitters)

    def is_ready(self) -> bool:
        """Whether the models of the service are loaded."""
        with self._told():
            return self._http.get(self._at("ready")).status_code == 200

    def read_document(self, path: Path) -> DocumentRead:
        """The text of a document and its sentences."""
        with self._told():
            answer = self._http.post(self._at("documents"), files=_file(path))
        return self._read(answer, DocumentRead)

    def rewrite_document(
        self, path: Path, rewrites: Sequence[Rewrite | None], *, tracked: bool = False
    ) -> bytes:
        """The document with a rewrite for each of its sentences; None leaves one alone."""
        listed = [each and each.model_dump(mode="json", exclude_none=True) for each in rewrites]
        fields = {"rewrites": json.dumps(listed), "tracked": str(tracked).lower()}
        with self._told():
            answer = self._http.post(
                self._at("documents/rewritten"), files=_file(path), data=fields
            )
        self._require_success(answer)
        return bytes(answer.content)

    def _at(self, path: str) -> str:
        return f"{self.url}/v1/{path}"

    def _post(self, path: str, body: Mapping[str, Any], model: type[M]) -> M:
        with self._told():
            answer = self._http.post(self._at(path), json=body)
        return self._read(answer, model)

    def _read(self, answer: "httpx2.Response", model: type[M]) -> M:
        self._require_success(answer)
        try:
            return model.model_validate_json(answer.content)
        except ValidationError as error:
            raise self._stranger() from error

    def _require_success(self, answer: "httpx2.Response") -> None:
        status = answer.status_code
        if status == 200:
            return
        try:
            detail = Problem.model_validate_json(answer.content).detail
        except ValidationError as error:
            raise self._stranger() from error
        if status in _BUSY and (wait := answer.headers.get("retry-after", "")).isdecimal():
            raise TryLaterError(detail, float(wait))
        raise (InputError if 400 <= status < 500 else ParataxisError)(detail)

    def _stranger(self) -> ParataxisError:
        return ParataxisError(f"What answers at {self.url} is no Parataxis service that we know.")

    @contextmanager
    def _told(self) -> Iterator[None]:
        """Tell in one sentence what went wrong on the way."""
        try:
            yield
        except self._slow as error:
            raise ParataxisError(
                f"The service at {self.url} said nothing for {self._timeout:g} seconds."
            ) from error
        except UnicodeEncodeError as error:  # JSON in UTF-8 has no half characters
            raise InputError("A text has a lone surrogate (half a character).") from error
        except self._errors as error:
            reason = " ".join(str(error).split()) or type(error).__name__
            raise ParataxisError(f"There is no answer from {self.url}: {reason}.") from error


class Stream(_Closing):
    """The rewrites of a request, as they are made; iterate over it once.

    ``sentences`` is how many rewrites will come, ``splitter`` who makes them, and ``text``, at the
    end, the text with all of them (None before, or where sentences were sent).
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

    def close(self) -> None:
        """Read no more; what the service has not begun, it will not do."""
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
        with self._client._told():
            for part in self._answer.iter_bytes():
                # Only at newlines: other signs that end lines may stand inside a text.
                *lines, rest = (rest + part).split(b"\n")
                for line in lines:
                    try:
                        yield _LINE.validate_json(line)
                    except ValidationError as error:
                        raise self._client._stranger() from error


def _given(text: str | Sequence[str]) -> dict[str, Any]:
    return {"text": text} if isinstance(text, str) else {"sentences": list(text)}


def _options(
    splitter: str | None, strict: bool, beam: int | None, check: bool, patterns: bool
) -> dict[str, Any]:
    options = {"strict": strict, "beam": beam, "check": check, "patterns": patterns}
    return options if splitter is None else {"splitter": splitter, **options}


def _written(rewrite: Rewrite | tuple[str, Sequence[str]]) -> dict[str, Any]:
    if isinstance(rewrite, Rewrite):
        source, simple, splitter = rewrite.source, rewrite.simple, rewrite.splitter
        return {"source": source, "simple": list(simple), "splitter": splitter}
    source, given = rewrite
    return {"source": source, "simple": list(given)}


def _file(path: Path) -> dict[str, tuple[str, bytes]]:
    try:
        return {"file": (path.name, path.read_bytes())}
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise InputError(f"{path} cannot be read: {reason}.") from error
