"""The analyser network: one encoder, and heads for tags, the tree and the roles."""

import copy
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from parataxis.lab.encoder import Encoder
from parataxis.syntax.decoding import Labels

REACH = 32
"""Distances between a word and its predicate are distinguished up to this many words."""


@dataclass(frozen=True)
class HeadSizes:
    """The widths of the heads (Dozat and Manning 2017 for the two biaffine ones)."""

    arcs: int = 384
    labels: int = 128
    role_layers: int = 2
    role_depth: int = 2
    dropout: float = 0.33


@dataclass(frozen=True)
class TreeScores:
    """The scores of the network for a batch of words."""

    upos: Tensor
    xpos: Tensor
    feats: Tensor
    predicates: Tensor
    arcs: Tensor
    """(batch, words, words + 1): the first column is the root."""
    labels: Tensor
    """(batch, words, relations, words + 1): the relation of each word to each head."""


class Biaffine(nn.Module):
    """x' W y for every pair of words, with a bias on both sides."""

    def __init__(self, width: int, outputs: int) -> None:
        super().__init__()
        self.outputs = outputs
        self.weight = nn.Parameter(torch.randn(width + 1, outputs * (width + 1)) * 0.01)

    def forward(self, dependents: Tensor, heads: Tensor) -> Tensor:
        """(batch, words, outputs, heads)."""
        batch, words, _ = dependents.shape
        dependents = nn.functional.pad(dependents, (0, 1), value=1.0)
        heads = nn.functional.pad(heads, (0, 1), value=1.0)
        left = (dependents @ self.weight).view(batch, words * self.outputs, heads.shape[-1])
        return (left @ heads.transpose(1, 2)).view(batch, words, self.outputs, -1)


class AnalyserNetwork(nn.Module):
    """Encoder and heads. ``words`` vectors come from the first piece of each word."""

    def __init__(self, encoder: Encoder, labels: Labels, sizes: HeadSizes) -> None:
        super().__init__()
        width = encoder.size.width
        self.encoder = encoder
        self.sizes = sizes
        self.auxiliaries = [
            number for number, name in enumerate(labels.deprels) if name.startswith("aux")
        ]

        def projection(size: int) -> nn.Sequential:
            return nn.Sequential(nn.Linear(width, size), nn.GELU(), nn.Dropout(sizes.dropout))

        self.dropout = nn.Dropout(sizes.dropout)
        self.upos = nn.Linear(width, len(labels.upos))
        self.xpos = nn.Linear(width, len(labels.xpos))
        self.feats = nn.Linear(width, len(labels.feats))
        self.predicates = nn.Linear(width, 1)
        self.arc_dependents, self.arc_heads = projection(sizes.arcs), projection(sizes.arcs)
        self.arcs = Biaffine(sizes.arcs, 1)
        self.label_dependents, self.label_heads = projection(sizes.labels), projection(sizes.labels)
        self.labels = Biaffine(sizes.labels, len(labels.deprels))
        # The roles continue the encoder: copies of its last layers read the sentence once more for
        # each predicate, starting from an earlier state with the predicate marked.
        self.role_start = encoder.size.layers - sizes.role_depth
        self.role_predicate = nn.Linear(width, width)
        self.role_distance = nn.Embedding(2 * REACH + 1, width)
        nn.init.zeros_(self.role_distance.weight)
        self.role_layers = copy.deepcopy(encoder.layers[-sizes.role_layers :])
        self.roles = nn.Linear(width, 1 + 2 * len(labels.roles))

    def encode(
        self, pieces: Tensor, shapes: Tensor, mask: Tensor, first: Tensor
    ) -> tuple[Tensor, Tensor]:
        """One vector for the root and one for each word: (batch, words + 1, width), from the last
        layer and from the layer at which the roles start."""
        states = self.encoder(pieces, shapes, mask)
        index = first.unsqueeze(-1).expand(-1, -1, states[-1].shape[-1])
        last = self.dropout(torch.gather(states[-1], 1, index))
        return last, torch.gather(states[self.role_start], 1, index)

    def score(self, vectors: Tensor, present: Tensor) -> TreeScores:
        """Tags, arcs and their labels; ``present`` (batch, words) marks real words, not padding."""
        words = vectors[:, 1:]
        arcs = self.arcs(self.arc_dependents(words), self.arc_heads(vectors))[:, :, 0]
        heads = nn.functional.pad(present, (1, 0), value=True)
        arcs = arcs.masked_fill(~heads[:, None], -1e4)
        return TreeScores(
            self.upos(words),
            self.xpos(words),
            self.feats(words),
            self.predicates(words)[..., 0],
            arcs,
            self.labels(self.label_dependents(words), self.label_heads(vectors)),
        )

    def role_scores(self, vectors: Tensor, present: Tensor, rows: Tensor, at: Tensor) -> Tensor:
        """(predicates, words, tags) for the predicates at word ``at`` of sentence ``rows``."""
        words = vectors[:, 1:]
        place = torch.arange(words.shape[1], device=words.device)
        distance = (place[None] - at[:, None]).clamp(-REACH, REACH) + REACH
        hidden = words[rows] + self.role_distance(distance)
        hidden = hidden + self.role_predicate(words[rows, at])[:, None]
        bias = self.encoder.attention_bias(present[rows])
        for layer in self.role_layers:
            hidden = layer(hidden, bias)
        return self.roles(self.dropout(hidden))  # type: ignore[no-any-return]


class AnalyserGraph(nn.Module):
    """The network as it is exported: integers in, decisions and scores out.

    The predicates are found inside the graph, so that one run does everything; ``forced`` is
    added to their scores and lets the caller decide them instead. Auxiliaries are predicates in
    PropBank but have no arguments, so the role layers, the most expensive part, pass them over.
    """

    INPUTS = ("pieces", "shapes", "first", "forced")
    TAGS = ("upos", "xpos", "feats")
    TREES = (*TAGS, "arcs", "deprels")
    OUTPUTS = (*TREES, "predicates", "role_rows", "role_words", "roles")

    def __init__(self, network: AnalyserNetwork) -> None:
        super().__init__()
        self.network = network

    def forward(
        self, pieces: Tensor, shapes: Tensor, first: Tensor, forced: Tensor
    ) -> tuple[Tensor, ...]:
        network = self.network
        present = first[:, 1:] > 0  # only padding points at the opening mark
        vectors, earlier = network.encode(pieces, shapes, (pieces > 0).long(), first)
        scores = network.score(vectors, present)
        deprels = scores.labels.argmax(2)
        likely = deprels.gather(2, scores.arcs.argmax(-1, keepdim=True))[..., 0]
        auxiliary = torch.zeros_like(present)
        for relation in network.auxiliaries:
            auxiliary = auxiliary | (likely == relation)
        predicates = (scores.predicates + forced > 0) & present
        rows, at = torch.nonzero(predicates & ~auxiliary).unbind(1)
        return (
            scores.upos.argmax(-1),
            scores.xpos.argmax(-1),
            scores.feats.argmax(-1),
            scores.arcs,
            deprels,
            predicates,
            rows,
            at,
            network.role_scores(earlier, present, rows, at),
        )
