"""Readers on a spaCy pipeline: here one that knows the tree of its sentence by heart."""

from pathlib import Path

import pytest
import spacy
from spacy.language import Language
from spacy.tokens import Doc

from parataxis.errors import InputError
from parataxis.lab.downstream.parsers import load_extractor, load_parser

TREES = {"Ann sang songs": ([1, 1, 1], ["nsubj", "ROOT", "dobj"], ["PROPN", "VERB", "NOUN"])}


@Language.component("tree_by_heart")
def tree_by_heart(doc: Doc) -> Doc:
    heads, deps, tags = TREES[doc.text]
    words = [token.text for token in doc]
    return Doc(doc.vocab, words=words, heads=heads, deps=deps, pos=tags)


@pytest.fixture
def model(tmp_path: Path) -> str:
    nlp = spacy.blank("en")
    nlp.add_pipe("tree_by_heart", name="parser")
    nlp.to_disk(tmp_path / "model")
    return str(tmp_path / "model")


def test_spacy_readers_find_pairs_and_triples(model: str) -> None:
    (pairs,) = load_parser(f"spacy:{model}").pipe(["Ann sang songs"])
    assert pairs == [((4, 8), "nsubj", (0, 3)), ((4, 8), "obj", (9, 14))]
    (triples,) = load_extractor(f"textacy:{model}").pipe(["Ann sang songs"])
    assert triples == [(((0, 3),), ((4, 8),), ((9, 14),))]


def test_spacy_readers_need_a_pipeline_with_a_parser(tmp_path: Path) -> None:
    with pytest.raises(InputError, match='spaCy has no pipeline "en_nobody"'):
        load_parser("spacy:en_nobody")
    spacy.blank("en").to_disk(tmp_path / "blank")
    with pytest.raises(InputError, match="has no parser"):
        load_parser(f"spacy:{tmp_path / 'blank'}")
