"""`parataxis study`: rubrics, costs, and the report from files."""

import json
from pathlib import Path

import pytest

pytest.importorskip("yaml", reason="needs the extra [study]")

from parataxis.cli.main import main

ANSWERS = {
    "sensical": 5,
    "grammatical": 5,
    "misses": False,
    "adds": False,
    "wrong-split": False,
    "split-further": False,
}


@pytest.fixture
def study(tmp_path: Path) -> Path:
    items = [
        {"id": str(n), "source": f"Town {n}, a city, is old.", "splitter": system}
        | {"simple": [f"Town {n} is a city.", "It is old."]}
        for n, system in enumerate(["rules", "human"])
    ]
    ratings = [
        {"item": item, "rater": rater, "rubric": "six-criteria", "answers": ANSWERS}
        | {"outcomes": {"correct": item == "1"}}
        for item in "01"
        for rater in ("ann", "bob")
    ]
    for name, records in (("items", items), ("ratings", ratings)):
        lines = "".join(json.dumps(record) + "\n" for record in records)
        (tmp_path / f"{name}.jsonl").write_text(lines, encoding="utf-8")
    return tmp_path


def test_study_budget_of_the_paper(capsys: pytest.CaptureFixture[str]) -> None:
    given = ["--write", "500x3@0.2", "--write", "500x3@0.4", "--rate", "2903x2@0.07", "--fee", "25"]
    assert main(["study", "budget", *given]) == 0
    out = capsys.readouterr().out
    assert "1,125.00" in out
    assert "508.02" in out


def test_study_budget_what_money_buys(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["study", "budget", "--money", "508", "--price", "0.07", "--fee", "25"]) == 0
    assert capsys.readouterr().out == "508.00 buys 5,805 answers at 0.07 and 25 % fee.\n"


def test_study_budget_of_a_study(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "s.txt").write_text("It rained.\nWe left.\n", encoding="utf-8")
    path = tmp_path / "pilot.yaml"
    text = "rubric: gms\nwrite: {sources: s.txt, writers: 3}\n"
    path.write_text(text, encoding="utf-8")
    assert main(["study", "budget", str(path)]) == 2
    assert 'has no "payment"' in capsys.readouterr().err
    payment = "payment: {per_rewrite: 0.2, per_rating: 0.07, fee: 0.25}\n"
    path.write_text(text + payment, encoding="utf-8")
    assert main(["study", "budget", str(path)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[-1] for line in lines[1:]] == ["1.50", "1.05", "2.55"]
    assert main(["study", "budget", str(path), "--fee", "0"]) == 0
    assert capsys.readouterr().out.splitlines()[-1].split() == ["total", "2.04"]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ([], "There is nothing to calculate"),
        (["--write", "500x3"], '"500x3" is not like 500x3@0.2'),
        (["--money", "5"], "--money and --price go together"),
        (["--money", "5", "--price", "0"], "the price must be above zero"),
    ],
)
def test_study_budget_mistakes(
    given: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["study", "budget", *given]) == 2
    assert message in capsys.readouterr().err


def test_study_rubrics_lists_and_shows(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["study", "rubrics"]) == 0
    assert "plain-language" in capsys.readouterr().out
    assert main(["study", "rubrics", "gms", "--language", "es"]) == 0
    assert "¿Cuán gramatical es el texto simplificado?" in capsys.readouterr().out


@pytest.mark.parametrize("form", ["text", "markdown", "json", "csv", "tsv", "latex", "html"])
def test_study_report_forms(study: Path, form: str, capsys: pytest.CaptureFixture[str]) -> None:
    files = ["--items", str(study / "items.jsonl"), "--ratings", str(study / "ratings.jsonl")]
    assert main(["study", "report", *files, "--format", form]) == 0
    out = capsys.readouterr().out
    assert "human" in out
    assert ("1.0" if form in ("json", "csv", "tsv") else "100.0") in out


def test_study_report_folder_has_the_benchmark(
    study: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    files = ["--items", str(study / "items.jsonl"), "--ratings", str(study / "ratings.jsonl")]
    assert main(["study", "report", *files, "--output", str(study / "out")]) == 0
    written = capsys.readouterr().out.strip().removesuffix(".").partition(": ")[2].split(", ")
    assert sorted(written) == sorted(path.name for path in (study / "out").iterdir())
    rows = (study / "out" / "perfect.tsv").read_text(encoding="utf-8").splitlines()
    assert rows[0] == "complex\tsimple"
    assert len(rows) == 2
    assert "Town 1 is a city. It is old." in rows[1]


def test_study_report_bad_files(study: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (study / "bad.jsonl").write_text('{"item": 1}\n', encoding="utf-8")
    files = ["--items", str(study / "items.jsonl"), "--ratings", str(study / "bad.jsonl")]
    assert main(["study", "report", *files]) == 2
    assert "bad.jsonl, line 1, is not a rating" in capsys.readouterr().err
    (study / "bad.jsonl").write_text("", encoding="utf-8")
    assert main(["study", "report", *files]) == 2
    assert "has no ratings" in capsys.readouterr().err
    (study / "experts.jsonl").write_text("")
    given = ["--items", str(study / "items.jsonl"), "--ratings", str(study / "ratings.jsonl")]
    assert main(["study", "report", *given, "--expert", str(study / "experts.jsonl")]) == 2
    assert "experts.jsonl has no ratings" in capsys.readouterr().err


def test_study_sample_for_an_expert(study: Path, capsys: pytest.CaptureFixture[str]) -> None:
    files = ["--items", str(study / "items.jsonl"), "--ratings", str(study / "ratings.jsonl")]
    out = study / "sample.jsonl"
    assert main(["study", "sample", *files, "-o", str(out)]) == 0
    drawn = [json.loads(line)["id"] for line in out.read_text(encoding="utf-8").splitlines()]
    assert sorted(drawn) == ["0", "1"]
    assert "1 where 0 of 2 said yes, 1 where 2 of 2 said yes." in capsys.readouterr().err
    assert main(["study", "sample", *files, "--outcome", "nice"]) == 2
    assert "An outcome that is yes or no is needed: one of correct." in capsys.readouterr().err


def test_study_report_with_references(study: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("sacrebleu", reason="needs the extra [metrics]")
    lines = [
        json.dumps({"source": f"Town {n}, a city, is old.", "simple": ["It is old."]}) + "\n"
        for n in range(2)
    ]
    (study / "gold.jsonl").write_text("".join(lines), encoding="utf-8")
    files = ["--items", str(study / "items.jsonl"), "--ratings", str(study / "ratings.jsonl")]
    given = [*files, "--references", str(study / "gold.jsonl")]
    assert main(["study", "report", *given]) == 0
    out = capsys.readouterr().out
    assert "bleu" in out.splitlines()[4]
    assert "Correlation with metrics" in out
    assert main(["study", "report", *given, "--format", "csv"]) == 0
    assert "rules,bleu,,," in capsys.readouterr().out
    assert main(["study", "report", *given, "--format", "latex"]) == 0
    tables = capsys.readouterr().out
    assert tables.count(r"\begin{tabular}") == tables.count(r"\end{tabular}") == 5
    assert "% Correlation with metrics" in tables
    assert main(["study", "report", *given, "--output", str(study / "out")]) == 0
    rows = (study / "out" / "correlations.csv").read_text(encoding="utf-8").splitlines()
    assert rows[0] == "metric,criterion,group,value,p_value,low,high,pairs"
    assert rows[1] == "bleu-sentence,sensical,all,,,,,1"
