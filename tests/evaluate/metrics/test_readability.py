"""Grade levels worked out by hand, and syllables."""

import math

import pytest

from parataxis.evaluate.metrics.protocol import ScoredItem, score
from parataxis.evaluate.metrics.readability import GradeLevel, GradeLevel2019
from parataxis.text.readability import count_syllables


@pytest.mark.parametrize(
    ("word", "syllables"),
    [
        *[("a", 1), ("the", 1), ("cat", 1), ("named", 1), ("played", 1), ("names", 1), ("one", 1)],
        *[("houses", 2), ("waited", 2), ("hundred", 2), ("table", 2), ("people", 2), ("being", 2)],
        *[("royal", 2), ("quiet", 2), ("theatre", 3), ("league", 1), ("unique", 2), ("largely", 2)],
        *[("area", 3), ("radio", 3), ("media", 3), ("created", 3), ("employee", 3), ("science", 2)],
        *[("nation", 2), ("special", 2), ("therefore", 2), ("automatically", 5), ("society", 4)],
        *[("BBC", 3), ("NATO", 2), ("1984", 1), ("well-known", 2), ("Zürich", 2), ("xkcd", 1)],
    ],
)
def test_syllables_of_real_words(word: str, syllables: int) -> None:
    assert count_syllables(word) == syllables


def test_grade_level_is_that_of_the_corpus_as_one_text() -> None:
    items = [
        ScoredItem("s", ("The cat sat.", "It was a table.")),
        ScoredItem("s", ("The dog ran home.",)),
    ]
    # 3 sentences, 11 words, 12 syllables.
    expected = 0.39 * 11 / 3 + 11.8 * 12 / 11 - 15.59
    found = score(GradeLevel(), items)
    assert found.value == pytest.approx(expected)
    assert found.parts == pytest.approx(
        {"words-per-sentence": 11 / 3, "syllables-per-word": 12 / 11}
    )


def test_grade_level_does_not_depend_on_tokenisation() -> None:
    plain = ScoredItem("s", ("Ann's dog didn't bark (much).",))
    tokenised = ScoredItem("s", ("Ann 's dog did n't bark -LRB- much -RRB- .",))
    assert score(GradeLevel(), [plain]).parts["words-per-sentence"] == 5
    assert score(GradeLevel(), [tokenised]).parts["words-per-sentence"] == 5


def test_grade_level_of_2019_is_a_mean_in_which_marks_are_words() -> None:
    short, long = (
        ScoredItem("s", ("The cat sat .",)),
        ScoredItem("s", ("Ann ran .", "A table , broken , fell .")),
    )
    first = 0.39 * 4 + 11.8 * 3 / 4 - 15.59
    second = 0.39 * 10 / 2 + 11.8 * 8 / 10 - 15.59
    found = score(GradeLevel2019(), [short, long])
    assert found.value == pytest.approx((first + second) / 2)


def test_grade_level_of_nothing_is_not_a_number() -> None:
    assert math.isnan(score(GradeLevel(), [ScoredItem("s", ("...",))]).value)
    assert math.isnan(score(GradeLevel2019(), [ScoredItem("s", ("",))]).value)


def test_grade_level_names_the_counter_of_syllables() -> None:
    assert str(GradeLevel().signature) == (
        "fkgl|average:micro|words:spoken|syllables:parataxis-spelling-1"
    )
    assert str(GradeLevel2019().signature) == (
        "fkgl-2019|average:macro|words:tokens|syllables:parataxis-spelling-1"
    )
