"""The network behind the interface of the search: for scores while training, and for export."""

from collections.abc import Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from parataxis.lab.lstm.network import LstmMemory, LstmPosition, Network
from parataxis.lab.lstm.search import CANDIDATES, PAD, START, UNKNOWN, Arrays, Step


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
        found = logs.topk(min(CANDIDATES, network.words), dim=2)
        return found.indices, found.values, spoken.attention, position


class TorchLstmDecoder:
    """A network in torch that the search can ask."""

    def __init__(self, network: Network, device: torch.device) -> None:
        self.network, self.device = network.to(device).eval(), device
        self.next = NextWords(network).to(device).eval()

    @torch.no_grad()
    def read(self, sources: Sequence[Sequence[int]], beam: int) -> tuple[Arrays, Arrays]:
        """Encode the sources."""
        lengths = torch.tensor([len(source) for source in sources])
        numbers = torch.full((len(sources), int(lengths.max())), PAD)
        for row, source in enumerate(sources):
            numbers[row, : len(source)] = torch.tensor(source)
        memory, state, cell = self.network.read(numbers.to(self.device), lengths)
        first = [each[:, None].repeat(1, beam, 1) for each in (state, cell)]
        position = LstmPosition(first[0], first[1], torch.zeros_like(first[0]))
        return memory._asdict(), position._asdict()

    @torch.no_grad()
    def step(self, memory: Arrays, state: Arrays, previous: NDArray[np.int64]) -> Step:
        """Score the next words of all hypotheses."""
        words, logs, attention, position = self.next(
            LstmMemory(**memory),
            torch.tensor(previous, device=self.device),
            LstmPosition(**state),
        )
        scores, weights = (each.float().cpu().numpy() for each in (logs, attention))
        return Step(words.cpu().numpy(), scores, weights, position._asdict())
