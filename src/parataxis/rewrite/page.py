"""Rewrites as one HTML page: every source with its simple sentences and where each word came from.

The page is self-contained: it needs no other file and no network, and its content security
policy forbids both.
"""

from collections.abc import Iterable, Sequence
from functools import cache
from html import escape
from importlib.resources import files

from parataxis.rewrite.marks import Mark, Piece, mark
from parataxis.rewrite.record import Rewrite
from parataxis.rewrite.render import describe
from parataxis.syntax.patterns import Occurrence

__all__ = ["page_end", "page_entry", "page_start"]

_POLICY = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'"


def page_start(title: str) -> str:
    """The page up to its first rewrite: title, style and legend."""
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="{_POLICY}">
<title>{escape(title)}</title>
<style>
{_asset("page.css")}</style>
</head>
<body>
<header>
<h1>{escape(title)}</h1>
<p>Each source, then its simple sentences. Point at a word, a sentence or a pattern to see the
source words behind it.</p>
<p class="legend"><ins>inserted word</ins> <span class="inflected">changed inflection</span>
<s>left out</s></p>
</header>
<main>
"""


def page_entry(rewrite: Rewrite, patterns: Sequence[Occurrence] = ()) -> str:
    """One rewrite as an article."""
    marked = mark(rewrite)
    kind = "split" if rewrite.is_split else "unsplit"
    parts = [f'<article class="{kind}">']
    if rewrite.id:
        parts.append(f'<h2 class="id">{escape(rewrite.id)}</h2>')
    parts.append(f'<p class="source">{_words(marked.source, rewrite.source)}</p>')
    if rewrite.is_split:
        items = (_words(sentence, rewrite.source) for sentence in marked.simple)
        parts.append("<ol>")
        parts += [f'<li tabindex="0">{words}</li>' for words in items]
        parts.append("</ol>")
    parts += [*_patterns(patterns, rewrite.source), *_notes(rewrite), "</article>"]
    return "\n".join(parts) + "\n"


def page_end() -> str:
    """The rest of the page after its last rewrite."""
    return f"""</main>
<footer><p>Made with Parataxis.</p></footer>
<script>
{_asset("page.js")}</script>
</body>
</html>
"""


@cache
def _asset(name: str) -> str:
    return (files("parataxis.rewrite") / "assets" / name).read_text(encoding="utf-8")


def _words(pieces: Iterable[Piece], source: str) -> str:
    return "".join(_word(piece, source) for piece in pieces)


def _word(piece: Piece, source: str) -> str:
    text = escape(piece.text)
    if piece.mark is Mark.INSERTED:
        return f"<ins>{text}</ins>"
    if piece.source is None:
        return text
    place = f'data-s="{piece.source[0]}"'
    if piece.mark is Mark.LEFT_OUT:
        return f"<s {place}>{text}</s>"
    if piece.mark is Mark.INFLECTED:
        origin = escape(source[slice(*piece.source)])
        return f'<ruby class="inflected" {place}>{text}<rt>{origin}</rt></ruby>'
    return f"<span {place}>{text}</span>"


def _patterns(patterns: Sequence[Occurrence], source: str) -> list[str]:
    if not patterns:
        return []
    items = []
    for span in patterns:
        words = escape(" ".join(source[span.start : span.end].split()))
        items.append(
            f'<li tabindex="0" data-span="{span.start} {span.end}">'
            f"<b>{escape(span.pattern.plain_name)}</b> {words}</li>"
        )
    return ['<ul class="patterns" aria-label="Patterns">', *items, "</ul>"]


def _notes(rewrite: Rewrite) -> list[str]:
    remarks = [] if rewrite.confidence is None else [f"Confidence: {rewrite.confidence:.0%}."]
    remarks += [rewrite.note] if rewrite.note else []
    notes = [f'<p class="note">{escape(remark)}</p>' for remark in remarks]
    if not rewrite.findings:
        return notes
    items = [f"<li>{escape(describe(finding))}</li>" for finding in rewrite.findings]
    return [*notes, '<ul class="findings" aria-label="Findings">', *items, "</ul>"]
