"""Counting WebSplit as the papers do."""

from parataxis.evaluate.corpora.example import Example, Triple
from parataxis.evaluate.corpora.leaks import Overlap, find_overlaps
from parataxis.lab.websplit import PartCounts, keeping, part_counts

FACT = Triple("A", "r", "B")


def made() -> list[Example]:
    kept: list[Example] = []
    examples = [
        Example("A and B.", (("A.", "B."), ("B.", "A.")), "1", frozenset({FACT})),
        Example("A and C.", (("A.", "C."),), "2", frozenset({Triple("A", "s", "C")})),
        Example(
            "D, E and A.", (("D.", "E.", "D.", "A."),), "3", frozenset({Triple("D", "r", "B")})
        ),
    ]
    assert list(keeping(examples, kept)) == examples
    return kept


def test_tables_count_a_complex_sentence_for_each_reference() -> None:
    assert part_counts(made()) == PartCounts(
        complex=4,
        complex_unique=3,
        simple=10,
        simple_unique=5,
        triples=3,
        relations=2,
        entities=4,
    )


def test_tables_what_training_has_seen() -> None:
    kept = made()
    found = find_overlaps(kept[:2], {"test": kept[2:]}, near=1.0)["test"]
    assert (found[Overlap.SIMPLE].found, found[Overlap.SIMPLE].total) == (1, 4)
    different = {
        leak.kind: (leak.unique_found, leak.unique_total)
        for leak in found.leaks
        if leak.kind is not Overlap.NAMES
    }
    assert different == {
        Overlap.SOURCES: (0, 1),
        Overlap.SIMPLE: (1, 3),
        Overlap.TRIPLES: (0, 1),
        Overlap.VOCABULARY: (2, 4),  # a and "and", but not d and e
        Overlap.ENTITIES: (1, 2),  # the object B
        Overlap.RELATIONS: (1, 1),
    }
