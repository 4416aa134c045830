from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="needs the extra [train]")
pytest.importorskip("onnx", reason="needs the extra [train]")

from parataxis.errors import ParataxisError  # noqa: E402
from parataxis.lab.lstm import pipeline as exporting  # noqa: E402
from parataxis.lab.lstm.network import Network, Sizes, torch_decoder  # noqa: E402
from parataxis.lab.lstm.pipeline import BUNDLE, export  # noqa: E402
from parataxis.lab.lstm.search import (  # noqa: E402
    UNKNOWN,
    Vocabulary,
    search,
)
from parataxis.lab.lstm.splitter import open_model  # noqa: E402
from parataxis.lab.lstm.train import Trained  # noqa: E402

VOCABULARY = Vocabulary([f"w{number}" for number in range(30)])


def trained(*, copy: bool = True, local: bool = False, feed: bool = False) -> Trained:
    torch.manual_seed(5)
    network = Network(Sizes(16, 0.3, copy, local, feed), len(VOCABULARY)).eval()
    with torch.no_grad():
        for parameter in network.parameters():
            parameter.mul_(6)
    return Trained(network, VOCABULARY, "sentences", "tiny")


@pytest.mark.parametrize("copy", [False, True])
@pytest.mark.parametrize(("local", "feed"), [(False, False), (True, True)])
def test_export_writes_what_torch_writes(
    tmp_path: Path, copy: bool, local: bool, feed: bool
) -> None:
    made = trained(copy=copy, local=local, feed=feed)
    export(made, tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == set(BUNDLE)
    model = open_model(tmp_path)
    assert model.vocabulary.words == VOCABULARY.words
    assert (model.description.copies, model.description.feeds) == (copy, feed)
    chance = np.random.default_rng(1)
    sources = [chance.integers(5, 40, size=length).tolist() for length in (1, 4, 23)]
    decoder = torch_decoder(made.network, torch.device("cpu"))
    for ours, theirs in zip(search(model.decoder, sources), search(decoder, sources), strict=True):
        assert ours[0].words == theirs[0].words
        assert np.isclose(ours[0].log, theirs[0].log, atol=1e-3)
        assert np.allclose(ours[0].attention, theirs[0].attention, atol=1e-3)
        if copy:
            assert UNKNOWN not in ours[0].words
    together, alone = search(model.decoder, sources)[1], search(model.decoder, sources[1:2])[0]
    assert together[0].words == alone[0].words


@pytest.mark.parametrize("part", ["output", "attention.key", "encoder"])
def test_export_refuses_graphs_that_differ_from_torch(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, part: str
) -> None:
    write = exporting._export_graphs

    def slightly_wrong(network: Network, folder: Path) -> None:
        other = trained().network
        with torch.no_grad():
            for parameter in other.get_submodule(part).parameters():
                parameter.mul_(1.01)
        write(other, folder)

    monkeypatch.setattr(exporting, "_export_graphs", slightly_wrong)
    with pytest.raises(ParataxisError, match=r"differ from torch's by .*; nothing was written"):
        export(trained(), tmp_path / "model")
    assert not (tmp_path / "model").exists()
