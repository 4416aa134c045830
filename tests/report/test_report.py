"""One report, every format: what each makes of the same blocks."""

import csv
import io
import json
import math

import pytest

from parataxis.report import (
    Cell,
    Figure,
    Heading,
    Notes,
    PageOnly,
    Points,
    Report,
    ReportFormat,
    ReportParagraph,
    Rewritten,
    Table,
)

SCORES = Table(
    ("system", "bleu"),
    [("a_b", Cell("12.00", detail="10.00 to 14.00", emphasis="best")), ("c|d", "–")],
)
REPORT = Report(
    "Scores & more",
    [
        Heading("Results"),
        SCORES,
        ReportParagraph("Higher is better."),
        Points(["one", "two"]),
        Figure("<svg></svg>", "How they differ."),
        PageOnly([ReportParagraph("Only here.")], "Open me"),
        Notes(["bleu|case:mixed"]),
    ],
    record={"a_b": {"bleu": 12.0}, "c|d": {"bleu": math.nan}},
)


def test_text_shows_all_blocks_under_the_title() -> None:
    assert REPORT.render(ReportFormat.TEXT) == (
        "Scores & more\n\nResults\n-------\nsystem   bleu\na_b     12.00\nc|d         –\n\n"
        "Higher is better.\n\n- one\n- two\n\nHow they differ.\n\nbleu|case:mixed\n"
    )


def test_markdown_escapes_bars_and_quotes_notes() -> None:
    assert REPORT.render(ReportFormat.MARKDOWN) == (
        "# Scores & more\n\n## Results\n\n| system | bleu |\n| --- | --: |\n| a_b | 12.00 |\n"
        "| c\\|d | – |\n\nHigher is better.\n\n- one\n- two\n\nHow they differ.\n\n"
        "- `bleu|case:mixed`\n"
    )


def test_latex_has_tables_and_everything_else_as_comments() -> None:
    text = REPORT.render(ReportFormat.LATEX)
    assert text.startswith("% Scores & more\n% bleu|case:mixed\n% Results\n\\begin{tabular}{lr}\n")
    assert "a\\_b & \\textbf{12.00} \\\\\nc|d & -- \\\\\n" in text
    assert "\\end{tabular}\n\n% Higher is better.\n% one\n% two\n" in text
    assert "Only here." not in text


def test_html_is_one_page_with_details_and_figures() -> None:
    page = REPORT.render(ReportFormat.HTML)
    assert "<title>Scores &amp; more</title>" in page
    assert '<td class="best">12.00<small>10.00 to 14.00</small></td>' in page
    assert "<details><summary>Open me</summary>\n<p>Only here.</p>\n</details>" in page
    assert "<svg></svg>" in page
    assert "<li><code>bleu|case:mixed</code></li>" in page
    assert "default-src 'none'" in page


def test_json_is_the_record_with_null_for_nan() -> None:
    found = json.loads(REPORT.render(ReportFormat.JSON))
    assert found == {"a_b": {"bleu": 12.0}, "c|d": {"bleu": None}}


def test_json_without_a_record_is_made_of_the_tables() -> None:
    found = json.loads(Report("t", [SCORES]).render(ReportFormat.JSON))
    rows = [{"system": "a_b", "bleu": "12.00"}, {"system": "c|d", "bleu": "–"}]
    assert found == {"title": "t", "tables": [rows]}


def test_csv_has_the_lines_or_else_the_tables() -> None:
    lines = [{"system": "a", "value": 1.5}, {"system": "b", "value": math.nan, "low": 1}]
    text = Report("t", [SCORES], lines=lines).render(ReportFormat.CSV)
    assert text == "system,value,low\na,1.5,\nb,,1\n"
    tables = Report("t", [SCORES, SCORES]).render(ReportFormat.CSV)
    assert tables == "system,bleu\na_b,12.00\nc|d,–\n\nsystem,bleu\na_b,12.00\nc|d,–\n"
    tabs = Report("t", [SCORES]).render(ReportFormat.TSV)
    assert list(csv.reader(io.StringIO(tabs), delimiter="\t"))[1] == ["a_b", "12.00"]


@pytest.mark.parametrize("form", [ReportFormat.CSV, ReportFormat.TSV])
def test_csv_has_no_formulas(form: ReportFormat) -> None:
    rows = [["=HYPERLINK(A1)", "-1.5"], ["\t@SUM(1)", "-1+cmd|' /C calc'!A0"]]
    named = [dict(zip(("+a", "b"), row, strict=True)) for row in rows]
    for report in (Report("t", [Table(["+a", "b"], rows)]), Report("t", [], lines=named)):
        mark = "," if form is ReportFormat.CSV else "\t"
        cells = list(csv.reader(io.StringIO(report.render(form)), delimiter=mark))
        assert cells == [
            ["'+a", "b"],
            ["'=HYPERLINK(A1)", "-1.5"],
            ["'\t@SUM(1)", "'-1+cmd|' /C calc'!A0"],
        ]


@pytest.mark.parametrize("form", [ReportFormat.TEXT, ReportFormat.MARKDOWN, ReportFormat.LATEX])
def test_a_bare_report_shows_no_title(form: ReportFormat) -> None:
    assert "title" not in Report("title", [SCORES], bare=True).render(form)


def test_a_table_with_a_corner_is_transposed_in_a_terminal_and_on_a_page() -> None:
    wide = Report("t", [Table(("system", "x", "y"), [("a", "1", "2")], corner="metric")], bare=True)
    assert wide.render(ReportFormat.TEXT) == "metric  a\nx       1\ny       2\n"
    assert "<tr><td>x</td><td>1</td></tr>" in wide.render(ReportFormat.HTML)
    assert "| a | 1 | 2 |" in wide.render(ReportFormat.MARKDOWN)


def test_passages_stand_one_under_another_in_a_terminal() -> None:
    table = Table(("input", "it says"), [("A b.", "C d.")], names=2, passages=True)
    assert Report("t", [table], bare=True).render(ReportFormat.TEXT) == (
        "input:   A b.\nit says: C d.\n"
    )


def test_rewrites_are_marked_on_a_page_and_listed_elsewhere() -> None:
    block = Rewritten("1: hard", "Ann <sang> and Bo danced.", [("x", "12.0", ("Ann slept.",))])
    report = Report("t", [block], bare=True)
    page = report.render(ReportFormat.HTML)
    assert "<li>Ann <ins>slept</ins>.</li>" in page
    assert "<s>sang and Bo danced</s>" in page
    assert report.render(ReportFormat.TEXT) == (
        "1: hard\nsource: Ann <sang> and Bo danced.\nx 12.0: Ann slept.\n"
    )
    assert "- x 12.0: Ann slept." in report.render(ReportFormat.MARKDOWN)
    assert report.render(ReportFormat.LATEX) == "% 1: hard: Ann <sang> and Bo danced.\n"
