"""Appen (CrowdFlower, Figure Eight): a task in its markup language CML, and full reports.

Questions become ``cml:radios`` and ``cml:textarea``. Conditions become ``only-if``, which refers
to the position of an answer, since it does not accept numbers as values. Items with known answers
become test questions.
"""

from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from html import escape
from pathlib import Path

from parataxis.errors import InputError
from parataxis.studies.items import Item, ItemKind
from parataxis.studies.platforms.files import (
    IDENTICAL,
    ITEM,
    REWRITE,
    SOURCE,
    Answered,
    Design,
    cells_of,
    field_of,
    read_table,
    write_table,
)
from parataxis.studies.platforms.markup import (
    asset,
    examples,
    instructions,
    options,
    shown,
    text_of,
    written,
)
from parataxis.studies.records import Purpose, Value, in_language
from parataxis.studies.rubric import NUMBERS, Question, QuestionKind, Rubric

_GOLDEN = "_golden"
_TIME = "%m/%d/%Y %H:%M:%S"
_IS_IDENTICAL = f'{IDENTICAL} == "yes"'


class Appen:
    """The files of Appen."""

    def files(self, design: Design, items: Sequence[Item]) -> dict[str, str]:
        """The markup of the job, its style, and the table of items."""
        rows = [
            cells_of(item) | ({} if item.purpose is Purpose.ITEM else _gold(design, item))
            for item in items
        ]
        return {
            "task.cml": "\n".join(_page(design)) + "\n",
            "task.css": asset("task.css"),
            "items.csv": write_table(rows),
        }

    def read(self, path: Path) -> Iterator[Answered]:
        """Read a full report, which has a row for each judgement. Judgements of contributors that
        the platform no longer trusts are tainted, and count as rejected."""
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
    cells = {_GOLDEN: "TRUE"}
    for name, known in item.expected.items():
        question = next((each for each in design.rubric.questions if each.id == name), None)
        if question is None:
            raise InputError(
                f'The item "{item.id}" expects an answer to "{name}", a question '
                f"that the rubric {design.rubric.name} does not have."
            )
        listed = known if isinstance(known, list | tuple) else [known]
        right = dict.fromkeys(
            text for value in listed for text in _right(question, value, design.tolerance)
        )
        cells[f"{field_of(question)}_gold"] = "\n".join(right)
        if item.feedback:
            reason = in_language(item.feedback, design.language)
            cells[f"{field_of(question)}_gold_reason"] = reason
    return cells


def _right(question: Question, value: object, tolerance: float) -> Iterator[str]:
    if question.kind in NUMBERS and isinstance(value, int) and not isinstance(value, bool):
        yield from (str(n) for n in question.numbers if abs(n - value) <= tolerance)
    elif value is not None:
        yield written(value)


def _page(design: Design) -> Iterator[str]:
    language = design.language
    yield f'<div class="parataxis" lang="{escape(language)}">'
    yield from instructions(design)
    names = (SOURCE, REWRITE) if design.kind is ItemKind.RATE else (SOURCE,)
    for name in names:
        yield f'<h2>{text_of(name, language)}</h2>\n<p class="text">{{{{ {name} | escape }}}}</p>'
    possible = _possible(design.rubric)
    for question in design.rubric.questions:
        plain = _question(question, language, _only_if(design.rubric, question.when))
        if design.kind is not ItemKind.RATE or not design.rubric.identical:
            yield plain
        elif question.id not in possible:
            yield f"{{% unless {_IS_IDENTICAL} %}}\n{plain}\n{{% endunless %}}"
        else:
            left = {name: v for name, v in question.when.items() if name in possible}
            same = _question(question, language, _only_if(design.rubric, left))
            both = f"{{% if {_IS_IDENTICAL} %}}\n{same}\n{{% else %}}\n{plain}\n{{% endif %}}"
            yield plain if same == plain else both
    yield "</div>"


def _possible(rubric: Rubric) -> set[str]:
    """The questions that may be asked if the rewrite is equal to its source."""
    found: set[str] = set()
    for question in rubric.questions:
        holds = all(
            name in found or (name in rubric.identical and rubric.identical[name] in values)
            for name, values in question.when.items()
        )
        if holds and question.id not in rubric.identical:
            found.add(question.id)
    return found


def _question(question: Question, language: str, only_if: str) -> str:
    tag = "cml:textarea" if question.kind is QuestionKind.TEXT else "cml:radios"
    attributes = {
        "name": field_of(question),
        "label": in_language(question.text, language),
        "validates": "required" if question.required else "",
        "only-if": only_if,
    }
    if question.help:
        attributes["instructions"] = in_language(question.help, language)
    given = "".join(f' {k}="{shown(v, language)}"' for k, v in attributes.items() if v)
    lines = [f"<{tag}{given}>"]
    lines += [
        f'<cml:radio label="{shown(label, language)}" value="{value}" />'
        for value, label in options(question, language)
    ]
    asked = "\n".join([*lines, f"</{tag}>", *examples(question, language)])
    # The frame of a conditional question would stay when the question is hidden.
    return asked if question.when else f'<div class="question">\n{asked}\n</div>'


def _only_if(rubric: Rubric, when: Mapping[str, Sequence[Value]]) -> str:
    parts = []
    for name, values in when.items():
        question = rubric.question(name)
        places = [value for value, _ in options(question, "en")]
        if question.kind is QuestionKind.TEXT:
            raise InputError(
                f'Appen cannot ask a question that depends on the text of "{name}"; let it depend '
                "on a choice."
            )
        any_of = "||".join(f"{field_of(question)}:[{places.index(written(v))}]" for v in values)
        parts.append(f"({any_of})" if len(values) > 1 and len(when) > 1 else any_of)
    return "++".join(parts)


def _time(text: str) -> datetime | None:
    """Parse a time such as "2/25/2015 05:24:38", in UTC."""
    try:
        return datetime.strptime(text.strip(), _TIME).replace(tzinfo=UTC)
    except ValueError:
        return None
