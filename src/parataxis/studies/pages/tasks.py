"""The pages of a task: writing, rating, training feedback and undoing."""

import re
import time
from collections.abc import Mapping
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Path, Request
from fastapi.responses import HTMLResponse, Response

from parataxis.studies.items import ItemKind
from parataxis.studies.pages.keys import Session
from parataxis.studies.pages.site import (
    Form,
    Interface,
    LanguageDep,
    PersonDep,
    PersonForm,
    Site,
    SiteDep,
    language_of,
    page,
    redirect,
)
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
def next_task(request: Request, site: SiteDep, session: PersonDep) -> Response:
    """Go to the next task."""
    return redirect(request, next_path(site, session.who))


@router.get("/task/{slot}", response_class=HTMLResponse)
def task(request: Request, site: SiteDep, session: PersonDep, slot: SlotPath) -> Response:
    """A sentence to rewrite, or a rewrite to rate."""
    found, progress = site.store.task_and_progress(session.who, slot)
    given = found.submitted if found.submitted is not None else found.draft or {}
    return _task_page(request, site, session, found, progress, given)


@router.post("/task/{slot}")
def submit_task(
    request: Request,
    site: SiteDep,
    session: PersonDep,
    slot: SlotPath,
    form: PersonForm,
    language: LanguageDep,
) -> Response:
    """Submit the answers; show the page again if something is missing."""
    found, progress = site.store.task_and_progress(session.who, slot)
    answers = _answers(site, found, form)
    try:
        path = submit(site, session.who, slot, answers, _seconds(form), language)
    except ProblemsError as error:
        return _task_page(
            request, site, session, found, progress, answers, error.problems, status=422
        )
    return redirect(request, path)


@router.get("/task/{slot}/feedback", response_class=HTMLResponse)
def feedback(
    request: Request, site: SiteDep, session: PersonDep, slot: SlotPath, language: LanguageDep
) -> Response:
    """Feedback on a training item."""
    found, progress = site.store.task_and_progress(session.who, slot)
    if found.submitted is None or found.purpose is not Purpose.TRAINING:
        return redirect(request, f"/task/{slot}")
    # Submitting the same answers again changes nothing, and returns the known answers.
    known = site.store.submit(session.who, slot, found.submitted)
    texts = Interface(language)
    rows = []
    for name, is_right in known.as_expected.items():
        question = site.rubric.question(name)
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
    return page(
        request,
        "feedback.html",
        session=session,
        task=found,
        rows=rows,
        feedback=known.feedback,
        progress=progress,
    )


@router.post("/undo")
def undo_last(request: Request, site: SiteDep, session: PersonDep, form: PersonForm) -> Response:
    """Undo the last submission."""
    return redirect(request, undo(site, session.who))


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
    request: Request,
    site: Site,
    session: Session,
    task: Task,
    progress: PersonProgress,
    given: Mapping[str, Value],
    problems: Mapping[str, str] | None = None,
    status: int = 200,
) -> HTMLResponse:
    values: dict[str, Any] = {
        "session": session,
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
    if task.kind is ItemKind.WRITE:
        least = site.study.write.sentences if site.study.write else 1
        return page(request, "write.html", **values, least=least)
    asked = applicable(site.rubric, given, identical=task.item.identical)
    return page(
        request,
        "rate.html",
        **values,
        rubric=site.rubric,
        asked={question.id for question in asked},
        fixed=site.rubric.identical if task.item.identical else {},
        shown=shown,
        examples=site.examples(site.rubric, language_of(request, site)),
    )


def _steps(task: Task, progress: PersonProgress) -> tuple[int, int | None]:
    """How many tasks of this kind are done, and how many there are, or None."""
    if task.purpose is Purpose.TRAINING:
        return progress.training
    if task.purpose is Purpose.TEST:
        return progress.test
    return progress.done.get(task.kind, 0), progress.limit.get(task.kind)
