"""Doing a task, for the pages and the API: answers, drafts, submissions and live help."""

import re
from collections.abc import Mapping
from typing import Annotated

from fastapi import Path
from pydantic import BaseModel, Field

from parataxis.checks import check
from parataxis.rewrite.record import FindingKind
from parataxis.studies.items import effort, sentences_of
from parataxis.studies.pages.site import Visit, interface
from parataxis.studies.records import FLAG, REWRITE, Answers, Flag, Purpose, Value, in_language
from parataxis.studies.rubric import Question, QuestionKind, complete, from_text, problems
from parataxis.studies.store.tasks import SECONDS
from parataxis.studies.store.types import SlotState, Submitted, Task, UndoError
from parataxis.studies.study import BackgroundKind, BackgroundQuestion, ItemKind, OnFailure
from parataxis.studies.yaml_files import LanguageTexts

STATUS = "/status"
SlotPath = Annotated[str, Path(pattern="^[0-9a-z]{1,32}$", description="The id of the task.")]
_LONGEST_WORK = 86_400.0
_LONGEST_BACKGROUND = 500
_LONGEST_HELPED = 4_000
"""Characters of a rewrite whose words are compared, which takes time with their square."""
# Control characters and surrogates, which a database or a page cannot hold.
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff]")


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


def clean(text: str) -> str:
    """A text without control characters and with Unix line ends."""
    return _CONTROL.sub("", text.replace("\r\n", "\n").replace("\r", "\n"))


def answers_from(visit: Visit, task: Task) -> dict[str, Value]:
    """The answers in the form of a task."""
    form = {name: clean(text) for name, text in visit.form.items()}
    if task.kind is ItemKind.WRITE:
        flag: dict[str, Value] = {FLAG: form[FLAG]} if form.get(FLAG) else {}
        return {REWRITE: form.get(REWRITE, ""), **flag}
    return {
        question.id: from_text(question, given)
        for question in visit.site.rubric.questions
        if (given := form.get(f"q-{question.id}", "")).strip()
    }


def seconds_from(given: object) -> float | None:
    """A plausible working time, or None."""
    try:
        seconds = float(given)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        return None
    return round(min(seconds, _LONGEST_WORK), 1) if seconds >= 0 else None


def background_from(visit: Visit) -> tuple[dict[str, Value], dict[str, str]]:
    """The answers to the background form, and error messages by question."""
    texts = interface(visit.language)
    found: dict[str, Value] = {}
    wrong: dict[str, str] = {}
    for place, question in enumerate(visit.site.study.background):
        given = clean(visit.form.get(f"b-{place}", "")).strip()[:_LONGEST_BACKGROUND]
        value = _background(question, given)
        found[question.id] = value
        if given and value is None:
            number = question.kind is BackgroundKind.NUMBER
            low, high = question.bounds
            wrong[question.id] = texts("not-an-answer")
            if number:
                wrong[question.id] = texts("not-a-number", low=low, high=high)
        elif not given and question.required:
            wrong[question.id] = texts("please-answer")
    return found, wrong


def _background(question: BackgroundQuestion, given: str) -> Value:
    match question.kind:
        case BackgroundKind.YES_NO:
            return {"yes": True, "no": False}.get(given)
        case BackgroundKind.NUMBER:
            low, high = question.bounds
            number = int(given) if re.fullmatch(r"-?[0-9]{1,10}", given) else low - 1
            return number if low <= number <= high else None
        case BackgroundKind.CHOICE:
            return given if given in question.choices else None
    return given or None


def shown(question: Question, value: Value, texts: LanguageTexts) -> str:
    """An answer as the pages show it."""
    if value is None:
        return texts("not-applicable")
    if isinstance(value, bool):
        return texts("yes" if value else "no")
    if isinstance(value, int):
        label = question.labels.get(value)
        return f"{value} ({in_language(label, texts.language)})" if label else str(value)
    return in_language(question.choices.get(value, value), texts.language)


# --- Tasks


def next_path(visit: Visit, notice: str | None = None) -> str:
    """The path of the person's next page."""
    task = visit.site.store.next_task(visit.who)
    return _path(None if task is None else task.slot, notice)


def _path(slot: str | None, notice: str | None) -> str:
    path = STATUS if slot is None else f"/task/{slot}"
    if notice is None or (slot is None and notice == "again"):  # there is no further attempt
        return path
    return f"{path}?notice={notice}"


def save_draft(visit: Visit, slot: str, answers: Answers, seconds: float | None) -> bool:
    """Save the valid part of unfinished answers; False if the task is submitted already."""
    longest = visit.site.settings.longest_text
    kept: dict[str, Value] = {}
    for question in visit.site.rubric.questions:
        value = answers.get(question.id)
        if question.kind is QuestionKind.TEXT and isinstance(value, str):
            kept[question.id] = clean(value)[:longest]
        elif question.allows(value):
            kept[question.id] = value
    rewrite = answers.get(REWRITE)
    if isinstance(rewrite, str):
        kept[REWRITE] = clean(rewrite)[:longest]
    if seconds is not None:
        kept[SECONDS] = int(seconds)
    return visit.site.store.save_draft(visit.who, slot, kept)


def submit(visit: Visit, slot: str, answers: Answers, seconds: float | None) -> str:
    """Check and submit answers, take the next task, and return the path of the next page.
    ProblemsError if the answers have errors."""
    given = {key: clean(each) if isinstance(each, str) else each for key, each in answers.items()}

    def check(task: Task) -> Answers:
        wrong, final = _checked(visit, task, given)
        longest = visit.site.settings.longest_text
        for key, value in given.items():
            if isinstance(value, str) and len(value) > longest:
                wrong[key] = interface(visit.language)("too-long", longest=longest)
        if wrong:
            raise ProblemsError(wrong)
        return final

    done, next_slot = visit.site.store.submit_and_take(visit.who, slot, check, seconds)
    if done.purpose is Purpose.TRAINING:
        return f"/task/{slot}/feedback" + ("?notice=too-late" if done.late else "")
    return _path(next_slot, _notice(done))


def _checked(visit: Visit, task: Task, given: Answers) -> tuple[dict[str, str], dict[str, Value]]:
    """Error messages by question, and the answers to store."""
    rubric, texts = visit.site.rubric, interface(visit.language)
    if task.kind is ItemKind.RATE:
        identical = task.item.identical
        wrong = problems(rubric, given, identical=identical, language=texts.language)
        return wrong, complete(rubric, given, identical=identical)
    wrong = {key: texts("not-an-answer") for key in given if key not in (REWRITE, FLAG)}
    flag, text = given.get(FLAG), given.get(REWRITE)
    if flag is not None:
        if flag not in list(Flag):
            wrong[FLAG] = texts("not-an-answer")
        return wrong, {FLAG: flag}
    text = text if isinstance(text, str) else ""
    least = visit.site.study.write.sentences if visit.site.study.write else 1
    if (fault := effort(task.item.source, text, least)) is not None:
        wrong[REWRITE] = texts(f"effort-{fault.value}", least=least)
    return wrong, {REWRITE: text}


def _notice(done: Submitted) -> str | None:
    if done.late:
        return "too-late"
    if done.qualified is not None:
        return "passed" if done.qualified else "again"
    if done.consequence is OnFailure.WARN:
        return "attention"
    return "late" if done.state is not SlotState.DONE else None


def undo(visit: Visit) -> str:
    """Undo the last submission, and return the path of the next page."""
    try:
        return f"/task/{visit.site.store.undo(visit.who).slot}?notice=undone"
    except UndoError:
        return next_path(visit, "cannot-undo")


def give_help(source: str, text: str) -> HelpOut:
    """Count the sentences of a rewrite, and compare its words with those of its source."""
    simple = sentences_of(text)
    found = check(source, simple) if simple and len(text) <= _LONGEST_HELPED else ()
    words = {
        kind: tuple(dict.fromkeys(each.words for each in found if each.kind is kind))
        for kind in (FindingKind.LOST, FindingKind.NEW)
    }
    return HelpOut(sentences=len(simple), lost=words[FindingKind.LOST], new=words[FindingKind.NEW])
