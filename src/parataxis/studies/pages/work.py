"""Doing a task, for the pages and the API alike: what is next, drafts, submitting, live help."""

from collections.abc import Mapping
from dataclasses import dataclass

from parataxis.checks import check
from parataxis.rewrite.record import FindingKind as Finds
from parataxis.studies.items import ItemKind, effort, sentences_of
from parataxis.studies.pages.answers import SECONDS, as_draft, clean, interface
from parataxis.studies.pages.site import Site
from parataxis.studies.records import Purpose, Value
from parataxis.studies.rubric import complete, problems
from parataxis.studies.store import (
    FLAG,
    REWRITE,
    Flag,
    Stored,
    Submitted,
    Task,
    UndoError,
)
from parataxis.studies.study import OnFailure

STATUS = "/status"


class ProblemsError(Exception):
    """Something is wrong with the answers; ``problems`` says what, by question."""

    def __init__(self, problems: Mapping[str, str]) -> None:
        super().__init__("Some answers are missing or wrong.")
        self.problems = problems


@dataclass(frozen=True)
class Help:
    """What a writer may like to know while writing. Nothing of it is an error."""

    sentences: int
    lost: tuple[str, ...]
    """Words of the source that are missing."""
    new: tuple[str, ...]
    """Words that the source does not have."""


def next_path(site: Site, person: str, notice: str | None = None) -> str:
    """The page where somebody goes on."""
    task = site.store.next_task(person)
    return _path(None if task is None else task.slot, notice)


def _path(slot: int | None, notice: str | None) -> str:
    path = STATUS if slot is None else f"/task/{slot}"
    if notice is None or (slot is None and notice == "again"):  # there is no other attempt
        return path
    return f"{path}?notice={notice}"


def save_draft(
    site: Site, person: str, slot: int, answers: Mapping[str, Value], seconds: float | None
) -> bool:
    """Keep what somebody has done so far; False where the task is submitted already."""
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
    """Check and submit answers, take the next task, and say where to go on. ProblemsError where
    something is wrong with them."""
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
    texts = interface(language)
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
        key: interface(language)("too-long", longest=longest)
        for key, value in given.items()
        if isinstance(value, str) and len(value) > longest
    }


def _notice(done: Submitted) -> str | None:
    if done.qualified is not None:
        return "passed" if done.qualified else "again"
    if done.consequence is OnFailure.WARN:
        return "attention"
    return "late" if done.stored is not Stored.COUNTED else None


def undo(site: Site, person: str) -> str:
    """Take back the last submission, and say where to go on."""
    try:
        return f"/task/{site.store.undo(person).slot}?notice=undone"
    except UndoError:
        return next_path(site, person, "cannot-undo")


def give_help(source: str, text: str) -> Help:
    """Count the sentences of a rewrite, and compare its words with those of its source."""
    simple = sentences_of(text)
    if not simple:
        return Help(0, (), ())
    findings = check(source, simple)
    words = {
        kind: tuple(dict.fromkeys(each.words for each in findings if each.kind is kind))
        for kind in (Finds.LOST, Finds.NEW)
    }
    return Help(len(simple), words[Finds.LOST], words[Finds.NEW])
