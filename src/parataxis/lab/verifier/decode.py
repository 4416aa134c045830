"""Greedy and sampled decoding of the teacher in large batches.

The cache is written in place, rows that have ended leave the batch, and the CPU waits for the GPU
only every few steps, so that thousands of prompts are continued at once.
"""

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from parataxis.lab.verifier.gguf import LanguageModel

CHECK_EVERY = 12
"""Steps between two looks at which rows have ended."""
LEAVE = 0.8
"""Rows that have ended leave when fewer than this share are left."""
HIDDEN = -1e4

Written = tuple[list[int], float]
"""The tokens that were written, without the end mark, and their log-probability with it."""


class BatchDecoder:
    """A Qwen2 model, with adapters merged, that continues many prompts at once."""

    def __init__(self, model: LanguageModel) -> None:
        config = model.config
        self.heads, self.groups = config.num_attention_heads, config.num_key_value_heads
        self.width = config.hidden_size // self.heads
        self.epsilon = config.rms_norm_eps
        base = getattr(config, "rope_theta", None) or config.rope_parameters["rope_theta"]
        self.table: Tensor = model.model.embed_tokens.weight.data
        self.device = self.table.device
        self.norm: Tensor = model.model.norm.weight.data
        self.layers = []
        for layer in model.model.layers:
            own, inner = layer.self_attn, layer.mlp
            projections = (own.q_proj, own.k_proj, own.v_proj)
            self.layers.append(
                (
                    layer.input_layernorm.weight.data,
                    torch.cat([each.weight.data for each in projections]),
                    torch.cat([each.bias.data for each in projections]),
                    own.o_proj.weight.data,
                    layer.post_attention_layernorm.weight.data,
                    torch.cat([inner.gate_proj.weight.data, inner.up_proj.weight.data]),
                    inner.down_proj.weight.data,
                )
            )
        powers = torch.arange(0, self.width, 2, device=self.device).float() / self.width
        self.frequencies = base**-powers

    @torch.no_grad()
    def __call__(
        self,
        prompts: Sequence[Sequence[int]],
        end: int,
        room: int,
        temperature: float = 0.0,
        seed: int = 0,
    ) -> list[Written | None]:
        """Continue each prompt by at most ``room`` tokens; None where it does not end by then."""
        chance = torch.Generator(self.device).manual_seed(seed)
        lengths = torch.tensor([len(prompt) for prompt in prompts], device=self.device)
        longest = int(lengths.max())
        tokens = torch.zeros(len(prompts), longest, dtype=torch.long)
        for row, prompt in enumerate(prompts):
            tokens[row, : len(prompt)] = torch.tensor(prompt)
        angles = (
            torch.arange(longest + room, device=self.device).float()[:, None] * self.frequencies
        )
        turn = torch.cat([angles, angles], -1)
        turns = turn.cos().to(self.table.dtype), turn.sin().to(self.table.dtype)
        states, cache = self._read(tokens.to(self.device), longest + room, turns)
        rows = torch.arange(len(prompts), device=self.device)
        chosen, total = self._pick(states[rows, lengths - 1], temperature, chance)
        written, place, done = chosen[:, None], lengths, chosen == end
        found: list[Written | None] = [None] * len(prompts)

        def collect() -> None:
            for row, own, log in zip(
                rows[done].tolist(), written[done].tolist(), total[done].tolist(), strict=True
            ):
                found[row] = own[: own.index(end)], log

        for step in range(1, room):
            if step % CHECK_EVERY == 0:
                left = ~done
                count = int(left.sum())
                if count == 0:
                    break
                if count < LEAVE * len(rows):
                    collect()
                    cache = cache[:, :, left]
                    rows, chosen, total, written, place, done = (
                        each[left] for each in (rows, chosen, total, written, place, done)
                    )
            states = self._step(chosen, place, cache, longest + step, turns)
            chosen, log = self._pick(states, temperature, chance)
            chosen = torch.where(done, end, chosen)
            total = total + torch.where(done, 0.0, log)
            written = torch.cat([written, chosen[:, None]], 1)
            done, place = done | (chosen == end), place + 1
        collect()
        return found

    def _read(
        self, tokens: Tensor, room: int, turns: tuple[Tensor, Tensor]
    ) -> tuple[Tensor, Tensor]:
        """Read the prompts: the states, and the cache of keys and values."""
        batch, length = tokens.shape
        shape = (len(self.layers), 2, batch, self.groups, room, self.width)
        cache = torch.zeros(shape, dtype=self.table.dtype, device=self.device)
        cos, sin = (each[:length] for each in turns)
        states = nn.functional.embedding(tokens, self.table)
        for number, layer in enumerate(self.layers):
            query, key, value = (
                each.view(batch, length, -1, self.width).transpose(1, 2)
                for each in self._projected(states, layer)
            )
            key = _turned(key, cos, sin)
            cache[number, 0, :, :, :length], cache[number, 1, :, :, :length] = key, value
            mixed = nn.functional.scaled_dot_product_attention(
                _turned(query, cos, sin), key, value, is_causal=True, enable_gqa=True
            )
            states = self._finish(states, mixed.transpose(1, 2).reshape(batch, length, -1), layer)
        return states, cache

    def _step(
        self,
        tokens: Tensor,
        place: Tensor,
        cache: Tensor,
        longest: int,
        turns: tuple[Tensor, Tensor],
    ) -> Tensor:
        """The states of one more token of each row, whose keys and values go into the cache."""
        batch = len(tokens)
        cos, sin = (each[place][:, None] for each in turns)
        rows = torch.arange(batch, device=self.device)
        seen = torch.arange(longest, device=self.device) <= place[:, None]
        bias = torch.where(seen, 0.0, HIDDEN).to(self.table.dtype)[:, None, None]
        states = nn.functional.embedding(tokens, self.table)
        for number, layer in enumerate(self.layers):
            query, key, value = (
                each.view(batch, -1, self.width) for each in self._projected(states, layer)
            )
            cache[number, 0][rows, :, place] = _turned(key, cos, sin)
            cache[number, 1][rows, :, place] = value
            query = _turned(query, cos, sin).view(batch, self.groups, -1, self.width)
            keys, values = cache[number, :, :, :, :longest]
            scores = query * self.width**-0.5 @ keys.transpose(2, 3) + bias
            mixed = scores.float().softmax(-1).to(states.dtype) @ values
            states = self._finish(states, mixed.reshape(batch, -1), layer)
        return states

    def _normal(self, states: Tensor, weight: Tensor) -> Tensor:
        return nn.functional.rms_norm(states, states.shape[-1:], weight, self.epsilon)

    def _projected(self, states: Tensor, layer: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
        norm, weight, bias = layer[:3]
        sizes = [self.heads * self.width, self.groups * self.width, self.groups * self.width]
        return torch.split(
            nn.functional.linear(self._normal(states, norm), weight, bias), sizes, -1
        )

    def _finish(self, states: Tensor, mixed: Tensor, layer: tuple[Tensor, ...]) -> Tensor:
        output, norm, inner, outer = layer[3:]
        states = states + nn.functional.linear(mixed, output)
        gate, own = nn.functional.linear(self._normal(states, norm), inner).chunk(2, -1)
        return states + nn.functional.linear(nn.functional.silu(gate) * own, outer)

    def _pick(
        self, states: Tensor, temperature: float, chance: torch.Generator
    ) -> tuple[Tensor, Tensor]:
        """The next token of each row, and its log-probability at a temperature of 1."""
        logs = nn.functional.linear(self._normal(states, self.norm), self.table)
        logs = logs.float().log_softmax(-1)
        scores = logs
        if temperature > 0:  # the largest sum with Gumbel noise is a sample
            noise = torch.rand(logs.shape, device=self.device, generator=chance)
            noise = noise.clamp(1e-9, 1 - 1e-7)
            scores = logs / temperature - (-noise.log()).log()
        chosen = scores.argmax(-1)
        return chosen, logs.gather(1, chosen[:, None])[:, 0]


def _turned(states: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    """Rotary positions (Su et al. 2021)."""
    one, two = states.chunk(2, -1)
    return states * cos + torch.cat([-two, one], -1) * sin
