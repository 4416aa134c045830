"""Requests of at most 16 MB that are made to fill the memory or the time of ``parataxis serve``.

While each request runs, health checks are sent on connections of their own. For each request it
prints the status, the seconds, the size of the answer, the slowest health check, and the memory of
the service and its processes above what it was before the request; and at the end, what the service
kept of all requests together. Fails if a health check took more than half a second, or
the memory more than 300 MB. Needs Linux.
"""

import argparse
import io
import json
import threading
import time
import zipfile
from collections.abc import Iterator
from http.client import HTTPConnection
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx2

from service_load import served

LONGEST_WAIT = 0.5
LARGEST = 300
MEGABYTE = 1_000_000
WORD = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
RUN = "<w:r><w:t>a</w:t></w:r>"
KIND = "application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"


def listed(item: str, size: int) -> str:
    """A JSON list of equal items, of so many bytes."""
    return f"[{','.join([item] * (size // (len(item) + 1)))}]"


def json_attacks() -> Iterator[tuple[str, str, str]]:
    """A name, the path and the body of each request with JSON."""
    for path in ("split", "split/stream", "analyse"):
        yield (
            f"empty sentences to {path}",
            path,
            f'{{"sentences": {listed(chr(34) * 2, 11_700_000)}}}',
        )
    yield "short sentences", "split", f'{{"sentences": {listed(json.dumps("a."), 11_700_000)}}}'
    yield "numbers as sentences", "split", f'{{"sentences": {listed("0", 11_700_000)}}}'
    yield (
        "unknown fields",
        "split",
        f"{{{','.join(f'{chr(34)}{i}{chr(34)}:0' for i in range(900_000))}}}",
    )
    yield "depth", "split", "[" * 11_700_000
    yield "depth of objects", "check", '{"a":' * 2_000_000
    yield "empty texts", "readability", f'{{"texts": {listed("[]", 11_700_000)}}}'
    yield "zeros", "check", f'{{"rewrites": {listed("0", 2_000_000)}}}'
    yield "empty rewrites", "check", f'{{"rewrites": {listed("{}", 11_700_000)}}}'
    yield (
        "many simple",
        "check",
        f'{{"rewrites": [{{"source": "A.", "simple": {listed(chr(34) * 2, 11_000_000)}}}]}}',
    )
    for name, text in (
        ("quotation marks", '"' * 1_000_000),
        ("words", "a " * 500_000),
        ("one word", "a" * 1_000_000),
        ("full stops", "." * 1_000_000),
        ("brackets", "(" * 1_000_000),
        ("sentences", "Ann, who sings, left. " * 10_000),
        ("newlines", "a\n" * 500_000),
    ):
        for path in ("split", "split/stream", "analyse"):
            options = {} if path == "analyse" else {"splitter": "source", "check": False}
            yield f"{name} to {path}", path, json.dumps({"text": text, **options})
    yield "words to pointer", "split", json.dumps({"text": "a " * 500_000})
    yield (
        "quotation marks to readability",
        "readability",
        json.dumps({"texts": [['"' * 1_000_000]]}),
    )
    yield "one word", "readability", json.dumps({"texts": [["a" * 1_000_000]]})
    for path in ("split", "analyse"):
        long = json.dumps({"sentences": ['"' * 5_000] * 40})
        yield f"long sentences to {path}", path, long
    phrases = [f"{'a b ' * 45}{number}" for number in range(1000)]
    yield (
        "phrases to keep",
        "split",
        json.dumps({"sentences": ["Ann, who sings, left."] * 100, "keep_phrases": phrases}),
    )
    for name, text in (("and", "Ann came and " * 150), ("because", "because Ann came " * 115)):
        yield f"alternatives of {name}", "alternatives", json.dumps({"sentence": text[:1999]})
    long = [("Ann came to the old town and " * 46)[:-4] + f"{number}." for number in range(10)]
    for path in ("split", "analyse", "difficulty"):
        body: dict[str, Any] = {"sentences": long}
        if path == "difficulty":
            body = {"text": " ".join(long)}
        yield f"long sentences with many verbs to {path}", path, json.dumps(body)
    rewrites = [{"source": each, "simple": [each, each]} for each in long]
    yield "long sentences with many verbs to check", "check", json.dumps({"rewrites": rewrites})
    medium = [("Ann came and " * 66)[:-4] + f"{number}." for number in range(40)]
    yield "sentences of 198 words to split", "split", json.dumps({"sentences": medium})
    yield (
        "sentences of 198 words to rules",
        "split",
        json.dumps({"sentences": medium, "splitter": "rules"}),
    )
    yield "words to difficulty", "difficulty", json.dumps({"text": "a " * 500_000})
    yield "9,000 fields", "split", json.dumps(dict.fromkeys(map(str, range(9_000)), 0))
    yield "escapes", "split", '{"text": "' + "\\ud83d\\ude00" * 900_000 + '"}'
    rewrite = {"source": "a " * 1000, "simple": ["a " * 1000] * 2}
    yield "long alignments", "check", json.dumps({"rewrites": [rewrite] * 20})


def form_attacks() -> Iterator[tuple[str, dict[str, str]]]:
    """A name and the fields of each form for the endpoint of LanguageTool."""
    sentence = "The bridge, which was built in 1860 by a man who had never seen the sea, was old. "
    text = (sentence * 700)[:49_000]
    yield "many rules", {"text": text, "disabledRules": "," * 500_000}
    markup = ",".join(['{"markup":""}'] * 20_000)
    annotated = f'{{"annotation":[{markup},{{"text":{json.dumps(text)}}}]}}'
    yield "much markup", {"data": annotated}
    yield "lists", {"data": "[" + "[]," * 100_000 + "0]"}
    for name, text in (
        ("blanks", " " * 49_999 + "a"),
        ("words", "a " * 25_000),
        ("newlines", "a\n" * 25_000),
        ("short sentences", "A b c. " * 7_000),
    ):
        yield f"{name} to LanguageTool", {"text": text}


def word(body: str) -> bytes:
    """A Word document."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as made:
        made.writestr(
            "[Content_Types].xml",
            '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">'
            f'<Override PartName="/word/document.xml" ContentType="{KIND}"/></Types>',
        )
        made.writestr(
            "word/document.xml",
            f'<w:document xmlns:w="{WORD}"><w:body>{body}</w:body></w:document>',
        )
    return stream.getvalue()


def document_attacks() -> Iterator[tuple[str, str, bytes]]:
    """A name, the name of the file and its bytes."""
    for name, text in (
        ("[", "[" * 200_000),
        ("![", "![" * 200_000),
        ("[](", "[](" * 200_000),
        ("*a", "*a " * 300_000),
        ("**_", "**_" * 300_000),
        ("backticks", " ".join("`" * n for n in range(1, 1000))),
        ("<", "<" * 1_000_000),
        ("<!--", "<!--" * 500_000),
        ("quotes", ">" * 200_000),
        ("lists", "".join(" " * n + "* a\n" for n in range(1000))),
        ("references", "".join(f"[{n}]: /a\n" for n in range(100_000)) + "[1]" * 100_000),
        ("tables", "|a" * 200 + "\n" + "|-" * 200 + "\n" + "a\n" * 100_000),
        ("entities", "&a" * 500_000),
        ("blanks", "a" + " " * 1_000_000 + "a"),
        ("words", "a " * 500_000),
        ("code", "`a` " * 250_000),
        ("paragraphs", "a\n\n" * 70_000),
    ):
        yield f"{name} in Markdown", "a.md", text.encode()
    for name, text in (
        ("<!--", "<!--" * 500_000),
        ("<!-- >", "<p>a</p><!-- >" * 200_000),
        ("<", "<" * 2_000_000),
        ("<a", "<a " * 1_000_000),
        ("<p", "<p>" * 700_000),
        ("<b", "<b>" * 700_000),
        ("<b>a", "<b>a" * 400_000),
        ("&", "&" * 2_000_000),
        ("<![", "<![" * 700_000),
        ("<?", "<?" * 1_000_000),
        ("</", "</" * 1_000_000),
        ("<script", "<script>" * 300_000),
        ("attributes", "<a " + 'a="' * 500_000 + ">"),
        ("slashes", "<a" + "/" * 1_000_000 + ">"),
        ("apostrophes", "<a " + "'" * 1_000_000 + ">"),
        ("equals", "<a " + "=a" * 500_000 + ">"),
        ("closed", "<!--" + "-- " * 500_000 + "-->"),
        ("broken comments", ("<!--" + "a" * 100) * 90 + "-->"),
        ("end tags", "</p " * 700_000 + ">"),
        ("broken tags", "<p><" * 70_000 + ">"),
        ("<p>a</p>", "<p>a</p>" * 400_000),
    ):
        yield f"{name} in HTML", "a.html", text.encode()
    for name, body in (
        ("runs", f"<w:p>{RUN * 600_000}</w:p>"),
        ("paragraphs", f"<w:p>{RUN}</w:p>" * 400_000),
        ("bookmarks", "<w:p>" + '<w:bookmarkStart w:id="1"/>' * 300_000 + RUN + "</w:p>"),
        ("words", f"<w:p><w:r><w:t>{'a ' * 1_000_000}</w:t></w:r></w:p>"),
        ("depth", "<w:sdt>" * 200 + RUN + "</w:sdt>" * 200),
        ("attributes", "<w:p " + " ".join(f'a{n}="1"' for n in range(500_000)) + "/>"),
        ("blanks", f"<w:p><w:r><w:t>{' ' * 15_000_000}</w:t></w:r></w:p>"),
        ("holders", "<w:p>" + f"<w:hyperlink>{RUN * 2}</w:hyperlink>" * 100_000 + "</w:p>"),
    ):
        yield f"{name} in Word", "a.docx", word(body)
    for name, text in (
        ("braces", "{" * 4_000_000),
        ("characters", r"\u65?" * 1_500_000),
        ("paragraphs", r"a\par " * 1_000_000),
        ("backslashes", "\\" * 7_000_000),
        ("words", "a " * 3_900_000),
        ("digits", r"\a" + "1" * 7_000_000),
    ):
        yield f"{name} in RTF", "a.rtf", rf"{{\rtf1\ansi {text}}}".encode()


class Watch:
    """Health checks and the memory of the service while a request runs."""

    def __init__(self, url: str, process: int) -> None:
        self.slowest, self.largest = 0.0, 0
        self._host, self._process = urlsplit(url).netloc, process
        self._end = threading.Event()
        self._threads = [threading.Thread(target=each) for each in (self._ask, self._weigh)]

    def __enter__(self) -> "Watch":
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._end.set()
        for thread in self._threads:
            thread.join()

    def _ask(self) -> None:
        while not self._end.is_set():
            begun = time.perf_counter()
            try:
                connection = HTTPConnection(self._host, timeout=60)
                connection.request("GET", "/v1/health")
                connection.getresponse().read()
                connection.close()
            except OSError:
                self.slowest = float("inf")
            self.slowest = max(self.slowest, time.perf_counter() - begun)
            self._end.wait(0.02)

    def _weigh(self) -> None:
        while not self._end.is_set():
            self.largest = max(self.largest, memory(self._process))
            self._end.wait(0.02)


def memory(process: int) -> int:
    """The resident bytes of a process and its children. A child that is just being started has the
    memory and the command of its parent, and does not count."""
    total, waiting = 0, [(process, b"")]
    while waiting:
        number, above = waiting.pop()
        folder = Path("/proc") / str(number)
        try:
            status, command = (folder / "status").read_text(), (folder / "cmdline").read_bytes()
            if command == above:
                continue
            for task in (folder / "task").iterdir():
                children = map(int, (task / "children").read_text().split())
                waiting += [(child, command) for child in children]
        except OSError:
            continue
        found = [line for line in status.splitlines() if line.startswith("VmRSS")]
        total += sum(int(line.split()[1]) << 10 for line in found)
    return total


def attack(name: str, url: str, request: dict[str, Any], process: int, timeout: float) -> bool:
    """Send a request and print a row; whether it kept to the limits."""
    begun = time.perf_counter()
    size, before = 0, memory(process)
    with Watch(url, process) as watch:
        try:
            with httpx2.stream("POST", url, timeout=timeout, **request) as answer:
                status = str(answer.status_code)
                for chunk in answer.iter_raw():
                    size += len(chunk)
        except httpx2.HTTPError as error:
            status = type(error).__name__
    seconds = time.perf_counter() - begun
    above = (watch.largest - before) / MEGABYTE
    is_good = watch.slowest <= LONGEST_WAIT and above <= LARGEST and status[0].isdigit()
    print(
        f"| {name} | {status} | {seconds:.1f} | {size / MEGABYTE:.1f} "
        f"| {watch.slowest * 1000:.0f} | {above:.0f} |{'' if is_good else ' !'}",
        flush=True,
    )
    return is_good


def warm(url: str) -> None:
    """Let the service load all that it loads when it is first needed."""
    httpx2.post(f"{url}/v1/documents", files={"file": ("a.docx", word(RUN))}, timeout=60)
    sentence = "Ann, who sings, left, and Bob stayed."
    rewrite = {"source": sentence, "simple": ["Ann sings.", "Ann left.", "Bob stayed."]}
    for path, body in (
        ("split", {"sentences": [sentence]}),
        ("split", {"sentences": [sentence], "splitter": "rules"}),
        ("alternatives", {"sentence": sentence}),
        ("analyse", {"sentences": [sentence]}),
        ("check", {"rewrites": [rewrite]}),
    ):
        httpx2.post(f"{url}/v1/{path}", json=body, timeout=60).raise_for_status()


def main() -> None:
    """Send all requests, one after another."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="", help="requests with this in their name or path")
    parser.add_argument("--timeout", type=float, default=120)
    parser.set_defaults(splitter=["pointer", "rules", "source"])
    options = parser.parse_args()
    attacks = [
        (
            name,
            f"/v1/{path}",
            {"content": body.encode(), "headers": {"content-type": "application/json"}},
        )
        for name, path, body in json_attacks()
    ]
    attacks += [
        (name, "/v1/documents", {"files": {"file": (file, data)}})
        for name, file, data in document_attacks()
    ]
    attacks += [
        (name, "/v2/check", {"data": {"language": "en-US", **fields}})
        for name, fields in form_attacks()
    ]
    waiting = [attack for attack in attacks if options.only in attack[0] + attack[1]]
    failed: list[str] = []
    print("| request | status | seconds | answer, MB | slowest health check, ms | memory, MB |")
    print("|---|--:|--:|--:|--:|--:|")
    while waiting:
        with served(options) as (url, process):
            warm(url)
            idle = memory(process)
            while waiting:
                name, path, request = waiting.pop(0)
                if not attack(name, url + path, request, process, options.timeout):
                    failed.append(name)
                    break  # the next one gets a fresh service
            print(f"Kept above idle: {(memory(process) - idle) / MEGABYTE:.0f} MB.", flush=True)
    if failed:
        raise SystemExit(f"Over the limits: {', '.join(failed)}.")


if __name__ == "__main__":
    main()
