"""Measuring rewrites against references, on a few sentences of our own."""

import json
import subprocess
import sys
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("sacrebleu", reason="needs the extra [metrics]")

from parataxis.api import Splitter
from parataxis.checks import Checker
from parataxis.errors import InputError
from parataxis.lab.pointer.evaluate import (
    Reference,
    SplitterScores,
    Stability,
    evaluation_report,
    measure,
    read_references,
    run_evaluation,
    stability,
)
from parataxis.report import Report, ReportFormat
from parataxis.rewrite.compose import left_whole
from parataxis.rewrite.jsonl import to_json
from parataxis.rewrite.record import FindingKind, Rewrite

REFERENCES = [
    Reference(
        "w1",
        "wikipedia",
        "The mill, which was built in 1820, burned down, and its owner left the town.",
        ("The mill was built in 1820.", "The mill burned down.", "Its owner left the town."),
    ),
    Reference("w2", "wikipedia", "It rained for two days.", ("It rained for two days.",)),
    Reference(
        "c1",
        "contract",
        "The Seller shall deliver the goods and the Buyer shall pay the price.",
        ("The Seller shall deliver the goods.", "The Buyer shall pay the price."),
    ),
    Reference(
        "o1",
        "original-news",
        "The mayor resigned on Monday, but the council did not meet.",
        ("The mayor resigned on Monday.", "However, the council did not meet."),
    ),
    Reference("o2", "original-fiction", "Nobody answered.", ("Nobody answered.",)),
]
SIMPLE = [sentence for one in REFERENCES for sentence in one.simple]


class Halver:
    """Cuts at the first ", " or " and ", also where it should not."""

    name = "halver"
    summary = "Cuts in two."

    def __call__(self, sentence: str) -> Rewrite:
        for cut in (", ", " and "):
            first, found, second = sentence.partition(cut)
            if found:
                simple = (f"{first}.", second[0].upper() + second[1:])
                return Rewrite(source=sentence, simple=simple, splitter=self.name)
        return left_whole(sentence, splitter=self.name)

    def pipe(self, sentences: Iterable[str]) -> Iterator[Rewrite]:
        return map(self, sentences)


def made(reference: Reference, *simple: str, note: str | None = None) -> Rewrite:
    return Rewrite(source=reference.source, simple=simple, splitter="mine", note=note)


def perfect() -> list[Rewrite]:
    return [made(one, *one.simple) for one in REFERENCES]


def whole() -> list[Rewrite]:
    return [left_whole(one.source, splitter="source") for one in REFERENCES]


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A data folder with the references."""
    (tmp_path / "rewrites").mkdir()
    lines = [
        {"id": one.id, "domain": one.domain, "complex": one.source, "simple": one.simple}
        for one in REFERENCES
    ]
    text = "".join(json.dumps(line) + "\n" for line in lines)
    (tmp_path / "rewrites" / "dev.jsonl").write_text(text, encoding="utf-8")
    return tmp_path


def test_evaluate_reads_references(data: Path) -> None:
    assert read_references(data / "rewrites" / "dev.jsonl") == REFERENCES


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        (None, "There is no file"),
        ("", "holds no references"),
        ('{"id": "a", "complex": "It rained.", "simple": ["It rained."]}', "does not name its dom"),
        ('{"id": "a", "domain": "news", "complex": "It rained."}', "line 1"),
    ],
)
def test_evaluate_refuses_a_file_without_references(
    tmp_path: Path, text: str | None, complaint: str
) -> None:
    path = tmp_path / "dev.jsonl"
    if text is not None:
        path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=complaint):
        read_references(path)


def test_evaluate_measures_perfect_rewrites() -> None:
    scores = measure(REFERENCES, perfect(), Checker())
    assert replace(
        scores, sari=round(scores.sari, 6), bleu=round(scores.bleu, 6)
    ) == SplitterScores(
        number=5,
        identical=1,
        sari=100,
        bleu=100,
        sentences=9 / 5,
        reference_sentences=9 / 5,
        rightly_whole=1,
        wrongly_whole=0,
        fallbacks=0,
        faulty=0,
        findings=dict.fromkeys(FindingKind, 0),
    )


def test_evaluate_measures_sources_left_whole() -> None:
    scores = measure(REFERENCES, whole(), Checker())
    assert (scores.identical, scores.sentences) == (2 / 5, 1)
    assert (scores.rightly_whole, scores.wrongly_whole) == (1, 1)
    assert 25 < scores.sari < 100 / 3
    assert scores.bleu < 80


def test_evaluate_counts_faults_and_fallbacks() -> None:
    mill, rain, seller, mayor, nobody = REFERENCES
    rewrites = [
        made(mill, "The mill burned down.", "Its owner left the town."),
        made(rain, "It rained for two days.", "It rained for two days."),
        made(seller, seller.source, note="Left whole because the checks fault the rewrite."),
        made(mayor, "The mayor resigned on Monday.", "The council met.", note="Second best."),
        made(nobody, "Nobody answered."),
    ]
    scores = measure(REFERENCES, rewrites, Checker())
    assert scores.identical == 1 / 5
    assert scores.sentences == 8 / 5
    assert scores.rightly_whole == 1 / 2
    assert scores.wrongly_whole == 1 / 3
    assert scores.fallbacks == 1 / 5
    assert scores.faulty == 3 / 5
    assert scores.findings == {
        **dict.fromkeys(FindingKind, 0),
        FindingKind.LOST: 2 / 5,  # the year and "built"; the negation
        FindingKind.REPEATED: 1 / 5,
    }


def test_evaluate_knows_no_share_of_nothing() -> None:
    scores = measure(REFERENCES[1:2], whole()[1:2], Checker())
    assert (scores.rightly_whole, scores.wrongly_whole) == (1, None)


@pytest.mark.parametrize("rewrites", [perfect()[1:], perfect()[::-1], []])
def test_evaluate_refuses_rewrites_of_other_sources(rewrites: list[Rewrite]) -> None:
    with pytest.raises(InputError, match="not those of the references"):
        measure(REFERENCES, rewrites, Checker())


def figures(report: Report) -> Any:
    return json.loads(report.render(ReportFormat.JSON))


def test_evaluate_report_has_a_row_for_each_domain_and_for_all(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    stable = Stability(own=4, own_changed=0.25, simple=9, simple_changed=None)
    report = evaluation_report(REFERENCES, whole(), Checker(), stable)
    text = report.render(ReportFormat.MARKDOWN).rstrip("\n")
    summary, _, kinds, _, *stable_lines = text.split("\n\n")
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in summary.splitlines()]
    assert rows[0][:5] == ["domain", "n", "identical", "SARI", "BLEU"]
    assert rows[2][0:3:2] + rows[2][5:] == (
        ["contract", "0.0", "1.00", "2.00", "-", "100.0", "0.0", "0.0"]
    )
    assert [row[:2] for row in rows[2:]] == [
        ["contract", "1"],
        ["wikipedia", "2"],
        ["contract + wikipedia", "3"],
        ["original-fiction", "1"],
        ["original-news", "1"],
        ["original (all)", "2"],
        ["all", "5"],
    ]
    assert [cell.strip() for cell in kinds.splitlines()[0].split("|")[1:-1]] == [
        "domain",
        *FindingKind,
        "any",
    ]
    assert stable_lines == [
        "Changed when split again: 25.0 % of 4 simple sentences of its own rewrites.",
        "Changed although simple: - % of 9 simple sentences of the references.",
    ]


def test_evaluate_report_as_json_has_the_same_figures() -> None:
    stable = Stability(own=0, own_changed=None, simple=9, simple_changed=0)
    found = figures(evaluation_report(REFERENCES, whole(), Checker(), stable))
    assert found["stability"]["own_changed"] is None
    assert found["scores"]["all"]["identical"] == 2 / 5
    assert found["scores"]["contract"]["rightly_whole"] is None
    assert set(found["scores"]["all"]["findings"]) == set(FindingKind)


def test_evaluate_stability_gives_simple_sentences_again() -> None:
    splitter = Splitter(Halver())
    rewrites = list(splitter.pipe([one.source for one in REFERENCES]))
    # "Which was built in 1820, burned down, and its owner left the town." is cut once more; of the
    # references' sentences, "However, the council did not meet." is.
    assert stability(splitter, REFERENCES, rewrites) == Stability(
        own=6, own_changed=1 / 6, simple=9, simple_changed=1 / 9
    )


def test_evaluate_stability_takes_an_even_sample(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("parataxis.lab.pointer.evaluate.SAMPLE", 3)
    given: list[str] = []

    class Listener(Halver):
        def pipe(self, sentences: Iterable[str]) -> Iterator[Rewrite]:
            given.extend(sentences)
            return super().pipe(sentences)

    assert stability(Splitter(Listener()), REFERENCES, []).simple == 3
    assert given == SIMPLE[::3]


def test_evaluate_runs_a_splitter(data: Path) -> None:
    found = figures(run_evaluation(data, "source", None))
    assert found["scores"]["all"]["wrongly_whole"] == 1
    assert found["stability"] == {
        "own": 0,
        "own_changed": None,
        "simple": 9,
        "simple_changed": 0,
    }


def test_evaluate_reads_rewrites_in_any_order(data: Path, tmp_path: Path) -> None:
    path = tmp_path / "mine.jsonl"
    lines = [to_json(rewrite) + "\n" for rewrite in perfect()[::-1]]
    path.write_text("".join(lines), encoding="utf-8")
    found = figures(run_evaluation(data, "source", path))
    assert found["scores"]["all"]["identical"] == 1
    assert found["scores"]["all"]["faulty"] == 0
    assert found["stability"] is None

    path.write_text(lines[0], encoding="utf-8")
    with pytest.raises(InputError, match='no rewrite for 4 of 5 sources; the first is "w1"'):
        run_evaluation(data, "source", path)


def test_evaluate_needs_no_torch() -> None:
    code = "import sys, parataxis.lab.pointer.evaluate; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
