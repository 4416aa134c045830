"""The files that a study leaves behind, from its database: what reports and archives read."""

import io
import json
import zipfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict
from functools import partial
from typing import TYPE_CHECKING

from parataxis.studies.records import Answers
from parataxis.studies.rubric import Rubric, outcomes

if TYPE_CHECKING:
    from parataxis.studies.store import Store


def _items(store: "Store", rubric: Rubric) -> Iterator[str]:
    return (each.model_dump_json(exclude_none=True) for each in store.export_items())


def _ratings(store: "Store", rubric: Rubric, *, experts: bool = False) -> Iterator[str]:
    def derived(answers: Answers, identical: bool) -> dict[str, bool | float | None]:
        return outcomes(rubric, answers, identical=identical)

    return (each.model_dump_json() for each in store.export_ratings(derived, experts=experts))


def _flagged(store: "Store", rubric: Rubric) -> Iterator[str]:
    return (_line(asdict(each)) for each in store.export_flagged())


def _history(store: "Store", rubric: Rubric) -> Iterator[str]:
    return map(_line, store.export_history())


def _line(record: object) -> str:
    return json.dumps(record, ensure_ascii=False, default=str)


FILES: Mapping[str, Callable[["Store", Rubric], Iterable[str]]] = {
    "items.jsonl": _items,
    "ratings.jsonl": _ratings,
    "experts.jsonl": partial(_ratings, experts=True),
    "flagged.jsonl": _flagged,
    "history.jsonl": _history,
}
"""By name: the rewrites that are rated, the ratings that count, those of experts, the sources that
writers flagged, and everything that was ever submitted."""


def export_file(name: str, store: "Store", rubric: Rubric) -> str:
    """One of the files, as JSON lines."""
    return "".join(f"{line}\n" for line in FILES[name](store, rubric))


def export_zip(store: "Store", rubric: Rubric) -> bytes:
    """All files in one archive."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in FILES:
            archive.writestr(name, export_file(name, store, rubric))
    return buffer.getvalue()
