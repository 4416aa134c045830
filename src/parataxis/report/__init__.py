"""Reports: what a command found, and the one place where it is written in every format.

A command builds a :class:`Report`, a list of blocks that know nothing of formats, and writes
``report.render(form)``; its option is ``ReportFormatOption`` of :mod:`parataxis.cli.options`.

- ``text``, ``markdown``, ``html``: all blocks, under the title. A ``bare`` report has no title in
  text and Markdown, so that a single table can be piped on.
- ``latex``: the tables, for ``\\input``; everything else becomes a comment.
- ``csv``, ``tsv``: ``lines``, records with plain numbers; without them, the tables one after the
  other. No text in them is a formula for a spreadsheet.
- ``json``: ``record``; without one, the title and the tables. NaN becomes null.
"""

import csv
import io
import json
import math
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import compress
from typing import Literal, Self

from rich.cells import cell_len

NONE = "–"
"""The cell of a score that does not exist."""


class ReportFormat(StrEnum):
    """How a report is written."""

    TEXT = "text"
    MARKDOWN = "markdown"
    JSON = "json"
    CSV = "csv"
    TSV = "tsv"
    LATEX = "latex"
    HTML = "html"

    @property
    def suffix(self) -> str:
        """The suffix of a file in this format.

        >>> ReportFormat.LATEX.suffix, ReportFormat.JSON.suffix
        ('.tex', '.json')
        """
        return "." + {"text": "txt", "markdown": "md", "latex": "tex"}.get(self, self)


@dataclass(frozen=True, slots=True)
class Heading:
    """The heading of a section."""

    text: str


@dataclass(frozen=True, slots=True)
class ReportParagraph:
    """A paragraph."""

    text: str


@dataclass(frozen=True, slots=True)
class Points:
    """A bulleted list."""

    texts: Sequence[str]


@dataclass(frozen=True, slots=True)
class Notes:
    """Lines that must be quoted with the numbers, such as the signatures of metrics."""

    texts: Sequence[str]


class Cell(str):
    """A cell with more than its text. Pages show ``detail`` under it and ``hint`` on hovering. The
    emphasis is "best" (bold in LaTeX and on pages) or "fixed" (grey on pages: not ranked)."""

    detail: str
    hint: str
    emphasis: Literal["", "best", "fixed"]

    def __new__(
        cls,
        text: str,
        *,
        detail: str = "",
        hint: str = "",
        emphasis: Literal["", "best", "fixed"] = "",
    ) -> Self:
        cell = super().__new__(cls, text)
        cell.detail, cell.hint, cell.emphasis = detail, hint, emphasis
        return cell


@dataclass(frozen=True, slots=True)
class Table:
    """Rows under a header. The first ``names`` columns hold words, the others numbers. A terminal
    shows the rows of a table of ``passages`` cell by cell. With a ``corner``, a terminal and a page
    show the table transposed, with this as its first header: rows scroll better than columns."""

    header: Sequence[str]
    rows: Sequence[Sequence[str]]
    names: int = 1
    passages: bool = False
    corner: str = ""

    def without_empty_columns(self) -> "Table":
        """The table without columns that have neither a header nor a cell."""
        keep = [bool(name) for name in self.header]
        for row in self.rows:
            keep = [known or bool(cell) for known, cell in zip(keep, row, strict=True)]
        header, *rows = ([*compress(row, keep)] for row in (self.header, *self.rows))
        return replace(self, header=header, rows=rows)

    def upright(self) -> "Table":
        """The table as a terminal and a page show it: transposed where it has a ``corner``."""
        if not self.corner:
            return self.without_empty_columns()
        (_, *names), *rows = zip(self.header, *self.rows, strict=True)
        return Table([self.corner, *names], rows)


@dataclass(frozen=True, slots=True)
class Figure:
    """A picture as SVG, which only a page shows, and what it shows in words."""

    svg: str
    caption: str


@dataclass(frozen=True, slots=True)
class Rewritten:
    """A source and rewrites of it, each with a name and a note, such as its score. A page marks the
    words that a rewrite adds or leaves out."""

    caption: str
    source: str
    rewrites: Sequence[tuple[str, str, Sequence[str]]]


@dataclass(frozen=True, slots=True)
class PageOnly:
    """Blocks that only a page shows; with a ``summary`` they are folded away behind it."""

    blocks: "Sequence[Block]"
    summary: str = ""


Block = Heading | ReportParagraph | Points | Notes | Table | Figure | Rewritten | PageOnly


@dataclass(frozen=True)
class Report:
    """A title and blocks; see the module for what each format makes of the fields."""

    title: str
    blocks: Sequence[Block]
    record: object = None
    lines: Sequence[Mapping[str, object]] = ()
    bare: bool = False
    language: str = "en"

    def render(self, form: ReportFormat) -> str:
        return _RENDERERS[form](self)

    @property
    def tables(self) -> list[Table]:
        """The tables outside of page-only blocks."""
        return [block for block in self.blocks if isinstance(block, Table)]


def counted(number: int, noun: str) -> str:
    """A number with its noun.

    >>> counted(1, "sentence"), counted(1200, "sentence")
    ('1 sentence', '1,200 sentences')
    """
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def number_cell(value: float | None, form: str = ".2f") -> str:
    """A number as the text of a cell; a dash where there is none.

    >>> number_cell(1.5), number_cell(0.25, "+.1%"), number_cell(math.nan)
    ('1.50', '+25.0%', '–')
    """
    return NONE if value is None or math.isnan(value) else format(value, form)


_WIDTH = 88


def _as_text(report: Report) -> str:
    title = [] if report.bare else [f"{report.title}\n"]
    return "\n".join([*title, *(part for block in report.blocks for part in _text(block))])


def _text(block: Block) -> Iterator[str]:
    match block:
        case Heading(text):
            yield f"{text}\n{'-' * len(text)}"
        case ReportParagraph(text) | Figure(_, text):
            yield textwrap.fill(text, _WIDTH) + "\n"
        case Points(texts):
            yield "".join(
                textwrap.fill(text, _WIDTH, initial_indent="- ", subsequent_indent="  ") + "\n"
                for text in texts
            )
        case Notes(texts):
            yield "\n".join(texts) + "\n"
        case Table(header, rows) if block.passages:
            yield "\n".join(_passages(list(zip(header, row, strict=True))) for row in rows)
        case Table():
            table = block.upright()
            right = range(table.names, len(table.header))
            yield plain_table(table.header, table.rows, right=right)
        case Rewritten(caption, source, rewrites):
            named = [
                (f"{name} {note}".strip(), " ".join(simple)) for name, note, simple in rewrites
            ]
            yield f"{caption}\n" + _passages([("source", source), *named])


def _passages(named: Sequence[tuple[str, str]]) -> str:
    """Texts, each on lines of its own behind its name."""
    width = max(len(name) for name, _ in named) + 2
    return "".join(
        textwrap.fill(
            text, _WIDTH, initial_indent=f"{name}:".ljust(width), subsequent_indent=" " * width
        )
        + "\n"
        for name, text in named
        if text
    )


def plain_table(
    header: Sequence[str], rows: Sequence[Sequence[str]], *, right: Sequence[int] = ()
) -> str:
    """Columns two spaces apart under a header; the columns in ``right`` hold numbers.

    >>> print(plain_table(("pattern", "n"), [("rc", "12"), ("conj", "7")], right=[1]), end="")
    pattern   n
    rc       12
    conj      7
    """
    table = [header, *rows]
    widths = [max(map(cell_len, column)) for column in zip(*table, strict=True)]
    lines = []
    for row in table:
        cells = []
        for column, (cell, width) in enumerate(zip(row, widths, strict=True)):
            space = " " * (width - cell_len(cell))
            cells.append(space + cell if column in right else cell + space)
        lines.append("  ".join(cells).rstrip() + "\n")
    return "".join(lines)


def _as_markdown(report: Report) -> str:
    title = [] if report.bare else [f"# {report.title}"]
    parts = [part for block in report.blocks for part in _markdown(block)]
    return "\n\n".join([*title, *parts]) + "\n"


def _markdown(block: Block) -> Iterator[str]:
    match block:
        case Heading(text):
            yield f"## {text}"
        case ReportParagraph(text) | Figure(_, text):
            yield text
        case Points(texts):
            yield "\n".join(f"- {text}" for text in texts)
        case Notes(texts):
            yield "\n".join(f"- `{text}`" for text in texts)
        case Table():
            table = block.without_empty_columns()
            bars = [*["---"] * table.names, *["--:"] * (len(table.header) - table.names)]
            yield "\n".join(map(_pipes, [table.header, bars, *table.rows]))
        case Rewritten(caption, source, rewrites):
            yield f"{caption}: {source}"
            yield "\n".join(f"- {name} {note}: {' '.join(it)}" for name, note, it in rewrites)


def _pipes(row: Sequence[str]) -> str:
    return f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in row)} |"


def _as_latex(report: Report) -> str:
    """Booktabs tables; the notes come first, so that the last line ends a table."""
    notes = [text for block in report.blocks if isinstance(block, Notes) for text in block.texts]
    parts = _comments([*([] if report.bare else [report.title]), *notes])
    for block in report.blocks:
        match block:
            case Table():
                parts += _latex_table(block.without_empty_columns()) + "\n"
            case Heading(text) | ReportParagraph(text) | Figure(_, text):
                parts += _comments([text])
            case Points(texts):
                parts += _comments(texts)
            case Rewritten(caption, source):
                parts += _comments([f"{caption}: {source}"])
    return parts.rstrip("\n") + "\n"


def _comments(texts: Sequence[str]) -> str:
    return "".join(f"% {' '.join(text.split())}\n" for text in texts)


def _latex_table(table: Table) -> str:
    lines = [
        rf"\begin{{tabular}}{{{'l' * table.names}{'r' * (len(table.header) - table.names)}}}",
        r"\toprule",
        " & ".join(name.translate(_TEX) for name in table.header) + r" \\",
        r"\midrule",
        *(" & ".join(map(_latex_cell, row)) + r" \\" for row in table.rows),
        r"\bottomrule",
        r"\end{tabular}",
    ]
    return "\n".join(lines) + "\n"


def _latex_cell(cell: str) -> str:
    text = cell.translate(_TEX)
    return rf"\textbf{{{text}}}" if getattr(cell, "emphasis", "") == "best" else text


_TEX = str.maketrans(
    {"&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_", "{": r"\{", "}": r"\}"}
    | {"~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "\\": r"\textbackslash{}"}
    | {"†": r"$^\dagger$", NONE: "--"}
)


def _as_csv(report: Report, delimiter: str = ",") -> str:
    out = io.StringIO()
    writer = csv.writer(out, delimiter=delimiter, lineterminator="\n")
    if report.lines:
        header = list(dict.fromkeys(name for line in report.lines for name in line))
        writer.writerow(map(_csv_cell, header))
        writer.writerows([_csv_cell(line.get(name)) for name in header] for line in report.lines)
        return out.getvalue()
    for place, table in enumerate(report.tables):
        out.write("\n" if place else "")
        writer.writerows([map(_csv_cell, row) for row in (table.header, *table.rows)])
    return out.getvalue()


def _csv_cell(value: object) -> object:
    from parataxis.text.files import plain_cell

    return plain_cell(value) if isinstance(value, str) else _without_nan(value)


def _as_json(report: Report) -> str:
    record = report.record
    if record is None:
        rows = [
            [dict(zip(table.header, row, strict=True)) for row in table.rows]
            for table in report.tables
        ]
        record = {"title": report.title, "tables": rows}
    return json.dumps(_without_nan(record), indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def _without_nan(value: object) -> object:
    """A value with None for NaN, at any depth."""
    match value:
        case float():
            return None if math.isnan(value) else value
        case Mapping():
            return {name: _without_nan(each) for name, each in value.items()}
        case list() | tuple():
            return list(map(_without_nan, value))
        case _:
            return value


def _as_html(report: Report) -> str:
    from parataxis.report.page import report_page

    return report_page(report)


_RENDERERS = {
    ReportFormat.TEXT: _as_text,
    ReportFormat.MARKDOWN: _as_markdown,
    ReportFormat.JSON: _as_json,
    ReportFormat.CSV: _as_csv,
    ReportFormat.TSV: lambda report: _as_csv(report, "\t"),
    ReportFormat.LATEX: _as_latex,
    ReportFormat.HTML: _as_html,
}
