"""Exporting a pointer network: what is refused, and that a source gives the same bits in every
batch, order and number of threads.

A tiny network with random weights stands in for a trained one.
"""

import random
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

torch = pytest.importorskip("torch", reason="needs the extra [train]")
onnx = pytest.importorskip("onnx", reason="needs the extra [train]")

from parataxis.errors import ParataxisError  # noqa: E402
from parataxis.lab.encoder import Encoder, EncoderSize  # noqa: E402
from parataxis.lab.pointer import export as exporting  # noqa: E402
from parataxis.lab.pointer.export import BUNDLE, export, fixed_sources  # noqa: E402
from parataxis.lab.pointer.network import PointerNetwork, PointerSizes  # noqa: E402
from parataxis.lab.pointer.train import save_network  # noqa: E402
from parataxis.splitters.pointer.actions import END, NEXT  # noqa: E402
from parataxis.splitters.pointer.model import OnnxDecoder, open_decoder  # noqa: E402
from parataxis.splitters.pointer.search import Found, search  # noqa: E402

TINY = EncoderSize(positions=128, width=64, layers=2, heads=2, inner=128)


@pytest.fixture(scope="module")
def weights(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A network that is rather sure of what it does, and ends sentences and rewrites at times."""
    torch.set_num_threads(1)  # more only get into each other's way with so little to do
    torch.manual_seed(3)
    network = PointerNetwork(Encoder(TINY), PointerSizes(width=64, heads=2, layers=2, inner=128))
    with torch.no_grad():
        for matrix in (each for each in network.parameters() if each.dim() > 1):
            matrix.copy_(torch.randn_like(matrix) * 2 / matrix.shape[-1] ** 0.5)
        network.closed.bias[0] = 1.0
        network.actions.weight[:, 0] = 0.0
        network.actions.weight[NEXT, 0] = 6.0
        network.actions.weight[END, 0] = 7.0
    path = tmp_path_factory.mktemp("weights") / "pointer.pt"
    save_network(network, path)
    return path


@pytest.fixture(scope="module")
def decoder(weights: Path, tmp_path_factory: pytest.TempPathFactory) -> OnnxDecoder:
    folder = tmp_path_factory.mktemp("bundle")
    with pytest.MonkeyPatch.context() as patch:
        # Random weights leave many near ties, which int8 decides otherwise.
        patch.setattr(exporting, "LEAST_EQUAL", 0.5)
        export(weights, folder)
    assert {path.name for path in folder.iterdir()} == {*BUNDLE, "model.json"}
    return open_decoder(folder)


@pytest.fixture(scope="module")
def alone(decoder: OnnxDecoder) -> dict[int, Found]:
    """What is found for each fixed sentence alone."""
    return {
        place: search(decoder, [source], beam=4)[0] for place, source in enumerate(fixed_sources())
    }


def together(decoder: OnnxDecoder, places: list[int], size: int, workers: int) -> dict[int, Found]:
    """What is found for the fixed sentences in batches, several batches at once."""
    sources = fixed_sources()
    batches = [places[start : start + size] for start in range(0, len(places), size)]

    def found(batch: list[int]) -> list[Found]:
        return search(decoder, [sources[place] for place in batch], beam=4)

    with ThreadPoolExecutor(workers) as pool:
        return {
            place: each
            for batch, results in zip(batches, pool.map(found, batches), strict=True)
            for place, each in zip(batch, results, strict=True)
        }


def test_export_fixed_sentences_are_worth_comparing(alone: dict[int, Found]) -> None:
    sources = fixed_sources()
    assert len(sources) == 40
    assert {len(source) > 32 for source in sources} == {True, False}
    finished = [found.hypotheses for found in alone.values() if found.hypotheses]
    assert len(finished) >= 20
    assert len({hypotheses[0].actions for hypotheses in finished}) >= 10


@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize("size", [7, 32])
def test_export_gives_the_same_bits_in_every_batch(
    decoder: OnnxDecoder, alone: dict[int, Found], size: int, workers: int
) -> None:
    for seed in range(3):
        places = list(alone)
        random.Random(seed).shuffle(places)
        assert together(decoder, places, size, workers) == alone


def broken(model: onnx.ModelProto, largest: object = None) -> onnx.ModelProto:
    """A graph whose weights are all a little larger."""
    copied = onnx.ModelProto()
    copied.CopyFrom(model)
    for entry in copied.graph.initializer:
        if len(entry.dims) == 2:
            values = onnx.numpy_helper.to_array(entry)
            entry.CopyFrom(onnx.numpy_helper.from_array(values * 1.5, entry.name))
    return copied


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (("quantise", broken), r"rewrites only \d+ of the 10 fixed sentences"),
        (("CLOSE", 0.0), "log-probabilities differ from torch's by"),
        (("LARGEST", 10**6), "more than the 1 MB"),
    ],
)
def test_export_refuses_and_writes_nothing(
    change: tuple[str, object],
    sentence: str,
    weights: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    some = fixed_sources()[:10]
    monkeypatch.setattr(exporting, "fixed_sources", lambda: some)
    monkeypatch.setattr(exporting, "LEAST_EQUAL", 0.5)
    monkeypatch.setattr(exporting, *change)
    with pytest.raises(ParataxisError, match=sentence):
        export(weights, tmp_path / "bundle")
    assert not (tmp_path / "bundle").exists()
