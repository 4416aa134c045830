"""A report as one HTML page that needs no other file, no script and no network."""

from collections import Counter
from collections.abc import Iterator, Sequence
from html import escape
from importlib.resources import files
from string import Template

from parataxis import report as blocks
from parataxis.text.tokens import has_word, tokenize

_FOOTERS = {"en": "Made with Parataxis.", "es": "Hecho con Parataxis."}


def report_page(report: blocks.Report) -> str:
    """The whole page."""
    parts = [
        page_head(report.title, language=report.language),
        f"<h1>{escape(report.title)}</h1>",
        *(line for block in report.blocks for line in block_html(block)),
        f"<footer><p>{_FOOTERS.get(report.language, _FOOTERS['en'])}</p></footer>",
        "</body>",
        "</html>",
    ]
    return "\n".join(parts) + "\n"


def page_head(title: str, style: str = "", *, scripts: bool = False, language: str = "en") -> str:
    """The page up to its body, with the style of all reports and ``style``. Its policy forbids
    other files and the network, and scripts too unless the page has its own."""
    assets = files("parataxis.report") / "assets"
    style = (assets / "report.css").read_text(encoding="utf-8") + style
    policy = "default-src 'none'; style-src 'unsafe-inline'"
    policy += "; script-src 'unsafe-inline'" if scripts else ""
    head = Template((assets / "head.html").read_text(encoding="utf-8").rstrip())
    return head.substitute(policy=policy, title=escape(title), style=style, language=language)


def block_html(block: blocks.Block) -> Iterator[str]:
    """A block as lines of HTML."""
    match block:
        case blocks.Heading(text):
            yield f"<h2>{escape(text)}</h2>"
        case blocks.ReportParagraph(text):
            yield f"<p>{escape(text)}</p>"
        case blocks.Points(texts):
            yield f"<ul>{''.join(f'<li>{escape(text)}</li>' for text in texts)}</ul>"
        case blocks.Notes(texts):
            yield f"<ul>{''.join(f'<li><code>{escape(text)}</code></li>' for text in texts)}</ul>"
        case blocks.Table():
            table = block.upright()
            yield f'<div class="wide"><table class="names-{table.names}">'
            yield _row("th", table.header)
            yield from (_row("td", row) for row in table.rows)
            yield "</table></div>"
        case blocks.Figure(svg, caption):
            yield f"<figure><figcaption>{escape(caption)}</figcaption>{svg}</figure>"
        case blocks.Rewritten():
            yield from _rewritten(block)
        case blocks.PageOnly(inner, summary):
            if summary:
                yield f"<details><summary>{escape(summary)}</summary>"
            yield from (line for each in inner for line in block_html(each))
            if summary:
                yield "</details>"


def _row(tag: str, row: Sequence[str]) -> str:
    return f"<tr>{''.join(_cell(tag, cell) for cell in row)}</tr>"


def _cell(tag: str, cell: str) -> str:
    if not isinstance(cell, blocks.Cell):
        return f"<{tag}>{escape(cell)}</{tag}>"
    hint = f' title="{escape(cell.hint)}"' if cell.hint else ""
    kind = f' class="{cell.emphasis}"' if cell.emphasis else ""
    detail = f"<small>{escape(cell.detail)}</small>" if cell.detail else ""
    return f"<{tag}{hint}{kind}>{escape(cell)}{detail}</{tag}>"


def _rewritten(block: blocks.Rewritten) -> Iterator[str]:
    yield f'<article><p class="reason">{escape(block.caption)}</p>'
    yield f"<p>{escape(block.source)}</p>"
    yield "<dl>"
    for name, note, simple in block.rewrites:
        score = f"<small>{escape(note)}</small>" if note else ""
        yield f"<dt>{escape(name)}{score}</dt>"
        yield f"<dd>{_sentences(simple, block.source)}</dd>"
    yield "</dl></article>"


def _sentences(simple: Sequence[str], source: str) -> str:
    """The sentences with new words marked, and under them the words that were left out."""
    known = Counter(_words(source))
    items = "".join(f"<li>{_marked(sentence, known)}</li>" for sentence in simple)
    lost = known - Counter(word for each in simple for word in _words(each))
    left_out = [
        token.text
        for token in tokenize(source)
        if lost[token.text.lower()] > 0 and has_word(token.text)
    ]
    missing = f"<p><s>{escape(' '.join(left_out))}</s></p>" if left_out else ""
    return f"<ol>{items}</ol>{missing}"


def _marked(sentence: str, known: Counter[str]) -> str:
    """The sentence with the words marked that the source does not have."""
    parts, end = [], 0
    for token in tokenize(sentence):
        parts.append(escape(sentence[end : token.start]))
        text = escape(token.text)
        new = token.text.lower() not in known and has_word(token.text)
        parts.append(f"<ins>{text}</ins>" if new else text)
        end = token.end
    return "".join([*parts, escape(sentence[end:])])


def _words(text: str) -> list[str]:
    return [token.text.lower() for token in tokenize(text)]
