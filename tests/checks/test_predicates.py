"""Modal verbs, negations and tenses belong to their verbs."""

import pytest

from parataxis.checks import Checker
from parataxis.rewrite.align import align
from parataxis.rewrite.record import FindingKind, Origin


@pytest.mark.parametrize(
    ("source", "simple", "messages"),
    [
        (
            "The Buyer may inspect the goods, and the Seller shall deliver them or may keep them.",
            [
                "The Buyer shall inspect the goods.",
                "The Seller shall deliver them or may keep them.",
            ],
            ["Is it 'shall' or 'may' before 'inspect'? The source has 'may'."],
        ),
        (
            "The Tenant shall clean the flat and shall return the keys, and may keep the lamp.",
            [
                "The Tenant shall clean the flat.",
                "The Tenant can return the keys.",
                "The Tenant may keep the lamp.",
            ],
            ["Is it 'can' or 'shall' before 'return'? The source has 'shall'."],
        ),
        (
            "The dam could burst, flooding three villages.",
            ["The dam could burst.", "It flooded three villages."],
            ["The modal verb 'could' is missing before 'flooded'."],
        ),
        (
            "The guards must lock the gate and must leave the keys, which must be counted.",
            [
                "The guards must lock the gate.",
                "The guards leave the keys.",
                "The keys must and must be counted.",
            ],
            ["The modal verb 'must' is missing before 'leave'."],
        ),
        (
            "The bank did not answer, and the clerk has sold the house.",
            ["The bank did not answer.", "The clerk has not sold the house."],
            ["Is 'sold' denied? The source does not deny it."],
        ),
        (
            "The mill, which was closed in 1990, belongs to a firm that makes paper.",
            ["The mill is closed in 1990.", "It belongs to a firm that makes paper."],
            ["Is it 'is' or 'was'? The source has 'was'."],
        ),
        (
            "The firm makes paper, and the mill burned.",
            ["The firm made paper.", "The mill burned."],
            ["Is it 'made' or 'makes'? The source has 'makes'."],
        ),
    ],
)
def test_predicates_that_changed_are_found(
    checker: Checker, source: str, simple: list[str], messages: list[str]
) -> None:
    assert [finding.message for finding in checker(source, simple)] == messages


@pytest.mark.parametrize(
    ("source", "simple"),
    [
        (
            "The dam could burst, flooding three villages.",
            ["The dam could burst.", "This could flood three villages."],
        ),
        (
            "The Seller shall deliver the goods in May, payable on demand.",
            ["The Seller shall deliver the goods in May.", "They shall be payable on demand."],
        ),
        (
            "Should it rain, the concert will be held indoors and those outside will wait.",
            [
                "If it rains, the concert will be held indoors.",
                "In that case, those outside will wait.",
            ],
        ),
        (
            "I can forgive a poet who rhymes well, but not one who boasts.",
            ["I can forgive a poet who rhymes well.", "However, I cannot forgive one who boasts."],
        ),
        ("The inn, built in 1900, is empty.", ["The inn is empty.", "It was built in 1900."]),
        (
            "Not only did Ann become a judge, but she sings.",
            ["Ann became a judge.", "She also sings."],
        ),
    ],
)
def test_predicates_in_other_words_are_kept(
    checker: Checker, source: str, simple: list[str]
) -> None:
    assert checker(source, simple) == []


def test_predicates_of_a_form_that_the_dictionary_does_not_know(checker: Checker) -> None:
    source, simple = "The old dog must walks home.", ("The old dog trundlewent home.",)
    provenance = align(source, simple)
    changed = provenance[0][3].model_copy(update={"origin": Origin.INFLECTED, "source": (17, 22)})
    tokens = (*provenance[0][:3], changed, *provenance[0][4:])
    found = checker(source, simple, [tokens])
    assert {finding.kind for finding in found} >= {FindingKind.NEW}
