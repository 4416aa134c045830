"""Negations, modal verbs and conditions are counted."""

import pytest

from parataxis.checks import check
from parataxis.rewrite.record import FindingKind


@pytest.mark.parametrize(
    ("source", "simple", "expected"),
    [
        ("He may not go.", ["He may go."], [("not", "The negation 'not' is missing.")]),
        (
            "The Tenant shall pay and must leave.",
            ["The Tenant shall pay.", "The Tenant leaves."],
            [("must", "The modal verb 'must' is missing.")],
        ),
        # A word that can stand for a negation does not when it is only repeated.
        (
            "The other men, including without limit the cook, left.",
            ["The other men left.", "The other men include the cook.", "They have a limit."],
            [("without", "The negation 'without' is missing.")],
        ),
        # Two modals are left, but not the same two.
        (
            "The Buyer may look and must pay.",
            ["The Buyer may look.", "The Buyer may pay."],
            [("must", "The modal verb 'must' is missing.")],
        ),
        (
            "You may stay unless we object.",
            ["You may stay.", "We object."],
            [("unless", "The condition 'unless' is missing.")],
        ),
        (
            "She does not sing, and he does not dance.",
            ["She does not sing.", "He dances."],
            [("not", "The negation 'not' is missing.")],
        ),
        # One "not" was moved, so that the number of negations is right and the meaning is not.
        (
            "He did not see the man who fell.",
            ["He did see the man.", "The man did not fall."],
            [("not", "The negation 'not' is missing.")],
        ),
        (
            "He sings well.",
            ["He does not sing well."],
            [("not", "The negation 'not' is not in the source.")],
        ),
        (
            "The bank pays interest.",
            ["The bank must pay interest."],
            [("must", "The modal verb 'must' is not in the source.")],
        ),
    ],
)
def test_links_lost_and_new_are_found(
    source: str, simple: list[str], expected: list[tuple[str, str]]
) -> None:
    assert [(f.words, f.message) for f in check(source, simple)] == expected


@pytest.mark.parametrize(
    ("source", "simple"),
    [
        # Rewrites of the kinds that the references make.
        (
            "You may use it, except that you may not copy it.",
            ["You may use it.", "However, you may not copy it."],
        ),
        (
            "The fee is due unless we waive it.",
            ["The fee is due.", "The foregoing does not apply where we waive it."],
        ),
        (
            "He pays, provided that she works.",
            ["He pays.", "This applies only if she works."],
        ),
        (
            "Neither the cat nor the dog slept.",
            ["The cat did not sleep.", "The dog did not sleep, either."],
        ),
        (
            "Should it rain, the match is moved and shortened.",
            ["If it rains, the match is moved.", "In that case, it is shortened."],
        ),
        (
            "If the seller agrees, the buyer can pay later and can return the goods.",
            [
                "If the seller agrees, the buyer can pay later.",
                "In that event, the buyer can also return the goods.",
            ],
        ),
        ("Although it rained, Ann ran.", ["It rained.", "However, Ann ran."]),
        ("Ann ran because it rained.", ["It rained.", "Ann therefore ran."]),
        ("He wept before he left.", ["He wept.", "Then he left."]),
        ("It was unable to fly, and sank.", ["It was not able to fly.", "It sank."]),
    ],
)
def test_links_in_other_words_are_kept(source: str, simple: list[str]) -> None:
    assert check(source, simple) == []


@pytest.mark.parametrize(
    ("source", "simple", "word"),
    [
        ("Ann ran because it rained.", ["Ann ran.", "It rained."], "because"),
        ("Although it rained, Ann ran.", ["It rained.", "Ann ran."], "Although"),
        ("It rained, but Ann ran.", ["It rained.", "Ann ran."], "but"),
        ("He wept until she left.", ["He wept.", "She left."], "until"),
        ("He wept after she left.", ["He wept.", "She left."], "after"),
    ],
)
def test_links_between_facts_are_missed(source: str, simple: list[str], word: str) -> None:
    assert [f.message for f in check(source, simple)] == [f"The link '{word}' is missing."]


def test_links_point_at_the_one_that_is_missing() -> None:
    source = "He must not smoke, and he must not drink."
    (finding,) = check(source, ["He must not smoke.", "He must drink."])
    assert source[finding.start : finding.end + 6] == "not drink"


@pytest.mark.parametrize(
    ("simple", "lost"),
    [
        (["Growth will slow.", "However, the state acts."], ["unless"]),
        (["Growth will slow.", "However, this does not happen if the state acts."], []),
        (["Growth will slow unless the state acts."], []),
    ],
)
def test_links_a_contrast_is_no_condition(simple: list[str], lost: list[str]) -> None:
    found = check("Growth will slow unless the state acts.", simple)
    assert [finding.words for finding in found if finding.kind is FindingKind.LOST] == lost


@pytest.mark.parametrize(
    ("source", "simple", "message"),
    [
        (
            "She would have gone if he had asked, but he only laughed.",
            ["She would have gone if he had asked.", "Therefore, he only laughed."],
            "Is this a consequence or a contrast? The source has 'but', not 'Therefore'.",
        ),
        (
            "Because the pump had failed, the council closed the pool.",
            ["The pump had failed.", "Despite this, the council closed the pool."],
            "Is this a contrast or a consequence? The source has 'Because', not 'Despite this'.",
        ),
        (
            "Since the port was dredged in 2009, large ships have entered it.",
            ["The port was dredged in 2009.", "Until then, large ships have entered it."],
            "Was this until then or since then? The source has 'Since', not 'Until then'.",
        ),
        (
            "The council closed the pool, as the pump had failed.",
            ["The council closed the pool.", "As a result, the pump had failed."],
            "Is this the consequence or the cause? In the source it follows 'as'.",
        ),
        (
            "The pump failed, so the council closed the pool.",
            ["The pump failed.", "This was because the council closed the pool."],
            "Is this the cause or the consequence? In the source it follows 'so'.",
        ),
        (
            "The pump failed, so the council closed the pool.",
            ["The pump failed.", "The council closed the pool."],
            "The link 'so' is missing.",
        ),
        (
            "The mill ran until the war ended.",
            ["The mill ran.", "It was then that the war ended."],
            "Was this at that time, or did it end what was before? In the source it follows"
            " 'until'.",
        ),
        (
            "The mill ran till the war ended.",
            ["The mill ran.", "At that time, the war ended."],
            "Was this at that time, or did it end what was before? In the source it follows"
            " 'till'.",
        ),
    ],
)
def test_links_that_say_the_opposite_or_are_gone_are_found(
    source: str, simple: list[str], message: str
) -> None:
    assert message in [finding.message for finding in check(source, simple)]


@pytest.mark.parametrize(
    ("source", "simple"),
    [
        (
            "The pump failed, so the council closed the pool.",
            ["The pump failed.", "As a result, the council closed the pool."],
        ),
        (
            "The offer may be genuine, which I doubt.",
            ["The offer may be genuine.", "However, I doubt that."],
        ),
        (
            "Because it rained, but only for an hour, the game was short.",
            ["It rained, but only for an hour.", "Therefore, the game was short."],
        ),
        ("The mill ran until the war ended.", ["The mill ran.", "Then the war ended."]),
        (
            "Its use was unclear until resolved by a court.",
            ["Its use was unclear.", "It was then resolved by a court."],
        ),
        (
            "The mill ran until 1921, when the war ended.",
            ["The mill ran until 1921.", "At that time, the war ended."],
        ),
    ],
)
def test_links_that_fit_the_source_are_allowed(source: str, simple: list[str]) -> None:
    assert [finding.message for finding in check(source, simple)] == []


@pytest.mark.parametrize(
    ("source", "simple", "message"),
    [
        (
            "Visitors may enter the garden in summer and feed the ducks.",
            ["Visitors may enter the garden except in summer.", "They may feed the ducks."],
            "Is there an exception ('except')? The source has none.",
        ),
        (
            "The mill lost its only customer, closing in May.",
            ["The mill lost its only customer.", "Despite this, it closed in May."],
            "Is this a contrast ('Despite')? The source has no word for one.",
        ),
        (
            "If the pump fails, the alarm sounds and the gates close.",
            ["If the pump fails, the alarm sounds.", "In any event, the gates close."],
            "Does this hold without a condition ('In any event')? The source does not say so.",
        ),
        (
            "The mill, which stands in Bath, makes paper.",
            ["The mill stands in Bath.", "It makes paper if it stands there."],
            "Is this a condition ('if')? The source has none.",
        ),
        (
            "Ann sang and Bob danced.",
            ["Ann sang.", "Before that, Bob danced."],
            "Was this earlier ('Before that')? The source does not say so.",
        ),
        (
            "Ann suspects that the clerk lied and fled.",
            ["Ann suspects that the clerk lied.", "In fact, he fled."],
            "Is this certain ('In fact')? The source does not say so.",
        ),
    ],
)
def test_links_that_are_added_are_found(source: str, simple: list[str], message: str) -> None:
    assert [finding.message for finding in check(source, simple)] == [message]


@pytest.mark.parametrize(
    ("source", "simple"),
    [
        (
            "The garden is open but for the maze.",
            ["The garden is open except for the maze."],
        ),
        (
            "The mill lost its only customer, yet it stayed open.",
            ["The mill lost its only customer.", "Despite this, it stayed open."],
        ),
        (
            "The gates always close and lock.",
            ["The gates close in any case.", "They always lock."],
        ),
        (
            "Should the pump fail, the alarm sounds.",
            ["The alarm sounds if the pump fails."],
        ),
        (
            "Ann sang after Bob had danced.",
            ["Ann sang.", "Before that, Bob had danced."],
        ),
    ],
)
def test_links_that_the_source_allows_may_be_added(source: str, simple: list[str]) -> None:
    assert check(source, simple) == []
