"""Claims keep what they are said under, know where they come from, and are linked to others."""

import pytest

import parataxis
from parataxis import Claim, Rewrite, Splitter
from parataxis.checks.scope import lost_scope
from parataxis.rewrite.align import align
from parataxis.splitters.claims import ClaimDocument, find_claims
from parataxis.syntax.analyser import load_trees
from parataxis.text.documents import read_document


@pytest.fixture(scope="module")
def atomic() -> Splitter:
    return Splitter(level="atomic")


def shown(claim: Claim) -> tuple[str, list[tuple[str, str]]]:
    return claim.text, [(each.kind.value, each.words) for each in claim.scope]


@pytest.mark.parametrize(
    ("text", "claims"),
    [
        (
            "If the tenant fails to pay, the landlord may end the lease and keep the deposit.",
            [
                (
                    "If the tenant fails to pay, the landlord may end the lease.",
                    [("condition", "If the tenant fails to pay"), ("modal", "may")],
                ),
                (
                    "If the tenant fails to pay, the landlord may keep the deposit.",
                    [("condition", "If the tenant fails to pay"), ("modal", "may")],
                ),
            ],
        ),
        (
            "The minister said that the plan was ready and that work had begun.",
            [
                (
                    "The minister said that the plan was ready.",
                    [("attribution", "The minister said that")],
                ),
                (
                    "The minister said that work had begun.",
                    [("attribution", "The minister said that")],
                ),
            ],
        ),
        (
            "Who discovered the element, and when was it named?",
            [
                ("Who discovered the element?", [("question", "?")]),
                ("When was the element named?", [("question", "?")]),
            ],
        ),
        (
            "Ann hopes that Bob comes and that Carl leaves.",
            [
                ("Ann hopes that Bob comes.", [("wish", "Ann hopes that")]),
                ("Ann hopes that Carl leaves.", [("wish", "Ann hopes that")]),
            ],
        ),
        (
            "The committee did not approve the budget or elect a new chair.",
            [
                ("The committee did not approve the budget.", [("denial", "not")]),
                ("The committee did not elect a new chair.", [("denial", "not")]),
            ],
        ),
        (
            "The court may fine the owner or close the shop, and the police shall keep the keys.",
            [
                (
                    "The court may fine the owner or close the shop.",
                    [("modal", "may"), ("alternative", "or")],
                ),
                ("The police shall keep the keys.", [("modal", "shall")]),
            ],
        ),
        (
            "According to the report, the company lost money in 2019 and fired 300 people.",
            [
                (
                    "According to the report, the company lost money in 2019.",
                    [("attribution", "According to the report")],
                ),
                (
                    "According to the report, the company fired 300 people.",
                    [("attribution", "According to the report")],
                ),
            ],
        ),
        (
            "Ann plays the flute or sings.",
            [("Ann plays the flute or sings.", [("alternative", "or")])],
        ),
        (
            "The house on the hill",
            [("The house on the hill", [("fragment", "The house on the hill")])],
        ),
    ],
)
def test_claims_keep_what_they_are_said_under(
    atomic: Splitter, text: str, claims: list[tuple[str, list[tuple[str, str]]]]
) -> None:
    found = atomic.claims(text)
    assert [shown(claim) for claim in found] == claims
    assert [claim.is_stated for claim in found] == [
        all(kind == "denial" for kind, _ in scope) for _, scope in claims
    ]


@pytest.mark.parametrize(
    ("source", "simple", "message"),
    [
        (
            "The landlord may end the lease and keep the deposit if the tenant fails to pay.",
            ["The landlord may end the lease.", "The landlord may keep it if the tenant fails."],
            "'end' has lost the condition that governs it ('if the tenant fails to pay').",
        ),
        (
            "When a token expires, the server shall reject it and shall log the event.",
            [
                "When a token expires, the server shall reject it.",
                "The server shall log the event.",
            ],
            "'log' has lost the condition that governs it ('When a token expires').",
        ),
        (
            "The minister said that the plan was ready and that work had begun.",
            ["The minister said that the plan was ready.", "Work had begun."],
            "'begun' has lost the attribution that governs it ('The minister said that').",
        ),
        (
            "According to the report, the firm lost money and fired 300 people.",
            ["According to the report, the firm lost money.", "The firm fired 300 people."],
            "'fired' has lost the attribution that governs it ('According to the report').",
        ),
        (
            "Ann wishes that Bob were here and that Carl were quiet.",
            ["Ann wishes that Bob were here.", "Carl were quiet."],
            "'quiet' has lost the wish that governs it ('Ann wishes that').",
        ),
        (
            "Who won the race, and who lost it?",
            ["Who won the race?", "Ann lost the race."],
            "'lost' has lost the question that governs it ('?').",
        ),
        (
            "She did not sign the contract or pay the fee.",
            ["She did not sign the contract.", "She did pay the fee."],
            "'pay' has lost the denial that governs it ('not').",
        ),
        (
            "The dam could burst, flooding three villages.",
            ["The dam could burst.", "The dam flooded three villages."],
            "'flooded' has lost the modal that governs it ('could').",
        ),
        (
            "Ann plays the flute or sings.",
            ["Ann plays the flute.", "Ann sings."],
            "'plays' has lost the alternative that governs it ('or').",
        ),
    ],
)
def test_claims_that_would_be_taken_for_facts_are_not_given_out(
    source: str, simple: list[str], message: str
) -> None:
    rewrite = Rewrite(source=source, simple=simple, splitter="theirs", confidence=0.9)
    assert message in [
        found.message for found in lost_scope(load_trees()(source), align(source, simple))
    ]
    document = read_document(source)
    ((claim,),) = find_claims([ClaimDocument(source, document.sentences, [rewrite], ["s"])])
    assert (claim.id, claim.text, claim.splitter) == ("s#1", source, "theirs")
    assert claim.confidence is None
    assert claim.note is not None
    assert message[1:-1] in claim.note


@pytest.mark.parametrize(
    ("source", "simple"),
    [
        (
            "After he left the army, Tom moved to Boston and married Mary.",
            ["After Tom left the army, Tom moved to Boston.", "Tom married Mary."],
        ),
        (
            "Smith argued that the law, which passed in 1998, had failed.",
            ["Smith argued that the law had failed.", "The law passed in 1998."],
        ),
        (
            "While the pump runs, it shall be watched, and if it stops, the valve shall open.",
            ["While the pump runs, it shall be watched.", "If it stops, the valve shall open."],
        ),
        (
            "While the rooms are small, the view from them is famous.",
            ["The rooms are small.", "The view from the rooms is famous."],
        ),
        (
            "The course not only saved money but also gave us a sense of pride.",
            ["The course saved money.", "The course gave us a sense of pride."],
        ),
        (
            "The tax stays until 2028, when the debt will have been repaid.",
            ["The tax stays until 2028.", "In 2028 the debt will have been repaid."],
        ),
    ],
)
def test_claims_are_not_refused_for_what_does_not_govern_them(
    source: str, simple: list[str]
) -> None:
    assert lost_scope(load_trees()(source), align(source, simple)) == []


def given(text: str, simple: list[list[str]], *, names: bool = False) -> list[Claim]:
    """The claims of a text whose sentences have these rewrites."""
    spans = read_document(text).sentences
    rewrites = [
        Rewrite(source=span.text, simple=each, splitter="theirs")
        for span, each in zip(spans, simple, strict=True)
    ]
    ids = [str(number) for number in range(1, len(spans) + 1)]
    return find_claims([ClaimDocument(text, spans, rewrites, ids)], names=names)[0]


@pytest.mark.parametrize(
    ("text", "simple", "links"),
    [
        (
            "Although it rained, the match went on.",
            [["It rained.", "The match went on."]],
            [("The match went on.", "contrast", "It rained.", "Although")],
        ),
        (
            "The bridge collapsed, so the road was closed.",
            [["The bridge collapsed.", "The road was closed."]],
            [("The road was closed.", "cause", "The bridge collapsed.", "so")],
        ),
        (
            "The plan was approved. However, the mayor, who had opposed it, resigned.",
            [["The plan was approved."], ["The mayor had opposed it.", "The mayor resigned."]],
            [("The mayor resigned.", "contrast", "The plan was approved.", "However")],
        ),
        (
            "The pump failed. As a result, the cellar was flooded.",
            [["The pump failed."], ["As a result, the cellar was flooded."]],
            [("As a result, the cellar was flooded.", "cause", "The pump failed.", "As a result")],
        ),
        (
            '"The plan is ready," said the minister. "Work will begin in May."',
            [['"The plan is ready," said the minister.'], ['"Work will begin in May."']],
            [
                (
                    '"Work will begin in May."',
                    "attribution",
                    '"The plan is ready," said the minister.',
                    '"',
                )
            ],
        ),
        (
            "Since he left, it has rained.",
            [["He left.", "It has rained."]],
            [],
        ),
    ],
)
def test_claims_are_linked(
    text: str, simple: list[list[str]], links: list[tuple[str, str, str, str]]
) -> None:
    claims = given(text, simple)
    texts = {claim.id: claim.text for claim in claims}
    assert [
        (claim.text, link.kind.value, texts[link.to], link.words)
        for claim in claims
        for link in claim.links
    ] == links


def test_claims_of_one_sentence_are_linked_as_its_clauses_were() -> None:
    source = "After he left the army, Tom moved to Boston, but Ann, i.e. his wife, stayed."
    simple = ["Tom left the army.", "Tom moved to Boston.", "Ann stayed.", "Ann is his wife."]
    one, two, three, _ = given(source, [simple])
    assert one.links == ()
    assert [(link.kind.value, link.to) for link in two.links] == [("time", one.id)]
    assert [(link.kind.value, link.to) for link in three.links] == [("contrast", two.id)]


def test_claims_know_their_places_in_the_document() -> None:
    text = "> The mill, which was\n> built in 1850, burned  down. It rained."
    claims = parataxis.claims(text)
    assert [(claim.id, claim.text) for claim in claims] == [
        ("1#1", "The mill was built in 1850."),
        ("1#2", "The mill burned down."),
        ("2#1", "It rained."),
    ]
    assert [[text[start:end] for start, end in claim.spans] for claim in claims] == [
        ["The mill", "was\n> built in 1850"],
        ["The mill", "burned  down."],
        ["It rained."],
    ]
    assert text[claims[0].start : claims[0].end] == text[2 : text.index(" It")]
    assert claims[0].source == "The mill, which was built in 1850, burned down."
    assert claims[0].confidence is not None
    assert claims[2].confidence is None


def test_claims_need_a_splitter_with_levels_and_a_text() -> None:
    with pytest.raises(parataxis.InputError, match="has no levels"):
        parataxis.claims("It rained.", splitter="rules")
    with pytest.raises(parataxis.InputError, match="empty"):
        parataxis.claims(" ")


def test_claims_survive_json() -> None:
    (claim, _) = parataxis.claims("Ann sang, and Bob left.")
    assert Claim.model_validate_json(claim.model_dump_json()) == claim


@pytest.mark.parametrize(
    ("text", "simple", "claims"),
    [
        (
            "Ann Reed was a chemist. She was born in Leeds and died in 1994. Her house burned.",
            [
                ["Ann Reed was a chemist."],
                ["She was born in Leeds.", "She died in 1994."],
                ["Her house burned."],
            ],
            [
                "Ann Reed was a chemist.",
                "Ann Reed was born in Leeds.",
                "Ann Reed died in 1994.",
                "Ann Reed's house burned.",
            ],
        ),
        (  # the second "she" may be Mary
            "Ann Reed was a chemist. She met Mary Smith. She died.",
            [["Ann Reed was a chemist."], ["She met Mary Smith."], ["She died."]],
            ["Ann Reed was a chemist.", "Ann Reed met Mary Smith.", "She died."],
        ),
        (
            "Ann Reed was a chemist, and her father was a doctor. She died.",
            [["Ann Reed was a chemist, and her father was a doctor."], ["She died."]],
            ["Ann Reed was a chemist, and her father was a doctor.", "She died."],
        ),
        (
            "Ann Reed was an actress. He died.",
            [["Ann Reed was an actress."], ["He died."]],
            ["Ann Reed was an actress.", "He died."],
        ),
        (
            "Leeds is a city. He died.",
            [["Leeds is a city."], ["He died."]],
            ["Leeds is a city.", "He died."],
        ),
        (
            "Ann Reed was a chemist.\n\nShe died.",
            [["Ann Reed was a chemist."], ["She died."]],
            ["Ann Reed was a chemist.", "She died."],
        ),
    ],
)
def test_claims_get_names_only_where_one_person_can_be_meant(
    text: str, simple: list[list[str]], claims: list[str]
) -> None:
    found = given(text, simple, names=True)
    assert [claim.text for claim in found] == claims
    for claim, plain in zip(found, given(text, simple), strict=True):
        changed = claim.text != plain.text
        assert [text[start:end] for start, end in claim.context] == ["Ann Reed"] * changed
        assert claim.spans == plain.spans
