"""``parataxis study budget``: what a study costs, and what a sum of money buys."""

import json
import re
import sys
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import asdict
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from fractions import Fraction
from pathlib import Path
from typing import Annotated

import typer

from parataxis.cli.terminal import open_output, warn, write_folder
from parataxis.errors import InputError
from parataxis.report import counted, plain_table
from parataxis.rewrite.jsonl import to_json
from parataxis.studies.budget import TaskBatch, affordable
from parataxis.studies.commands.results import read_item_file
from parataxis.studies.commands.setup import StudyArgument
from parataxis.studies.items import Item, ItemKind, read_items
from parataxis.studies.platforms import (
    PLATFORMS,
    Brought,
    Design,
    PlatformResults,
    Pseudonyms,
    key_file,
    ratings_of,
    rewrites_of,
    shuffled,
)
from parataxis.studies.records import Purpose
from parataxis.studies.rubric import load_rubric, writing
from parataxis.studies.study import Study, load_study

_BATCH = re.compile(r"(?P<things>\d+)x(?P<each>\d+)@(?P<price>\d+(\.\d+)?)")


def budget(
    study: Annotated[
        Path | None,
        typer.Argument(
            metavar="[STUDY]",
            show_default=False,
            help="The YAML file of a study with its payment, instead of the options.",
        ),
    ] = None,
    write: Annotated[
        list[str],
        typer.Option(
            "--write",
            metavar="SOURCESxWRITERS@PRICE",
            show_default=False,
            help="So many sources, each rewritten by so many people at a price; several times.",
        ),
    ] = [],  # noqa: B006  # Typer wants a list
    rate: Annotated[
        list[str],
        typer.Option(
            "--rate",
            metavar="REWRITESxRATERS@PRICE",
            show_default=False,
            help="So many rewrites, each rated by so many people at a price; several times.",
        ),
    ] = [],  # noqa: B006
    fee: Annotated[
        float | None,
        typer.Option(
            min=0,
            metavar="PERCENT",
            show_default=False,
            help="What the platform takes on top; else what the study says, or nothing.",
        ),
    ] = None,
    money: Annotated[
        float | None,
        typer.Option(
            min=0, metavar="SUM", show_default=False, help="How many answers would a sum buy?"
        ),
    ] = None,
    price: Annotated[
        float | None,
        typer.Option(min=0, show_default=False, help="The price of one answer, for --money."),
    ] = None,
) -> None:
    """Tell what a study costs.

    The study of Zhang et al. (2020) is `--write 500x3@0.2 --write 500x3@0.4 --rate 2903x2@0.07
    --fee 25`.
    """
    batches = [("write", _batch(text)) for text in write] + [("rate", _batch(t)) for t in rate]
    if study is not None:
        planned, usual = _planned(study)
        batches = planned + batches
        fee = usual if fee is None else fee
    if not batches and money is None:
        raise InputError(
            "Nothing is to be counted: give a study, --write, --rate, or --money and --price."
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


def _planned(path: Path) -> tuple[list[tuple[str, TaskBatch]], float]:
    """What a study asks for, at the prices that it pays, and its fee in per cent. That every
    writer rewrites and nobody flags is the most that it can cost."""
    study = load_study(path)
    if study.payment is None:
        raise InputError(f'{path} has no "payment": what a rewrite and a rating cost.')
    items = [item for item in read_items(study) if item.purpose is Purpose.ITEM]
    given = sum(item.kind is ItemKind.RATE for item in items)
    sources = len(items) - given
    writers = study.write.writers if study.write else 0
    rewrite, rating = (
        Fraction(str(price)) for price in (study.payment.per_rewrite, study.payment.per_rating)
    )
    batches = [
        ("write", TaskBatch(sources, writers, rewrite)),
        ("rate", TaskBatch(sources * writers, study.raters_of_rewrites, rating)),
        ("rate", TaskBatch(given, study.raters_of_items, rating)),
    ]
    return [(phase, batch) for phase, batch in batches if batch.things], 100 * study.payment.fee


def _batch(text: str) -> TaskBatch:
    found = _BATCH.fullmatch(text.strip())
    if not found:
        raise InputError(f'"{text}" is not like 500x3@0.2: things, answers of each, and price.')
    return TaskBatch(int(found["things"]), int(found["each"]), Fraction(found["price"]))


def _table(batches: list[tuple[str, TaskBatch]], fee: Fraction) -> str:
    rows = [
        [
            phase,
            f"{batch.things:,}",
            str(batch.each),
            f"{float(batch.price):g}",
            f"{batch.answers:,}",
            f"{float(batch.cost(fee)):,.2f}",
        ]
        for phase, batch in batches
    ]
    for phase in ("write", "rate"):
        cost = sum((batch.cost(fee) for name, batch in batches if name == phase), Fraction(0))
        if sum(name == phase for name, _ in batches) > 1:
            rows.append([f"all to {phase}", "", "", "", "", f"{float(cost):,.2f}"])
    total = sum((batch.cost(fee) for _, batch in batches), Fraction(0))
    rows.append(["total", "", "", "", "", f"{float(total):,.2f}"])
    header = ["phase", "things", "answers of each", "price", "answers", "cost with fee"]
    return plain_table(header, rows, right=range(1, 6))


# ``parataxis study to-platform`` and ``from-platform``: a study on Mechanical Turk or Appen.

KEY_SUFFIX = ".platform-key"


class PlatformName(StrEnum):
    """The platforms whose files are known."""

    MTURK = "mturk"
    APPEN = "appen"


PlatformOption = Annotated[
    PlatformName, typer.Option("--platform", "-p", help="Which platform.", show_default=False)
]
PhaseOption = Annotated[
    ItemKind, typer.Option("--phase", help="Do people write rewrites, or rate them?")
]
ItemsOption = Annotated[
    Path | None,
    typer.Option(
        "--items",
        "-i",
        metavar="FILE",
        show_default=False,
        help="Rewrites to be rated instead of those that the study names: what came back from "
        "the first phase, say.",
    ),
]
FolderOption = Annotated[
    Path, typer.Option("--output", "-o", metavar="DIR", help="Where the files go.")
]


def to_platform(
    study: StudyArgument,
    platform: PlatformOption,
    phase: PhaseOption = ItemKind.RATE,
    items: ItemsOption = None,
    language: Annotated[
        str | None,
        typer.Option("--language", "-l", show_default=False, help="Else the study's first."),
    ] = None,
    seed: Annotated[int, typer.Option(help="Of the order of the items.")] = 1,
    output: FolderOption = Path("task"),
) -> None:
    """Write a study as the files of a crowd platform: the page of the task, and its items.

    The page loads nothing from elsewhere. Items have names that tell nothing, and those whose
    answers are known are mixed in.
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
            show_default=False,
            help="What the platform gives: batches of MTurk, full reports of Appen.",
        ),
    ],
    platform: PlatformOption,
    phase: PhaseOption = ItemKind.RATE,
    items: ItemsOption = None,
    worker_ids: Annotated[
        bool,
        typer.Option(
            "--worker-ids",
            help="Keep what the platform calls its workers, which may tell who they are.",
        ),
    ] = False,
    output: FolderOption = Path("results"),
) -> None:
    """Read the results of a crowd platform as ratings, or as rewrites to be rated.

    Rejected work is left out. Workers get other names, the same in both phases; the key to them is
    beside the study, in a file that should stay private.
    """
    described, found = _read(study, items, phase)
    name = str if worker_ids else Pseudonyms(key_file(study.with_suffix(KEY_SUFFIX)))
    read = [PLATFORMS[platform.value].read(path) for path in results]
    every = PlatformResults(
        tuple(one for part in read for one in part.answered), sum(part.rejected for part in read)
    )
    if phase is ItemKind.RATE:
        brought = ratings_of(every, described, load_rubric(described.rubric), found, name)
    else:
        brought = rewrites_of(every, described, found, name)
    _tell(brought)
    files = _lines(brought, phase)
    if phase is ItemKind.RATE:
        files["items.jsonl"] = [
            to_json(item.rewrite.model_copy(update={"id": item.id}))
            for item in found
            if item.rewrite is not None and item.purpose is Purpose.ITEM
        ]
    write_folder(output, {file: "".join(f"{line}\n" for line in ls) for file, ls in files.items()})
    told = ", ".join(f"{file} ({counted(len(lines), 'line')})" for file, lines in files.items())
    warn(f"{output} has {told}.")


def _read(path: Path, items: Path | None, phase: ItemKind) -> tuple[Study, Sequence[Item]]:
    """The study, and its items of a phase."""
    described = load_study(path)
    if items is not None:
        described = described.model_copy(update={"items": items})
    found = [item for item in read_items(described) if item.kind is phase]
    if not any(item.purpose is Purpose.ITEM for item in found):
        missing = "write: sources" if phase is ItemKind.WRITE else "items"
        raise InputError(f'{path} has nothing to {phase}: "{missing}" is missing.')
    return described, found


def _tell(brought: Brought) -> None:
    if not (brought.ratings or brought.rewrites or brought.flagged):
        first = brought.notes[0] if brought.notes else "there are no answers."
        raise InputError(f"Nothing in the results can be used: {first}")
    for note in brought.notes:
        warn(note)


def _lines(brought: Brought, phase: ItemKind) -> dict[str, list[str]]:
    if phase is ItemKind.RATE:
        return {"ratings.jsonl": [rating.model_dump_json() for rating in brought.ratings]}
    flagged = [json.dumps(asdict(each), ensure_ascii=False) for each in brought.flagged]
    return {"items.jsonl": list(map(to_json, brought.rewrites)), "flagged.jsonl": flagged}


# ``parataxis study simulate``: a study with invented people, to try it out.

DATABASE = "simulated.db"


def simulate(
    study: StudyArgument,
    people: Annotated[int, typer.Option("--people", "-n", min=2, help="How many people.")] = 12,
    seed: Annotated[int, typer.Option(min=0, help="Of what they are like, and answer.")] = 1,
    written: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            show_default=False,
            help="Rewrites that writers know, as JSON lines; else they cut sources in two.",
        ),
    ] = None,
    words_only: Annotated[
        bool,
        typer.Option("--words-only", help="Judge without the analyser: faster, less strict."),
    ] = False,
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="DIR", help="Where database and files go.")
    ] = Path("simulated"),
) -> None:
    """Let invented people do a study: writers and raters with more and less care, one who cheats,
    one who leaves in the middle, one who thinks again, and an expert.

    The database and the files that the report reads go into a folder. Nothing touches the database
    of the real study.
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
        raise InputError(f"{output / DATABASE} is there already; name another folder.")
    output.mkdir(parents=True, exist_ok=True)
    clock = Clock(datetime.now(UTC) - timedelta(days=1))  # so that the pages show its pace
    checker = Checker(None if words_only else load_trees())
    with Store.open(str(output / DATABASE), clock=clock) as store:
        store.create(described, items)
        truth = Truth(rubric, seed, checker)
        found = run(store, rubric, items, clock, people=people, seed=seed, pool=pool, truth=truth)
        files = {name: export_file(name, store, rubric) for name in FILES}
    write_folder(output, files)
    rows = [
        [kind, f"{phase.wanted:,}", f"{phase.done:,}", f"{phase.surplus:,}", f"{phase.void:,}"]
        for kind, phase in found.overview.phases.items()
    ]
    with open_output(None) as out:
        out.write(
            plain_table(["phase", "wanted", "done", "surplus", "void"], rows, right=range(1, 5))
        )
        out.write(
            f"\n{found.people} people, {found.submissions:,} submissions. "
            f"Left in the middle of a task: {found.abandoned}. Took one back: {found.undone}. "
            f"Excluded: {found.excluded}. Not qualified: {found.failed}. "
            f"Rated by the expert: {found.expert}.\n"
        )
    if any(phase.done < phase.wanted for phase in found.overview.phases.values()):
        warn("Not all is done: more people are needed.")
