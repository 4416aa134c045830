"""The report of a study, by hand-made ratings whose answers are known."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("yaml", reason="needs the extra [study]")

from parataxis.cli.main import main
from parataxis.evaluate.corpora.example import Example
from parataxis.evaluate.metrics.registry import load_metric
from parataxis.evaluate.outputs import read_examples
from parataxis.report import ReportFormat
from parataxis.rewrite.jsonl import to_json
from parataxis.rewrite.record import Rewrite
from parataxis.studies.items import read_items
from parataxis.studies.records import HUMAN, Purpose, Rating, Value
from parataxis.studies.report import reliability_svg, report_texts, study_report
from parataxis.studies.rubric import load_rubric, outcomes
from parataxis.studies.study import load_study
from parataxis.studies.summary import SummaryCell, summarise
from parataxis.studies.yaml_files import texts_of

SIX = load_rubric("six-criteria")
PERFECT: dict[str, Value] = {question.id: question.best for question in SIX.questions}


def item(id_: str, system: str, benchmark: str = "") -> Rewrite:
    return Rewrite.model_validate(
        {
            "id": id_,
            "source": f"{id_}, a city, is old.",
            "simple": [f"{id_} is a city.", "It is old."],
            "splitter": system,
            **({"benchmark": benchmark} if benchmark else {}),
        }
    )


def rating(item_: str, rater: str, rubric: str = "six-criteria", **changed: Value) -> Rating:
    answers = PERFECT | {name.replace("_", "-"): value for name, value in changed.items()}
    return Rating(
        item=item_,
        rater=rater,
        rubric=rubric,
        answers=answers,
        outcomes=outcomes(SIX, answers, identical=False),
    )


ITEMS = [item("a", HUMAN), item("b", HUMAN), item("c", "rules"), item("d", "unrated")]
RATINGS = [
    rating("a", "ann"),
    rating("a", "bob"),
    rating("b", "ann", sensical=3),
    rating("b", "bob"),
    rating("c", "ann", misses=True, grammatical=1),
    rating("c", "bob", misses=True, split_further=True),
]


def test_summarise_table_3() -> None:
    found = summarise(ITEMS, RATINGS, SIX)
    header, rows = found.table(report_texts("en"))
    assert header[:5] == ["system", "items", "ratings", "sensical", "grammatical"]
    assert header[-1] == "correct"
    assert [row[:3] for row in rows] == [["rules", "1", "2"], [HUMAN, "2", "4"]]
    rules, human = found.rows
    assert human.cells["sensical"] == SummaryCell(4, 0.75, 4.5)
    assert str(human.cells["sensical"]) == "75.0 % / 4.50"
    assert rules.cells["grammatical"] == SummaryCell(2, 0.5, 3.0)
    assert rules.cells["misses"] == SummaryCell(2, 0.0)
    assert rules.cells["split-further"] == SummaryCell(2, 0.5)
    assert human.cells["=correct"] == SummaryCell(4, 0.75)


def test_summarise_leaves_out_controls_and_counts_unknown_items() -> None:
    control = rating("a", "eve", sensical=0).model_copy(update={"purpose": Purpose.ATTENTION})
    found = summarise(ITEMS, [*RATINGS, control, rating("nowhere", "ann")], SIX)
    assert found.unknown == 1
    assert found.rows[1].cells["sensical"].count == 4


def test_summarise_benchmarks_stay_together_in_their_order() -> None:
    items = [item("a", HUMAN, "Wiki"), item("b", "x", "Wiki"), item("c", "x", "Cont")]
    found = summarise(items, [rating(i, "ann") for i in "abc"], SIX)
    assert [row[:2] for row in found.table(report_texts("en"))[1]] == [
        ["Wiki", "x"],
        ["Wiki", HUMAN],
        ["Cont", "x"],
    ]


def test_summarise_table_7_and_choices() -> None:
    gms = load_rubric("gms")
    answers: dict[str, Value] = {
        "grammaticality": 4,
        "misses": True,
        "adds": False,
        "simplicity": 3,
        "split-further": False,
    }
    given = Rating(
        item="c",
        rater="ann",
        rubric="gms",
        answers=answers,
        outcomes=outcomes(gms, answers, identical=False),
    )
    row = summarise(ITEMS, [given], gms).rows[0]
    assert [str(row.cells[f"={name}"]) for name in ("g", "m", "s", "sts")] == [
        "4.00",
        "0.50",
        "3.00",
        "1.00",
    ]
    concise = load_rubric("concise")
    given = Rating(item="c", rater="ann", rubric="concise", answers={"overall": "edit"})
    row = summarise(ITEMS, [given], concise).rows[0]
    assert row.cells["overall:edit"] == SummaryCell(1, 1.0)
    assert row.cells["overall:accept"] == SummaryCell(1, 0.0)
    assert row.cells["severity"] == SummaryCell(0)


def test_study_report_perfect_rewrites_are_those_of_people() -> None:
    made = [*ITEMS, item("e", "rules")]
    found = study_report(made, [*RATINGS, rating("e", "ann"), rating("e", "bob")], SIX)
    assert [rewrite.id for rewrite in found.gold] == ["a"]
    only_rules = study_report([made[-1]], [rating("e", "ann"), rating("e", "bob")], SIX)
    assert [rewrite.id for rewrite in only_rules.gold] == ["e"]


def test_study_report_says_why_alpha_is_undefined() -> None:
    text = study_report(ITEMS, RATINGS, SIX).document("Pilot").render(ReportFormat.MARKDOWN)
    assert "Alpha of no new fact is undefined: all 6 ratings are the same" in text
    assert "| correct | nominal |" in text


def test_study_report_fixed_answers_say_nothing_about_agreement() -> None:
    concise = load_rubric("concise")
    answers = {question.id: question.best for question in concise.questions}
    given = [
        Rating(item="a", rater=rater, rubric="concise", answers=answers, identical=True)
        for rater in ("ann", "bob")
    ]
    found = {one.title: one for one in study_report(ITEMS, given, concise).agreement}
    assert found["meaning"].pairs == 0
    assert found["meaning"].alpha.reason == "no item was rated by two people"
    assert found["simplification"].pairs == 1  # what is asked of such a pair as of any other


def test_study_report_trust_of_raters_by_an_expert() -> None:
    pytest.importorskip("scipy", reason="needs the extra [metrics]")
    expert = [rating("a", "zoe"), rating("c", "zoe", adds=True)]
    text = (
        study_report(ITEMS, RATINGS, SIX, expert=expert)
        .document("Pilot")
        .render(ReportFormat.MARKDOWN)
    )
    # Beta(2, 1) and Beta(1, 2): the bounds are the square root of 0.1 and one less that.
    assert "When all 2 raters say yes, an expert agrees in more than 32 % of the cases." in text
    assert "When none of 2 raters says yes, an expert does in less than 68 % of the cases." in text


def _many() -> tuple[list[Rewrite], list[Rating], list[Example]]:
    """Twenty rewrites of ten sources, the better the longer; two raters who see that."""
    words = list("abcdefghijkl")
    items, ratings, examples = [], [], []
    for number in range(10):
        source = f"Source {number}."
        examples.append(Example(source, ((" ".join(words) + ".",),), str(number)))
        for system, length in (("short", 4 + number % 3), ("long", 9 + number % 3)):
            id_ = f"{system}-{number}"
            items.append(
                Rewrite(
                    source=source, simple=(" ".join(words[:length]) + ".",), splitter=system, id=id_
                )
            )
            ratings += [rating(id_, rater, sensical=length // 3) for rater in ("ann", "bob")]
    items.append(
        Rewrite(source="Source 0.", simple=(" ".join(words) + ".",), splitter=HUMAN, id="gold")
    )
    ratings.append(rating("gold", "ann"))
    return items, ratings, examples


def test_study_report_bleu_is_the_last_column_and_correlates() -> None:
    pytest.importorskip("sacrebleu", reason="needs the extra [metrics]")
    pytest.importorskip("scipy", reason="needs the extra [metrics]")
    items, ratings, examples = _many()
    found = study_report(
        items,
        ratings,
        SIX,
        examples=examples,
        metrics=[load_metric("bleu-sentence")],
        column=load_metric("bleu"),
    )
    header, rows = found.summary.table(report_texts("en"))
    assert header[-1] == "bleu"
    scores = {row[0]: row[-1] for row in rows}
    assert float(scores["short"]) < float(scores["long"])
    assert scores[HUMAN] == "–"  # a rewrite is not compared with itself
    by = {(each.group, each.criterion): each for each in found.correlations}
    assert list(dict.fromkeys(each.group for each in found.correlations)) == [
        "short",
        "long",
        "all",
    ]
    assert by["all", "sensical"].value > 0.8
    assert by["all", "sensical"].is_significant
    assert by["all", "sensical"].pairs == 20
    assert str(by["all", "grammatical"]) == "–"  # all the same
    text = found.document("Pilot").render(ReportFormat.MARKDOWN)
    assert "| all | bleu-sentence |" in text


def test_study_report_without_references_for_its_sources() -> None:
    pytest.importorskip("sacrebleu", reason="needs the extra [metrics]")
    items, ratings, _ = _many()
    other = [Example("Another source.", (("Another.",),), "1")]
    found = study_report(
        items, ratings, SIX, examples=other, metrics=[load_metric("bleu-sentence")]
    )
    assert found.correlations == ()
    assert "nothing correlates" in found.notes[0]


def test_study_report_correlations_by_benchmark_as_in_table_4() -> None:
    pytest.importorskip("sacrebleu", reason="needs the extra [metrics]")
    pytest.importorskip("scipy", reason="needs the extra [metrics]")
    items, ratings, examples = _many()
    placed = [
        each.model_copy(update={"benchmark": "Wiki" if number % 4 < 2 else "Cont"})
        for number, each in enumerate(items)
    ]
    found = study_report(
        placed, ratings, SIX, examples=examples, metrics=[load_metric("bleu-sentence")]
    )
    assert list(dict.fromkeys(each.group for each in found.correlations)) == [
        "Wiki short",
        "Wiki long",
        "Cont short",
        "Cont long",
        "Wiki",
        "Cont",
        "all",
    ]


def _two_systems() -> tuple[list[Rewrite], list[Rating]]:
    """Rewrites that agree with their ratings, disagree, and have none."""
    rewrites = [
        Rewrite(
            source=f"Town {n}, a city, is old.", simple=("It is old.",), splitter=by, id=f"{by}{n}"
        )
        for n in range(3)
        for by in ("rules", "human")
    ]
    answers = {"sensical": 5, "grammatical": 5, "misses": False, "adds": False}
    answers |= {"wrong-split": False, "split-further": False}
    ratings = [
        Rating(
            item=str(rewrite.id),
            rater=rater,
            rubric="six-criteria",
            answers={**answers, "misses": rater == "bob" and place == 1},
            outcomes={"correct": not (rater == "bob" and place == 1)},
        )
        for place, rewrite in enumerate(rewrites)
        for rater in ("ann", "bob")
    ]
    return rewrites, ratings


def test_study_report_in_spanish_is_spanish() -> None:
    pytest.importorskip("scipy", reason="needs the extra [metrics]")
    rewrites, ratings = _two_systems()
    made = {}
    for language in ("en", "es"):
        found = study_report(
            [*rewrites],
            [*ratings, ratings[0].model_copy(update={"item": "gone"})],
            load_rubric("six-criteria"),
            expert=ratings[:4],
            language=language,
            metrics=[load_metric("compression")],
        )
        texts = found.document(figure=reliability_svg(found.trust, language))
        made[language] = texts.render(ReportFormat.HTML)
    assert '<html lang="es">' in made["es"]
    shown = {
        language: set(
            re.findall(
                r">([^<>]*[a-z]{3}[^<>]*)<", re.sub("<style.*?</style>", "", page, flags=re.S)
            )
        )
        for language, page in made.items()
    }
    same = {"rules", "human", "nominal", "ordinal", "ann", "bob", "compression", "image/svg+xml"}
    assert {text.strip() for text in shown["en"] & shown["es"]} <= same
    assert "Informe del estudio" in made["es"]
    assert "Se omiten 1 valoraciones de elementos desconocidos." in made["es"]
    assert "proporción de reescrituras" in made["es"]


def test_report_texts_are_there_in_both_languages() -> None:
    for key, texts in texts_of("parataxis.studies", "report.yaml").items():
        assert set(texts) == {"en", "es"}, key
        places = [sorted(re.findall(r"{(\w+)", text)) for text in texts.values()]
        assert places[0] == places[1], key


@pytest.mark.parametrize(
    ("changes", "rubric", "message"),
    [
        ({}, "gms", 'has ratings by six-criteria, which "gms" cannot report'),
        ({"rubric": "gms"}, None, 'does not belong to the rubric "gms"'),
        ({"answers": {"sensical": 9}}, None, '"sensical: 9" about "rules0" does not belong'),
    ],
)
def test_report_of_another_rubric_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], changes: Any, rubric: Any, message: str
) -> None:
    rewrites, ratings = _two_systems()
    items, given = tmp_path / "items.jsonl", tmp_path / "ratings.jsonl"
    items.write_text("\n".join(map(to_json, rewrites)))
    changed = [rating.model_copy(update=changes) for rating in ratings]
    given.write_text("\n".join(map(Rating.model_dump_json, changed)))
    named = ["--rubric", rubric] if rubric else []
    assert main(["study", "report", "-i", str(items), "-r", str(given), *named]) == 2
    assert message in capsys.readouterr().err


def test_report_perfect_rewrites_have_ids_and_writers(tmp_path: Path) -> None:
    rewrites, ratings = _two_systems()
    rewrites = [
        Rewrite.model_validate({**each.model_dump(exclude_none=True), "writer": "wanda"})
        if each.splitter == "human"
        else each
        for each in rewrites
    ]
    items, given = tmp_path / "items.jsonl", tmp_path / "ratings.jsonl"
    items.write_text("\n".join(map(to_json, rewrites)))
    given.write_text("\n".join(map(Rating.model_dump_json, ratings)))
    out = tmp_path / "out"
    assert main(["study", "report", "-i", str(items), "-r", str(given), "-o", str(out)]) == 0
    lines = [json.loads(line) for line in (out / "perfect.jsonl").read_text().splitlines()]
    assert [(line["id"], line["writer"]) for line in lines] == [
        ("human1", "wanda"),
        ("human2", "wanda"),
    ]
    (example, *_) = read_examples(None, [str(out / "perfect.jsonl")])
    assert (example.source, example.references) == ("Town 1, a city, is old.", (("It is old.",),))


def test_report_perfect_rewrites_are_no_formulas_and_can_be_read_again(tmp_path: Path) -> None:
    rewrites, ratings = _two_systems()
    texts = ("=HYPERLINK(A1) is old.", "'@Town is old.")
    rewrites = [
        each.model_copy(update={"source": f"-{each.source}", "simple": texts}) for each in rewrites
    ]
    items, given = tmp_path / "items.jsonl", tmp_path / "ratings.jsonl"
    items.write_text("\n".join(map(to_json, rewrites)))
    given.write_text("\n".join(map(Rating.model_dump_json, ratings)))
    out = tmp_path / "out"
    assert main(["study", "report", "-i", str(items), "-r", str(given), "-o", str(out)]) == 0
    _, *lines = (out / "perfect.tsv").read_text().splitlines()
    assert lines
    assert {cell[:2] for line in lines for cell in line.split("\t")} == {"'-", "'="}
    (example, *_) = read_examples(None, [f"wiki-bm:{out / 'perfect.tsv'}"])
    assert (example.source, example.references) == ("-Town 1, a city, is old.", (texts,))
    study = tmp_path / "again.yaml"
    study.write_text("rubric: gms\nwrite: {sources: out/perfect.tsv}\n")
    assert read_items(load_study(study))[0].source == example.source
