"""Wrong relations: exact cases on the shipped analyser, faulty and right ones."""

import pytest

from parataxis.checks import Checker
from parataxis.rewrite.record import FindingKind


def _messages(checker: Checker, source: str, *simple: str) -> list[tuple[int | None, str]]:
    return [
        (f.sentence, f.message) for f in checker(source, simple) if f.kind is FindingKind.RELATION
    ]


@pytest.mark.parametrize(
    ("source", "simple", "expected"),
    [
        # The subject of a relative clause: the verb tells the number.
        (
            "The spaces in the garage beneath the tower, which are marked on the plan, are free.",
            [
                "The spaces in the garage beneath the tower are free.",
                "The tower is marked on the plan.",
            ],
            (
                1,
                "Is it the tower or the spaces that is marked? "
                "The source does not say this of the tower.",
            ),
        ),
        # The subject that a verb shares with the one before it.
        (
            "The seller's engineer, whose flight was late, joined the test by video and asked the "
            "operator to stop the line.",
            [
                "The seller's engineer joined the test by video.",
                "His flight was late.",
                "The seller asked the operator to stop the line.",
            ],
            (
                2,
                "Is it the seller or the seller's engineer that asked the operator to stop? "
                "The source does not say this of the seller.",
            ),
        ),
        # A participle at the start does not speak of a noun that comes after the subject.
        (
            "Elected captain by her team, she wore the armband until the federation took it away.",
            [
                "The federation was elected captain by her team.",
                "She wore the armband until the federation took it away.",
            ],
            (
                0,
                "Is it the federation or she that was elected captain? "
                "The source does not say this of the federation.",
            ),
        ),
        # Pronouns and relative words that cannot mean the noun in their place.
        (
            "The goods were lost because the carrier returned them to the depot.",
            [
                "The goods were lost.",
                "This was because the carrier returned the carrier to the depot.",
            ],
            (1, "Is 'the carrier' right with 'returned'? The source does not say this of it."),
        ),
        (
            "The parts were sold as seen, and the buyer had the chance to inspect them.",
            ["The parts were sold as seen.", "The buyer had the chance to inspect the buyer."],
            (1, "Is 'the buyer' right with 'inspect'? The source does not say this of it."),
        ),
        (
            "The author wrote scenes that missed the final cut, one of which showed a fire.",
            ["The author wrote scenes that missed the final cut.", "One of the cut showed a fire."],
            (1, "Is 'the cut' right with 'One'? The source does not say this of it."),
        ),
        (
            "An application has to pass the token returned by the last commit, without which stale "
            "data may be shown.",
            [
                "An application has to pass the token returned by the last commit.",
                "Stale data may be shown without the application.",
            ],
            (1, "Is 'the application' right with 'shown'? The source does not say this of it."),
        ),
        # Number.
        (
            "The clerk kept the list of the members, which was lost in 1902.",
            ["The clerk kept the list of the members.", "The members was lost in 1902."],
            (1, "'members' and 'was' do not agree in number."),
        ),
        # Voice.
        (
            "The editor has many keyboard shortcuts, inherited from a terminal of 1970.",
            ["The editor has many keyboard shortcuts.", "They inherited from a terminal of 1970."],
            (1, "Does 'They' do this ('inherited')? In the source it is done to it."),
        ),
        (
            "As the culture grows, the dye spreads into the agar and stains the cells.",
            ["As the culture grows, the dye spreads into the agar.", "The agar stains the cells."],
            (
                1,
                "Is it the agar or the dye that stains the cells? "
                "The source does not say this of the agar.",
            ),
        ),
        # A relative word without its noun.
        (
            "The soil, from which rain washes nutrients away, would otherwise be poor.",
            ["The soil would otherwise be poor from which rain washes nutrients away."],
            (0, "What does 'which' stand for? It has lost the noun before it."),
        ),
    ],
)
def test_relations_that_the_source_does_not_have_are_found(
    checker: Checker, source: str, simple: list[str], expected: tuple[int, str]
) -> None:
    assert _messages(checker, source, *simple) == [expected]


@pytest.mark.parametrize(
    ("source", "simple"),
    [
        # A longer name of the same thing.
        (
            "When the primary node fails, the backup waits and then confirms a new term, which the "
            "primary cannot override.",
            [
                "When the primary node fails, the backup waits and then confirms a new term.",
                "The primary node cannot override the new term.",
            ],
        ),
        # The right noun in the same sentences.
        (
            "The clerk kept the list of the members, which was lost in 1902.",
            ["The clerk kept the list of the members.", "The list was lost in 1902."],
        ),
        (
            "An application has to pass the token returned by the last commit, without which stale "
            "data may be shown.",
            [
                "An application has to pass the token returned by the last commit.",
                "Stale data may be shown without the token.",
            ],
        ),
        (
            "Elected captain by her team, she wore the armband until the federation took it away.",
            [
                "She was elected captain by her team.",
                "She wore the armband until the federation took it away.",
            ],
        ),
        # A clause that may hang on either of two nouns is not judged.
        (
            "The money goes to another society having similar objects, which the members choose.",
            [
                "The money goes to another society having similar objects.",
                "The members choose this society.",
            ],
        ),
        (
            "The breach may cause harm to the company which will be difficult to measure.",
            ["The breach may cause harm to the company.", "The harm will be difficult to measure."],
        ),
        # Names of the same thing.
        (
            "The painter Ada Holm, a native of Bergen, sold the house that she had inherited.",
            [
                "Ada Holm was a native of Bergen.",
                "The painter sold the house that she had inherited.",
            ],
        ),
        (
            'This lease binds Holm Ltd, a company registered in Norway (the "Tenant").',
            ["This lease binds Holm Ltd.", 'The "Tenant" is a company registered in Norway.'],
        ),
        # A verb that the source leaves out the second time.
        (
            "Rosa scrubbed the pots and her sister the floors.",
            ["Rosa scrubbed the pots.", "Her sister scrubbed the floors."],
        ),
        # What stood between commas has gone; nothing else has moved.
        (
            "Cocoa growers in Abidjan, caught between two prices, are losing money.",
            ["Cocoa growers in Abidjan are losing money.", "They are caught between two prices."],
        ),
        # A condition may have a plural verb.
        (
            "The tax raises money which, if it were not collected, would be missed.",
            ["The tax raises money.", "If this money were not collected, it would be missed."],
        ),
        # An indirect question is no relative clause.
        (
            "She asked who had sold the house, and nobody knew.",
            ["She asked who had sold the house.", "Nobody knew."],
        ),
    ],
)
def test_relations_that_the_source_has_are_not_faulted(
    checker: Checker, source: str, simple: list[str]
) -> None:
    assert _messages(checker, source, *simple) == []


def test_relations_name_the_word_at_fault(checker: Checker) -> None:
    source = "The clerk kept the list of the members, which was lost in 1902."
    simple = ["The clerk kept the list of the members.", "The members was lost in 1902."]
    (finding,) = [f for f in checker(source, simple) if f.kind is FindingKind.RELATION]
    assert finding.words == "members"
    assert simple[finding.sentence or 0][finding.start : finding.end] == "members"


@pytest.mark.parametrize(
    ("source", "simple"),
    [
        (
            "The novel, which was written by Ann Lee in 1990, won a prize.",
            ["Ann Lee wrote the novel in 1990.", "The novel won a prize."],
        ),
        (
            "The town relied on a mine, and the mine closed in 1980.",
            ["The town relied on a mine.", "It closed in 1980."],
        ),
        (
            "Although he was ill, he worked, and she slept.",
            ["Though he was ill, he worked.", "She slept."],
        ),
        (
            "The film was shot in Rome and premiered in Cannes.",
            ["The film was shot in Rome.", "It premiered in Cannes."],
        ),
        (
            "The ship, sunk in 1941 off Crete, was found in May.",
            ["The ship was found in May.", "The ship sank in 1941 off Crete."],
        ),
    ],
)
def test_correct_rewrites_that_look_turned_are_not_flagged(
    checker: Checker, source: str, simple: list[str]
) -> None:
    assert checker(source, simple) == []
