"""The teacher's weights: a published GGUF file of a Qwen2 model, with fewer tokens.

The vocabulary is reduced to the tokens of English text, which makes training and scoring a sixth
cheaper.
"""

from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from parataxis.errors import InputError, needs

LanguageModel = Any
"""A ``Qwen2ForCausalLM``, whose parts are not typed."""

_SIZES = {
    "hidden_size": "embedding_length",
    "intermediate_size": "feed_forward_length",
    "num_hidden_layers": "block_count",
    "num_attention_heads": "attention.head_count",
    "num_key_value_heads": "attention.head_count_kv",
    "max_position_embeddings": "context_length",
    "rms_norm_eps": "attention.layer_norm_rms_epsilon",
}
"""The settings of transformers, and their names in the file."""
_NAMES = {
    "token_embd": "model.embed_tokens",
    "output": "lm_head",
    "output_norm": "model.norm",
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

_TABLES = ("lm_head.weight", "model.embed_tokens.weight")


def shrink(source: Path, folder: Path, kept: NDArray[np.int64]) -> None:
    """Write a model in which token ``kept[i]`` becomes token ``i``, with one table for its input
    and its output."""
    with needs("The teacher needs transformers and gguf", "train"):
        import gguf
        from transformers import Qwen2Config, Qwen2ForCausalLM
    try:
        reader = gguf.GGUFReader(source)
    except ValueError as error:
        raise InputError(f"{source} is not a GGUF file.") from error

    def size(name: str) -> Any:
        return reader.fields[f"qwen2.{name}"].contents()

    weights = {}
    for tensor in reader.tensors:
        *layer, name, kind = tensor.name.split(".")
        prefix = f"model.layers.{layer[1]}." if layer else ""
        values = gguf.quants.dequantize(tensor.data, tensor.tensor_type)
        weights[f"{prefix}{_NAMES[name]}.{kind}"] = torch.tensor(values).to(torch.bfloat16)
    # The table may be stored twice; the one for the output has more bits.
    stored = [weights[name] for name in _TABLES if name in weights]
    weights |= dict.fromkeys(_TABLES, stored[0][torch.from_numpy(kept)])
    settings: dict[str, Any] = {
        "vocab_size": len(kept),
        "tie_word_embeddings": True,
        "rope_parameters": {"rope_type": "default", "rope_theta": size("rope.freq_base")},
        **dict.fromkeys(("bos_token_id", "eos_token_id", "pad_token_id")),
        **{name: size(stored) for name, stored in _SIZES.items()},
    }
    build: Any = Qwen2ForCausalLM
    model: LanguageModel = build(Qwen2Config(**settings)).to(torch.bfloat16)
    model.load_state_dict(weights)
    model.save_pretrained(folder)


def load_model(
    folder: Path, device: torch.device, dtype: torch.dtype = torch.bfloat16
) -> LanguageModel:
    """Load the language model that :func:`shrink` wrote."""
    with needs("The teacher needs transformers", "train"):
        from transformers import Qwen2ForCausalLM
    model: LanguageModel = Qwen2ForCausalLM.from_pretrained(folder, dtype=dtype)
    model.config.use_cache = False
    return model.to(device)
