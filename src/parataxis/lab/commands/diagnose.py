"""``parataxis diagnose``: does a splitter read its source or reproduce its training set, what does
it attend to, and which errors does it make?"""

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import chain, islice
from pathlib import Path
from typing import Annotated

import typer

from parataxis.api import Splitter, with_findings
from parataxis.cli.options import Natural, OptionalCount, ReportFormatOption, documented
from parataxis.cli.terminal import Output, Progress, warn, write_folder
from parataxis.errors import InputError
from parataxis.evaluate.commands.corpus import (
    CORPUS_HELP,
    CorpusArgument,
    StrictOption,
    counting,
    parse_corpora,
    read_corpus,
)
from parataxis.evaluate.corpora.example import Example, gather
from parataxis.evaluate.corpora.leaks import find_overlaps
from parataxis.evaluate.corpora.registry import Corpus, parse_corpus
from parataxis.lab.diagnose import attention as looking
from parataxis.lab.diagnose.memorisation import (
    Memorisation,
    TrainingMemory,
    examine,
    find_entity,
    plain_name,
    probe_source,
    source_names,
    triple_entities,
)
from parataxis.lab.diagnose.sheet import (
    ErrorTally,
    SheetLine,
    as_sheet,
    error_report,
    marked,
    read_sheet,
    sheet_page,
    tallies,
)
from parataxis.report import ReportFormat
from parataxis.rewrite.jsonl import UNKNOWN_SPLITTER, read_rewrites
from parataxis.rewrite.record import Rewrite
from parataxis.splitters.registry import AttentiveSplitter, load_splitter
from parataxis.syntax.analysis import Analysis
from parataxis.text.files import STREAM, name_of, strict_lines
from parataxis.text.inputs import named_file

SplitterOption = Annotated[
    str | None,
    typer.Option(
        "--splitter", "-s", metavar="NAME", help="The splitter to look at; NAME:DIR with a model."
    ),
]
CorpusOption = Annotated[
    str | None,
    typer.Option("--corpus", "-c", metavar="CORPUS", help=f"The evaluation set, {CORPUS_HELP}"),
]
FolderOption = Annotated[
    Path | None,
    typer.Option("--output", "-o", metavar="DIR", help="Also write every form into this folder."),
]
NameOption = Annotated[
    str | None, typer.Option("--name", metavar="NAME", help="What to call the splitter.")
]
EntitiesOption = Annotated[
    Path | None,
    typer.Option("--entities", metavar="FILE", help="The entities to probe, one a line."),
]

_ERROR_SOURCES = 20
"""Aharoni and Goldberg (2018, table 7) read the rewrites of 20 sources."""
_RECITED_REFERENCES = 4
"""The most references of a source that ``diagnose memorisation`` compares."""
_VERDICT_FORMATS = (
    *(ReportFormat.TEXT, ReportFormat.MARKDOWN, ReportFormat.HTML, ReportFormat.JSON),
)


@documented
def attention(
    sentences: list[str] | None = None,
    splitter: str = "pointer",
    corpus: CorpusOption = None,
    name: NameOption = None,
    first: OptionalCount = None,
    pictures: Natural = 5,
    output: FolderOption = None,
    output_format: ReportFormatOption = ReportFormat.TEXT,
    strict: StrictOption = False,
) -> None:
    """Show what a splitter attends to while it writes, and how much to the first entity.

    The folder receives an interactive page and heat maps of source against output. The number is
    the share of all attention that falls on the words of the entity that the source names first;
    uniform attention and copying the references are given for comparison. The entities are those
    of the triples of a source, or else its names.

    Options:
    SENTENCE...: Sentences, in quotes.
    --splitter, -s NAME: pointer, seq2seq:DIR or copynet:DIR.
    --first, -n N: Only the first N sources.
    --pictures N: How many rewrites to draw.
    """
    loaded = load_splitter(splitter)
    if not isinstance(loaded, AttentiveSplitter):
        raise InputError(f'The splitter "{splitter}" has no attention to show.')
    given = [Example(each, (), str(place)) for place, each in enumerate(sentences or [], start=1)]
    out = Output()
    with Progress(None, out) as progress:
        examples = (given or _read_evaluation(corpus, strict=strict))[:first]
        if not examples:
            raise InputError("There is nothing to look at; give a sentence or a --corpus.")
        looked = []
        for example, known in zip(examples, _known_entities(examples), strict=True):
            progress.advance(0, 1)
            try:
                found = loaded.attention(example.source)
            except InputError as error:
                if given:
                    raise
                warn(f"{example.id} is left out: {error}")
                continue
            looked.append(looking.look(example, found, find_entity(found.source, known)))
    report = looking.attention_report(name or loaded.name, looked, len(examples))
    if output is not None:
        made: dict[str, str | bytes] = {
            "attention.html": looking.attention_page(report, looked[:pictures]),
            "attention.json": report.render(ReportFormat.JSON),
        }
        for number, each in enumerate(looked[:pictures], start=1):
            made[f"attention-{number}.png"] = looking.heatmap_png(each.attention, each.entity)
        write_folder(output, made)
        warn(f"The page is in {output / 'attention.html'}.")
    out.write(report.render(output_format))


def _known_entities(examples: Sequence[Example]) -> Iterator[list[str]]:
    """The entities of each source: those of its triples if it names one, else its names."""
    named = [triple_entities([each]) for each in examples]
    found = [
        known if find_entity(example.source.split(), known) else []
        for known, example in zip(named, examples, strict=True)
    ]
    pairs = zip(examples, found, strict=True)
    names = source_names(example.source for example, known in pairs if not known)
    return (known or next(names) for known in found)


@documented
def memorisation(
    rewrites: list[str] | None = None,
    *,
    train: list[str],
    splitter: SplitterOption = None,
    corpus: CorpusOption = None,
    probes: str | None = None,
    entities: EntitiesOption = None,
    name: NameOption = None,
    first: OptionalCount = None,
    output_format: ReportFormatOption = ReportFormat.TEXT,
    output: FolderOption = None,
    strict: StrictOption = False,
) -> None:
    """Find out whether a splitter has memorised its training set.

    It answers three questions. How many of its simple sentences occur word for word in the
    training set, and how many of these state what their source does not? What does it write about
    an entity that is all of its input, repeated three times? How much of the evaluation set occurs
    in training?

    The entities are those of the triples of the evaluation set, or else of the training set; the
    names in the sources where a corpus has no triples; or those of a file. Probes need the
    splitter, or what it wrote for them (--probes).

    Options:
    FILES | -: What the splitter wrote, as JSON lines; else it writes now.
    --train, -t CORPUS: A training set, FORMAT:FILE,FILE (see `parataxis corpus formats`); the
        format may be left out where the names of the files tell it, and - is standard input.
        Can be repeated.
    --probes FILE: What the splitter wrote for the probes that `diagnose probes` makes.
    --first, -n N: Only N sources and N entities.
    """
    trains = parse_corpora(train)
    files = rewrites or []
    out = Output()
    with Progress(None, out) as progress:
        examples = _read_evaluation(corpus, strict=strict)
        written = _predictions(files, splitter, examples, first, progress)[:first]
        answers: list[Rewrite] = []
        if probes is not None:
            answers = _read_stored([probes])
        elif splitter is not None:
            asked = _entities(entities, trains, examples, most=first, strict=False)
            answers = list(counting(Splitter(splitter).pipe(map(probe_source, asked)), progress))
        elif entities is not None:
            raise InputError("Name a --splitter to probe with the entities.")
        references = [
            Rewrite(source=example.source, simple=simple, splitter="reference")
            for example in islice(examples, first)
            for simple in example.references[:_RECITED_REFERENCES]
        ]
        memory = TrainingMemory(
            sentence for each in chain(written, answers, references) for sentence in each.simple
        )
        streams = chain.from_iterable(read_corpus(each, strict=strict) for each in trains)
        seen = counting(memory.watch(streams), progress)
        overlaps = find_overlaps(seen, {"evaluation": examples}, near=1.0)["evaluation"]
    report = Memorisation(
        name or _system_name(splitter, files, written),
        ", ".join(each.label for each in trains),
        parse_corpus(corpus).label if corpus else None,
        examine(written, memory),
        examine(references, memory) if references else None,
        examine(answers, memory, every_word=True) if answers else None,
        overlaps if examples else None,
    ).document()
    if output is not None:
        made = {f"memorisation{form.suffix}": report.render(form) for form in _VERDICT_FORMATS}
        write_folder(output, made)
        warn(f"The verdict is in {output / 'memorisation.html'}.")
    out.write(report.render(output_format))


@documented
def probes(
    corpus: CorpusArgument,
    entities: EntitiesOption = None,
    first: OptionalCount = None,
    strict: StrictOption = False,
) -> None:
    """Write the probes of a corpus as JSON lines, for any system to rewrite.

    A probe says the name of an entity three times and nothing else (Aharoni and Goldberg 2018,
    table 3). `parataxis split --format jsonl` rewrites them, and `diagnose memorisation --probes`
    reads the rewrites.

    Options:
    --first, -n N: Only N entities.
    """
    asked = _entities(entities, [parse_corpus(corpus)], [], most=first, strict=strict)
    out = Output()
    for name in asked:
        record = {"id": name, "source": probe_source(name)}
        out.write(json.dumps(record, ensure_ascii=False) + "\n")


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
        found = list(dict.fromkeys(filter(None, map(plain_name, strict_lines(file)))))
        if not found:
            raise InputError(f"There is no entity in {name_of(file)}.")
        return found[:most]
    bare: dict[str, None] = {}

    def noting() -> Iterator[Example]:
        for example in examples or chain.from_iterable(
            read_corpus(each, strict=strict) for each in corpora
        ):
            if not example.triples:
                bare[example.source] = None
            yield example

    named: dict[str, None] = dict.fromkeys(triple_entities(noting()))
    if not named:
        for names in source_names(bare):
            named |= dict.fromkeys(names)
            if most is not None and len(named) >= most:
                break
    if not named:
        raise InputError("There is no entity to probe; name some with --entities.")
    return list(islice(named, most))


@documented
def errors(
    rewrites: list[str] | None = None,
    splitter: SplitterOption = None,
    corpus: CorpusOption = None,
    name: NameOption = None,
    first: Natural = _ERROR_SOURCES,
    output: Path | None = None,
    output_format: ReportFormatOption = ReportFormat.TEXT,
) -> None:
    """Count correct, unsupported, repeated and missing facts, and make a sheet to correct them on.

    The checks mark each simple sentence and each fact that is missing; a person corrects the
    sheet, and `parataxis diagnose table` makes the table of it. Where the corpus has references, a
    word that one of them has is no new fact, and what none of them says is not missing.

    Options:
    [NAME=]FILE... | -: What systems wrote, as JSON lines, a file for each.
    --first, -n N: The first N sources; 0: all.
    --output, -o DIR: Write the sheet into this folder: errors.html for the browser, errors.csv for
        a spreadsheet.
    """
    from parataxis.syntax.analyser import load_trees  # slow, and `--help` does without

    out = Output()
    with Progress(None, out) as progress:
        examples = _read_evaluation(corpus)
        references = {each.source: each.references for each in examples}
        lines: list[SheetLine] = []
        sources: set[str] = set()
        for called, file in [named_file(each) for each in rewrites or []] or [("", "")]:
            files = [file] if file else []
            written = _predictions(files, splitter, examples, first or None, progress)
            system = called or name or _system_name(splitter, files, written)
            different: dict[str, Rewrite] = {}
            for each in written:
                different.setdefault(each.source, each)
            if len(different) < len({(each.source, each.simple) for each in written}):
                warn(f"{system} rewrites a source in several ways; only the first counts.")
            sources = sources or set(islice(different, first or None))
            chosen = [each for source, each in different.items() if source in sources]
            analyses = load_trees().pipe(each.source for each in chosen)
            checked = counting(with_findings(chosen), progress)
            for each, found in zip(checked, analyses, strict=True):
                analysis = found if isinstance(found, Analysis) else None
                lines += marked(each, system, references.get(each.source, ()), analysis)
    if output is not None:
        title = f"Errors of {', '.join(dict.fromkeys(line.system for line in lines))}"
        made = {"errors.csv": as_sheet(lines), "errors.html": sheet_page(title, lines)}
        write_folder(output, made)
        warn(f"The sheet is in {output / 'errors.html'} and {output / 'errors.csv'}.")
    out.write(error_report(tallies(lines)).render(output_format))


@documented
def table(
    sheets: list[Path],
    output_format: ReportFormatOption = ReportFormat.TEXT,
) -> None:
    """Make the table of errors from corrected sheets.

    A row says how many simple sentences of a system are unsupported, repeated and correct, how
    many facts are missing, and how many lines are marked as the checks had marked them.

    Options:
    SHEET...: Sheets, CSV, that were corrected.
    """
    if sheets.count(STREAM) > 1:
        raise InputError("Standard input (-) can be read only once.")
    found: list[tuple[Path, ErrorTally]] = []
    for path in sheets:
        text = "".join(f"{line}\n" for line in strict_lines(path))
        found += [(path, each) for each in tallies(read_sheet(text, name_of(path)))]
    # Where two sheets are about one system, each is named after its sheet, too.
    names = [tally.system for _, tally in found]
    distinct = [
        replace(each, system=f"{each.system} ({path.stem})")
        if names.count(each.system) > 1
        else each
        for path, each in found
    ]
    Output().write(error_report(distinct).render(output_format))


def _read_evaluation(corpus: str | None, *, strict: bool = False) -> list[Example]:
    """The evaluation set, an example for each source."""
    return gather(read_corpus(parse_corpus(corpus), strict=strict)) if corpus else []


def _read_stored(files: Sequence[str]) -> list[Rewrite]:
    """The rewrites in files of JSON lines, plain or packed; - is standard input."""
    if list(files).count(str(STREAM)) > 1:
        raise InputError("Standard input (-) can be read only once.")
    found: list[Rewrite] = []
    for path in map(Path, files):
        if path != STREAM and not path.exists():
            raise InputError(f"There is no file {path}.")
        found += read_rewrites(strict_lines(path), name_of(path))
    if files and not found:
        raise InputError(f"There is no rewrite in {', '.join(files)}.")
    return found


def _predictions(
    files: Sequence[str],
    splitter: str | None,
    examples: Sequence[Example],
    first: int | None,
    progress: Progress,
) -> list[Rewrite]:
    """What a system wrote: all that is stored in files, or what the splitter writes now for the
    first sources."""
    if files:
        return _read_stored(files)
    if splitter is None:
        raise InputError("There is nothing to look at; name files of rewrites, or a --splitter.")
    if not examples:
        raise InputError("The splitter needs sources; name an evaluation set with --corpus.")
    chosen = examples[:first]
    written = Splitter(splitter).pipe(each.source for each in chosen)
    return [
        rewrite.model_copy(update={"id": example.id})
        for rewrite, example in zip(counting(written, progress), chosen, strict=True)
    ]


def _system_name(splitter: str | None, files: Sequence[str], rewrites: Iterable[Rewrite]) -> str:
    """What to call a system: as its rewrites do, or after their file."""
    if splitter and not files:
        return splitter.partition(":")[0]
    names = list(dict.fromkeys(each.splitter for each in rewrites))
    if len(names) == 1 and names[0] != UNKNOWN_SPLITTER:
        return names[0]
    stem = Path(files[0]).name.partition(".")[0] if files and files[0] != str(STREAM) else ""
    return stem or "the system"
