"""Amazon Mechanical Turk: a task as one HTML page with a plain form, and batches of results.

The page works as the layout of a project on the requester's site and as an HTMLQuestion. It loads
nothing from elsewhere, so it does not use ``crowd-form``, whose script comes from Amazon.
"""

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

from parataxis.studies.items import Item
from parataxis.studies.platforms.files import (
    ITEM,
    Answered,
    Design,
    cells_of,
    html_cell,
    read_table,
    render,
    write_table,
)
from parataxis.studies.records import Purpose

_INPUT, _ANSWER = "Input.", "Answer."
_QUALIFICATION = (Purpose.TRAINING, Purpose.TEST)
_ZONES = {"PST": -8, "PDT": -7, "UTC": 0, "GMT": 0}


def files(design: Design, items: Sequence[Item]) -> dict[str, str]:
    """The page and the table of items to upload with it. Training and test items are left out,
    since the site has its own qualifications."""
    rows = [
        {name: _cell(text) for name, text in cells_of(item).items()}
        for item in items
        if item.purpose not in _QUALIFICATION
    ]
    return {"task.html": render("task.html", design), "items.csv": write_table(rows)}


def read(path: Path) -> Iterator[Answered]:
    """Read a batch of results. Work also counts as rejected if the rejection is only noted in the
    file (Requester UI Guide, "Reviewing Assignments Offline")."""
    for where, row in read_table(path, ("WorkerId", "AssignmentStatus")):
        answers = {
            name.removeprefix(_ANSWER): cell
            for name, cell in row.items()
            if name.startswith(_ANSWER)
        }
        is_rejected = row["AssignmentStatus"] == "Rejected" or row.get("Reject", "").strip()
        seconds = row.get("WorkTimeInSeconds", "")
        yield Answered(
            where,
            row["WorkerId"],
            row.get(f"{_INPUT}{ITEM}") or answers.get(ITEM, ""),
            answers,
            float(seconds) if seconds.replace(".", "", 1).isdecimal() else None,
            _time(row.get("SubmitTime", "")),
            rejected=bool(is_rejected),
        )


def _cell(text: str) -> str:
    """A cell for the site, which replaces what begins with a dollar and refuses characters of four
    bytes."""
    escaped = html_cell(text).replace("$", "&#36;")
    return escaped.encode("ascii", "xmlcharrefreplace").decode()


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
