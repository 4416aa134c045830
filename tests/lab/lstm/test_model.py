"""Folders that hold no model, or not the right one: each is told in one sentence."""

import json
from pathlib import Path

import pytest

from parataxis.errors import InputError, ParataxisError
from parataxis.lab.lstm.splitter import (
    DECODER,
    DESCRIPTION,
    ENCODER,
    VERSION,
    WORDS,
    CopySplitter,
    Seq2SeqSplitter,
    open_model,
)
from parataxis.splitters.registry import AdjustableSplitter, ModelSplitter, load_splitter

GOOD = {
    "copies": True,
    "feeds": False,
    "width": 4,
    "words": 6,
    "reads": "sentences",
    "configuration": "tiny",
    "version": VERSION,
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder that would be a model, were the graphs not empty."""
    (tmp_path / DESCRIPTION).write_text(json.dumps(GOOD), encoding="utf-8")
    (tmp_path / WORDS).write_text("tea\n", encoding="utf-8")
    for name in (ENCODER, DECODER):
        (tmp_path / name).touch()
    return tmp_path


def test_model_a_folder_must_be_there(tmp_path: Path) -> None:
    with pytest.raises(ParataxisError, match="is not a folder; name the folder of a trained model"):
        open_model(tmp_path / "nowhere")
    with pytest.raises(ParataxisError, match=r"lstm\.json is missing"):
        open_model(tmp_path)


def test_model_must_be_of_this_version(folder: Path) -> None:
    older = {**GOOD, "version": VERSION + 1}
    (folder / DESCRIPTION).write_text(json.dumps(older), encoding="utf-8")
    with pytest.raises(ParataxisError, match=f"has version {VERSION + 1}, and this version"):
        open_model(folder)


@pytest.mark.parametrize("text", ["", "[]", "{}"])
def test_model_description_may_be_damaged(folder: Path, text: str) -> None:
    (folder / DESCRIPTION).write_text(text, encoding="utf-8")
    with pytest.raises(ParataxisError, match="is damaged; export the model again"):
        open_model(folder)


def test_model_must_be_whole(folder: Path) -> None:
    (folder / DECODER).unlink()
    with pytest.raises(ParataxisError, match=r"incomplete: decoder\.onnx is missing"):
        open_model(folder)


def test_model_graphs_may_be_damaged(folder: Path) -> None:
    with pytest.raises(ParataxisError, match=r"A graph in .* is damaged; export the model again"):
        open_model(folder)


def test_model_and_words_must_fit(folder: Path) -> None:
    (folder / WORDS).write_text("tea\nmilk\n", encoding="utf-8")
    with pytest.raises(ParataxisError, match=r"has 7 words with the marks, .* trained with 6"):
        open_model(folder)


@pytest.mark.parametrize("name", ["seq2seq", "copynet"])
def test_model_splitters_ship_none(name: str) -> None:
    splitter = load_splitter(name)
    assert isinstance(splitter, ModelSplitter)
    assert isinstance(splitter, AdjustableSplitter)
    with pytest.raises(ParataxisError, match=f'"{name}" ships no model; .* "{name}:DIR"'):
        splitter("Ann left.")


def test_model_registry_takes_the_folder_behind_the_name(tmp_path: Path) -> None:
    with pytest.raises(ParataxisError, match="is not a folder"):
        load_splitter(f"copynet:{tmp_path / 'nowhere'}")
    with pytest.raises(InputError, match='There is no folder in "copynet:"'):
        load_splitter("copynet:")
    with pytest.raises(InputError, match='The splitter "source" takes no model'):
        load_splitter("source:folder")
    with pytest.raises(ParataxisError, match='There is no splitter "copy"; installed'):
        load_splitter("copy:folder")


@pytest.mark.parametrize("splitter", [Seq2SeqSplitter, CopySplitter])
@pytest.mark.parametrize("beam", [0, 13])
def test_model_beam_has_limits(splitter: type[Seq2SeqSplitter], beam: int) -> None:
    with pytest.raises(InputError, match="The beam must be from 1 to 12"):
        splitter(beam=beam)
