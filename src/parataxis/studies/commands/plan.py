"""``parataxis study budget``, ``simulate``, ``to-platform`` and ``from-platform``."""

import re
import sys
from collections import defaultdict
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from fractions import Fraction
from pathlib import Path
from typing import Annotated

import typer

from parataxis.cli.terminal import warn, write_folder
from parataxis.errors import InputError
from parataxis.report import counted, plain_table
from parataxis.rewrite.jsonl import to_json
from parataxis.studies.budget import TaskBatch, affordable, batches_of
from parataxis.studies.commands.results import read_item_file
from parataxis.studies.commands.setup import StudyArgument
from parataxis.studies.items import Item, ItemKind, read_items
from parataxis.studies.platforms import PLATFORMS
from parataxis.studies.platforms.files import Design, Pseudonyms, key_file, shuffled
from parataxis.studies.platforms.results import ImportedResults, ratings_of, rewrites_of
from parataxis.studies.records import FlaggedSource, Purpose
from parataxis.studies.rubric import load_rubric, writing
from parataxis.studies.study import Study, load_study

_BATCH = re.compile(r"(?P<things>\d+)x(?P<each>\d+)@(?P<price>\d+(\.\d+)?)")


def budget(
    study: Annotated[
        Path | None,
        typer.Argument(
            metavar="[STUDY]",
            help="The YAML file of a study with its payment, instead of the options.",
        ),
    ] = None,
    write: Annotated[
        list[str] | None,
        typer.Option(
            "--write",
            metavar="SOURCESxWRITERS@PRICE",
            help="So many sources, each rewritten by so many people at a price. Can be repeated.",
        ),
    ] = None,
    rate: Annotated[
        list[str] | None,
        typer.Option(
            "--rate",
            metavar="REWRITESxRATERS@PRICE",
            help="So many rewrites, each rated by so many people at a price. Can be repeated.",
        ),
    ] = None,
    fee: Annotated[
        float | None,
        typer.Option(
            min=0,
            metavar="PERCENT",
            help="The platform's fee; by default that of the study, or else none.",
        ),
    ] = None,
    money: Annotated[
        float | None, typer.Option(min=0, metavar="SUM", help="How many answers does this sum buy?")
    ] = None,
    price: Annotated[
        float | None, typer.Option(min=0, help="The price of one answer, for --money.")
    ] = None,
) -> None:
    """Calculate the cost of a study.

    The study of Zhang et al. (2020) is `--write 500x3@0.2 --write 500x3@0.4 --rate 2903x2@0.07
    --fee 25`.
    """
    batches = [(ItemKind.WRITE, _batch(text)) for text in write or ()]
    batches += [(ItemKind.RATE, _batch(text)) for text in rate or ()]
    if study is not None:
        described = load_study(study)
        if described.payment is None:
            raise InputError(f'{study} has no "payment": what a rewrite and a rating cost.')
        batches = batches_of(described, described.payment) + batches
        fee = 100 * described.payment.fee if fee is None else fee
    if not batches and money is None:
        raise InputError(
            "There is nothing to calculate: give a study, --write, --rate, or --money and --price."
        )
    if (money is None) != (price is None) or price == 0:
        raise InputError("--money and --price go together, and the price must be above zero.")
    share = Fraction(str(fee or 0)) / 100
    if batches:
        sys.stdout.write(_table(batches, share))
    if money is not None and price is not None:
        number = affordable(Fraction(str(money)), Fraction(str(price)), share)
        sys.stdout.write(
            f"{money:,.2f} buys {number:,} answers at {price:g} and {fee or 0:g} % fee.\n"
        )


def _batch(text: str) -> TaskBatch:
    found = _BATCH.fullmatch(text.strip())
    if not found:
        raise InputError(f'"{text}" is not like 500x3@0.2: things, answers of each, and price.')
    return TaskBatch(int(found["things"]), int(found["each"]), Fraction(found["price"]))


def _table(batches: list[tuple[ItemKind, TaskBatch]], fee: Fraction) -> str:
    rows = []
    for kind, batch in batches:
        counts = [f"{batch.things:,}", str(batch.each), f"{float(batch.price):g}"]
        rows.append([kind.value, *counts, f"{batch.answers:,}", _cost([batch], fee)])
    for kind in ItemKind:
        same = [batch for each, batch in batches if each is kind]
        if len(same) > 1:
            rows.append([f"all to {kind}", "", "", "", "", _cost(same, fee)])
    rows.append(["total", "", "", "", "", _cost([batch for _, batch in batches], fee)])
    header = ["phase", "things", "answers of each", "price", "answers", "cost with fee"]
    return plain_table(header, rows, right=range(1, 6))


def _cost(batches: Sequence[TaskBatch], fee: Fraction) -> str:
    return f"{float(sum(batch.cost(fee) for batch in batches)):,.2f}"


KEY_SUFFIX = ".platform-key"


class PlatformName(StrEnum):
    """The supported platforms."""

    MTURK = "mturk"
    APPEN = "appen"


PlatformOption = Annotated[PlatformName, typer.Option("--platform", "-p", help="Which platform.")]
PhaseOption = Annotated[
    ItemKind, typer.Option("--phase", help="Do people write rewrites, or rate them?")
]
ItemsOption = Annotated[
    Path | None,
    typer.Option(
        "--items",
        "-i",
        metavar="FILE",
        help="Rewrites to be rated instead of those that the study names, such as the results of "
        "the first phase.",
    ),
]
FolderOption = Annotated[
    Path, typer.Option("--output", "-o", metavar="DIR", help="The folder for the files.")
]


def to_platform(
    study: StudyArgument,
    platform: PlatformOption,
    phase: PhaseOption = ItemKind.RATE,
    items: ItemsOption = None,
    language: Annotated[
        str | None, typer.Option("--language", "-l", help="By default the study's first language.")
    ] = None,
    seed: Annotated[int, typer.Option(help="The seed of the order of the items.")] = 1,
    output: FolderOption = Path("task"),
) -> None:
    """Write a study as the files of a crowd platform: the page of the task, and its items.

    The page loads nothing from elsewhere. Items have opaque ids, and control items are mixed in.
    """
    described, found = _read(study, items, phase)
    tolerances = [part.tolerance for part in (described.attention, described.known) if part]
    design = Design(
        rubric=load_rubric(described.rubric) if phase is ItemKind.RATE else writing(),
        kind=phase,
        language=language or described.languages[0],
        instructions=described.instructions,
        tolerance=max(tolerances, default=0),
    )
    files = PLATFORMS[platform.value].files(design, shuffled(found, seed))
    write_folder(output, files)
    warn(f"{output} has {', '.join(files)}.")


def from_platform(
    study: StudyArgument,
    results: Annotated[
        list[Path],
        typer.Argument(
            metavar="RESULTS...",
            help="The platform's results: batches of MTurk, full reports of Appen.",
        ),
    ],
    platform: PlatformOption,
    phase: PhaseOption = ItemKind.RATE,
    items: ItemsOption = None,
    worker_ids: Annotated[
        bool,
        typer.Option(
            "--worker-ids", help="Keep the platform's ids of workers, which may identify them."
        ),
    ] = False,
    output: FolderOption = Path("results"),
) -> None:
    """Read the results of a crowd platform as ratings, or as rewrites to be rated.

    Rejected work is left out. Workers get pseudonyms, the same in both phases; the key is in a
    file beside the study that should stay private.
    """
    described, found = _read(study, items, phase)
    name = str if worker_ids else Pseudonyms(key_file(study.with_suffix(KEY_SUFFIX)))
    answered = [one for path in results for one in PLATFORMS[platform.value].read(path)]
    if phase is ItemKind.RATE:
        imported = ratings_of(answered, described, load_rubric(described.rubric), found, name)
        rated = [
            item.rewrite.model_copy(update={"id": item.id})
            for item in found
            if item.rewrite is not None and item.purpose is Purpose.ITEM
        ]
        files = {"ratings.jsonl": [rating.model_dump_json() for rating in imported.ratings]}
        files["items.jsonl"] = list(map(to_json, rated))
    else:
        imported = rewrites_of(answered, described, found, name)
        files = {"items.jsonl": list(map(to_json, imported.rewrites))}
        files["flagged.jsonl"] = list(map(FlaggedSource.to_json, imported.flagged))
    _warn_about(imported)
    write_folder(output, {file: "".join(f"{line}\n" for line in ls) for file, ls in files.items()})
    sizes = ", ".join(f"{file} ({counted(len(lines), 'line')})" for file, lines in files.items())
    warn(f"{output} has {sizes}.")


def _read(path: Path, items: Path | None, phase: ItemKind) -> tuple[Study, Sequence[Item]]:
    """Read a study, and its items of a phase."""
    described = load_study(path)
    if items is not None:
        described = described.model_copy(update={"items": items})
    found = [item for item in read_items(described) if item.kind is phase]
    if not any(item.purpose is Purpose.ITEM for item in found):
        missing = "write: sources" if phase is ItemKind.WRITE else "items"
        raise InputError(f'{path} has nothing to {phase}: "{missing}" is missing.')
    return described, found


def _warn_about(imported: ImportedResults) -> None:
    if not (imported.ratings or imported.rewrites or imported.flagged):
        first = imported.notes[0] if imported.notes else "there are no answers."
        raise InputError(f"Nothing in the results can be used: {first}")
    for note in imported.notes:
        warn(note)


DATABASE = "simulated.db"


def simulate(
    study: StudyArgument,
    people: Annotated[int, typer.Option("--people", "-n", min=2, help="How many people.")] = 12,
    seed: Annotated[int, typer.Option(min=0, help="The seed of their habits and answers.")] = 1,
    written: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Rewrites for the writers to choose from, as JSON lines; without them writers "
            "cut sources in two.",
        ),
    ] = None,
    words_only: Annotated[
        bool, typer.Option("--words-only", help="Judge without the analyser: faster, less strict.")
    ] = False,
    output: Annotated[
        Path,
        typer.Option("--output", "-o", metavar="DIR", help="The folder for database and files."),
    ] = Path("simulated"),
) -> None:
    """Simulate a study: writers and raters with different care, one who cheats, one who leaves in
    the middle, one who undoes a submission, and an expert.

    The database and the exported files are written to a folder. The database of the real study is
    not touched.
    """
    from parataxis.checks import Checker
    from parataxis.studies.exports import FILES, export_file
    from parataxis.studies.simulation import Clock, Truth
    from parataxis.studies.simulation import simulate as run
    from parataxis.studies.store import Store
    from parataxis.syntax.analyser import load_trees

    described = load_study(study)
    rubric, items = load_rubric(described.rubric), read_items(described)
    pool = defaultdict(list)
    for rewrite in read_item_file(written) if written else ():
        pool[rewrite.source].append(rewrite.simple)
    if (output / DATABASE).exists():
        raise InputError(f"{output / DATABASE} exists already; name another folder.")
    output.mkdir(parents=True, exist_ok=True)
    clock = Clock(datetime.now(UTC) - timedelta(days=1))  # so that the pages show its pace
    truth = Truth(rubric, seed, Checker(None if words_only else load_trees()))
    with Store.open(str(output / DATABASE), clock=clock) as store:
        store.create(described, items)
        found = run(store, rubric, items, clock, people=people, seed=seed, pool=pool, truth=truth)
        files = {name: export_file(name, store, rubric) for name in FILES}
    write_folder(output, files)
    phases = found.overview.phases
    rows = [
        [kind, f"{phase.wanted:,}", f"{phase.done:,}", f"{phase.surplus:,}", f"{phase.void:,}"]
        for kind, phase in phases.items()
    ]
    header = ["phase", "wanted", "done", "surplus", "void"]
    sys.stdout.write(
        f"{plain_table(header, rows, right=range(1, 5))}\n"
        f"{found.people} people, {found.submissions:,} submissions. "
        f"Abandoned tasks: {found.abandoned}. Undone: {found.undone}. "
        f"Excluded: {found.excluded}. Not qualified: {found.failed}. "
        f"Rated by the expert: {found.expert}.\n"
    )
    if any(phase.done < phase.wanted for phase in phases.values()):
        warn("The study is not finished: more people are needed.")
