"""What the service offers and how it is."""

from fastapi import APIRouter
from fastapi.responses import PlainTextResponse, Response
from prometheus_client import CONTENT_TYPE_LATEST

from parataxis import __version__
from parataxis.client.records import Health, OfferedSplitter, Problem, Ready, Splitters
from parataxis.web.service.problems import refusal
from parataxis.web.service.service import ServiceDep

__all__ = ["router"]

router = APIRouter(tags=["status"])


@router.get("/v1/splitters")
async def splitters(service: ServiceDep) -> Splitters:
    """The splitters that can be asked for."""
    return Splitters(
        default=service.offers.default,
        splitters=[
            OfferedSplitter(
                name=offer.name,
                summary=offer.summary,
                adjustable=offer.is_adjustable,
                problem=offer.problem,
            )
            for offer in service.offers.values()
        ],
    )


@router.get("/v1/health")
async def health() -> Health:
    """Whether the service is alive."""
    return Health(version=__version__)


@router.get(
    "/v1/ready",
    response_model=Ready,
    responses={503: {"model": Problem, "description": "The default splitter is not loaded."}},
)
async def ready(service: ServiceDep) -> Ready | Response:
    """Whether the default splitter is loaded, so that an answer comes at once."""
    if service.is_ready:
        return Ready()
    return refusal(service.problem or "The models are being loaded.", 503, retry=1)


@router.get("/metrics", response_class=PlainTextResponse)
async def metrics(service: ServiceDep) -> Response:
    """What Prometheus reads."""
    return Response(service.measures.text(), media_type=CONTENT_TYPE_LATEST)
