"""``parataxis diagnose attention``: what a splitter looks at while it writes."""

import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from parataxis.cli.corpus_inputs import StrictOption, TableFormat, TableFormatOption
from parataxis.cli.diagnose_inputs import (
    CorpusOption,
    FirstOption,
    FolderOption,
    NameOption,
    read_evaluation,
)
from parataxis.cli.documents import document_text
from parataxis.cli.folders import write_folder
from parataxis.cli.terminal import Progress, open_output, warn
from parataxis.corpora.example import Example
from parataxis.errors import InputError
from parataxis.reports.diagnostics.attention_page import Looked, attention_page
from parataxis.reports.diagnostics.entities import (
    Span,
    find_entity,
    source_names,
    triple_entities,
)
from parataxis.reports.diagnostics.stare import Stare, mean_stare, reference_stare, stare
from parataxis.reports.document import Block, Document, Paragraph, Table
from parataxis.reports.tables import NONE, without_nans
from parataxis.splitters.attention import AttentiveSplitter
from parataxis.splitters.registry import load_splitter
from parataxis.text.tokens import tokenize

__all__ = ["attention"]

_REFERENCES = 8
"""So many references of a source are aligned, where a corpus has more."""


def attention(
    sentences: Annotated[
        list[str] | None,
        typer.Argument(metavar="SENTENCE...", show_default=False, help="Sentences, in quotes."),
    ] = None,
    splitter: Annotated[
        str,
        typer.Option(
            "--splitter", "-s", metavar="NAME", help="pointer, seq2seq:DIR or copynet:DIR."
        ),
    ] = "pointer",
    corpus: CorpusOption = None,
    name: NameOption = None,
    first: FirstOption = None,
    pictures: Annotated[
        int,
        typer.Option("--pictures", min=0, metavar="N", help="How many rewrites to draw."),
    ] = 5,
    output: FolderOption = None,
    output_format: TableFormatOption = TableFormat.TEXT,
    strict: StrictOption = False,
) -> None:
    """Show what a splitter looks at while it writes, and how much it stares at the first entity.

    Into the folder go a page in which each word can be asked, and heat maps of source against
    output. The stare is the share of all attention that falls on the words of the entity that the
    source names first; beside it stand what even attention and what copying the references would
    give. The entities are those of the triples of a source, or else its names.
    """
    loaded = load_splitter(splitter)
    if not isinstance(loaded, AttentiveSplitter):
        raise InputError(f'The splitter "{splitter}" does not tell what it looks at.')
    given = [Example(each, (), str(place)) for place, each in enumerate(sentences or [], start=1)]
    with open_output(None) as out:
        with Progress(None, out) as progress:
            examples = (given or read_evaluation(corpus, strict=strict))[:first]
            if not examples:
                raise InputError("There is nothing to look at; give a sentence or a --corpus.")
            looked: list[Looked] = []
            stares: list[Stare] = []
            for example, entity in zip(examples, _first_entities(examples), strict=True):
                progress.advance(0, 1)
                try:
                    found, numbers = _look(loaded, example, entity)
                except InputError as error:
                    if given:
                        raise
                    warn(f"{example.id} is left out: {error}")
                    continue
                stares += [numbers] if numbers else []
                if len(looked) < pictures:
                    looked.append(found)
        called = name or loaded.name
        title = f"What {called} looks at"
        summary = _summary(called, stares, len(examples))
        if output is not None:
            _write(output, title, summary, looked, _json(stares, len(examples)))
        if output_format is TableFormat.JSON:
            out.write(_json(stares, len(examples)))
        else:
            out.write(document_text(Document(title, summary)))


def _first_entities(examples: Sequence[Example]) -> list[Span | None]:
    """The words of the entity that each source names first."""
    words = [[token.text for token in tokenize(each.source)] for each in examples]
    found = [
        find_entity(each, triple_entities([example])) if example.triples else None
        for each, example in zip(words, examples, strict=True)
    ]
    bare = [place for place, span in enumerate(found) if span is None]
    if bare:
        names = source_names(examples[place].source for place in bare)
        for place, known in zip(bare, names, strict=True):
            found[place] = find_entity(words[place], known)
    return found


def _look(
    splitter: AttentiveSplitter, example: Example, entity: Span | None
) -> tuple[Looked, Stare | None]:
    found = splitter.attention(example.source)
    if entity is None:
        return Looked(example.id, found, None, "The source names no entity."), None
    copied = reference_stare(example.source, entity, example.references[:_REFERENCES])
    numbers = stare(found, entity, copied)
    name = " ".join(found.source[slice(*entity)])
    note = f"{_share(numbers.model)} of the attention is on “{name}”, "
    note += f"{_share(numbers.elsewhere)} while other words are written; even attention would give "
    note += f"{_share(numbers.uniform)}"
    if numbers.reference == numbers.reference:
        note += f", copying the references {_share(numbers.reference)}"
    return Looked(example.id, found, entity, f"{note}."), numbers


def _summary(name: str, stares: Sequence[Stare], sources: int) -> list[Block]:
    if not stares:
        return [Paragraph("No source names an entity, so that there is no stare to measure.")]
    mean = mean_stare(stares)
    rows = [
        (name, _share(mean.model)),
        ("  while other words are written", _share(mean.elsewhere)),
        ("even attention", _share(mean.uniform)),
        ("copying the references", _share(mean.reference)),
    ][: 3 if mean.reference != mean.reference else 4]
    of = f"{len(stares):,} of {sources:,} source{'' if sources == 1 else 's'}"
    return [
        Table(("attention on the first entity", "share"), rows),
        Paragraph(f"Means over {of} in which an entity was found."),
    ]


def _write(
    folder: Path,
    title: str,
    summary: Sequence[Block],
    looked: Sequence[Looked],
    numbers: str,
) -> None:
    """The page, the pictures and the numbers."""
    from parataxis.reports.diagnostics.heatmap import heatmap_png

    made: dict[str, str | bytes] = {
        "attention.html": attention_page(title, summary, looked),
        "attention.json": numbers,
    }
    for number, each in enumerate(looked, start=1):
        made[f"attention-{number}.png"] = heatmap_png(each.attention, each.entity)
    write_folder(folder, made)
    warn(f"The page is in {folder / 'attention.html'}.")


def _share(value: float) -> str:
    return f"{value:.3f}" if value == value else NONE


def _json(stares: Sequence[Stare], sources: int) -> str:
    record = {
        "sources": sources,
        "with_entity": len(stares),
        **without_nans(asdict(mean_stare(stares))),
    }
    return json.dumps(record, indent=1, allow_nan=False) + "\n"
