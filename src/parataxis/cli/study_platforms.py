"""``parataxis study to-platform`` and ``from-platform``: a study on Mechanical Turk or Appen."""

import json
from collections.abc import Sequence
from dataclasses import asdict
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from parataxis.cli.folders import write_folder
from parataxis.cli.study_database import StudyArgument
from parataxis.cli.tables import counted
from parataxis.cli.terminal import warn
from parataxis.errors import InputError
from parataxis.rewrite.jsonl import to_json
from parataxis.studies.items import Item, Kind, read_items
from parataxis.studies.platforms import (
    PLATFORMS,
    Brought,
    Design,
    Pseudonyms,
    Results,
    key_file,
    ratings_of,
    rewrites_of,
    shuffled,
)
from parataxis.studies.records import Purpose
from parataxis.studies.rubric import load_rubric, writing
from parataxis.studies.study import Study, load_study

__all__ = ["from_platform", "to_platform"]

KEY_SUFFIX = ".platform-key"


class PlatformName(StrEnum):
    """The platforms whose files are known."""

    MTURK = "mturk"
    APPEN = "appen"


PlatformOption = Annotated[
    PlatformName, typer.Option("--platform", "-p", help="Which platform.", show_default=False)
]
PhaseOption = Annotated[
    Kind, typer.Option("--phase", help="Do people write rewrites, or rate them?")
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
    phase: PhaseOption = Kind.RATE,
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
        rubric=load_rubric(described.rubric) if phase is Kind.RATE else writing(),
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
    phase: PhaseOption = Kind.RATE,
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
    every = Results(
        tuple(one for part in read for one in part.answered), sum(part.rejected for part in read)
    )
    if phase is Kind.RATE:
        brought = ratings_of(every, described, load_rubric(described.rubric), found, name)
    else:
        brought = rewrites_of(every, described, found, name)
    _tell(brought)
    files = _lines(brought, phase)
    if phase is Kind.RATE:
        files["items.jsonl"] = [
            to_json(item.rewrite.model_copy(update={"id": item.id}))
            for item in found
            if item.rewrite is not None and item.purpose is Purpose.ITEM
        ]
    write_folder(output, {file: "".join(f"{line}\n" for line in ls) for file, ls in files.items()})
    told = ", ".join(f"{file} ({counted(len(lines), 'line')})" for file, lines in files.items())
    warn(f"{output} has {told}.")


def _read(path: Path, items: Path | None, phase: Kind) -> tuple[Study, Sequence[Item]]:
    """The study, and its items of a phase."""
    described = load_study(path)
    if items is not None:
        described = described.model_copy(update={"items": items})
    found = [item for item in read_items(described) if item.kind is phase]
    if not any(item.purpose is Purpose.ITEM for item in found):
        missing = "write: sources" if phase is Kind.WRITE else "items"
        raise InputError(f'{path} has nothing to {phase}: "{missing}" is missing.')
    return described, found


def _tell(brought: Brought) -> None:
    if not (brought.ratings or brought.rewrites or brought.flagged):
        first = brought.notes[0] if brought.notes else "there are no answers."
        raise InputError(f"Nothing in the results can be used: {first}")
    for note in brought.notes:
        warn(note)


def _lines(brought: Brought, phase: Kind) -> dict[str, list[str]]:
    if phase is Kind.RATE:
        return {"ratings.jsonl": [rating.model_dump_json() for rating in brought.ratings]}
    flagged = [json.dumps(asdict(each), ensure_ascii=False) for each in brought.flagged]
    return {"items.jsonl": list(map(to_json, brought.rewrites)), "flagged.jsonl": flagged}
