"""``parataxis diagnose memorisation``: does a splitter read, or does it recite?"""

import json
from collections.abc import Iterable, Iterator, Sequence
from enum import StrEnum
from itertools import chain, islice
from pathlib import Path
from typing import Annotated

import typer

from parataxis.cli.corpus_inputs import (
    CORPUS_HELP,
    CorpusArgument,
    StrictOption,
    counting,
    parse_corpora,
    read_corpus,
)
from parataxis.cli.diagnose_inputs import (
    CorpusOption,
    FolderOption,
    NameOption,
    SplitterOption,
    predictions,
    read_evaluation,
    read_stored,
    rewrite_all,
    system_name,
)
from parataxis.cli.documents import document_text
from parataxis.cli.folders import write_folder
from parataxis.cli.terminal import Progress, open_output, warn
from parataxis.corpora.choose import Corpus, parse_corpus
from parataxis.corpora.example import Example
from parataxis.corpora.files import name_of, read_lines
from parataxis.corpora.leaks import Overlaps, find_overlaps
from parataxis.corpora.protocol import Report
from parataxis.errors import InputError
from parataxis.reports.diagnostics.entities import plain_name, source_names, triple_entities
from parataxis.reports.diagnostics.memorisation import Memory, examine, probe_source
from parataxis.reports.diagnostics.verdict import Memorisation
from parataxis.rewrite.record import Rewrite

__all__ = ["memorisation", "probes"]

_REFERENCES = 4
"""So many references of a source are looked at, where a corpus has more."""


class VerdictFormat(StrEnum):
    """How the verdict is written."""

    TEXT = "text"
    MARKDOWN = "markdown"
    HTML = "html"
    JSON = "json"


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
    output_format: Annotated[
        VerdictFormat, typer.Option("--format", "-f", help="How the verdict is written.")
    ] = VerdictFormat.TEXT,
    output: FolderOption = None,
    strict: StrictOption = False,
) -> None:
    """Tell whether a splitter recites its training set.

    Three questions are put. How many of its simple sentences stand word for word in the training
    set, and how many of these say what their source does not? What does it say about an entity
    that is all of its input, three times over? And what of the evaluation set stands in training?

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
            memory = Memory(
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
        forms = {
            VerdictFormat.TEXT: document_text(found.document()),
            VerdictFormat.MARKDOWN: found.document().as_markdown(),
            VerdictFormat.HTML: found.document().as_html(),
            VerdictFormat.JSON: _json(found),
        }
        if output is not None:
            write_folder(output, {f"memorisation.{_SUFFIXES[form]}": forms[form] for form in forms})
            warn(f"The verdict is in {output / 'memorisation.html'}.")
        out.write(forms[output_format])


_SUFFIXES = {
    VerdictFormat.TEXT: "txt",
    VerdictFormat.MARKDOWN: "md",
    VerdictFormat.HTML: "html",
    VerdictFormat.JSON: "json",
}


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
    """What comes out where an entity goes in."""
    if probed is not None:
        return read_stored([probed])
    if splitter is None:
        if entities is not None:
            raise InputError("Who should be asked about the entities? Name a --splitter.")
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
        lines = (text for _, text in read_lines(file, Report(strict=True)))
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
        for simple in example.references[:_REFERENCES]:
            yield Rewrite(source=example.source, simple=simple, splitter="reference")


def _overlaps(train: Iterable[Example], examples: Sequence[Example]) -> Overlaps | None:
    """Let the training set pass; tell what of the evaluation set is in it."""
    found = find_overlaps(train, {"evaluation": examples}, near=1.0)["evaluation"]
    return found if examples else None


def _json(found: Memorisation) -> str:
    from parataxis.cli.corpus_leaks import overlap_records

    overlaps = overlap_records(found.overlaps) if found.overlaps else None
    record = {**found.record(), "overlaps": overlaps}
    return json.dumps(record, ensure_ascii=False, indent=1) + "\n"
