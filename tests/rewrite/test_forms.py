from typing import Any

import pytest

from parataxis.rewrite.forms import is_known, is_verb_form, key, lemmas


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("serving", "serves"),
        ("began", "begun"),
        ("children", "child"),
        ("n't", "not"),
        ("'ll", "would"),
        ("their", "them"),
        ("whose", "who"),
        ("an", "a"),
        ("these", "this"),
        ("better", "good"),
        ("tarskans", "tarskan"),
    ],
)
def test_forms_of_one_word_share_a_lemma(first: str, second: str) -> None:
    assert lemmas(first) & lemmas(second)


@pytest.mark.parametrize(
    ("first", "second"), [("he", "she"), ("may", "must"), ("1950", "1951"), ("as", "a")]
)
def test_forms_of_different_words_share_none(first: str, second: str) -> None:
    assert not lemmas(first) & lemmas(second)


def test_forms_key_ignores_case_and_typography() -> None:
    assert key("O’NEILL") == key("O'Neill") == "o'neill"


def test_forms_know_dictionary_words_but_no_misspellings() -> None:
    assert is_known("whose")
    assert is_known("licensee")
    assert not is_known("feburary")


def test_forms_tell_verbs() -> None:
    assert is_verb_form("seats")
    assert not is_verb_form("tribes")


@pytest.mark.parametrize("remembering", [lemmas, is_known, is_verb_form])
def test_forms_forget_in_the_end(remembering: Any) -> None:
    assert remembering.cache_info().maxsize is not None
