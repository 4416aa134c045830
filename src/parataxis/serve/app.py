"""Assembles the service."""

import asyncio
import gc
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from typing import Any

from parataxis.errors import needs

with needs("The service needs FastAPI, prometheus-client and python-multipart", "serve"):
    import fastapi  # noqa: F401
    import prometheus_client  # noqa: F401
    import python_multipart  # noqa: F401

from fastapi import FastAPI

from parataxis import __version__
from parataxis.serve.languagetool import LARGEST, languagetool_router
from parataxis.serve.middleware import CountRequests, LimitRequests, RequestLimits
from parataxis.serve.models import WrittenRewrite
from parataxis.serve.problems import add_handlers, refusal, reported
from parataxis.serve.routes import api_routers, page_router
from parataxis.serve.service import Service, ServiceSettings
from parataxis.serve.tasks import AnalyseTask, CheckTask
from parataxis.web import Guard
from parataxis.web.access import Access

_VALUES = 8
"""Values of JSON that a request may have for each sentence: a rewrite to check has five or more."""
_OPEN = ("/", "/v1/health", "/v1/ready")
"""Paths that need no token, besides the files of the page, which asks for it."""
_WARM_UP = "Ann, who was born here, paints."
_WARM_UP_REWRITE = WrittenRewrite(source=_WARM_UP, simple=["Ann was born here.", "Ann painted."])


def make_app(settings: ServiceSettings | None = None) -> FastAPI:
    """Make the application; its default splitter is loaded in the background when it starts. Raises
    ParataxisError if a splitter of the settings is not installed."""
    settings = settings or ServiceSettings()
    app = FastAPI(
        title="Parataxis",
        summary="Split long, complex English sentences into simple ones with the same meaning.",
        version=__version__,
        docs_url=None,  # its page loads scripts from another host
        redoc_url=None,
        openapi_url="/v1/openapi.json",
        redirect_slashes=False,  # such a redirect goes to whatever host the request names
        lifespan=_lifespan,
    )
    app.state.service = Service(settings)
    pages = [page_router] if settings.page else []
    for router in (*api_routers, languagetool_router, *pages):
        app.include_router(router)
    limits = RequestLimits(
        per_minute=settings.per_minute,
        per_address=settings.per_address,
        concurrent=settings.concurrent,
        values=_VALUES * settings.sentences + _VALUES,
    )
    app.add_middleware(LimitRequests, limits=limits, room=app.state.service.room)
    app.add_middleware(
        Access, hosts=settings.hosts, token=settings.token, is_open=_is_open, refuse=refusal
    )
    app.add_middleware(
        Guard, largest=lambda path: _largest(path, settings), secure=False, refuse=refusal
    )
    app.add_middleware(CountRequests, metrics=app.state.service.metrics)
    add_handlers(app)
    app.openapi = partial(_described, app)  # type: ignore[method-assign]
    return app


def _described(app: FastAPI) -> dict[str, Any]:
    """The description of the API, with what depends on the settings: the splitters, the token."""
    service: Service = app.state.service
    described = FastAPI.openapi(app)
    for schema in described["components"]["schemas"].values():
        splitter = schema.get("properties", {}).get("splitter", {})
        for choice in splitter.get("anyOf", ()):
            if choice.get("type") == "string":
                choice["enum"] = list(service.offers)
    if service.settings.token:
        bearer = {"type": "http", "scheme": "bearer"}
        described["components"]["securitySchemes"] = {"token": bearer}
        for path, operations in described["paths"].items():
            for operation in operations.values() if not _is_open(path) else ():
                operation["security"] = [{"token": []}]
    return described


@asynccontextmanager
async def _lifespan(app: FastAPI) -> AsyncIterator[None]:
    service: Service = app.state.service
    loading = asyncio.create_task(_load(service))
    yield
    loading.cancel()
    service.close()


async def _load(service: Service) -> None:
    """Split, check and analyse a sentence, so that the models and the dictionary of inflections
    are loaded before the first request."""
    submit = service.engine.submit
    try:
        async for _ in submit(service.offers.task(), [_WARM_UP]).results():
            pass
        async for _ in submit(CheckTask(), [_WARM_UP_REWRITE]).results():
            pass
        async for _ in submit(AnalyseTask(), [_WARM_UP]).results():
            service.is_ready = True
        gc.freeze()  # the models stay, so that collections need not look through them
    except Exception as error:
        service.problem = reported(error)


def _is_open(path: str) -> bool:
    return path in _OPEN or path.startswith("/static/")


def _largest(path: str, settings: ServiceSettings) -> int:
    """The largest body in bytes. A character can take twelve bytes of JSON, and the provenance of
    a word in a rewrite about twenty times its length."""
    if path.startswith("/v2/"):
        return LARGEST
    if path.endswith(("/documents/rewritten", "/documents/blocked")):
        return settings.upload + 32 * settings.characters
    if path.endswith("/documents"):
        return settings.upload + (1 << 16)
    return 12 * settings.characters + (1 << 16)
