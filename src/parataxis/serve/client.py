"""A client for a service run by ``parataxis serve``: :class:`Client`. Needs ``[client]``."""

import json
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, TypeVar, Unpack

from pydantic import BaseModel, TypeAdapter, ValidationError

from parataxis.errors import InputError, ParataxisError, TryLaterError, needs, system_errors
from parataxis.rewrite.record import Rewrite
from parataxis.serve import models
from parataxis.splitters.settings import SettingOptions

if TYPE_CHECKING:
    import httpx2

__all__ = ["Client", "Stream"]

M = TypeVar("M", bound=BaseModel)

_LINE: TypeAdapter[models.Line] = TypeAdapter(models.Line)
_BUSY = (429, 503)
_BROKEN = "The service ended its answer too early; try again."


class Options(SettingOptions, total=False):
    """The options of :meth:`Client.split` and :meth:`Client.stream`, as in ``/v1/split``."""

    splitter: str | None
    check: bool
    patterns: bool


class Client:
    """Sends requests to the service at a URL; every refusal is a ParataxisError, and if the service
    is busy, :class:`~parataxis.errors.TryLaterError` says when to retry. ``token`` is that of a
    service which asks for one, and ``timeout`` is in seconds. Threads can share a client, and it is
    a context manager."""

    def __init__(
        self,
        url: str = "http://127.0.0.1:8000",
        *,
        token: str | None = None,
        timeout: float = 300.0,
    ) -> None:
        with needs("The client needs httpx2", "client"):
            import httpx2
        self.url = url.rstrip("/")
        self._timeout = timeout
        self._errors: tuple[type[Exception], ...] = (httpx2.HTTPError, httpx2.InvalidURL)
        self._slow = httpx2.TimeoutException
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        self._http = httpx2.Client(timeout=timeout, headers=headers)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self._http.close()

    def split(
        self, text: str | Sequence[str], *, consecutive: bool = False, **options: Unpack[Options]
    ) -> models.SplitText:
        """Split the sentences of a text, or a list of sentences: separate ones, or ``consecutive``
        ones of a text."""
        body = {**_given(text, consecutive=consecutive), **options}
        return self._ask("split", models.SplitText, json=body)

    def stream(
        self, text: str | Sequence[str], *, consecutive: bool = False, **options: Unpack[Options]
    ) -> "Stream":
        """Like :meth:`split`, but yields each rewrite as soon as it is made. Closing the stream
        cancels the rest."""
        body = {**_given(text, consecutive=consecutive), **options}
        return Stream(self._send("split/stream", stream=True, json=body), self)

    def check(
        self, rewrites: Iterable[Rewrite | tuple[str, Sequence[str]]]
    ) -> list[models.Explained]:
        """Check rewrites, or pairs of a source and its simple sentences: provenance, findings, and
        which patterns were split."""
        body = {"rewrites": [_written(each) for each in rewrites]}
        return list(self._ask("check", models.Checked, json=body).rewrites)

    def alternatives(self, sentence: str, **options: Unpack[Options]) -> list[models.Explained]:
        """Find other rewrites of a sentence, also of one that is left whole; the best first."""
        body = {"sentence": sentence, **options}
        return list(self._ask("alternatives", models.Alternatives, json=body).rewrites)

    def difficulty(self, text: str) -> models.Difficulty:
        """Measure how long the sentences of a text are, and whether their clauses are nested."""
        return self._ask("difficulty", models.Difficulty, json={"text": text})

    def analyse(self, text: str | Sequence[str]) -> list[models.AnalysedSentence]:
        """Analyse the sentences of a text, or a list of separate sentences."""
        return list(self._ask("analyse", models.Analysed, json=_given(text)).sentences)

    def readability(self, texts: Iterable[Sequence[str]]) -> list[models.Readable]:
        """Measure the grade levels of texts, each given as its sentences."""
        body = {"texts": [list(text) for text in texts]}
        return list(self._ask("readability", models.Readability, json=body).texts)

    def splitters(self) -> models.Splitters:
        """List the splitters that the service offers."""
        return self._ask("splitters", models.Splitters, method="GET")

    def is_ready(self) -> bool:
        """Whether the models of the service are loaded."""
        with self.errors_reported():
            return self._http.get(f"{self.url}/v1/ready").status_code == 200

    def read_document(self, path: Path) -> models.DocumentRead:
        """Read the text and the sentences of a document."""
        return self._ask("documents", models.DocumentRead, files=_file(path))

    def rewrite_document(
        self, path: Path, rewrites: Sequence[Rewrite | None], *, tracked: bool = False
    ) -> bytes:
        """Return the document with a rewrite for each sentence; None leaves one unchanged."""
        listed = [each and each.model_dump(mode="json", exclude_none=True) for each in rewrites]
        fields = {"rewrites": json.dumps(listed), "tracked": str(tracked).lower()}
        return bytes(self._send("documents/rewritten", files=_file(path), data=fields).content)

    def _ask(self, path: str, model: type[M], **request: Any) -> M:
        content = self._send(path, **request).content
        with self.errors_reported():
            return model.model_validate_json(content)

    def _send(
        self, path: str, *, method: str = "POST", stream: bool = False, **body: Any
    ) -> "httpx2.Response":
        """Send a request; every answer but a success is raised as an error."""
        with self.errors_reported():
            request = self._http.build_request(method, f"{self.url}/v1/{path}", **body)
            answer = self._http.send(request, stream=stream)
            status = answer.status_code
            if status == 200:
                return answer
            detail = models.Problem.model_validate_json(answer.read()).detail
        if status in _BUSY and (wait := answer.headers.get("retry-after", "")).isdecimal():
            raise TryLaterError(detail, float(wait))
        raise (InputError if 400 <= status < 500 else ParataxisError)(detail)

    @contextmanager
    def errors_reported(self) -> Iterator[None]:
        """Turn the errors of the connection into one-sentence ParataxisErrors."""
        try:
            yield
        except ValidationError as error:
            raise ParataxisError(
                f"What answers at {self.url} is no Parataxis service that we know."
            ) from error
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
    """The rewrites of a request as they are made; iterate over it once, or close it. ``sentences``
    is their number. ``text`` is the rewritten text after the last one, if a text was sent."""

    def __init__(self, answer: "httpx2.Response", client: Client) -> None:
        self._answer = answer
        self._client = client
        self._lines = self._read()
        first = next(self._lines, None)
        if not isinstance(first, models.Start):
            self.close()
            raise ParataxisError(first.detail if isinstance(first, models.Failed) else _BROKEN)
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

    def __iter__(self) -> Iterator[models.Split]:
        try:
            for line in self._lines:
                match line:
                    case models.SplitLine():
                        yield line
                    case models.End():
                        self.text = line.text
                        return
                    case models.Failed():
                        raise ParataxisError(line.detail)
            raise ParataxisError(_BROKEN)
        finally:
            self.close()

    def _read(self) -> Iterator[models.Line]:
        rest = b""
        with self._client.errors_reported():
            for part in self._answer.iter_bytes():
                # Split at newlines only: other line separators can occur inside a text.
                *lines, rest = (rest + part).split(b"\n")
                yield from map(_LINE.validate_json, lines)


def _given(text: str | Sequence[str], *, consecutive: bool = False) -> dict[str, Any]:
    if isinstance(text, str):
        return {"text": text}
    return {"sentences": list(text), **({"consecutive": True} if consecutive else {})}


def _written(rewrite: Rewrite | tuple[str, Sequence[str]]) -> dict[str, Any]:
    if isinstance(rewrite, Rewrite):
        return rewrite.model_dump(mode="json", include={"source", "simple", "splitter"})
    source, simple = rewrite
    return {"source": source, "simple": list(simple)}


def _file(path: Path) -> dict[str, tuple[str, bytes]]:
    with system_errors(f"{path} cannot be read"):
        data = path.read_bytes()
    return {"file": (path.name, data)}
