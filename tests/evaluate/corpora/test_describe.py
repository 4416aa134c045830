"""A corpus in numbers."""

import pytest

from parataxis.evaluate.corpora.describe import Counted, Spread, describe
from parataxis.evaluate.corpora.example import Example, Triple

CORPUS = [
    Example(
        "It rained, so we left.", (("It rained.", "We left."), ("It rained.", "So we left.")), "1"
    ),
    Example("Bo sang.", (("Bo sang.",),), "2"),
    Example("It rained, so we left.", (("It rained.", "We left."),), "3"),
]


def test_describe_counts_all_and_different_ones() -> None:
    found = describe(CORPUS)
    assert found.complex == Counted(4, 2)
    assert found.pairs == Counted(4, 3)
    assert found.simple == Counted(7, 4)
    assert found.unsplit == 1


def test_describe_averages() -> None:
    found = describe(CORPUS)
    assert found.tokens_per_complex == pytest.approx((7 + 3) / 2)
    assert found.sentences_per_pair == pytest.approx(7 / 4)
    assert found.tokens_per_simple == pytest.approx((3 * 3 + 2 * 3 + 4 + 3) / 7)
    assert found.references == Spread(1, 2, 3, 2)
    assert found.vocabulary == len({"it", "rained", "so", "we", "left", "bo", "sang"})


def test_describe_triples() -> None:
    first, second = Triple("Oslo", "in", "Norway"), Triple("Oslo", "size", "480")
    both = Example("A.", (("A.",),), "1", triples=frozenset([first, second]))
    one = Example("B.", (("B.",),), "2", triples=frozenset([first]))
    found = describe([both, one])
    assert (found.triples, found.relations, found.entities) == (Counted(3, 2), 2, 3)


def test_describe_a_list_of_sentences() -> None:
    found = describe([Example("It rained.", (), "1"), Example("We left.", (), "2")])
    assert (found.complex, found.pairs, found.simple) == (
        Counted(2, 2),
        Counted(0, 0),
        Counted(0, 0),
    )
    assert found.references == Spread(0, 0, 0, 0)


def test_describe_nothing() -> None:
    assert describe([]).complex == Counted(0, 0)


def test_describe_streams() -> None:
    stream = (Example(f"It rained {n % 7} times.", (("It rained.",),), str(n)) for n in range(3000))
    found = describe(stream)
    assert (found.complex, found.references.maximum) == (Counted(3000, 7), 429)


def test_describe_patterns_in_a_sample_of_different_sentences() -> None:
    source = "The dog, which barked all night, slept, and the cat left."
    found = describe([Example(source, (("A.",),), str(n)) for n in range(5)], patterns=3).patterns
    assert found is not None
    assert found.sentences == 1
    assert found.patterns_per_sentence >= 1
    assert describe(CORPUS).patterns is None
