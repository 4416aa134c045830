"""Throughput and memory of long runs, by number of processes and threads.

    python benchmarks/scale.py [--splitter pointer] [--beam 1] [--sentences 512] [--jobs 1 2]
        [--input FILE] [--megabytes 20]

The first table splits the same sentences with each number of processes, and with one process that
has as many threads. Rate is sentences per second of the whole command, including its start; PSS is
the peak memory of all its processes, with each shared page counted once. The second table runs the
source splitter on files of two sizes: the peak must be the same. Run it on an otherwise idle
machine. Needs the extra `scale` and Linux.
"""

import argparse
import json
import os
import platform
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from rich.console import Console
from rich.table import Table

NAMES = ("Ann Reed", "The committee", "The old mill", "Maria Lopez", "The Landlord", "A storm")
CLAUSES = ("which was founded in {0}", "who was born in {0}", "built by a firm from Oslo in {0}")
VERBS = ("won the award", "approved the budget", "burned down", "left the town", "paid the rent")
ENDS = ("and the mayor refused to sign it", "but nobody noticed", "because it had rained for days")


class Measured(NamedTuple):
    """Time and memory of one command."""

    seconds: float
    cpu: float
    pss: int
    processes: int


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--splitter", default="pointer")
    parser.add_argument("--beam", default="1")
    parser.add_argument("--sentences", type=int, default=512)
    parser.add_argument("--jobs", type=int, nargs="+", default=[1, os.cpu_count() or 1])
    parser.add_argument("--input", type=Path, help="JSON lines with the sentences to split")
    parser.add_argument("--megabytes", type=int, default=20, help="size of the larger file")
    options = parser.parse_args()
    console = Console(width=120)
    console.print(f"{platform.processor() or platform.machine()}, {os.cpu_count()} cores")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        console.print(_by_jobs(folder, options))
        console.print(_by_size(folder, options.megabytes))


def _by_jobs(folder: Path, options: argparse.Namespace) -> Table:
    beam = ["--beam", options.beam] if options.splitter == "pointer" else []
    lines = (
        options.input.read_text().splitlines() if options.input else made_lines(options.sentences)
    )
    source = folder / "in.jsonl"
    source.write_text("\n".join(lines[: options.sentences]) + "\n")
    title = f"{options.splitter}, {options.sentences} sentences"
    table = _table(
        title, "jobs", "threads", "sentences/s", "CPU ms/sentence", "PSS MB", "processes"
    )
    runs = [(jobs, 1) for jobs in options.jobs] + [(1, n) for n in options.jobs if n > 1]
    expected = b""
    for jobs, threads in runs:
        target = folder / f"out-{jobs}-{threads}.jsonl"
        command = ["-s", options.splitter, *beam, "-j", str(jobs), "-o", str(target), "--resume"]
        done = _measure([str(source), *command], threads=threads)
        count = options.sentences
        table.add_row(
            str(jobs),
            str(threads),
            f"{count / done.seconds:,.1f}",
            f"{1000 * done.cpu / count:,.1f}",
            f"{done.pss / 1024:,.0f}",
            str(done.processes),
        )
        if threads == 1:
            written = target.read_bytes()
            if expected and written != expected:
                raise SystemExit(f"{jobs} jobs wrote something else than {options.jobs[0]}.")
            expected = written
    return table


def _by_size(folder: Path, megabytes: int) -> Table:
    table = _table("source, JSON lines to Parquet, 1 job", "MB", "MB/s", "PSS MB")
    for size in (max(1, megabytes // 10), megabytes):
        source = folder / f"{size}.jsonl"
        with source.open("w") as stream:
            written = 0
            for line in made_lines(megabytes * 500, more="x" * 2000):
                written += stream.write(f"{line}\n")
                if written > size * 1_000_000:
                    break
        command = [
            "-s",
            "source",
            "-j",
            "1",
            "--no-provenance",
            "-o",
            str(folder / f"{size}.parquet"),
        ]
        done = _measure([str(source), *command], threads=1)
        table.add_row(str(size), f"{size / done.seconds:,.1f}", f"{done.pss / 1024:,.0f}")
    return table


def made_lines(count: int, more: str = "") -> list[str]:
    """Records with generated sentences, the same in every run."""
    chance = random.Random(0)
    lines = []
    for _ in range(count):
        clause = chance.choice(CLAUSES).format(chance.randrange(1500, 2020))
        name, verb, end = map(chance.choice, (NAMES, VERBS, ENDS))
        record = {"source": f"{name}, {clause}, {verb}, {end}."}
        lines.append(json.dumps({**record, "more": more} if more else record))
    return lines


def _table(title: str, *columns: str) -> Table:
    table = Table(title=title)
    for column in columns:
        table.add_column(column, justify="right")
    return table


def _measure(arguments: Sequence[str], *, threads: int) -> Measured:
    """Run ``parataxis split`` and watch its memory and processes."""
    environment = {**os.environ, "PARATAXIS_THREADS": str(threads)}
    before = time.monotonic()
    program = subprocess.Popen(
        [sys.executable, "-m", "parataxis", "split", *arguments],
        env=environment,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    pss = processes = 0
    while program.poll() is None:
        members = _members(program.pid)
        processes = max(processes, len(members))
        pss = max(pss, sum(map(_pss, members)))
        time.sleep(0.1)
    seconds = time.monotonic() - before
    if program.returncode:
        raise SystemExit(program.stderr.read() if program.stderr else 1)
    return Measured(seconds, _children_cpu(), pss, processes)


_spent = [0.0]


def _children_cpu() -> float:
    """CPU seconds of the command that has just ended."""
    now = os.times()
    total = now.children_user + now.children_system
    spent, _spent[0] = total - _spent[0], total
    return spent


def _members(session: int) -> list[int]:
    found = []
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            fields = (entry / "stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[3]) == session and fields[0] != "Z":
            found.append(int(entry.name))
    return found


def _pss(process: int) -> int:
    try:
        rollup = Path(f"/proc/{process}/smaps_rollup").read_text()
    except OSError:
        return 0
    return next(
        (int(line.split()[1]) for line in rollup.splitlines() if line.startswith("Pss:")), 0
    )


if __name__ == "__main__":
    main()
