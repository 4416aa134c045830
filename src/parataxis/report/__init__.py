"""A short report of headings, paragraphs and tables, and how it is written: as Markdown
or as one HTML page that needs no other file."""

import textwrap
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape
from importlib.resources import files

NONE = "–"
"""Stands where a metric has nothing to compare with."""


@dataclass(frozen=True, slots=True)
class Heading:
    """Begins a section."""

    text: str


@dataclass(frozen=True, slots=True)
class ReportParagraph:
    """Some sentences."""

    text: str


@dataclass(frozen=True, slots=True)
class Points:
    """Sentences or paragraphs that are listed."""

    texts: Sequence[str]


@dataclass(frozen=True, slots=True)
class Table:
    """Rows under a header; the first ``names`` columns hold words, the others numbers."""

    header: Sequence[str]
    rows: Sequence[Sequence[str]]
    names: int = 1

    def without_empty_columns(self) -> "Table":
        """The table without columns that have neither a header nor a cell."""
        keep = [
            place
            for place, name in enumerate(self.header)
            if name or any(row[place] for row in self.rows)
        ]
        return Table(
            [self.header[place] for place in keep],
            [[row[place] for place in keep] for row in self.rows],
            self.names,
        )


@dataclass(frozen=True, slots=True)
class Figure:
    """A picture as SVG, which only a page shows, and what it shows in words."""

    svg: str
    caption: str


Block = Heading | ReportParagraph | Points | Table | Figure


@dataclass(frozen=True)
class Report:
    """A title and what stands under it."""

    title: str
    blocks: Sequence[Block]

    def as_markdown(self) -> str:
        """The document in Markdown."""
        return "\n\n".join([f"# {self.title}", *map(_markdown, self.blocks)]) + "\n"

    def as_html(self) -> str:
        """The document as one page, which needs neither a script nor the network."""
        style = (files("parataxis.report") / "assets" / "report.css").read_text(encoding="utf-8")
        parts = [
            page_head(self.title, style + _STYLE),
            f"<h1>{escape(self.title)}</h1>",
            *(line for block in self.blocks for line in block_html(block)),
            "<footer><p>Made with Parataxis.</p></footer>",
            "</body>",
            "</html>",
        ]
        return "\n".join(parts) + "\n"


_STYLE = """td.name, th.name { text-align: left; white-space: normal; min-width: 8rem; }
table { margin: .75rem 0; }
td { vertical-align: top; }
th { white-space: normal; vertical-align: bottom; }
"""


def page_head(title: str, style: str, *, scripts: bool = False) -> str:
    """The page up to its body; its policy forbids every other file and the network."""
    policy = "default-src 'none'; style-src 'unsafe-inline'"
    policy += "; script-src 'unsafe-inline'" if scripts else ""
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<title>{escape(title)}</title>
<style>
{style}</style>
</head>
<body>"""


def _markdown(block: Block) -> str:
    match block:
        case Heading(text):
            return f"## {text}"
        case ReportParagraph(text):
            return text
        case Points(texts):
            return "\n".join(f"- {text}" for text in texts)
        case Table():
            table = block.without_empty_columns()
            return markdown_table(table.header, table.rows, names=table.names).rstrip()
        case Figure(_, caption):
            return caption


def block_html(block: Block) -> Iterator[str]:
    """A block as lines of HTML."""
    match block:
        case Heading(text):
            yield f"<h2>{escape(text)}</h2>"
        case ReportParagraph(text):
            yield f"<p>{escape(text)}</p>"
        case Points(texts):
            yield f"<ul>{''.join(f'<li>{escape(text)}</li>' for text in texts)}</ul>"
        case Table():
            table = block.without_empty_columns()
            yield '<div class="wide"><table>'
            for tag, row in (("th", table.header), *(("td", row) for row in table.rows)):
                cells = (
                    f'<{tag} class="name">{escape(cell)}</{tag}>'
                    if place < table.names
                    else f"<{tag}>{escape(cell)}</{tag}>"
                    for place, cell in enumerate(row)
                )
                yield f"<tr>{''.join(cells)}</tr>"
            yield "</table></div>"
        case Figure(svg, caption):
            yield f"<figure>{svg}<figcaption>{escape(caption)}</figcaption></figure>"


# Plain tables that read well in a terminal and can be cut with ``awk``.


def counted(number: int, noun: str) -> str:
    """A number with its noun.

    >>> counted(1, "sentence"), counted(1200, "sentence")
    ('1 sentence', '1,200 sentences')
    """
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


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
    widths = [max(_width(row[column]) for row in table) for column in range(len(header))]
    lines = []
    for row in table:
        cells = [
            " " * (width - _width(cell)) + cell
            if column in right
            else cell + " " * (width - _width(cell))
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        lines.append("  ".join(cells).rstrip() + "\n")
    return "".join(lines)


def _width(text: str) -> int:
    """How many columns of a terminal a text takes."""
    wide = sum(unicodedata.east_asian_width(character) in "WF" for character in text)
    return len(text) + wide - sum(map(bool, map(unicodedata.combining, text)))


# A report for a terminal: its paragraphs in lines, its tables in columns.

_WIDTH = 88


def document_text(document: Report) -> str:
    """The document as plain text."""
    return "\n".join([f"{document.title}\n", *map(_text, document.blocks)])


def _text(block: Block) -> str:
    match block:
        case Heading(text):
            return f"{text}\n{'-' * len(text)}"
        case ReportParagraph(text) | Figure(_, text):
            return textwrap.fill(text, _WIDTH) + "\n"
        case Points(texts):
            return "".join(
                textwrap.fill(text, _WIDTH, initial_indent="- ", subsequent_indent="  ") + "\n"
                for text in texts
            )
        case Table(header, rows, names):
            if names == len(header):  # sentences in columns are too wide for a terminal
                return "\n".join(_lines(header, row) for row in rows)
            table = block.without_empty_columns()
            right = range(names, len(table.header))
            return plain_table(table.header, table.rows, right=right)


def _lines(header: Sequence[str], row: Sequence[str]) -> str:
    """A row of sentences, each on lines of its own behind its name."""
    width = max(map(len, header)) + 2
    return "".join(
        textwrap.fill(
            cell, _WIDTH, initial_indent=f"{name}:".ljust(width), subsequent_indent=" " * width
        )
        + "\n"
        for name, cell in zip(header, row, strict=True)
        if cell
    )


def markdown_table(
    header: Sequence[str],
    rows: Sequence[Sequence[str]],
    *,
    names: int = 1,
    notes: Sequence[str] = (),
) -> str:
    """A table of numbers in Markdown, its first columns names, with notes under it."""
    bars = [*["---"] * names, *["--:"] * (len(header) - names)]
    quoted = ["", *(f"- `{note}`" for note in notes)] if notes else []
    return "\n".join([*map(_pipes, [header, bars, *rows]), *quoted]) + "\n"


def _pipes(row: Sequence[str]) -> str:
    """A row of a table in Markdown."""
    return f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in row)} |"


def latex_table(
    header: Sequence[str],
    rows: Sequence[Sequence[str]],
    *,
    names: int = 1,
    notes: Sequence[str] = (),
) -> str:
    """A booktabs table of numbers, its first columns names; the rows are LaTeX already."""
    lines = [
        *(f"% {note}" for note in notes),
        rf"\begin{{tabular}}{{{'l' * names}{'r' * (len(header) - names)}}}",
        r"\toprule",
        " & ".join(map(tex, header)) + r" \\",
        r"\midrule",
        *(" & ".join(row) + r" \\" for row in rows),
        r"\bottomrule",
        r"\end{tabular}",
    ]
    return "\n".join(lines) + "\n"


_TEX = str.maketrans(
    {"&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_", "{": r"\{", "}": r"\}"}
    | {"~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "\\": r"\textbackslash{}"}
    | {"†": r"$^\dagger$", NONE: "--"}
)


def tex(text: str) -> str:
    """A text as LaTeX prints it."""
    return text.translate(_TEX)
