"""WebSplit as it was released: v0.1 and v1.0 (Narayan et al. 2017), read and written.

A benchmark (github.com/shashiongithub/Split-and-Rephrase) is a folder with one long text file of
complex sentences and their references, a folder of XML files that say which triples a set's name
stands for, and a JSON file that assigns each complex sentence to a part. docs/websplit.md describes
the blocks of the text file.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import count
from pathlib import Path
from typing import NamedTuple
from xml.sax.saxutils import escape, quoteattr

from parataxis.errors import InputError
from parataxis.evaluate.corpora.example import Example, Triple
from parataxis.evaluate.corpora.sentences import at_final_stops
from parataxis.evaluate.corpora.webnlg import SetName, read_webnlg
from parataxis.text.files import (
    BLANK_SIMPLE,
    BLANK_SOURCE,
    ReadReport,
    Writer,
    aligned,
    write_files,
)

TEXT_FILE = "final-complexsimple-meanpreserve-intreeorder-full.txt"
PARTS = {"train": "TRAIN", "validation": "VALIDATION", "dev": "VALIDATION", "test": "TEST"}
"""The names of the parts in a path, and in the JSON file."""

_PART_NAMES = ("TRAIN", "VALIDATION", "TEST")
_DROPPED = "DROPPED"

TripleSet = frozenset[Triple]
_EMPTY: TripleSet = frozenset()
_HEADER = re.compile(
    r"COMPLEX-(?P<complex>\d+)"
    r"(?::MR-(?P<set>\d+)(?::SIMPLE-(?P<simple>\d+)(?P<kind>:SPTYPE-[\w-]+(?::MR-\d+)?)?)?)?"
)
_SET_NAME = re.compile(r"category=(\S+) eid=(\S+) size=(\d+)")
_UNKNOWN_CATEGORY = "Unknown"
_REMEMBERED = 100_000
"""How many ways to divide triples a writer caches: the same few occur again and again."""


class WebSplit:
    """Both versions: only the names of the folder and of the JSON file differ."""

    name: str
    summary: str
    triples_folder: str
    parts_file: str

    def read(self, paths: tuple[Path, ...], report: ReadReport) -> Iterator[Example]:
        """The examples of benchmark folders, of a part of one ("benchmark/test"), of the text
        file alone (triples unknown), or of a pair "train.complex" and "train.simple"."""
        for path in paths:
            if path.suffix == ".complex":
                yield from _read_pair(path, report)
            if path.suffix in (".complex", ".simple"):
                continue
            folder, part = self._locate(path)
            text = path if folder is None else folder / TEXT_FILE
            sets = {} if folder is None else self._sets(folder, report)
            wanted = None if part is None or folder is None else self._part(folder, part)
            yield from _Reader(str(text), sets, report, wanted).read(text)

    def write(self, examples: Iterable[Example], paths: tuple[Path, ...]) -> int:
        """Write a benchmark folder: the text file and the triple sets."""
        if len(paths) != 1:
            raise InputError(f"The format {self.name} is written to one folder; name just that.")
        return self.write_benchmark(examples, paths[0], {})

    def write_benchmark(
        self, examples: Iterable[Example], folder: Path, names: Mapping[TripleSet, SetName]
    ) -> int:
        """Write a benchmark folder; a set that ``names`` does not name gets a name of its own."""
        if folder.exists() and not folder.is_dir():
            raise InputError(f"{folder} is a file; name a folder for the benchmark.")
        # The text file has the same name in both versions.
        if (folder / TEXT_FILE).exists() or (folder / self.triples_folder).exists():
            raise InputError(f"{folder} holds a benchmark already; name another folder.")
        folder.mkdir(parents=True, exist_ok=True)
        with write_files([folder / TEXT_FILE]) as (write,):
            writer = _Writer(write, dict(names))
            for example in examples:
                writer.write(example)
            _write_sets(folder / self.triples_folder, writer.names)
        return writer.written

    def _locate(self, path: Path) -> tuple[Path | None, str | None]:
        """The benchmark folder and the part that a path names; no folder for a text file alone."""
        if path.is_file():
            return (path.parent, None) if path.name == TEXT_FILE else (None, None)
        folder = _folder(path)
        if folder is not None:
            return folder, None if folder == path else path.name
        raise InputError(
            f"{path} is no WebSplit benchmark: it needs a file {TEXT_FILE}, or it must be a "
            "file TRAIN.complex beside a TRAIN.simple."
        )

    def _sets(self, folder: Path, report: ReadReport) -> dict[SetName, TripleSet]:
        where = folder / self.triples_folder
        if not where.is_dir() and (other := benchmark_format(folder)) not in (None, self.name):
            raise InputError(f"{folder} has the format {other}, not {self.name}.")
        sets: dict[SetName, TripleSet] = {}
        for entry in read_webnlg(where) if where.is_dir() else ():
            triples = frozenset(entry.triples)
            if sets.setdefault(entry.name, triples) != triples:
                report.reject(str(where), 0, f"{entry.name} stands for two sets of triples")
        return sets

    def _part(self, folder: Path, part: str) -> set[str]:
        return set(read_parts(folder / self.parts_file)[PARTS[part]])


class WebSplit01(WebSplit):
    """WebSplit v0.1: the benchmark of the paper."""

    name = "websplit-v0.1"
    summary = "WebSplit v0.1: a benchmark folder, its FOLDER/test, or train.complex (+ .simple)"
    triples_folder = "benchmark_verified_simplifcation"  # spelled so in the release
    parts_file = "Split-train-dev-test.DONT-CHANGE.json"


class WebSplit10(WebSplit):
    """WebSplit v1.0: more categories of WebNLG, and no triple of training in the other parts."""

    name = "websplit-v1.0"
    summary = "WebSplit v1.0: a benchmark folder, its FOLDER/test, or train.complex (+ .simple)"
    triples_folder = "webnlg-corpus-release"
    parts_file = "Split-train-dev-test.benchmark-v1.0.json"


def benchmark_format(path: Path) -> str | None:
    """The format of a benchmark folder, or of a part of one, by the files beside its text; None if
    these do not identify it."""
    folder = _folder(path)
    if folder is None:
        return None
    found = [
        form.name
        for form in (WebSplit01, WebSplit10)
        if (folder / form.triples_folder).is_dir() or (folder / form.parts_file).is_file()
    ]
    return found[0] if len(found) == 1 else None


def _folder(path: Path) -> Path | None:
    """The benchmark folder that a path names, itself or by one of its parts."""
    if (path / TEXT_FILE).is_file():
        return path
    return path.parent if path.name in PARTS and (path.parent / TEXT_FILE).is_file() else None


def number_of(id_: str) -> int:
    """The number of a complex sentence by its id, or -1.

    >>> number_of("COMPLEX-12"), number_of("a.tsv:3")
    (12, -1)
    """
    number = id_.removeprefix("COMPLEX-")
    return int(number) if number.isdecimal() and number != id_ else -1


def read_parts(path: Path) -> dict[str, list[str]]:
    """The ids of the complex sentences of each part, from a JSON file as in the releases.

    These have numbers: 12 stands for the id COMPLEX-12. Files written by Parataxis may also list
    the sentences that were dropped.
    """
    if not path.is_file():
        raise InputError(f"There is no file {path} that says which sentence is in which part.")
    try:
        parts = json.loads(path.read_text(encoding="utf-8"))
        names = (*_PART_NAMES, _DROPPED) if _DROPPED in parts else _PART_NAMES
        return {name: [_id(each) for each in parts[name]] for name in names}
    except (ValueError, KeyError, TypeError) as error:
        raise InputError(
            f"{path} must be a JSON object with lists of ids: TRAIN, VALIDATION and TEST."
        ) from error


def write_parts(path: Path, parts: Mapping[str, Iterable[str]]) -> None:
    """Write the ids of the complex sentences of each part in the form of the releases."""
    record = {name: [_short(each) for each in ids] for name, ids in parts.items()}
    with write_files([path]) as (write,):
        write(json.dumps(record, ensure_ascii=False))


def _id(found: object) -> str:
    if isinstance(found, bool) or not isinstance(found, (int, str)):
        raise TypeError("an id is a number or a text")
    return f"COMPLEX-{found}" if isinstance(found, int) else found


def _short(id_: str) -> int | str:
    number = number_of(id_)
    return id_ if number < 0 else number


@dataclass
class _Open:
    """A complex sentence whose blocks are still being read."""

    number: int
    source: str
    sets: dict[str, TripleSet] = field(default_factory=dict)
    references: dict[tuple[str, ...], tuple[TripleSet, ...]] = field(default_factory=dict)
    simple: tuple[str, tuple[str, ...]] | None = None
    """The last block of simple sentences: its number and the sentences."""

    def example(self) -> Example:
        return Example(
            source=self.source,
            references=tuple(self.references),
            id=f"COMPLEX-{self.number}",
            triples=_EMPTY.union(*self.sets.values()),
            reference_triples=tuple(self.references.values()),
        )


class _Reader:
    """Reads the blocks of a text file, which blank lines separate."""

    def __init__(
        self,
        name: str,
        sets: Mapping[SetName, TripleSet],
        report: ReadReport,
        wanted: set[str] | None,
    ) -> None:
        self._name = name
        self._sets = sets
        self._report = report
        self._wanted = wanted
        self._open: _Open | None = None
        self._by_name: dict[str, TripleSet] = {}

    def read(self, path: Path) -> Iterator[Example]:
        with path.open("rb") as stream:
            is_skipping = False
            for line, block in self._blocks(stream):
                if is_skipping and ":" in block[0]:
                    continue
                header = _HEADER.fullmatch(block[0])
                if header is None:
                    self._reject(line, "a block must begin with a line such as COMPLEX-1:MR-1")
                elif header["set"] is None:
                    if self._open is not None:
                        yield self._open.example()
                    is_skipping = self._wanted is not None and block[0] not in self._wanted
                    number = int(header["complex"])
                    self._open = None if is_skipping else self._begin(number, line, block)
                elif self._open is None or self._open.number != int(header["complex"]):
                    self._reject(line, "this block belongs to another complex sentence")
                else:
                    self._continue(self._open, header, line, block)
        if self._open is not None:
            yield self._open.example()

    def _blocks(self, stream: Iterable[bytes]) -> Iterator[tuple[int, list[str]]]:
        """The lines of each block, stripped, and the number of its first line."""
        block: list[str] = []
        number = 0
        for line in stream:
            number += 1
            try:
                text = line.decode().strip()
            except UnicodeDecodeError:
                self._reject(number, "the line is not UTF-8")
                text = "\ufffd"
            if text:
                block.append(text)
            elif block:
                yield number - len(block), block
                block = []
        if block:
            yield number - len(block) + 1, block
        self._report.lines += number

    def _begin(self, number: int, line: int, block: list[str]) -> _Open | None:
        if len(block) != 2:
            self._reject(line, "a complex sentence must stand alone under its number")
            return None
        return _Open(number, block[1])

    def _continue(self, found: _Open, header: re.Match[str], line: int, block: list[str]) -> None:
        if header["simple"] is None:
            self._add_set(found, header["set"], line, block)
        elif header["set"] not in found.sets:
            self._reject(line, "the triple set of this block has not been named")
        elif header["kind"] is None:
            self._add_simple(found, header, line, block)
        else:
            self._add_parts(found, header, line, block)

    def _add_set(self, found: _Open, number: str, line: int, block: list[str]) -> None:
        triples = self._triples(block[1], line) if len(block) == 2 else None
        if triples is None:
            self._reject(line, "a triple set must be one line such as category=X eid=Id1 size=2")
            return
        found.sets[number] = triples

    def _triples(self, text: str, line: int) -> TripleSet | None:
        """The triples of a set by its name; None for a text that is no name."""
        known = self._by_name.get(text)
        if known is not None or not text.startswith("category="):
            return known
        name = _SET_NAME.fullmatch(text)
        if name is None:
            return None
        triples = self._sets.get(SetName(name[1], name[2], int(name[3])))
        # A text without its folder of triples has none at all, and a set of size 0 needs none.
        if triples is None and self._sets and int(name[3]):
            self._reject(line, f"no file of triples has {text}")
        self._by_name[text] = triples or _EMPTY
        return self._by_name[text]

    def _add_simple(self, found: _Open, header: re.Match[str], line: int, block: list[str]) -> None:
        sentences = tuple(block[1:])
        if not sentences:
            self._reject(line, "there are no simple sentences")
            return
        found.simple = header["simple"], sentences
        whole = found.sets[header["set"]]
        found.references.setdefault(sentences, (whole,) * len(sentences))

    def _add_parts(self, found: _Open, header: re.Match[str], line: int, block: list[str]) -> None:
        """Assign triples to the simple sentences; the first assignment is kept."""
        if found.simple is None or found.simple[0] != header["simple"]:
            self._reject(line, "the simple sentences of this block have not been given")
            return
        sentences: list[str] = []
        parts: list[TripleSet] = []
        triples: TripleSet | None = None
        for text in block[1:]:
            named = self._triples(text, line)
            if named is not None:
                triples = named
            elif triples is not None:
                sentences.append(text)
                parts.append(triples)
        if tuple(sentences) != found.simple[1]:
            self._reject(line, "the simple sentences differ from those given before")
            return
        whole = found.sets[header["set"]]
        if found.references[found.simple[1]] == (whole,) * len(parts):
            found.references[found.simple[1]] = tuple(parts)

    def _reject(self, line: int, reason: str) -> None:
        self._report.reject(self._name, line, reason)


def _read_pair(path: Path, report: ReadReport) -> Iterator[Example]:
    """The lines of "train.complex" and "train.simple", one reference each.

    The simple sentences of a line are separated by spaces only; each ends in a stop that is a token
    of its own.
    """
    other = path.with_suffix(".simple")
    for (number, source), (_, text) in aligned([path, other], report):
        if not source.strip():
            report.reject(str(path), number, BLANK_SOURCE)
        elif not (simple := at_final_stops(text)):
            report.reject(str(other), number, BLANK_SIMPLE)
        else:
            yield Example(source.strip(), (simple,), f"{path.name}:{number}")


class _Parts(NamedTuple):
    """How the blocks describe the way in which a reference divides its triples."""

    whole: TripleSet
    kind: str
    names: tuple[str, ...]
    """One for each sentence, or one for all together."""


class _Writer:
    """Writes examples as blocks, and names the triple sets that have no name yet."""

    def __init__(self, write: Writer, names: dict[TripleSet, SetName]) -> None:
        self._write = write
        self.names = names
        self._used = set(names.values())
        self._known = lru_cache(_REMEMBERED)(self._describe)
        self._last = 0
        self.written = 0

    def write(self, example: Example) -> None:
        self._last = max(self._last + 1, number_of(example.id))
        label = f"COMPLEX-{self._last}"
        self._write(f"{label}\n{_one_line(example.source, example)}\n")
        by_set: dict[TripleSet, list[tuple[tuple[str, ...], _Parts]]] = {}
        for index, reference in enumerate(example.references):
            known = example.reference_triples[index] if example.reference_triples else ()
            parts = self._known(known or (example.triples,) * len(reference))
            by_set.setdefault(parts.whole, []).append((reference, parts))
        if not by_set:
            by_set[example.triples] = []
        # References share most of their sentences: each different one is checked once.
        simple = {text for reference in example.references for text in reference}
        lines = {text: _one_line(text, example) for text in simple}
        for number, (whole, references) in enumerate(by_set.items(), start=1):
            head = f"{label}:MR-{number}"
            self._write(f"{head}\n{self._name(whole)}\n")
            for order, (reference, parts) in enumerate(references, start=1):
                sentences = [lines[text] for text in reference]
                self._write(_reference(f"{head}:SIMPLE-{order}", sentences, parts))
        self.written += 1

    def _describe(self, parts: tuple[TripleSet, ...]) -> _Parts:
        whole = _EMPTY.union(*parts)
        if all(part == whole for part in parts):
            return _Parts(whole, "NONE", (self._name(whole),))
        kind = "-".join(map(str, sorted(map(len, parts))))
        return _Parts(whole, kind, tuple(map(self._name, parts)))

    def _name(self, triples: TripleSet) -> str:
        name = self.names.get(triples)
        if name is None:
            numbers = count(len(self.names) + 1)
            new = (SetName(_UNKNOWN_CATEGORY, f"Id{each}", len(triples)) for each in numbers)
            name = self.names[triples] = next(each for each in new if each not in self._used)
            self._used.add(name)
        return str(name)


def _reference(head: str, sentences: Sequence[str], parts: _Parts) -> str:
    text = "\n".join(sentences)
    if len(parts.names) == 1:
        below = f"{parts.names[0]}\n{text}"
    else:
        named = zip(parts.names, sentences, strict=True)
        below = "\n".join(f"{name}\n{sentence}" for name, sentence in named)
    return f"{head}\n{text}\n\n{head}:SPTYPE-{parts.kind}:MR-1\n{below}\n"


def _one_line(sentence: str, example: Example) -> str:
    """A sentence as one line; the format cannot hold another, nor an empty one."""
    line = " ".join(sentence.split())
    if not line:
        raise InputError(f"{example.id}: a sentence is empty, which WebSplit's files cannot hold.")
    return line


def _write_sets(folder: Path, names: Mapping[TripleSet, SetName]) -> None:
    """The triples of each named set, as XML in WebNLG's form without its texts."""
    files: dict[tuple[int, str], list[str]] = {}
    for triples, name in names.items():
        rows = (escape(" | ".join(triple)) for triple in sorted(triples))
        entry = "\n".join(f"   <mtriple>{row}</mtriple>" for row in rows)
        files.setdefault((name.size, name.category), []).append(
            f" <entry category={quoteattr(name.category)} eid={quoteattr(name.eid)} "
            f'size="{name.size}">\n  <modifiedtripleset>\n{entry}\n  </modifiedtripleset>\n'
            " </entry>\n"
        )
    for (size, category), entries in files.items():
        safe = re.sub(r"\W", "_", category)
        path = folder / f"{size}triples" / f"{size}triples_{safe}.xml"
        path.parent.mkdir(parents=True, exist_ok=True)
        text = f"<benchmark><entries>\n{''.join(entries)}</entries></benchmark>\n"
        path.write_text(text, encoding="utf-8")
