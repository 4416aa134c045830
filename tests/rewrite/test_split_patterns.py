"""Which simple sentences a split has made: real sentences with the analyser that ships."""

import pytest

from parataxis.rewrite.align import align
from parataxis.rewrite.split_patterns import clause_halves, said_apart
from parataxis.syntax.analyser import load_analyser

MILL = "The mill, which was built in 1811, burnt down, and nobody was hurt."


@pytest.mark.parametrize(
    ("simple", "expected"),
    [
        ([MILL], {"rc": [], "conj": []}),
        (
            ["The mill was built in 1811.", "It burnt down.", "Nobody was hurt."],
            {"rc": [0], "conj": [2]},
        ),
        (
            ["Nobody was hurt.", "The mill burnt down.", "It was built in 1811."],
            {"rc": [2], "conj": [0]},
        ),
        (["The mill burnt down, and nobody was hurt."], {"rc": [], "conj": []}),
        (["The mill was built in 1811."], {"rc": [], "conj": []}),  # the clause is lost
        (
            ["It was built in 1811.", "The mill was built in 1811.", "It burnt down."],
            {"rc": [0, 1], "conj": []},
        ),
        ([], {"rc": [], "conj": []}),
    ],
)
def test_patterns_said_apart(simple: list[str], expected: dict[str, list[int]]) -> None:
    provenance = align(MILL, simple)
    found = {
        each.occurrence.pattern.value: said_apart(each, provenance)
        for each in clause_halves(load_analyser()(MILL))
    }
    assert found == expected
