"""``parataxis study budget``: what a study costs, and what a sum of money buys."""

import re
import sys
from fractions import Fraction
from typing import Annotated

import typer

from parataxis.cli.tables import plain_table
from parataxis.errors import InputError
from parataxis.studies.budget import Batch, affordable

__all__ = ["budget"]

_BATCH = re.compile(r"(?P<things>\d+)x(?P<each>\d+)@(?P<price>\d+(\.\d+)?)")


def budget(
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
        float, typer.Option(min=0, metavar="PERCENT", help="What the platform takes on top.")
    ] = 0.0,
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
    if not batches and money is None:
        raise InputError("Nothing is to be counted: give --write, --rate, or --money and --price.")
    if (money is None) != (price is None) or price == 0:
        raise InputError("--money and --price go together, and the price must be above zero.")
    share = Fraction(str(fee)) / 100
    if batches:
        sys.stdout.write(_table(batches, share))
    if money is not None and price is not None:
        number = affordable(Fraction(str(money)), Fraction(str(price)), share)
        sys.stdout.write(f"{money:,.2f} buys {number:,} answers at {price:g} and {fee:g} % fee.\n")


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
