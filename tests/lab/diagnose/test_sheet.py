"""The sheet of an error analysis: what the checks mark, and how it survives a spreadsheet."""

import csv
import io
import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from parataxis.checks import Checker
from parataxis.errors import InputError
from parataxis.lab.diagnose.sheet import (
    COLUMNS,
    ErrorMark,
    SheetLine,
    as_sheet,
    marked,
    read_sheet,
    sheet_page,
    tallies,
)
from parataxis.rewrite.record import Rewrite

SOURCE = "Ada Vell, who was born in Morrow in 1900, designed Vell Tower."
SIMPLE = [
    "Ada Vell was born in Morrow.",
    "Ada Vell died in Lund.",
    "Ada Vell was born in Morrow.",
]


def lines(references: list[list[str]] | None = None) -> list[SheetLine]:
    findings = Checker()(SOURCE, SIMPLE)
    rewrite = Rewrite(source=SOURCE, simple=SIMPLE, splitter="x", findings=findings, id="7")
    return list(marked(rewrite, "X", references or []))


def test_sheet_marks_sentences_and_missing_facts() -> None:
    found = [(line.number, line.text, line.mark.value) for line in lines()]
    assert found == [
        (1, "Ada Vell was born in Morrow.", "correct"),
        (2, "Ada Vell died in Lund.", "unsupported"),
        (3, "Ada Vell was born in Morrow.", "repeated"),
        (None, "1900, designed", "missing"),
        (None, "Tower", "missing"),
    ]


def test_sheet_tally() -> None:
    (tally,) = tallies(lines())
    assert (tally.system, tally.sources, tally.sentences) == ("X", 1, 3)
    assert (tally.agreed, tally.lines) == (len(lines()), len(lines()))


_TEXT = st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1).filter(
    lambda text: text == text.strip() and not text.startswith("\ufeff")
)


@st.composite
def any_line(draw: st.DrawFn) -> SheetLine:
    number = draw(st.none() | st.integers(1, 99))
    marks = [ErrorMark.CORRECT, ErrorMark.UNSUPPORTED, ErrorMark.REPEATED]
    choice = st.sampled_from(marks if number else [ErrorMark.MISSING, ErrorMark.KEPT])
    text = [draw(_TEXT) for _ in range(4)]
    return SheetLine(
        *text[:3], number, text[3], draw(st.none() | choice), draw(choice), draw(_TEXT)
    )


@given(st.lists(any_line(), min_size=1, max_size=4))
def test_sheet_comes_back_as_it_went(written: list[SheetLine]) -> None:
    assert read_sheet(as_sheet(written), "a.csv") == written


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_sheet_is_read_as_spreadsheets_save_it(delimiter: str, mark: str) -> None:
    out = io.StringIO()
    writer = csv.writer(out, delimiter=delimiter, lineterminator="\n")
    writer.writerow(COLUMNS)
    writer.writerow(["X", "1", "A; b, c\t.", "1.0", "A.", "correct", " Unsupported ", ""])
    writer.writerow(["X", "1", "A; b, c\t.", "", "c", "", "missing", ""])
    writer.writerow([""] * 8)  # rows that someone left empty
    found = read_sheet(mark + out.getvalue(), "a.csv")
    assert [(line.number, line.mark, line.checks) for line in found] == [
        (1, ErrorMark.UNSUPPORTED, ErrorMark.CORRECT),
        (None, ErrorMark.MISSING, None),
    ]
    (tally,) = tallies(found)
    assert (tally.agreed, tally.lines) == (0, 2)


HEADER = ",".join(COLUMNS)


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("", 'a.csv has no column "system"'),
        ("a,b\n1,2\n", 'a.csv has no column "system"'),
        (f"{HEADER}\n", "There is no line in a.csv."),
        (f"{HEADER}\nX,1,s,1,t,correct,good,\n", "a.csv, line 2: the mark must be correct or uns"),
        (f"{HEADER}\nX,1,s,1,t,correct,,\n", 'not "".'),
        (f"{HEADER}\nX,1,s,1,t,correct,missing,\n", "not"),
        (f"{HEADER}\nX,1,s,,t,missing,correct,\n", "the mark must be missing or kept"),
        (f"{HEADER}\nX,1,s,one,t,correct,correct,\n", '"one" is not the number of a sentence.'),
    ],
)
def test_sheet_answers_a_bad_one_in_one_sentence(text: str, complaint: str) -> None:
    with pytest.raises(InputError) as told:
        read_sheet(text, "a.csv")
    assert complaint in str(told.value)


def test_sheet_believes_references() -> None:
    """A word that a reference has is no new fact, and what one does without is not missing."""
    references = [
        ["Ada Vell was born in Morrow in 1900.", "Vell Tower was designed by Ada Vell."],
        ["Ada Vell died in Lund.", "Ada Vell was born in 1900.", "She designed it."],
    ]
    found = lines(references)
    assert [line.mark.value for line in found if line.number] == ["correct", "correct", "repeated"]
    missing = " ".join(line.text for line in found if line.mark is ErrorMark.MISSING)
    assert "1900" in missing
    assert "Tower" not in missing


def test_sheet_page_carries_the_lines() -> None:
    (line,) = [
        SheetLine(
            "X",
            "1",
            "</script><b>",
            1,
            'A "b".',
            ErrorMark.CORRECT,
            ErrorMark.CORRECT,
            "It's <i>so</i>.",
        )
    ]
    page = sheet_page("Errors of <X>", [line])
    assert "<h1>Errors of &lt;X&gt;</h1>" in page
    data = re.search(r'<script id="data" type="application/json">(.*?)</script>', page, re.DOTALL)
    assert data is not None
    assert json.loads(data[1]) == [
        ["X", "1", "</script><b>", "1", 'A "b".', "correct", "correct", "It's <i>so</i>."]
    ]
    assert page.count("</script>") == 2
    assert json.dumps(COLUMNS) in page
    assert "http" not in re.sub(r"http-equiv", "", page)


def test_sheet_has_no_formulas() -> None:
    found = SheetLine("X", "7", "@Ann left.", 1, "=1+1", ErrorMark.CORRECT, ErrorMark.CORRECT)
    row = list(csv.reader(io.StringIO(as_sheet([found]))))[1]
    assert (row[2], row[4]) == ("'@Ann left.", "'=1+1")
    assert read_sheet(as_sheet([found]), "a.csv") == [found]
