"""The spaCy component: found without an import, and what it gives survives every way to save it."""

import pickle
import subprocess
import sys
from pathlib import Path

import pytest
import spacy
from spacy.language import Language
from spacy.tokens import Doc, DocBin

from parataxis.api import Splitter
from parataxis.errors import ParataxisError, UnknownSplitterError

MILL = "The mill, which was built in 1850, burned down."
TEXT = f"# News\n\n{MILL}  It rained.\n"
SIMPLE = [
    ("News",),
    ("The mill burned down.", "It was built in 1850."),
    ("It rained.",),
]


@pytest.fixture(scope="module")
def nlp() -> Language:
    made = spacy.blank("en")
    made.add_pipe("parataxis")
    return made


def simple(doc: Doc) -> list[tuple[str, ...]]:
    return [rewrite.simple for rewrite in doc._.rewrites]


def test_spacy_finds_the_component_without_an_import_and_loads_no_model_for_it() -> None:
    program = """
import sys, spacy
assert spacy.blank("en").has_factory("parataxis")
assert "parataxis.integrations.spacy" in sys.modules
assert not {"onnxruntime", "parataxis.api"} & set(sys.modules)
"""
    subprocess.run([sys.executable, "-c", program], check=True)


def test_spacy_rewrites_our_sentences_where_the_pipeline_has_none(nlp: Language) -> None:
    doc = nlp(TEXT)
    assert simple(doc) == SIMPLE
    assert [span.text for span in doc.spans["rewrites"]] == ["News", MILL, "It rained."]
    assert not doc.has_annotation("SENT_START")
    assert doc.text == TEXT


def test_spacy_rewrites_the_sentences_of_the_pipeline() -> None:
    nlp = spacy.blank("en")
    nlp.add_pipe("sentencizer", config={"punct_chars": [".", ";"]})
    nlp.add_pipe("parataxis", config={"splitter": "source"})
    doc = nlp("Ann sang; Bob\nleft.  \n\n")
    sources = [sent._.rewrite and sent._.rewrite.source for sent in doc.sents]
    assert sources == ["Ann sang;", "Bob left.", None]  # the last is white space
    assert len(doc._.rewrites) == 2
    assert doc[0:1]._.rewrite is None


@pytest.mark.parametrize("text", ["", " \n\t"])
def test_spacy_has_no_rewrites_where_there_are_no_words(nlp: Language, text: str) -> None:
    assert nlp(text)._.rewrites == []


def test_spacy_keeps_sentences_together_that_share_a_token() -> None:
    nlp = spacy.blank("en")
    nlp.add_pipe("parataxis", config={"splitter": "source"})
    doc = Doc(nlp.vocab, words=["He", "left.It", "rained."])
    doc = nlp.get_pipe("parataxis")(doc)
    assert [rewrite.source for rewrite in doc._.rewrites] == ["He left.It rained."]


def test_spacy_gives_the_same_in_batches_as_one_by_one(nlp: Language) -> None:
    texts = [TEXT, "", "It snowed.", f"{MILL} {MILL}", TEXT]
    for size in (1, 2, 100):
        found = [simple(doc) for doc in nlp.pipe(texts, batch_size=size)]
        assert found == [simple(nlp(text)) for text in texts]


def test_spacy_works_in_several_processes(nlp: Language) -> None:
    nlp(TEXT)  # the models are loaded here, and must not disturb the others
    assert [simple(doc) for doc in nlp.pipe([TEXT] * 3, n_process=2)] == [SIMPLE] * 3


def test_spacy_rewrites_survive_with_the_document(nlp: Language) -> None:
    doc = nlp(TEXT)
    saved = DocBin(store_user_data=True, docs=[doc]).to_bytes()
    (unpacked,) = DocBin(store_user_data=True).from_bytes(saved).get_docs(nlp.vocab)
    for other in (
        Doc(nlp.vocab).from_bytes(doc.to_bytes()),
        pickle.loads(pickle.dumps(doc)),
        unpacked,
        doc.copy(),
    ):
        assert other._.rewrites == doc._.rewrites
    joined = Doc.from_docs([doc, nlp("It snowed.")])
    assert joined is not None
    assert simple(joined) == [*SIMPLE, ("It snowed.",)]


def test_spacy_saves_the_settings_with_the_pipeline(tmp_path: Path) -> None:
    nlp = spacy.blank("en")
    nlp.add_pipe("parataxis", config={"splitter": "rules", "check": True})
    nlp.to_disk(tmp_path)
    rewrites = nlp(MILL)._.rewrites
    assert rewrites[0].splitter == "rules"
    assert rewrites[0].findings is not None
    restored = spacy.util.load_model_from_config(nlp.config).from_bytes(nlp.to_bytes())
    for other in (spacy.load(tmp_path), pickle.loads(pickle.dumps(nlp)), restored):
        assert other(MILL)._.rewrites == rewrites


def test_spacy_refuses_wrong_settings() -> None:
    with pytest.raises(UnknownSplitterError, match="no splitter"):
        spacy.blank("en").add_pipe("parataxis", config={"splitter": "nobody"})


def test_spacy_does_not_take_an_attribute_of_somebody_else() -> None:
    before = Doc.get_extension("rewrites")
    Doc.set_extension("rewrites", default=7, force=True)
    try:
        with pytest.raises(ParataxisError, match='another extension "rewrites"'):
            spacy.blank("en").add_pipe("parataxis")
    finally:
        Doc.set_extension("rewrites", getter=before[2], force=True)


def test_spacy_component_has_levels_and_a_limit() -> None:
    nlp = spacy.blank("en")
    nlp.add_pipe("parataxis", config={"level": "atomic", "max_words": 5})
    source = "She signed the contract and did not pay the fee."
    (rewrite,) = nlp(source)._.rewrites
    assert rewrite == Splitter(level="atomic", max_words=5)(source)
    assert rewrite.simple == ("She signed the contract.", "She did not pay the fee.")
    assert rewrite.note == "Still over the limit of 5 words: sentence 2 (6)."
