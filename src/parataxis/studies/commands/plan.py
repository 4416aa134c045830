"""``parataxis study budget``, ``simulate``, ``to-platform`` and ``from-platform``."""

import re
import sys
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from parataxis.cli.options import Natural, ReportFormatOption, documented
from parataxis.cli.terminal import warn, write_folder
from parataxis.errors import InputError
from parataxis.report import Block, Report, ReportFormat, ReportParagraph, Table, counted
from parataxis.rewrite.jsonl import read_rewrites, to_json
from parataxis.studies.items import Item, read_items
from parataxis.studies.platforms import PLATFORMS
from parataxis.studies.platforms.files import Design, key_file, opaque, pseudonym, shuffled
from parataxis.studies.platforms.results import ratings_of, rewrites_of
from parataxis.studies.records import FlaggedSource, Purpose
from parataxis.studies.rubric import load_rubric, writing
from parataxis.studies.study import ItemKind, Payment, Study, load_study
from parataxis.text.files import strict_lines

Amount = Annotated[float | None, typer.Option(min=0, max=1e12)]

_BATCH = re.compile(r"(?P<things>\d+)x(?P<each>\d+)@(?P<price>\d+(\.\d+)?)")


@documented
def budget(
    study: Path | None = None,
    write: list[str] | None = None,
    rate: list[str] | None = None,
    fee: Amount = None,
    money: Amount = None,
    price: Amount = None,
    form: ReportFormatOption = ReportFormat.TEXT,
) -> None:
    """Calculate the cost of a study.

    The study of Zhang et al. (2020) is `--write 500x3@0.2 --write 500x3@0.4 --rate 2903x2@0.07
    --fee 25`.

    Options:
    [STUDY]: The YAML file of a study with its payment, instead of the options.
    --write SOURCESxWRITERS@PRICE: So many sources, each rewritten by so many people at a price.
        Can be repeated.
    --rate REWRITESxRATERS@PRICE: So many rewrites, each rated by so many people at a price. Can
        be repeated.
    --fee PERCENT: The platform's fee; by default that of the study, or else none.
    --money SUM: How many answers does this sum buy?
    --price: The price of one answer, for --money.
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
    blocks: list[Block] = [_table(batches, share)] if batches else []
    if money is not None and price is not None:
        number = affordable(Fraction(str(money)), Fraction(str(price)), share)
        buys = f"{money:,.2f} buys {number:,} answers at {price:g} and {fee or 0:g} % fee."
        blocks.append(ReportParagraph(buys))
    sys.stdout.write(Report("Budget", blocks, bare=True).render(form))


@dataclass(frozen=True)
class TaskBatch:
    """Items that each get the same number of answers at the same price: 500 sources with three
    rewrites at 20 cents, 1,500 rewrites with two ratings at 7 cents."""

    things: int
    each: int
    price: Fraction

    @property
    def answers(self) -> int:
        """The number of answers to be paid."""
        return self.things * self.each

    def cost(self, fee: Fraction = Fraction(0)) -> Fraction:
        """The price of all answers, with the platform's fee.

        >>> wiki = TaskBatch(500, 3, Fraction("0.2"))
        >>> contracts = TaskBatch(500, 3, Fraction("0.4"))
        >>> float(wiki.cost(Fraction("0.25")) + contracts.cost(Fraction("0.25")))
        1125.0
        """
        return self.answers * self.price * (1 + fee)


def affordable(money: Fraction, price: Fraction, fee: Fraction = Fraction(0)) -> int:
    """The number of answers that a sum buys at a price.

    >>> affordable(Fraction(508), Fraction("0.07"), Fraction("0.25"))
    5805
    """
    return int(money / (price * (1 + fee)))


def batches_of(study: Study, payment: Payment) -> list[tuple[ItemKind, TaskBatch]]:
    """The work that a study asks for. This is an upper bound: every writer is assumed to rewrite
    every source, and nobody to flag one."""
    items = [item for item in read_items(study) if item.purpose is Purpose.ITEM]
    given = sum(item.kind is ItemKind.RATE for item in items)
    sources, hard = len(items) - given, sum(item.hard for item in items)
    writers = study.write.writers if study.write else 0
    rewrite, rating = Fraction(str(payment.per_rewrite)), Fraction(str(payment.per_rating))
    bonus = Fraction(str(payment.per_hard))
    batches = [
        (ItemKind.WRITE, TaskBatch(sources - hard, writers, rewrite)),
        (ItemKind.WRITE, TaskBatch(hard, writers, rewrite + bonus)),
        (ItemKind.RATE, TaskBatch(sources * writers, study.raters_of_rewrites, rating)),
        (ItemKind.RATE, TaskBatch(given, study.raters_of_items, rating)),
    ]
    return [(kind, batch) for kind, batch in batches if batch.things]


def _batch(text: str) -> TaskBatch:
    found = _BATCH.fullmatch(text.strip())
    if not found:
        raise InputError(f'"{text}" is not like 500x3@0.2: things, answers of each, and price.')
    return TaskBatch(int(found["things"]), int(found["each"]), Fraction(found["price"]))


def _table(batches: list[tuple[ItemKind, TaskBatch]], fee: Fraction) -> Table:
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
    return Table(header, rows)


def _cost(batches: Sequence[TaskBatch], fee: Fraction) -> str:
    return f"{float(sum(batch.cost(fee) for batch in batches)):,.2f}"


KEY_SUFFIX = ".platform-key"


PlatformName = StrEnum("PlatformName", "MTURK APPEN")
"""The supported platforms."""


@documented
def to_platform(
    study: Path,
    platform: PlatformName,
    phase: ItemKind = ItemKind.RATE,
    items: Path | None = None,
    language: str | None = None,
    seed: int = 1,
    output: Path = Path("task"),
) -> None:
    """Write a study as the files of a crowd platform: the page of the task, and its items.

    The page loads nothing from elsewhere. Items have opaque ids, and control items are mixed in.
    The key of the ids is in a file beside the study, which `from-platform` needs.

    Options:
    STUDY: The YAML file of the study.
    --platform, -p: Which platform.
    --phase: Do people write rewrites, or rate them?
    --items, -i FILE: Rewrites to be rated instead of those that the study names, such as the
        results of the first phase.
    --language, -l: By default the study's first language.
    --seed: The seed of the order of the items.
    --output, -o DIR: The folder for the files.
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
    key = key_file(study.with_suffix(KEY_SUFFIX))
    blind = [replace(item, id=opaque(item.id, key)) for item in found]
    files = PLATFORMS[platform.value].files(design, shuffled(blind, seed))
    write_folder(output, files)
    warn(f"{output} has {', '.join(files)}.")


@documented
def from_platform(
    study: Path,
    results: list[Path],
    platform: PlatformName,
    phase: ItemKind = ItemKind.RATE,
    items: Path | None = None,
    worker_ids: bool = False,
    output: Path = Path("results"),
) -> None:
    """Read the results of a crowd platform as ratings, or as rewrites to be rated.

    Rejected work is left out. Workers get pseudonyms, the same in both phases; the key is in a
    file beside the study that should stay private.

    Options:
    STUDY: The YAML file of the study.
    RESULTS...: The platform's results: batches of MTurk, full reports of Appen.
    --platform, -p: Which platform.
    --phase: Do people write rewrites, or rate them?
    --items, -i FILE: Rewrites to be rated instead of those that the study names, such as the
        results of the first phase.
    --worker-ids: Keep the platform's ids of workers, which may identify them.
    --output, -o DIR: The folder for the files.
    """
    described, found = _read(study, items, phase)
    key = key_file(study.with_suffix(KEY_SUFFIX))
    name = str if worker_ids else partial(pseudonym, key=key)
    ids = {opaque(item.id, key): item.id for item in found}
    answered = [
        replace(one, item=ids.get(one.item, one.item))
        for path in results
        for one in PLATFORMS[platform.value].read(path)
    ]
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
    if not (imported.ratings or imported.rewrites or imported.flagged):
        first = imported.notes[0] if imported.notes else "there are no answers."
        raise InputError(f"Nothing in the results can be used: {first}")
    for note in imported.notes:
        warn(note)
    write_folder(output, {file: "".join(f"{line}\n" for line in ls) for file, ls in files.items()})
    sizes = ", ".join(f"{file} ({counted(len(lines), 'line')})" for file, lines in files.items())
    warn(f"{output} has {sizes}.")


def _read(path: Path, items: Path | None, phase: ItemKind) -> tuple[Study, Sequence[Item]]:
    described = load_study(path)
    if items is not None:
        described = described.model_copy(update={"items": items})
    found = [item for item in read_items(described) if item.kind is phase]
    if phase is ItemKind.WRITE:  # a platform has qualifications of its own
        found = [item for item in found if item.purpose is Purpose.ITEM]
    if not any(item.purpose is Purpose.ITEM for item in found):
        missing = "write: sources" if phase is ItemKind.WRITE else "items"
        raise InputError(f'{path} has nothing to {phase}: "{missing}" is missing.')
    return described, found


DATABASE = "simulated.db"


@documented
def simulate(
    study: Path,
    people: Annotated[int, typer.Option(min=2)] = 12,
    seed: Natural = 1,
    written: Path | None = None,
    words_only: bool = False,
    form: ReportFormatOption = ReportFormat.TEXT,
    output: Path = Path("simulated"),
) -> None:
    """Simulate a study: writers and raters with different care, one who cheats, one who leaves in
    the middle, one who undoes a submission, and an expert.

    The database and the exported files are written to a folder. The database of the real study is
    not touched.

    Options:
    STUDY: The YAML file of the study.
    --people, -n: How many people.
    --seed: The seed of their habits and answers.
    --written FILE: Rewrites for the writers to choose from, as JSON lines; without them writers
        cut sources in two.
    --words-only: Judge without the analyser: faster, less strict.
    --output, -o DIR: The folder for database and files.
    """
    from parataxis.checks import Checker
    from parataxis.studies.simulation import Clock, Truth
    from parataxis.studies.simulation import simulate as run
    from parataxis.studies.store import FILES, Store, export_file
    from parataxis.syntax.analyser import load_trees

    described = load_study(study)
    rubric, items = load_rubric(described.rubric), read_items(described)
    pool = defaultdict(list)
    for rewrite in read_rewrites(strict_lines(written), str(written)) if written else ():
        pool[rewrite.source].append(rewrite.simple)
    if (output / DATABASE).exists():
        raise InputError(f"{output / DATABASE} exists already; name another folder.")
    output.mkdir(parents=True, exist_ok=True)
    clock = Clock(datetime.now(UTC) - timedelta(days=1))  # so that the pages show its pace
    truth = Truth(rubric, seed, Checker(None if words_only else load_trees()))
    with Store.open(str(output / DATABASE), clock=clock) as store:
        store.create(described, items, rubric)
        found = run(store, rubric, items, clock, people=people, seed=seed, pool=pool, truth=truth)
        files = {name: export_file(name, store, rubric) for name in FILES}
    write_folder(output, files)
    phases = found.overview.phases
    rows = [
        [kind, f"{phase.wanted:,}", f"{phase.done:,}", f"{phase.surplus:,}", f"{phase.void:,}"]
        for kind, phase in phases.items()
    ]
    happened = (
        f"{found.people} people, {found.submissions:,} submissions. "
        f"Abandoned tasks: {found.abandoned}. Undone: {found.undone}. "
        f"Excluded: {found.excluded}. Not qualified: {found.failed}. "
        f"Rated by the expert: {found.expert}."
    )
    table = Table(["phase", "wanted", "done", "surplus", "void"], rows)
    report = Report("Simulated study", [table, ReportParagraph(happened)], bare=True)
    sys.stdout.write(report.render(form))
    if any(phase.done < phase.wanted for phase in phases.values()):
        warn("The study is not finished: more people are needed.")
