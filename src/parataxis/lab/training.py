"""What all training runs share: settings from a TOML file, the loop, checkpoints, ONNX export."""

import copy
import csv
import logging
import math
import time
import tomllib
import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, ClassVar, Generic, TypeVar

import numpy as np
import onnx
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from parataxis.errors import InputError
from parataxis.syntax.onnx import Arrays

log = logging.getLogger(__name__)

LAST, LOG, SCORES = "last.pt", "log.csv", "scores.csv"
VERSION = 1
"""The version of checkpoints."""
_SMALL = 256
"""Weights with fewer numbers are stored as they are."""
REPORT_SECONDS = 10.0
"""Time between two progress messages."""

Batch = TypeVar("Batch")
Network = TypeVar("Network", bound=nn.Module)


def read_settings(path: Path, changes: Mapping[str, str] | None = None) -> dict[str, Any]:
    """Read settings; ``changes`` override single numbers by name ("epochs", "sizes.layers")."""
    settings = tomllib.loads(path.read_text(encoding="utf-8"))
    for name, value in (changes or {}).items():
        table, _, key = name.rpartition(".")
        target = settings.get(table) if table else settings
        if not isinstance(target, dict) or not isinstance(target.get(key), int | float):
            raise InputError(f"{path.name} has no number called {name!r} that could be changed.")
        try:
            target[key] = type(target[key])(float(value))
        except ValueError as error:
            raise InputError(f"{name!r} must be a number, not {value!r}.") from error
    return settings


def choose_device() -> torch.device:
    """The GPU if there is one."""
    return torch.device("cuda" if torch.cuda.is_available() else "cpu")


def autocast(device: torch.device, *, wanted: bool = True) -> torch.autocast:
    """bfloat16 on a GPU, if wanted; single precision on a CPU."""
    return torch.autocast(
        device.type, dtype=torch.bfloat16, enabled=wanted and device.type == "cuda"
    )


def similar_length_batches(
    rows: NDArray[np.int64], lengths: NDArray[np.int64], size: int, stretch: int
) -> list[NDArray[np.int64]]:
    """Batches of ``size`` rows with similar lengths, from stretches of ``stretch`` batches.

    ``lengths`` has the length of every row, also of those that are not in ``rows``.
    """
    batches = []
    for start in range(0, len(rows), size * stretch):
        some = rows[start : start + size * stretch]
        some = some[np.argsort(lengths[some], kind="stable")]
        batches += [some[place : place + size] for place in range(0, len(some), size)]
    return batches


def two_rate_optimizer(
    network: nn.Module, pretrained: Iterable[nn.Parameter], device: torch.device, **options: Any
) -> torch.optim.AdamW:
    """AdamW with two groups of parameters: the pretrained ones, and all others."""
    inside = list(pretrained)
    known = {id(parameter) for parameter in inside}
    outside = [parameter for parameter in network.parameters() if id(parameter) not in known]
    groups = [{"params": inside}, {"params": outside}]
    return torch.optim.AdamW(groups, fused=device.type == "cuda", **options)


def linear_decay(step: int, warmup: int, total: int) -> float:
    """The factor of a learning rate that rises for ``warmup`` steps and falls to a hundredth."""
    return min(1.0, step / warmup) * max(0.01, 1 - step / total)


class Average:
    """An exponential moving average of weights, with a warm start."""

    def __init__(self, weights: Mapping[str, Tensor], decay: float) -> None:
        self.decay = decay
        self.steps = 0
        self.state = {name: weight.detach().clone() for name, weight in weights.items()}

    @torch.no_grad()
    def update(self, weights: Mapping[str, Tensor]) -> None:
        self.steps += 1
        share = 1 - min(self.decay, (1 + self.steps) / (10 + self.steps))
        torch._foreach_lerp_(
            list(self.state.values()), [weights[name].detach() for name in self.state], share
        )


@dataclass(frozen=True)
class Evaluation:
    """How good the network is after an epoch: of two values the larger is better."""

    value: tuple[float, ...]
    figures: Mapping[str, float | None]


class Trainer(ABC, Generic[Network, Batch]):
    """A training run; subclasses define the batches, the loss and the evaluation.

    The output folder receives ``last.pt`` (the checkpoint that a run is resumed from), ``log.csv``
    (every step) and ``scores.csv`` (every evaluation). A run that was interrupted and resumed
    gives the same weights as one that was not.
    """

    log_fields: ClassVar[Sequence[str]] = ("loss",)
    """The columns of ``log.csv`` besides the step."""
    score_fields: ClassVar[Sequence[str]]
    """The figures of an evaluation."""
    free_settings: ClassVar[Sequence[str]] = ()
    """Settings that may change when a run is resumed, because they only limit its length."""
    clip: float = 1.0
    """The largest norm of the gradient."""
    save_every: int = 0
    """Steps between checkpoints, besides the one after each epoch."""

    def __init__(
        self,
        network: Network,
        optimizer: torch.optim.Optimizer,
        config: Any,
        device: torch.device,
        output: Path,
        *,
        average_decay: float | None = None,
    ) -> None:
        self.network, self.optimizer, self.config = network, optimizer, config
        self.device, self.output = device, output
        self.average = (
            None if average_decay is None else Average(network.state_dict(), average_decay)
        )
        self.step = self.epoch = self.place = self.waited = 0
        """``place`` is the next batch of the epoch; ``waited`` counts the evaluations since the
        best one."""
        self.best: tuple[float, ...] = (-np.inf,)
        self._unwritten: list[tuple[int, Tensor, Mapping[str, Tensor | float]]] = []
        self._started = time.monotonic()

    @abstractmethod
    def batches(self) -> Sequence[Batch]:
        """The batches of the present epoch, which depend on the seed and the epoch alone."""

    @abstractmethod
    def loss(self, batch: Batch) -> tuple[Tensor, Mapping[str, Tensor | float]]:
        """The loss of a batch, and its row in ``log.csv``."""

    @abstractmethod
    def rates(self) -> Sequence[float]:
        """The learning rate of each parameter group for the present step."""

    @abstractmethod
    def evaluate(self) -> Evaluation | None:
        """Evaluate the network after an epoch; None to skip the evaluation."""

    @abstractmethod
    def keep(self) -> None:
        """Write the weights, which are the best so far."""

    @property
    @abstractmethod
    def is_over(self) -> bool:
        """Whether the run has come to its end; an epoch also ends when it becomes true."""

    def adapt(self, is_better: bool) -> None:
        """Change the learning rate after an evaluation."""

    def start(self) -> None:
        """Create the folder of a new run."""
        self.output.mkdir(parents=True, exist_ok=True)
        scores = ("epoch", "step", "rate", *self.score_fields, "seconds")
        for name, fields in ((LOG, ("step", *self.log_fields)), (SCORES, scores)):
            _write_rows(self.output / name, [fields], mode="w")

    def run(self) -> None:
        """Train to the end, or until interrupted."""
        while not self.is_over:
            self.run_epoch()

    def run_epoch(self) -> None:
        """Take the remaining steps of the epoch, evaluate, and save a checkpoint."""
        batches = self.batches()
        self.network.train()
        reported = time.monotonic()
        for batch in batches[self.place :]:
            if self.is_over:
                break
            self.take(batch)
            self.place += 1
            if time.monotonic() - reported > REPORT_SECONDS:
                reported = time.monotonic()
                done, loss = self.place, self._write_log()
                log.info(
                    "epoch %d: %d of %d steps, loss %.4f", self.epoch, done, len(batches), loss
                )
            if self.save_every and self.step % self.save_every == 0:
                self.save()
        self._close_epoch(self._write_log())

    def take(self, batch: Batch) -> None:
        self.step += 1
        for group, rate in zip(self.optimizer.param_groups, self.rates(), strict=True):
            group["lr"] = rate
        loss, columns = self.loss(batch)
        self.optimizer.zero_grad()
        torch.autograd.backward(loss)
        nn.utils.clip_grad_norm_(self.network.parameters(), self.clip)
        self.optimizer.step()
        if self.average is not None:
            self.average.update(self.network.state_dict())
        self._unwritten.append((self.step, loss.detach(), columns))

    def _close_epoch(self, loss: float) -> None:
        found = self.evaluate()
        if found is None:
            log.info("epoch %d, step %d: loss %.4f", self.epoch, self.step, loss)
        else:
            is_better = found.value > self.best
            self._report(found, loss, is_better=is_better)
            if is_better:
                self.best, self.waited = found.value, 0
                self.keep()
            else:
                self.waited += 1
            self.adapt(is_better)
        self.epoch, self.place = self.epoch + 1, 0
        self.save()

    def _report(self, found: Evaluation, loss: float, *, is_better: bool) -> None:
        rate = self.optimizer.param_groups[-1]["lr"]
        known = {name: value for name, value in found.figures.items() if value is not None}
        shown = ", ".join(f"{name} {value:.3f}" for name, value in known.items())
        best = " (best)" if is_better else ""
        log.info(
            "epoch %d, step %d: loss %.4f, %s%s, rate %g",
            *(self.epoch, self.step, loss, shown, best, rate),
        )
        figures = (f"{known[name]:.4f}" if name in known else "" for name in self.score_fields)
        seconds = f"{time.monotonic() - self._started:.1f}"
        _write_rows(self.output / SCORES, [(self.epoch, self.step, rate, *figures, seconds)])

    def _write_log(self) -> float:
        """Write the steps since the last time, and return their mean loss."""
        taken, self._unwritten = self._unwritten, []
        rows = []
        for step, _, columns in taken:
            values = (columns[name] for name in self.log_fields)
            rows.append([step, *(v if isinstance(v, int) else f"{float(v):.6g}" for v in values)])
        _write_rows(self.output / LOG, rows)
        return float(torch.stack([loss for _, loss, _ in taken]).mean()) if taken else float("nan")

    def averaged(self) -> Network:
        """A copy of the network with the averaged weights, for evaluation."""
        network = copy.deepcopy(self.network)
        if self.average is not None:
            network.load_state_dict(self.average.state)
        return network.eval()

    def save(self) -> None:
        """Write the checkpoint that :meth:`load` resumes from."""
        self._write_log()
        state = {
            "config": asdict(self.config),
            "network": self.network.state_dict(),
            "optimizer": self.optimizer.state_dict(),
            "average": self.average.state if self.average else None,
            "average_steps": self.average.steps if self.average else 0,
            "best": tuple(map(float, self.best)),
            "random": torch.get_rng_state(),
            "gpu_random": torch.cuda.get_rng_state(self.device)
            if self.device.type == "cuda"
            else None,
            **{name: getattr(self, name) for name in ("step", "epoch", "place", "waited")},
            **self.own_state(),
        }
        save_checkpoint(state, self.output / LAST)

    def own_state(self) -> dict[str, Any]:
        """What a checkpoint of this kind of run holds besides."""
        return {}

    def load_own_state(self, state: Mapping[str, Any]) -> None:
        """Restore, or compare, what :meth:`own_state` gave."""

    def load(self) -> None:
        """Resume from the checkpoint that :meth:`save` wrote."""
        state = load_checkpoint(self.output / LAST, self.device)
        self.load_own_state(state)
        free = {name: getattr(self.config, name) for name in self.free_settings}
        if {**state["config"], **free} != asdict(self.config):
            names = " and ".join(", ".join(self.free_settings).rsplit(", ", 1))
            may = f", of which only {names} may change" if free else ""
            raise InputError(
                f"The run in {self.output} was started with other settings; resume it with "
                f"those{may}."
            )
        self.network.load_state_dict(state["network"])
        self.optimizer.load_state_dict(state["optimizer"])
        if self.average is not None:
            self.average.state, self.average.steps = state["average"], state["average_steps"]
        for name in ("step", "epoch", "place", "waited", "best"):
            setattr(self, name, state[name])
        torch.set_rng_state(state["random"].cpu())
        if state["gpu_random"] is not None and self.device.type == "cuda":
            torch.cuda.set_rng_state(state["gpu_random"].cpu(), self.device)
        # Steps that were logged after the checkpoint are taken again.
        for table, column, last in ((LOG, "step", self.step), (SCORES, "epoch", self.epoch - 1)):
            with (self.output / table).open(newline="", encoding="utf-8") as stream:
                header, *rows = list(csv.reader(stream))
            kept = [row for row in rows if int(row[header.index(column)]) <= last]
            _write_rows(self.output / table, [header, *kept], mode="w")


def _write_rows(path: Path, rows: Iterable[Sequence[object]], mode: str = "a") -> None:
    with path.open(mode, newline="", encoding="utf-8") as stream:
        csv.writer(stream).writerows(rows)


class TorchModel:
    """A module behind the interface of an ONNX model: named arrays in, named arrays out."""

    def __init__(self, module: nn.Module, outputs: Sequence[str], device: torch.device) -> None:
        self._module, self._outputs, self._device = module.to(device).eval(), outputs, device

    @torch.no_grad()
    def __call__(self, inputs: Arrays) -> dict[str, NDArray[Any]]:
        tensors = {name: torch.as_tensor(each).to(self._device) for name, each in inputs.items()}
        found = (
            each.float() if each.is_floating_point() else each for each in self._module(**tensors)
        )
        return {name: each.cpu().numpy() for name, each in zip(self._outputs, found, strict=True)}


def check_run_folder(output: Path, *, resume: bool) -> None:
    """Refuse to overwrite a run, or to resume one that is not there."""
    exists = (output / LAST).exists()
    if resume and not exists:
        raise InputError(f"There is no run to resume in {output}.")
    if exists and not resume:
        raise InputError(f"{output} holds a run already; resume it or name another folder.")


def save_checkpoint(state: Mapping[str, Any], path: Path) -> None:
    """Write a checkpoint; the file is complete or not there at all."""
    unfinished = path.with_suffix(".new")
    torch.save({"version": VERSION, **state}, unfinished)
    unfinished.replace(path)


def load_checkpoint(
    path: Path, device: torch.device | None = None, *, versioned: bool = True
) -> dict[str, Any]:
    """Load what :func:`save_checkpoint` wrote; older weights have no version."""
    if not path.is_file():
        raise InputError(f"There is no checkpoint {path}.")
    try:
        state: dict[str, Any] = torch.load(path, map_location=device or "cpu", weights_only=True)
        version = state["version"] if versioned else state.get("version", VERSION)
    except Exception as error:  # torch has no error class of its own for a foreign file
        raise InputError(
            f"{path} is not a checkpoint of these models, or it is damaged."
        ) from error
    if version != VERSION:
        raise InputError(
            f"{path} is a checkpoint of version {version}, and this version of Parataxis reads "
            f"version {VERSION}; train it again."
        )
    return state


def save_weights(network: nn.Module, path: Path, **parts: Any) -> None:
    """Write the weights in half precision, with dataclasses that describe the network."""
    weights = {name: weight.half().cpu() for name, weight in network.state_dict().items()}
    described = {name: asdict(part) for name, part in parts.items()}
    save_checkpoint({"weights": weights, **described}, path)


def load_weights(
    path: Path, build: Callable[[dict[str, Any]], Network], prefix: str = ""
) -> Network:
    """Build a network from what :func:`save_weights` wrote, and load its weights.

    ``prefix`` selects a part of the stored network.
    """
    stored = load_checkpoint(path, versioned=False)
    network = build(stored)
    network.load_state_dict(
        {
            name.removeprefix(prefix): weight.float()
            for name, weight in stored["weights"].items()
            if name.startswith(prefix)
        }
    )
    return network


def store_halves(path: Path) -> None:
    """Store the large weights of an ONNX graph as float16; they are used as float32."""
    model = onnx.load(str(path))
    casts = []
    for weight in model.graph.initializer:
        if weight.data_type != onnx.TensorProto.FLOAT or math.prod(weight.dims) < _SMALL:
            continue
        name = weight.name
        halves = onnx.numpy_helper.to_array(weight).astype(np.float16)
        weight.CopyFrom(onnx.numpy_helper.from_array(halves, f"{name}_half"))
        to = onnx.TensorProto.FLOAT
        casts.append(onnx.helper.make_node("Cast", [weight.name], [name], to=to))
    nodes = [*casts, *model.graph.node]
    del model.graph.node[:]
    model.graph.node.extend(nodes)
    onnx.save(model, str(path))


def export_graph(
    graph: nn.Module,
    path: Path,
    inputs: Mapping[str, Tensor],
    outputs: Sequence[str],
    axes: Mapping[str, Mapping[int, str]],
) -> None:
    """Write the ONNX graph of a module; ``axes`` names the dimensions that may vary in size."""
    with warnings.catch_warnings():
        # torch's legacy exporter gives a smaller and faster graph; torch is pinned.
        warnings.simplefilter("ignore")
        torch.onnx.export(
            graph,
            tuple(inputs.values()),
            str(path),
            input_names=list(inputs),
            output_names=list(outputs),
            dynamic_axes=axes,
            opset_version=17,
            dynamo=False,
        )
