"""Systems side by side: rows, fixed rows, alignment, tables and the page."""

import csv
import io
import json
from collections.abc import Sequence

import numpy as np
import pytest

from parataxis.errors import InputError
from parataxis.evaluate.compare import REFERENCE, SOURCE, Comparison, System, compare
from parataxis.evaluate.compare_report import (
    best_systems,
    comparison_report,
    instructive,
    notes,
    scores_table,
)
from parataxis.evaluate.corpora.example import Example
from parataxis.evaluate.metrics.protocol import Score, ScoredItem, Signature, Statistics
from parataxis.evaluate.outputs import with_outputs
from parataxis.evaluate.resample import Resampler
from parataxis.report import Report, ReportFormat


class Sentences:
    """Sentences per source: neither more nor fewer is better."""

    name = "sentences"
    summary = "sentences per source"
    needs_references = False
    higher_is_better: bool | None = None
    signature = Signature("sentences", {})

    def statistics(self, items: Sequence[ScoredItem]) -> Statistics:
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

    def statistics(self, items: Sequence[ScoredItem]) -> Statistics:
        return np.array([[100.0 * (item.simple in item.references), 1.0] for item in items])

    def from_statistics(self, total: Statistics) -> Score:
        return Score(float(total[0] / total[1]), self.signature)


EXAMPLES = [
    Example("A and B.", (("A.", "B."), ("A.", "B too.")), "a"),
    Example("C <and> D.", (("C.", "D."), ("C.", "D.")), "b"),
]
GOOD = System("good", (("A.", "B."), ("C.", "D.")))
LAZY = System("lazy_1", (("A and B.",), ("C.", "E.")))


class Words(Sentences):
    """Words per source: fewer are better."""

    name = "words"
    higher_is_better = False
    signature = Signature("words", {})

    def statistics(self, items: Sequence[ScoredItem]) -> Statistics:
        return np.array([[len(item.text.split()), 1.0] for item in items])


class Empty(Sentences):
    """A metric that finds nothing to count."""

    name = "empty"
    signature = Signature("empty", {})

    def from_statistics(self, total: Statistics) -> Score:
        return Score(float("nan"), self.signature)


def rendered(found: Comparison, form: ReportFormat) -> str:
    return comparison_report(found).render(form)


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


def test_compare_takes_the_mean_of_the_references_of_a_source() -> None:
    uneven = [
        Example("A and B.", (("A and B.",),), "a"),
        Example("C and D.", (("C.", "D."),) * 3, "b"),
    ]
    found = compare(uneven, [GOOD], [Sentences()])
    assert found.result(REFERENCE).scores["sentences"].value == 1.5  # not 7 sentences in 4


def test_compare_finds_paired_differences() -> None:
    many = [Example("A b. " * k, (("A b.",),), str(k)) for k in range(1, 41)]
    short = System("short", tuple((e.source,) for e in many))
    long = System("long", tuple((f"{e.source} c d",) for e in many))
    found = compare(many, [short, long], [Words(), Empty()], Resampler(100))
    difference = found.differences["words", "short", "long"]
    # The sources differ by dozens of words, the systems on each of them by two.
    assert difference.value == pytest.approx(-2.0)
    assert difference.interval.low == pytest.approx(-2.0)
    assert difference.interval.high == pytest.approx(-2.0)
    assert difference.p_value == pytest.approx(1 / 101)
    assert np.isnan(found.differences["empty", "short", "long"].value)


def test_compare_says_how_many_rewrites_it_has_read() -> None:
    read: list[int] = []
    compare(EXAMPLES, [GOOD, LAZY], [Sentences()], progress=read.append)
    assert sum(read) == 3 * 2 + 4  # three systems with the sources, and four references


def test_compare_scores_a_single_reference_without_others_only() -> None:
    single = [Example(e.source, e.references[:1], e.id) for e in EXAMPLES]
    found = compare(single, [GOOD], [Right(), Sentences()])
    assert set(found.result(REFERENCE).scores) == {"sentences"}
    assert found.result("good").scores["right"].value == 100.0
    assert scores_table(found).rows[-1] == [REFERENCE, "–", "2.00"]


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
    assert scores_table(comparison).rows[1] == [
        "good",
        "100.00",
        "2.00",
    ]  # two sources prove nothing
    many = [Example(f"{k} and B.", ((f"{k}.", "B."),), str(k)) for k in range(40)]
    good = System("good", tuple(e.references[0] for e in many))
    bad = System("bad", tuple((e.source,) for e in many))
    found = compare(many, [bad, good], [Right()], Resampler(200))
    assert scores_table(found).rows == [
        [SOURCE, "0.00"],
        ["bad", "0.00"],
        ["good", "100.00*"],  # with one reference a source, REFERENCE has nothing to be right by
    ]
    upright = scores_table(found).upright()
    assert upright.header == ["metric", SOURCE, "bad", "good"]
    assert upright.rows == [("right", "0.00", "0.00", "100.00*")]


def test_tables_rank_by_what_is_better() -> None:
    wordy = System("wordy", (("A and B and so on.",), ("C.", "D.")))
    found = compare(EXAMPLES, [wordy, GOOD], [Words(), Right()])
    assert best_systems(found, Words()) == {"good"}
    assert best_systems(found, Right()) == {"good"}
    assert best_systems(found, Sentences()) == set()


def test_tables_leave_empty_what_has_no_value() -> None:
    found = compare(EXAMPLES, [GOOD, LAZY], [Empty()], Resampler(5))
    lines = list(csv.DictReader(io.StringIO(rendered(found, ReportFormat.CSV))))
    assert {line[name] for line in lines for name in ("value", "low", "high", "p")} == {""}
    assert json.loads(rendered(found, ReportFormat.JSON))["tests"][0]["interval"] == {
        "low": None,
        "high": None,
    }
    page = rendered(found, ReportFormat.HTML)
    assert "nan" not in page


def test_tables_say_how_many_references_there_are(comparison: Comparison) -> None:
    assert notes(comparison)[0] == "2 sources, 2 references each"
    uneven = [Example("A.", (("A.",),), "a"), Example("B.", (("B.",),) * 3, "b")]
    assert notes(compare(uneven, [GOOD], []))[0] == "2 sources, 1 to 3 references each"
    bare = [Example("A.", (), "a")]
    cut = System("x", (("A.",),), "segmenter")
    found = compare(bare, [cut], [Words()])
    assert notes(found) == [
        "1 source, no references",
        "cut into sentences by the segmenter: x",
        "words",
    ]
    assert "`1 source, no references`" in rendered(found, ReportFormat.MARKDOWN)
    assert "% 1 source, no references" in rendered(found, ReportFormat.LATEX)
    assert json.loads(rendered(comparison, ReportFormat.JSON))["references"] == {
        "fewest": 2,
        "most": 2,
    }


def test_tables_hold_every_number_and_signature(comparison: Comparison) -> None:
    lines = list(csv.DictReader(io.StringIO(rendered(comparison, ReportFormat.CSV))))
    good = next(x for x in lines if x["system"] == "good" and x["metric"] == "right")
    assert (good["value"], good["low"], good["signature"]) == ("100.0", "100.0", "right|case:mixed")
    assert any(x["part"] == "sum" and x["value"] == "4.0" for x in lines)
    record = json.loads(rendered(comparison, ReportFormat.JSON))
    assert record["signatures"] == {"right": "right|case:mixed", "sentences": "sentences"}
    assert record["systems"][1]["scores"]["right"]["interval"] == {"low": 100.0, "high": 100.0}
    assert {test["metric"] for test in record["tests"]} == {"right", "sentences"}
    assert record["tests"][0]["difference"] == 100.0
    assert record["tests"][0]["interval"] == {"low": 100.0, "high": 100.0}
    pair = next(x for x in lines if x["minus"] == "lazy_1" and x["metric"] == "right")
    assert (pair["system"], pair["value"], pair["low"]) == ("good", "100.0", "100.0")
    assert float(pair["p"]) > 0.05
    assert "| good | 100.00 | 2.00 |" in rendered(comparison, ReportFormat.MARKDOWN)
    latex = rendered(comparison, ReportFormat.LATEX)
    assert r"lazy\_1 & 0.00 & 1.50 \\" in latex
    assert r"good & \textbf{100.00} & 2.00 \\" in latex


def test_instructive_sources_come_first_where_systems_differ(comparison: Comparison) -> None:
    chosen = instructive(comparison, Right(), count=2)
    reasons = ["a: the systems differ most", "b: the systems differ most"]
    assert [each.caption for each in chosen] == reasons
    assert [name for name, _, _ in chosen[0].rewrites] == ["good", "lazy_1", REFERENCE]
    alone = compare(EXAMPLES, [LAZY], [Right()])
    hard = instructive(alone, Right(), 2)
    assert [each.caption for each in hard] == ["a: hard for all", "b: hard for all"]


def test_instructive_sources_are_the_hard_ones_whichever_way_is_better() -> None:
    three = [Example(f"{k}.", ((f"{k}.",),), str(k)) for k in range(3)]
    words = System("x", (("a",), ("a b c",), ("a b",)))
    hard = instructive(compare(three, [words], [Words()]), Words(), 3)
    assert [each.caption[0] for each in hard] == ["1", "2", "0"]  # of words, fewer are better

    class More(Words):
        higher_is_better = True

    hard = instructive(compare(three, [words], [More()]), More(), 3)
    assert [each.caption[0] for each in hard] == ["0", "2", "1"]


def test_instructive_sources_are_those_of_the_largest_spread() -> None:
    three = [Example(f"{k}.", ((f"{k}.",),), str(k)) for k in range(3)]
    first = System("x", (("a b",), ("a b c d e",), ("a",)))
    second = System("y", (("a",), ("a",), ("a b c",)))
    chosen = instructive(compare(three, [first, second], [Words()]), Words(), 3)
    assert [each.caption for each in chosen] == [
        "1: the systems differ most",
        "2: the systems differ most",
        "0: hard for all",
    ]


def test_page_has_the_differences_of_all_pairs(comparison: Comparison) -> None:
    page = rendered(comparison, ReportFormat.HTML)
    row = "<td>right</td><td>good</td><td>lazy_1</td><td>100.00</td><td>100.00 to 100.00</td>"
    assert row in page


def test_page_is_self_contained_and_escapes(comparison: Comparison) -> None:
    chosen = instructive(comparison, Right(), 2)
    blocks = [*comparison_report(comparison).blocks, *chosen]
    page = Report("R & D", blocks).render(ReportFormat.HTML)
    assert "<title>R &amp; D</title>" in page
    assert "C &lt;and&gt; D." in page
    assert "<ins>E</ins>" in page
    assert "<s>and" in page
    assert 'class="best">100.00' in page
    assert "http" not in page.replace("http-equiv", "")


def test_tables_know_several_best_systems() -> None:
    twin = System("twin", GOOD.rewrites)
    found = compare(EXAMPLES, [GOOD, LAZY, twin], [Right()])
    assert best_systems(found, Right()) == {"good", "twin"}
    assert rendered(found, ReportFormat.LATEX).count(r"\textbf{100.00}") == 2
