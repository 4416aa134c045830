"""The network behind the interface of the search: for scores while training, and for export."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from parataxis.lab.lstm import search
from parataxis.lab.lstm.network import LstmMemory, LstmPosition, Network
from parataxis.lab.lstm.search import PAD, START, UNKNOWN


class NextWords(nn.Module):
    """The likeliest next words of each hypothesis: what the search needs of a step.

    Padding and the start are never written, nor is the unknown word by a network that can copy.
    """

    def __init__(self, network: Network) -> None:
        super().__init__()
        self.network = network
        self.banned: Tensor
        banned = torch.zeros(network.words)
        banned[[PAD, START]] = -torch.inf
        if network.sizes.copy:
            banned[UNKNOWN] = -torch.inf
        self.register_buffer("banned", banned)

    def forward(
        self, memory: LstmMemory, previous: Tensor, position: LstmPosition
    ) -> tuple[Tensor, Tensor, Tensor, LstmPosition]:
        """Words, their log-probabilities, attention, and the new position."""
        network = self.network
        spoken, position = network.step(memory, network.embed(previous), position)
        logs = network.distribution(memory, spoken)
        head = logs[..., : network.words] + self.banned
        logs = torch.cat((head, logs[..., network.words :]), 2)
        found = logs.topk(min(search.CANDIDATES, network.words), dim=2)
        return found.indices, found.values, spoken.attention, position


@dataclass
class TorchLstmMemory:
    """The memory of sources."""

    memory: LstmMemory

    def select(self, rows: NDArray[np.int64]) -> "TorchLstmMemory":
        """Only these sources."""
        index = torch.from_numpy(rows).to(self.memory.states.device)
        return TorchLstmMemory(LstmMemory(*(each[index] for each in self.memory)))


@dataclass
class TorchState:
    """The positions of hypotheses."""

    position: LstmPosition

    def select(self, rows: NDArray[np.int64], beams: NDArray[np.int64]) -> "TorchState":
        """Of each of these sources, these hypotheses."""
        device = self.position.state.device
        row = torch.from_numpy(rows).to(device)[:, None]
        beam = torch.tensor(beams, device=device)
        return TorchState(LstmPosition(*(each[row, beam] for each in self.position)))


class TorchLstmDecoder:
    """A network in torch that the search can ask."""

    def __init__(self, network: Network, device: torch.device) -> None:
        self.network, self.device = network.to(device).eval(), device
        self.next = NextWords(network).to(device).eval()

    @torch.no_grad()
    def read(
        self, sources: Sequence[Sequence[int]], beam: int
    ) -> tuple[TorchLstmMemory, TorchState]:
        """Read the sources."""
        lengths = torch.tensor([len(source) for source in sources])
        numbers = torch.full((len(sources), int(lengths.max())), PAD)
        for row, source in enumerate(sources):
            numbers[row, : len(source)] = torch.tensor(source)
        memory, state, cell = self.network.read(numbers.to(self.device), lengths)
        first = [each[:, None].repeat(1, beam, 1) for each in (state, cell)]
        position = LstmPosition(first[0], first[1], torch.zeros_like(first[0]))
        return TorchLstmMemory(memory), TorchState(position)

    @torch.no_grad()
    def step(
        self, memory: TorchLstmMemory, state: TorchState, previous: NDArray[np.int64]
    ) -> search.Step[TorchState]:
        """Score the next words of all hypotheses."""
        words, logs, attention, position = self.next(
            memory.memory, torch.tensor(previous, device=self.device), state.position
        )
        return search.Step(
            words.cpu().numpy(),
            logs.float().cpu().numpy(),
            attention.float().cpu().numpy(),
            TorchState(position),
        )
