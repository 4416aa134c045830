"""The attention of a model to the first entity of its source: one number for figures 1 and 2 of
Aharoni and Goldberg (2018).

It is the share of all attention that falls on the words of the entity that the source names first
(its first mention). Since rows sum to 1, it is the mean over the output words. Three numbers are
reported with it. *Uniform*: the share that even attention would give, the entity's part of the
source. *Reference*: the share that copying a reference would give, its words that are aligned with
the entity out of all that are aligned with the source. And *elsewhere*: the share while words are
written that are not the entity's, which is small in a model that copies.
"""

import io
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from html import escape
from importlib.resources import files

import numpy as np
from numpy.typing import NDArray

from parataxis.evaluate.figures import new_figure, plain_label
from parataxis.lab.diagnose.memorisation import Span
from parataxis.report import Report
from parataxis.report.page import block_html, page_head
from parataxis.rewrite.align import align
from parataxis.splitters.registry import SPLIT_MARK, Attention
from parataxis.text.tokens import tokenize

_NOWHERE = float("nan")


@dataclass(frozen=True, slots=True)
class EntityAttention:
    """The numbers of one source, or their means; NaN where there is nothing to count."""

    model: float
    elsewhere: float
    uniform: float
    reference: float = _NOWHERE


def entity_attention(
    attention: Attention, entity: Span, reference: float = _NOWHERE
) -> EntityAttention:
    """The numbers of a source; ``entity`` are the places of its words.

    >>> looked = np.array([[0.5, 0.5], [1.0, 0.0]], dtype=np.float32)
    >>> entity_attention(Attention(("Ann", "left"), ("Ann", "left"), looked), (0, 1))
    EntityAttention(model=0.75, elsewhere=1.0, uniform=0.5, reference=nan)
    """
    first, end = entity
    own = {word.lower() for word in attention.source[first:end]}
    is_word = np.array([word != SPLIT_MARK for word in attention.output], dtype=bool)
    is_other = np.array([word.lower() not in own for word in attention.output], dtype=bool)
    return EntityAttention(
        _share(attention.weights[is_word], first, end),
        _share(attention.weights[is_word & is_other], first, end),
        (end - first) / len(attention.source),
        reference,
    )


def _share(weights: NDArray[np.float32], first: int, end: int) -> float:
    total = float(weights.sum())
    return float(weights[:, first:end].sum()) / total if total > 0 else _NOWHERE


def reference_attention(source: str, entity: Span, references: Iterable[Sequence[str]]) -> float:
    """The share that copying the references would give, their mean; NaN without references."""
    tokens = tokenize(source)
    start, end = tokens[entity[0]].start, tokens[entity[1] - 1].end
    shares = []
    for simple in references:
        places = [
            token.source
            for sentence in align(source, simple)
            for token in sentence
            if token.source is not None
        ]
        if places:
            shares.append(sum(start <= place[0] < end for place in places) / len(places))
    return float(np.mean(shares)) if shares else _NOWHERE


def mean_entity_attention(shares: Sequence[EntityAttention]) -> EntityAttention:
    """The mean of each number over the sources that have it."""
    return EntityAttention(
        *(
            _mean([getattr(each, name) for each in shares])
            for name in ("model", "elsewhere", "uniform", "reference")
        )
    )


def _mean(values: Sequence[float]) -> float:
    known = [value for value in values if value == value]
    return float(np.mean(known)) if known else _NOWHERE


@dataclass(frozen=True, slots=True)
class Looked:
    """The attention of one rewrite, the words of the first entity, and what to say about it."""

    id: str
    attention: Attention
    entity: Span | None
    note: str


def attention_page(report: Report, looked: Iterable[Looked]) -> str:
    """The page: the summary, then each rewrite."""
    own = files("parataxis.lab.diagnose") / "assets"
    style = (own / "attention.css").read_text(encoding="utf-8")
    script = (own / "attention.js").read_text(encoding="utf-8")
    parts = [
        page_head(report.title, style, scripts=True),
        f"<h1>{escape(report.title)}</h1>",
        *(line for block in report.blocks for line in block_html(block)),
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
    yield f'</div><p class="share">{escape(looked.note)}</p></article>'


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


_INCH = 0.2
"""Of a word, in inches."""


def heatmap_png(attention: Attention, entity: Span | None = None, *, title: str = "") -> bytes:
    """A heat map as PNG: the source from left to right, the output from top to bottom, as in
    figures 1 and 2 of Aharoni and Goldberg (2018). The words of the first entity are underlined."""
    rows, columns = len(attention.output), len(attention.source)
    figure = new_figure(2.2 + _INCH * columns, 1.7 + _INCH * rows)
    axes = figure.add_subplot()
    shown = axes.imshow(attention.weights, cmap="Greys", vmin=0.0, vmax=1.0, aspect="equal")
    axes.set_xticks(range(columns), map(plain_label, attention.source), rotation=90, fontsize=8)
    axes.set_yticks(range(rows), map(plain_label, attention.output), fontsize=8)
    axes.xaxis.tick_top()
    axes.tick_params(length=0)
    if entity is not None:
        axes.plot(
            [entity[0] - 0.5, entity[1] - 0.5], [rows - 0.5] * 2, color="#c4320a", linewidth=4
        )
        for label in axes.get_xticklabels()[slice(*entity)]:
            label.set_color("#c4320a")
    if title:
        axes.set_title(plain_label(title), fontsize=9)
    figure.colorbar(shown, ax=axes, shrink=0.5, fraction=0.03, pad=0.02).ax.tick_params(labelsize=7)
    out = io.BytesIO()
    figure.savefig(out, format="png", dpi=150, metadata={"Software": None})
    return out.getvalue()
