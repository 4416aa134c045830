"""Greedy and sampled decoding of the teacher in large batches.

Rows that have ended leave the batch, and the CPU waits for the GPU only every few steps, so that
thousands of prompts are continued at once.
"""

from collections.abc import Sequence

import torch
from torch import Tensor

from parataxis.lab.verifier.gguf import LanguageModel

CHECK_EVERY = 12
"""Steps between two looks at which rows have ended."""
LEAVE = 0.8
"""Rows that have ended leave when fewer than this share are left."""

Written = tuple[list[int], float]
"""The tokens that were written, without the end mark, and their log-probability with it."""


class BatchDecoder:
    """A language model, with adapters merged, that continues many prompts at once."""

    def __init__(self, model: LanguageModel) -> None:
        self.model = model

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
        from transformers import DynamicCache  # slow, and comes with the model

        device = self.model.device
        chance = torch.Generator(device).manual_seed(seed)
        longest = max(map(len, prompts))
        padding = torch.tensor([longest - len(prompt) for prompt in prompts], device=device)
        padded = [[end] * (longest - len(prompt)) + list(prompt) for prompt in prompts]
        tokens = torch.tensor(padded, device=device)
        place = torch.arange(longest, device=device) - padding[:, None]
        seen, place = (place >= 0).long(), place.clamp(min=0)
        rows = torch.arange(len(prompts), device=device)
        total, done = torch.zeros_like(rows, dtype=torch.float32), rows < 0
        written = tokens[:, :0]
        cache = DynamicCache(config=self.model.config)
        found: list[Written | None] = [None] * len(prompts)
        for step in range(1, room + 1):
            states = self.model.model(
                input_ids=tokens,
                attention_mask=seen,
                position_ids=place,
                past_key_values=cache,
                use_cache=True,
            ).last_hidden_state[:, -1]
            chosen, log = self._pick(states, temperature, chance)
            chosen = torch.where(done, end, chosen)
            total = total + torch.where(done, 0.0, log)
            written = torch.cat([written, chosen[:, None]], 1)
            done = done | (chosen == end)
            if step % CHECK_EVERY == 0 or step == room:
                for row, own, chance_of in zip(
                    rows[done].tolist(), written[done].tolist(), total[done].tolist(), strict=True
                ):
                    found[row] = own[: own.index(end)], chance_of
                left = ~done
                count = int(left.sum())
                if count == 0:
                    break
                if count < LEAVE * len(rows):
                    cache.batch_select_indices(left.nonzero()[:, 0])
                    rows, chosen, total, written, place, seen, done = (
                        each[left] for each in (rows, chosen, total, written, place, seen, done)
                    )
            tokens, place = chosen[:, None], place[:, -1:] + 1
            seen = torch.cat([seen, torch.ones_like(tokens)], 1)
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
