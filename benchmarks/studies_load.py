"""Load test of a study: many concurrent raters over HTTP, and a server that is killed.

Raters follow their links, give consent, read, save a draft and submit, with the cookies and tokens
of a browser; some click twice, some submit again from a second tab. Their answers name the rater
and the item, so that the export shows whether an answer was lost, duplicated or assigned to the
wrong rater. Prints response times in milliseconds, and fails if the export is wrong.

Everything runs on this machine: in a new SQLite file, or in an empty database ``--url
postgresql://...``, where several servers may share the work (``--servers 2``).
"""

import argparse
import asyncio
import csv
import json
import os
import random
import re
import resource
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median, quantiles
from typing import Any

STUDY = """\
name: Load
rubric: concise
items: items.jsonl
rate: {raters: %d}
consent: {en: "Do you agree?", es: "¿Acepta?"}
"""
COMMAND = [sys.executable, "-m", "parataxis", "study"]
PATIENCE = 60.0
"""Seconds for which a rater retries while a server is down."""


def main() -> None:
    """Run the load test."""
    options = _options()
    with tempfile.TemporaryDirectory(prefix="parataxis-load-") as name:
        folder = Path(name)
        study = make_study(folder, options)
        servers = [Server(study, options.url) for _ in range(options.servers)]
        try:
            links = invite(study, options.url, options.people)
            before = _of_servers()
            for server in servers:
                server.start()
            day = Day(servers, options)
            begun, own = time.perf_counter(), time.process_time()
            asyncio.run(day.run(links))
            seconds, own = time.perf_counter() - begun, time.process_time() - own
        finally:
            for server in servers:
                server.stop()
        processor = {"servers": _of_servers() - before, "raters": own}
        faults = check(export(study, options.url, folder / "export"), day, options)
    day.print(seconds, processor)
    for fault, found in faults.items():
        print(f"{fault}: {len(found)}{' such as ' + str(found[0]) if found else ''}")
    if any(faults.values()):
        raise SystemExit("The export is not as it must be.")


def _of_servers() -> float:
    """CPU seconds of the child processes that have ended."""
    took = resource.getrusage(resource.RUSAGE_CHILDREN)
    return took.ru_utime + took.ru_stime


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--url", help="an empty PostgreSQL database")
    parser.add_argument("--servers", type=int, default=1)
    parser.add_argument("--people", type=int, default=200)
    parser.add_argument("--submissions", type=int, default=20_000)
    parser.add_argument("--raters", type=int, default=3, help="of each item")
    parser.add_argument(
        "--think", type=float, default=4.0, help="seconds that a rater takes for an item (mean)"
    )
    parser.add_argument("--arrive", type=float, default=20.0, help="seconds in which all come")
    parser.add_argument("--kills", type=int, default=1, help="of a server, with kill -9")
    parser.add_argument("--seed", type=int, default=1)
    return parser.parse_args()


# --- The study and its servers


def make_study(folder: Path, options: argparse.Namespace) -> Path:
    """A study with items of a typical length, whose text contains their id."""
    count = -(-options.submissions // options.raters)
    with (folder / "items.jsonl").open("w", encoding="utf-8") as lines:
        for number in range(count):
            source = f"Bridge number {number}, which was opened in 1931, crosses the river Ebro."
            simple = [f"Bridge number {number} was opened in 1931.", "It crosses the river Ebro."]
            record = {"id": f"item-{number}", "source": source, "simple": simple, "splitter": "x"}
            lines.write(json.dumps(record) + "\n")
    study = folder / "load.yaml"
    study.write_text(STUDY % options.raters, encoding="utf-8")
    run("create", study, options.url)
    return study


def run(command: str, study: Path, url: str | None, *more: str) -> str:
    """Run a command of the study."""
    database = ["--database", url] if url else []
    done = subprocess.run(
        [*COMMAND, command, str(study), *more, *database], check=True, capture_output=True
    )
    return done.stdout.decode()


def invite(study: Path, url: str | None, people: int) -> dict[str, str]:
    """The paths of personal links, by the ids of people."""
    table = csv.DictReader(run("invite", study, url, str(people)).splitlines(), delimiter="\t")
    return {row["id"]: "/join/" + row["link"].rpartition("/")[2] for row in table}


def export(study: Path, url: str | None, folder: Path) -> dict[str, list[dict[str, Any]]]:
    """The files of the study."""
    run("export", study, url, "--output", str(folder))
    return {
        path.stem: [json.loads(line) for line in path.read_text("utf-8").splitlines()]
        for path in folder.glob("*.jsonl")
    }


class Server:
    """``parataxis study serve`` as a process."""

    def __init__(self, study: Path, url: str | None) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = int(free.getsockname()[1])
        database = ["--database", url] if url else []
        self._command = [*COMMAND, "serve", str(study), "--port", str(self.port), *database]
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start the server, and wait until it responds."""
        self._process = subprocess.Popen(
            self._command,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env={**os.environ, "PARATAXIS_THREADS": "1"},
        )
        until = time.monotonic() + PATIENCE
        while time.monotonic() < until:
            try:
                socket.create_connection(("127.0.0.1", self.port), 1).close()
                return
            except OSError:
                time.sleep(0.05)
        raise SystemExit("The server does not start.")

    def kill(self) -> None:
        """Kill the server without warning, as the out-of-memory killer does."""
        if self._process is not None:
            self._process.send_signal(signal.SIGKILL)
            self._process.wait()
            self._process = None

    def stop(self) -> None:
        """Stop the server."""
        if self._process is not None:
            self._process.terminate()
            try:
                self._process.wait(10)
            except subprocess.TimeoutExpired:
                self.kill()
            self._process = None


# --- People


@dataclass(frozen=True)
class Answer:
    """The response of a server."""

    status: int
    headers: dict[str, str]
    body: str


class Browser:
    """One person's browser: it keeps cookies, and a connection to each server."""

    def __init__(self, servers: list[Server], chance: random.Random) -> None:
        self._servers = servers
        self._chance = chance
        self._cookies: dict[str, str] = {}
        self._open: dict[int, tuple[asyncio.StreamReader, asyncio.StreamWriter]] = {}

    async def send(self, method: str, path: str, body: str = "", **headers: str) -> Answer:
        """Ask any of the servers, as a balancer of load would choose; ConnectionError where it is
        away, or goes away before it has answered."""
        port = self._chance.choice(self._servers).port
        request = self._request(method, path, body, headers)
        try:
            reader, writer = await self._connection(port)
            writer.write(request)
            answer = await _answer(reader)
        except (OSError, EOFError, ValueError) as error:
            raise ConnectionError(str(error)) from error
        self._open[port] = reader, writer
        if cookie := answer.headers.get("set-cookie"):
            name, _, value = cookie.partition(";")[0].partition("=")
            self._cookies[name] = value
        return answer

    async def _connection(self, port: int) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        """The one that is kept, unless the server has closed it for being idle, or a new one."""
        kept = self._open.pop(port, None)
        if kept is not None and not kept[0].at_eof() and not kept[1].is_closing():
            return kept
        return await asyncio.open_connection("127.0.0.1", port)

    def _request(self, method: str, path: str, body: str, headers: dict[str, str]) -> bytes:
        content = body.encode()
        lines = [f"{method} {path} HTTP/1.1", "host: 127.0.0.1"]
        lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
        lines.append("cookie: " + "; ".join(f"{k}={v}" for k, v in self._cookies.items()))
        lines.append(f"content-length: {len(content)}")
        return "\r\n".join(lines).encode() + b"\r\n\r\n" + content

    def close(self) -> None:
        """Close all connections."""
        for _, writer in self._open.values():
            writer.close()


async def _answer(reader: asyncio.StreamReader) -> Answer:
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
    headers = {
        name.lower(): value.strip() for name, _, value in (line.partition(":") for line in head[1:])
    }
    content = await reader.readexactly(int(headers["content-length"]))
    return Answer(int(head[0].split()[1]), headers, content.decode())


@dataclass
class Day:
    """The state that all raters share, and the measurements."""

    servers: list[Server]
    options: argparse.Namespace
    times: dict[str, list[float]] = field(default_factory=dict)
    acknowledged: Counter[tuple[str, int]] = field(default_factory=Counter)
    """Person and number of the item, and how often the answer was acknowledged."""
    again: int = 0
    """Requests that reached a dead server."""
    away: list[float] = field(default_factory=list)
    """Seconds from each kill to the next response."""

    async def run(self, links: dict[str, str]) -> None:
        """Let everybody work until nothing is left to do."""
        chance = random.Random(self.options.seed)
        people = [
            self._work(person, link, random.Random(chance.random()))
            for person, link in links.items()
        ]
        await asyncio.gather(self._kill(), *people)

    async def _kill(self) -> None:
        """Kill servers along the way, and start them again."""
        for number in range(self.options.kills):
            due = self.options.submissions * (number + 1) // (self.options.kills + 1)
            while len(self.acknowledged) < due:
                await asyncio.sleep(0.02)
            server = self.servers[number % len(self.servers)]
            begun = time.perf_counter()
            server.kill()
            await asyncio.to_thread(server.start)
            self.away.append(time.perf_counter() - begun)

    async def _work(self, person: str, link: str, chance: random.Random) -> None:
        browser = Browser(self.servers, chance)
        await asyncio.sleep(chance.uniform(0, self.options.arrive))
        await self._ask(browser, "come in", "GET", link)
        page = await self._ask(browser, "other pages", "GET", "/consent")
        form = f"csrf={_csrf(page)}&agree=yes"
        kind = "application/x-www-form-urlencoded"
        await self._ask(browser, "other pages", "POST", "/consent", form, content_type=kind)
        path = (await self._ask(browser, "first task", "GET", "/task")).headers["location"]
        last: tuple[str, str] | None = None
        while path.startswith("/task/"):
            page = await self._ask(browser, "next task", "GET", path)
            number = int(_found(r"Bridge number (\d+), which", page.body))
            token, slot = _csrf(page), _found(r"/task/(\w+)", path)
            answers = {
                "simplification": chance.randint(1, 3),
                "meaning": chance.randint(1, 3),
                "fluency": chance.randint(1, 3),
                "concerning": False,
                "overall": "accept",
                "needed": True,
            }
            await asyncio.sleep(chance.expovariate(2 / self.options.think))
            task = f"/api/tasks/{slot}"
            sent = {"content_type": "application/json", "x_csrf_token": token}
            draft = json.dumps({"answers": answers, "seconds": 3})
            await self._ask(browser, "draft", "PUT", f"{task}/draft", draft, **sent)
            await asyncio.sleep(chance.expovariate(2 / self.options.think))
            answers["comments"] = f"{person} {number}"
            this = f"{task}/submission", json.dumps({"answers": answers, "seconds": 5})
            clicks = 2 if chance.random() < 0.02 else 1
            submissions = [this] * clicks
            if last and chance.random() < 0.01:  # a second tab that was left open
                submissions.append(last)
            submit = [self._ask(browser, "submit", "POST", *each, **sent) for each in submissions]
            done = await asyncio.gather(*submit)
            self.acknowledged[person, number] += clicks
            last = this
            path = json.loads(done[0].body)["next"].partition("?")[0]
        browser.close()

    async def _ask(self, browser: Browser, what: str, *request: str, **headers: str) -> Answer:
        """Ask until there is an answer, as people do. Only what was answered at the first go is
        timed: the rest waits for a server that is being started."""
        begun = time.perf_counter()
        until = begun + PATIENCE
        first = True
        while True:
            try:
                answer = await browser.send(*request, **headers)
            except ConnectionError:
                if time.perf_counter() > until:
                    raise
                self.again += first
                first = False
                await asyncio.sleep(0.3)
                continue
            if answer.status >= 400:
                raise SystemExit(f"{request[:2]} was refused: {answer.status} {answer.body[:300]}")
            if first:
                self.times.setdefault(what, []).append(1000 * (time.perf_counter() - begun))
            return answer

    def print(self, seconds: float, processor: dict[str, float]) -> None:
        """Print the measurements."""
        done = len(self.acknowledged)
        print(
            f"{self.options.people} raters, {len(self.servers)} server(s): {done} ratings in "
            f"{seconds:.0f} s, {done / seconds:.0f} in a second"
        )
        used = ", ".join(f"{took:.1f} s by the {who}" for who, took in processor.items())
        print(f"processor: {used}; a database server is not counted")
        if self.away:
            away = ", ".join(f"{each:.1f}" for each in self.away)
            print(f"killed and back after {away} s; {self.again} requests were sent again")
        print(f"{'milliseconds':16}{'calls':>8}{'p50':>8}{'p95':>8}{'p99':>8}{'max':>8}")
        for what, times in self.times.items():
            cuts = quantiles(times, n=100) if len(times) > 1 else times * 99
            figures = (median(times), cuts[94], cuts[98], max(times))
            print(f"{what:16}{len(times):8}" + "".join(f"{each:8.0f}" for each in figures))


def _csrf(page: Answer) -> str:
    return _found(r'name="csrf" value="([^"]*)"', page.body)


def _found(pattern: str, text: str) -> str:
    match = re.search(pattern, text)
    if match is None:
        raise SystemExit(f"There is no {pattern} in: {text[:300]}")
    return match[1]


# --- What became of it


def check(
    files: dict[str, list[dict[str, Any]]], day: Day, options: argparse.Namespace
) -> dict[str, list[Any]]:
    """The faults of the export, by kind."""
    ratings = [(each["rater"], each["item"]) for each in files["ratings"]]
    marked = {
        (each["rater"], each["item"], each["answers"]["comments"]) for each in files["ratings"]
    }
    kept = {(each["rater"], int(each["item"].rpartition("-")[2])) for each in files["ratings"]}
    counts = Counter(item for _, item in ratings)
    items = [f"item-{number}" for number in range(-(-options.submissions // options.raters))]
    return {
        "lost": sorted(set(day.acknowledged) - kept),
        "doubled": [pair for pair, count in Counter(ratings).items() if count > 1],
        "crossed": [
            each for each in marked if each[2] != f"{each[0]} {each[1].rpartition('-')[2]}"
        ],
        f"items with more than {options.raters} ratings": [
            item for item, count in counts.items() if count > options.raters
        ],
        f"items with fewer than {options.raters} ratings": [
            item for item in items if counts[item] < options.raters
        ],
        "submissions in the history that are not in the export": files["history"][len(ratings) :],
    }


if __name__ == "__main__":
    main()
