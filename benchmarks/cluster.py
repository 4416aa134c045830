"""The cost of a million sentences on a core, a machine and a GPU, and a billion on a cluster.

    python benchmarks/cluster.py [--input FILE.jsonl] [--sentences 4096] [--beam 1]
        [--gpu RATE] [--units 100] [--price-core P] [--price-gpu P] [--address HOST:PORT]

The same sentences are split by one process, by one process for each core, and by as many actors of
a Ray cluster (started here unless an address is given); all outputs must be identical. The first
tenth of the sentences is a warm-up and does not count. The CPU time of the process that reads,
sends and writes is measured too: it limits how many actors one driver can feed. --gpu is the rate
that benchmarks/gpu.py reports. Prices are per hour.

Projection: a million sentences take 10^6 / rate seconds. A billion takes 10^9 / (N r e) on N cores
or GPUs, with as many drivers as are needed to feed them. For cores, r is the rate of the machine
with all cores busy, divided by their number, which is lower than the rate of one process alone;
both are printed. e is the rate of the Ray cluster divided by that of as many local processes; for
GPUs the same e is assumed. Run it on an otherwise idle machine. Needs the extra `ray`.
"""

import argparse
import hashlib
import os
import platform
import tempfile
import time
from math import ceil
from pathlib import Path
from typing import NamedTuple

from parataxis.run.cluster import Cluster
from parataxis.run.encode import OutputFormat, RecordEncoder
from parataxis.run.files import find_inputs
from parataxis.run.pipeline import Engine, Local, SplitterTask, StreamOutput, Work, run
from parataxis.run.units import BadRecord
from parataxis.splitters.settings import SplitSettings
from parataxis.syntax.onnx import THREADS_VARIABLE
from scale import made_lines

HOUR = 3600
MILLION, BILLION = 10**6, 10**9


class Measured(NamedTuple):
    """Sentences per second, CPU seconds of this process per sentence, and a hash of the output."""

    rate: float
    own: float
    digest: str


class Clock:
    """Records the time, and the CPU time of this process, at which sentences were done."""

    def __init__(self) -> None:
        self.times = [(0, time.monotonic(), time.process_time())]

    def advance(self, size: int, sentences: int) -> None:
        count = self.times[-1][0] + sentences
        self.times.append((count, time.monotonic(), time.process_time()))

    def problem(self, problem: BadRecord) -> None:
        raise SystemExit(str(problem))

    def per_sentence(self) -> tuple[float, float]:
        """Seconds and CPU seconds of this process per sentence, after the first tenth."""
        total, end, spent_at_end = self.times[-1]
        first, start, spent = next(each for each in self.times if each[0] >= total / 10)
        if first == total:
            raise SystemExit("There are too few sentences to measure a rate; give more.")
        return (end - start) / (total - first), (spent_at_end - spent) / (total - first)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--input", type=Path, help="JSON lines with the sentences to split")
    parser.add_argument("--sentences", type=int, default=4096)
    parser.add_argument("--splitter", default="pointer")
    parser.add_argument("--beam", type=int, default=1)
    parser.add_argument("--cores", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--address", help="address of a Ray cluster with that many cores")
    parser.add_argument("--gpu", type=float, help="sentences per second of one GPU")
    parser.add_argument("--units", type=int, default=100, help="cores or GPUs of the projection")
    parser.add_argument("--price-core", type=float, help="price of a core per hour")
    parser.add_argument("--price-gpu", type=float, help="price of a GPU per hour")
    options = parser.parse_args()
    os.environ[THREADS_VARIABLE] = "1"
    cores = options.cores
    engines: dict[str, Engine] = {
        "one core": Local(1),
        f"one machine, {cores} cores": Local(cores),
        "the same cores, with Ray": Cluster(options.address, least=cores, most=cores),
    }
    found = {name: measure(engine, options) for name, engine in engines.items()}
    if len({each.digest for each in found.values()}) > 1:
        raise SystemExit("The outputs differ.")
    core, machine, by_ray = found.values()
    beam = f", beam {options.beam}" if options.splitter == "pointer" else ""
    print(
        f"{options.splitter}{beam}; {platform.processor() or platform.machine()}, {cores} cores\n"
    )
    print("| where | sentences/s | a million | price of a million |\n|---|---|---|---|")
    for name, each in found.items():
        used = 1 if each is core else cores
        print(row(name, each.rate, used, options.price_core))
    if options.gpu:
        print(row("one GPU", options.gpu, 1, options.price_gpu))
    share, feeds, busy = by_ray.rate / machine.rate, 1 / by_ray.own, machine.rate / cores
    print(f"\ne = {share:.3f}: rate with Ray / rate of as many local processes")
    print(f"sentences/s of a core: {busy:,.1f} with all cores busy, {core.rate:,.1f} alone")
    print(f"one driver feeds {feeds:,.0f} sentences/s\n")
    print(
        "| N | r | N r e | drivers | a billion, 10^9 / (N r e) | price | one driver is enough for |"
    )
    print("|---|---|---|---|---|---|---|")
    print(projected("cores", busy, share, feeds, options.units, options.price_core))
    if options.gpu:
        print(projected("GPUs", options.gpu, share, feeds, options.units, options.price_gpu))


def measure(engine: Engine, options: argparse.Namespace) -> Measured:
    """Run the pipeline, and keep only a hash of its output."""
    beam = options.beam if options.splitter == "pointer" else None
    task = SplitterTask(options.splitter, SplitSettings(beam=beam))
    work = Work(task, RecordEncoder(OutputFormat.JSONL), task.load().name)
    lines = (
        options.input.read_text().splitlines() if options.input else made_lines(options.sentences)
    )
    written, clock = hashlib.sha256(), Clock()
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder, "in.jsonl")
        source.write_text("\n".join(lines[: options.sentences]) + "\n")
        os.chdir(folder)  # so that every engine sees the same file name
        run(find_inputs(["in.jsonl"]), work, StreamOutput(written.update), clock, engine=engine)
        os.chdir("/")
    seconds, own = clock.per_sentence()
    return Measured(1 / seconds, own, written.hexdigest())


def row(name: str, rate: float, used: int, price: float | None) -> str:
    """A row of the first table; a million takes 10^6 / rate seconds."""
    hours = MILLION / rate / HOUR
    cost = f"{hours * used * price:,.2f}" if price else ""
    return f"| {name} | {rate:,.1f} | {duration(hours)} | {cost} |"


def projected(
    name: str, rate: float, share: float, feeds: float, units: int, price: float | None
) -> str:
    """A row of the second table, with as many drivers as are needed."""
    together = units * rate * share
    hours = BILLION / together / HOUR
    cost = f"{hours * units * price:,.2f}" if price else ""
    cells = (
        f"{units} {name}",
        f"{rate:,.1f}",
        f"{together:,.0f}",
        f"{ceil(together / feeds)}",
        duration(hours),
        cost,
        f"{feeds / (rate * share):,.1f}",
    )
    return f"| {' | '.join(cells)} |"


def duration(hours: float) -> str:
    """The duration in a suitable unit."""
    if hours >= 48:
        return f"{hours / 24:,.1f} days"
    return f"{hours:.1f} hours" if hours >= 1 else f"{hours * 60:.1f} minutes"


if __name__ == "__main__":
    main()
