"""Counting WebSplit as the papers do."""

from parataxis.corpora.example import Example, Triple
from parataxis.corpora.websplit.tables import PartCounts, SeenInTraining, Tally

FACT = Triple("A", "r", "B")


def made() -> Tally:
    tally = Tally()
    examples = [
        Example("A and B.", (("A.", "B."), ("B.", "A.")), "1", frozenset({FACT})),
        Example("A and C.", (("A.", "C."),), "2", frozenset({Triple("A", "s", "C")})),
        Example(
            "D, E and A.", (("D.", "E.", "D.", "A."),), "3", frozenset({Triple("D", "r", "B")})
        ),
    ]
    assert list(tally.watch(examples)) == examples
    return tally


def test_tables_count_a_complex_sentence_for_each_reference() -> None:
    assert made().counts() == PartCounts(
        complex=4,
        complex_unique=3,
        simple=10,
        simple_unique=5,
        triples=3,
        relations=2,
        entities=4,
    )


def test_tables_what_training_has_seen() -> None:
    tally = made()
    assert tally.seen(tally.digests[2:], tally.digests[:2]) == SeenInTraining(
        simple=(1, 4),
        simple_unique=(1, 3),
        vocabulary=(3, 6),  # A, and, the stop; but not D, E and the comma
        entities=(1, 2),
        relations=(1, 1),
    )
