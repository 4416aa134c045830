"""From the characters of simple sentences back to the words of the treebank."""

from parataxis.reports.downstream.words import (
    NO_WORD,
    PRONOUN,
    simple_charts,
    source_chart,
    word_in,
)
from parataxis.rewrite.record import Rewrite

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
