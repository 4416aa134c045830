"""The teacher: a language model that is fine-tuned on rewrites and then scores candidates.

It learns to write rewrites, and to tell where one is at fault: a head on its states estimates, at
the end of each simple sentence, the probability of each kind of fault, and that the sentence should
be split further. Its folder holds the reduced
weights, the tokenizer, the kept tokens, and the adapters: only low-rank adapters are trained (Hu et
al. 2022, "LoRA"), which forget less and are small.
"""

import json
import logging
import math
import random
import shutil
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from parataxis.checks.verifier import FAULTS, MORE, OUTPUTS, PrefixTree, prefix_tree
from parataxis.errors import InputError
from parataxis.lab.training import choose_device
from parataxis.lab.verifier.candidates import (
    BY_TEACHER,
    RankedSource,
    TrainingCandidate,
    read_labels,
    read_sources,
    write_sources,
)
from parataxis.lab.verifier.corruptions import corruptions
from parataxis.lab.verifier.decode import FastModel, fault_chances
from parataxis.lab.verifier.examples import JUDGED, RIGHT, WRITTEN, Aim, judged_labels
from parataxis.lab.verifier.gguf import LanguageModel, load_model, shrink
from parataxis.lab.verifier.tokens import TOKENIZER, TeacherTokens, choose_vocabulary
from parataxis.lab.verifier.train import auc
from parataxis.rewrite.record import Level

log = logging.getLogger(__name__)

ADAPTERS = "adapters.pt"

ADAPTED = ("q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj")
ROWS = 8192
"""The number of rows of logits that are computed at once."""
STEP = 16
"""Trees are padded to a multiple of this, which the attention kernels need."""
TOGETHER = 12
"""The number of files that are scored at once, so that trees of similar length are batched."""
NODES = 48_000
"""The number of nodes in one batch, including padding."""

CORRUPTED_EVERY = 6
"""Every so many-th rewrite is also seen with a fault, and left whole."""
FAULT_SHARE = 0.5
"""The weight of the loss on faults, beside the loss of a token."""
KIND_SHARE = 0.5
"""The weight of the kind of a fault, beside whether there is one."""


class Pair(NamedTuple):
    """The tokens of a prompt and of a rewrite, and the labels of its simple sentences.

    ``is_model`` says whether rewrites should be written like this one.
    """

    prompt: list[int]
    written: list[int]
    labels: Sequence[tuple[int, int, float]] = ()
    """The place of the token that ends a sentence, its label, and whether it should be split
    further, NaN if unknown."""
    weight: float = WRITTEN
    is_model: bool = True

    @property
    def size(self) -> int:
        """The number of tokens."""
        return len(self.prompt) + len(self.written)


class _Row(NamedTuple):
    """A rewrite and what is known of its first sentences; see :class:`Pair`."""

    source: str
    level: str | None
    simple: Sequence[str]
    labels: Sequence[int]
    more: Sequence[float] = ()
    weight: float = WRITTEN
    is_model: bool = True


@dataclass(frozen=True)
class Tuning:
    """The settings of the fine-tuning. One epoch, because it memorises what it sees twice."""

    rank: int = 24
    scale: float = 2.0
    rate: float = 2e-4
    batch: int = 64
    epochs: float = 1.0
    evaluate_every: int = 290


class Adapted(nn.Module):
    """A frozen linear layer with a trainable low-rank change."""

    def __init__(self, base: nn.Linear, rank: int, scale: float) -> None:
        super().__init__()
        self.base, self.scale = base, scale
        device = base.weight.device
        self.down = nn.Parameter(torch.empty(rank, base.in_features, device=device))
        self.up = nn.Parameter(torch.zeros(base.out_features, rank, device=device))
        nn.init.kaiming_uniform_(self.down, a=math.sqrt(5))

    def forward(self, rows: Tensor) -> Tensor:
        down, up = self.down.to(rows.dtype), (self.scale * self.up).to(rows.dtype)
        change = nn.functional.linear(nn.functional.linear(rows, down), up)
        return self.base(rows) + change  # type: ignore[no-any-return]

    def merged(self) -> nn.Linear:
        """The equivalent linear layer."""
        weight = self.base.weight
        weight.data = (weight.float() + self.scale * self.up @ self.down).to(weight.dtype)
        return self.base


def add_adapters(model: LanguageModel, tuning: Tuning) -> list[nn.Parameter]:
    """Add adapters to all layers and the head for faults, freeze the rest, and return the
    parameters that are trained."""
    model.requires_grad_(False)
    for module in list(model.modules()):
        for name, child in list(module.named_children()):
            if name in ADAPTED and isinstance(child, nn.Linear):
                setattr(module, name, Adapted(child, tuning.rank, tuning.scale))
    model.faults = nn.Linear(model.config.hidden_size, OUTPUTS, device=model.device)
    nn.init.normal_(model.faults.weight, std=0.01)
    nn.init.constant_(model.faults.bias, -2.0)
    return [each for each in model.parameters() if each.requires_grad]


def merge_adapters(model: nn.Module) -> None:
    """Merge the adapters into the weights, which is faster."""
    with torch.no_grad():
        for module in list(model.modules()):
            for name, child in list(module.named_children()):
                if isinstance(child, Adapted):
                    setattr(module, name, child.merged())


def adapter_state(model: nn.Module) -> dict[str, Tensor]:
    """The adapters by name, in half precision."""
    return {
        name: value.detach().to(torch.bfloat16).cpu()
        for name, value in model.named_parameters()
        if value.requires_grad
    }


def load_adapters(model: LanguageModel, path: Path) -> list[nn.Parameter]:
    """Add the adapters in a file to a model, and return their parameters."""
    state = torch.load(path, map_location=model.device, weights_only=True)
    parameters = add_adapters(model, Tuning(rank=min(next(iter(state.values())).shape)))
    model.load_state_dict({name: each.float() for name, each in state.items()}, strict=False)
    return parameters


def load_teacher(folder: Path, device: torch.device) -> LanguageModel:
    """Load the fine-tuned teacher, ready to score and to write."""
    if not (folder / ADAPTERS).exists():
        raise InputError(f"The teacher in {folder} is not fine-tuned yet; run --only tune first.")
    model = load_model(folder, device)
    load_adapters(model, folder / ADAPTERS)
    merge_adapters(model)
    return model.eval()


def read_pairs(
    paths: Iterable[Path], tokens: TeacherTokens, *, corrupted: bool = False
) -> list[Pair]:
    """Read rewrites (``complex``, ``simple``, perhaps ``level``) and judgements (``source``,
    ``simple``, ``faults``) from JSONL files, as tokens; perhaps also with faults made by program,
    and with sources left whole that should be split."""
    rows: list[_Row] = []
    for path in paths:
        for record in map(json.loads, path.read_text(encoding="utf-8").splitlines()):
            simple, level = record["simple"], record.get("level")
            labels, more = judged_labels(record.get("faults", ()), len(simple))
            if "faults" in record:
                rows.append(_Row(record["source"], level, simple, labels, more, JUDGED, False))
                continue
            source = record["complex"]
            rows.append(_Row(source, level, simple, labels, more))
            if not corrupted or len(rows) % CORRUPTED_EVERY:
                continue
            for made in corruptions(simple, source, random.Random(source), 1):
                until = [RIGHT] * made.place + [FAULTS.index(made.kind) + 1]
                rows.append(_Row(source, level, made.simple, until, is_model=False))
            if len(simple) > 1:
                rows.append(_Row(source, level, [source], [RIGHT], [1.0], is_model=False))
    prompts = tokens.prompts((row.source, row.level) for row in rows)
    texts = tokens.batch(["\n".join(row.simple) for row in rows])
    pairs = []
    for row, prompt, own in zip(rows, prompts, texts, strict=True):
        written = [*own, tokens.end]
        further = row.more or [math.nan] * len(row.labels)
        known = list(zip(tokens.sentence_ends(written), row.labels, further, strict=False))
        pairs.append(Pair(prompt, written, known, row.weight, row.is_model))
    return pairs


def _states(
    model: LanguageModel, pairs: Sequence[Pair], device: torch.device
) -> tuple[Tensor, Tensor]:
    """The states at all tokens of pairs, and the tokens themselves.

    Padding on the right needs no mask, because no token attends to what follows it.
    """
    tokens = torch.zeros(len(pairs), max(pair.size for pair in pairs), dtype=torch.long)
    for row, pair in enumerate(pairs):
        tokens[row, : pair.size] = torch.tensor(pair.prompt + pair.written)
    tokens = tokens.to(device)
    return model.model(input_ids=tokens).last_hidden_state, tokens


def pair_loss(
    model: LanguageModel, pairs: Sequence[Pair], device: torch.device
) -> tuple[Tensor, int]:
    """The summed negative log-probability of rewrites, and their number of tokens."""
    return _writing_loss(model, pairs, *_states(model, pairs, device))


def _writing_loss(
    model: LanguageModel, pairs: Sequence[Pair], states: Tensor, tokens: Tensor
) -> tuple[Tensor, int]:
    wanted = torch.zeros(tokens.shape, dtype=torch.bool)
    for row, pair in enumerate(pairs):
        wanted[row, len(pair.prompt) : pair.size] = pair.is_model
    wanted = wanted[:, 1:].to(tokens.device)
    logits = model.lm_head(states[:, :-1][wanted]).float()
    loss = nn.functional.cross_entropy(logits, tokens[:, 1:][wanted], reduction="sum")
    return loss, int(wanted.sum())


def _fault_logits(
    model: LanguageModel, pairs: Sequence[Pair], states: Tensor
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """The logits of faults of all labelled sentences, their labels, whether they should be split
    further, and their weights."""
    known = [
        (row, len(pair.prompt) + place, label, more, pair.weight)
        for row, pair in enumerate(pairs)
        for place, label, more in pair.labels
    ]
    rows, places, labels, more, weights = torch.tensor(known).to(states.device).T
    return model.faults(states[rows.long(), places.long()].float()), labels.long(), more, weights


def _fault_loss(logits: Tensor, labels: Tensor, more: Tensor, weights: Tensor) -> Tensor:
    kinds = nn.functional.one_hot(labels, len(FAULTS) + 1)[:, 1:]
    wanted = torch.cat([kinds, more.nan_to_num()[:, None], (labels > 0)[:, None]], 1).float()
    losses = nn.functional.binary_cross_entropy_with_logits(logits, wanted, reduction="none")
    shares = torch.full_like(losses, KIND_SHARE)
    shares[:, MORE], shares[:, -1] = (~more.isnan()).float(), 1.0
    return (weights * (losses * shares).sum(1)).sum() / weights.sum()


@torch.no_grad()
def held_out_figures(
    model: LanguageModel, pairs: Sequence[Pair], device: torch.device
) -> dict[str, float]:
    """The loss of rewrites in nats, and the areas under the ROC curve for judged sentences: of
    faults, and of those that should be split further."""
    ordered = sorted(pairs, key=lambda pair: pair.size)
    total, count = 0.0, sum(pair.is_model for pair in pairs)
    seen = []
    for start in range(0, len(ordered), 128):
        some = ordered[start : start + 128]
        states, tokens = _states(model, some, device)
        total += float(_writing_loss(model, some, states, tokens)[0])
        logits, labels, more, _ = _fault_logits(model, some, states)
        seen.append(torch.stack([logits[:, -1], labels > 0, logits[:, MORE], more], 1).cpu())
    risk, faulty, further, more = torch.cat(seen).numpy().T
    asked = ~np.isnan(more)
    figures = {
        "nats": total / count if count else None,
        "area": auc(risk, faulty > 0),
        "area_unsplit": auc(further[asked], more[asked] > 0),
    }
    return {name: value for name, value in figures.items() if value is not None}


def finetune(
    model: LanguageModel,
    parameters: Sequence[nn.Parameter],
    train: Sequence[Pair],
    held_out: dict[str, list[Pair]],
    tuning: Tuning,
    device: torch.device,
) -> None:
    """Train the adapters, and log the losses on held-out rewrites."""
    optimiser = torch.optim.AdamW(parameters, lr=tuning.rate, betas=(0.9, 0.98), weight_decay=0.0)
    plan = _plan(train, tuning)
    warm, started, seen = max(20, len(plan) // 25), time.monotonic(), []
    model.train()
    for step, rows in enumerate(plan, start=1):
        slope = 0.02 + 0.49 * (1 + math.cos(math.pi * step / len(plan)))
        for group in optimiser.param_groups:
            group["lr"] = tuning.rate * min(1.0, step / warm) * slope
        some = [train[row] for row in rows]
        states, tokens = _states(model, some, device)
        loss, count = _writing_loss(model, some, states, tokens)
        faults = _fault_loss(*_fault_logits(model, some, states))
        torch.autograd.backward(loss / max(count, 1) + FAULT_SHARE * faults)
        norm = nn.utils.clip_grad_norm_(parameters, 1.0)
        if torch.isfinite(norm):
            optimiser.step()
        optimiser.zero_grad(set_to_none=True)
        seen.append(torch.stack([loss / max(count, 1), faults]).detach())
        if step % 50 == 0:
            a_token, a_sentence = torch.stack(seen[-50:]).mean(0).tolist()
            log.info(
                "%d of %d: %.4f a token, %.4f a judged sentence, %.0f s",
                *(step, len(plan), a_token, a_sentence, time.monotonic() - started),
            )
        if step % tuning.evaluate_every == 0 or step == len(plan):
            model.eval()
            for name, pairs in held_out.items():
                for figure, value in held_out_figures(model, pairs, device).items():
                    log.info("%s: %s %.4f", name, figure, value)
            model.train()
    model.eval()


def _plan(train: Sequence[Pair], tuning: Tuning) -> list[list[int]]:
    """Batches of rewrites of similar length, in random order."""
    chance = random.Random(1)
    plan: list[list[int]] = []
    size = tuning.batch
    while len(plan) * size < tuning.epochs * len(train):
        order = chance.sample(range(len(train)), len(train))
        for start in range(0, len(order), size * 50):
            part = sorted(order[start : start + size * 50], key=lambda row: train[row].size)
            batches = [part[place : place + size] for place in range(0, len(part), size)]
            plan += chance.sample(batches, len(batches))
    return plan[: math.ceil(tuning.epochs * len(train) / size)]


@torch.no_grad()
def node_verdicts(
    fast: FastModel, trees: Sequence[PrefixTree], device: torch.device
) -> list[tuple[NDArray[np.float32], NDArray[np.float32]]]:
    """For every node of each tree of tokens, given its ancestors, the log-probability, and the
    outputs for faults if a sentence ends there, as probabilities."""
    longest = -(-max(map(len, trees)) // STEP) * STEP
    tokens, depth, parent = (np.zeros((len(trees), longest), np.int64) for _ in range(3))
    # Padding attends to itself; a row that attends to nothing would give NaN.
    end = np.tile(np.arange(1, longest + 1), (len(trees), 1))
    for row, tree in enumerate(trees):
        size = len(tree)
        tokens[row, :size], depth[row, :size], end[row, :size] = tree.tokens, tree.depth, tree.end
        for path in tree.paths:
            parent[row, path[1:]] = path[:-1]

    def on_device(array: NDArray[np.int64]) -> Tensor:
        return torch.from_numpy(array).to(device, non_blocking=True)

    place = torch.arange(longest, device=device)
    sees = (place <= place[:, None]) & (place[:, None] < on_device(end)[:, None, :])
    ids = on_device(tokens)
    model, states = fast.model, fast.states(ids, on_device(depth), sees)
    rows = torch.arange(len(trees), device=device)[:, None]
    before = states[rows, on_device(parent)].reshape(-1, states.shape[-1])
    goals = ids.reshape(-1)
    logs = torch.empty(len(goals), device=device)
    for start in range(0, len(goals), ROWS):
        part = slice(start, start + ROWS)
        logits = model.lm_head(before[part]).float()
        chosen = logits.gather(1, goals[part, None])[:, 0]
        logs[part] = chosen - logits.logsumexp(1)
    found = logs.view(len(trees), longest).cpu().numpy()
    risk = fault_chances(model.faults, states).cpu().numpy()
    return [(found[row, : len(tree)], risk[row, : len(tree)]) for row, tree in enumerate(trees)]


def make_teacher(model: Path, tokenizer: Path, texts: Sequence[Path], output: Path) -> None:
    """Reduce a published model to the tokens of some texts, and write the teacher's folder."""
    output.mkdir(parents=True, exist_ok=True)
    shutil.copy(tokenizer, output / TOKENIZER)
    lines = [line for path in texts for line in path.read_text(encoding="utf-8").splitlines()]
    kept = choose_vocabulary(output, lines)
    shrink(model, output, kept)
    log.info("%d tokens kept", len(kept))


def tune(
    folder: Path,
    train: Sequence[Path],
    held_out: Sequence[Path],
    start: Path | None = None,
    changes: Mapping[str, str] | None = None,
) -> None:
    """Fine-tune the teacher in a folder on files of rewrites and of judgements, and write its
    adapters there.

    It continues from the adapters in ``start``; ``changes`` are those of :class:`Tuning`.
    """
    unknown = (changes or {}).keys() - Tuning.__dataclass_fields__.keys()
    if unknown:
        raise InputError(f"The fine-tuning has no setting {min(unknown)!r}.")
    settings: dict[str, Any] = {
        name: type(getattr(Tuning, name))(float(value)) for name, value in (changes or {}).items()
    }
    tuning, tokens, device = Tuning(**settings), TeacherTokens(folder), choose_device()
    pairs = read_pairs(train, tokens, corrupted=True)
    held = {path.stem: read_pairs([path], tokens) for path in held_out}
    network = load_model(folder, device)
    parameters = load_adapters(network, start) if start else add_adapters(network, tuning)
    log.info("%d rewrites", len(pairs))
    finetune(network, parameters, pairs, held, tuning, device)
    torch.save(adapter_state(network), folder / ADAPTERS)


def score(folder: Path, candidates: Sequence[Path], taught: Sequence[Path] = ()) -> None:
    """Let the teacher score the candidates in folders; files that are scored are skipped.

    Its own rewrites in the folders ``taught`` are candidates, too.
    """
    device, tokens = choose_device(), TeacherTokens(folder)
    own = _labels(taught)
    network = FastModel(load_teacher(folder, device))
    paths = [path for each in candidates for path in sorted(each.glob("*.found"))]
    paths = [path for path in paths if not path.with_suffix(".scored").exists()]
    for start in range(0, len(paths), TOGETHER):
        some = paths[start : start + TOGETHER]
        parts = [read_sources(path) for path in some]
        for source in chain.from_iterable(parts):
            known = [each.simple for each in source.candidates]
            written = own.get((source.complex, source.level), ())
            new = [each for each in written if each not in known]
            source.candidates += [TrainingCandidate(each, BY_TEACHER) for each in new]
        score_sources([source for part in parts for source in part], tokens, network, device)
        for path, part in zip(some, parts, strict=True):
            write_sources(part, path.with_suffix(".scored"))
        log.info("%d of %d files scored", start + len(some), len(paths))


def _labels(folders: Sequence[Path]) -> dict[Aim, list[list[str]]]:
    """The rewrites in folders from ``--only label``, by source and level."""
    found: dict[Aim, list[list[str]]] = {}
    for record in chain.from_iterable(map(read_labels, folders)):
        aim = record["complex"], Level(record.get("level") or Level.PLAIN)
        both = [record, record.get("split")]
        found.setdefault(aim, []).extend(each["simple"] for each in both if each)
    return found


def score_sources(
    sources: Sequence[RankedSource],
    tokens: TeacherTokens,
    network: FastModel,
    device: torch.device,
) -> None:
    """Set the teacher's log-probability and risks of each candidate, in batches of trees of similar
    size."""
    prompts = tokens.prompts(
        (source.complex, None if source.level is Level.PLAIN else source.level)
        for source in sources
    )
    texts = [["\n".join(each.simple) for each in source.candidates] for source in sources]
    flat = iter(tokens.batch([text for own in texts for text in own]))
    rows = []
    for source, prompt in zip(sources, prompts, strict=True):
        written = [[*next(flat), tokens.end] for _ in source.candidates]
        tree = prefix_tree([[*prompt, *own] for own in written])
        rows.append((tree, len(prompt), written, source))
    rows.sort(key=lambda row: len(row[0]))
    while rows:
        count = 1
        while count < len(rows) and (count + 1) * len(rows[count][0]) <= NODES:
            count += 1
        some, rows = rows[:count], rows[count:]
        found = node_verdicts(network, [tree for tree, *_ in some], device)
        for (tree, size, written, source), (logs, risks) in zip(some, found, strict=True):
            for candidate, own, path in zip(source.candidates, written, tree.paths, strict=True):
                candidate.teacher = float(logs[path[size:]].sum())
                ends = path[[size + place for place in tokens.sentence_ends(own)]]
                candidate.risks = [round(risk, 4) for risk in risks[ends, -1].tolist()]
                candidate.more = [round(risk, 4) for risk in risks[ends, MORE].tolist()]
