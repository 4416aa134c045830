"""Human judgements of rewrites, without the identity of raters."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import astuple, dataclass, replace
from pathlib import Path

from parataxis.errors import InputError
from parataxis.evaluate.corpora.example import Example
from parataxis.evaluate.corpora.sentences import cut_line, has_mark
from parataxis.evaluate.metrics.protocol import ScoredItem
from parataxis.text.files import csv_rows

_Row = tuple[int, Mapping[str | None, str]]
"""The number of a line and its cells."""


@dataclass(frozen=True, slots=True)
class JudgementColumns:
    """The names of the columns of a table of judgements. It has a column for each criterion, or, in
    long form, a line for each judgement: ``criterion`` names it and ``rating`` has its number."""

    source: str
    rewrite: str
    system: str | None = None
    benchmark: str | None = None
    criterion: str | None = None
    rating: str | None = None

    @property
    def named(self) -> list[str]:
        """The columns that the table must have."""
        return [name for name in astuple(self) if name]


_PUBLISHED = {
    "source": ("source", "orig_sent", "original"),
    "rewrite": ("rewrite", "simp_sent", "simplification"),
    "system": ("system", "sys_name"),
    "benchmark": ("benchmark",),
    "criterion": ("criterion", "aspect"),
    "rating": ("rating",),
}
"""The names of the columns in published tables: those of Sulem et al. (2018), EASSE and ASSET."""


@dataclass(frozen=True, slots=True)
class Judged:
    """A rewrite and its ratings: a number for each criterion, higher is better."""

    item: ScoredItem
    system: str
    benchmark: str
    judgements: Mapping[str, float]


def read_judgements(
    path: Path,
    criteria: Sequence[str],
    columns: JudgementColumns | None = None,
    examples: Iterable[Example] = (),
) -> list[Judged]:
    """The judged rewrites in a CSV file; rows of one rewrite, by several raters, are averaged.

    ``examples`` give the references of the sources. Without ``criteria``, every other column that
    holds only numbers is one, except those called "id" or "..._id".
    """
    header, rows = _table(path)
    columns = _completed(path, columns, header)
    wide = columns.criterion is None
    for column in [*columns.named, *(criteria if wide else ())]:
        if column not in header:
            raise InputError(f'{path} has no column "{column}"; it has {", ".join(header)}.')
    names = list(criteria)
    if wide and not names:  # the name of an index that was written with the table is empty
        others = [name for name in header if name and name not in (*columns.named, "id")]
        others = [name for name in others if not name.endswith("_id")]
        names = [name for name in others if all(_is_number(row[name]) for _, row in rows)]
    if wide and not names:
        raise InputError(f"{path} has no column of numbers to take for judgements.")
    ratings: dict[tuple[str, str, str, str], dict[str, list[float]]] = {}
    for number, row in rows:
        source, rewrite = row[columns.source].strip(), row[columns.rewrite].strip()
        if not source or not rewrite:
            raise InputError(f"{path}, line {number}: the source or the rewrite is blank.")
        key = row.get(columns.benchmark, ""), row.get(columns.system, ""), source, rewrite
        for name, text in _judgements(row, names, columns).items():
            if not _is_number(text):
                raise InputError(f'{path}, line {number}: "{text}" in {name} is no number.')
            ratings.setdefault(key, {}).setdefault(name, []).append(float(text))
    if not ratings:
        raise InputError(f"{path} has no judgement of {', '.join(criteria)}.")
    references = {example.source.strip(): example.references for example in examples}
    # The rewrites of one system are cut by the same rule, as if they came from one file.
    marked = {system for _, system, _, rewrite in ratings if has_mark(rewrite)}
    return [
        Judged(
            ScoredItem(
                source, cut_line(rewrite, marked=system in marked), references.get(source, ())
            ),
            system,
            benchmark,
            {name: sum(values) / len(values) for name, values in numbers.items()},
        )
        for (benchmark, system, source, rewrite), numbers in ratings.items()
    ]


def _table(path: Path) -> tuple[list[str], list[_Row]]:
    """The header and the rows, each as long as the header, with the lines they begin on."""
    found = csv_rows(path)
    _, header = next(found, (1, []))
    twice = next((name for name in header if header.count(name) > 1), None)
    if twice is not None:
        raise InputError(f'{path} has two columns "{twice}".')
    rows: list[_Row] = []
    for number, cells in found:
        if cells and len(cells) != len(header):
            raise InputError(
                f"{path}, line {number}: there are {len(cells)} cells, but the header has "
                f"{len(header)}."
            )
        if cells:  # no blank line
            rows.append((number, dict(zip(header, cells, strict=True))))
    if not rows:
        raise InputError(f"{path} has no judgements.")
    return header, rows


def _completed(
    path: Path, columns: JudgementColumns | None, header: Sequence[str]
) -> JudgementColumns:
    """The columns as given, or as in published tables, and those of the long form."""
    found = {
        field: next((name for name in names if name in header), None)
        for field, names in _PUBLISHED.items()
    }
    if not (found["criterion"] and found["rating"]):
        found |= {"criterion": None, "rating": None}
    if columns is not None:
        return replace(columns, criterion=found["criterion"], rating=found["rating"])
    source, rewrite, *others = found.values()
    if source is None or rewrite is None:
        raise InputError(
            f"{path}: it is not known which columns hold the source and the rewrite; name them "
            "with --columns."
        )
    return JudgementColumns(source, rewrite, *others)


def _judgements(
    row: Mapping[str | None, str], names: Sequence[str], columns: JudgementColumns
) -> dict[str, str]:
    """The criteria in a row, and what was said; in long form at most one, if it is wanted."""
    if not columns.criterion:
        return {name: row[name] for name in names}
    name = row[columns.criterion]
    return {name: row[columns.rating]} if not names or name in names else {}


def _is_number(text: str) -> bool:
    try:
        return math.isfinite(float(text))
    except ValueError:
        return False
