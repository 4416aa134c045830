"""Greedy and sampled decoding of the teacher in large batches.

Three things make it fast: the projections of a layer are joined, the heads that share a key are
multiplied with it at once, and the keys and values lie in memory that is reserved in advance. Rows
that have ended leave the batch, and the CPU waits for the GPU only every few steps.
"""

from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor, nn

from parataxis.lab.verifier.gguf import LanguageModel

CHECK_EVERY = 12
"""Steps between two looks at which rows have ended."""
LEAVE = 0.8
"""Rows that have ended leave when fewer than this share are left."""


class Written(NamedTuple):
    """A continuation of a prompt."""

    tokens: list[int]
    """The tokens, without the end mark."""
    log_chance: float
    """Their log-probability, with the end mark."""
    risks: list[float]
    """The probability of a fault if a sentence ends with this token, for each token and the end
    mark; empty if the model has no head for faults."""


class _Layer:
    """A layer of the language model with joined projections."""

    def __init__(self, layer: LanguageModel) -> None:
        own, inner = layer.self_attn, layer.mlp
        inputs = (own.q_proj, own.k_proj, own.v_proj)
        self.weight = torch.cat([each.weight for each in inputs])
        self.bias = torch.cat([each.bias for each in inputs])
        self.inner = torch.cat([inner.gate_proj.weight, inner.up_proj.weight])
        self.mixed, self.outer = own.o_proj.weight, inner.down_proj.weight
        self.norms = layer.input_layernorm, layer.post_attention_layernorm


class BatchDecoder:
    """A language model, with adapters merged, that continues many prompts at once."""

    def __init__(self, model: LanguageModel) -> None:
        self.model, config = model, model.config
        self._groups = config.num_key_value_heads
        self._shared = config.num_attention_heads // self._groups
        self._width = config.hidden_size // config.num_attention_heads
        with torch.no_grad():
            self._layers = [_Layer(layer) for layer in model.model.layers]
        self._risk = getattr(model, "faults", None)

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
        device = self.model.device
        chance = torch.Generator(device).manual_seed(seed)
        longest, count = max(map(len, prompts)), len(prompts)
        padding = torch.tensor([longest - len(prompt) for prompt in prompts], device=device)
        padded = [[end] * (longest - len(prompt)) + list(prompt) for prompt in prompts]
        tokens = torch.tensor(padded, device=device)
        rows = torch.arange(count, device=device)
        total, done = torch.zeros(count, device=device), rows < 0
        written = torch.full((count, room + 1), end, device=device)
        risks = torch.zeros(count, room + 1, device=device)
        shape = count, self._groups, longest + room, self._width
        cache = [
            tuple(torch.empty(shape, dtype=self.model.dtype, device=device) for _ in range(2))
            for _ in self._layers
        ]
        found: list[Written | None] = [None] * count
        for step in range(room + 1):
            states = self._states(tokens, cache, padding, step and longest + step - 1)
            if step and self._risk is not None:
                head = self._risk.weight[-1].float(), self._risk.bias[-1].float()
                risks[:, step - 1] = (states.float() @ head[0] + head[1]).sigmoid()
            if (step and step % CHECK_EVERY == 0) or step == room:
                for row, own, log, own_risks in zip(
                    *(rows[done].tolist(), written[done].tolist()),
                    *(total[done].tolist(), risks[done].tolist()),
                    strict=True,
                ):
                    size = own.index(end)
                    known = own_risks[: size + 1] if self._risk is not None else []
                    found[row] = Written(own[:size], log, known)
                left = ~done
                remaining = int(left.sum())
                if remaining == 0 or step == room:
                    break
                if remaining < LEAVE * len(rows):
                    cache = [(keys[left], values[left]) for keys, values in cache]
                    rows, total, written, risks, padding, states, done = (
                        each[left] for each in (rows, total, written, risks, padding, states, done)
                    )
            chosen, log = self._pick(states, temperature, chance)
            chosen = torch.where(done, end, chosen)
            total = total + torch.where(done, 0.0, log)
            written[:, step] = chosen
            done = done | (chosen == end)
            tokens = chosen[:, None]
        return found

    def _states(
        self, tokens: Tensor, cache: Sequence[tuple[Tensor, ...]], padding: Tensor, start: int
    ) -> Tensor:
        """The last states of tokens that follow the first ``start`` ones in the cache."""
        network = self.model.model
        count, size = tokens.shape
        until, width, groups, shared = start + size, self._width, self._groups, self._shared
        spot = torch.arange(until, device=tokens.device)
        place = (spot[start:] - padding[:, None]).clamp(min=0)
        # Padding attends to itself; a row that attends to nothing would give NaN.
        sees = (spot <= spot[start:, None]) & (spot >= padding[:, None, None])
        sees |= spot == spot[start:, None]
        unseen = torch.where(sees, 0.0, -torch.inf).to(self.model.dtype)[:, None, None]
        states = network.embed_tokens(tokens)
        cosine, sine = (each[:, :, None] for each in network.rotary_emb(states, place))
        heads = groups * (shared + 1)
        for layer, (keys, values) in zip(self._layers, cache, strict=True):
            first, second = layer.norms
            joined = nn.functional.linear(_normed(states, first), layer.weight, layer.bias)
            turned, value = joined.view(count, size, -1, width).split([heads, groups], 2)
            one, other = turned.chunk(2, -1)
            turned = turned * cosine + torch.cat([-other, one], -1) * sine
            query, key = turned.split([groups * shared, groups], 2)
            keys[:, :, start:until] = key.transpose(1, 2)
            values[:, :, start:until] = value.transpose(1, 2)
            # (rows, groups, heads of a group, tokens, width)
            query = query.view(count, size, groups, shared, width).permute(0, 2, 3, 1, 4)
            query = query.reshape(count, groups, shared * size, width) * width**-0.5
            scores = query @ keys[:, :, :until].transpose(2, 3)
            scores = scores.view(count, groups, shared, size, until) + unseen
            weights = scores.softmax(-1, dtype=torch.float32).to(states.dtype)
            mixed = weights.view(count, groups, shared * size, until) @ values[:, :, :until]
            mixed = mixed.view(count, groups, shared, size, width).permute(0, 3, 1, 2, 4)
            mixed = mixed.reshape(count, size, -1)
            states = states + nn.functional.linear(mixed, layer.mixed)
            gate, up = nn.functional.linear(_normed(states, second), layer.inner).chunk(2, -1)
            states = states + nn.functional.linear(nn.functional.silu(gate) * up, layer.outer)
        last: Tensor = _normed(states[:, -1], network.norm)
        return last

    def _pick(
        self, states: Tensor, temperature: float, chance: torch.Generator
    ) -> tuple[Tensor, Tensor]:
        """The next token of each row, and its log-probability at a temperature of 1."""
        logs: Tensor = self.model.lm_head(states).float().log_softmax(-1)
        scores = logs
        if temperature > 0:  # the largest sum with Gumbel noise is a sample
            noise = torch.rand(logs.shape, device=logs.device, generator=chance)
            noise = noise.clamp(1e-9, 1 - 1e-7)
            scores = logs / temperature - (-noise.log()).log()
        chosen = scores.argmax(-1)
        return chosen, logs.gather(1, chosen[:, None])[:, 0]


def _normed(states: Tensor, norm: LanguageModel) -> Tensor:
    return nn.functional.rms_norm(states, states.shape[-1:], norm.weight, norm.variance_epsilon)
