"""The shipped analyser on real sentences, and what must hold for any input."""

import itertools
import pickle
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from parataxis.errors import InputError, TooLongError
from parataxis.syntax.analyser import TREES, Analyser, Tokenized, load_analyser, load_trees
from parataxis.syntax.analysis import ROOT, Analysis, Frame
from parataxis.syntax.decoding import read_labels
from parataxis.syntax.onnx import OnnxModel, shipped_folder
from parataxis.text.tokens import tokenize

ANALYSER = load_analyser()


def arcs(analysis: Analysis) -> list[tuple[str, str, str]]:
    return [
        (w.text, w.deprel, "ROOT" if w.head == ROOT else analysis[w.head].text) for w in analysis
    ]


def roles(analysis: Analysis) -> dict[str, list[tuple[str, str]]]:
    return {
        analysis[frame.predicate].text: [
            (argument.label, analysis.phrase(argument.first, argument.last))
            for argument in frame.arguments
        ]
        for frame in analysis.frames
    }


def test_analyser_tree_of_a_relative_clause() -> None:
    assert arcs(ANALYSER("The judge who heard the case retired.")) == [
        ("The", "det", "judge"),
        ("judge", "nsubj", "retired"),
        ("who", "nsubj", "heard"),
        ("heard", "acl:relcl", "judge"),
        ("the", "det", "case"),
        ("case", "obj", "heard"),
        ("retired", "root", "ROOT"),
        (".", "punct", "retired"),
    ]


def test_analyser_roles_of_a_relative_clause() -> None:
    found = roles(ANALYSER("The judge who heard the case retired."))
    assert found["heard"] == [("ARG0", "The judge"), ("R-ARG0", "who"), ("ARG1", "the case")]


def test_analyser_tags_and_features() -> None:
    analysis = ANALYSER("She has written two letters.")
    assert [w.upos for w in analysis] == ["PRON", "AUX", "VERB", "NUM", "NOUN", "PUNCT"]
    assert [w.xpos for w in analysis] == ["PRP", "VBZ", "VBN", "CD", "NNS", "."]
    assert analysis[0].feats["Gender"] == "Fem"
    assert analysis[1].feats["Tense"] == "Pres"
    assert analysis[2].feats["VerbForm"] == "Part"
    assert analysis[4].feats["Number"] == "Plur"


def test_analyser_knows_an_auxiliary_as_a_predicate_without_arguments() -> None:
    analysis = ANALYSER("The bridge was built in 1894.")
    assert roles(analysis)["was"] == []
    assert roles(analysis)["built"] == [("ARG1", "The bridge"), ("ARGM-TMP", "in 1894")]


def test_analyser_keeps_the_offsets_of_the_text() -> None:
    text = "  The  Buyer’s\tagent — “Acme” —\nsigned. "
    analysis = ANALYSER(text)
    assert [text[w.start : w.end] for w in analysis] == [w.text for w in analysis]


@pytest.mark.parametrize(
    "text",
    [
        "The judge who heard the case retired.",
        "Ann, a poet born in Oslo, said that she would not come, and left.",
        "No verb here",
        " ",
    ],
)
def test_analyser_of_trees_finds_the_same_and_the_roles_when_asked(text: str) -> None:
    whole, trees = ANALYSER(text), load_trees()(text)
    assert list(trees) == list(whole)
    assert trees.frames == whole.frames
    assert roles(trees) == roles(whole)
    assert pickle.loads(pickle.dumps(trees)).frames == tuple(whole.frames)


def test_analyser_of_trees_finds_roles_only_when_asked() -> None:
    asked: list[str] = []

    def frames(sentence: Tokenized) -> list[Frame]:
        asked.append(sentence.text)
        return [Frame(1, ())]

    trees = load_trees()
    analyser = Analyser(trees._model, trees._labels, frames)
    analysis = analyser("Ann left.")
    assert (analysis.root.text, asked) == ("left", [])
    assert (list(analysis.frames), len(analysis.frames), asked) == (
        [Frame(1, ())],
        1,
        ["Ann left."],
    )


def test_analyser_loads_from_a_folder_of_links(tmp_path: Path) -> None:
    for file in shipped_folder("analyser").iterdir():
        (tmp_path / file.name).symlink_to(file.resolve())
    labels = read_labels(tmp_path / "analyser.json")
    trees = Analyser(OnnxModel(tmp_path / TREES), labels, lambda _: ())
    assert trees("Ann left.").root.text == "left"


def test_analyser_takes_predicates_from_outside() -> None:
    text = "The judge who heard the case retired."
    tokens = tokenize(text)
    (analysis,) = ANALYSER.pipe_tokenized([Tokenized(text, tokens, predicates=[3])])
    assert isinstance(analysis, Analysis)
    assert [frame.predicate for frame in analysis.frames] == [3]


@pytest.mark.parametrize("text", ["", "   ", "\n\t"])
def test_analyser_of_nothing_has_no_words(text: str) -> None:
    assert len(ANALYSER(text)) == 0


@pytest.mark.parametrize("text", ["😀", "x" * 50_000, "a " * 200, "?!", "漢字", "\x00"])
def test_analyser_answers_odd_input(text: str) -> None:
    assert ANALYSER(text).root.deprel


@pytest.mark.parametrize("words", [600, 2000])
def test_analyser_refuses_what_is_too_long_in_one_sentence(words: int) -> None:
    with pytest.raises(TooLongError, match=f"has {words} words .* reads at most 512"):
        ANALYSER("word " * words + ".")


@pytest.mark.parametrize("threads", ["abc", "-3", "0", "1.5"])
def test_analyser_names_a_wrong_number_of_threads(
    threads: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PARATAXIS_THREADS", threads)
    with pytest.raises(InputError, match="must be a number of threads"):
        list(ANALYSER.pipe(["It rained."]))


def test_analyser_pipe_keeps_the_order_and_goes_on_after_a_long_sentence() -> None:
    texts = ["One ran.", "word " * 700, "", "Two dogs ran home."]
    first, long, empty, last = ANALYSER.pipe(texts)
    assert isinstance(long, TooLongError)
    assert isinstance(first, Analysis)
    assert isinstance(last, Analysis)
    assert (first.text, last.text) == (texts[0], texts[3])
    assert isinstance(empty, Analysis)
    assert not empty.words


def test_analyser_sees_a_sentence_alone_as_among_others() -> None:
    texts = ["When the war ended.", "The dog, which had barked all night, slept.", "Yes!"] * 3
    assert [ANALYSER(text) for text in texts] == list(ANALYSER.pipe(texts))


@settings(max_examples=60, deadline=None)
@given(st.text(max_size=80))
def test_analyser_gives_a_tree_and_roles_that_do_not_overlap_for_any_text(text: str) -> None:
    analysis = ANALYSER(text)
    assert [w.text for w in analysis] == [t.text for t in tokenize(text)]
    if analysis.words:
        assert sorted(analysis.subtree(analysis.root.index)) == list(range(len(analysis)))
    for frame in analysis.frames:
        assert all(one.last < two.first for one, two in itertools.pairwise(frame.arguments))
