"""What the routes share: settings, splitters, the engine, and what is measured."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Annotated, ParamSpec, TypeVar

from anyio import CapacityLimiter, to_thread
from fastapi import Depends, Request

from parataxis.text.documents import Document, read_document
from parataxis.web.service.engine import Engine, Job
from parataxis.web.service.measures import Measures
from parataxis.web.service.models import WithSentences, WithText
from parataxis.web.service.problems import TooMuchError
from parataxis.web.service.reader import Readers
from parataxis.web.service.settings import Settings
from parataxis.web.service.splitters import Offers

__all__ = ["Service", "ServiceDep", "results"]

P = ParamSpec("P")
T = TypeVar("T")
R = TypeVar("R")


@dataclass
class Service:
    """The parts of a running service."""

    settings: Settings
    offers: Offers
    engine: Engine
    measures: Measures
    readers: Readers
    limiter: CapacityLimiter
    """How many documents are read at the same time."""
    is_ready: bool = False
    problem: str | None = None
    """Why it will not become ready."""

    def require_room(self, sizes: Sequence[int], what: str = "sentences") -> None:
        """Refuse more, or longer, than is taken at once; ``sizes`` are numbers of characters."""
        limits = self.settings
        if len(sizes) > limits.sentences:
            raise TooMuchError(
                f"There are {len(sizes)} {what}; at most {limits.sentences} are taken at once."
            )
        if sum(sizes) > limits.characters:
            raise TooMuchError(
                f"There are {sum(sizes)} characters; at most {limits.characters} are taken at once."
            )

    def close(self) -> None:
        """Stop all work."""
        self.engine.close()
        self.readers.close()

    async def aside(self, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Run what takes long in a thread."""
        return await to_thread.run_sync(partial(function, *args, **kwargs))

    async def in_turn(self, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """The same for what takes very long: so many at a time, and the others wait."""
        return await to_thread.run_sync(partial(function, *args, **kwargs), limiter=self.limiter)

    async def read(self, body: WithText | WithSentences) -> tuple[Document | None, list[str]]:
        """The sentences of a request, and the text that they stand in, where that was sent."""
        if isinstance(body, WithSentences):
            self.require_room([len(sentence) for sentence in body.sentences])
            return None, body.sentences
        self.require_room([len(body.text)])
        document = await self.aside(read_document, body.text)
        sentences = [span.text for span in document.sentences]
        self.require_room([len(sentence) for sentence in sentences])
        return document, sentences


def _service(request: Request) -> Service:
    service: Service = request.app.state.service
    return service


ServiceDep = Annotated[Service, Depends(_service)]


async def results(request: Request, job: Job[T, R]) -> list[R]:
    """All results of a job; the work ends where whoever asked goes away."""
    watch = asyncio.create_task(_gone(request))
    watch.add_done_callback(lambda _: job.cancel())
    try:
        return [result async for result in job.results()]
    finally:
        watch.cancel()


async def _gone(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass
