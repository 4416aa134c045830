import pytest
from hypothesis import given
from hypothesis import strategies as st

from parataxis.errors import ParataxisError
from parataxis.lab.lstm.search import END, MARKS, PAD, SPLIT, START, UNKNOWN, Vocabulary, words_of


def test_words_the_marks_come_first() -> None:
    assert [MARKS[number] for number in (PAD, UNKNOWN, START, END, SPLIT)] == list(MARKS)
    assert Vocabulary(["tea"]).words == (*MARKS, "tea")


def test_words_outside_the_vocabulary_have_numbers_of_their_source() -> None:
    vocabulary = Vocabulary(["sold", "tea", "."])
    source = ["Zugo", "sold", "Nebo", "tea", "to", "Zugo", "."]
    assert vocabulary.read(source) == [8, 5, 9, 6, 10, 8, 7]
    assert vocabulary.spell([9, 5, 6, UNKNOWN], source) == ["Nebo", "sold", "tea", "<unk>"]


def test_words_of_a_tokenised_text_stand_between_spaces() -> None:
    assert words_of("A/S won on 1974-08-01 .") == ["A/S", "won", "on", "1974-08-01", "."]
    assert words_of("A/S won.") == ["A", "/", "S", "won", "."]


@given(
    st.lists(st.sampled_from("abcdefgh"), max_size=12),
    st.sets(st.sampled_from("abcdefgh")),
)
def test_words_every_source_can_be_spelled_again(source: list[str], known: set[str]) -> None:
    vocabulary = Vocabulary(sorted(known))
    assert vocabulary.spell(vocabulary.read(source), source) == source


def test_words_are_written_and_read(tmp_path) -> None:
    vocabulary = Vocabulary(["naïve", "\u2028", "’s"])
    vocabulary.write(tmp_path / "words.txt")
    assert Vocabulary.load(tmp_path / "words.txt").words == vocabulary.words
    with pytest.raises(ParataxisError, match="cannot be read as a list of words"):
        Vocabulary.load(tmp_path / "missing.txt")
