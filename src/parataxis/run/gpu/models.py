"""The shipped models on one device: the analyser, and the beam search of the pointer splitter.

The search takes the same steps as :mod:`parataxis.splitters.pointer.search`, for thousands of
sources at once, with its whole state on the device. The host asks only every few steps how many
sources are still searched, and every step has the same shapes, so that a GPU can record it once and
replay it.
"""

import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from parataxis.errors import InputError, ParataxisError
from parataxis.run.gpu.graph import Recording, TorchGraph, current, new_pool
from parataxis.run.gpu.splitter import PackedResults, Sentences, Sources, at_least, part_of_scores
from parataxis.splitters.pointer.actions import CLOSED, COPY, END, FORMS, NEXT, START, WHOLE
from parataxis.splitters.pointer.choose import CAUTION, SURELY_WHOLE
from parataxis.splitters.pointer.model import (
    DECODER,
    DESCRIPTION,
    ENCODER,
    PointerDescription,
)
from parataxis.splitters.pointer.search import COPIED_AT_MOST, NEVER, most_steps
from parataxis.syntax.analyser import TREES
from parataxis.syntax.onnx import Arrays, model_folder

PIECES = 65_536
"""Word pieces, including padding, in one run of the analyser."""
_SENTENCES = (64, 256, 512, 1024, 2048)  # its batches are padded to one of these sizes
_WIDEST = 128  # its runs of longer sentences are not recorded, because they are rare
_HYPOTHESES = (128, 512, 1024, 2048, 4096)  # batches of the search are padded to one of these
_LOOK_EVERY = 8  # steps after which the host asks how many sources are still searched
_COMPACT_AT = 0.7  # the batch is compacted when at most this share of its sources is still searched
_DIGITS = 9  # decimal places to which scores are rounded: a GPU adds in any order

_OPENING = 101
"""The word piece that opens a sentence; an empty row must have something to attend to."""
_SMALL = (torch.int8, torch.int16, torch.int32)

State = dict[str, Tensor]
"""Named tensors with one row for each source."""


@dataclass
class DeviceSearch:
    """Searches rewrites of many sources at once."""

    encoder: TorchGraph
    decoder: TorchGraph
    layers: int
    width: int
    _recorded: dict[tuple[int, int, int], "_Recorded"] = field(default_factory=dict)
    _pool: Any = None

    @property
    def device(self) -> torch.device:
        return self.encoder.device

    @torch.no_grad()
    def __call__(self, sources: Sources, beam: int) -> PackedResults:
        """Search rewrites of each source; the results are in the same order."""
        order = np.argsort((sources.pieces > 0).sum(1), kind="stable")
        most = max(1, _HYPOTHESES[-1] // beam)
        batches = [order[start : start + most] for start in range(0, len(order), most)]
        with current(self.device):
            results = PackedResults.together(
                [self._batch(sources.some(rows), beam) for rows in batches]
            )
        return results.some(np.argsort(order))

    def _batch(self, sources: Sources, beam: int) -> PackedResults:
        state = self._read(sources, self._room(len(sources), beam), beam)
        steps = most_steps(sources.width)
        results = _nothing(len(sources), beam, steps)
        step = 0
        while True:
            runner = self._runner(state, beam)
            runner.load(state, step)
            times = 1 if step == 0 else _LOOK_EVERY
            runner.run(times)
            step += times
            going = runner.state["going"].cpu().numpy()
            count = int(going.sum())
            room = self._room(count, beam)
            if count and step < steps and (room >= len(going) or count > _COMPACT_AT * len(going)):
                state = runner.state
                continue
            _take(runner.state, results)
            if not count or step >= steps:
                return results
            keep = torch.zeros(room, dtype=torch.int64, device=self.device)
            keep[:count] = torch.from_numpy(np.flatnonzero(going)).to(self.device)
            state = {name: rows[keep] for name, rows in runner.state.items()}
            state["going"][count:] = False
            state["source"][count:] = -1

    def _room(self, count: int, beam: int) -> int:
        """How many sources a batch is padded to; on a CPU, which records nothing, not at all."""
        if self.device.type != "cuda":
            return count
        return max(count, at_least(max(1, count) * beam, _HYPOTHESES) // beam)

    def _runner(self, state: State, beam: int) -> "_Recorded":
        rows, _, width = state["copied"].shape
        key = (rows, beam, width)
        if key not in self._recorded:
            if self._pool is None:
                self._pool = new_pool(self.device)
            self._recorded[key] = _Recorded(self._step, state, self._pool)
        return self._recorded[key]

    def _read(self, sources: Sources, rows: int, beam: int) -> State:
        """Encode the sources; the state before the first step. Rows after the sources are empty."""
        count, width = len(sources), sources.width

        def of(array: NDArray[Any], rest: float = 0) -> Tensor:
            tensor = torch.from_numpy(array).to(self.device)
            if tensor.dtype in _SMALL:
                tensor = tensor.long()
            more = rows - count
            return torch.cat([tensor, tensor.new_full((more, *tensor.shape[1:]), rest)])

        memory = self.encoder(
            {
                "pieces": of(sources.pieces, _OPENING),
                "shapes": of(sources.shapes),
                "first": of(sources.first),
            }
        )
        hidden = (np.arange(width) >= sources.words[:, None]) * np.float32(-1e4)
        steps = most_steps(width)

        def full(value: float, *shape: int, dtype: torch.dtype = torch.int64) -> Tensor:
            return torch.full((rows, *shape), value, dtype=dtype, device=self.device)

        scores = full(NEVER, beam, dtype=torch.float64)
        scores[:, 0] = 0.0
        # Contiguous, so that the decoder need not copy them in each step.
        memory = {name: rows.contiguous() for name, rows in memory.items()}
        return memory | {
            "source": of(np.arange(count), -1),
            "hidden": of(hidden, -1e4),
            "same": of(sources.same),
            "twins": of(sources.twins, -1),
            "limits": of(sources.steps),
            "going": of(np.ones(count, dtype=np.bool_)),
            "scores": scores,
            "entropies": full(0, beam, dtype=torch.float64),
            "actions": full(0, beam, steps, dtype=torch.int16),
            "previous": full(START, beam),
            "sentence": full(0, beam),
            "place": full(0, beam),
            "last": full(-1, beam),
            "copied": full(0, beam, width),
            "recurrent": full(0, beam, self.layers, self.width, dtype=torch.float32),
            "whole": full(0, dtype=torch.float64),
            "found": full(0),
            "done_scores": full(-np.inf, beam, dtype=torch.float64),
            "done_chances": full(0, beam, dtype=torch.float64),
            "done_entropies": full(0, beam, dtype=torch.float64),
            "done_lengths": full(0, beam),
            "done_actions": full(0, beam, steps, dtype=torch.int16),
        }

    def _step(self, state: State, step: Tensor) -> State:
        """The state after one more step; ``step`` is the number of steps before it."""
        scored = self.decoder(state)
        logs = scored["logs"].double()
        _merge(logs, state["same"], state["twins"])
        whole = torch.where(step == 0, logs[:, 0, WHOLE].exp(), state["whole"])
        state = state | {"entropies": state["entropies"] - (logs.exp() * logs).sum(2)}
        _forbid(logs, state)
        logs += state["scores"][:, :, None]
        rows, beam, actions = logs.shape
        scores, best = logs.view(rows, beam * actions).topk(2 * beam, dim=1)
        parents, chosen = best // actions, best % actions
        ended = chosen == END
        new = _finish(state, scores, parents, ended, step)
        scores, order = scores.masked_fill(ended, NEVER).sort(dim=1, descending=True, stable=True)
        scores, order = scores[:, :beam], order[:, :beam]
        new |= _move(state, parents.gather(1, order), chosen.gather(1, order), step)
        new["recurrent"] = _of_beams(scored["states"], parents.gather(1, order))
        going = _going(state, new, scores[:, 0], whole, step)
        new["scores"] = scores.masked_fill(~going[:, None], NEVER)
        return new | {"whole": whole, "going": going}


class _Recorded:
    def __init__(self, step: Callable[[State, Tensor], State], like: State, pool: Any) -> None:
        self._step = step
        self.state = {name: tensor.clone() for name, tensor in like.items()}
        device = like["going"].device
        self.at = torch.zeros((), dtype=torch.int64, device=device)
        self._play = Recording(self._once, device, pool)

    def load(self, state: State, step: int) -> None:
        """Continue from a state, which may be this one's own."""
        if state is not self.state:
            for name, tensor in state.items():
                self.state[name].copy_(tensor)
        self.at.fill_(step)

    def run(self, times: int) -> None:
        for _ in range(times):
            self._play()

    def _once(self) -> None:
        for name, tensor in self._step(self.state, self.at).items():
            self.state[name].copy_(tensor)
        self.at += 1


def _merge(logs: Tensor, same: Tensor, twins: Tensor) -> None:
    """Add up the probabilities of all ways to write the same word, in the likeliest of them. The
    ways are to copy the word from any of its places in the source, or to write it as a closed word.
    Of equally likely ways the closed word comes first, then the first place."""
    rows, beam, _ = logs.shape
    words = same.shape[1]
    at = same[:, None].expand(rows, beam, words)
    pointed = logs[:, :, COPY:]
    place = torch.arange(words, device=logs.device)
    has_twin = (twins >= 0) & (same == place)
    twin = torch.where(has_twin, twins, 0)[:, None].expand(rows, beam, words)
    closed = torch.where(has_twin[:, None], logs.gather(2, twin), -torch.inf)
    highest = closed.scatter_reduce(2, at, pointed, "amax")
    chances = (closed - highest).exp().scatter_add(2, at, (pointed - highest.gather(2, at)).exp())
    total = highest + chances.log()
    first = torch.full_like(at, words).scatter_reduce(
        2, at, torch.where(pointed == highest.gather(2, at), place, words), "amin"
    )
    by_twin = has_twin[:, None] & (closed == highest)
    wins = (first.gather(2, at) == place) & ~by_twin.gather(2, at)
    pointed.copy_(torch.where(wins, total.gather(2, at), NEVER))
    # Words that are no closed words write to the first action, which is never taken.
    logs.scatter_(2, twin, torch.where(by_twin, total, NEVER))


def _forbid(logs: Tensor, state: State) -> None:
    """Rule out empty sentences, and changes of form of anything but the word just copied."""
    logs[:, :, START] += NEVER
    logs[:, :, WHOLE] += NEVER
    logs[:, :, COPY:] += NEVER * (state["hidden"] < 0)[:, None]
    opening = NEVER * (state["place"] == 0)
    logs[:, :, NEXT] += opening - CAUTION
    logs[:, :, END] += opening
    previous = state["previous"]
    copied = previous >= COPY
    logs[:, :, FORMS:CLOSED] += NEVER * (~copied)[:, :, None]
    # Not the same word twice in a row.
    again = (NEVER * copied).to(logs.dtype)
    logs.scatter_add_(2, previous[:, :, None], again[:, :, None])


def _finish(state: State, scores: Tensor, parents: Tensor, ended: Tensor, step: Tensor) -> State:
    """The best finished rewrites, including those that end in this step."""
    beam = state["scores"].shape[1]
    valid = ended & (scores > NEVER / 2)
    means = torch.where(valid, scores / (step + 1), -torch.inf)
    chances = scores + CAUTION * state["sentence"].gather(1, parents)
    entropies = state["entropies"].gather(1, parents)
    done, order = torch.cat([state["done_scores"], means], 1).sort(
        dim=1, descending=True, stable=True
    )
    order = order[:, :beam]
    lengths = torch.cat([state["done_lengths"], torch.zeros_like(parents) + step], 1)
    actions = torch.cat([state["done_actions"], _of_beams(state["actions"], parents)], 1)
    return {
        "done_scores": done[:, :beam],
        "done_chances": torch.cat([state["done_chances"], chances], 1).gather(1, order),
        "done_entropies": torch.cat([state["done_entropies"], entropies], 1).gather(1, order),
        "done_lengths": lengths.gather(1, order),
        "done_actions": _of_beams(actions, order),
        "found": state["found"] + valid.sum(1),
    }


def _move(state: State, parents: Tensor, chosen: Tensor, step: Tensor) -> State:
    """The state of the hypotheses after the chosen actions."""
    copying, ended = chosen >= COPY, chosen == NEXT
    word = (chosen - COPY).clamp(min=0)
    copied = _of_beams(state["copied"], parents)
    copied.scatter_add_(2, word[:, :, None], copying[:, :, None].long())
    actions = _of_beams(state["actions"], parents)
    at = step.clamp(max=actions.shape[2] - 1).expand(*chosen.shape, 1)
    return {
        "previous": chosen,
        "entropies": state["entropies"].gather(1, parents),
        "sentence": state["sentence"].gather(1, parents) + ended,
        "place": torch.where(ended, 0, state["place"].gather(1, parents) + 1),
        "last": torch.where(copying, word, state["last"].gather(1, parents)),
        "copied": copied.clamp(max=COPIED_AT_MOST),
        "actions": actions.scatter(2, at, chosen[:, :, None].to(actions.dtype)),
    }


def _going(state: State, new: State, best: Tensor, whole: Tensor, step: Tensor) -> Tensor:
    """Which sources are still searched, as in the search on the CPU."""
    reachable = best / state["limits"].clamp(min=1)
    going = state["going"] & (best > NEVER / 2) & (step + 1 < state["limits"])
    beam = new["done_scores"].shape[1]
    open_ends = (new["found"] < beam) | (reachable > new["done_scores"][:, 0])
    return going & open_ends & (whole < SURELY_WHOLE)


def _nothing(count: int, beam: int, steps: int) -> PackedResults:
    return PackedResults(
        np.zeros(count),
        np.full((count, beam), -np.inf),
        np.zeros((count, beam)),
        np.zeros((count, beam)),
        np.zeros((count, beam), dtype=np.int64),
        np.zeros((count, beam, steps), dtype=np.int16),
    )


def _take(state: State, results: PackedResults) -> None:
    """Copy what was found for the sources of a state into the results."""
    source = state["source"].cpu().numpy()
    rows = np.flatnonzero(source >= 0)
    for name in results.arrays():
        found = state["whole" if name == "whole" else f"done_{name}"].cpu().numpy()[rows]
        is_score = name in ("scores", "chances", "entropies")
        getattr(results, name)[source[rows]] = found.round(_DIGITS) if is_score else found


def _of_beams(values: Tensor, parents: Tensor) -> Tensor:
    """The hypotheses (rows, beams, ...) with the numbers of the parents."""
    shape = (*parents.shape, *values.shape[2:])
    index = parents.reshape(*parents.shape, *[1] * (values.dim() - 2)).expand(shape)
    return values.gather(1, index)


class DeviceTrees:
    """The analyser's scores of many sentences at once."""

    def __init__(self, graph: TorchGraph) -> None:
        self.graph = graph
        self._recorded: dict[tuple[int, int], _Run] = {}
        self._pool = new_pool(graph.device)
        self._local = threading.local()

    @torch.no_grad()
    def __call__(self, sentences: Sentences) -> Arrays:
        most = max(1, min(_SENTENCES[-1], PIECES // sentences.width))
        with current(self.graph.device), self._own_stream():
            found = [
                self._run(sentences.some(slice(start, start + most)))
                for start in range(0, len(sentences), most)
            ]
        return {name: np.concatenate([part[name] for part in found]) for name in found[0]}

    def _run(self, sentences: Sentences) -> dict[str, NDArray[Any]]:
        found = self._runner(sentences)(sentences)
        own = part_of_scores(found, slice(0, len(sentences)), sentences.words)
        # Labels take fewer bytes as int16; they are sent to another process.
        return {
            name: (tensor.to(torch.int16) if tensor.dtype == torch.int64 else tensor).cpu().numpy()
            for name, tensor in own.items()
        }

    def _runner(self, sentences: Sentences) -> "_Run":
        """A recorded run for sentences of this width, or a new one where none is recorded."""
        rows, width = len(sentences), sentences.width
        if self.graph.device.type != "cuda" or width > _WIDEST:
            return _Run(self.graph, rows, width, sentences.words)
        key = at_least(rows, _SENTENCES), width
        if key not in self._recorded:
            self._recorded[key] = _Run(self.graph, *key, words=width)
            self._recorded[key].record(self._pool)
        return self._recorded[key]

    def _own_stream(self) -> AbstractContextManager[object]:
        """A stream for each thread, so that threads use the GPU in parallel."""
        if self.graph.device.type != "cuda":
            return nullcontext()
        if not hasattr(self._local, "stream"):
            self._local.stream = torch.cuda.Stream()  # type: ignore[no-untyped-call]
        return torch.cuda.stream(self._local.stream)


class _Run:
    """A run of the graph on inputs at fixed addresses."""

    def __init__(self, graph: TorchGraph, rows: int, width: int, words: int) -> None:
        self._graph = graph

        def empty(size: int, dtype: torch.dtype) -> Tensor:
            return torch.zeros((rows, size), dtype=dtype, device=graph.device)

        self._inputs = {
            "pieces": empty(width, torch.int64),
            "shapes": empty(width, torch.int64),
            "first": empty(words + 1, torch.int64),
            "forced": empty(words, torch.float32),
        }
        self._outputs: Mapping[str, Tensor] = {}
        self._play = self._once

    def record(self, pool: Any) -> None:
        """Record the run, and replay it from now on."""
        self._play = Recording(self._once, self._graph.device, pool)

    def __call__(self, sentences: Sentences) -> Mapping[str, Tensor]:
        """The outputs for sentences; the rows after them are left over from earlier runs."""
        for name, tensor in self._inputs.items():
            array = getattr(sentences, name)
            tensor[: len(array)] = 0
            tensor[: len(array), : array.shape[1]] = torch.from_numpy(array).to(tensor.device)
        self._play()
        return self._outputs

    def _once(self) -> None:
        self._outputs = self._graph(self._inputs)


@dataclass(frozen=True)
class DeviceModels:
    """The analyser and the pointer's search; both take and return numpy arrays."""

    trees: DeviceTrees
    searcher: DeviceSearch

    @classmethod
    def load(cls, device: str) -> "DeviceModels":
        """Load the weights on a device such as "cuda" or "cpu"."""
        opened = open_device(device)
        pointer = model_folder("pointer")
        description = PointerDescription.read(pointer / DESCRIPTION)
        encoder, decoder = (TorchGraph(pointer / name, opened) for name in (ENCODER, DECODER))
        search = DeviceSearch(encoder, decoder, description.layers, description.width)
        return cls(DeviceTrees(TorchGraph(model_folder("analyser") / TREES, opened)), search)

    def analyse(self, parts: Sequence[Sentences]) -> list[Arrays]:
        return [self.trees(part) for part in parts]

    def search(self, parts: Sequence[Sources], beam: int) -> list[PackedResults]:
        return [self.searcher(part, beam) for part in parts]


def open_device(name: str) -> torch.device:
    """The device with a name such as "cuda" or "cuda:1"; raises an error if it is not there."""
    try:
        device = torch.device(name)
    except RuntimeError as error:
        raise InputError(f'"{name}" is no device; use "cpu", "cuda" or "cuda:1".') from error
    if device.type not in ("cpu", "cuda"):
        raise InputError(f'"{name}" is no device that is supported; use "cpu" or "cuda".')
    if device.type == "cuda":
        if not torch.cuda.is_available():
            raise ParataxisError("torch finds no GPU here; leave the device out to use the CPU.")
        if (device.index or 0) >= torch.cuda.device_count():
            raise InputError(f"{name} does not exist: there are {torch.cuda.device_count()} GPUs.")
    return device
