"""Markers and labels are told from the words of a sentence."""

import pytest

from parataxis.text.layout import label_length, marker_length


@pytest.mark.parametrize(
    ("line", "marker"),
    [
        ("- an item", "- "),
        ("* An item", "* "),
        ("•\tAn item", "•\t"),
        ("- [x] A done task", "- [x] "),
        ("1. Pay", "1. "),
        ("12) Pay", "12) "),
        ("(a) pay", "(a) "),
        ("(iv) pay", "(iv) "),
        ("1.1 Sale", "1.1 "),
        ("10.1.2. Sale", "10.1.2. "),
        ("1. (a) (i) Pay", "1. (a) (i) "),
        ("II. Methods", "II. "),
        ("a. pay", "a. "),
        ("A. The Lender", "A. "),
        ("Section 3. The Company", "Section 3. "),
        ("Article IV. Sale", "Article IV. "),
        ("SECTION 2.04(a). Sale", "SECTION 2.04(a). "),
        ("§ 5: Sale", "§ 5: "),
        ("A. Lincoln was tall", ""),
        ("I. Newton was not", ""),
        ("3.5 percent", ""),
        ("2004 was good", ""),
        ("1999. It was good", ""),
        ("-5 degrees", ""),
        ("*Note* this", ""),
        ("Section 3 applies", ""),
        ("Part of it", ""),
        ("(see below) it", ""),
        ("1.", ""),
        ("", ""),
    ],
)
def test_markers_at_the_start_of_a_paragraph(line: str, marker: str) -> None:
    assert line[: marker_length(line)] == marker


@pytest.mark.parametrize(
    ("above", "line", "marker"),
    [
        ("The parties agree:", "1. to pay", "1. "),
        ("pay the fee;", "(b) wait", "(b) "),
        ("pay the fee, and", "(b) wait", "(b) "),
        ("It was the month of", "5. May was warm", ""),
        ("as set out in clause", "(b) of the Act", ""),
        ("He came home", "- or so we heard", ""),
        ("You need", "- Paper", "- "),
        ("You need", "• paper", "• "),
    ],
)
def test_markers_under_running_text(above: str, line: str, marker: str) -> None:
    assert line[: marker_length(line, above)] == marker


def test_markers_in_a_list() -> None:
    assert marker_length("- or paper", "a pen that writes", in_list=True) == 2
    assert marker_length("2. paper", "a pen that writes", in_list=True) == 3
    assert marker_length("(b) of the Act", "as set out in clause", in_list=True) == 0


def test_markers_label_inside_a_line_follows_space() -> None:
    assert label_length(" 2. Term.") == 4
    assert label_length(" Term.") == 0
