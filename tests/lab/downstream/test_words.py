"""From the characters of simple sentences back to the words of the treebank."""

from hypothesis import given, settings
from hypothesis import strategies as st

from parataxis.lab.downstream.score import (
    NO_WORD,
    PRONOUN,
    simple_charts,
    source_chart,
    word_in,
)
from parataxis.rewrite.record import Rewrite
from parataxis.syntax.analysis import Analysis, Word

LINES = """
The DET 2 det
mill NOUN 5 nsubj
serving VERB 2 acl
Ulm PROPN 3 obj
burned VERB 0 root
. PUNCT 5 punct
"""
TEXT = "The mill serving Ulm burned."


def words(chart: list[int], text: str) -> list[int | None]:
    place, found = 0, []
    for word in text.split():
        start = text.index(word, place)
        place = start + len(word)
        found.append(word_in(chart, start, place))
    return found


def test_words_of_simple_sentences_are_those_of_the_source(gold) -> None:
    source = source_chart(gold(TEXT, LINES).analysis)
    simple = ["The mill burned.", "It serves Ulm now."]
    # Without provenance, as the rewrites of other systems come.
    charts = simple_charts(Rewrite(source=TEXT, simple=simple, splitter="x"), source)
    assert words(charts[0], simple[0]) == [0, 1, 4]
    assert words(charts[1], simple[1]) == [PRONOUN, 2, 3, 5]  # "now." is mostly not its stop
    assert word_in(charts[1], 14, 17) is None


def test_words_of_a_whole_sentence_are_its_own(gold) -> None:
    source = source_chart(gold(TEXT, LINES).analysis)
    whole = Rewrite(source=TEXT, simple=[TEXT], splitter="x")
    assert simple_charts(whole, source) == [source]
    assert source[3] == NO_WORD
    assert words(source, TEXT) == [0, 1, 2, 3, 4]


WORDS = st.sampled_from(["Ann", "mill", "serves", "Ulm", "burned", "now"])


@settings(max_examples=60, deadline=None)
@given(
    source=st.lists(WORDS, min_size=1, max_size=8),
    simple=st.lists(st.lists(WORDS, min_size=1, max_size=6), min_size=1, max_size=3),
)
def test_words_are_never_brought_back_to_another_word(
    source: list[str], simple: list[list[str]]
) -> None:
    text = " ".join(source)
    starts = [len(" ".join(source[:place])) + (place > 0) for place in range(len(source))]
    analysis = Analysis(
        text,
        [
            Word(place, word, starts[place], starts[place] + len(word), "X", "X", {}, -1, "dep")
            for place, word in enumerate(source)
        ],
    )
    sentences = [" ".join(each) for each in simple]
    rewrite = Rewrite(source=text, simple=sentences, splitter="x")
    charts = simple_charts(rewrite, source_chart(analysis))
    for sentence, chart in zip(sentences, charts, strict=True):
        assert len(chart) == len(sentence)
        for word, place in zip(sentence.split(), words(chart, sentence), strict=True):
            assert place is None or source[place] == word
            assert place is not None or word not in source
