"""Entities of triples and names of sentences, and where a sentence names them."""

import pytest

from parataxis.evaluate.corpora.example import Example, Triple
from parataxis.lab.diagnose.memorisation import (
    find_entity,
    plain_name,
    source_names,
    triple_entities,
)


def test_triple_entities_are_names_each_once() -> None:
    triples = [
        Triple("Alan_Shepard", "birthDate", '"1923-11-18"'),
        Triple("Alan_Shepard", "occupation", "Test_pilot"),
        Triple("Ajax_Park", "height", '"42 m"'),
    ]
    examples = [Example("s", (), str(number), frozenset([t])) for number, t in enumerate(triples)]
    assert triple_entities(examples) == ["Alan Shepard", "Test pilot", "Ajax Park"]


@pytest.mark.parametrize(
    ("sentence", "entities", "span"),
    [
        ("The 3Arena is in Dublin .", ["Dublin", "3Arena"], (1, 2)),
        ("the north wall , Dublin", ["North Wall", "North Wall, Dublin"], (1, 5)),
        ("It rained .", ["Dublin"], None),
        ("It rained .", [], None),
        ("Ann and Ann Lee", ["Ann Lee", "Ann"], (0, 1)),
    ],
)
def test_find_entity(sentence: str, entities: list[str], span: tuple[int, int] | None) -> None:
    assert find_entity(sentence.split(), entities) == span


def test_source_names_are_runs_of_proper_nouns() -> None:
    sources = ["Alan Shepard, a pilot, was born in New Hampshire.", "It rained."]
    assert list(source_names(sources)) == [["Alan Shepard", "New Hampshire"], []]


def test_source_names_are_whole_titles() -> None:
    sources = [
        "A Wizard of Mars, which Diane Duane wrote, was published in hardcover.",
        "She sold A Wizard of Mars to the Bank of England.",
    ]
    assert list(source_names(sources)) == [
        ["A Wizard of Mars", "Diane Duane"],
        ["A Wizard of Mars", "Bank of England"],
    ]


def test_plain_name_of_white_space_is_empty() -> None:
    assert plain_name(" _ ") == ""
