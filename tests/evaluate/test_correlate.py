"""Metrics against human judgements: reading them, coefficients, groups, intervals."""

import math
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("scipy", reason="needs the extra [metrics]")

from parataxis.errors import InputError
from parataxis.evaluate.corpora.example import Example
from parataxis.evaluate.correlate import (
    Coefficient,
    CorrelationUnit,
    coefficient,
    correlate,
    resampled,
)
from parataxis.evaluate.judgements import Judged, JudgementColumns, read_judgements
from parataxis.evaluate.metrics.protocol import Score, ScoredItem, Signature, Statistics


class Words:
    """Words of the rewrite."""

    name = "words"
    summary = "words of a rewrite"
    needs_references = False
    higher_is_better: bool | None = None
    signature = Signature("words", {})

    def statistics(self, items: Sequence[ScoredItem]) -> Statistics:
        return np.array([[len(item.text.split()), 1.0] for item in items])

    def from_statistics(self, total: Statistics) -> Score:
        return Score(float(total[0] / total[1]), self.signature)


def judged(words: int, system: str, benchmark: str = "", **judgements: float) -> Judged:
    return Judged(
        ScoredItem(f"A {words}.", (" ".join(["w"] * words),)), system, benchmark, judgements
    )


def test_correlate_within_groups_and_overall() -> None:
    up = [judged(k, "up", good=float(k)) for k in range(1, 8)]
    down = [judged(k, "down", good=float(-k)) for k in range(1, 8)]
    found = {each.group: each for each in correlate([*up, *down], [Words()], by=["system"])}
    assert list(found) == ["all", "up", "down"]
    assert found["up"].value == pytest.approx(1.0)
    assert found["down"].value == pytest.approx(-1.0)
    assert found["up"].is_significant
    assert abs(found["all"].value) < 0.2
    assert not found["all"].is_significant
    assert found["all"].pairs == 14


def test_correlate_over_system_means() -> None:
    # Within a system longer is worse; between systems longer is better.
    some = [
        judged(10 * k + step, f"s{k}", good=10.0 * k - step) for k in range(6) for step in (1, 2, 3)
    ]
    by_rewrite = correlate(some, [Words()])[0]
    by_system = correlate(some, [Words()], unit=CorrelationUnit.SYSTEM)[0]
    assert by_system.value == pytest.approx(1.0)
    assert by_system.pairs == 6
    assert by_rewrite.value < by_system.value


def test_correlate_combines_benchmark_and_system() -> None:
    some = [judged(k, "s", b, good=float(k)) for b in ("x", "y") for k in range(1, 7)]
    groups = [each.group for each in correlate(some, [Words()], by=["benchmark", "system"])]
    assert groups == ["all", "x s", "y s"]


def test_coefficient_of_a_constant_or_of_few_pairs_is_nan() -> None:
    few = coefficient(np.arange(4.0), np.arange(4.0), Coefficient.SPEARMAN)
    same = coefficient(np.ones(9), np.arange(9.0), Coefficient.SPEARMAN)
    assert math.isnan(few[0])
    assert math.isnan(same[0])


@pytest.mark.parametrize("kind", list(Coefficient))
def test_coefficient_interval_covers_the_truth(kind: Coefficient) -> None:
    chance = np.random.default_rng(1)
    truth = {
        Coefficient.PEARSON: 0.6,
        Coefficient.SPEARMAN: 6 / math.pi * math.asin(0.3),
        Coefficient.KENDALL: 2 / math.pi * math.asin(0.6),
    }[kind]
    covered = 0
    for _ in range(200):
        first, noise = chance.normal(size=(2, 100))
        _, _, low, high, _ = coefficient(first, 0.6 * first + 0.8 * noise, kind)
        covered += low < truth < high
    assert 0.89 < covered / 200 <= 0.995


def test_coefficient_intervals_are_those_of_the_literature() -> None:
    first, noise = np.random.default_rng(3).normal(size=(2, 40))
    for kind, variance in (
        (Coefficient.PEARSON, lambda _: 1 / 37),
        (Coefficient.SPEARMAN, lambda r: (1 + r * r / 2) / 37),
        (Coefficient.KENDALL, lambda _: 0.437 / 36),
    ):
        found = coefficient(first, 2 * first + noise, kind)
        reach = 1.959964 * math.sqrt(variance(found.value))
        assert found.low == pytest.approx(math.tanh(math.atanh(found.value) - reach))
        assert found.high == pytest.approx(math.tanh(math.atanh(found.value) + reach))


@pytest.mark.parametrize("kind", list(Coefficient))
def test_coefficient_resampled_is_that_of_repeated_pairs(kind: Coefficient) -> None:
    chance = np.random.default_rng(0)
    sources = np.repeat(np.arange(12), 5)
    first = chance.integers(0, 9, 60).astype(float)  # with ties
    second = first + chance.integers(-5, 5, 60)
    found = resampled(first, second, kind, [f"s{each:02}" for each in sources])
    drawn = np.random.default_rng(1).multinomial(12, np.full(12, 1 / 12), size=100)
    for trial in (0, 1, 99):
        rows = np.repeat(np.arange(60), drawn[trial][sources])
        expected = coefficient(first[rows], second[rows], kind).value
        assert found[trial] == pytest.approx(expected)
    assert len(found) == 1000


def test_coefficient_knows_that_pairs_of_one_source_are_not_independent() -> None:
    """Sources differ on both sides, but one side says nothing of the other."""
    chance = np.random.default_rng(7)
    sources = [str(each) for each in range(30) for _ in range(8)]
    naive = clustered = 0
    for _ in range(40):
        sides = [np.repeat(3 * chance.normal(size=30), 8) + chance.normal(size=240) for _ in "ab"]
        naive += coefficient(*sides, Coefficient.SPEARMAN).p_value < 0.05
        clustered += coefficient(*sides, Coefficient.SPEARMAN, sources).p_value < 0.05
    assert naive > 12
    assert clustered < 7


def test_coefficient_of_few_pairs_is_tested_by_permutations() -> None:
    sides = np.arange(5.0), np.array([0.0, 1.0, 2.0, 3.0, 9.0])
    for kind in Coefficient:
        # Of the 120 orders of five, one is this one, and one is its reverse.
        assert coefficient(*sides, kind).p_value == pytest.approx(2 / 120, abs=0.01)


def test_coefficient_of_a_few_sources_has_no_interval() -> None:
    found = coefficient(np.arange(8.0), np.arange(8.0), Coefficient.SPEARMAN, ["a", "b"] * 4)
    assert found.value == pytest.approx(1.0)
    assert math.isnan(found.p_value)
    assert math.isnan(found.low)


CSV = """\ufefforig_sent,simp_sent,sys_name,sent_id,meaning,note
A b.,It rained. We left.,one,1,5,x
A b.,It rained. We left.,one,1,3,x
A b.,A . <SEP> B .,two,1,2.5,x
"""


def test_judgements_are_averaged_over_raters(tmp_path: Path) -> None:
    (tmp_path / "r.csv").write_text(CSV, encoding="utf-8")
    examples = [Example("A b.", (("A.", "B."),), "1")]
    found = read_judgements(tmp_path / "r.csv", [], examples=examples)
    assert [(each.system, dict(each.judgements)) for each in found] == [
        ("one", {"meaning": 4.0}),
        ("two", {"meaning": 2.5}),
    ]
    assert [each.item.simple for each in found] == [
        ("It rained.", "We left."),
        ("A .", "B ."),
    ]
    assert found[0].item.references == (("A.", "B."),)


def test_judgements_in_long_form(tmp_path: Path) -> None:
    lines = [
        "original,simplification,original_sentence_id,aspect,worker_id,rating",
        "A b.,A. B.,7,meaning,1,50",
        "A b.,A. B.,7,meaning,2,60",
        "A b.,A. B.,7,fluency,1,90",
        "C d.,C.,8,meaning,1,10",
    ]
    (tmp_path / "r.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    found = read_judgements(tmp_path / "r.csv", [])
    assert [(each.item.source, each.system, dict(each.judgements)) for each in found] == [
        ("A b.", "", {"meaning": 55.0, "fluency": 90.0}),
        ("C d.", "", {"meaning": 10.0}),
    ]
    (only,) = read_judgements(tmp_path / "r.csv", ["fluency"])
    assert dict(only.judgements) == {"fluency": 90.0}


def test_judgements_take_no_identifier_for_a_criterion(tmp_path: Path) -> None:
    text = ",source,rewrite,id,rater_id,valid\n0,A.,A.,1,2,3\n"
    (tmp_path / "r.csv").write_text(text, encoding="utf-8")
    (found,) = read_judgements(tmp_path / "r.csv", [])
    assert dict(found.judgements) == {"valid": 3.0}


def test_judgements_of_a_system_with_marks_are_cut_at_them_alone(tmp_path: Path) -> None:
    text = "source,rewrite,system,m\nA.,A. <::::> C.,x,1\n"
    text += "".join(f"D.,It rained. We left.,{system},1\n" for system in "xy")
    (tmp_path / "r.csv").write_text(text, encoding="utf-8")
    found = [each.item.simple for each in read_judgements(tmp_path / "r.csv", [])]
    assert found == [("A.", "C."), ("It rained. We left.",), ("It rained.", "We left.")]


def test_correlate_leaves_out_what_was_not_judged() -> None:
    some = [judged(k, f"s{k % 6}", good=float(k)) for k in range(1, 19)]
    some += [judged(k, "s1", other=1.0) for k in range(20, 23)]
    found = {each.criterion: each for each in correlate(some, [Words()])}
    assert found["good"].pairs == 18
    assert found["other"].pairs == 3
    assert correlate(some, [Words()], unit=CorrelationUnit.SYSTEM)[0].pairs == 6


@pytest.mark.parametrize(
    ("text", "criteria", "columns", "message"),
    [
        ("a,b\n1,2\n", [], None, "which columns hold the source and the rewrite"),
        ("source,rewrite,system,m\n", [], None, "has no judgements"),
        ("", [], None, "has no judgements"),
        ("source,rewrite,m,m\nA.,A.,1,2\n", [], None, 'two columns "m"'),
        ("source,rewrite,m\nA.,A.,1,2\n", [], None, "line 2: there are 4 cells, but the header"),
        ("source,rewrite,m\nA.,A.\n", ["m"], None, "line 2: there are 2 cells, but the header"),
        ('source,rewrite,m\n"A\nb.",A.,1\nC.,,1\n', [], None, "line 4: the source or the rewr"),
        ("source,rewrite,m\nA.,A.,nan\n", ["m"], None, 'line 2: "nan" in m is no number'),
        ("source,rewrite,m\nA.,A.,inf\n", [], None, "no column of numbers"),
        ("q,r,s,m\nA.,A.,x,1\n", ["m"], JudgementColumns("q", "r", "s", "t"), 'no column "t"'),
        ("source,rewrite,aspect,rating\nA.,A.,m,1\n", ["n"], None, "has no judgement of n"),
        ("source,rewrite,system,m\nA.,A.,x,1\n", ["n"], None, 'no column "n"'),
        ("source,rewrite,system,m\nA.,A.,x,high\n", ["m"], None, 'line 2: "high" in m'),
        ("source,rewrite,system,m\nA.,,x,1\n", ["m"], None, "line 2: the source or the rewrite"),
        ("source,rewrite,system\nA.,A.,x\n", [], None, "no column of numbers"),
        ("q,r,s,m\nA.,A.,x,1\n", ["m"], JudgementColumns("q", "r", "t"), 'no column "t"'),
    ],
)
def test_judgements_that_cannot_be_read_are_explained(
    tmp_path: Path, text: str, criteria: list[str], columns: JudgementColumns | None, message: str
) -> None:
    (tmp_path / "r.csv").write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=message):
        read_judgements(tmp_path / "r.csv", criteria, columns)
