"""Which actions write a rewrite."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from parataxis.rewrite.forms import key
from parataxis.splitters.pointer.actions import (
    CLOSED,
    CLOSED_WORDS,
    COPY,
    END,
    FORM_NAMES,
    FORMS,
    NEXT,
    WHOLE,
)
from parataxis.splitters.pointer.targets import target_actions, written_words
from parataxis.text.tokens import tokenize


def words_of(sentence: str) -> list[str]:
    return [token.text for token in tokenize(sentence)]


def shown(source: str, actions: list[int]) -> list[str]:
    """Actions as a person can read them: "the:3" is copied from place 3, "+the" is inserted."""
    words = words_of(source)
    marks = {NEXT: "|", END: "."}
    return [
        f"{words[a - COPY]}:{a - COPY}"
        if a >= COPY
        else f"+{CLOSED_WORDS[a - CLOSED]}"
        if a >= CLOSED
        else f"~{FORM_NAMES[a - FORMS]}"
        if a >= FORMS
        else marks[a]
        for a in actions
    ]


@pytest.mark.parametrize(
    ("source", "simple", "expected"),
    [
        (
            "Ann, who was ill, sang.",
            ["Ann sang.", "She was ill."],
            "Ann:0 sang:6 | +she was:3 ill:4 .",
        ),
        (  # "the" belongs to the run it begins, not to the first "the" of the sentence
            "The dog bit the man, who fled.",
            ["The dog bit the man.", "The man fled."],
            "The:0 dog:1 bit:2 the:3 man:4 | the:3 man:4 fled:7 .",
        ),
        (  # a single function word is inserted, however often the source has it
            "It was late, so he, the cook, was tired.",
            ["It was late.", "So he was tired.", "He was the cook."],
            "It:0 was:1 late:2 | so:4 he:5 was:10 tired:11 | +he +was the:7 cook:8 .",
        ),
        (
            "Serving tea, Ann fell.",
            ["Ann served tea.", "Ann fell."],
            "Ann:3 Serving:0 ~VBD tea:1 | Ann:3 fell:4 .",
        ),
        (  # the stop of an abbreviation is the stop of the sentence
            "He sells pens etc. to schools.",
            ["He sells pens etc.", "He sells to schools."],
            "He:0 sells:1 pens:2 etc.:3 | He:0 sells:1 to:4 schools:5 .",
        ),
        (
            'He said "never." and left.',
            ['He said "never."', "He left."],
            'He:0 said:1 ":2 never:3 .:4 ":5 | +he left:7 .',
        ),
    ],
)
def test_targets_take_the_cheapest_way(source: str, simple: list[str], expected: str) -> None:
    actions = target_actions(words_of(source), simple, whole=False)
    assert actions is not None
    assert " ".join(shown(source, actions)) == expected


def test_targets_of_a_whole_source_are_one_action() -> None:
    assert target_actions(["It", "rained", "."], ["It rained."], whole=True) == [WHOLE]


@pytest.mark.parametrize("word", ["tiger", "destruction", "1999", "Paris"])
def test_targets_refuse_words_that_have_no_source(word: str) -> None:
    assert target_actions(words_of("Ann destroyed it."), [f"Ann saw {word}."], whole=False) is None


@given(st.data())
def test_targets_write_the_same_words_again(data: st.DataObject) -> None:
    source = "The old man, who was serving tea and cakes, said that the cities of the north fell."
    words = words_of(source)
    pool = [*words, "served", "cake", "city", "she", "however", "was"]
    sentence = st.lists(st.sampled_from([w for w in pool if w != "."]), min_size=1, max_size=8)
    simple = [" ".join(s) + "." for s in data.draw(st.lists(sentence, min_size=1, max_size=3))]
    actions = target_actions(words, simple, whole=False)
    assert actions is not None
    written = [list(map(key, sentence)) for sentence in written_words(words, actions)]
    assert written == [list(map(key, words_of(sentence)))[:-1] for sentence in simple]
