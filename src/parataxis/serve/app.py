"""Puts the service together."""

import asyncio
import ipaddress
import math
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from parataxis.errors import ParataxisError

try:
    import fastapi  # noqa: F401
    import prometheus_client  # noqa: F401
    import python_multipart  # noqa: F401
except ImportError as error:
    raise ParataxisError(
        "The service needs FastAPI and its company; install them with: "
        "pip install 'parataxis[serve]'."
    ) from error

from anyio import CapacityLimiter
from fastapi import FastAPI
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from parataxis import __version__
from parataxis.serve.engine import Engine
from parataxis.serve.models import WrittenRewrite
from parataxis.serve.problems import add_handlers, refusal, told
from parataxis.serve.reader import Readers
from parataxis.serve.routes import (
    documents_router,
    page_router,
    reading_router,
    split_router,
    status_router,
)
from parataxis.serve.service import Counting, Measures, Service
from parataxis.serve.settings import ServiceSettings
from parataxis.serve.tasks import AnalyseTask, CheckTask, Offers
from parataxis.syntax.onnx import threads
from parataxis.web import Guard, Throttle

# How many requests come in, and how quickly; what is refused here is not even read.

PATIENCE = 60.0
"""Seconds in which the body of a request must have come."""


class Gate:
    """Lets in so many requests a minute from one address, and so many at the same time."""

    def __init__(self, app: ASGIApp, settings: ServiceSettings) -> None:
        self._app = app
        self._settings = settings
        self._throttle = Throttle(settings.per_minute, 60)
        self._inside = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["method"] != "POST":
            await self._app(scope, receive, send)
            return
        address = _network(scope)
        wait = self._throttle.wait(address)
        if wait > 0:
            seconds = max(1, math.ceil(wait))
            detail = (
                f"More than {self._settings.per_minute} requests came from your address within a "
                f"minute; try again in {seconds} s."
            )
            await refusal(detail, 429, retry=wait)(scope, receive, send)
            return
        if self._inside >= self._settings.concurrent:
            detail = "The service is busy; try again in 1 s."
            await refusal(detail, 503, retry=1)(scope, receive, send)
            return
        self._throttle.count(address)
        self._inside += 1
        try:
            await self._app(scope, _hurried(receive), send)
        finally:
            self._inside -= 1


def _network(scope: Scope) -> str:
    """The address, or for IPv6 the network that one subscriber has to draw addresses from."""
    host = (scope.get("client") or ("unknown",))[0]
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return str(host)
    if address.version == 4:
        return str(address)
    return str(ipaddress.ip_network(f"{address}/64", strict=False))


def _hurried(receive: Receive) -> Receive:
    """The same with an end to the patience for a body that does not come."""
    end = asyncio.get_running_loop().time() + PATIENCE
    is_read = False

    async def received() -> Message:
        nonlocal is_read
        if is_read:
            return await receive()
        try:
            async with asyncio.timeout_at(end):
                message = await receive()
        except TimeoutError:
            raise HTTPException(408, "The body came too slowly.") from None
        is_read = not message.get("more_body", False)
        return message

    return received


_READERS = 2
_EACH = 8
"""Sentences of a batch for each thread; fewer than that the pointer does in one."""
_WARM = "Ann, who was born here, paints."
_WARM_REWRITE = WrittenRewrite(source=_WARM, simple=["Ann was born here.", "Ann painted."])


def make_app(settings: ServiceSettings | None = None) -> FastAPI:
    """The application; its default splitter is loaded in the background when it starts.

    Raises ParataxisError where a splitter that is to be offered is not installed.
    """
    settings = settings or ServiceSettings()
    app = FastAPI(
        title="Parataxis",
        summary="Split long, complex English sentences into simple ones with the same meaning.",
        version=__version__,
        docs_url=None,  # its page needs scripts of another host
        redoc_url=None,
        openapi_url="/v1/openapi.json",
        redirect_slashes=False,  # such a redirect goes to whatever host the request names
        lifespan=_lifespan,
    )
    measures = Measures()
    engine = Engine(settings.queue, batch=_EACH * threads(), note=measures.note)
    measures.watch(lambda: engine.waiting)
    offers = Offers(settings.splitters)
    readers = Readers(settings.characters)
    limiter = CapacityLimiter(_READERS)
    app.state.service = Service(settings, offers, engine, measures, readers, limiter)
    for router in (split_router, reading_router, documents_router, status_router):
        app.include_router(router)
    if settings.page:
        app.include_router(page_router)
    app.add_middleware(Gate, settings=settings)
    app.add_middleware(
        Guard, largest=lambda path: _largest(path, settings), secure=False, refuse=refusal
    )
    app.add_middleware(Counting, measures=measures)
    add_handlers(app)
    return app


@asynccontextmanager
async def _lifespan(app: FastAPI) -> AsyncIterator[None]:
    service: Service = app.state.service
    loading = asyncio.create_task(_load(service))
    yield
    loading.cancel()
    service.close()


async def _load(service: Service) -> None:
    """Split, check and analyse a sentence, so that all that is needed is loaded before somebody
    waits for it: the models, the dictionary of inflections, and the roles, which are seldom asked
    for."""
    engine = service.engine
    try:
        async for _ in engine.submit(service.offers.task(), [_WARM]).results():
            pass
        async for _ in engine.submit(CheckTask(), [_WARM_REWRITE]).results():
            pass
        async for _ in engine.submit(AnalyseTask(), [_WARM]).results():
            service.is_ready = True
    except Exception as error:
        service.problem = told(error)


def _largest(path: str, settings: ServiceSettings) -> int:
    """How many bytes may be sent: a character can take twelve of them in JSON, and each word of a
    rewrite tells in some twenty times its length where it comes from."""
    if path.endswith("/documents/rewritten"):
        return settings.upload + 32 * settings.characters
    if path.endswith("/documents"):
        return settings.upload + (1 << 16)
    return 12 * settings.characters + (1 << 16)
