"""Treebank sentences as numbers: label inventories, training examples and padded batches."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from parataxis.syntax.labels import Labels
from parataxis.syntax.wordpieces import MAX_PIECES, Pieces, load_word_pieces, stack
from parataxis.training.analyser.treebank import GoldSentence

__all__ = ["IGNORED", "Batch", "Example", "build_labels", "feature_bundle", "make_examples"]

IGNORED = -100
"""The target of padding, which no loss counts."""


def feature_bundle(feats: Iterable[tuple[str, str]]) -> str:
    """UD features as one label: "Number=Sing|Person=3"."""
    return "|".join(f"{name}={value}" for name, value in sorted(feats)) or "_"


def build_labels(sentences: Sequence[GoldSentence], *, rare_role: int = 5) -> Labels:
    """The labels that occur; a role label seen fewer than ``rare_role`` times is not learned."""
    words = [word for sentence in sentences for word in sentence.analysis]
    roles = Counter(
        argument.label
        for sentence in sentences
        for frame in sentence.analysis.frames
        for argument in frame.arguments
    )
    return Labels(
        upos=tuple(sorted({word.upos for word in words})),
        xpos=tuple(sorted({word.xpos for word in words})),
        feats=tuple(sorted({feature_bundle(word.feats.items()) for word in words})),
        deprels=tuple(sorted({word.deprel for word in words})),
        roles=tuple(sorted(label for label, count in roles.items() if count >= rare_role)),
    )


@dataclass(frozen=True)
class Example:
    """One sentence: its pieces and the target of every head. ``roles`` pairs each predicate with
    its BIO tags; None where the sentence has no role annotation."""

    pieces: Pieces
    upos: list[int]
    xpos: list[int]
    feats: list[int]
    heads: list[int]
    deprels: list[int]
    roles: list[tuple[int, list[int]]] | None

    def __len__(self) -> int:
        return len(self.heads)


def make_examples(sentences: Sequence[GoldSentence], labels: Labels) -> list[Example]:
    """Encode sentences; those too long for the encoder are left out."""
    index = {
        name: {label: number for number, label in enumerate(getattr(labels, name))}
        for name in ("upos", "xpos", "feats", "deprels", "roles")
    }
    encoded = load_word_pieces()([[w.text for w in s.analysis] for s in sentences])
    return [
        Example(
            pieces,
            [index["upos"].get(w.upos, IGNORED) for w in s.analysis],
            [index["xpos"].get(w.xpos, IGNORED) for w in s.analysis],
            [index["feats"].get(feature_bundle(w.feats.items()), IGNORED) for w in s.analysis],
            [w.head + 1 for w in s.analysis],
            [index["deprels"].get(w.deprel, IGNORED) for w in s.analysis],
            _roles(s, index["roles"]) if s.has_roles else None,
        )
        for s, pieces in zip(sentences, encoded, strict=True)
        if len(pieces.ids) <= MAX_PIECES
    ]


def _roles(sentence: GoldSentence, index: dict[str, int]) -> list[tuple[int, list[int]]]:
    found = []
    for frame in sentence.analysis.frames:
        tags = [0] * len(sentence.analysis)
        for argument in frame.arguments:
            if argument.label in index:
                number = index[argument.label]
                tags[argument.first] = 1 + 2 * number
                for place in range(argument.first + 1, argument.last + 1):
                    tags[place] = 2 + 2 * number
        found.append((frame.predicate, tags))
    return found


class Batch:
    """Examples as padded tensors on one device."""

    def __init__(self, examples: Sequence[Example], device: torch.device) -> None:
        def tensor(rows: Sequence[Sequence[int]], fill: int = 0) -> Tensor:
            return torch.from_numpy(stack(rows, fill)).to(device, non_blocking=True)

        self.pieces = tensor([e.pieces.ids for e in examples])
        self.shapes = tensor([e.pieces.shapes for e in examples])
        self.mask = tensor([[1] * len(e.pieces.ids) for e in examples])
        self.first = tensor([e.pieces.first for e in examples])
        self.upos = tensor([e.upos for e in examples], IGNORED)
        self.xpos = tensor([e.xpos for e in examples], IGNORED)
        self.feats = tensor([e.feats for e in examples], IGNORED)
        self.heads = tensor([e.heads for e in examples], IGNORED)
        self.deprels = tensor([e.deprels for e in examples], IGNORED)
        self.present = tensor([[1] * len(e) for e in examples]).bool()
        self.lengths = np.array([len(e) for e in examples])
        frames = [(row, at, tags) for row, e in enumerate(examples) for at, tags in e.roles or ()]
        self.rows = torch.tensor([row for row, _, _ in frames], dtype=torch.long, device=device)
        self.at = torch.tensor([at for _, at, _ in frames], dtype=torch.long, device=device)
        width = self.present.shape[1]
        tags = np.full((len(frames), width), IGNORED, dtype=np.int64)
        predicates = np.full((len(examples), width), IGNORED, dtype=np.int64)
        for row, example in enumerate(examples):
            if example.roles is not None:
                predicates[row, : len(example)] = 0
        for place, (row, at, sequence) in enumerate(frames):
            tags[place, : len(sequence)] = sequence
            predicates[row, at] = 1
        self.tags = torch.from_numpy(tags).to(device)
        self.predicates = torch.from_numpy(predicates).to(device)
