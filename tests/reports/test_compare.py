"""Systems side by side: rows, fixed rows, alignment, tables and the page."""

import csv
import io
import json
from collections.abc import Sequence

import numpy as np
import pytest

from parataxis.corpora.example import Example
from parataxis.errors import InputError
from parataxis.metrics.protocol import Item, Score, Signature, Statistics
from parataxis.reports.compare import REFERENCE, SOURCE, Comparison, System, compare, with_outputs
from parataxis.reports.instructive import instructive
from parataxis.reports.page import comparison_page
from parataxis.reports.resample import Resampler
from parataxis.reports.tables import as_csv, as_json, as_latex, as_markdown, cells, turned


class Sentences:
    """Sentences per source: neither more nor fewer is better."""

    name = "sentences"
    summary = "sentences per source"
    needs_references = False
    higher_is_better: bool | None = None
    signature = Signature("sentences", {})

    def statistics(self, items: Sequence[Item]) -> Statistics:
        return np.array([[len(item.simple), 1.0] for item in items])

    def from_statistics(self, total: Statistics) -> Score:
        return Score(float(total[0] / total[1]), self.signature, {"sum": float(total[0])})


class Right(Sentences):
    """The share of rewrites that are among the references."""

    name = "right"
    summary = "rewrites that are a reference, in percent"
    needs_references = True
    higher_is_better = True
    signature = Signature("right", {"case": "mixed"})

    def statistics(self, items: Sequence[Item]) -> Statistics:
        return np.array([[100.0 * (item.simple in item.references), 1.0] for item in items])

    def from_statistics(self, total: Statistics) -> Score:
        return Score(float(total[0] / total[1]), self.signature)


EXAMPLES = [
    Example("A and B.", (("A.", "B."), ("A.", "B too.")), "a"),
    Example("C <and> D.", (("C.", "D."), ("C.", "D.")), "b"),
]
GOOD = System("good", (("A.", "B."), ("C.", "D.")))
LAZY = System("lazy_1", (("A and B.",), ("C.", "E.")))


@pytest.fixture
def comparison() -> Comparison:
    return compare(EXAMPLES, [GOOD, LAZY], [Right(), Sentences()], Resampler(50))


def test_compare_adds_sources_and_references(comparison: Comparison) -> None:
    assert [result.name for result in comparison.results] == [SOURCE, "good", "lazy_1", REFERENCE]
    values = {r.name: {n: s.value for n, s in r.scores.items()} for r in comparison.results}
    assert values[SOURCE] == {"right": 0.0, "sentences": 1.0}
    assert values["good"] == {"right": 100.0, "sentences": 2.0}
    assert values["lazy_1"] == {"right": 0.0, "sentences": 1.5}
    # Of "a" no reference equals the other, of "b" both do.
    assert values[REFERENCE] == {"right": 50.0, "sentences": 2.0}


def test_compare_scores_a_single_reference_without_others_only() -> None:
    single = [Example(e.source, e.references[:1], e.id) for e in EXAMPLES]
    found = compare(single, [GOOD], [Right(), Sentences()])
    assert set(found.result(REFERENCE).scores) == {"sentences"}
    assert found.result("good").scores["right"].value == 100.0
    assert cells(found)[1][-1] == [REFERENCE, "–", "2.00"]


def test_compare_without_references_leaves_their_metrics_and_row_out() -> None:
    plain = [Example(e.source, (), e.id) for e in EXAMPLES]
    found = compare(plain, [GOOD], [Right(), Sentences()])
    assert [result.name for result in found.results] == [SOURCE, "good"]
    assert set(found.result("good").scores) == {"sentences"}


@pytest.mark.parametrize(
    ("systems", "message"),
    [
        ([GOOD, System("good", GOOD.rewrites)], 'Two outputs are called "good"'),
        ([System(SOURCE, GOOD.rewrites)], 'No system can be called "SOURCE"'),
    ],
)
def test_compare_refuses_names_that_would_confuse(systems: list[System], message: str) -> None:
    with pytest.raises(InputError, match=message):
        compare(EXAMPLES, systems, [Sentences()])


def test_outputs_are_matched_by_source_in_any_order() -> None:
    outputs = [(e.source, s) for e, s in zip(EXAMPLES, GOOD.rewrites, strict=True)]
    assert with_outputs(EXAMPLES, "good", reversed(outputs)) == GOOD
    with pytest.raises(InputError, match=r'has no rewrite of "C <and> D."'):
        with_outputs(EXAMPLES, "good", outputs[:1])
    with pytest.raises(InputError, match=r'rewrites "X.", which is not among the sources'):
        with_outputs(EXAMPLES, "good", [*outputs, ("X.", ("X.",))])


def test_tables_mark_a_winner_only_where_the_test_says_so(comparison: Comparison) -> None:
    assert cells(comparison)[1][1] == ["good", "100.00", "2.00"]  # two sources prove nothing
    many = [Example(f"{k} and B.", ((f"{k}.", "B."),), str(k)) for k in range(40)]
    good = System("good", tuple(e.references[0] for e in many))
    bad = System("bad", tuple((e.source,) for e in many))
    found = compare(many, [bad, good], [Right()], Resampler(200))
    assert cells(found)[1] == [
        [SOURCE, "0.00"],
        ["bad", "0.00"],
        ["good", "100.00*"],  # with one reference a source, REFERENCE has nothing to be right by
    ]
    assert turned(*cells(found)) == (
        ["metric", SOURCE, "bad", "good"],
        [["right", "0.00", "0.00", "100.00*"]],
    )


def test_tables_hold_every_number_and_signature(comparison: Comparison) -> None:
    lines = list(csv.DictReader(io.StringIO(as_csv(comparison))))
    good = next(x for x in lines if x["system"] == "good" and x["metric"] == "right")
    assert (good["value"], good["low"], good["signature"]) == ("100.0", "100.0", "right|case:mixed")
    assert any(x["part"] == "sum" and x["value"] == "4.0" for x in lines)
    record = json.loads(as_json(comparison))
    assert record["signatures"] == {"right": "right|case:mixed", "sentences": "sentences"}
    assert record["systems"][1]["scores"]["right"]["interval"] == {"low": 100.0, "high": 100.0}
    assert {test["metric"] for test in record["tests"]} == {"right", "sentences"}
    assert "| good | 100.00 | 2.00 |" in as_markdown(comparison)
    latex = as_latex(comparison)
    assert r"lazy\_1 & 0.00 & 1.50 \\" in latex
    assert r"good & \textbf{100.00} & 2.00 \\" in latex


def test_instructive_sources_come_first_where_systems_differ(comparison: Comparison) -> None:
    chosen = instructive(comparison, Right(), count=2)
    assert [each.reason for each in chosen] == ["the systems differ most"] * 2
    assert [name for name, _, _ in chosen[0].rewrites] == ["good", "lazy_1"]
    alone = compare(EXAMPLES, [LAZY], [Right()])
    assert [each.reason for each in instructive(alone, Right(), 2)] == ["hard for all"] * 2


def test_page_is_self_contained_and_escapes(comparison: Comparison) -> None:
    chosen = instructive(comparison, Right(), 2)
    page = comparison_page("R & D", comparison, {"Lengths": "<svg></svg>"}, chosen)
    assert "<title>R &amp; D</title>" in page
    assert "C &lt;and&gt; D." in page
    assert "<ins>E</ins>" in page
    assert "<s>and" in page
    assert 'class="best">100.00' in page
    assert "http" not in page.replace("http-equiv", "")
