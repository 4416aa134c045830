"""Load test of the service: 1, 8 and 64 clients that send one sentence after another.

Every sentence is sent once in a run, and the answer must be identical to the rewrite of a local
``parataxis.Splitter``, so that lost or mixed-up answers are detected. Then a contract is streamed,
which measures the time to the first rewrite, the throughput, and the latency of other clients
meanwhile. Prints a table, and fails if an answer is wrong.

Clients and service share this machine. The sentences are generated, with 24 to 45 words.
"""

import argparse
import os
import platform
import random
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from statistics import quantiles

from parataxis import Splitter
from parataxis.rewrite.record import Rewrite
from parataxis.serve.client import Client

PEOPLE = "Anna Weber|Tom Okafor|Lucía Pérez|Judge Hall|Dr. Iyer|Maya Lind|Omar Haddad|Ruth Klein"
WORK = "a nurse from Leeds|an engineer|the new mayor|a painter|the oldest member|a young lawyer"
PLACES = "Arden|the old harbour|Port Elwood|the northern valley|Mill Street|the city of Varna"
DEEDS = (
    "sold the house by the river|had repaired the roof twice|wrote to the council every week|"
    "kept the records of the company|was born in {place} in {year}|had never seen {place}|"
    "opened a small school in {place}|signed the lease in {year}"
)
ENDS = (
    "and {other} paid for it|but {other} refused to leave {place}|because {other} could not pay|"
    "although {other} had warned the tenants in {year}|while {other} waited in {place}|"
    "which surprised the owners of {place}"
)
SHAPES = (
    "{person}, who {deed}, {deed} and {deed}, {end}.",
    "{person}, {work}, {deed} in number {n}, {end}, {end}.",
    "In {year}, {person}, {work} who {deed}, {deed} near {place}, {end}.",
    "The tenant of flat {n}, which {person} {deed}, shall pay the rent by {year}, {end}.",
)


def main() -> None:
    """Run the load test."""
    options = _options()
    supply = sentences(random.Random(options.seed))
    levels = [(n, [next(supply) for _ in range(options.sentences)]) for n in options.clients]
    contract = [next(supply) for _ in range(options.contract)]
    guests = [next(supply) for _ in range(200)]
    print(f"{processor()}; Python {platform.python_version()}; splitter {options.splitter}\n")
    everything = [*(text for _, texts in levels for text in texts), *contract, *guests]
    expected = dict(
        zip(everything, Splitter(options.splitter, check=True).pipe(everything), strict=True)
    )
    with served(options) as (url, _):
        print("| clients | sentences | sentences/s | p50 | p95 | slowest |")
        print("|--:|--:|--:|--:|--:|--:|")
        for clients, texts in levels:
            begun = time.perf_counter()
            waits = ask_all(url, texts, clients, expected)
            row(str(clients), len(texts), time.perf_counter() - begun, waits)
        stream(url, contract, guests, expected)
    print("\nEvery answer was there once, and was the rewrite of its own sentence.")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--clients", type=int, nargs="+", default=[1, 8, 64])
    parser.add_argument("--sentences", type=int, default=256, help="of each number of clients")
    parser.add_argument("--contract", type=int, default=1000, help="sentences that are streamed")
    parser.add_argument("--splitter", default="pointer")
    parser.add_argument("--seed", type=int, default=1)
    return parser.parse_args()


def sentences(chance: random.Random) -> Iterator[str]:
    """An endless stream of different sentences."""
    seen = set()
    numbers = count(1)

    def pick(texts: str) -> str:
        return chance.choice(texts.split("|"))

    def filled(text: str, number: int) -> str:
        while "{" in text:
            for name, texts in (
                ("person", PEOPLE),
                ("other", PEOPLE),
                ("work", WORK),
                ("place", PLACES),
                ("deed", DEEDS),
                ("end", ENDS),
            ):
                text = text.replace(f"{{{name}}}", pick(texts), 1)
            text = text.replace("{year}", str(chance.randint(1820, 2020)), 1)
            text = text.replace("{n}", str(number))
        return text

    while True:
        text = filled(chance.choice(SHAPES), next(numbers))
        if 24 <= len(text.split()) <= 45 and text not in seen:
            seen.add(text)
            yield text


def processor() -> str:
    """The name of the processor, and its number of cores."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
        name = next(line.partition(":")[2].strip() for line in lines if "model name" in line)
    except (OSError, StopIteration):
        name = platform.processor() or platform.machine()
    return f"{name}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f} before"


@contextmanager
def served(options: argparse.Namespace) -> Iterator[tuple[str, int]]:
    """Start ``parataxis serve`` and wait until it is ready; its URL and its process id."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "parataxis", "serve", "--no-page", "--port", str(port)]
    offered = [options.splitter] if isinstance(options.splitter, str) else options.splitter
    limits = ["--per-minute", "1000000", *(f"--splitter={name}" for name in offered)]
    process = subprocess.Popen([*command, *limits], stderr=subprocess.DEVNULL)
    url = f"http://127.0.0.1:{port}"
    try:
        with Client(url) as client:
            until = time.monotonic() + 60
            while not _is_ready(client):
                if time.monotonic() > until:
                    raise SystemExit("The service does not become ready.")
                time.sleep(0.1)
        yield url, process.pid
    finally:
        process.terminate()
        process.wait(30)


def _is_ready(client: Client) -> bool:
    try:
        return client.is_ready()
    except Exception:
        return False


def ask_all(url: str, texts: list[str], clients: int, expected: dict[str, Rewrite]) -> list[float]:
    """Send each sentence once; the latency of each in seconds."""
    with Client(url) as client, ThreadPoolExecutor(clients) as pool:
        return list(pool.map(lambda text: ask(client, text, expected), texts))


def ask(client: Client, text: str, expected: dict[str, Rewrite]) -> float:
    """Send one sentence, and compare the answer."""
    begun = time.perf_counter()
    found = client.split([text])
    seconds = time.perf_counter() - begun
    compare([each.rewrite for each in found.rewrites], [text], expected)
    return seconds


def compare(found: list[Rewrite], texts: list[str], expected: dict[str, Rewrite]) -> None:
    """Fail if the answers do not match the sentences."""
    if [each.source for each in found] != texts:
        raise SystemExit(f"An answer is lost or crossed: {texts[0]!r}.")
    for rewrite in found:
        if rewrite != expected[rewrite.source]:
            raise SystemExit(f"The answer to {rewrite.source!r} is another one than at home.")


def stream(url: str, contract: list[str], guests: list[str], expected: dict[str, Rewrite]) -> None:
    """Stream a contract while another client sends single sentences."""
    is_done = threading.Event()
    waits: list[float] = []

    def visit() -> None:
        with Client(url) as client:
            for text in guests:
                if is_done.is_set():
                    return
                waits.append(ask(client, text, expected))
                time.sleep(0.25)

    with Client(url) as client:
        guest = threading.Thread(target=visit)
        begun = time.perf_counter()
        first = None
        found = []
        for split in client.stream(" ".join(contract)):
            first = first or time.perf_counter() - begun
            found.append(split.rewrite)
            if len(found) == 32:
                guest.start()
        seconds = time.perf_counter() - begun
        is_done.set()
        guest.join()
    compare(found, contract, expected)
    row("one sentence, beside a contract", len(waits), None, waits)
    print(
        f"\nThe contract of {len(contract)} sentences: its first rewrite came after "
        f"{1000 * (first or 0):.0f} ms, all of them within {seconds:.0f} s: "
        f"{len(contract) / seconds:.1f} sentences/s."
    )


def row(name: str, number: int, seconds: float | None, waits: list[float]) -> None:
    """A row of the table."""
    cuts = quantiles(waits, n=20) if len(waits) > 1 else waits * 19
    pace = f"{number / seconds:.1f}" if seconds else ""
    times = " | ".join(f"{1000 * value:.0f} ms" for value in (cuts[9], cuts[18], max(waits)))
    print(f"| {name} | {number} | {pace} | {times} |")


if __name__ == "__main__":
    main()
