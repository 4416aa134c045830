"""Rewrites in what a language model wrote."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from parataxis.splitters.llm.prompt import read_answer

ONE = {"id": 1, "simple": ["It rained.", "It snowed."]}
TWO = {"id": 2, "simple": ["Ann left."]}
THREE = {"id": 3, "simple": ["Bob stayed."]}
RAIN, ANN, BOB = ("It rained.", "It snowed."), ("Ann left.",), ("Bob stayed.",)


def whole(*entries: object) -> str:
    return json.dumps({"rewrites": entries})


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (whole(ONE, TWO, THREE), [RAIN, ANN, BOB]),
        (f"Sure! Here you are:\n```json\n{whole(ONE, TWO, THREE)}\n```\nEnjoy.", [RAIN, ANN, BOB]),
        (f"<think>Is {{this}} one?</think> {whole(ONE, TWO, THREE)}", [RAIN, ANN, BOB]),
        (json.dumps([ONE, TWO, THREE]), [RAIN, ANN, BOB]),
        (whole({**ONE, "id": "1"}, TWO, THREE), [RAIN, ANN, BOB]),
        (whole({"id": 1, "simple": "It rained. It snowed."}, TWO), [RAIN, ANN, None]),
        # half an answer: what is whole is taken
        (whole(ONE, TWO, THREE)[:-14], [RAIN, ANN, None]),
        # missing, twice, out of order
        (whole(ONE, THREE), [RAIN, None, BOB]),
        (whole(ONE, TWO, TWO, THREE), [RAIN, None, BOB]),
        (whole(TWO, ONE, THREE), [None, None, BOB]),
        (whole(ONE, THREE, TWO), [RAIN, None, None]),
        (whole(ONE) + whole(TWO), [RAIN, ANN, None]),
        # numbers that were not asked for
        (whole(ONE, TWO, THREE, {"id": 4, "simple": ["New."]}), [RAIN, ANN, BOB]),
        (whole({"id": 0, "simple": ["New."]}, ONE), [RAIN, None, None]),
        (whole({"id": True, "simple": ["New."]}), [None, None, None]),
        (whole({"id": 1.0, "simple": ["New."]}), [None, None, None]),
        (whole({"simple": ["Whose?"]}), [None, None, None]),
        # no sentences
        (whole({"id": 1, "simple": []}, TWO), [None, ANN, None]),
        (whole({"id": 1, "simple": [" "]}, TWO), [None, ANN, None]),
        (whole({"id": 1, "simple": [1]}, {"id": 2, "simple": {"a": "b"}}), [None, None, None]),
        (whole({"id": 1, "simple": ["Half \ud83d."]}, TWO), [None, ANN, None]),
        (whole({"id": 1, "simple": ["Bell \x07."]}, TWO), [None, ANN, None]),
        # nothing
        ("", [None, None, None]),
        ("I cannot help with that.", [None, None, None]),
        ("[" * 100_000, [None, None, None]),
        ('{"a":' * 100_000, [None, None, None]),
        ("{" * 100_000, [None, None, None]),
        ('{"rewrites": 1}', [None, None, None]),
        ('{"rewrites": [1, "x", null]}', [None, None, None]),
    ],
)
def test_answers_take_what_can_be_read(text: str, found: list[tuple[str, ...] | None]) -> None:
    assert read_answer(text, 3) == found


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ('{"simple": ["Ann left."]}', [ANN]),
        (whole({"simple": ["Ann left."]}), [ANN]),
        (whole(ONE), [RAIN]),
        (whole(TWO), [None]),
    ],
)
def test_answers_about_one_sentence_need_no_number(
    text: str, found: list[tuple[str, ...] | None]
) -> None:
    assert read_answer(text, 1) == found


def test_answers_are_tidied() -> None:
    simple = ["- the film  won", "2. iPhone sales\nrose", "“It rained.”", "Why? He left"]
    assert read_answer(whole({"id": 1, "simple": simple}), 1) == [
        ("The film won.", "iPhone sales rose.", "“It rained.”", "Why?", "He left.")
    ]


@settings(max_examples=60)
@given(st.text(alphabet='{}[]",:\\ abid1simplerewt\n', max_size=80), st.integers(1, 4))
def test_answers_of_any_kind_are_read(text: str, count: int) -> None:
    found = read_answer(text, count)
    assert len(found) == count
    assert all(simple is None or all(map(str.strip, simple)) for simple in found)


@settings(max_examples=40)
@given(st.lists(st.sampled_from(["It rained.", "Ann left.", "Bob, 5, stayed."]), min_size=1))
def test_answers_that_are_right_come_back(simple: list[str]) -> None:
    entries = [{"id": number, "simple": simple} for number in range(1, 4)]
    assert read_answer(f"Here: {whole(*entries)}", 3) == [tuple(simple)] * 3


def test_answers_with_thousands_of_objects_are_not_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr("parataxis.splitters.llm.prompt._entries")
    assert read_answer("{" * 1_000_000, 2) == [None, None]
