"""Attention as a page: every word can be asked what it looked at, with the mouse, a finger or the
keyboard. The page needs no other file and no network."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from html import escape
from importlib.resources import files

from parataxis.reports.diagnostics.entities import Span
from parataxis.reports.document import Block, block_html, page_head
from parataxis.splitters.attention import SPLIT_MARK, Attention

__all__ = ["Looked", "attention_page"]


@dataclass(frozen=True, slots=True)
class Looked:
    """The attention of one rewrite, the words of the first entity, and what to say about it."""

    id: str
    attention: Attention
    entity: Span | None
    note: str


def attention_page(title: str, blocks: Sequence[Block], looked: Iterable[Looked]) -> str:
    """The page: what is said of all, then each rewrite."""
    assets = files("parataxis.reports")
    style = (assets / "assets" / "report.css").read_text(encoding="utf-8")
    own = assets / "diagnostics" / "assets"
    style += (own / "attention.css").read_text(encoding="utf-8")
    script = (own / "attention.js").read_text(encoding="utf-8")
    parts = [
        page_head(title, style, scripts=True),
        f"<h1>{escape(title)}</h1>",
        *(line for block in blocks for line in block_html(block)),
        '<p class="hint">Point at a word of the output, or go there with Tab and the arrow keys, '
        "to see what it looked at; at a word of the source, to see which words looked at it. The "
        'first entity is <span class="entity">underlined</span>.</p>',
        "<main>",
        *(line for each in looked for line in _article(each)),
        "</main>",
        "<footer><p>Made with Parataxis.</p></footer>",
        f"<script>\n{script}</script>",
        "</body>",
        "</html>",
    ]
    return "\n".join(parts) + "\n"


def _article(looked: Looked) -> Iterator[str]:
    attention = looked.attention
    yield f'<article><p class="reason">{escape(looked.id)}</p>'
    source = " ".join(
        _word(place, word, is_entity=_is_in(place, looked.entity))
        for place, word in enumerate(attention.source)
    )
    yield f'<p class="source words" aria-label="Source">{source}</p>'
    yield '<ol class="output" aria-label="Output">'
    for sentence in _sentences(attention.output):
        words = " ".join(_word(place, attention.output[place]) for place in sentence)
        yield f'<li class="words">{words}</li>'
    yield '</ol><p class="told" role="status"></p>'
    yield '<div class="wide">'
    yield from _map(looked)
    yield f'</div><p class="stare">{escape(looked.note)}</p></article>'


def _word(place: int, word: str, *, is_entity: bool = False) -> str:
    kind = ' class="entity"' if is_entity else ""
    # Tab stops at the first word; the arrow keys reach the others.
    stop = 0 if place == 0 else -1
    return f'<span{kind} data-place="{place}" tabindex="{stop}">{escape(word)}</span>'


def _is_in(place: int, span: Span | None) -> bool:
    return span is not None and span[0] <= place < span[1]


def _sentences(output: Sequence[str]) -> list[list[int]]:
    """The places of the words of each simple sentence."""
    sentences: list[list[int]] = [[]]
    for place, word in enumerate(output):
        if word == SPLIT_MARK:
            sentences.append([])
        else:
            sentences[-1].append(place)
    return [sentence for sentence in sentences if sentence]


def _map(looked: Looked) -> Iterator[str]:
    attention = looked.attention
    yield '<table class="map" aria-label="Attention">'
    heads = "".join(
        f"<th{_kind(_is_in(place, looked.entity))}><span>{escape(word)}</span></th>"
        for place, word in enumerate(attention.source)
    )
    yield f"<tr><th></th>{heads}</tr>"
    for word, row in zip(attention.output, attention.weights.tolist(), strict=True):
        kind = ' class="split"' if word == SPLIT_MARK else ""
        cells = "".join(
            f'<td data-w="{weight:.3f}" style="--w:{weight:.3f}"'
            f' title="{escape(word)} – {escape(other)}: {weight:.2f}"></td>'
            for other, weight in zip(attention.source, row, strict=True)
        )
        yield f"<tr{kind}><th>{escape(word)}</th>{cells}</tr>"
    yield "</table>"


def _kind(is_entity: bool) -> str:
    return ' class="entity"' if is_entity else ""
