"""``parataxis correlate`` as a user meets it."""

import json
from pathlib import Path

import pytest

pytest.importorskip("scipy", reason="needs the extra [metrics]")

ROWS = [
    f'"One two {k}.","{"Word " * k}end.",{"s" if k % 2 else "t"},{k},{-k % 5}' for k in range(1, 13)
]


@pytest.fixture
def ratings(tmp_path: Path) -> Path:
    path = tmp_path / "ratings.csv"
    path.write_text("source,rewrite,system,long,odd\n" + "\n".join(ROWS) + "\n", encoding="utf-8")
    return path


def test_correlate_prints_a_table_with_daggers(run, ratings: Path) -> None:
    result = run("correlate", ratings, "-m", "tokens-per-sentence", "--by", "system")
    assert result.code == 0
    lines = result.out.splitlines()
    assert lines[0].split() == ["group", "metric", "long", "odd"]
    assert lines[1].split()[:3] == ["all", "tokens-per-sentence", "1.000"]
    assert lines[1].endswith("†")
    assert [line.split()[0] for line in lines[2:4]] == ["s", "t"]
    assert "spearman, 12 pairs; scored:rewrite; " in result.out
    assert "tokens-per-sentence|average:micro" in result.out


def test_correlate_says_what_a_metric_is_the_mean_of(run, ratings: Path) -> None:
    out = run("correlate", ratings, "-m", "learned", "-m", "learned:meaning").out
    assert (
        "learned is the mean of grammaticality, meaning, simplicity and structural_simplicity; "
        "-m learned:grammaticality correlates one of them" in out
    )
    assert out.count(" is the mean of ") == 1


def test_correlate_writes_p_values_and_intervals(run, ratings: Path) -> None:
    arguments = ["-m", "tokens-per-sentence", "--criterion", "long", "-f", "json"]
    result = run("correlate", ratings, *arguments, "--coefficient", "kendall")
    (found,) = json.loads(result.out)["correlations"]
    assert found["value"] == pytest.approx(1.0)
    assert found["p_value"] < 0.001
    assert found["low"] < found["high"] <= 1.0


def test_correlate_escapes_names_in_markdown(run, ratings: Path) -> None:
    text = ratings.read_text(encoding="utf-8").replace("system,long", "system,a|b")
    ratings.write_text(text, encoding="utf-8")
    result = run("correlate", ratings, "-m", "tokens-per-sentence", "-f", "markdown")
    assert result.out.splitlines()[0] == r"| group | metric | a\|b | odd |"


def test_correlate_leaves_cells_empty_where_there_is_nothing_to_correlate(
    run, ratings: Path
) -> None:
    result = run("correlate", ratings, "-m", "unsplit", "--criterion", "long", "-f", "csv")
    assert result.out.splitlines()[1].startswith("unsplit,long,all,,,,,12,unsplit|")


def test_correlate_writes_latex(run, ratings: Path) -> None:
    result = run("correlate", ratings, "-m", "tokens-per-sentence", "-f", "latex")
    assert r"all & tokens-per-sentence & 1.000 & " in result.out
    assert r"$^\dagger$ \\" in result.out
    assert result.out.endswith("\\end{tabular}\n")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["missing.csv"], "There is no file missing.csv."),
        (["ratings.csv", "-m", "sari"], "sari needs a reference for every judged source"),
        (["ratings.csv", "--columns", "a,b"], "--columns needs three or four names"),
        (["ratings.csv", "--columns", "source,rewrite,system,bench"], 'no column "bench"'),
        (["ratings.csv", "-m", "fkgl:nothing"], 'no part "nothing"'),
    ],
)
def test_correlate_answers_mistakes_in_one_sentence(
    run, ratings: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], message: str
) -> None:
    monkeypatch.chdir(ratings.parent)
    result = run("correlate", *arguments)
    assert result.code == 2
    assert message in result.err
    assert result.out == ""
