"""Amazon Mechanical Turk: a task as one HTML page with a plain form, and batches of results.

The page works as the layout of a project on the requester's site and as an HTMLQuestion. It loads
nothing from elsewhere, so it does not use ``crowd-form``, whose script comes from Amazon.
"""

import html
import json
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

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
from parataxis.studies.records import Purpose
from parataxis.studies.rubric import Question, QuestionKind

_INPUT, _ANSWER = "Input.", "Answer."
_MIXED_IN = (Purpose.ITEM, Purpose.ATTENTION, Purpose.KNOWN)
_ZONES = {"PST": -8, "PDT": -7, "UTC": 0, "GMT": 0}


class MTurk:
    """The files of Mechanical Turk. Training and test items are left out, since the site has its
    own qualifications."""

    def files(self, design: Design, items: Sequence[Item]) -> dict[str, str]:
        """The page and the table of items to upload with it."""
        rows = [
            {name: _cell(text) for name, text in cells_of(item).items()}
            for item in items
            if item.purpose in _MIXED_IN
        ]
        return {"task.html": "\n".join(_page(design)) + "\n", "items.csv": write_table(rows)}

    def read(self, path: Path) -> Iterator[Answered]:
        """Read a batch of results. Work also counts as rejected if the rejection is only noted in
        the file (Requester UI Guide, "Reviewing Assignments Offline")."""
        for where, row in read_table(path, ("WorkerId", "AssignmentStatus")):
            values = {
                name.removeprefix(_ANSWER): cell
                for name, cell in row.items()
                if name.startswith(_ANSWER)
            }
            is_rejected = row["AssignmentStatus"] == "Rejected" or row.get("Reject", "").strip()
            yield Answered(
                where,
                row["WorkerId"],
                row.get(f"{_INPUT}{ITEM}") or values.get(ITEM, ""),
                values,
                _number(row.get("WorkTimeInSeconds", "")),
                _time(row.get("SubmitTime", "")),
                rejected=bool(is_rejected),
            )


def _cell(text: str) -> str:
    """A cell for the site, which inserts it into the page as HTML and refuses characters of four
    bytes."""
    escaped = html.escape(text, quote=False).replace("$", "&#36;")
    return escaped.encode("ascii", "xmlcharrefreplace").decode()


def _page(design: Design) -> Iterator[str]:
    language = design.language
    fixed = {
        name: None if value is None else written(value)
        for name, value in design.rubric.identical.items()
    }
    yield f'<!doctype html>\n<html lang="{html.escape(language)}">\n<head>\n<meta charset="utf-8">'
    yield '<meta name="viewport" content="width=device-width, initial-scale=1">'
    yield f"<title>{shown(design.rubric.title, language)}</title>"
    yield f"<style>\n{asset('task.css')}</style>\n</head>\n<body>"
    identical = f"${{{IDENTICAL}}}" if design.kind is ItemKind.RATE else "no"
    yield f'<main class="parataxis" data-identical="{identical}" data-fixed="{_json(fixed)}">'
    yield f"<noscript><p>{text_of('script', language)}</p></noscript>"
    yield f'<p role="status" data-preview hidden>{text_of("preview", language)}</p>'
    yield from instructions(design)
    names = (SOURCE, REWRITE) if design.kind is ItemKind.RATE else (SOURCE,)
    for name in names:
        yield f'<h2>{text_of(name, language)}</h2>\n<p class="text">${{{name}}}</p>'
    yield f'<p class="keys">{text_of("keys", language)}</p>'
    yield f'<form method="post">\n<input type="hidden" name="{ITEM}" value="${{{ITEM}}}">'
    for question in design.rubric.questions:
        yield from _question(question, language)
    yield f'<p><button type="submit">{text_of("submit", language)}</button></p>'
    yield f"</form>\n</main>\n<script>\n{asset('mturk.js')}</script>\n</body>\n</html>"


def _question(question: Question, language: str) -> Iterator[str]:
    when = {name: list(map(written, values)) for name, values in question.when.items()}
    yield f'<fieldset data-question="{question.id}" data-when="{_json(when)}">'
    yield f"<legend>{shown(question.text, language)}</legend>"
    help_ = f"{question.id}-help"
    if question.help:
        yield f'<p class="help" id="{help_}">{shown(question.help, language)}</p>'
    yield from examples(question, language)
    required = " required" if question.required else ""
    key = f' accesskey="{question.key}"' if question.key else ""
    described = f' aria-describedby="{help_}"' if question.help else ""
    name = field_of(question)
    if question.kind is QuestionKind.TEXT:
        label = shown(question.text, language)
        yield (
            f'<textarea name="{name}" rows="3" aria-label="{label}"{required}{key}{described}>'
            "</textarea>"
        )
    for place, (value, label) in enumerate(options(question, language)):
        extra = f"{required}{key}{described}" if place == 0 else required
        field = f'<input type="radio" name="{name}" value="{value}"{extra}>'
        yield f'<label class="answer">{field} {shown(label, language)}</label>'
    yield "</fieldset>"


def _json(value: object) -> str:
    return html.escape(json.dumps(value, separators=(",", ":")))


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def _time(text: str) -> datetime | None:
    """Parse a time such as "Tue Mar 05 09:11:05 PST 2019"."""
    words = text.split()
    if len(words) != 6 or words[4] not in _ZONES:
        return None
    zone = timezone(timedelta(hours=_ZONES[words[4]]))
    try:
        local = datetime.strptime(" ".join(words[1:4] + words[5:]), "%b %d %H:%M:%S %Y")
    except ValueError:
        return None
    return local.replace(tzinfo=zone).astimezone(UTC)
