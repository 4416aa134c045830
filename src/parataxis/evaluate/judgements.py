"""Human judgements of rewrites, without the identity of raters."""

import csv
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass, replace
from pathlib import Path

from parataxis.errors import InputError
from parataxis.evaluate.corpora.example import Example
from parataxis.evaluate.corpora.sentences import cut_line, has_mark
from parataxis.evaluate.metrics.protocol import ScoredItem

_Row = tuple[int, Mapping[str, str]]
"""The number of a line and its cells."""


@dataclass(frozen=True, slots=True)
class JudgementColumns:
    """The names of the columns of a table of judgements.

    ``system`` and ``benchmark`` may be missing. A table has a column for each criterion, or, in
    long form, a line for each judgement: ``criterion`` names it and ``rating`` has its number.
    """

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
    names = list(criteria) or (_numeric(header, rows, columns) if wide else [])
    if wide and not names:
        raise InputError(f"{path} has no column of numbers to take for judgements.")
    ratings: dict[tuple[str, str, str, str], dict[str, list[float]]] = {}
    for number, row in rows:
        key = _key(path, number, row, columns)
        for name, value in _judgements(path, number, row, names, columns):
            ratings.setdefault(key, {}).setdefault(name, []).append(value)
    if not ratings:
        raise InputError(f"{path} has no judgement of {', '.join(criteria)}.")
    return list(_judged(ratings, examples))


def _judged(
    ratings: Mapping[tuple[str, str, str, str], Mapping[str, Sequence[float]]],
    examples: Iterable[Example],
) -> Iterator[Judged]:
    references = {example.source.strip(): example.references for example in examples}
    # The rewrites of one system are cut by the same rule, as if they came from one file.
    marked = {system for _, system, _, rewrite in ratings if has_mark(rewrite)}
    for (benchmark, system, source, rewrite), numbers in ratings.items():
        simple = cut_line(rewrite, marked=system in marked)
        means = {name: sum(values) / len(values) for name, values in numbers.items()}
        yield Judged(
            ScoredItem(source, simple, references.get(source, ())), system, benchmark, means
        )


def _table(path: Path) -> tuple[list[str], list[_Row]]:
    """The header and the rows, each as long as the header, with the lines they begin on."""
    rows: list[_Row] = []
    try:
        with path.open(encoding="utf-8-sig", newline="") as stream:
            reader = csv.reader(stream, strict=True)
            header = next(reader, [])
            twice = next((name for name in header if header.count(name) > 1), None)
            if twice is not None:
                raise InputError(f'{path} has two columns "{twice}".')
            start = reader.line_num + 1
            for cells in reader:
                number, start = start, reader.line_num + 1
                if not cells:  # a blank line
                    continue
                if len(cells) != len(header):
                    raise InputError(
                        f"{path}, line {number}: there are {len(cells)} cells, but the header has "
                        f"{len(header)}."
                    )
                rows.append((number, dict(zip(header, cells, strict=True))))
    except (csv.Error, UnicodeDecodeError) as error:
        raise InputError(f"{path} is no CSV file in UTF-8 ({error}).") from error
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


def _numeric(header: Sequence[str], rows: Sequence[_Row], columns: JudgementColumns) -> list[str]:
    return [
        name
        for name in header
        if name  # an index that was written with the table has none
        and name not in columns.named
        and name != "id"
        and not name.endswith("_id")
        and all(_is_number(row[name]) for _, row in rows)
    ]


def _key(
    path: Path, number: int, row: Mapping[str, str], columns: JudgementColumns
) -> tuple[str, str, str, str]:
    """Which rewrite a row is about: its benchmark, system, source and text."""
    source, rewrite = row[columns.source].strip(), row[columns.rewrite].strip()
    if not source or not rewrite:
        raise InputError(f"{path}, line {number}: the source or the rewrite is blank.")
    benchmark = row[columns.benchmark] if columns.benchmark else ""
    return benchmark, row[columns.system] if columns.system else "", source, rewrite


def _judgements(
    path: Path, number: int, row: Mapping[str, str], names: Sequence[str], columns: JudgementColumns
) -> Iterator[tuple[str, float]]:
    """The criteria and numbers in a row; in long form at most one, if it is wanted."""
    if columns.criterion and columns.rating:
        name = row[columns.criterion]
        found = {name: row[columns.rating]} if not names or name in names else {}
    else:
        found = {name: row[name] for name in names}
    for name, text in found.items():
        if not _is_number(text):
            raise InputError(f'{path}, line {number}: "{text}" in {name} is no number.')
        yield name, float(text)


def _is_number(text: str) -> bool:
    try:
        return math.isfinite(float(text))
    except ValueError:
        return False
