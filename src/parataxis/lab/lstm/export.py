"""From trained weights to a model's folder: two ONNX graphs, the words, and a description.

Nothing is written unless the graphs agree with torch on sources of the data.
"""

import logging
import shutil
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from parataxis.errors import ParataxisError
from parataxis.lab.lstm.decoder import NextWords, TorchLstmDecoder
from parataxis.lab.lstm.model import (
    DECODER,
    DESCRIPTION,
    ENCODER,
    WORDS,
    LstmDescription,
    OnnxLstmDecoder,
    open_model,
)
from parataxis.lab.lstm.network import LstmMemory, LstmPosition, Network
from parataxis.lab.lstm.search import BEAM, MARKS, Arrays, Step, search
from parataxis.lab.lstm.train import Trained
from parataxis.lab.training import export_graph

log = logging.getLogger(__name__)

BUNDLE = (ENCODER, DECODER, DESCRIPTION, WORDS)
CLOSE = 1e-3
"""How far a log-probability of the graphs may be from torch's."""
LIKELY = -15.0
"""Only log-probabilities above are compared: less likely words are hardly ever written."""
_SOURCES = 12
_MEMORY = ("memory", "keys", "hidden", "source")
_STATE = ("state", "cell", "fed")


class _EncoderGraph(nn.Module):
    def __init__(self, network: Network) -> None:
        super().__init__()
        self.network = network

    def forward(self, words: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        return self.network.read_one(words)


class _DecoderGraph(nn.Module):
    def __init__(self, network: Network) -> None:
        super().__init__()
        self.next = NextWords(network)

    def forward(
        self,
        previous: Tensor,
        state: Tensor,
        cell: Tensor,
        fed: Tensor,
        memory: Tensor,
        keys: Tensor,
        hidden: Tensor,
        source: Tensor,
    ) -> tuple[Tensor, ...]:
        words, logs, attention, position = self.next(
            LstmMemory(memory, keys, hidden, source),
            previous,
            LstmPosition(state, cell, fed),
        )
        return words, logs, attention, *position


def export(trained: Trained, folder: Path, sources: Sequence[Sequence[int]] = ()) -> None:
    """Write a model's folder, or raise :class:`ParataxisError` and write nothing.

    The graphs are compared with torch on the ``sources`` (numbers of words), or if there are
    none, on random sources.
    """
    network = trained.network.cpu().eval()
    with tempfile.TemporaryDirectory() as name:
        made = Path(name)
        _export_graphs(network, made)
        trained.vocabulary.write(made / WORDS)
        LstmDescription(
            copies=network.sizes.copy,
            feeds=network.sizes.feed,
            width=network.sizes.width,
            words=len(trained.vocabulary),
            reads=trained.reads,
            configuration=trained.name,
        ).write(made / DESCRIPTION)
        _check_close(network, open_model(made).decoder, sources or _drawn(network.words))
        folder.mkdir(parents=True, exist_ok=True)
        for part in BUNDLE:
            shutil.copy(made / part, folder)
    log.info("wrote %s", folder)


def _export_graphs(network: Network, folder: Path) -> None:
    # Two sources, three hypotheses and four words, so that no axis looks constant.
    words = torch.tensor([[len(MARKS) - 1] * 4] * 2)
    encoder = _EncoderGraph(network).eval()
    with torch.no_grad():
        memory, keys, state, cell = encoder(words)
    export_graph(
        encoder,
        folder / ENCODER,
        {"words": words},
        ["memory", "keys", "state", "cell"],
        {"words": {0: "sources", 1: "length"}},
    )
    first = [each[:, None].repeat(1, 3, 1) for each in (state, cell)]
    inputs = {
        "previous": torch.full((2, 3), len(MARKS) - 1),
        "state": first[0],
        "cell": first[1],
        "fed": torch.zeros_like(first[0]),
        "memory": memory,
        "keys": keys,
        "hidden": torch.zeros(2, 4, dtype=torch.bool),
        "source": words,
    }
    axes = {name: {0: "sources", 1: "beams"} for name in ("previous", *_STATE)}
    axes |= {name: {0: "sources", 1: "length"} for name in _MEMORY}
    outputs = ["words", "logs", "attention", *(f"next_{name}" for name in _STATE)]
    export_graph(_DecoderGraph(network).eval(), folder / DECODER, inputs, outputs, axes)


def _drawn(words: int) -> list[list[int]]:
    chance = np.random.default_rng(0)
    lengths = range(3, 3 + _SOURCES)
    return [chance.integers(len(MARKS), words + 3, size=length).tolist() for length in lengths]


class _Compared:
    """Two decoders side by side: the search follows the graphs, and torch's scores are compared.

    Arrays have the names of the first decoder; those of torch are marked.
    """

    def __init__(self, graphs: OnnxLstmDecoder, torch_decoder: TorchLstmDecoder) -> None:
        self.graphs, self.torch = graphs, torch_decoder
        self.largest = 0.0

    def read(self, sources: Sequence[Sequence[int]], beam: int) -> tuple[Arrays, Arrays]:
        memory, state = self.graphs.read(sources, beam)
        other_memory, other_state = self.torch.read(sources, beam)
        return {**memory, **_marked(other_memory)}, {**state, **_marked(other_state)}

    def step(self, memory: Arrays, state: Arrays, previous: NDArray[np.int64]) -> Step:
        (memory, other_memory), (state, other_state) = _parted(memory), _parted(state)
        one = self.graphs.step(memory, state, previous)
        two = self.torch.step(other_memory, other_state, previous)
        # Sorted by probability, so that words of equal probability may change places.
        difference = np.abs(one.logs - two.logs)[two.logs > LIKELY]
        self.largest = max(self.largest, float(difference.max(initial=0.0)))
        return replace(one, state={**one.state, **_marked(two.state)})


_MARK = "torch "


def _marked(arrays: Arrays) -> dict[str, Any]:
    return {f"{_MARK}{name}": array for name, array in arrays.items()}


def _parted(arrays: Arrays) -> tuple[Arrays, Arrays]:
    own = {name: array for name, array in arrays.items() if not name.startswith(_MARK)}
    other = {n.removeprefix(_MARK): array for n, array in arrays.items() if n.startswith(_MARK)}
    return own, other


def _check_close(
    network: Network, graphs: OnnxLstmDecoder, sources: Sequence[Sequence[int]]
) -> None:
    cpu = TorchLstmDecoder(network, torch.device("cpu"))
    compared = _Compared(graphs, cpu)
    chosen = list(sources[:_SOURCES])
    written = search(compared, chosen, beam=BEAM)
    if not compared.largest < CLOSE:
        raise ParataxisError(
            f"The log-probabilities of the exported graphs differ from torch's by "
            f"{compared.largest:.2g}, more than {CLOSE}; nothing was written."
        )
    wanted = search(cpu, chosen, beam=BEAM)
    other = sum(
        a[0].words != b[0].words and abs(a[0].log - b[0].log) > CLOSE
        for a, b in zip(written, wanted, strict=True)
    )
    if other:
        raise ParataxisError(
            f"The exported graphs rewrite {other} of {len(chosen)} sources differently from torch; "
            "nothing was written."
        )
    log.info("graphs: log-probabilities at most %.1e from torch's", compared.largest)
