"""``parataxis study budget``: what a study costs, and what a sum of money buys."""

import re
import sys
from fractions import Fraction
from pathlib import Path
from typing import Annotated

import typer

from parataxis.cli.tables import plain_table
from parataxis.errors import InputError
from parataxis.studies.budget import Batch, affordable
from parataxis.studies.items import Kind, read_items
from parataxis.studies.records import Purpose
from parataxis.studies.study import load_study

__all__ = ["budget"]

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


def _planned(path: Path) -> tuple[list[tuple[str, Batch]], float]:
    """What a study asks for, at the prices that it pays, and its fee in per cent. That every
    writer rewrites and nobody flags is the most that it can cost."""
    study = load_study(path)
    if study.payment is None:
        raise InputError(f'{path} has no "payment": what a rewrite and a rating cost.')
    items = [item for item in read_items(study) if item.purpose is Purpose.ITEM]
    given = sum(item.kind is Kind.RATE for item in items)
    sources = len(items) - given
    writers = study.write.writers if study.write else 0
    rewrite, rating = (
        Fraction(str(price)) for price in (study.payment.per_rewrite, study.payment.per_rating)
    )
    batches = [
        ("write", Batch(sources, writers, rewrite)),
        ("rate", Batch(sources * writers, study.raters_of_rewrites, rating)),
        ("rate", Batch(given, study.raters_of_items, rating)),
    ]
    return [(phase, batch) for phase, batch in batches if batch.things], 100 * study.payment.fee


def _batch(text: str) -> Batch:
    found = _BATCH.fullmatch(text.strip())
    if not found:
        raise InputError(f'"{text}" is not like 500x3@0.2: things, answers of each, and price.')
    return Batch(int(found["things"]), int(found["each"]), Fraction(found["price"]))


def _table(batches: list[tuple[str, Batch]], fee: Fraction) -> str:
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
