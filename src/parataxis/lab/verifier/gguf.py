"""Reads the teacher's weights, a GGUF file of Qwen2.5-Coder-1.5B-Instruct (Q4_K_M), into torch.

Only what that file needs is supported: four kinds of blocks, one architecture. The vocabulary can
be reduced to the tokens of English text, which makes training and scoring a sixth cheaper.
"""

import struct
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from parataxis.errors import InputError

LanguageModel = Any
"""A ``Qwen2ForCausalLM``, whose parts are not typed."""

Tensors = Mapping[str, tuple[int, tuple[int, ...], NDArray[np.uint8]]]
"""By name: the kind of block, the shape and the bytes."""

F32, F16, Q4_K, Q6_K = 0, 1, 12, 14
_BLOCKS = {F32: (1, 4), F16: (1, 2), Q4_K: (256, 144), Q6_K: (256, 210)}
"""By kind of block: the number of values and of bytes."""

_STRING, _ARRAY, _BOOL, _FLOAT, _UINT = 8, 9, 7, 6, 4
_SCALARS = dict(zip((0, 1, 2, 3, 4, 5, 6, 7, 10, 11, 12), "BbHhIif?Qqd", strict=True))
"""By kind of value: its code for :mod:`struct`."""
_ALIGNMENT = 32
_TABLE, _OUTPUT = "token_embd.weight", "output.weight"
_NAMES = {
    "attn_q": "self_attn.q_proj",
    "attn_k": "self_attn.k_proj",
    "attn_v": "self_attn.v_proj",
    "attn_output": "self_attn.o_proj",
    "ffn_gate": "mlp.gate_proj",
    "ffn_up": "mlp.up_proj",
    "ffn_down": "mlp.down_proj",
    "attn_norm": "input_layernorm",
    "ffn_norm": "post_attention_layernorm",
}


class _Reader:
    def __init__(self, data: NDArray[np.uint8]) -> None:
        self.data, self.at = data, 4

    def scalar(self, form: str) -> Any:
        size = struct.calcsize(form)
        (value,) = struct.unpack(form, self.data[self.at : self.at + size].tobytes())
        self.at += size
        return value

    def text(self) -> str:
        size = self.scalar("<Q")
        self.at += size
        return self.data[self.at - size : self.at].tobytes().decode("utf-8", "replace")

    def value(self, kind: int) -> Any:
        if kind == _STRING:
            return self.text()
        if kind == _ARRAY:
            inner, count = self.scalar("<I"), self.scalar("<Q")
            return [self.value(inner) for _ in range(count)]
        return self.scalar("<" + _SCALARS[kind])


def read_gguf(path: Path) -> tuple[dict[str, Any], Tensors]:
    """Read the metadata and the tensors of a file."""
    data = np.memmap(path, dtype=np.uint8, mode="r")
    if data[:4].tobytes() != b"GGUF":
        raise InputError(f"{path} is not a GGUF file.")
    reader = _Reader(data)
    reader.scalar("<I")
    count, pairs = reader.scalar("<Q"), reader.scalar("<Q")
    metadata = {}
    for _ in range(pairs):
        name = reader.text()
        metadata[name] = reader.value(reader.scalar("<I"))
    entries = []
    for _ in range(count):
        name = reader.text()
        shape = [reader.scalar("<Q") for _ in range(reader.scalar("<I"))]
        entries.append((name, shape, reader.scalar("<I"), reader.scalar("<Q")))
    base = -(-reader.at // _ALIGNMENT) * _ALIGNMENT
    tensors = {}
    for name, shape, kind, offset in entries:
        values, size = _BLOCKS[kind]
        length = int(np.prod(shape)) // values * size
        start = base + offset
        tensors[name] = (kind, tuple(reversed(shape)), data[start : start + length])
    return metadata, tensors


def shrink(source: Path, target: Path, kept: NDArray[np.int64]) -> None:
    """Write a copy without the tokenizer and with a single table of tokens, in which token
    ``kept[i]`` becomes token ``i``."""
    metadata, stored = read_gguf(source)
    tensors = dict(stored)
    # The table is stored twice; the one for the output has more bits.
    kind, shape, table = tensors.pop(_OUTPUT, tensors[_TABLE])
    rows = table.reshape(shape[0], -1)[kept]
    tensors[_TABLE] = (kind, (len(kept), shape[1]), rows.reshape(-1))
    pairs = [
        (name, value)
        for name, value in metadata.items()
        if not isinstance(value, list) and not name.startswith("tokenizer.")
    ]
    head = b"GGUF" + struct.pack("<IQQ", 3, len(tensors), len(pairs))
    for name, value in pairs:
        head += _string(name) + _packed(value)
    offset = 0
    for name, (kind, shape, raw) in tensors.items():
        head += _string(name) + struct.pack("<I", len(shape))
        head += b"".join(struct.pack("<Q", size) for size in reversed(shape))
        head += struct.pack("<IQ", kind, offset)
        offset += len(raw) + -len(raw) % _ALIGNMENT
    with target.open("wb") as stream:
        stream.write(head + b"\0" * (-len(head) % _ALIGNMENT))
        for _, _, raw in tensors.values():
            stream.write(raw.tobytes() + b"\0" * (-len(raw) % _ALIGNMENT))


def _string(text: str) -> bytes:
    raw = text.encode()
    return struct.pack("<Q", len(raw)) + raw


def _packed(value: object) -> bytes:
    if isinstance(value, str):
        return struct.pack("<I", _STRING) + _string(value)
    if isinstance(value, bool):
        return struct.pack("<I?", _BOOL, value)
    if isinstance(value, float):
        return struct.pack("<If", _FLOAT, value)
    return struct.pack("<II", _UINT, value)


def dequantise(
    kind: int, shape: tuple[int, ...], raw: NDArray[np.uint8], device: torch.device
) -> Tensor:
    """Convert a tensor of llama.cpp's blocks to float32."""
    data = torch.from_numpy(np.array(raw)).to(device)
    if kind in (F32, F16):
        return data.view(torch.float32 if kind == F32 else torch.float16).reshape(shape).float()
    blocks = data.reshape(-1, _BLOCKS[kind][1])
    return (_q4_k(blocks) if kind == Q4_K else _q6_k(blocks)).reshape(shape)


def _half(part: Tensor) -> Tensor:
    return part.contiguous().view(torch.float16).float()


def _q4_k(blocks: Tensor) -> Tensor:
    packed, quants = blocks[:, 4:16], blocks[:, 16:].reshape(-1, 4, 1, 32)
    high = packed[:, 8:]
    scale = torch.cat([packed[:, :4] & 63, (high & 15) | ((packed[:, :4] >> 2) & 48)], 1)
    least = torch.cat([packed[:, 4:8] & 63, (high >> 4) | ((packed[:, 4:8] >> 2) & 48)], 1)
    steps = torch.cat([quants & 15, quants >> 4], 2).reshape(-1, 8, 32).float()
    scaled = (_half(blocks[:, :2]) * scale.float())[..., None] * steps
    return scaled - (_half(blocks[:, 2:4]) * least.float())[..., None]


def _q6_k(blocks: Tensor) -> Tensor:
    low = blocks[:, :128].reshape(-1, 2, 1, 64)
    high = blocks[:, 128:192].reshape(-1, 2, 1, 32)
    scale = blocks[:, 192:208].contiguous().view(torch.int8).float() * _half(blocks[:, 208:])
    low = torch.cat([low & 15, low >> 4], 2).reshape(-1, 2, 4, 32)
    high = torch.cat([(high >> shift) & 3 for shift in (0, 2, 4, 6)], 2).reshape(-1, 2, 4, 32)
    steps = (low | (high << 4)).to(torch.int16).float() - 32
    return steps.reshape(-1, 16, 16) * scale[..., None]


def load_model(
    path: Path, device: torch.device, dtype: torch.dtype = torch.bfloat16
) -> LanguageModel:
    """Load the language model, with one table for its input and its output."""
    try:
        from transformers import Qwen2Config, Qwen2ForCausalLM
    except ImportError as error:
        raise InputError("The teacher needs transformers; run pip install transformers.") from error

    metadata, tensors = read_gguf(path)

    def size(name: str) -> Any:
        return metadata["qwen2." + name]

    base = size("rope.freq_base")
    config: Any = Qwen2Config(
        vocab_size=tensors[_TABLE][1][0],
        hidden_size=size("embedding_length"),
        intermediate_size=size("feed_forward_length"),
        num_hidden_layers=size("block_count"),
        num_attention_heads=size("attention.head_count"),
        num_key_value_heads=size("attention.head_count_kv"),
        max_position_embeddings=size("context_length"),
        rms_norm_eps=size("attention.layer_norm_rms_epsilon"),
        tie_word_embeddings=True,
        bos_token_id=None,
        eos_token_id=None,
        pad_token_id=None,
        rope_theta=base,  # type: ignore[call-arg]
        use_cache=False,
    )
    if isinstance(getattr(config, "rope_parameters", None), dict):  # transformers 5
        config.rope_parameters["rope_theta"] = base
    with torch.device("meta"):
        model: LanguageModel = Qwen2ForCausalLM(config)  # type: ignore[no-untyped-call]
    weights = {}
    for name, (kind, shape, raw) in tensors.items():
        parts = name.split(".")
        if parts[0] == "blk":
            key = f"model.layers.{parts[1]}.{_NAMES[parts[2]]}.{parts[3]}"
        else:
            key = {"output_norm.weight": "model.norm.weight", _TABLE: "lm_head.weight"}[name]
        weights[key] = dequantise(kind, shape, raw, device).to(dtype)
    weights["model.embed_tokens.weight"] = weights["lm_head.weight"]
    model.load_state_dict(weights, strict=True, assign=True)
    model.lm_head.weight = model.model.embed_tokens.weight
    # The tables that were made on the meta device have no values.
    model.model.rotary_emb = type(model.model.rotary_emb)(config=config).to(device)
    return model
