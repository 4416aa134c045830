"""The analyser network: one encoder, and heads for tags, the tree and the roles."""

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from parataxis.syntax.labels import Labels
from parataxis.training.encoder import Encoder

__all__ = ["AnalyserNetwork", "HeadSizes", "Scores"]

REACH = 32
"""Distances between a word and its predicate are told apart up to this many words."""


@dataclass(frozen=True)
class HeadSizes:
    """The widths of the heads (Dozat and Manning 2017 for the two biaffine ones)."""

    arcs: int = 384
    labels: int = 128
    roles: int = 384
    role_layers: int = 2
    role_heads: int = 6
    role_syntax: bool = True
    dropout: float = 0.33


@dataclass(frozen=True)
class Scores:
    """What the network says about a batch of words (before any decision)."""

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


class RoleLayer(nn.Module):
    """A pre-norm transformer layer over the words of one predicate's sentence."""

    def __init__(self, sizes: HeadSizes, dropout: float = 0.1) -> None:
        super().__init__()
        width = sizes.roles
        self.heads = sizes.role_heads
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.query, self.key = nn.Linear(width, width), nn.Linear(width, width)
        self.value, self.output = nn.Linear(width, width), nn.Linear(width, width)
        self.inner, self.outer = nn.Linear(width, 2 * width), nn.Linear(2 * width, width)
        self.dropout = nn.Dropout(dropout)
        # The first head starts out looking at a word's head, the second at its dependents.
        self.towards = nn.Parameter(torch.zeros(2, self.heads))
        self.towards.data[[0, 1], [0, 1]] = 5.0

    def forward(self, hidden: Tensor, bias: Tensor, tree: Tensor | None) -> Tensor:
        rows, words, width = hidden.shape
        if tree is not None:
            up, down = self.towards[:, None, :, None, None]
            bias = bias + up * tree[:, None] + down * tree.transpose(1, 2)[:, None]
        normed = self.norm1(hidden)

        def split(projected: Tensor) -> Tensor:
            return projected.view(rows, words, self.heads, width // self.heads).transpose(1, 2)

        query, key, value = (split(p(normed)) for p in (self.query, self.key, self.value))
        scores = query @ key.transpose(2, 3) / (width // self.heads) ** 0.5 + bias
        mixed = (self.dropout(scores.softmax(-1)) @ value).transpose(1, 2)
        hidden = hidden + self.dropout(self.output(mixed.reshape(rows, words, width)))
        inner = self.outer(nn.functional.gelu(self.inner(self.norm2(hidden))))
        return hidden + self.dropout(inner)  # type: ignore[no-any-return]


class AnalyserNetwork(nn.Module):
    """Encoder and heads. ``words`` vectors come from the first piece of each word."""

    def __init__(self, encoder: Encoder, labels: Labels, sizes: HeadSizes) -> None:
        super().__init__()
        width = encoder.size.width
        self.encoder = encoder

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
        self.role_words = nn.Linear(width, sizes.roles)
        self.role_predicate = nn.Linear(width, sizes.roles)
        self.role_distance = nn.Embedding(2 * REACH + 1, sizes.roles)
        self.role_layers = nn.ModuleList(RoleLayer(sizes) for _ in range(sizes.role_layers))
        self.role_norm = nn.LayerNorm(sizes.roles)
        self.roles = nn.Linear(sizes.roles, 1 + 2 * len(labels.roles))
        self.role_syntax = sizes.role_syntax
        if self.role_syntax:
            self.role_relations = nn.Linear(len(labels.deprels), sizes.roles, bias=False)
            self.role_paths = nn.Linear(5, sizes.roles, bias=False)

    def encode(self, pieces: Tensor, shapes: Tensor, mask: Tensor, first: Tensor) -> Tensor:
        """One vector for the root and one for each word: (batch, words + 1, width)."""
        hidden = self.encoder(pieces, shapes, mask)
        index = first.unsqueeze(-1).expand(-1, -1, hidden.shape[-1])
        return self.dropout(torch.gather(hidden, 1, index))  # type: ignore[no-any-return]

    def score(self, vectors: Tensor, present: Tensor) -> Scores:
        """Tags, arcs and their labels; ``present`` (batch, words) marks real words, not padding."""
        words = vectors[:, 1:]
        arcs = self.arcs(self.arc_dependents(words), self.arc_heads(vectors))[:, :, 0]
        heads = nn.functional.pad(present, (1, 0), value=True)
        arcs = arcs.masked_fill(~heads[:, None], -1e4)
        return Scores(
            self.upos(words),
            self.xpos(words),
            self.feats(words),
            self.predicates(words)[..., 0],
            arcs,
            self.labels(self.label_dependents(words), self.label_heads(vectors)),
        )

    def role_scores(
        self, vectors: Tensor, present: Tensor, scores: Scores, rows: Tensor, at: Tensor
    ) -> Tensor:
        """(predicates, words, tags) for the predicates at word ``at`` of sentence ``rows``.

        The roles see the tree as the network itself scores it: its attention is drawn along the
        arcs (Strubell et al. 2018), and each word knows its relation and its path to the predicate.
        """
        words = vectors[:, 1:]
        place = torch.arange(words.shape[1], device=words.device)
        distance = (place[None] - at[:, None]).clamp(-REACH, REACH) + REACH
        inputs = self.role_words(words)
        tree = None
        if self.role_syntax:
            arcs = scores.arcs.detach().softmax(-1)
            relations = (scores.labels.detach() @ arcs[..., None])[..., 0].softmax(-1)
            inputs = inputs + self.role_relations(relations)
            tree = arcs[:, :, 1:]
        hidden = inputs[rows] + self.role_distance(distance)
        hidden = hidden + self.role_predicate(words[rows, at])[:, None]
        if tree is not None:
            hidden = hidden + self.role_paths(_paths(tree, rows, at))
            tree = tree[rows]
        bias = (1.0 - present[rows][:, None, None, :].to(hidden.dtype)) * -10000.0
        for layer in self.role_layers:
            hidden = layer(hidden, bias, tree)
        return self.roles(self.role_norm(hidden))  # type: ignore[no-any-return]


def _paths(tree: Tensor, rows: Tensor, at: Tensor) -> Tensor:
    """How likely each word is the predicate's child, head, grandchild, grandparent, sibling."""
    twice = tree @ tree
    siblings = tree @ tree.transpose(1, 2)
    return torch.stack(
        [
            tree[rows, :, at],
            tree[rows, at, :],
            twice[rows, :, at],
            twice[rows, at, :],
            siblings[rows, at, :],
        ],
        -1,
    )


class AnalyserGraph(nn.Module):
    """The network as it is exported: integers in, decisions and scores out.

    The predicates are found inside the graph, so that one run does everything; ``forced`` is
    added to their scores and lets the caller decide them instead.
    """

    INPUTS = ("pieces", "shapes", "first", "forced")
    OUTPUTS = ("upos", "xpos", "feats", "arcs", "deprels", "predicate_rows", "predicates", "roles")

    def __init__(self, network: AnalyserNetwork) -> None:
        super().__init__()
        self.network = network

    def forward(
        self, pieces: Tensor, shapes: Tensor, first: Tensor, forced: Tensor
    ) -> tuple[Tensor, ...]:
        network = self.network
        present = first[:, 1:] > 0  # only padding points at the opening mark
        vectors = network.encode(pieces, shapes, (pieces > 0).long(), first)
        scores = network.score(vectors, present)
        found = (scores.predicates + forced > 0) & present
        rows, at = torch.nonzero(found).unbind(1)
        roles = network.role_scores(vectors, present, scores, rows, at)
        return (
            scores.upos.argmax(-1),
            scores.xpos.argmax(-1),
            scores.feats.argmax(-1),
            scores.arcs,
            scores.labels.argmax(2),
            rows,
            at,
            roles,
        )
