"""Appen (CrowdFlower, Figure Eight): a task in its markup language CML, and full reports.

Questions become ``cml:radios`` and ``cml:textarea``; conditions become ``only-if``, by the place
of an answer, since its value must not be a number there. Items whose answers are known become test
questions.
"""

import csv
import io
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from html import escape
from pathlib import Path

from parataxis.errors import InputError
from parataxis.studies.items import Item
from parataxis.studies.items import ItemKind as Phase
from parataxis.studies.platforms.files import (
    IDENTICAL,
    ITEM,
    REWRITE,
    SOURCE,
    Answered,
    Design,
    PlatformResults,
    cells_of,
    field_of,
    read_table,
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
    """Files of Appen."""

    name = "appen"

    def files(self, design: Design, items: Sequence[Item]) -> dict[str, str]:
        """The markup of the job, its style, and the table of the data."""
        return {
            "task.cml": "\n".join(_page(design)) + "\n",
            "task.css": asset("task.css"),
            "items.csv": _table(design, items),
        }

    def read(self, path: Path) -> PlatformResults:
        """A full report, which has a row for each judgement; those of contributors whom the
        platform stopped trusting are tainted, and left out."""
        found, rejected = [], 0
        for where, row in read_table(path, ("_worker_id", "_unit_id", ITEM)):
            if row.get("_tainted", "").strip().lower() == "true":
                rejected += 1
                continue
            begun, done = _time(row.get("_started_at", "")), _time(row.get("_created_at", ""))
            seconds = (done - begun).total_seconds() if begun and done else None
            values = {name: cell for name, cell in row.items() if not name.startswith("_")}
            worker = row["_worker_id"]
            found.append(Answered(where, worker, row[ITEM], values, seconds, done))
        return PlatformResults(tuple(found), rejected)


def _table(design: Design, items: Sequence[Item]) -> str:
    rows = []
    for item in items:
        row = cells_of(item)
        if item.purpose is not Purpose.ITEM:
            row |= _gold(design, item)
        rows.append(row)
    columns = dict.fromkeys(name for row in rows for name in row) or dict.fromkeys((ITEM, SOURCE))
    out = io.StringIO()
    writer = csv.DictWriter(out, list(columns), restval="", lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return out.getvalue()


def _gold(design: Design, item: Item) -> dict[str, str]:
    """The columns that make a row a test question; several right answers stand on lines."""
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
    names = (SOURCE, REWRITE) if design.kind is Phase.RATE else (SOURCE,)
    for name in names:
        yield f'<h2>{text_of(name, language)}</h2>\n<p class="text">{{{{ {name} | escape }}}}</p>'
    possible = _possible(design.rubric)
    for question in design.rubric.questions:
        plain = _question(question, language, _only_if(design.rubric, question.when))
        if design.kind is not Phase.RATE or not design.rubric.identical:
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
    """The questions that may be asked about a rewrite that is equal to its source."""
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
    # A frame around a question that is hidden would stay.
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
    """A time like "2/25/2015 05:24:38", in UTC."""
    try:
        return datetime.strptime(text.strip(), _TIME).replace(tzinfo=UTC)
    except ValueError:
        return None
