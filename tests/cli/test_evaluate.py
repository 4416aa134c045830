"""``parataxis evaluate`` as a user meets it."""

import gzip
import json
from pathlib import Path

import pytest

pytest.importorskip("sacrebleu", reason="needs the extra [metrics]")

SOURCES = ["The mill, which closed in May, reopened.", "Ann sang and Bo danced.", "It rained."]
REFERENCE = [
    "The mill reopened. <SEP> It closed in May.",
    "Ann sang. <SEP> Bo danced.",
    "It rained.",
]
GOOD = ["The mill reopened. <SEP> It closed in May.", "Ann sang. <SEP> Bo danced.", "It rained."]
POOR = ["The mill closed in May.", "Ann sang and Bo danced.", "It rained."]


@pytest.fixture
def files(tmp_path: Path) -> Path:
    texts = {"source": SOURCES, "reference": REFERENCE, "good": GOOD, "poor": POOR}
    for name, lines in texts.items():
        (tmp_path / f"{name}.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    records = [
        {"source": source, "simple": line.split(" <SEP> "), "splitter": "x"}
        for source, line in zip(SOURCES, POOR, strict=True)
    ]
    text = "".join(json.dumps(record) + "\n" for record in reversed(records))
    (tmp_path / "poor.jsonl").write_text(text, encoding="utf-8")
    return tmp_path


def options(files: Path) -> list[str]:
    return ["-s", str(files / "source.txt"), "-r", str(files / "reference.txt")]


def test_evaluate_compares_systems(run, files: Path) -> None:
    outputs = [str(files / "good.txt"), f"bad={files / 'poor.txt'}"]
    result = run("evaluate", *outputs, *options(files), "--trials", "20")
    assert result.code == 0
    rows = {line.split()[0]: line.split()[1:] for line in result.out.splitlines() if line}
    assert rows["metric"] == ["SOURCE", "good", "bad", "REFERENCE"]
    assert rows["bleu"][1] == "100.00"
    assert rows["exact-match"] == ["33.33", "100.00", "33.33", "–"]
    assert rows["sentences-per-source"] == ["1.00", "1.67", "1.00", "1.67"]
    assert "sari|variant:easse" in result.out
    assert "3 sources, 1 reference each\ncut into sentences at its marks: good\n" in result.out
    assert "cut into sentences by the segmenter: bad\n" in result.out


def test_evaluate_reads_json_lines_in_any_order_and_from_standard_input(run, files: Path) -> None:
    aligned = run("evaluate", f"x={files / 'poor.txt'}", *options(files), "-f", "json")
    matched = run("evaluate", f"x={files / 'poor.jsonl'}", *options(files), "-f", "json")
    piped = run(
        "evaluate", "x=-", *options(files), "-f", "json", stdin=(files / "poor.jsonl").read_text()
    )
    assert aligned.code == matched.code == piped.code == 0
    found = [json.loads(each.out) for each in (aligned, matched, piped)]
    assert [each.pop("sentences")["x"] for each in found] == ["segmenter", "given", "given"]
    assert found[0] == found[1] == found[2]


def test_evaluate_cuts_at_the_marks_of_a_file_or_else_where_sentences_end(run, files: Path) -> None:
    (files / "marked.txt").write_text(
        "It hailed. We ran. <SEP> Ann.\nBo sat. Ann left.\nIt rained.\n"
    )
    (files / "plain.txt").write_text("It hailed. We ran.\nBo sat. Ann left.\nIt rained.\n")
    outputs = [files / "marked.txt", files / "plain.txt"]
    metric = ["-m", "sentences-per-source", "--trials", "0"]
    result = run("evaluate", *outputs, "-s", files / "source.txt", *metric)
    assert result.out.splitlines()[1].split()[2:] == ["1.33", "1.67"]


def test_evaluate_takes_a_corpus_with_its_sources(run, files: Path) -> None:
    corpus = f"hsplit:{files / 'source.txt'},{files / 'reference.txt'}"
    whole = run("evaluate", files / "poor.txt", "-r", corpus, "-f", "json", "--trials", 0)
    parts = run("evaluate", files / "poor.txt", *options(files), "-f", "json", "--trials", 0)
    assert whole.code == 0
    assert json.loads(whole.out) == json.loads(parts.out)


def test_evaluate_without_references_takes_the_sources_of_the_outputs(run, files: Path) -> None:
    result = run("evaluate", str(files / "poor.jsonl"), "-m", "unchanged", "-f", "csv")
    assert result.code == 0
    assert "poor,unchanged,,66.6" in result.out


def test_evaluate_reads_packed_outputs(run, files: Path) -> None:
    for name in ("poor.txt", "poor.jsonl"):
        (files / f"{name}.gz").write_bytes(gzip.compress((files / name).read_bytes()))
        packed = run("evaluate", files / f"{name}.gz", *options(files), "--trials", 0)
        assert packed.code == 0
        assert packed.out == run("evaluate", files / name, *options(files), "--trials", 0).out


def test_evaluate_gathers_the_references_of_several_corpora(run, files: Path) -> None:
    corpora = [f"parallel:{files / 'source.txt'},{files / name}.txt" for name in ("good", "poor")]
    both = [part for corpus in corpora for part in ("-r", corpus)]
    form = ["--trials", 0, "-f", "csv"]
    aligned = run("evaluate", files / "poor.txt", *both, *form)
    matched = run("evaluate", files / "poor.jsonl", *both, *form)
    named = run("evaluate", files / "poor.txt", "-s", files / "source.txt", *both, *form)
    assert aligned.out == matched.out == named.out
    assert "SOURCE,exact-match,,66.6" in aligned.out
    assert "poor,exact-match,,100.0" in aligned.out


def test_evaluate_reads_brackets_alike_on_every_side(run, files: Path) -> None:
    plain, escaped = "Ann (a poet) sang.", "Ann -LRB- a poet -RRB- sang ."
    for name, line in {"plain": plain, "escaped": escaped}.items():
        (files / f"{name}.txt").write_text(f"{line}\n")
        record = {"source": plain, "simple": [line]}
        (files / f"{name}.jsonl").write_text(json.dumps(record) + "\n")
    source = files / "plain.txt"
    for output in ("escaped.txt", "escaped.jsonl", "plain.txt"):
        for reference in ("escaped.txt", "escaped.jsonl", "plain.txt"):
            arguments = ["-s", source, "-r", files / reference, "-m", "exact-match", "-m", "fkgl"]
            result = run("evaluate", f"x={files / output}", *arguments, "--trials", 0)
            assert [line.split()[2] for line in result.out.splitlines()[1:3]] == ["100.00", "0.72"]


def test_evaluate_gives_the_grade_level_of_2019_with_brackets_as_they_stand(
    run, files: Path
) -> None:
    (files / "one.txt").write_text("Ann ( a poet ) sang .\n")
    (files / "two.txt").write_text("Ann -LRB- a poet -RRB- sang .\n")
    outputs, source = [files / "one.txt", files / "two.txt"], files / "one.txt"
    result = run("evaluate", *outputs, "-s", source, "-m", "fkgl-2019", "--trials", 0)
    one, two = map(float, result.out.splitlines()[1].split()[2:4])
    assert two > one + 5  # each is read out as three letters


def test_evaluate_cuts_references_as_it_cuts_outputs(run, files: Path) -> None:
    lines = "It hailed. <::::> We ran. <SEP> Ann.\nBo sat. Ann left.\nIt rained.\n"
    (files / "marked.txt").write_text(lines)
    arguments = ["-s", files / "source.txt", "-r", files / "marked.txt"]
    metric = ["-m", "sentences-per-source", "--trials", "0"]
    result = run("evaluate", files / "marked.txt", *arguments, *metric)
    assert result.out.splitlines()[1].split()[1:] == ["1.00", "1.67", "1.67"]


def test_evaluate_writes_a_report(run, files: Path) -> None:
    pytest.importorskip("matplotlib", reason="needs the extra [metrics]")
    folder = files / "report"
    outputs = [str(files / "good.txt"), f"_a$x$b={files / 'poor.txt'}"]
    result = run("evaluate", *outputs, *options(files), "-o", str(folder), "--trials", "10")
    assert result.code == 0
    assert sorted(path.name for path in folder.iterdir()) == [
        "report.html",
        "scores.csv",
        "scores.json",
        "scores.md",
        "scores.tex",
        "scores.txt",
    ]
    page = (folder / "report.html").read_text(encoding="utf-8")
    assert page.count("<svg") == 3
    assert page.count("_a$x$b</text>") == 3  # in every legend, and not as a formula
    assert "The mill, which closed in May, reopened." in page


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["missing.txt", "-s", "source.txt"], "There is no file missing.txt"),
        (["good.txt"], "The sources are not known"),
        (["good.txt", "-s", "source.txt", "-m", "bleu"], "bleu needs a reference for every source"),
        (["good.txt", "-s", "source.txt", "-m", "blue"], 'did you mean "bleu"?'),
        (["good.txt", "good.txt", "-s", "source.txt"], 'Two outputs are called "good"'),
        (["short.txt", "-s", "source.txt"], "short.txt has 1 lines, but there are 3 sources"),
        (["blank.txt", "-s", "source.txt"], "blank.txt, line 2: the rewrite is blank"),
        (["good.txt", "-r", "wiki:source.txt"], "no corpus format"),
        (["good.txt", "-r", "hsplit:source.txt,no.txt"], "There is no file no.txt."),
        (["good.txt", "-s", "source.txt", "-r", "hsplit:no.txt"], "There is no file no.txt."),
        (["good.txt", "-r", "reference.txt"], "reference.txt has sources without references"),
        (["good.txt", "-s", "source.txt", "-r", "one.jsonl"], 'no reference for "The mill, which'),
        (["good.txt", "-s", "source.txt", "-r", "odd.jsonl"], 'for "It hailed.", which is not'),
        (["twice.jsonl", "-s", "source.txt"], 'twice rewrites "It rained." in two ways.'),
        (["-", "-", "-s", "source.txt"], "Standard input (-) can be read only once."),
        (["-", "-s", "source.txt"], "stdin, line 1: this is not a line of JSON"),
        (["good.txt", "-s", "source.txt", "--seed", "-1"], "--seed"),
    ],
)
def test_evaluate_answers_mistakes_in_one_sentence(
    run, files: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], message: str
) -> None:
    monkeypatch.chdir(files)
    (files / "one.jsonl").write_text('{"source": "It rained.", "simple": ["It rained."]}\n')
    (files / "odd.jsonl").write_text('{"source": "It hailed.", "simple": ["It hailed."]}\n')
    twice = (files / "poor.jsonl").read_text() + '{"source": "It rained.", "simple": ["Rain."]}\n'
    (files / "twice.jsonl").write_text(twice)
    (files / "short.txt").write_text("Just one.\n", encoding="utf-8")
    (files / "blank.txt").write_text("One.\n\nThree.\n", encoding="utf-8")
    result = run("evaluate", *arguments, stdin="no JSON\n")
    assert result.code == 2
    assert message in result.err
    assert result.out == ""
    if message != "--seed":  # which the command line itself explains
        assert result.err.count("\n") == 1


def test_metrics_lists_every_metric(run) -> None:
    result = run("metrics")
    assert result.code == 0
    assert {"bleu", "sari", "fkgl"} <= {line.split()[0] for line in result.out.splitlines()}
