"""spaCy's English trees in the terms of Universal Dependencies."""

import pytest
import spacy
from spacy.tokens import Doc

from parataxis.lab.downstream.parsers import pairs

CASES = [
    (
        "a preposition stands between predicate and noun in ClearNLP, not in UD",
        "Ann/PROPN/1/nsubj lives/VERB/1/ROOT in/ADP/1/prep Rome/PROPN/2/pobj",
        ["lives nsubj Ann", "lives obl Rome"],
    ),
    (
        "a phrase that belongs to a noun is no argument of a predicate",
        "I/PRON/1/nsubj met/VERB/1/ROOT friends/NOUN/1/dobj of/ADP/2/prep Ann/PROPN/3/pobj",
        ["met nsubj I", "met obj friends"],
    ),
    (
        "passive voice, its agent, and a date without a preposition",
        "Tea/NOUN/2/nsubjpass was/AUX/2/auxpass made/VERB/2/ROOT by/ADP/2/agent Ann/PROPN/3/pobj "
        "Monday/PROPN/2/npadvmod",
        ["made nsubj Tea", "made obl Ann", "made obl Monday"],
    ),
    (
        "the complement of be is the predicate, also of a clause that depends on a verb",
        "I/PRON/1/nsubj know/VERB/1/ROOT she/PRON/3/nsubj is/AUX/1/ccomp a/DET/5/det "
        "monk/NOUN/3/attr",
        ["know nsubj I", "monk nsubj she", "know ccomp monk"],
    ),
    (
        "be with a place",
        "She/PRON/1/nsubj is/AUX/1/ROOT in/ADP/1/prep Rome/PROPN/2/pobj",
        ["Rome nsubj She"],
    ),
    (
        "there is",
        "There/PRON/1/expl is/AUX/1/ROOT hope/NOUN/1/attr in/ADP/1/prep Rome/PROPN/3/pobj",
        ["is nsubj hope", "is obl Rome"],
    ),
    (
        "two objects, and one with a preposition",
        "Ann/PROPN/1/nsubj gave/VERB/1/ROOT me/PRON/1/dative tea/NOUN/1/dobj",
        ["gave nsubj Ann", "gave iobj me", "gave obj tea"],
    ),
    (
        "a dative with a preposition is oblique",
        "Ann/PROPN/1/nsubj gave/VERB/1/ROOT tea/NOUN/1/dobj to/ADP/1/dative me/PRON/3/pobj",
        ["gave nsubj Ann", "gave obj tea", "gave obl me"],
    ),
    (
        "what another verb says of its subject",
        "Ann/PROPN/1/nsubj became/VERB/1/ROOT king/NOUN/1/attr",
        ["became nsubj Ann", "became xcomp king"],
    ),
]


@pytest.mark.parametrize(("sentence", "expected"), [case[1:] for case in CASES])
def test_clearnlp_becomes_universal(sentence: str, expected: list[str]) -> None:
    words, tags, heads, deps = zip(*(part.split("/") for part in sentence.split()), strict=True)
    doc = Doc(
        spacy.blank("en").vocab,
        words=list(words),
        pos=list(tags),
        heads=list(map(int, heads)),
        deps=list(deps),
    )
    found = [
        f"{doc.text[slice(*pair.predicate)]} {pair.role} {doc.text[slice(*pair.argument)]}"
        for pair in pairs(doc)
    ]
    assert found == expected
