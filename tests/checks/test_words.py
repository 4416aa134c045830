"""Lost and new words: what is found, what is tolerated, and how it is said."""

import subprocess
import sys

import pytest

from parataxis.checks import check
from parataxis.rewrite.record import FindingKind


def _messages(source: str, *simple: str) -> list[str]:
    return [finding.message for finding in check(source, simple)]


@pytest.mark.parametrize(
    ("source", "simple", "messages"),
    [
        (
            "The bridge, opened on April 28, 2012, is grey.",
            ["The bridge is grey.", "It was opened."],
            ["The date 'April 28, 2012' is missing."],
        ),
        (
            "Ann Lee, who lives in Oslo, paints.",
            ["Ann Lee paints.", "She lives in a city."],
            ["The name 'Oslo' is missing.", "The word 'city' is not in the source."],
        ),
        (
            "The fee is $5 for adults and $3 for children.",
            ["The fee is $5 for adults.", "It is $4 for children."],
            ["The number '$3' is missing.", "The number '$4' is not in the source."],
        ),
        (
            "The fee is $5 on Monday and $5 on Friday.",
            ["The fee is $5 on Monday and Friday."],
            ["The number '$5' is missing."],
        ),
        (
            "The rent rises by 5%, and the fee is $40.",
            ["The rent rises by 5.", "The fee is 40."],
            ["The number '5%' is missing.", "The number '$40' is missing."],
        ),
        (
            "It was -12 degrees outside, and 12 people froze.",
            ["It was 12 degrees outside.", "12 people froze."],
            ["The number '-12' is missing."],
        ),
        (
            "The rate is five percent (5%), and Ann pays it.",
            ["The rate is five percent (5).", "Ann pays it."],
            ["The number '5%' is missing."],
        ),
        (
            "Ann pays 3 % in May, and Bob pays 3 % in June.",
            ["Ann pays 3 % in May.", "Bob pays 3 in June."],
            ["The number '3 %' is missing."],
        ),
        (
            "The rent rises by 5, and Ann leaves.",
            ["The rent rises by 5%.", "Ann leaves."],
            ["The number '5%' is not in the source."],
        ),
        (
            "Ann has boys, who sing.",
            ["Ann has 2 boys.", "They sing."],
            ["The number '2' is not in the source."],
        ),
        (
            'He called it "a quiet disaster" and left.',
            ["He called it bad.", "He left."],
            ["The quotation 'quiet disaster' is missing.", "The word 'bad' is not in the source."],
        ),
        (
            "Critics reportedly liked the film, which lost money.",
            ["Critics liked the film.", "It lost money."],
            ["The word 'reportedly' is missing."],
        ),
        (
            "The son of the late king fled.",
            ["He fled."],
            ["The wording 'son of the late king' is missing."],
        ),
        # A name is kept neither by a word that is like it nor by one derived from it, where the
        # source has that word too.
        (
            "The German army left Germany and sang.",
            ["The German army left.", "The army sang."],
            ["The name 'Germany' is missing."],
        ),
        (
            "He lost at Berest (Brest) and fled.",
            ["He lost at Brest.", "He fled."],
            ["The name 'Berest' is missing."],
        ),
    ],
)
def test_words_lost_and_new_are_named(source: str, simple: list[str], messages: list[str]) -> None:
    assert _messages(source, *simple) == messages


@pytest.mark.parametrize(
    ("source", "simple"),
    [
        ("Ann, serving tea, fell.", ["Ann served tea.", "She fell."]),
        ("They terminated it on notice.", ["The termination was on notice.", "They did this."]),
        ("He died in 1990, mourned by few.", ["His death was in 1990.", "Few mourned him."]),
        ("A counter-clockwise turn follows.", ["A counterclockwise turn follows."]),
        ("It rained in 1998,and it froze.", ["It rained in 1998.", "It also froze."]),
        ("He came in feburary, and slept.", ["He came in February.", "He slept."]),
        ("Seventy men and 5 boys ran.", ["70 men ran.", "Five boys also ran."]),
        ("It grew by 5%, but slowly.", ["It grew by 5 percent.", "However, it grew slowly."]),
        ("It grew by 5 per cent and fell.", ["It grew by 5%.", "It fell."]),
        ("It cost $5 million and sank.", ["It cost 5 million dollars.", "It sank."]),
        ("It rose 10 or 15 percent, then fell.", ["It rose 10% or 15%.", "Then it fell."]),
        ("In 1990 -1995 it froze and thawed.", ["It froze in 1990-1995.", "It thawed."]),
        ("One boy sang, and Ann left.", ["1 boy sang.", "Ann left."]),
        ("1 boy sang, and Ann left.", ["One boy sang.", "Ann left."]),
        ("Ann and Bob, who sing, left.", ["Ann and Bob left.", "The two sing."]),
        ("U.S. troops left, which pleased him.", ["US troops left.", "This pleased him."]),
        (
            "Norway's oldest town is Tarsk, a port.",
            ["Norway 's oldest town is Tarsk .", "Tarsk is a port ."],
        ),
        ("He sang; she, who wept, left.", ["He sang.", "However, she left.", "She wept."]),
        (
            "Ann Lee (1899-1963) painted.",
            ["Ann Lee was born in 1899.", "She died in 1963.", "She painted."],
        ),
        ("It shall (i) pay and (ii) go.", ["It shall pay.", "It shall also go."]),
        (
            "It stops as it is worn, in which case call us.",
            ["It stops as it is worn.", "Then, call us."],
        ),
        ("Not only did it sink, but it also burned.", ["It sank.", "It also burned."]),
    ],
)
def test_words_in_other_forms_are_kept(source: str, simple: list[str]) -> None:
    assert _messages(source, *simple) == []


def test_words_have_their_places() -> None:
    source, simple = "Ann, who is 30, sings.", ["Ann sings loudly."]
    lost, new = check(source, simple)
    assert (lost.kind, lost.sentence, source[lost.start : lost.end]) == (
        FindingKind.LOST,
        None,
        "30",
    )
    assert (new.kind, new.sentence, simple[0][new.start : new.end]) == (
        FindingKind.NEW,
        0,
        "loudly",
    )


def test_words_that_match_exactly_need_no_dictionary() -> None:
    code = (
        "import sys; from parataxis.checks import check;"
        "found = check('Ann ran, and the inn, which was old, burned.', "
        "['Ann ran.', 'The inn burned.', 'It was old.']);"
        "assert found == [], found;"
        "sys.exit('lemminflect' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.mark.parametrize(
    ("source", "simple", "messages"),
    [
        ("Ann left, Bob said.", ["According to Bob, Ann left."], []),
        (
            "Bob said that Ann, who wrote it, claims a share.",
            ["According to Bob, Ann has a share.", "Ann wrote it."],
            ["The word 'claims' is missing."],
        ),
        ("Pay by May, failing which you lose it.", ["Pay by May.", "Otherwise, you lose it."], []),
        (
            "The pump failed, and the crew left.",
            ["Otherwise, the crew left the pump."],
            ["The word 'failed' is missing."],
        ),
        (
            "Prices fell, which means that the mean of the samples fell.",
            ["Prices fell.", "Therefore, the samples fell."],
            ["The word 'mean' is missing."],
        ),
        (
            "The tour includes lunch, which costs nine euros.",
            ["The tour and lunch cost nine euros."],
            ["The word 'includes' is missing."],
        ),
        (
            "Ann paints, while Bob sings.",
            ["Ann paints.", "On the other hand, Bob sings."],
            [],
        ),
        (
            "Ann paints, while Bob masters the craft.",
            ["Ann paints.", "On the other hand, Bob masters the craft by hand."],
            ["The word 'hand' is not in the source."],
        ),
        (
            "Save your work first, because the upgrade erases it.",
            ["Save your work first.", "This is necessary because the upgrade erases it."],
            [],
        ),
        (
            "Users can save it unless the session is idle.",
            ["Users can save it.", "This is not possible if the session is idle."],
            [],
        ),
        (
            "Users saved it, because it is idle.",
            ["Users saved it.", "It is possible because it is possible that it is idle."],
            ["The word 'possible' is not in the source."],
        ),
    ],
)
def test_a_link_may_stand_for_one_word(source: str, simple: list[str], messages: list[str]) -> None:
    assert _messages(source, *simple) == messages
