"""What is wrong with a language model's rewrite: real faults of such models, and none."""

import pytest

from parataxis.rewrite.record import Finding, FindingKind, Origin
from parataxis.splitters.llm.guard import GuardedCandidate, examine
from parataxis.syntax.analyser import load_analyser

MILL = "The mill, which was not built in 1850, burned down."
PRICES = "The Buyer shall pay $5 for the apples and $7 for the pears."
LIFE = "He was born in 1950 in Oslo and died in 2001 in Rome."
FIGHT = "Ann, who lives in Oslo, defeated Bob."
PAIR = "Ann Lee, a doctor, met Bob Ray, a lawyer."


def faults(source: str, *simple: str) -> list[str]:
    (candidate,) = examine([(source, simple)], load_analyser())
    return [f"{finding.kind}: {finding.message}" for finding in candidate.findings]


@pytest.mark.parametrize(
    ("source", "simple"),
    [
        (MILL, ["The mill burned down.", "It was not built in 1850."]),
        (MILL, [MILL]),
        (PRICES, ["The Buyer shall pay $5 for the apples.", "It shall pay $7 for the pears."]),
        (LIFE, ["He was born in 1950 in Oslo.", "He died in 2001 in Rome."]),
        (FIGHT, ["Ann defeated Bob.", "Ann lives in Oslo."]),
        (PAIR, ["Ann Lee met Bob Ray.", "Ann Lee is a doctor.", "Bob Ray is a lawyer."]),
        (
            "She refused to pay or to leave, and nobody asked for no reason.",
            ["She refused to pay or to leave.", "Nobody asked for no reason."],
        ),
        (
            "The first notice, which is old, covers theft, but the second one does not.",
            [
                "The first notice covers theft.",
                "It is old.",
                "However, the second one does not cover theft.",
            ],
        ),
    ],
)
def test_guard_lets_good_rewrites_pass(source: str, simple: list[str]) -> None:
    assert faults(source, *simple) == []


@pytest.mark.parametrize(
    ("source", "simple"),
    [
        (FIGHT, ("Bob was defeated by Ann.", "Ann lives in Oslo.")),
        ("Ann, defeated by Bob in 1891, left.", ("Bob defeated Ann in 1891.", "Ann left.")),
        (
            "The bridge, built by Anna Berg in 1891, crosses the river.",
            ("Anna Berg built the bridge in 1891.", "The bridge crosses the river."),
        ),
    ],
)
def test_guard_only_doubts_a_change_of_voice(source: str, simple: tuple[str, ...]) -> None:
    (candidate,) = examine([(source, simple)], load_analyser())
    assert all(finding.probability is not None for finding in candidate.findings)


@pytest.mark.parametrize(
    ("source", "simple", "found"),
    [
        (
            MILL,
            ["The mill burned down.", "It was built in 1850."],
            ["lost: The negation 'not' is missing."],
        ),
        (
            MILL,
            ["The mill burned down.", "It was not built."],
            ["lost: The number '1850' is missing."],
        ),
        (
            MILL,
            ["The mill burned down.", "It was not built by Ann Lee in 1850."],
            ["new: The name 'Ann Lee' is not in the source."],
        ),
        (
            MILL,
            ["The mill burned down.", "It was not constructed in 1850."],
            [
                "lost: The word 'built' is missing.",
                "new: The word 'constructed' is not in the source.",
            ],
        ),
        (
            MILL,
            ["**The mill burned down.", "It was not built in 1850."],
            ["new: Where does the mark '**' come from? The source has none."],
        ),
        (
            MILL,
            ["The mill burned down!", "It was not built in 1850."],
            ["new: Where does the mark '!' come from? The source has none."],
        ),
        (MILL, ["The mi\u200bll burned down.", "The mill was not built in 1850."], None),
        (MILL, ["I'm sorry, but I can't help with that."], None),
        (
            MILL,
            ["The mill burned down.", "The mill burned down.", "It was not built in 1850."],
            ["repeated: The sentence 'The mill burned down.' says again what was said before."],
        ),
        # a denial that belongs to something else
        (
            "The virus does not survive drying, but it may live for weeks in water.",
            ["The virus does not survive drying.", "However, it may not live for weeks in water."],
            ["new: Is 'live' denied? The source does not deny it."],
        ),
        (
            "The Plan shall be run by the Committee, whose rules bind all other members.",
            ["The Plan shall not be run by the Committee.", "Its rules bind all other members."],
            ["new: Is 'run' denied? The source does not deny it."],
        ),
        # everything is there, in the wrong place
        (
            FIGHT,
            ["Bob defeated Ann.", "Ann lives in Oslo."],
            [
                "relation: Is it Bob or Ann that defeated? In the source it is Ann.",
                "relation: 'defeated' whom or what: Ann or Bob? In the source it is Bob.",
            ],
        ),
        (
            FIGHT,
            ["Ann was defeated by Bob.", "Ann lives in Oslo."],
            [
                "relation: Is it Ann or Bob that was defeated? In the source it is Bob.",
                "relation: 'defeated by' whom or what: Bob or Ann? In the source it is Ann.",
            ],
        ),
        (
            "The bridge, built by Anna Berg in 1891, crosses the river.",
            ["The bridge built Anna Berg in 1891.", "The bridge crosses the river."],
            [
                "relation: Does Anna Berg do this ('built'), or is it done to Anna Berg? "
                "See the source.",
            ],
        ),
        (
            PRICES,
            ["The Buyer shall pay $7 for the apples.", "The Buyer shall pay $5 for the pears."],
            [
                "relation: Is it '7' or '5'? The source has '5' here.",
                "relation: Is it '5' or '7'? The source has '7' here.",
            ],
        ),
        (
            LIFE,
            ["He was born in 1950 in Rome.", "He died in 2001 in Oslo."],
            [
                "relation: Have 'Oslo' and 'Rome' changed places? "
                "In the source it is the other way round.",
            ],
        ),
        (
            PAIR,
            ["Ann Lee met Bob Ray.", "Ann Lee is a lawyer.", "Bob Ray is a doctor."],
            [
                "relation: Have 'Lee' and 'Ray' changed places? "
                "In the source it is the other way round.",
            ],
        ),
        # what only the verifier sees
        (
            "The Supplier shall deliver the goods to the warehouse in Antwerp or, at the option of "
            "the Buyer, to the warehouse in Ghent, and shall insure them until delivery.",
            [
                "The Supplier shall deliver the goods to the warehouse in Ghent or, at the option "
                "of the Buyer, to the warehouse in Antwerp.",
                "The Supplier shall insure the goods until delivery.",
            ],
            ["relation: This may be said of the wrong person or thing."],
        ),
    ],
)
def test_guard_finds_faults(source: str, simple: list[str], found: list[str] | None) -> None:
    if found is None:
        assert any(fault.startswith("new: ") for fault in faults(source, *simple))
    else:
        assert faults(source, *simple) == found


def test_guard_findings_say_where_they_stand() -> None:
    sources = [
        (FIGHT, ("Bob defeated Ann.", "Ann lives in Oslo!")),
        (
            PRICES,
            ("The Buyer shall pay $7 for the apples.", "The Buyer shall pay $5 for the pears."),
        ),
    ]
    for candidate in examine(sources, load_analyser()):
        assert candidate.findings
        for finding in candidate.findings:
            assert finding.sentence is not None
            sentence = candidate.simple[finding.sentence]
            assert sentence[finding.start : finding.end] == finding.words


def test_guard_gives_provenance_by_alignment() -> None:
    (candidate,) = examine(
        [(MILL, ("The mill burned down.", "It was not built in 1850."))], load_analyser()
    )
    first, second = candidate.provenance
    assert [token.origin for token in first] == [Origin.COPIED] * 5
    assert (second[0].text, second[0].origin) == ("It", Origin.INSERTED)
    assert [MILL[slice(*token.source)] for token in second if token.source][:4] == [
        "was",
        "not",
        "built",
        "in",
    ]


def test_guard_weighs_what_rules_out_before_all_else() -> None:
    def candidate(*kinds: FindingKind) -> GuardedCandidate:
        found = tuple(Finding(kind=kind, words="x", start=0, end=1, message="x.") for kind in kinds)
        return GuardedCandidate((), (), found)

    blocking = {FindingKind.LOST, FindingKind.NEW}
    one_lost = candidate(FindingKind.LOST).gravity(blocking)
    three_lesser = candidate(
        FindingKind.FRAGMENT, FindingKind.FRAGMENT, FindingKind.NO_VERB
    ).gravity(blocking)
    assert candidate().gravity(blocking) < three_lesser < one_lost
    assert one_lost < candidate(FindingKind.LOST, FindingKind.NO_VERB).gravity(blocking)
