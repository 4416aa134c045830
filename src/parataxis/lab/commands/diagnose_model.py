"""``parataxis diagnose attention``, ``memorisation`` and ``probes``: does a splitter read its
source, or does it recite its training set?"""

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict
from itertools import chain, islice
from pathlib import Path
from typing import Annotated

import typer

from parataxis.cli.options import ReportFormatOption
from parataxis.cli.terminal import Progress, open_output, warn, write_folder
from parataxis.errors import InputError
from parataxis.evaluate.commands.corpus_input import (
    CORPUS_HELP,
    CorpusArgument,
    StrictOption,
    counting,
    parse_corpora,
    read_corpus,
)
from parataxis.evaluate.corpora.example import Example
from parataxis.evaluate.corpora.leaks import Overlaps, find_overlaps
from parataxis.evaluate.corpora.registry import Corpus, parse_corpus
from parataxis.lab.commands.diagnose import (
    CorpusOption,
    FirstOption,
    FolderOption,
    NameOption,
    SplitterOption,
    predictions,
    read_evaluation,
    read_stored,
    rewrite_all,
    system_name,
)
from parataxis.lab.diagnose.attention import (
    EntityAttention,
    Looked,
    attention_page,
    entity_attention,
    heatmap_png,
    mean_entity_attention,
    reference_attention,
)
from parataxis.lab.diagnose.memorisation import (
    Span,
    TrainingMemory,
    examine,
    find_entity,
    plain_name,
    probe_source,
    source_names,
    triple_entities,
)
from parataxis.lab.diagnose.verdict import Memorisation
from parataxis.report import NONE, Block, Report, ReportFormat, ReportParagraph, Table
from parataxis.rewrite.record import Rewrite
from parataxis.splitters.registry import AttentiveSplitter, load_splitter
from parataxis.text.files import ReadReport, name_of, read_lines
from parataxis.text.tokens import tokenize

_REFERENCES = 8
"""The most references of a source that are aligned."""


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
    output_format: ReportFormatOption = ReportFormat.TEXT,
    strict: StrictOption = False,
) -> None:
    """Show what a splitter attends to while it writes, and how much to the first entity.

    The folder receives an interactive page and heat maps of source against output. The number is
    the share of all attention that falls on the words of the entity that the source names first;
    uniform attention and copying the references are given for comparison. The entities are those
    of the triples of a source, or else its names.
    """
    loaded = load_splitter(splitter)
    if not isinstance(loaded, AttentiveSplitter):
        raise InputError(f'The splitter "{splitter}" has no attention to show.')
    given = [Example(each, (), str(place)) for place, each in enumerate(sentences or [], start=1)]
    with open_output(None) as out:
        with Progress(None, out) as progress:
            examples = (given or read_evaluation(corpus, strict=strict))[:first]
            if not examples:
                raise InputError("There is nothing to look at; give a sentence or a --corpus.")
            looked: list[Looked] = []
            shares: list[EntityAttention] = []
            for example, entity in zip(examples, _first_entities(examples), strict=True):
                progress.advance(0, 1)
                try:
                    found, numbers = _look(loaded, example, entity)
                except InputError as error:
                    if given:
                        raise
                    warn(f"{example.id} is left out: {error}")
                    continue
                shares += [numbers] if numbers else []
                if len(looked) < pictures:
                    looked.append(found)
        called = name or loaded.name
        title = f"What {called} looks at"
        summary = _summary(called, shares, len(examples))
        report = Report(title, summary, _record(shares, len(examples)))
        if output is not None:
            _write(output, report, looked)
        out.write(report.render(output_format))


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
) -> tuple[Looked, EntityAttention | None]:
    found = splitter.attention(example.source)
    if entity is None:
        return Looked(example.id, found, None, "The source names no entity."), None
    copied = reference_attention(example.source, entity, example.references[:_REFERENCES])
    numbers = entity_attention(found, entity, copied)
    name = " ".join(found.source[slice(*entity)])
    note = f"{_share(numbers.model)} of the attention is on “{name}”, "
    note += f"{_share(numbers.elsewhere)} while other words are written; even attention would give "
    note += f"{_share(numbers.uniform)}"
    if numbers.reference == numbers.reference:
        note += f", copying the references {_share(numbers.reference)}"
    return Looked(example.id, found, entity, f"{note}."), numbers


def _summary(name: str, shares: Sequence[EntityAttention], sources: int) -> list[Block]:
    if not shares:
        return [ReportParagraph("No source names an entity, so there is nothing to measure.")]
    mean = mean_entity_attention(shares)
    rows = [
        (name, _share(mean.model)),
        ("  while other words are written", _share(mean.elsewhere)),
        ("even attention", _share(mean.uniform)),
        ("copying the references", _share(mean.reference)),
    ][: 3 if mean.reference != mean.reference else 4]
    of = f"{len(shares):,} of {sources:,} source{'' if sources == 1 else 's'}"
    return [
        Table(("attention on the first entity", "share"), rows),
        ReportParagraph(f"Means over {of} in which an entity was found."),
    ]


def _write(folder: Path, report: Report, looked: Sequence[Looked]) -> None:
    """Write the page, the pictures and the numbers."""
    made: dict[str, str | bytes] = {
        "attention.html": attention_page(report, looked),
        "attention.json": report.render(ReportFormat.JSON),
    }
    for number, each in enumerate(looked, start=1):
        made[f"attention-{number}.png"] = heatmap_png(each.attention, each.entity)
    write_folder(folder, made)
    warn(f"The page is in {folder / 'attention.html'}.")


def _share(value: float) -> str:
    return f"{value:.3f}" if value == value else NONE


def _record(shares: Sequence[EntityAttention], sources: int) -> dict[str, object]:
    return {"sources": sources, "with_entity": len(shares), **asdict(mean_entity_attention(shares))}


_RECITED_REFERENCES = 4
"""The most references of a source that ``diagnose memorisation`` compares."""
_VERDICT_FORMATS = [
    *(ReportFormat.TEXT, ReportFormat.MARKDOWN, ReportFormat.HTML, ReportFormat.JSON)
]

EntitiesOption = Annotated[
    Path | None,
    typer.Option("--entities", metavar="FILE", help="The entities to probe, one a line."),
]


def memorisation(
    train: Annotated[
        list[str],
        typer.Option(
            "--train", "-t", metavar="CORPUS", help=f"A training set, {CORPUS_HELP} Several times."
        ),
    ],
    rewrites: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="FILES | -",
            show_default=False,
            help="What the splitter wrote, as JSON lines; else it writes now.",
        ),
    ] = None,
    splitter: SplitterOption = None,
    corpus: CorpusOption = None,
    probed: Annotated[
        str | None,
        typer.Option(
            "--probes",
            metavar="FILE",
            help="What the splitter wrote for the probes that `diagnose probes` makes.",
        ),
    ] = None,
    entities: EntitiesOption = None,
    name: NameOption = None,
    first: Annotated[
        int | None,
        typer.Option("--first", "-n", min=1, metavar="N", help="Only N sources and N entities."),
    ] = None,
    output_format: ReportFormatOption = ReportFormat.TEXT,
    output: FolderOption = None,
    strict: StrictOption = False,
) -> None:
    """Find out whether a splitter recites its training set.

    It answers three questions. How many of its simple sentences occur word for word in the
    training set, and how many of these state what their source does not? What does it write about
    an entity that is all of its input, repeated three times? How much of the evaluation set occurs
    in training?

    The entities are those of the triples of the evaluation set, or else of the training set; the
    names in the sources where a corpus has no triples; or those of a file. Probes need the
    splitter, or what it wrote for them (--probes).
    """
    trains = parse_corpora(train)
    files = rewrites or []
    with open_output(None) as out:
        with Progress(None, out) as progress:
            examples = read_evaluation(corpus, strict=strict)
            written = predictions(files, splitter, examples, first, progress)[:first]
            answers = _answers(probed, splitter, entities, examples, trains, first, progress)
            references = list(_references(islice(examples, first)))
            memory = TrainingMemory(
                sentence for each in chain(written, answers, references) for sentence in each.simple
            )
            streams = chain.from_iterable(read_corpus(each, strict=strict) for each in trains)
            overlaps = _overlaps(counting(memory.watch(streams), progress), examples)
        label = parse_corpus(corpus).label if corpus else None
        found = Memorisation(
            name or system_name(splitter, files, written),
            ", ".join(each.label for each in trains),
            label,
            examine(written, memory),
            examine(references, memory) if references else None,
            examine(answers, memory, every_word=True) if answers else None,
            overlaps,
        )
        report = found.document()
        if output is not None:
            made = {f"memorisation{form.suffix}": report.render(form) for form in _VERDICT_FORMATS}
            write_folder(output, made)
            warn(f"The verdict is in {output / 'memorisation.html'}.")
        out.write(report.render(output_format))


def probes(
    corpus: CorpusArgument,
    entities: EntitiesOption = None,
    first: Annotated[
        int | None, typer.Option("--first", "-n", min=1, metavar="N", help="Only N entities.")
    ] = None,
    strict: StrictOption = False,
) -> None:
    """Write the probes of a corpus as JSON lines, for any system to rewrite.

    A probe says the name of an entity three times and nothing else (Aharoni and Goldberg 2018,
    table 3). `parataxis split --format jsonl` rewrites them, and `diagnose memorisation --probes`
    reads the rewrites.
    """
    asked = _entities(entities, [parse_corpus(corpus)], [], most=first, strict=strict)
    with open_output(None) as out:
        for name in asked:
            record = {"id": name, "source": probe_source(name)}
            out.write(json.dumps(record, ensure_ascii=False) + "\n")


def _answers(
    probed: str | None,
    splitter: str | None,
    entities: Path | None,
    examples: Sequence[Example],
    trains: Sequence[Corpus],
    first: int | None,
    progress: Progress,
) -> list[Rewrite]:
    """The rewrites of the probes."""
    if probed is not None:
        return read_stored([probed])
    if splitter is None:
        if entities is not None:
            raise InputError("Name a --splitter to probe with the entities.")
        return []
    asked = _entities(entities, trains, examples, most=first, strict=False)
    return rewrite_all(map(probe_source, asked), splitter, progress)


def _entities(
    file: Path | None,
    corpora: Sequence[Corpus],
    examples: Sequence[Example],
    *,
    most: int | None,
    strict: bool,
) -> list[str]:
    """The first entities of a file, or of the examples, or else of corpora that are read now."""
    if file is not None:
        lines = (text for _, text in read_lines(file, ReadReport(strict=True)))
        found = list(dict.fromkeys(filter(None, map(plain_name, lines))))
        if not found:
            raise InputError(f"There is no entity in {name_of(file)}.")
        return found[:most]
    held: Iterable[Example] = examples
    if not examples:
        held = chain.from_iterable(read_corpus(each, strict=strict) for each in corpora)
    sources: dict[str, None] = {}
    found = triple_entities(_noting(held, sources))
    if found:
        return found[:most]
    found = list(islice(_different(chain.from_iterable(source_names(sources))), most))
    if not found:
        raise InputError("There is no entity to probe; name some with --entities.")
    return found


def _different(names: Iterable[str]) -> Iterator[str]:
    seen: set[str] = set()
    for name in names:
        if name not in seen:
            seen.add(name)
            yield name


def _noting(examples: Iterable[Example], sources: dict[str, None]) -> Iterator[Example]:
    for example in examples:
        if not example.triples:
            sources[example.source] = None
        yield example


def _references(examples: Iterable[Example]) -> Iterator[Rewrite]:
    for example in examples:
        for simple in example.references[:_RECITED_REFERENCES]:
            yield Rewrite(source=example.source, simple=simple, splitter="reference")


def _overlaps(train: Iterable[Example], examples: Sequence[Example]) -> Overlaps | None:
    """Read the training set, and find what it has in common with the evaluation set."""
    found = find_overlaps(train, {"evaluation": examples}, near=1.0)["evaluation"]
    return found if examples else None
