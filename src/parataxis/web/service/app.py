"""Puts the service together."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from anyio import CapacityLimiter
from fastapi import FastAPI

from parataxis import __version__
from parataxis.syntax.onnx import threads
from parataxis.web.security import Guard
from parataxis.web.service.engine import Engine
from parataxis.web.service.gate import Gate
from parataxis.web.service.measures import Counting, Measures
from parataxis.web.service.models import WrittenRewrite
from parataxis.web.service.problems import add_handlers, refusal, told
from parataxis.web.service.reader import Readers
from parataxis.web.service.routes import documents, reading, split, status
from parataxis.web.service.service import Service
from parataxis.web.service.settings import Settings
from parataxis.web.service.splitters import Offers
from parataxis.web.service.tasks import AnalyseTask, CheckTask

__all__ = ["make_app"]

_READERS = 2
_EACH = 8
"""Sentences of a batch for each thread; fewer than that the pointer does in one."""
_WARM = "Ann, who was born here, paints."
_WARM_REWRITE = WrittenRewrite(source=_WARM, simple=["Ann was born here.", "Ann painted."])


def make_app(settings: Settings | None = None) -> FastAPI:
    """The application; its default splitter is loaded in the background when it starts.

    Raises ParataxisError where a splitter that is to be offered is not installed.
    """
    settings = settings or Settings()
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
    for module in (split, reading, documents, status):
        app.include_router(module.router)
    if settings.page:
        from parataxis.web.workbench import router

        app.include_router(router)
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


def _largest(path: str, settings: Settings) -> int:
    """How many bytes may be sent: a character can take twelve of them in JSON, and each word of a
    rewrite tells in some twenty times its length where it comes from."""
    if path.endswith("/documents/rewritten"):
        return settings.upload + 32 * settings.characters
    if path.endswith("/documents"):
        return settings.upload + (1 << 16)
    return 12 * settings.characters + (1 << 16)
