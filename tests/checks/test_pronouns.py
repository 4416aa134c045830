"""Pronouns with two antecedents, and genders that the source does not give."""

import pytest

from parataxis.checks import Checker
from parataxis.checks.findings import Origins
from parataxis.checks.pronouns import ambiguous_pronouns, misfit_pronouns
from parataxis.rewrite.align import align
from parataxis.rewrite.record import FindingKind
from parataxis.syntax.analyser import load_analyser
from parataxis.syntax.analysis import Analysis


def _messages(checker: Checker, source: str, *simple: str) -> list[str]:
    return [f.message for f in checker(source, simple) if f.kind is FindingKind.AMBIGUOUS_PRONOUN]


@pytest.mark.parametrize(
    ("source", "simple", "message"),
    [
        (
            "The castle overlooks the village, which was founded in 1300.",
            ["The castle overlooks the village.", "It was founded in 1300."],
            "Does 'It' mean 'The castle' or 'the village'? A reader cannot tell.",
        ),
        (
            "Smith defeated Jones, who died in 1990.",
            ["Smith defeated Jones.", "He died in 1990."],
            "Does 'He' mean 'Smith' or 'Jones'? A reader cannot tell.",
        ),
        (
            "The lawyers met the bankers, who had arrived late.",
            ["The lawyers met the bankers.", "They had arrived late."],
            "Does 'They' mean 'The lawyers' or 'the bankers'? A reader cannot tell.",
        ),
        (
            "Any tenant who breaks the lease must pay a fee and must leave.",
            ["Any tenant who breaks the lease must pay a fee.", "He must leave."],
            "'He' says that this is a man, but the source does not say so.",
        ),
        (
            "The new pilot landed safely and called home.",
            ["The new pilot landed safely.", "She called home."],
            "'She' says that this is a woman, but the source does not say so.",
        ),
        (  # "business" tells no gender
            "The new pilot left the business and called home.",
            ["The new pilot left the business.", "She called home."],
            "'She' says that this is a woman, but the source does not say so.",
        ),
    ],
)
def test_pronouns_that_mislead_are_found(
    checker: Checker, source: str, simple: list[str], message: str
) -> None:
    assert _messages(checker, source, *simple) == [message]


@pytest.mark.parametrize(
    ("source", "simple"),
    [
        # The last subject is meant.
        (
            "The castle, which was built in 1300, overlooks a lake.",
            ["The castle overlooks a lake.", "It was built in 1300."],
        ),
        # The last subject does not fit.
        (
            "The kings feared the priest, who was old.",
            ["The kings feared the priest.", "He was old."],
        ),
        (
            "The director made a film that won prizes.",
            ["The director made a film.", "It won prizes."],
        ),
        # Both nouns are one thing.
        ("Vexa is a firm that sells cars.", ["Vexa is a firm.", "It sells cars."]),
        # The pronoun was the source's own.
        ("The car hit the wall, and it broke.", ["The car hit the wall.", "It broke."]),
        # A name or a word tells the gender.
        ("Maria Lopez sang and left.", ["Maria Lopez sang.", "She left."]),
        ("The actress sang and left.", ["The actress sang.", "She left."]),
        ("A spokesman declined and left.", ["A spokesman declined.", "He left."]),
    ],
)
def test_pronouns_that_are_clear_are_left(checker: Checker, source: str, simple: list[str]) -> None:
    assert _messages(checker, source, *simple) == []


@pytest.mark.parametrize(
    ("source", "simple", "messages"),
    [
        (
            "The two schools share the cost and own the ship.",
            ["The two schools share the cost.", "It also owns the ship."],
            ["Does 'It' stand for 'The two schools'? It does not fit."],
        ),
        (
            "The clerk wrote the letter and left.",
            ["The clerk wrote the letter.", "It left."],
            ["Does 'It' stand for 'The clerk'? It does not fit."],
        ),
        (
            "The committee met in May and fixed the date.",
            ["The committee met in May.", "They fixed the date."],
            [],
        ),
        ("Smith and Sons was founded in 1900 and closed in May.", ["It closed in May."], []),
        (
            "Relief officials say the toll continues to rise and are calling for help.",
            ["Relief officials say the toll continues to rise.", "They are calling for help."],
            [],
        ),
        (
            "Each client shall verify the certificate and should cache the result.",
            ["Each client shall verify the certificate.", "It should cache the result."],
            [],
        ),
        (
            "The firm and its owner has a mill and runs it.",
            ["The firm and its owner has a mill.", "They run it."],
            [],
        ),
        (
            "He said the mill closed in May and burned in June.",
            ["He said the mill closed in May.", "They burned in June."],
            ["Does 'They' stand for 'the mill'? It does not fit."],
        ),
        (
            "His eyes fell on a table near which he sat and which was in the hall.",
            ["His eyes fell on a table near which he sat.", "He was in the hall."],
            ["Does 'He' stand for 'which'? It does not fit."],
        ),
        (
            "The wreck, which lies on her side, will be towed.",
            ["The wreck will be towed.", "She lies on her side."],
            [],
        ),
    ],
)
def test_pronouns_that_do_not_fit_their_subject_are_found(
    source: str, simple: list[str], messages: list[str]
) -> None:
    analysis = load_analyser()(source)
    origins = [Origins(analysis, tokens) for tokens in align(source, simple)]
    assert [found.message for found in misfit_pronouns(analysis, origins)] == messages


def test_pronoun_of_the_other_gender_is_found(checker: Checker) -> None:
    source = "The judge, Carmel Azzopardi, whose term ends in May, stands by his findings."
    simple = ["The judge, Carmel Azzopardi, stands by his findings.", "Her term ends in May."]
    assert [finding.message for finding in checker(source, simple)] == [
        "Is it 'Her' or 'his'? The source has 'his'."
    ]
    two = "Ann Lee, whom Bob Ray met in May, stands by her findings."
    assert checker(two, ["Ann Lee stands by her findings.", "He met Ann in May, Bob Ray."]) == []


def test_pronoun_has_its_place(checker: Checker) -> None:
    source = "The castle overlooks the village, which was founded in 1300."
    simple = ["The castle overlooks the village.", "Later, it was founded in 1300."]
    finding = next(f for f in checker(source, simple) if f.kind is FindingKind.AMBIGUOUS_PRONOUN)
    assert (finding.sentence, simple[1][finding.start : finding.end]) == (1, "it")


def test_pronouns_phrase_of_a_noun_that_the_parser_takes_for_a_preposition() -> None:
    source = "The castle overlooks the village, which was founded in 1300."
    simple = ["The castle overlooks the village.", "It was founded in 1300."]
    before, after = map(load_analyser(), simple)
    (village,) = [word for word in before if word.text == "village"]
    words = [
        word._replace(deprel="case")
        if word == village
        else word._replace(head=before.root.index)
        if word.head == village.index
        else word
        for word in before
    ]
    analysis = load_analyser()(source)
    origins = [Origins(analysis, tokens) for tokens in align(source, simple)]
    (finding,) = ambiguous_pronouns(analysis, [Analysis(before.text, words), after], origins)
    assert finding.message == "Does 'It' mean 'The castle' or 'village'? A reader cannot tell."
