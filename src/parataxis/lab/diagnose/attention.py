"""The attention of a model to the first entity of its source: one number for figures 1 and 2 of
Aharoni and Goldberg (2018). docs/diagnostics.md defines it, and those that are reported with it."""

import io
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, astuple, dataclass
from functools import partial
from html import escape

import numpy as np
from numpy.typing import NDArray

from parataxis.evaluate.corpora.example import Example
from parataxis.evaluate.figures import new_figure, plain_label
from parataxis.lab.diagnose.memorisation import Span
from parataxis.lab.diagnose.sheet import script_page
from parataxis.report import Block, Report, ReportParagraph, Table, counted, number_cell
from parataxis.report.page import block_html
from parataxis.rewrite.align import align
from parataxis.splitters.registry import SPLIT_MARK, Attention

_NOWHERE = float("nan")
_shown = partial(number_cell, form=".3f")
_REFERENCES = 8
"""The most references of a source that are aligned."""


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


def reference_attention(source: str, entity: str, references: Iterable[Sequence[str]]) -> float:
    """The share that copying the references would give, their mean; NaN without references."""
    found = re.search(r"\s*".join(map(re.escape, entity.replace(" ", ""))), source)
    start, end = found.span() if found else (0, 0)
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
    columns = zip(*map(astuple, shares), strict=True) if shares else [()] * 4
    known = ([value for value in column if value == value] for column in columns)
    return EntityAttention(*(float(np.mean(each)) if each else _NOWHERE for each in known))


@dataclass(frozen=True, slots=True)
class Looked:
    """The attention of one rewrite, the words of the first entity, what to say about it, and the
    numbers where there is an entity."""

    id: str
    attention: Attention
    entity: Span | None
    note: str
    numbers: EntityAttention | None = None


def look(example: Example, found: Attention, entity: Span | None) -> Looked:
    """Measure the attention of one rewrite to the first entity."""
    if entity is None:
        return Looked(example.id, found, None, "The source names no entity.")
    name = " ".join(found.source[slice(*entity)])
    copied = reference_attention(example.source, name, example.references[:_REFERENCES])
    numbers = entity_attention(found, entity, copied)
    note = (
        f"{_shown(numbers.model)} of the attention is on “{name}”, {_shown(numbers.elsewhere)} "
        f"while other words are written; even attention would give {_shown(numbers.uniform)}"
    )
    if numbers.reference == numbers.reference:
        note += f", copying the references {_shown(numbers.reference)}"
    return Looked(example.id, found, entity, f"{note}.", numbers)


def attention_report(name: str, looked: Iterable[Looked], sources: int) -> Report:
    """The mean numbers of a splitter, over the sources in which an entity was found."""
    shares = [each.numbers for each in looked if each.numbers is not None]
    mean = mean_entity_attention(shares)
    rows = {
        name: mean.model,
        "  while other words are written": mean.elsewhere,
        "even attention": mean.uniform,
        "copying the references": mean.reference,
    }
    if mean.reference != mean.reference:
        del rows["copying the references"]
    of = f"{len(shares):,} of {counted(sources, 'source')}"
    summary: list[Block] = [
        Table(
            ("attention on the first entity", "share"),
            [(label, _shown(value)) for label, value in rows.items()],
        ),
        ReportParagraph(f"Means over {of} in which an entity was found."),
    ]
    if not shares:
        summary = [ReportParagraph("No source names an entity, so there is nothing to measure.")]
    record = {"sources": sources, "with_entity": len(shares), **asdict(mean)}
    return Report(f"What {name} looks at", summary, record)


def attention_page(report: Report, looked: Iterable[Looked]) -> str:
    """The page: the summary, then each rewrite."""
    return script_page(
        "attention",
        report.title,
        summary="\n".join(line for block in report.blocks for line in block_html(block)),
        articles="\n".join(line for each in looked for line in _article(each)),
    )


def _article(looked: Looked) -> Iterator[str]:
    attention = looked.attention
    yield f'<article><p class="reason">{escape(looked.id)}</p>'
    source = " ".join(
        _word(place, word, looked.entity) for place, word in enumerate(attention.source)
    )
    yield f'<p class="source words" aria-label="Source">{source}</p>'
    yield '<ol class="output" aria-label="Output">'
    for sentence in _sentences(attention.output):
        words = " ".join(_word(place, attention.output[place]) for place in sentence)
        yield f'<li class="words">{words}</li>'
    yield '</ol><p class="told" role="status"></p>'
    yield '<div class="wide"><table class="map" aria-label="Attention">'
    heads = "".join(
        f"<th{_kind(place, looked.entity)}><span>{escape(word)}</span></th>"
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
    yield f'</table></div><p class="share">{escape(looked.note)}</p></article>'


def _word(place: int, word: str, entity: Span | None = None) -> str:
    # Tab stops at the first word; the arrow keys reach the others.
    stop = 0 if place == 0 else -1
    kind = _kind(place, entity)
    return f'<span{kind} data-place="{place}" tabindex="{stop}">{escape(word)}</span>'


def _kind(place: int, entity: Span | None) -> str:
    return ' class="entity"' if entity and entity[0] <= place < entity[1] else ""


def _sentences(output: Sequence[str]) -> list[list[int]]:
    """The places of the words of each simple sentence."""
    sentences: list[list[int]] = [[]]
    for place, word in enumerate(output):
        if word == SPLIT_MARK:
            sentences.append([])
        else:
            sentences[-1].append(place)
    return [sentence for sentence in sentences if sentence]


_INCH = 0.2
"""Of a word, in inches."""


def heatmap_png(attention: Attention, entity: Span | None = None) -> bytes:
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
    figure.colorbar(shown, ax=axes, shrink=0.5, fraction=0.03, pad=0.02).ax.tick_params(labelsize=7)
    out = io.BytesIO()
    figure.savefig(out, format="png", dpi=150, metadata={"Software": None})
    return out.getvalue()
