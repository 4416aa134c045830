"""Doing a task, for the pages and the API: answers, drafts, submissions and live help."""

import re
from collections.abc import Mapping

from pydantic import BaseModel, Field

from parataxis.checks import check
from parataxis.rewrite.record import FindingKind
from parataxis.studies.items import ItemKind, effort, sentences_of
from parataxis.studies.pages.site import Interface, Site
from parataxis.studies.records import FLAG, REWRITE, Flag, Purpose, Value, in_language
from parataxis.studies.rubric import Question, QuestionKind, Rubric, complete, from_text, problems
from parataxis.studies.store.types import SlotState, Submitted, Task, UndoError
from parataxis.studies.study import BackgroundKind, BackgroundQuestion, OnFailure

STATUS = "/status"


class ProblemsError(Exception):
    """The answers have errors; ``problems`` holds the messages by question."""

    def __init__(self, problems: Mapping[str, str]) -> None:
        super().__init__("Some answers are missing or wrong.")
        self.problems = problems


class HelpOut(BaseModel):
    """Help for a writer; nothing in it is an error."""

    sentences: int
    lost: tuple[str, ...] = Field((), description="Words of the source that are missing.")
    new: tuple[str, ...] = Field((), description="Words that the source does not have.")


# --- Answers

SECONDS = "_seconds"
"""The key under which a draft stores how long the person has worked on it."""
PREFIX = "q-"
_LONGEST_WORK = 86_400.0
# Control characters and surrogates, which a database or a page cannot hold.
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff]")


def clean(text: str) -> str:
    """A text without control characters and with Unix line ends."""
    return _CONTROL.sub("", text.replace("\r\n", "\n").replace("\r", "\n"))


def from_form(rubric: Rubric, form: Mapping[str, str]) -> dict[str, Value]:
    """The answers in a form to the questions of a rubric."""
    found: dict[str, Value] = {}
    for question in rubric.questions:
        given = form.get(f"{PREFIX}{question.id}", "")
        if given.strip():
            found[question.id] = from_text(question, clean(given))
    return found


def as_draft(rubric: Rubric, answers: Mapping[str, Value], longest: int) -> dict[str, Value]:
    """The valid part of unfinished answers."""
    found: dict[str, Value] = {}
    for question in rubric.questions:
        value = answers.get(question.id)
        if question.kind is QuestionKind.TEXT and isinstance(value, str):
            found[question.id] = clean(value)[:longest]
        elif question.allows(value):
            found[question.id] = value
    rewrite = answers.get(REWRITE)
    if isinstance(rewrite, str):
        found[REWRITE] = clean(rewrite)[:longest]
    return found


def seconds_from(given: object) -> float | None:
    """A plausible working time, or None."""
    try:
        seconds = float(given)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        return None
    return round(min(seconds, _LONGEST_WORK), 1) if seconds >= 0 else None


def background_from(
    questions: tuple[BackgroundQuestion, ...],
    form: Mapping[str, str],
    texts: Interface,
    longest: int,
) -> tuple[dict[str, Value], dict[str, str]]:
    """The answers to the background form, and error messages by question."""
    found: dict[str, Value] = {}
    wrong: dict[str, str] = {}
    for place, question in enumerate(questions):
        given = clean(form.get(f"b-{place}", "")).strip()[:longest]
        value = _background(question, given)
        found[question.id] = value
        if given and value is None:
            number = question.kind is BackgroundKind.NUMBER
            wrong[question.id] = texts("not-a-number" if number else "not-an-answer")
        elif not given and question.required:
            wrong[question.id] = texts("please-answer")
    return found, wrong


def _background(question: BackgroundQuestion, given: str) -> Value:
    match question.kind:
        case BackgroundKind.YES_NO:
            return {"yes": True, "no": False}.get(given)
        case BackgroundKind.NUMBER:
            return int(given) if re.fullmatch(r"-?[0-9]{1,9}", given) else None
        case BackgroundKind.CHOICE:
            return given if given in question.choices else None
    return given or None


def shown(question: Question, value: Value, texts: Interface) -> str:
    """An answer as the pages show it."""
    if value is None:
        return texts("not-applicable")
    if isinstance(value, bool):
        return texts("yes" if value else "no")
    if isinstance(value, int):
        label = question.labels.get(value)
        return f"{value} ({in_language(label, texts.language)})" if label else str(value)
    choice = question.choices.get(value)
    return in_language(choice, texts.language) if choice else value


# --- Tasks


def next_path(site: Site, person: str, notice: str | None = None) -> str:
    """The path of the person's next page."""
    task = site.store.next_task(person)
    return _path(None if task is None else task.slot, notice)


def _path(slot: int | None, notice: str | None) -> str:
    path = STATUS if slot is None else f"/task/{slot}"
    if notice is None or (slot is None and notice == "again"):  # there is no further attempt
        return path
    return f"{path}?notice={notice}"


def save_draft(
    site: Site, person: str, slot: int, answers: Mapping[str, Value], seconds: float | None
) -> bool:
    """Save a draft; False if the task is submitted already."""
    kept = as_draft(site.rubric, answers, site.settings.longest_text)
    if seconds is not None:
        kept[SECONDS] = int(seconds)
    return site.store.save_draft(person, slot, kept)


def submit(
    site: Site,
    person: str,
    slot: int,
    answers: Mapping[str, Value],
    seconds: float | None,
    language: str,
) -> str:
    """Check and submit answers, take the next task, and return the path of the next page.
    ProblemsError if the answers have errors."""
    given = {key: clean(each) if isinstance(each, str) else each for key, each in answers.items()}

    def check(task: Task) -> Mapping[str, Value]:
        if task.kind is ItemKind.WRITE:
            wrong, final = _written(site, task, given, language)
        else:
            wrong = problems(site.rubric, given, identical=task.item.identical, language=language)
            final = complete(site.rubric, given, identical=task.item.identical)
        wrong |= _too_long(site, given, language)
        if wrong:
            raise ProblemsError(wrong)
        return final

    done, next_slot = site.store.submit_and_take(person, slot, check, seconds)
    if done.purpose is Purpose.TRAINING:
        return f"/task/{slot}/feedback"
    return _path(next_slot, _notice(done))


def _written(
    site: Site, task: Task, given: Mapping[str, Value], language: str
) -> tuple[dict[str, str], dict[str, Value]]:
    texts = Interface(language)
    wrong = {key: texts("not-an-answer") for key in given if key not in (REWRITE, FLAG)}
    flag, text = given.get(FLAG), given.get(REWRITE)
    if flag is not None:
        if flag not in list(Flag):
            wrong[FLAG] = texts("not-an-answer")
        return wrong, {FLAG: flag}
    text = text if isinstance(text, str) else ""
    least = site.study.write.sentences if site.study.write else 1
    if (fault := effort(task.item.source, text, least)) is not None:
        wrong[REWRITE] = texts(f"effort-{fault.value}", least=least)
    return wrong, {REWRITE: text}


def _too_long(site: Site, given: Mapping[str, Value], language: str) -> dict[str, str]:
    longest = site.settings.longest_text
    return {
        key: Interface(language)("too-long", longest=longest)
        for key, value in given.items()
        if isinstance(value, str) and len(value) > longest
    }


def _notice(done: Submitted) -> str | None:
    if done.qualified is not None:
        return "passed" if done.qualified else "again"
    if done.consequence is OnFailure.WARN:
        return "attention"
    return "late" if done.state is not SlotState.DONE else None


def undo(site: Site, person: str) -> str:
    """Undo the last submission, and return the path of the next page."""
    try:
        return f"/task/{site.store.undo(person).slot}?notice=undone"
    except UndoError:
        return next_path(site, person, "cannot-undo")


def give_help(source: str, text: str) -> HelpOut:
    """Count the sentences of a rewrite, and compare its words with those of its source."""
    simple = sentences_of(text)
    found = check(source, simple) if simple else ()
    words = {
        kind: tuple(dict.fromkeys(each.words for each in found if each.kind is kind))
        for kind in (FindingKind.LOST, FindingKind.NEW)
    }
    return HelpOut(sentences=len(simple), lost=words[FindingKind.LOST], new=words[FindingKind.NEW])
