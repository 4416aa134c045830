"""The pages of a task: writing, rating, what was right in the training, and undoing."""

import re
import time
from collections.abc import Mapping
from typing import Annotated, Any

from fastapi import APIRouter, Path, Request
from fastapi.responses import HTMLResponse, Response

from parataxis.studies.items import ItemKind
from parataxis.studies.pages.answers import (
    SECONDS,
    clean,
    from_form,
    interface,
    seconds_from,
    shown,
)
from parataxis.studies.pages.keys import Session
from parataxis.studies.pages.site import (
    Form,
    LanguageDep,
    PersonDep,
    PersonForm,
    Site,
    SiteDep,
    language_of,
    page,
    redirect,
)
from parataxis.studies.pages.work import ProblemsError, next_path, submit, undo
from parataxis.studies.records import Purpose, Value
from parataxis.studies.rubric import applicable
from parataxis.studies.store import FLAG, REWRITE, PersonProgress, Task

router = APIRouter(include_in_schema=False)

SlotPath = Annotated[int, Path(ge=1, le=2**31 - 1, description="The number of the task.")]

_FINAL = (Purpose.TRAINING, Purpose.TEST)
"""Once submitted, their answers stay."""


@router.get("/task")
def next_task(request: Request, site: SiteDep, session: PersonDep) -> Response:
    """Go to the next task."""
    return redirect(request, next_path(site, session.who))


@router.get("/task/{slot}", response_class=HTMLResponse)
def task(request: Request, site: SiteDep, session: PersonDep, slot: SlotPath) -> Response:
    """Something to write or to rate."""
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
    """Submit what was written or rated; show the page again where something is missing."""
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
    """What was right and wrong about a training item."""
    found, progress = site.store.task_and_progress(session.who, slot)
    if found.submitted is None or found.purpose is not Purpose.TRAINING:
        return redirect(request, f"/task/{slot}")
    # The same answers again change nothing, and bring what is known about the item.
    known = site.store.submit(session.who, slot, found.submitted)
    texts = interface(language)
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
    """Take back the last submission."""
    return redirect(request, undo(site, session.who))


def _answers(site: Site, task: Task, form: Form) -> dict[str, Value]:
    if task.kind is ItemKind.RATE:
        return from_form(site.rubric, form)
    given: dict[str, Value] = {REWRITE: clean(form.get(REWRITE, ""))}
    return given | ({FLAG: form[FLAG]} if form.get(FLAG) else {})


def _seconds(form: Form) -> float | None:
    """What the script of the page measured, or else the time since the page was made."""
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
        "final": task.submitted is not None and task.purpose in _FINAL,
        "stage": task.purpose.value if task.purpose in _FINAL else "work",
    }
    if task.kind is ItemKind.WRITE:
        least = site.study.write.sentences if site.study.write else 1
        return page(request, "write.html", **values, least=least)
    asked = applicable(site.rubric, given, identical=task.item.identical)
    fixed = site.rubric.identical if task.item.identical else {}
    return page(
        request,
        "rate.html",
        **values,
        rubric=site.rubric,
        asked={question.id for question in asked},
        fixed=fixed,
        shown=shown,
        examples=site.examples(site.rubric, language_of(request, site)),
    )


def _steps(task: Task, progress: PersonProgress) -> tuple[int, int | None]:
    """How many tasks of this sort are done, and how many there are, where that is known."""
    if task.purpose is Purpose.TRAINING:
        return progress.training
    if task.purpose is Purpose.TEST:
        return progress.test
    return progress.done.get(task.kind, 0), progress.limit.get(task.kind)
