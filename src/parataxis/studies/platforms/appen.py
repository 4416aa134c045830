"""Appen (CrowdFlower, Figure Eight): a task in its markup language CML, and full reports.

Questions become ``cml:radios`` and ``cml:textarea``. Conditions become ``only-if``, which refers
to the position of an answer, since it does not accept numbers as values. Items with known answers
become test questions.
"""

from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path

from parataxis.errors import InputError
from parataxis.studies.items import Item
from parataxis.studies.platforms.files import (
    ITEM,
    Answered,
    Design,
    asset,
    cells_of,
    field_of,
    html_cell,
    options,
    read_table,
    render,
    write_table,
    written,
)
from parataxis.studies.records import Purpose, Value, in_language
from parataxis.studies.rubric import NUMBERS, Question, QuestionKind, Rubric
from parataxis.studies.study import ItemKind
from parataxis.text.files import plain_cell

_TIME = "%m/%d/%Y %H:%M:%S"


def files(design: Design, items: Sequence[Item]) -> dict[str, str]:
    """The markup of the job, its style, and the table of items."""
    rows = [
        {name: html_cell(text) for name, text in cells_of(item).items()}
        | ({} if item.purpose is Purpose.ITEM else _gold(design, item))
        for item in items
    ]
    page = render("task.cml", design, conditions=_conditions(design))
    return {"task.cml": page, "task.css": asset("task.css"), "items.csv": write_table(rows)}


def read(path: Path) -> Iterator[Answered]:
    """Read a full report, which has a row for each judgement. Judgements of contributors that the
    platform no longer trusts are tainted, and count as rejected."""
    for where, row in read_table(path, ("_worker_id", "_unit_id", ITEM)):
        begun, done = _time(row.get("_started_at", "")), _time(row.get("_created_at", ""))
        yield Answered(
            where,
            row["_worker_id"],
            row[ITEM],
            {name: cell for name, cell in row.items() if not name.startswith("_")},
            (done - begun).total_seconds() if begun and done else None,
            done,
            rejected=row.get("_tainted", "").strip().lower() == "true",
        )


def _gold(design: Design, item: Item) -> dict[str, str]:
    """The columns of a test question; several correct answers are on separate lines."""
    cells = {"_golden": "TRUE"}
    for name, known in item.expected.items():
        question = design.rubric.expected_question(item.id, name)
        listed = known if isinstance(known, list | tuple) else [known]
        right = dict.fromkeys(
            text for value in listed for text in _right(question, value, design.tolerance)
        )
        cells[f"{field_of(question)}_gold"] = "\n".join(right)
        if item.feedback:
            reason = in_language(item.feedback, design.language)
            cells[f"{field_of(question)}_gold_reason"] = plain_cell(reason)
    return cells


def _right(question: Question, value: object, tolerance: float) -> Iterator[str]:
    if question.kind in NUMBERS and isinstance(value, int) and not isinstance(value, bool):
        yield from (str(n) for n in question.numbers if abs(n - value) <= tolerance)
    elif value is not None:
        yield written(value)


def _conditions(design: Design) -> Iterator[tuple[Question, str, str | None]]:
    """Each question with its condition, and with the one for a rewrite that is equal to its source:
    None if the question cannot be asked about that."""
    rubric = design.rubric
    fixed = rubric.identical if design.kind is ItemKind.RATE else {}
    possible: set[str] = set()
    for question in rubric.questions:
        usual = _only_if(rubric, question.when)
        holds = all(
            name in possible or (name in fixed and fixed[name] in values)
            for name, values in question.when.items()
        )
        if not holds or question.id in fixed:
            yield question, usual, None
            continue
        possible.add(question.id)
        left = {name: values for name, values in question.when.items() if name in possible}
        yield question, usual, _only_if(rubric, left)


def _only_if(rubric: Rubric, when: Mapping[str, Sequence[Value]]) -> str:
    parts = []
    for name, values in when.items():
        question = rubric.question(name)
        if question.kind is QuestionKind.TEXT:
            raise InputError(
                f'Appen cannot ask a question that depends on the text of "{name}"; let it depend '
                "on a choice."
            )
        places = [value for value, _ in options(question, "en")]
        any_of = "||".join(f"{field_of(question)}:[{places.index(written(v))}]" for v in values)
        parts.append(f"({any_of})" if len(values) > 1 and len(when) > 1 else any_of)
    return "++".join(parts)


def _time(text: str) -> datetime | None:
    """Parse a time such as "2/25/2015 05:24:38", in UTC."""
    try:
        return datetime.strptime(text.strip(), _TIME).replace(tzinfo=UTC)
    except ValueError:
        return None
