"""What a million sentences cost on a core, a machine and a GPU, and a billion on a cluster.

    python benchmarks/cluster.py [--input FILE.jsonl] [--sentences 4096] [--beam 1]
        [--gpu RATE] [--units 100] [--price-core P] [--price-gpu P] [--address HOST:PORT]

The same sentences are split by one process, by one for each core, and by as many actors of a Ray
cluster (one that is started here, unless an address is given); all must write the same bytes. A
rate counts from the first tenth of the sentences on, so that starting is left out. Also measured
is the processor time of the process that reads, sends and writes: it says how many actors one
driver can feed. --gpu is the rate that benchmarks/gpu.py gives. Prices are yours, for an hour.

The projection: a million takes 10^6 / rate seconds. A billion takes 10^9 / (N r e) on N cores or
GPUs, with a driver more wherever N r e is more than those there are can feed. For cores, r is the
rate of the machine with all its cores busy, divided by their number: a core whose neighbours are
busy does not do what one process does alone, and both are printed. e is the rate of the Ray cluster
divided by that of as many processes without it; for GPUs it is taken to be the same. The figures
mean something only on a quiet machine. Needs the extra `ray`.
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
from parataxis.run.encode import Encoder, OutputFormat
from parataxis.run.files import find_inputs
from parataxis.run.pipeline import Engine, Local, StreamOutput, run
from parataxis.run.units import BadRecord
from parataxis.run.work import SplitterTask, Work
from parataxis.syntax.onnx import THREADS_VARIABLE
from scale import made_lines

HOUR = 3600
MILLION, BILLION = 10**6, 10**9


class Measured(NamedTuple):
    """Sentences per second, processor seconds of this process for each, and what was written."""

    rate: float
    own: float
    digest: str


class Clock:
    """Notes when which sentence was done, and what this process had spent until then."""

    def __init__(self) -> None:
        self.times = [(0, time.monotonic(), time.process_time())]

    def advance(self, size: int, sentences: int) -> None:
        count = self.times[-1][0] + sentences
        self.times.append((count, time.monotonic(), time.process_time()))

    def problem(self, problem: BadRecord) -> None:
        raise SystemExit(str(problem))

    def per_sentence(self) -> tuple[float, float]:
        """Seconds, and processor seconds of this process, after the first tenth."""
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
    parser.add_argument("--address", help="a Ray cluster with so many cores")
    parser.add_argument("--gpu", type=float, help="sentences per second of one GPU")
    parser.add_argument("--units", type=int, default=100, help="cores or GPUs of the projection")
    parser.add_argument("--price-core", type=float, help="of a core, for an hour")
    parser.add_argument("--price-gpu", type=float, help="of a GPU, for an hour")
    options = parser.parse_args()
    os.environ[THREADS_VARIABLE] = "1"
    cores = options.cores
    engines: dict[str, Engine] = {
        "one core": Local(1),
        f"one machine, {cores} cores": Local(cores),
        "the same cores, by Ray": Cluster(options.address, least=cores, most=cores),
    }
    found = {name: measure(engine, options) for name, engine in engines.items()}
    if len({each.digest for each in found.values()}) > 1:
        raise SystemExit("They did not all write the same.")
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
    print(f"\ne = {share:.3f}: by Ray, beside as many processes without it")
    print(f"a core in the busy machine does {busy:,.1f}, one process alone {core.rate:,.1f}")
    print(f"one driver feeds {feeds:,.0f} sentences/s\n")
    print(
        "| N | r | N r e | drivers | a billion, 10^9 / (N r e) | price | one driver is enough for |"
    )
    print("|---|---|---|---|---|---|---|")
    print(projected("cores", busy, share, feeds, options.units, options.price_core))
    if options.gpu:
        print(projected("GPUs", options.gpu, share, feeds, options.units, options.price_gpu))


def measure(engine: Engine, options: argparse.Namespace) -> Measured:
    """Do a long run, and keep only the hash of what it writes."""
    beam = options.beam if options.splitter == "pointer" else None
    task = SplitterTask(options.splitter, beam=beam)
    work = Work(task, Encoder(OutputFormat.JSONL), task.load().name)
    lines = (
        options.input.read_text().splitlines() if options.input else made_lines(options.sentences)
    )
    written, clock = hashlib.sha256(), Clock()
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder, "in.jsonl")
        source.write_text("\n".join(lines[: options.sentences]) + "\n")
        os.chdir(folder)  # so that all see, and write, the same name
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
    """A row of the second table; drivers are added where one cannot feed so many."""
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
    """In the unit that suits it."""
    if hours >= 48:
        return f"{hours / 24:,.1f} days"
    return f"{hours:.1f} hours" if hours >= 1 else f"{hours * 60:.1f} minutes"


if __name__ == "__main__":
    main()
