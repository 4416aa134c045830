"""``parataxis study simulate``: a study with invented people, to try it out."""

from collections import defaultdict
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Annotated

import typer

from parataxis.cli.folders import write_folder
from parataxis.cli.study_database import StudyArgument
from parataxis.cli.study_files import read_item_file
from parataxis.cli.tables import plain_table
from parataxis.cli.terminal import open_output, warn
from parataxis.errors import InputError
from parataxis.studies.items import read_items
from parataxis.studies.rubric import load_rubric
from parataxis.studies.study import load_study

__all__ = ["simulate"]

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
