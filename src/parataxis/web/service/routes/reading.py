"""What needs no splitter: checks, analyses, readability."""

import math
from typing import Annotated

from fastapi import APIRouter, Body, Request
from fastapi.responses import Response

from parataxis.client.records import Analysed, Checked, Readability, Readable
from parataxis.metrics.protocol import Item
from parataxis.metrics.readability import GradeLevel, words
from parataxis.web.service.models import (
    ANALYSE_EXAMPLES,
    CHECK_EXAMPLES,
    READABILITY_EXAMPLES,
    AnalyseRequest,
    CheckRequest,
    ReadabilityRequest,
)
from parataxis.web.service.problems import REFUSALS, require_short
from parataxis.web.service.service import ServiceDep, results
from parataxis.web.service.tasks import AnalyseTask, CheckTask

__all__ = ["router"]

router = APIRouter(prefix="/v1", tags=["read"], responses=REFUSALS)


@router.post("/check", response_model=Checked)
async def check(
    body: Annotated[CheckRequest, Body(openapi_examples=CHECK_EXAMPLES)],
    request: Request,
    service: ServiceDep,
) -> Response:
    """Check rewrites, whoever made them: where each word comes from, what the checks find, and
    which patterns were split."""
    task = CheckTask()
    service.require_room([task.size(each) for each in body.rewrites], "rewrites")
    for each in body.rewrites:
        require_short(each.source, each.simple)
    job = service.engine.submit(task, body.rewrites)
    answer = Checked(rewrites=await results(request, job))
    return Response(answer.model_dump_json(), media_type="application/json")


@router.post("/analyse", response_model=Analysed)
async def analyse(
    body: Annotated[AnalyseRequest, Body(openapi_examples=ANALYSE_EXAMPLES)],
    request: Request,
    service: ServiceDep,
) -> Response:
    """Show what the analyser sees: words with tags and heads, roles, and patterns."""
    document, sentences = await service.read(body)
    found = await results(request, service.engine.submit(AnalyseTask(), sentences))
    spans = document.sentences if document else [None] * len(found)
    answer = Analysed(
        sentences=[
            each.model_copy(update={"start": span.start, "end": span.end}) if span else each
            for each, span in zip(found, spans, strict=True)
        ]
    )
    return Response(answer.model_dump_json(), media_type="application/json")


@router.post("/readability")
def readability(
    body: Annotated[ReadabilityRequest, Body(openapi_examples=READABILITY_EXAMPLES)],
    service: ServiceDep,
) -> Readability:
    """The Flesch-Kincaid grade level of texts, and how long their sentences are."""
    service.require_room([len(sentence) for text in body.texts for sentence in text])
    return Readability(texts=[_readable(text) for text in body.texts])


def _readable(text: list[str]) -> Readable:
    level = GradeLevel()
    (row,) = level.statistics([Item("", tuple(text))])
    score = level.from_statistics(row)
    sentences, spoken, _ = row.tolist()
    return Readable(
        grade=_or_none(score.value),
        sentences=int(sentences),
        words=int(spoken),
        words_per_sentence=_or_none(score.parts["words-per-sentence"]),
        longest=max((len(words(sentence)) for sentence in text), default=0),
    )


def _or_none(number: float) -> float | None:
    return None if math.isnan(number) else number
