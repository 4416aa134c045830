"""A short report of headings, paragraphs and tables, and how it is written: as Markdown
or as one HTML page that needs no other file."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape
from importlib.resources import files

from parataxis.reports.tables import markdown_table

__all__ = [
    "Block",
    "Document",
    "Figure",
    "Heading",
    "Paragraph",
    "Points",
    "Table",
    "block_html",
    "page_head",
]


@dataclass(frozen=True, slots=True)
class Heading:
    """Begins a section."""

    text: str


@dataclass(frozen=True, slots=True)
class Paragraph:
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


Block = Heading | Paragraph | Points | Table | Figure


@dataclass(frozen=True)
class Document:
    """A title and what stands under it."""

    title: str
    blocks: Sequence[Block]

    def as_markdown(self) -> str:
        """The document in Markdown."""
        return "\n\n".join([f"# {self.title}", *map(_markdown, self.blocks)]) + "\n"

    def as_html(self) -> str:
        """The document as one page, which needs neither a script nor the network."""
        style = (files("parataxis.reports") / "assets" / "report.css").read_text(encoding="utf-8")
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
        case Paragraph(text):
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
        case Paragraph(text):
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
