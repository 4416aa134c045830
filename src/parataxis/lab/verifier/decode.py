"""The teacher in large batches: its states, and greedy and sampled decoding.

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


class Continuation(NamedTuple):
    """A continuation of a prompt."""

    tokens: list[int]
    """The tokens, without the end mark."""
    log_chance: float
    """Their log-probability, with the end mark."""
    risks: list[float]
    """The probability of a fault if a sentence ends with this token, for each token and the end
    mark; empty if the model has no head for faults."""


Cache = list[tuple[Tensor, Tensor]]
"""The keys and values of each layer."""


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


class FastModel:
    """A language model, with adapters merged, that reads many rows at once."""

    def __init__(self, model: LanguageModel) -> None:
        self.model, config = model, model.config
        self._groups = config.num_key_value_heads
        self._shared = config.num_attention_heads // self._groups
        self._width = config.hidden_size // config.num_attention_heads
        with torch.no_grad():
            self._layers = [_Layer(layer) for layer in model.model.layers]

    def empty_cache(self, rows: int, size: int) -> Cache:
        """Memory for the keys and values of so many rows and tokens."""
        shape = rows, self._groups, size, self._width
        return [
            (self.model.lm_head.weight.new_empty(shape), self.model.lm_head.weight.new_empty(shape))
            for _ in self._layers
        ]

    def states(
        self,
        tokens: Tensor,
        place: Tensor,
        sees: Tensor,
        cache: Cache | None = None,
        start: int = 0,
    ) -> Tensor:
        """The last states of tokens (rows, tokens) at these places. ``sees`` (rows, tokens, all)
        says which tokens they attend to, the first ``start`` of which are in the cache."""
        network = self.model.model
        count, size = tokens.shape
        until, width, groups, shared = start + size, self._width, self._groups, self._shared
        unseen = torch.where(sees, 0.0, -torch.inf).to(self.model.dtype)[:, None, None]
        states = network.embed_tokens(tokens)
        cosine, sine = (each[:, :, None] for each in network.rotary_emb(states, place))
        heads = groups * (shared + 1)
        for number, layer in enumerate(self._layers):
            first, second = layer.norms
            joined = nn.functional.linear(_normed(states, first), layer.weight, layer.bias)
            parts = joined.view(count, size, -1, width)
            turned, value = parts[:, :, :heads], parts[:, :, heads:]
            one, other = turned.chunk(2, -1)
            turned = turned * cosine + torch.cat([-other, one], -1) * sine
            query, key = turned[:, :, : groups * shared], turned[:, :, groups * shared :]
            key, value = key.transpose(1, 2), value.transpose(1, 2)
            if cache is not None:
                keys, values = cache[number]
                keys[:, :, start:until], values[:, :, start:until] = key, value
                key, value = keys[:, :, :until], values[:, :, :until]
            # (rows, groups, heads of a group, tokens, width)
            query = query.view(count, size, groups, shared, width).permute(0, 2, 3, 1, 4)
            query = query.reshape(count, groups, shared * size, width) * width**-0.5
            scores = query @ key.transpose(2, 3)
            scores = scores.view(count, groups, shared, size, until) + unseen
            weights = scores.softmax(-1, dtype=torch.float32).to(states.dtype)
            mixed = weights.view(count, groups, shared * size, until) @ value
            mixed = mixed.view(count, groups, shared, size, width).permute(0, 3, 1, 2, 4)
            mixed = mixed.reshape(count, size, -1)
            states = states + nn.functional.linear(mixed, layer.mixed)
            gate, up = nn.functional.linear(_normed(states, second), layer.inner).chunk(2, -1)
            states = states + nn.functional.linear(nn.functional.silu(gate) * up, layer.outer)
        return _normed(states, network.norm)


class BatchDecoder(FastModel):
    """A language model that continues many prompts at once."""

    @torch.no_grad()
    def __call__(
        self,
        prompts: Sequence[Sequence[int]],
        end: int,
        room: int,
        temperature: float = 0.0,
        seed: int = 0,
    ) -> list[Continuation | None]:
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
        cache = self.empty_cache(count, longest + room)
        risk = getattr(self.model, "faults", None)
        found: list[Continuation | None] = [None] * count
        for step in range(room + 1):
            start = step and longest + step - 1
            place, sees = _after_padding(padding, start, start + tokens.shape[1])
            states = self.states(tokens, place, sees, cache, start)[:, -1]
            if step and risk is not None:
                risks[:, step - 1] = fault_chances(risk, states)[:, -1]
            if (step and step % CHECK_EVERY == 0) or step == room:
                for row, own, log, own_risks in zip(
                    *(rows[done].tolist(), written[done].tolist()),
                    *(total[done].tolist(), risks[done].tolist()),
                    strict=True,
                ):
                    size = own.index(end)
                    known = own_risks[: size + 1] if risk is not None else []
                    found[row] = Continuation(own[:size], log, known)
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


def _after_padding(padding: Tensor, start: int, until: int) -> tuple[Tensor, Tensor]:
    """The places of the tokens from ``start`` on in rows that begin with padding, and what they
    attend to."""
    spot = torch.arange(until, device=padding.device)
    place = (spot[start:] - padding[:, None]).clamp(min=0)
    sees = (spot <= spot[start:, None]) & (spot >= padding[:, None, None])
    # Padding attends to itself; a row that attends to nothing would give NaN.
    return place, sees | (spot == spot[start:, None])


def fault_chances(head: nn.Linear, states: Tensor) -> Tensor:
    """The outputs of the head for faults as probabilities, in single precision."""
    return nn.functional.linear(states.float(), head.weight.float(), head.bias.float()).sigmoid()


def _normed(states: Tensor, norm: LanguageModel) -> Tensor:
    width = states.shape[-1:]
    return nn.functional.rms_norm(states, width, norm.weight, norm.variance_epsilon)
