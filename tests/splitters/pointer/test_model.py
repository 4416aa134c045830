"""The decoder around the two ONNX graphs, with functions in place of the graphs.

That the graphs themselves give a source the same bits in every batch is tested with their export.
"""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from parataxis.errors import ParataxisError
from parataxis.splitters.pointer.actions import COPY, Features, read_source
from parataxis.splitters.pointer.model import (
    DESCRIPTION,
    WIDTH_STEP,
    OnnxDecoder,
    PointerDescription,
    load_decoder,
    open_decoder,
)
from parataxis.splitters.pointer.search import Place
from parataxis.syntax.onnx import Arrays

LAYERS, WIDTH, HEADS = 2, 4, 2


def encoder(inputs: Arrays) -> dict[str, NDArray[Any]]:
    """Every number about a word is the word's first piece."""
    words = np.take_along_axis(inputs["pieces"], inputs["first"][:, 1:], 1).astype(np.float32)
    rows = np.repeat(words[:, :, None], WIDTH, axis=2)
    heads = np.repeat(words[:, None, :, None], WIDTH // HEADS, axis=3).repeat(HEADS, axis=1)
    per_layer = {f"{name}_{layer}": heads for name in ("keys", "values") for layer in range(LAYERS)}
    return {"targets": rows, "inputs": rows, **per_layer}


class CheckingDecoder:
    """Scores the place of each hypothesis; remembers what it was given."""

    def __init__(self) -> None:
        self.calls: list[Arrays] = []

    def __call__(self, inputs: Arrays) -> dict[str, NDArray[Any]]:
        self.calls.append(inputs)
        sources, words = inputs["hidden"].shape
        beams = inputs["previous"].shape[1]
        assert inputs["copied"].shape == (sources, beams, words)
        logs = np.zeros((sources, beams, COPY + words), dtype=np.float32)
        logs += inputs["previous"][:, :, None]
        return {"logs": logs, "states": inputs["recurrent"] + 1}


def source(words: int) -> Features:
    return read_source(["tigers"] * words)


def place(sources: int, beams: int, words: int) -> Place:
    numbers = np.arange(sources * beams).reshape(sources, beams)
    return Place(
        previous=numbers,
        sentence=numbers,
        place=numbers,
        last=numbers,
        copied=np.zeros((sources, beams, words), dtype=np.int64),
        recurrent=np.zeros((sources, beams, LAYERS, WIDTH), dtype=np.float32)
        + numbers[..., None, None],
    )


def make() -> tuple[OnnxDecoder, CheckingDecoder]:
    graph = CheckingDecoder()
    return OnnxDecoder(encoder, graph, PointerDescription(layers=LAYERS, width=WIDTH)), graph


def test_model_pads_a_source_by_its_own_length() -> None:
    decoder, graph = make()
    memory, words, state = decoder.read([source(3), source(33), source(32)])
    assert (words, state) == (2 * WIDTH_STEP, (LAYERS, WIDTH))
    decoder.step(memory, place(3, 2, words))
    assert [call["hidden"].shape for call in graph.calls] == [(2, 32), (1, 64)]
    short, long = graph.calls
    assert (short["hidden"] == 0).sum(axis=1).tolist() == [3, 32]
    assert (short["inputs"] > 0).all(axis=2).sum(axis=1).tolist() == [3, 32]
    assert (short["keys_1"] > 0).all(axis=(1, 3)).sum(axis=1).tolist() == [3, 32]
    assert (long["values_0"] > 0).all(axis=(1, 3)).sum(axis=1).tolist() == [33]


def test_model_reads_sources_of_one_length_together() -> None:
    runs = []

    def watched(inputs: Arrays) -> dict[str, NDArray[Any]]:
        runs.append(inputs["pieces"].shape)
        return encoder(inputs)

    sources = [read_source(text.split()) for text in ("a b c", "d e", "tigers sleep now", "f g")]
    decoder = OnnxDecoder(
        watched, CheckingDecoder(), PointerDescription(layers=LAYERS, width=WIDTH)
    )
    together, _, _ = decoder.read(sources)
    assert runs == [(2, 5), (2, 4)]
    for row, each in enumerate(sources):
        alone, _, _ = decoder.read([each])
        for name, array in alone.groups[0].arrays.items():
            assert np.array_equal(together.groups[0].arrays[name][row], array[0])


def test_model_gives_a_source_the_same_bits_beside_others_of_its_length() -> None:
    texts = (
        "The mill , which burned down in May , was built by the town .",
        "Ann paid the rent , but the landlord had sold the house by then .",
        "He was born in Lyon , grew up in Basel and studied law there .",
    )
    sources = [read_source(text.split()) for text in texts]
    assert len({len(each.pieces.ids) for each in sources}) == 1
    together, _, _ = load_decoder().read(sources)
    for row, each in enumerate(sources):
        alone, _, _ = load_decoder().read([each])
        for name, array in alone.groups[0].arrays.items():
            assert np.array_equal(together.groups[0].arrays[name][row], array[0])


def test_model_reads_a_source_without_words() -> None:
    decoder, graph = make()
    memory, words, _ = decoder.read([source(0)])
    assert words == WIDTH_STEP
    decoder.step(memory, place(1, 2, words))
    assert (graph.calls[0]["hidden"] < -1000).all()


def test_model_puts_the_groups_back_into_their_rows() -> None:
    decoder, _ = make()
    memory, words, _ = decoder.read([source(3), source(33), source(32)])
    where = place(3, 2, words)
    logs, recurrent = decoder.step(memory, where)
    assert np.array_equal(logs[:, :, 0], where.previous)
    assert np.array_equal(recurrent, where.recurrent + 1)
    hidden = logs[:, :, COPY + WIDTH_STEP :] < -1e8
    assert hidden.all(axis=(1, 2)).tolist() == [True, False, True]


@pytest.mark.parametrize("rows", [[0], [1], [0, 2], [2, 1], [3, 0, 1]])
def test_model_selects_sources(rows: list[int]) -> None:
    decoder, graph = make()
    lengths = np.array([3, 33, 32, 40])
    memory, words, _ = decoder.read([source(length) for length in lengths])
    logs, _ = decoder.step(memory.select(np.array(rows)), place(len(rows), 2, words))
    assert logs.shape == (len(rows), 2, COPY + words)
    seen = {
        int(number): int((hidden == 0).sum())
        for call in graph.calls
        for number, hidden in zip(call["previous"][:, 0] // 2, call["hidden"], strict=True)
    }
    assert [seen[row] for row in range(len(rows))] == lengths[rows].tolist()


def test_model_description_round_trip(tmp_path: Path) -> None:
    description = PointerDescription(layers=3, width=384)
    description.write(tmp_path / DESCRIPTION)
    assert PointerDescription.read(tmp_path / DESCRIPTION) == description


def test_model_refuses_a_folder_without_a_model(tmp_path: Path) -> None:
    with pytest.raises(ParataxisError, match="no pointer model in"):
        open_decoder(tmp_path)


@pytest.mark.parametrize("key", ["closed_words", "forms"])
def test_model_refuses_a_model_for_other_actions(tmp_path: Path, key: str) -> None:
    path = tmp_path / DESCRIPTION
    PointerDescription(layers=3, width=384).write(path)
    stored = json.loads(path.read_text(encoding="utf-8"))
    stored[key].append("whichever")
    path.write_text(json.dumps(stored), encoding="utf-8")
    with pytest.raises(ParataxisError, match="other forms or closed words"):
        open_decoder(tmp_path)
