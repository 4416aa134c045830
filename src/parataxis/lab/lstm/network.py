"""The network of Aharoni and Goldberg (2018): one bidirectional LSTM reads, one LSTM with
attention writes; with the copy switch of §4, or without.

What the paper leaves open is taken from the options in its released scripts
(github.com/roeeaharoni/sprp-acl2018): additive attention, all weights drawn from ±0.1.
"""

from dataclasses import dataclass
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from parataxis.errors import InputError
from parataxis.lab.lstm.search import CANDIDATES, PAD, START, UNKNOWN
from parataxis.lab.lstm.splitter import GraphDecoder
from parataxis.lab.training import TorchModel

SPREAD = 0.1
WINDOW = 10
"""How far from its centre local attention sees, in words (Luong et al. 2015, §3.2 and §4.1)."""
LEAST = 1e-12
NEVER = -1e9


@dataclass(frozen=True)
class Sizes:
    """The sizes of a network, and its kind."""

    width: int
    """Of the embeddings and of the states."""
    dropout: float
    """On the outputs of the LSTMs only."""
    copy: bool
    local: bool
    """Local attention around a predicted place (local-p of Luong et al. 2015), else over all."""
    feed: bool
    """Whether the last attentional state is fed to the next step (Luong et al. 2015, §3.3)."""

    def __post_init__(self) -> None:
        if self.width < 2 or self.width % 2:
            raise InputError(f"The width must be an even number, not {self.width}.")


class LstmMemory(NamedTuple):
    """Sources as the encoder has read them: sources x words x width."""

    states: Tensor
    keys: Tensor
    hidden: Tensor
    """True where there is no word (sources x words)."""
    source: Tensor
    """The numbers of the words; a word outside the vocabulary has one beyond it."""


class LstmPosition(NamedTuple):
    """Where hypotheses stand: sources x beams x width."""

    state: Tensor
    cell: Tensor
    fed: Tensor


class DecoderOutput(NamedTuple):
    """The output of the decoder at each step: sources x steps x width, except the attention."""

    output: Tensor
    attention: Tensor
    switch: Tensor
    """The logit of copying (sources x steps x 1); all zero where nothing is copied."""


class _Additive(nn.Module):
    """Attention of Bahdanau et al. (2015)."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.key = nn.Linear(width, width, bias=False)
        self.query = nn.Linear(width, width)
        self.score = nn.Linear(width, 1, bias=False)

    def forward(self, queries: Tensor, keys: Tensor, hidden: Tensor) -> Tensor:
        both = torch.tanh(self.query(queries)[:, :, None] + keys[:, None])
        scores: Tensor = self.score(both)[..., 0].float()
        return scores.masked_fill(hidden[:, None], NEVER).softmax(-1)


class _Local(nn.Module):
    """Local-p attention of Luong et al. (2015): a Gaussian around a place that is predicted.

    Weights are normalised again after the Gaussian, since copying needs a distribution.
    """

    def __init__(self, width: int) -> None:
        super().__init__()
        self.key = nn.Linear(width, width, bias=False)
        self.place = nn.Linear(width, width, bias=False)
        self.score = nn.Linear(width, 1, bias=False)

    def forward(self, queries: Tensor, keys: Tensor, hidden: Tensor) -> Tensor:
        scores = (queries @ keys.transpose(1, 2)).float()
        length = (~hidden).sum(1).float()[:, None, None]
        centre = length * torch.sigmoid(self.score(torch.tanh(self.place(queries))).float())
        places = torch.arange(keys.shape[1], device=keys.device)
        away = places.float()[None, None] - centre
        scores = scores - away**2 / (2 * (WINDOW / 2) ** 2)
        outside = hidden[:, None] | (away.abs() > WINDOW)
        return scores.masked_fill(outside, NEVER).softmax(-1)


class Network(nn.Module):
    """Encoder, decoder, attention and copy switch over a vocabulary of ``words``."""

    def __init__(self, sizes: Sizes, words: int) -> None:
        super().__init__()
        self.sizes, self.words = sizes, words
        width = sizes.width
        self.embedding = nn.Embedding(words, width, padding_idx=PAD)  # of both sides: tied
        self.encoder = nn.LSTM(width, width // 2, bidirectional=True, batch_first=True)
        self.decoder = nn.LSTM(width * (2 if sizes.feed else 1), width, batch_first=True)
        self.attention = _Local(width) if sizes.local else _Additive(width)
        self.combine = nn.Linear(2 * width, width)
        self.output = nn.Linear(width, words)
        self.switch = nn.Linear(3 * width, 1) if sizes.copy else None
        self.dropout = nn.Dropout(sizes.dropout)
        for parameter in self.parameters():
            nn.init.uniform_(parameter, -SPREAD, SPREAD)
        with torch.no_grad():
            self.embedding.weight[PAD].zero_()

    def embed(self, numbers: Tensor) -> Tensor:
        """The embeddings of words, those outside the vocabulary as unknown."""
        embedded: Tensor = self.embedding(torch.where(numbers < self.words, numbers, UNKNOWN))
        return embedded

    def read(
        self, source: Tensor, lengths: Tensor | None = None
    ) -> tuple[LstmMemory, Tensor, Tensor]:
        """Read sources; the memory, and the two states that the decoder starts with (sources x
        width). Padded ones need their ``lengths``, which must lie in the CPU's memory."""
        inputs: Any = self.embed(source)
        if lengths is not None:
            inputs = pack_padded_sequence(inputs, lengths, batch_first=True, enforce_sorted=False)
        with _single_precision(source):
            states, ends = self.encoder(inputs)
        if lengths is not None:
            states, _ = pad_packed_sequence(states, batch_first=True, total_length=source.shape[1])
        states = self.dropout(states)
        memory = LstmMemory(states, self.attention.key(states), source == PAD, source)
        state, cell = (torch.cat((each[0], each[1]), 1) for each in ends)
        return memory, state, cell

    def forward(self, source: Tensor, lengths: Tensor, targets: Tensor) -> Tensor:
        """The log-probability of each word of the targets (sources x steps)."""
        memory, state, cell = self.read(source, lengths)
        start = torch.full_like(targets[:, :1], START)
        previous = self.embed(torch.cat((start, targets[:, :-1]), 1))
        if self.sizes.feed:
            spoken = self._speak_in_turn(memory, previous, state, cell)
        else:
            with _single_precision(source):
                states, _ = self.decoder(previous, (state[None], cell[None]))
            spoken = self._attend(memory, self.dropout(states), previous)
        return self._log_of(memory, spoken, targets)

    def _speak_in_turn(
        self, memory: LstmMemory, previous: Tensor, state: Tensor, cell: Tensor
    ) -> DecoderOutput:
        """All steps one after the other: each is fed the output of the one before."""
        position = LstmPosition(state[:, None], cell[:, None], torch.zeros_like(state)[:, None])
        steps = []
        for embedded in previous.unbind(1):
            spoken, position = self.step(memory, embedded[:, None], position)
            steps.append(spoken)
        return DecoderOutput(*(torch.cat(parts, 1) for parts in zip(*steps, strict=True)))

    def step(
        self, memory: LstmMemory, embedded: Tensor, position: LstmPosition
    ) -> tuple[DecoderOutput, LstmPosition]:
        """One step of all hypotheses, which have read the embedded words (sources x beams)."""
        count, beams, width = position.state.shape
        with _single_precision(embedded):
            fed = (position.fed.float(),) if self.sizes.feed else ()
            state, cell = torch.lstm_cell(
                torch.cat((embedded, *fed), 2).reshape(count * beams, -1),
                (position.state.reshape(-1, width), position.cell.reshape(-1, width)),
                *self.decoder.all_weights[0],
            )
        state, cell = (each.reshape(count, beams, width) for each in (state, cell))
        spoken = self._attend(memory, self.dropout(state), embedded)
        return spoken, LstmPosition(state, cell, spoken.output)

    def _attend(self, memory: LstmMemory, states: Tensor, embedded: Tensor) -> DecoderOutput:
        attention = self.attention(states, memory.keys, memory.hidden)
        context = attention.to(memory.states.dtype) @ memory.states
        output = torch.tanh(self.combine(torch.cat((context, states), 2)))
        if self.switch is None:
            return DecoderOutput(output, attention, torch.zeros_like(attention[..., :1]))
        switch = self.switch(torch.cat((states, context, embedded), 2))
        return DecoderOutput(output, attention, switch.float())

    def _log_of(self, memory: LstmMemory, spoken: DecoderOutput, targets: Tensor) -> Tensor:
        is_known = targets < self.words
        index = torch.where(is_known, targets, UNKNOWN)
        logs = -functional.cross_entropy(
            self.output(spoken.output).float().flatten(0, 1),
            index.flatten(),
            reduction="none",
        ).view_as(targets)
        if self.switch is None:
            return logs
        equal = memory.source[:, None] == targets[..., None]
        copied = (spoken.attention * equal).sum(-1).clamp(min=LEAST).log()
        switch = spoken.switch[..., 0]
        return torch.logaddexp(
            functional.logsigmoid(switch) + copied,
            (functional.logsigmoid(-switch) + logs).masked_fill(~is_known, NEVER),
        )

    def distribution(self, memory: LstmMemory, spoken: DecoderOutput) -> Tensor:
        """The log-probabilities of all words (sources x beams x vocabulary); with copying, also of
        the source's words outside the vocabulary, for which there is room behind it."""
        logs: Tensor = self.output(spoken.output).float().log_softmax(-1)
        if self.switch is None:
            return logs
        # Not a sigmoid, of which onnxruntime gets small values only roughly right.
        either = torch.cat((spoken.switch, torch.zeros_like(spoken.switch)), 2).softmax(2)
        copies, writes = either[..., :1], either[..., 1:]
        beyond = torch.zeros_like(spoken.attention)
        generated = torch.cat((writes * logs.exp(), beyond), 2)
        places = memory.source[:, None].expand(-1, logs.shape[1], -1)
        return generated.scatter_add(2, places, copies * spoken.attention).clamp(min=LEAST).log()


class EncoderGraph(nn.Module):
    """The network as it reads sources without padding; the outputs are :data:`ENCODED`."""

    def __init__(self, network: Network) -> None:
        super().__init__()
        self.network = network

    def forward(self, words: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        memory, state, cell = self.network.read(words)
        return memory.states, memory.keys, state, cell


class DecoderGraph(nn.Module):
    """The network as it writes: the likeliest next words of each hypothesis. The outputs are
    :data:`DECODED`.

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
        network, read = self.network, LstmMemory(memory, keys, hidden, source)
        start = LstmPosition(state, cell, fed)
        spoken, position = network.step(read, network.embed(previous), start)
        logs = network.distribution(read, spoken)
        head = logs[..., : network.words] + self.banned
        logs = torch.cat((head, logs[..., network.words :]), 2)
        found = logs.topk(min(CANDIDATES, network.words), dim=2)
        return found.indices, found.values, spoken.attention, *position


ENCODED = ("memory", "keys", "state", "cell")
DECODED = ("words", "logs", "attention", "next_state", "next_cell", "next_fed")


def torch_decoder(network: Network, device: torch.device) -> GraphDecoder:
    """The network behind the interface of the search."""
    return GraphDecoder(
        TorchModel(EncoderGraph(network), ENCODED, device),
        TorchModel(DecoderGraph(network), DECODED, device),
        network.words,
    )


def _single_precision(like: Tensor) -> torch.autocast:
    """The LSTMs carry their states over many steps, which bfloat16 is too coarse for; cuDNN's are
    fast in single precision too."""
    return torch.autocast(like.device.type, enabled=False)
