"""Fact errors in real rewrites, and the memory of the shared analyser."""

from collections.abc import Iterable, Iterator

import pytest

from parataxis.evaluate.metrics.facts import Facts, Remembering, label_sentences, lost_facts
from parataxis.evaluate.metrics.protocol import ScoredItem, score
from parataxis.rewrite.record import Finding, FindingKind
from parataxis.syntax.analyser import load_analyser
from parataxis.syntax.analysis import Analysis

SOUP = "Bacon soup, a dish of the island of Tarn, contains leeks and is eaten at Easter."


@pytest.mark.parametrize(
    ("simple", "expected"),
    [
        (
            [
                "Bacon soup is a dish of the island of Tarn.",
                "It contains leeks.",
                "It is eaten at Easter.",
            ],
            {"sentences": 3, "correct": 3, "unsupported": 0, "repeated": 0, "missing": 0},
        ),
        # Unsupported, and two facts are missing: the apposition, and what it contains.
        (
            ["Potatoes are an ingredient of bacon soup.", "It is eaten at Easter."],
            {"sentences": 2, "correct": 1, "unsupported": 1, "repeated": 0, "missing": 2},
        ),
        (
            [
                "Bacon soup is a dish of the island of Tarn.",
                "It contains leeks.",
                "Bacon soup contains leeks.",
            ],
            {"sentences": 3, "correct": 2, "unsupported": 0, "repeated": 1, "missing": 1},
        ),
        ([SOUP], {"sentences": 1, "correct": 1, "unsupported": 0, "repeated": 0, "missing": 0}),
    ],
)
def test_facts_are_counted(simple: list[str], expected: dict[str, float]) -> None:
    found = score(Facts(), [ScoredItem(SOUP, tuple(simple))])
    assert found.parts == expected
    assert found.value == pytest.approx(100 * expected["correct"] / expected["sentences"])


def test_facts_of_a_corpus_are_sums() -> None:
    good, bad = (
        ScoredItem(SOUP, (SOUP,)),
        ScoredItem(SOUP, ("Potatoes are an ingredient of bacon soup.",)),
    )
    found = score(Facts(), [good, bad, good])
    assert found.parts["sentences"] == 3
    assert found.parts["unsupported"] == 1
    assert str(found.signature) == "facts|by:parataxis-checks-1"


def finding(kind: FindingKind, sentence: int | None, start: int = 0) -> Finding:
    return Finding(kind=kind, words="x", sentence=sentence, start=start, end=start + 1, message="x")


def test_facts_a_sentence_has_one_label() -> None:
    findings = [
        finding(FindingKind.NEW, 0),
        finding(FindingKind.REPEATED, 0),
        finding(FindingKind.REPEATED, 1),
        finding(FindingKind.FRAGMENT, 2),
        finding(FindingKind.RELATION, 3),
        finding(FindingKind.LOST, None),
    ]
    labels = label_sentences(["a", "b", "c", "d"], findings)
    assert labels == ["unsupported", "repeated", "correct", "unsupported"]


@pytest.mark.parametrize(
    ("lost", "facts"),
    [
        (["burnt"], 1),
        (["because", "closed"], 1),  # one clause
        (["closed", "burnt"], 2),  # a clause, and one inside it
        (["Ann", "closed", "burnt"], 3),
        (["Ann", "left"], 1),
    ],
)
def test_facts_a_lost_word_belongs_to_the_innermost_phrase(lost: list[str], facts: int) -> None:
    source = "Ann left because the mill, which had burnt, was closed."
    findings = [
        Finding(
            kind=FindingKind.LOST,
            words=word,
            sentence=None,
            start=source.index(word),
            end=source.index(word) + len(word),
            message="x",
        )
        for word in lost
    ]
    assert len(lost_facts(findings, load_analyser()(source))) == facts


def test_facts_without_an_analysis_each_lost_wording_is_one() -> None:
    findings = [
        finding(FindingKind.LOST, None, 0),
        finding(FindingKind.LOST, None, 9),
        finding(FindingKind.NEW, 0),
    ]
    assert len(lost_facts(findings, None)) == 2


class Counting:
    """An analyser that says what it was asked."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def pipe(self, sentences: Iterable[str]) -> Iterator[Analysis]:
        for sentence in sentences:
            self.asked.append(sentence)
            yield Analysis(sentence, ())


def test_analyses_are_remembered_and_forgotten_in_order() -> None:
    inner = Counting()
    analyser = Remembering(inner, size=2)
    assert [found.text for found in analyser.pipe(["a", "b", "a"])] == ["a", "b", "a"]
    assert [found.text for found in analyser.pipe(["b", "c"])] == ["b", "c"]
    assert [found.text for found in analyser.pipe(["b", "a"])] == ["b", "a"]
    assert inner.asked == ["a", "b", "c", "a"]
