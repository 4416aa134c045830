"""Throughput of the pointer splitter on a GPU, and its bottlenecks.

    python benchmarks/gpu.py SENTENCES.txt [--count 100000] [--jobs 8 16] [--beams 1 4]
                             [--compare 1000]

SENTENCES has one sentence per line; they are repeated if --count is larger. Processes that compose
and check share one process that owns the GPU, as with `parataxis split --device cuda`. Prints for
each beam: the rate of the search alone, the rate of the whole splitter by number of processes, GPU
utilisation, multiply-adds and memory traffic for a sentence, the bounds that follow from the rates
that this GPU reaches on a large matrix product and a large copy, and how many rewrites differ from
the CPU's. Needs torch with a GPU; run it on an otherwise idle machine.
"""

import argparse
import os
import subprocess
import threading
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import cycle, islice
from multiprocessing import get_context
from pathlib import Path
from queue import Queue
from typing import Any

import numpy as np
import torch

from parataxis.errors import ParataxisError
from parataxis.run.gpu.graph import TorchGraph
from parataxis.run.gpu.models import DeviceModels
from parataxis.run.gpu.server import Address, RemoteModels, served
from parataxis.run.gpu.splitter import WIDTHS, WINDOW, DevicePointerSplitter, Sources
from parataxis.run.pool import collect_seldom
from parataxis.splitters.pointer import PointerSplitter
from parataxis.splitters.pointer.actions import Features, read_source
from parataxis.syntax.onnx import THREADS_VARIABLE
from parataxis.text.tokens import tokenize

VIEWS = {"Reshape", "Transpose", "Unsqueeze", "Squeeze", "Slice", "Expand", "Split", "Shape"}
PRODUCTS = {"ScaledProduct", "MatMulIntegerToFloat", "MatMulInteger", "MatMul"}


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("sentences", type=Path)
    parser.add_argument("--count", type=int, default=50_000)
    parser.add_argument("--jobs", type=int, nargs="*", default=[16])
    parser.add_argument("--beams", type=int, nargs="+", default=[1, 4])
    parser.add_argument("--compare", type=int, default=0)
    parser.add_argument("--no-search", action="store_true", help="only the whole splitter")
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--window", type=int, default=WINDOW)
    options = parser.parse_args()
    sentences = options.sentences.read_text(encoding="utf-8").splitlines()
    name = torch.cuda.get_device_name() if options.device != "cpu" else "CPU"
    print(f"{name}, torch {torch.__version__}", flush=True)
    if not options.no_search:
        search_alone(sentences[:16_384], options.beams)
    for beam in options.beams:
        for jobs in options.jobs:
            with served(options.device) as address:
                throughput(address, sentences, options.count, jobs, beam, options.window)
    if options.compare:
        compare(sentences[: options.compare], options.beams)


def search_alone(sentences: Sequence[str], beams: Sequence[int]) -> None:
    """The rate of the search in one process, and its lower bound."""
    models = DeviceModels.load("cuda")
    started = time.perf_counter()
    features = [read_source([token.text for token in tokenize(text)]) for text in sentences]
    seconds = time.perf_counter() - started
    print(f"reading sources: {len(sentences) / seconds:,.0f} sentences/s on one core", flush=True)
    groups = by_width(features)
    rates = machine_rates()
    print(f"this GPU: {rates[0] / 1e12:.0f} T multiply-adds/s (bf16), {rates[1] / 1e12:.2f} TB/s")
    for beam in beams:
        for sources in groups:
            models.search([sources], beam)
        torch.cuda.synchronize()
        started = time.perf_counter()
        for sources in groups:
            models.search([sources], beam)
        torch.cuda.synchronize()
        seconds = time.perf_counter() - started
        rate = len(sentences) / seconds
        memory = torch.cuda.max_memory_reserved() / 1e9
        print(f"search, beam {beam}: {rate:,.0f} sentences/s, {memory:.1f} GB", flush=True)
        floor(models, groups, beam, len(sentences), seconds, rates)


def by_width(features: Sequence[Features]) -> list[Sources]:
    """The sources grouped by width, as they are searched."""
    found = []
    for low, width in zip((0, *WIDTHS), WIDTHS, strict=False):
        some = [each for each in features if low < len(each) <= width]
        if some:
            found.append(Sources.of(some, width))
    return found


def machine_rates() -> tuple[float, float]:
    """Multiply-adds and bytes per second, on a large matrix product and a large copy."""
    a = torch.randn(8192, 8192, device="cuda", dtype=torch.bfloat16)
    big = torch.empty(2**30, device="cuda", dtype=torch.uint8)
    other = torch.empty_like(big)

    def seconds(work: Any) -> float:
        work()
        torch.cuda.synchronize()
        started = time.perf_counter()
        for _ in range(10):
            work()
        torch.cuda.synchronize()
        return (time.perf_counter() - started) / 10

    return 8192**3 / seconds(lambda: a @ a), 2 * 2**30 / seconds(lambda: other.copy_(big))


class Counted:
    """Counts the multiply-adds and bytes of a graph's operators while it runs."""

    def __init__(self, graph: TorchGraph) -> None:
        self.graph, self.products, self.bytes = graph, 0, 0
        self._run = graph._run

    def __enter__(self) -> "Counted":
        def counting(node: Any, given: Any) -> Any:
            found = self._run(node, given)
            tensors = [value for value in (*given, *found) if isinstance(value, torch.Tensor)]
            if node.kind not in VIEWS and tensors:
                self.bytes += sum(t.numel() * t.element_size() for t in tensors)
            if node.kind in PRODUCTS:
                self.products += found[0].numel() * given[0].shape[-1]
            return found

        self.graph._run = counting  # type: ignore[method-assign]
        return self

    def __exit__(self, *_: object) -> None:
        self.graph._run = self._run  # type: ignore[method-assign]


def floor(
    models: DeviceModels,
    groups: Sequence[Sources],
    beam: int,
    count: int,
    seconds: float,
    rates: tuple[float, float],
) -> None:
    """The time that the operators would take at the best rates of the machine."""
    search = models.searcher
    products = moved = 0.0
    for sources in groups:
        some = sources.some(slice(0, 512))
        share = len(sources) / len(some)
        with Counted(search.encoder) as read, torch.no_grad():
            state = search._read(some, len(some), beam)
        with Counted(search.decoder) as step, torch.no_grad():
            search._step(state, torch.zeros((), dtype=torch.int64, device="cuda"))
        (found,) = models.search([some], beam)
        # A source is searched until the longest of its rewrites has ended.
        steps = float(np.maximum(found.lengths.max(1) + 1, 1).mean())
        products += share * (read.products + steps * step.products)
        moved += share * (read.bytes + steps * step.bytes)
    at_best = products / rates[0], moved / rates[1]
    print(
        f"  a sentence: {products / count / 1e6:,.0f} M multiply-adds, "
        f"{moved / count / 1e6:,.1f} MB to and from memory; at the machine's rates "
        f"{count / at_best[0]:,.0f} and {count / at_best[1]:,.0f} sentences/s: "
        f"it reaches {100 * at_best[0] / seconds:.1f} % and {100 * at_best[1] / seconds:.0f} %",
        flush=True,
    )


def throughput(
    address: Address, sentences: Sequence[str], count: int, jobs: int, beam: int, window: int
) -> None:
    """The whole splitter in several processes that share the GPU."""
    context = get_context("spawn")
    work: Any = context.Queue(2 * jobs)
    done: Any = context.Queue()
    begun = time.perf_counter()
    workers = [
        context.Process(target=_work, args=(address, beam, window, work, done), daemon=True)
        for _ in range(jobs)
    ]
    for worker in workers:
        worker.start()
    stream = cycle(sentences)
    # Models are loaded, kernels compiled and runs recorded before the clock starts.
    _through(work, done, islice(stream, 2 * jobs * window), window)
    ready = time.perf_counter() - begun
    with busy() as shares:
        started = time.perf_counter()
        split, cpu = _through(work, done, islice(stream, count), window)
        seconds = time.perf_counter() - started
    for _ in workers:
        work.put(None)
    for worker in workers:
        worker.join()
    print(
        f"splitter, beam {beam}, {jobs} processes: {count / seconds:,.0f} sentences/s "
        f"({1e6 / (count / seconds):,.0f} s for a million), {100 * split / count:.0f} % split, "
        f"GPU busy {np.mean(shares or [0]):.0f} %, {1e3 * cpu / count:.2f} ms of a core for each, "
        f"ready after {ready:.0f} s",
        flush=True,
    )


def _through(work: Any, done: Any, sentences: Iterator[str], window: int) -> tuple[int, float]:
    """Rewrite sentences; the number of splits, and the CPU time."""
    handed = 0
    while batch := list(islice(sentences, window)):
        work.put(batch)
        handed += 1
    answers = [done.get() for _ in range(handed)]
    if errors := [each for each in answers if isinstance(each, Exception)]:
        raise errors[0]
    return sum(split for split, _ in answers), sum(seconds for _, seconds in answers)


def _work(address: Address, beam: int, window: int, work: Any, done: Any) -> None:
    os.environ.setdefault(THREADS_VARIABLE, "1")  # as in a long run
    splitter = DevicePointerSplitter(RemoteModels(address), beam=beam, window=window)
    collect_seldom()
    while (batch := work.get()) is not None:
        started = time.process_time()
        try:
            split = sum(rewrite.is_split for rewrite in splitter.pipe(batch))
        except ParataxisError as error:
            done.put(error)
        else:
            done.put((split, time.process_time() - started))


@contextmanager
def busy() -> Iterator[list[float]]:
    """GPU utilisation in per cent, sampled twice a second."""
    shares: list[float] = []
    end: Queue[None] = Queue()

    def ask() -> None:
        command = ["nvidia-smi", "--query-gpu=utilization.gpu", "--format=csv,noheader,nounits"]
        while True:
            try:
                output = subprocess.run(command, capture_output=True, text=True, check=False).stdout
            except FileNotFoundError:
                return
            shares.extend(float(line) for line in output.split() if line.isdecimal())
            try:
                end.get(timeout=0.5)
            except Exception:
                continue
            return

    asker = threading.Thread(target=ask)
    asker.start()
    try:
        yield shares
    finally:
        end.put(None)
        asker.join()


def compare(sentences: Sequence[str], beams: Sequence[int]) -> None:
    """How many rewrites differ from the CPU's."""
    models = DeviceModels.load("cuda")
    for beam in beams:
        ours = list(DevicePointerSplitter(models, beam=beam).pipe(sentences))
        cpu = list(PointerSplitter(beam=beam).pipe(sentences))
        pairs = list(zip(ours, cpu, strict=True))
        kinds = Counter(
            "the same"
            if a.simple == b.simple
            else "split by one only"
            if a.is_split != b.is_split
            else "split otherwise"
            for a, b in pairs
        )
        shown = ", ".join(f"{kind} {100 * n / len(pairs):.1f} %" for kind, n in kinds.most_common())
        print(f"beam {beam}, {len(pairs)} rewrites beside the CPU's: {shown}", flush=True)


if __name__ == "__main__":
    main()
