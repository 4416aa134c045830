"""Agreement of raters, against published values and by hand."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from parataxis.studies.agreement import (
    MeasurementLevel,
    Table,
    alpha,
    pairwise,
    raters_against_rest,
)

# The example of Krippendorff (2011), section C: four observers, twelve units, some not rated.
KRIPPENDORFF = [
    "1 2 3 3 2 1 4 1 2 . . .",
    "1 2 3 3 2 2 4 1 2 5 . 3",
    ". 3 3 3 2 3 4 2 2 5 1 .",
    "1 2 3 3 2 4 4 1 2 5 1 .",
]


def table_of(rows: list[str]) -> Table:
    table: dict[str, dict[str, float]] = {}
    for rater, row in enumerate(rows):
        for item, value in enumerate(row.split()):
            if value != ".":
                table.setdefault(str(item), {})[str(rater)] = float(value)
    return table


@pytest.mark.parametrize(
    ("level", "value"),
    [
        (MeasurementLevel.NOMINAL, 0.743),
        (MeasurementLevel.ORDINAL, 0.815),
        (MeasurementLevel.INTERVAL, 0.849),
    ],
)
def test_alpha_published_values(level: MeasurementLevel, value: float) -> None:
    found = alpha(table_of(KRIPPENDORFF), level)
    assert found.value == pytest.approx(value, abs=0.0005)
    assert (found.items, found.ratings) == (11, 40)  # the last unit has one rating only


def test_alpha_explains_itself_where_it_is_undefined() -> None:
    assert (
        alpha({"a": {"x": 1.0}}, MeasurementLevel.NOMINAL).reason
        == "no item was rated by two people"
    )
    same = alpha({"a": {"x": 5, "y": 5}, "b": {"x": 5, "y": 5}}, MeasurementLevel.ORDINAL)
    assert same.value is None
    assert same.reason == "all 4 ratings are the same, so that chance would agree as well"


def test_alpha_chance_is_near_zero_and_its_interval_holds_it() -> None:
    chance = random.Random(1)
    table = {str(item): {r: float(chance.randint(0, 1)) for r in "xyz"} for item in range(300)}
    found = alpha(table, MeasurementLevel.NOMINAL, trials=200)
    assert found.value is not None
    assert found.low is not None
    assert found.high is not None
    assert abs(found.value) < 0.1
    assert found.low < found.value < found.high


@given(st.lists(st.lists(st.integers(0, 5), min_size=2, max_size=4), min_size=1, max_size=8))
def test_alpha_does_not_depend_on_who_said_it_and_is_at_most_one(units: list[list[int]]) -> None:
    table = {str(n): {str(r): float(v) for r, v in enumerate(u)} for n, u in enumerate(units)}
    turned = {
        str(n): {str(r): float(v) for r, v in enumerate(reversed(u))} for n, u in enumerate(units)
    }
    for level in MeasurementLevel:
        found, other = alpha(table, level).value, alpha(turned, level).value
        assert (found is None) == (other is None)
        if found is not None:
            assert found == pytest.approx(other)
            assert found <= 1.0 + 1e-9


def test_pairwise_counts_pairs_of_one_item() -> None:
    table = {"a": {"x": 1.0, "y": 1.0, "z": 0.0}, "b": {"x": 1.0, "y": 1.0}, "c": {"x": 0.0}}
    assert pairwise(table) == (0.5, 4)
    assert pairwise({"c": {"x": 0.0}}) == (None, 0)


def test_raters_against_rest_finds_the_odd_one() -> None:
    table = {str(n): {"ann": 5.0, "bob": 5.0, "eve": 2.0} for n in range(4)} | {"z": {"zoe": 1.0}}
    found = raters_against_rest(table)
    assert [one.rater for one in found] == ["eve", "ann", "bob", "zoe"]
    assert (found[0].agreement, found[0].difference, found[0].items) == (0.0, -3.0, 4)
    assert found[1].agreement == 0.5
    assert (found[3].items, found[3].agreement) == (0, None)
