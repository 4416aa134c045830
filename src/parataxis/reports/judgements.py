"""Human judgements of rewrites: who rated is not kept, only what was said of which rewrite."""

import csv
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from parataxis.corpora.example import Example
from parataxis.corpora.sentences import SEP, WIKISPLIT_MARK, at_mark, by_segmenter
from parataxis.errors import InputError
from parataxis.metrics.protocol import Item

__all__ = ["Columns", "Judged", "read_judgements"]


@dataclass(frozen=True, slots=True)
class Columns:
    """What the columns of a table of judgements are called; ``benchmark`` may be missing."""

    source: str
    rewrite: str
    system: str
    benchmark: str | None = None


KNOWN = (
    Columns("source", "rewrite", "system", "benchmark"),
    Columns("orig_sent", "simp_sent", "sys_name"),
    Columns("original", "simplification", "system"),
)
"""What published tables call them; EASSE and its kin use the second."""


@dataclass(frozen=True, slots=True)
class Judged:
    """A rewrite with what people said of it: a number for each criterion, higher is better."""

    item: Item
    system: str
    benchmark: str
    judgements: Mapping[str, float]


def read_judgements(
    path: Path,
    criteria: Sequence[str],
    columns: Columns | None = None,
    examples: Iterable[Example] = (),
) -> list[Judged]:
    """The judged rewrites in a CSV file; rows of one rewrite, by several raters, are averaged.

    ``examples`` bring the references of the sources. Without ``criteria``, every other column
    that holds numbers alone is one.
    """
    references = {example.source.strip(): example.references for example in examples}
    rows = list(_rows(path))
    columns = columns or _guess(path, rows)
    for row in rows[:1]:
        for column in (columns.source, columns.rewrite, columns.system, *criteria):
            if column not in row:
                raise InputError(f'{path} has no column "{column}"; it has {", ".join(row)}.')
    names = list(criteria) or _numeric(rows, columns)
    if not names:
        raise InputError(f"{path} has no column of numbers to take for judgements.")
    found: dict[tuple[str, str, str, str], list[Mapping[str, float]]] = {}
    for number, row in enumerate(rows, start=2):
        key = (
            row[columns.benchmark] if columns.benchmark and columns.benchmark in row else "",
            row[columns.system],
            row[columns.source].strip(),
            row[columns.rewrite].strip(),
        )
        if not key[2] or not key[3]:
            raise InputError(f"{path}, line {number}: the source or the rewrite is blank.")
        found.setdefault(key, []).append(_judgements(path, number, row, names))
    return [
        Judged(
            Item(source, _cut(rewrite), references.get(source, ())),
            system,
            benchmark,
            {name: sum(each[name] for each in said) / len(said) for name in names},
        )
        for (benchmark, system, source, rewrite), said in found.items()
    ]


def _rows(path: Path) -> Iterator[dict[str, str]]:
    try:
        with path.open(encoding="utf-8-sig", newline="") as stream:
            yield from csv.DictReader(stream, strict=True)
    except (csv.Error, UnicodeDecodeError) as error:
        raise InputError(f"{path} is no CSV file in UTF-8 ({error}).") from error


def _guess(path: Path, rows: Sequence[Mapping[str, str]]) -> Columns:
    names = rows[0] if rows else {}
    for known in KNOWN:
        if all(column in names for column in (known.source, known.rewrite, known.system)):
            return known
    raise InputError(f"{path}: which columns hold source, rewrite and system is not known.")


def _numeric(rows: Sequence[Mapping[str, str]], columns: Columns) -> list[str]:
    taken = {columns.source, columns.rewrite, columns.system, columns.benchmark}
    return [
        name
        for name in rows[0]
        if name not in taken
        and not name.endswith("id")
        and all(_is_number(row[name]) for row in rows)
    ]


def _is_number(text: str | None) -> bool:
    try:
        float(text or "")
    except ValueError:
        return False
    return True


def _judgements(
    path: Path, number: int, row: Mapping[str, str], names: Iterable[str]
) -> dict[str, float]:
    for name in names:
        if not _is_number(row[name]):
            raise InputError(f'{path}, line {number}: "{row[name]}" in {name} is no number.')
    return {name: float(row[name]) for name in names}


def _cut(rewrite: str) -> tuple[str, ...]:
    """The sentences of a rewrite: at a mark, or else where the segmenter says."""
    for mark in (SEP, WIKISPLIT_MARK):
        if mark in rewrite:
            return at_mark(rewrite, mark)
    return by_segmenter(rewrite)
