"""Rubrics: the shipped ones, what is refused, which questions apply, and what follows."""

from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("yaml", reason="needs the extra [study]")

from parataxis.errors import InputError
from parataxis.studies.records import Value, in_language
from parataxis.studies.rubric import (
    Rubric,
    applicable,
    available_rubrics,
    complete,
    load_rubric,
    outcomes,
    problems,
)

SHIPPED = ["concise", "gms", "plain-language", "six-criteria"]
PERFECT: dict[str, Value] = {
    "sensical": 5,
    "grammatical": 5,
    "misses": False,
    "adds": False,
    "wrong-split": False,
    "split-further": False,
}


def languages(value: Any) -> set[tuple[str, ...]]:
    """The languages of every translated text in a record."""
    if isinstance(value, dict) and {"en", "es"} & set(value):
        return {tuple(sorted(value))}
    parts = value.values() if isinstance(value, dict) else value
    return set().union(*map(languages, parts)) if isinstance(value, dict | tuple) else set()


def test_rubrics_shipped_are_installed_and_complete_in_two_languages() -> None:
    assert [(one.name, one.problem) for one in available_rubrics()] == [(n, None) for n in SHIPPED]
    for name in SHIPPED:
        rubric = load_rubric(name)
        assert rubric.name == name
        assert languages(rubric.model_dump()) == {("en", "es")}
        for question in rubric.questions:
            assert in_language(question.text, "en") != in_language(question.text, "es")


def test_rubrics_unknown_name_is_told() -> None:
    with pytest.raises(InputError, match=r'There is no rubric "six-criterion"; .* "six-criteria"'):
        load_rubric("six-criterion")


def test_six_criteria_correct_only_if_all_is_perfect() -> None:
    rubric = load_rubric("six-criteria")
    assert problems(rubric, PERFECT, identical=False) == {}
    assert outcomes(rubric, PERFECT, identical=False) == {"correct": True}
    for name, worse in [("sensical", 4), ("grammatical", 0), ("misses", True), ("adds", True)]:
        assert outcomes(rubric, PERFECT | {name: worse}, identical=False) == {"correct": False}
    unanswered = {key: value for key, value in PERFECT.items() if key != "adds"}
    assert outcomes(rubric, unanswered, identical=False) == {"correct": None}
    assert list(problems(rubric, unanswered, identical=False)) == ["adds"]


@pytest.mark.parametrize("value", [6, -1, True, "5", 4.5])
def test_problems_slider_takes_whole_numbers_of_its_range_only(value: object) -> None:
    rubric = load_rubric("six-criteria")
    answers = PERFECT | {"sensical": value}  # type: ignore[dict-item]
    assert problems(rubric, answers, identical=False, language="es") == {
        "sensical": "Esta no es una de las respuestas posibles."
    }


def test_problems_yes_is_not_one() -> None:
    rubric = load_rubric("six-criteria")
    assert list(problems(rubric, PERFECT | {"misses": 0}, identical=False)) == ["misses"]


def test_gms_averages_as_in_the_report() -> None:
    answers: dict[str, Value] = {
        "grammaticality": 4,
        "misses": True,
        "adds": False,
        "simplicity": 3,
        "split-further": False,
    }
    assert outcomes(load_rubric("gms"), answers, identical=False) == {
        "g": 4.0,
        "m": 0.5,
        "s": 3.0,
        "sts": 1.0,
    }


@pytest.mark.parametrize(
    ("overall", "asked"),
    [
        ("accept", []),
        ("edit", ["edited"]),
        ("reject", ["severity", "corrected"]),
        (None, []),
    ],
)
def test_concise_edit_and_reject_ask_for_more(overall: str | None, asked: list[str]) -> None:
    rubric = load_rubric("concise")
    ids = [question.id for question in applicable(rubric, {"overall": overall}, identical=False)]
    assert [name for name in ids if name in ("edited", "severity", "corrected")] == asked


def test_concise_reject_needs_severity_and_the_corrected_sentence() -> None:
    rubric = load_rubric("concise")
    answers: dict[str, Value] = {
        "simplification": 2,
        "meaning": 1,
        "fluency": 3,
        "concerning": False,
        "overall": "reject",
        "corrected": "  ",
        "needed": True,
    }
    assert list(problems(rubric, answers, identical=False)) == ["severity", "corrected"]
    answers |= {"severity": 3, "corrected": "We meet now."}
    assert problems(rubric, answers, identical=False) == {}
    assert outcomes(rubric, answers, identical=False) == {"accepted": False, "as-is": False}


@pytest.mark.parametrize("name", ["concise", "plain-language"])
def test_identical_pairs_have_fixed_answers(name: str) -> None:
    rubric = load_rubric(name)
    given: dict[str, Value] = {
        "concerning": False,
        "needed": False,
        "meaning": 1,
        "overall": "edit",
    }
    ids = [question.id for question in applicable(rubric, given, identical=True)]
    assert not {"meaning", "fluency", "overall", "edited"} & set(ids)
    found = complete(rubric, given, identical=True)
    assert (found["meaning"], found["fluency"], found["overall"]) == (3, 3, None)
    assert outcomes(rubric, given, identical=True) == {"accepted": None, "as-is": None}


def test_complete_forgets_answers_to_questions_that_were_taken_back() -> None:
    rubric = load_rubric("concise")
    found = complete(rubric, {"overall": "accept", "edited": "Left over."}, identical=False)
    assert found["edited"] is None
    assert list(found) == [question.id for question in rubric.questions]


GOOD = """\
name: mine
title: Mine
questions:
  - id: clear
    kind: slider
    text: Clear?
    key: c
  - id: why
    kind: text
    text: Why?
    when: {clear: [0, 1]}
outcomes:
  fine: {all: {clear: [5]}}
"""


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("kind: slider", "kind: slide", 'line 5: "questions.0.kind"'),
        ("[0, 1]", "[0, 7]", '"7" is no answer to the question "clear"'),
        ("{clear: [0, 1]}", "{claer: [0]}", 'line 11: .*there is no question "claer" before it'),
        ("id: why", "id: clear", 'line 8: .*another question has the id "clear"'),
        ("{all: {clear: [5]}}", "{all: {clear: [yes]}}", "line 13: .*yes is no answer"),
        ("{all: {clear: [5]}}", "{mean: [why]}", "line 13: .*a mean needs numbers"),
        ("{all: {clear: [5]}}", "{}", 'line 13: .*either "all" or "mean"'),
        ("text: Why?", "text: Why?\n    best: ''", "line 8: .*cannot be the best"),
        ("text: Why?", "text: Why?\n    key: c", 'line 11: .*another question has the key "c"'),
        ("    kind: text\n", "    kind: choice\n", "line 8: .*two choices or more"),
        ("title: Mine", "title: [", "line 4: this is not YAML"),
        ("title: Mine", "titel: Mine", "line [12]: "),
    ],
)
def test_load_rubric_refuses_an_error_with_line_and_reason(
    tmp_path: Path, old: str, new: str, message: str
) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text(GOOD, encoding="utf-8")
    assert load_rubric(path).name == "mine"
    path.write_text(GOOD.replace(old, new, 1), encoding="utf-8")
    with pytest.raises(InputError, match=message):
        load_rubric(path)


def test_rubric_of_one_language_is_for_everybody(tmp_path: Path) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text(GOOD, encoding="utf-8")
    rubric: Rubric = load_rubric(str(path))
    assert languages(rubric.model_dump()) == set()
    assert in_language(rubric.questions[0].text, "es") == "Clear?"
