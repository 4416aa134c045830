"""The files exported from the database of a study, which reports and archives read."""

import io
import json
import zipfile
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING

from parataxis.studies.records import FlaggedSource
from parataxis.studies.rubric import Rubric

if TYPE_CHECKING:
    from parataxis.studies.store import Store

FILES: Mapping[str, Callable[["Store", Rubric], Iterable[str]]] = {
    "items.jsonl": lambda store, _: (
        each.model_dump_json(exclude_none=True) for each in store.export_items()
    ),
    "ratings.jsonl": lambda store, rubric: (
        each.model_dump_json() for each in store.export_ratings(rubric)
    ),
    "experts.jsonl": lambda store, rubric: (
        each.model_dump_json() for each in store.export_ratings(rubric, experts=True)
    ),
    "flagged.jsonl": lambda store, _: map(FlaggedSource.to_json, store.export_flagged()),
    "history.jsonl": lambda store, _: (
        json.dumps(each, ensure_ascii=False, default=str) for each in store.export_history()
    ),
}
"""The lines of each file: rewrites to be rated, ratings that count, ratings by experts, sources
that writers flagged, and everything ever submitted."""


def export_file(name: str, store: "Store", rubric: Rubric) -> str:
    """The content of one of the files, as JSON lines."""
    return "".join(f"{line}\n" for line in FILES[name](store, rubric))


def export_zip(store: "Store", rubric: Rubric) -> bytes:
    """All files in one archive."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in FILES:
            archive.writestr(name, export_file(name, store, rubric))
    return buffer.getvalue()
