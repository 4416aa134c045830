"""Precision and recall of the patterns on the labelled set (benchmarks/patterns.py)."""

import sys
from collections import Counter
from functools import cache
from pathlib import Path

import pytest

from parataxis.errors import InputError
from parataxis.syntax.analyser import load_analyser
from parataxis.syntax.analysis import Analysis
from parataxis.syntax.patterns import Pattern

sys.path.append(str(Path(__file__).parents[2] / "benchmarks"))
from patterns import (
    LABELLED,
    LabelledSentence,
    PatternAgreement,
    measure,
    read_labelled,
)

sys.path.pop()  # benchmarks/datasets.py must not be found in place of the package datasets

# (precision, recall) on the whole labelled set, about three points below what is reached
# (docs/patterns.md), since the quantised model rounds differently on other processors.
FLOORS = {
    Pattern.RC: (0.92, 0.93),
    Pattern.CONJ: (0.97, 0.96),
    Pattern.PART: (0.96, 0.93),
    Pattern.PREP: (0.96, 0.94),
    Pattern.ADV: (0.96, 0.97),
    Pattern.APPOS: (0.92, 0.92),
    Pattern.INF: (0.92, 0.93),
}


@cache
def agreement() -> dict[Pattern, PatternAgreement]:
    sentences = read_labelled(LABELLED)
    analyses = load_analyser().pipe(s.text for s in sentences)
    pairs = [(s, a) for s, a in zip(sentences, analyses, strict=True) if isinstance(a, Analysis)]
    assert len(pairs) == len(sentences)
    return measure(pairs)


@pytest.mark.parametrize("pattern", Pattern)
def test_patterns_precision_and_recall(pattern: Pattern) -> None:
    result = agreement()[pattern]
    precision, recall = FLOORS[pattern]
    assert result.precision() >= precision, result.wrong
    assert result.recall() >= recall, result.missed
    assert result.precision(loose=True) >= result.precision()


def test_patterns_labelled_set_is_large_enough() -> None:
    sentences = read_labelled(LABELLED)
    shown: Counter[Pattern] = Counter()
    for sentence in sentences:
        shown.update({phrase.pattern for phrase in sentence.phrases})
    assert all(shown[pattern] >= 30 for pattern in Pattern)
    assert len({sentence.text for sentence in sentences}) == len(sentences) >= 210
    assert sum(not sentence.phrases for sentence in sentences) >= 30
    held_out = sum(sentence.part != "dev" for sentence in sentences)
    assert 3 * held_out >= len(sentences)


def test_patterns_agreement_counts_exact_and_loose_matches() -> None:
    analysis = load_analyser()("Oslo, the capital of Norway, lies on a fjord.")
    label = read_labelled(LABELLED)[0].phrases[0]

    def labelled(phrase: str) -> LabelledSentence:
        start = analysis.text.index(phrase)
        moved = type(label)(Pattern.APPOS, start, start + len(phrase))
        return LabelledSentence(analysis.text, "dev", (moved,))

    exact = measure([(labelled("the capital of Norway"), analysis)])[Pattern.APPOS]
    assert (exact.exact, exact.loose, exact.found, exact.labelled) == (1, 1, 1, 1)
    loose = measure([(labelled("capital of Norway"), analysis)])[Pattern.APPOS]
    assert (loose.exact, loose.loose) == (0, 1)
    wrong = measure([(labelled("lies on a fjord"), analysis)])[Pattern.APPOS]
    assert (wrong.exact, wrong.loose, wrong.precision(), wrong.recall()) == (0, 0, 0.0, 0.0)


@pytest.mark.parametrize(
    "line",
    [
        "no JSON",
        '{"text": "A.", "part": "dev"}',
        '{"text": "A.", "part": "dev", "occurrences": [{"pattern": "rc", "phrase": "b"}]}',
        '{"text": "A.", "part": "dev", "occurrences": [{"pattern": "xy", "phrase": "A"}]}',
    ],
)
def test_patterns_labelled_set_names_the_bad_line(tmp_path: Path, line: str) -> None:
    path = tmp_path / "labelled.jsonl"
    path.write_text('{"text": "A.", "part": "dev", "occurrences": []}\n' + line + "\n")
    with pytest.raises(InputError, match="line 2"):
        read_labelled(path)
