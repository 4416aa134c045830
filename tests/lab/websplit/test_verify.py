"""The checker of splits: every injected violation is found, and nothing else."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from parataxis.evaluate.corpora.example import Example, Triple
from parataxis.lab.websplit import Condition, verify


def example(id_: str, *triples: tuple[str, str, str]) -> Example:
    return Example(f"Sentence {id_}.", (), id_, frozenset(Triple(*each) for each in triples))


CLEAN = {
    "train": [example("1", ("A", "r", "1"), ("A", "s", "2")), example("2", ("B", "r", "3"))],
    "validation": [example("3", ("C", "r", "4"))],
    "test": [example("4", ("D", "s", "5")), example("5", ("D", "s", "5"))],
}


def test_verify_clean_split() -> None:
    verdict = verify(CLEAN)
    assert verdict.violations == []
    assert (verdict.sources, verdict.triples, verdict.relations) == (5, 5, 2)
    assert verdict.sizes == {"train": 2, "validation": 1, "test": 2}
    assert verdict.without_triples == 0


@pytest.mark.parametrize(
    ("part", "added", "complaint"),
    [
        (
            "test",
            example("6", ("E", "t", "6")),
            'The relation "t" is in test (6), but not in training.',
        ),
        (
            "validation",
            example("6", ("A", "s", "2")),
            'The triple "A | s | 2" is in train (1), validation (6).',
        ),
        (
            "test",
            example("6", ("C", "r", "4")),
            'The triple "C | r | 4" is in validation (3), test (6).',
        ),
        (
            "test",
            replace(example("6", ("E", "r", "7")), source="Sentence 1."),
            'The complex sentence "Sentence 1." is in train (1), test (6).',
        ),
    ],
)
def test_verify_tells_a_violation(part: str, added: Example, complaint: str) -> None:
    verdict = verify({**CLEAN, part: [*CLEAN[part], added]})
    assert [str(each) for each in verdict.violations] == [complaint]


def test_verify_tells_an_empty_part() -> None:
    (violation,) = verify({**CLEAN, "test": []}).violations
    assert violation.condition is Condition.EMPTY
    assert str(violation) == "The part test is empty."


def test_verify_counts_what_it_cannot_know() -> None:
    verdict = verify({**CLEAN, "test": [example("9"), example("8")]})
    assert verdict.without_triples == 2


PARTS = ("train", "validation", "test")


@given(
    st.integers(1, 30),
    st.integers(0, 2**31),
    st.sampled_from([("train", "validation"), ("train", "test"), ("validation", "test")]),
)
def test_verify_finds_each_injected_triple(
    number: int, choice: int, where: tuple[str, str]
) -> None:
    parts = {
        part: [example(f"{part}{n}", (f"{part}{n}", "r", "o")) for n in range(number)]
        for part in PARTS
    }
    assert verify(parts).violations == []
    leaked = parts[where[0]][choice % number]
    parts[where[1]].append(replace(leaked, source="Another one.", id="leak"))
    (violation,) = verify(parts).violations
    assert violation.condition is Condition.TRIPLE
    assert violation.what == " | ".join(next(iter(leaked.triples)))
    assert violation.shown_by == ((where[0], leaked.id), (where[1], "leak"))


@given(st.sets(st.sampled_from("abcdefgh"), min_size=1), st.sets(st.sampled_from("abcdefgh")))
def test_verify_finds_each_relation_that_training_lacks(here: set[str], there: set[str]) -> None:
    parts = {
        "train": [
            example("t", ("T", "any", "o")),
            *(example(f"t{each}", (f"T{each}", each, "o")) for each in sorted(there)),
        ],
        "test": [example(f"e{each}", (f"E{each}", each, "o")) for each in sorted(here)],
    }
    found = verify(parts).violations
    assert [each.what for each in found] == sorted(here - there)
    assert all(each.condition is Condition.RELATION for each in found)
