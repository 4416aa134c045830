"""Sentences without a main verb and clauses that stand alone, on the shipped analyser."""

import pytest

from parataxis.checks import Checker
from parataxis.checks.clauses import is_fragment, is_incomplete
from parataxis.rewrite.record import FindingKind
from parataxis.syntax.analyser import load_analyser
from parataxis.syntax.analysis import ROOT, Analysis, Word


def _kinds(checker: Checker, source: str, *simple: str) -> list[tuple[int | None, str]]:
    kinds = (FindingKind.NO_VERB, FindingKind.FRAGMENT)
    return [(f.sentence, f.kind.value) for f in checker(source, simple) if f.kind in kinds]


@pytest.mark.parametrize(
    ("source", "simple", "expected"),
    [
        (
            "The museum, built in 1900 by the city, closed because the roof leaked.",
            ["The museum closed.", "Because the roof leaked.", "Built in 1900 by the city."],
            [(1, "fragment"), (2, "no-verb")],
        ),
        # A participle that could be a past tense: the source tells.
        (
            "The museum, a small house built in 1900 by the city, closed.",
            ["The museum closed.", "A small house built in 1900 by the city."],
            [(1, "no-verb")],
        ),
        (
            "Her second play, a farce, shows an evening at the court of a duke.",
            ["Her second play, a farce.", "It shows an evening.", "At the court of a duke."],
            [(0, "no-verb"), (2, "no-verb")],
        ),
        (
            "The house, which was built in 1900, burned.",
            ["The house burned.", "Which was built in 1900."],
            [(1, "fragment")],
        ),
        (
            "The house, which was built in 1900, burned.",
            ["The house which was built in 1900.", "The house burned."],
            [(0, "no-verb")],
        ),
        (
            "She taught, whilst at the same time he was working as a baker.",
            ["She taught.", "Whilst at the same time he was working as a baker."],
            [(1, "fragment")],
        ),
        (
            "The painter, whose wife was a singer, moved to Rome when the war ended.",
            ["The painter moved to Rome.", "Whose wife was a singer.", "When the war ended."],
            [(1, "fragment"), (2, "fragment")],
        ),
    ],
)
def test_clauses_that_cannot_stand_alone_are_found(
    checker: Checker, source: str, simple: list[str], expected: list[tuple[int, str]]
) -> None:
    assert _kinds(checker, source, *simple) == expected


@pytest.mark.parametrize(
    ("source", "simple"),
    [
        (
            "Ann sang and, because it was late, left.",
            ["Ann sang.", "Because it was late, she left."],
        ),
        (
            "It rained, so we, being wet, left.",
            ["It rained.", "Because of this, we left.", "We were wet."],
        ),
        ("The hall, which seats 500, is new.", ["The hall is new.", "The hall seats 500."]),
        ("The score having burned, he wrept.", ["The score burned.", "He wrept."]),
        (
            "The plan, if needed, shall be changed and sent.",
            ["If needed, the plan shall be changed.", "If needed, it shall be sent."],
        ),
        (
            "Read it, which takes an hour, and sign.",
            ["Read it.", "This takes an hour.", "Sign it."],
        ),
        (
            "Who did it, asked Ann, who had come late?",
            ["Who did it?", "Ann asked this.", "She had come late."],
        ),
        ("After the war, Otto, a baker, left.", ["After the war, Otto left.", "He was a baker."]),
    ],
)
def test_clauses_that_stand_alone_are_left(
    checker: Checker, source: str, simple: list[str]
) -> None:
    assert _kinds(checker, source, *simple) == []


def test_clauses_of_the_source_itself_are_no_fault(checker: Checker) -> None:
    assert _kinds(checker, "Because he was ill and sad.", "Because he was ill.", "And sad.") == [
        (1, "no-verb")
    ]
    assert _kinds(checker, "List of rivers of Peru, by length", "List of rivers.") == []


_MODAL = "If the rent is late, the Landlord may charge interest and terminate the lease."


@pytest.mark.parametrize(
    ("source", "simple", "expected"),
    [
        (
            _MODAL,
            [
                "If the rent is late, the Landlord may charge interest.",
                "The Landlord terminate the lease.",
            ],
            [(1, "no-verb")],
        ),
        (
            _MODAL,
            [
                "If the rent is late, the Landlord may charge interest.",
                "If the rent is late, it terminate the lease.",
            ],
            [(1, "no-verb")],
        ),
        (
            _MODAL,
            [
                "If the rent is late, the Landlord may charge interest.",
                "If the rent is late, the Landlord may terminate the lease.",
            ],
            [],
        ),
        (
            "The guards must lock the gate and leave the keys.",
            ["The guards must lock the gate.", "The guards leave the keys."],
            [],
        ),
        ("Ann wanted to sing and put it off.", ["Ann wanted to sing.", "Ann put it off."], []),
        (
            'The song, a hit, was "Push the Door", which sold well.',
            ['The song was "Push the Door".', "It was a hit.", "It sold well."],
            [],
        ),
        ("You must lock it and leave.", ["You must lock it.", "Leave."], []),
    ],
)
def test_clauses_verb_that_lost_its_auxiliary(
    checker: Checker, source: str, simple: list[str], expected: list[tuple[int, str]]
) -> None:
    assert _kinds(checker, source, *simple) == expected


def test_clauses_subordinator_may_be_the_last_word() -> None:
    words = [
        Word(0, "And", 0, 3, "CCONJ", "CC", {}, ROOT, "root"),
        Word(1, "although", 4, 12, "SCONJ", "IN", {}, 0, "fixed"),
    ]
    assert is_fragment(Analysis("And although", words))


@pytest.mark.parametrize(
    ("source", "incomplete"),
    [
        ("The occurrence of any breach of the Note, which breach goes on for a week.", True),
        ("A description of the costs of the rule, including costs that cannot be counted.", True),
        ("The rule, which has costs, was repealed.", False),
        ("Call the office, which opens at nine.", False),
        ("Temperature: Higher temperatures increase the speed, raising the rate.", False),
    ],
)
def test_clauses_know_a_source_that_is_no_sentence(source: str, incomplete: bool) -> None:
    assert is_incomplete(load_analyser()(source)) == incomplete


def test_clauses_been_needs_have(checker: Checker) -> None:
    source = "Having first been soaked, the leaves are dried."
    found = checker(source, ["The leaves first been soaked.", "The leaves are dried."])
    assert [finding.kind.value for finding in found] == ["no-verb"]


@pytest.mark.parametrize(
    ("source", "simple", "words"),
    [
        (
            "The prisoner was held for a year and sent to the court at Isfahan.",
            ["The prisoner was held for a year.", "He sent to the court at Isfahan."],
            ["He sent to the court at Isfahan."],
        ),
        (
            "The prisoner was held for a year and sent to the court at Isfahan.",
            ["The prisoner was held for a year.", "He was sent to the court at Isfahan."],
            [],
        ),
        (
            "The first game took place in 1869, soon followed by a standard set of rules.",
            ["The first game took place in 1869.", "It soon followed by a standard set of rules."],
            ["It soon followed by a standard set of rules."],
        ),
        (
            "Ann was born in Leeds and moved to York in 1990.",
            ["Ann was born in Leeds.", "She moved to York in 1990."],
            [],
        ),
    ],
)
def test_participle_without_its_auxiliary(source: str, simple: list[str], words: list[str]) -> None:
    findings = Checker(load_analyser())(source, simple)
    assert [each.words for each in findings if each.kind is FindingKind.NO_VERB] == words


@pytest.mark.parametrize(
    ("source", "simple", "expected"),
    [
        # A verb that has left its subject in another sentence.
        (
            'She rose to her feet, and, crying, "Quick!" caught hold of the rope.',
            ["She rose to her feet.", 'Crying, "Quick!" caught hold of the rope.'],
            [("no-verb", "What is the subject of 'caught'? In the source it has one.")],
        ),
        (
            "The mayor spoke first, and so did the clerk.",
            ["The mayor spoke first.", "So did the clerk."],
            [],
        ),
        # A noun with a clause.
        (
            "She thought of what would come: the disgrace; her mother's anger, which never lasted.",
            [
                "She thought of what would come: the disgrace.",
                "Her mother's anger, which never lasted.",
            ],
            [("no-verb", "Is this a sentence? In the source 'anger' has no verb of its own.")],
        ),
        # An infinitive that depends on what is not said with it.
        (
            "They offer a form to collect ideas and clearly explain the goals.",
            ["They offer a form to collect ideas.", "They also clearly explain the goals."],
            [("new", "Is this a fact ('explain')? In the source it depends on 'to'.")],
        ),
        (
            "They offer a form to collect ideas and clearly explain the goals.",
            ["They offer a form to collect ideas.", "It is also to clearly explain the goals."],
            [],
        ),
        # A verb that has no passive.
        (
            "The treaty was signed in May and entered into force in June.",
            ["The treaty was signed in May.", "It entered into force in June."],
            [],
        ),
    ],
)
def test_clauses_that_have_left_their_words(
    checker: Checker, source: str, simple: list[str], expected: list[tuple[str, str]]
) -> None:
    kinds = ("no-verb", "new")
    found = [(each.kind.value, each.message) for each in checker(source, simple)]
    assert [each for each in found if each[0] in kinds] == expected
