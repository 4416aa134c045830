"""The pages of a task: writing, rating, training feedback and undoing."""

import re
import time
from collections.abc import Mapping
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Path
from fastapi.responses import HTMLResponse, Response

from parataxis.studies.items import ItemKind
from parataxis.studies.pages.site import Form, Interface, PersonForm, PersonVisit, Site, Visit
from parataxis.studies.pages.work import (
    SECONDS,
    ProblemsError,
    clean,
    from_form,
    next_path,
    seconds_from,
    shown,
    submit,
    undo,
)
from parataxis.studies.records import FLAG, REWRITE, Purpose, Value
from parataxis.studies.rubric import applicable
from parataxis.studies.store.types import PersonProgress, Task

router = APIRouter(include_in_schema=False)

SlotPath = Annotated[int, Path(ge=1, le=2**31 - 1, description="The number of the task.")]


def stage_of(task: Task) -> Literal["training", "test", "work"]:
    """The stage that a task belongs to; control items look like work."""
    if task.purpose is Purpose.TRAINING:
        return "training"
    return "test" if task.purpose is Purpose.TEST else "work"


@router.get("/task")
def next_task(visit: PersonVisit) -> Response:
    """Go to the next task."""
    return visit.redirect(next_path(visit.site, visit.who))


@router.get("/task/{slot}", response_class=HTMLResponse)
def task(visit: PersonVisit, slot: SlotPath) -> Response:
    """A sentence to rewrite, or a rewrite to rate."""
    found, progress = visit.site.store.task_and_progress(visit.who, slot)
    given = found.submitted if found.submitted is not None else found.draft or {}
    return _task_page(visit, found, progress, given)


@router.post("/task/{slot}")
def submit_task(visit: PersonVisit, slot: SlotPath, form: PersonForm) -> Response:
    """Submit the answers; show the page again if something is missing."""
    found, progress = visit.site.store.task_and_progress(visit.who, slot)
    answers = _answers(visit.site, found, form)
    try:
        path = submit(visit.site, visit.who, slot, answers, _seconds(form), visit.language)
    except ProblemsError as error:
        return _task_page(visit, found, progress, answers, error.problems, status=422)
    return visit.redirect(path)


@router.get("/task/{slot}/feedback", response_class=HTMLResponse)
def feedback(visit: PersonVisit, slot: SlotPath) -> Response:
    """Feedback on a training item."""
    store, rubric, texts = visit.site.store, visit.site.rubric, Interface(visit.language)
    found, progress = store.task_and_progress(visit.who, slot)
    if found.submitted is None or found.purpose is not Purpose.TRAINING:
        return visit.redirect(f"/task/{slot}")
    # Submitting the same answers again changes nothing, and returns the known answers.
    known = store.submit(visit.who, slot, found.submitted)
    rows = []
    for name, is_right in known.as_expected.items():
        question = rubric.question(name)
        right = known.expected[name]
        values: Any = right if isinstance(right, list | tuple) else [right]
        rows.append(
            {
                "question": question,
                "given": shown(question, found.submitted.get(name), texts),
                "expected": [shown(question, value, texts) for value in values],
                "right": is_right,
            }
        )
    return visit.page(
        "feedback.html", task=found, rows=rows, feedback=known.feedback, progress=progress
    )


@router.post("/undo")
def undo_last(visit: PersonVisit, form: PersonForm) -> Response:
    """Undo the last submission."""
    return visit.redirect(undo(visit.site, visit.who))


def _answers(site: Site, task: Task, form: Form) -> dict[str, Value]:
    if task.kind is ItemKind.RATE:
        return from_form(site.rubric, form)
    given: dict[str, Value] = {REWRITE: clean(form.get(REWRITE, ""))}
    return given | ({FLAG: form[FLAG]} if form.get(FLAG) else {})


def _seconds(form: Form) -> float | None:
    """The time measured by the script of the page, or else since the page was rendered."""
    measured = seconds_from(form.get("seconds") or None)
    if measured is not None:
        return measured
    begun = form.get("started", "")
    return seconds_from(time.time() - int(begun)) if re.fullmatch(r"[0-9]{1,12}", begun) else None


def _task_page(
    visit: Visit,
    task: Task,
    progress: PersonProgress,
    given: Mapping[str, Value],
    problems: Mapping[str, str] | None = None,
    status: int = 200,
) -> HTMLResponse:
    values: dict[str, Any] = {
        "status": status,
        "task": task,
        "given": given,
        "problems": problems or {},
        "progress": progress,
        "steps": _steps(task, progress),
        "seconds": (task.draft or {}).get(SECONDS) or 0,
        "started": int(time.time()),
        "final": task.submitted is not None and stage_of(task) != "work",
        "stage": stage_of(task),
    }
    site = visit.site
    if task.kind is ItemKind.WRITE:
        least = site.study.write.sentences if site.study.write else 1
        return visit.page("write.html", **values, least=least)
    asked = applicable(site.rubric, given, identical=task.item.identical)
    return visit.page(
        "rate.html",
        **values,
        rubric=site.rubric,
        asked={question.id for question in asked},
        fixed=site.rubric.identical if task.item.identical else {},
        shown=shown,
        examples=site.examples(site.rubric, visit.language),
    )


def _steps(task: Task, progress: PersonProgress) -> tuple[int, int | None]:
    """How many tasks of this kind are done, and how many there are, or None."""
    if task.purpose is Purpose.TRAINING:
        return progress.training
    if task.purpose is Purpose.TEST:
        return progress.test
    return progress.done.get(task.kind, 0), progress.limit.get(task.kind)
