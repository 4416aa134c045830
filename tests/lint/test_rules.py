"""Which sentences are reported, and why."""

import pickle

import pytest

from parataxis.errors import InputError
from parataxis.lint import lint_text
from parataxis.lint.rules import (
    Judge,
    LintSettings,
    LintVerdict,
    Reason,
    RuleSetName,
    has_far_condition,
    has_nested_clauses,
    has_several_instructions,
    is_instruction,
)
from parataxis.splitters.settings import word_count
from parataxis.syntax.analyser import load_trees
from parataxis.syntax.analysis import Analysis

LONG = (
    "The committee, which meets monthly in Geneva, approved the budget for the coming year on "
    "Tuesday, and its chair, who had opposed the plan, resigned the same evening."
)
SHORT_PAIR = "Both work offline, and nothing is stored."


def analysed(sentence: str) -> Analysis:
    found = next(iter(load_trees().pipe([sentence])))
    assert isinstance(found, Analysis)
    return found


@pytest.mark.parametrize(
    ("sentence", "orders", "several"),
    [
        ("Remove the cover.", True, False),
        ("Do not touch the valve.", True, False),
        ("If the pressure is too high, open the valve.", True, False),
        ("Remove the cover and put it on the bench.", True, True),
        ("Push the button and turn the key at the same time.", True, False),
        ("The pump supplies fuel to the engine.", False, False),
        ("You must remove the cover.", False, False),
    ],
)
def test_instructions_are_imperatives(sentence: str, orders: bool, several: bool) -> None:
    analysis = analysed(sentence)
    assert (is_instruction(analysis), has_several_instructions(analysis)) == (orders, several)


@pytest.mark.parametrize(
    ("sentence", "expected"),
    [
        ("The tenant, who lives in a small flat in Bristol, pays the rent.", True),
        ("She said that he knew that the house that they had bought was old.", True),
        ("The man who called left.", False),
        ("The tenant pays the rent because he lives in a small flat.", False),
        ("The committee approved the budget.", False),
    ],
)
def test_nested_clauses_interrupt_or_go_deep(sentence: str, expected: bool) -> None:
    assert has_nested_clauses(analysed(sentence)) is expected


@pytest.mark.parametrize(
    ("sentence", "expected"),
    [
        (
            "If the tenant fails to pay the rent that is due under this agreement on the first day "
            "of each month for the following month, the landlord may end the lease.",
            True,
        ),
        ("If the tenant fails to pay the rent, the landlord may end the lease.", False),
        ("The landlord may end the lease if the tenant fails to pay.", False),
    ],
)
def test_far_conditions_are_counted_in_words(sentence: str, expected: bool) -> None:
    assert has_far_condition(analysed(sentence)) is expected


def test_lint_text_reports_a_long_sentence_with_its_place_and_a_rewrite() -> None:
    (finding,) = lint_text(f"It rained. {LONG}\n")
    assert finding.reasons[0] is Reason.TOO_LONG
    assert Reason.NESTED_CLAUSES in finding.reasons
    assert (finding.words, finding.limit) == (word_count(LONG), 25)
    assert (finding.line, finding.column) == (1, 12)
    assert (finding.end_line, finding.end_column) == (1, 12 + len(LONG))
    assert finding.sentence == LONG
    assert len(finding.simple) > 1
    assert finding.confidence is not None
    assert finding.edit is not None
    assert finding.edit.text == finding.suggestion


def test_lint_text_reports_no_short_sentence() -> None:
    assert lint_text(SHORT_PAIR) == []
    eager = LintSettings(min_words=1)
    (finding,) = lint_text(SHORT_PAIR, settings=eager)
    assert finding.reasons == (Reason.SEVERAL_IDEAS,)


@pytest.mark.parametrize("limit", [10, 40])
def test_max_words_is_the_limit_of_all_sentences(limit: int) -> None:
    verdict = Judge(LintSettings(max_words=limit, confidence=1.0))([LONG])[0]
    if limit < word_count(LONG):
        assert verdict is not None
        assert (verdict.reasons[0], verdict.limit) == (Reason.TOO_LONG, limit)
    else:
        assert verdict is None


def test_ste100_has_a_lower_limit_and_one_instruction_in_instructions() -> None:
    order = (
        "Open the drain valve of the main line slowly until the gauge shows that there is no fuel "
        "left in the tank."
    )
    told = order.replace("Open", "The mechanic opened", 1)
    judge = Judge(LintSettings(rules=RuleSetName.STE100, confidence=1.0))
    first, second, third = judge([order, told, "Remove the cover and clean it."])
    assert first is not None
    assert (first.reasons, first.limit) == ((Reason.TOO_LONG,), 20)
    assert second is None
    assert third is not None
    assert third.reasons == (Reason.SEVERAL_IDEAS,)


def test_wcag_reports_nested_clauses_by_themselves() -> None:
    sentence = (
        "The rent that the tenant owes for the flat under the lease is due on the first day of May."
    )
    found = {
        rules: Judge(LintSettings(rules=rules, confidence=1.0))([sentence])[0]
        for rules in (RuleSetName.PLAIN, RuleSetName.WCAG)
    }
    assert found[RuleSetName.PLAIN] is None
    wcag = found[RuleSetName.WCAG]
    assert wcag is not None
    assert wcag.reasons == (Reason.NESTED_CLAUSES,)


def test_judge_remembers_sentences(monkeypatch: pytest.MonkeyPatch) -> None:
    judge = Judge()
    asked: list[str] = []

    def counted(sentences: list[str]) -> list[LintVerdict | None]:
        asked.extend(sentences)
        return [None] * len(sentences)

    monkeypatch.setattr(judge, "_judge", counted)
    assert judge(["One.", "Two.", "One."]) == [None] * 3
    assert judge(["Two.", "Three."]) == [None] * 2
    assert asked == ["One.", "Two.", "Three."]
    assert pickle.loads(pickle.dumps(judge)).settings == judge.settings


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"rules": "strict"}, r'There is no rule set "strict"; there are: plain, ste100, wcag\.'),
        ({"confidence": 2.0}, r"The confidence must be from 0 to 1, not 2\.0\."),
        ({"max_words": 0}, r"The limit must be at least one word, not 0\."),
    ],
)
def test_settings_that_make_no_sense_are_refused(options: dict[str, object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        LintSettings(**options)  # type: ignore[arg-type]
