"""Forms of "to be" that agree with a subject, in the tense of its clause."""

import pytest

from parataxis.rewrite.forms import be
from parataxis.syntax.analyser import load_analyser

CASES = [
    # source, subject, expected
    ("The mill closed.", "mill", "was"),
    ("The mill is closing.", "mill", "is"),
    ("The mill will close.", "mill", "is"),
    ("The mills have closed.", "mills", "are"),
    ("The mills were closed.", "mills", "were"),
    ("Ann and Ben left.", "Ann", "were"),
    ("Ann or Ben left.", "Ann", "was"),
    ("Two of them left.", "Two", "were"),
    ("I know her.", "I", "am"),
    ("I knew her.", "I", "was"),
    ("You know her.", "You", "are"),
    ("They said that she knows him.", "she", "is"),
]


@pytest.mark.parametrize(("source", "subject", "expected"), CASES)
def test_inflect_be_agrees_and_follows_the_tense(source, subject, expected):
    analysis = load_analyser()(source)
    word = next(word for word in analysis if word.text == subject)
    assert be(analysis, word.index, word.index) == expected
