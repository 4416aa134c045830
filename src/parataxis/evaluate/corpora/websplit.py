"""WebSplit as it was released: v0.1 and v1.0 (Narayan et al. 2017), read and written.

A benchmark (github.com/shashiongithub/Split-and-Rephrase) is a folder with one long text file of
complex sentences and their references, a folder of XML files that say which triples a set's name
stands for, and a JSON file that assigns each complex sentence to a part. docs/websplit.md describes
the blocks of the text file.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import count
from pathlib import Path
from typing import NamedTuple
from xml.sax.saxutils import escape, quoteattr

from parataxis.errors import InputError
from parataxis.evaluate.corpora.example import Example, MalformedError, Triple
from parataxis.evaluate.corpora.formats import MinWiki
from parataxis.evaluate.corpora.sentences import at_final_stops, on_one_line
from parataxis.evaluate.corpora.webnlg import SetName, read_webnlg
from parataxis.text.files import Line, ReadReport, Writer, write_files

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
                for example in _Pair().read((path, path.with_suffix(".simple")), report):
                    yield replace(example, id=Path(example.id).name)
            elif path.suffix != ".simple":
                text, folder, wanted = self._locate(path)
                sets = self._sets(folder, report) if folder else {}
                yield from _Reader(text, sets, report).read(wanted)

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
        written = 0
        with write_files([folder / TEXT_FILE]) as (write,):
            writer = _Writer(write, dict(names))
            for example in examples:
                writer.write(example)
                written += 1
            _write_sets(folder / self.triples_folder, writer.names)
        return written

    def _locate(self, path: Path) -> tuple[Path, Path | None, set[str] | None]:
        """The text file that a path names, its benchmark folder if it is in one, and the ids of the
        part that is wanted if the path names one."""
        if path.is_file():
            return path, path.parent if path.name == TEXT_FILE else None, None
        folder = _folder(path)
        if folder is None:
            raise InputError(
                f"{path} is no WebSplit benchmark: it needs a file {TEXT_FILE}, or it must be a "
                "file TRAIN.complex beside a TRAIN.simple."
            )
        if folder == path:
            return folder / TEXT_FILE, folder, None
        wanted = read_parts(folder / self.parts_file)[PARTS[path.name]]
        return folder / TEXT_FILE, folder, set(wanted)

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
    """The ids of the complex sentences of each part, from a JSON file as in the releases, where 12
    stands for the id COMPLEX-12. Our files may also list the sentences that were dropped."""
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
    record = {
        name: [each if number_of(each) < 0 else number_of(each) for each in ids]
        for name, ids in parts.items()
    }
    with write_files([path]) as (write,):
        write(json.dumps(record, ensure_ascii=False))


def _id(found: object) -> str:
    if isinstance(found, bool) or not isinstance(found, (int, str)):
        raise TypeError("an id is a number or a text")
    return f"COMPLEX-{found}" if isinstance(found, int) else found


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

    def __init__(self, path: Path, sets: Mapping[SetName, TripleSet], report: ReadReport) -> None:
        self._path, self._sets = path, sets
        self._report = report
        self._by_name: dict[str, TripleSet] = {}

    def read(self, wanted: set[str] | None) -> Iterator[Example]:
        """The complex sentences, or those with the ids that are wanted."""
        found: _Open | None = None
        is_skipping = False
        for line, block in self._blocks():
            if is_skipping and ":" in block[0]:
                continue
            header = _HEADER.fullmatch(block[0])
            try:
                if header is None:
                    raise MalformedError("a block must begin with a line such as COMPLEX-1:MR-1")
                number = int(header["complex"])
                if header["set"] is None:
                    if found is not None:
                        yield found.example()
                    found = None
                    is_skipping = wanted is not None and block[0] not in wanted
                    if not is_skipping and len(block) != 2:
                        raise MalformedError("a complex sentence must stand alone under its number")
                    found = None if is_skipping else _Open(number, block[1])
                elif found is None or found.number != number:
                    raise MalformedError("this block belongs to another complex sentence")
                else:
                    self._add(found, header, line, block)
            except MalformedError as error:
                self._report.reject(str(self._path), line, str(error))
        if found is not None:
            yield found.example()

    def _blocks(self) -> Iterator[tuple[int, list[str]]]:
        """The lines of each block, stripped, and the number of its first line."""
        block: list[str] = []
        number = 0
        with self._path.open("rb") as stream:
            for number, line in enumerate(stream, start=1):
                try:
                    text = line.decode().strip()
                except UnicodeDecodeError:
                    self._report.reject(str(self._path), number, "the line is not UTF-8")
                    text = "\ufffd"
                if text:
                    block.append(text)
                elif block:
                    yield number - len(block), block
                    block = []
        if block:
            yield number - len(block) + 1, block
        self._report.lines += number

    def _add(self, found: _Open, header: re.Match[str], line: int, block: list[str]) -> None:
        if header["simple"] is None:
            triples = self._triples(block[1], line) if len(block) == 2 else None
            if triples is None:
                raise MalformedError(
                    "a triple set must be one line such as category=X eid=Id1 size=2"
                )
            found.sets[header["set"]] = triples
            return
        if header["set"] not in found.sets:
            raise MalformedError("the triple set of this block has not been named")
        whole = found.sets[header["set"]]
        if header["kind"] is None:
            sentences = tuple(block[1:])
            if not sentences:
                raise MalformedError("there are no simple sentences")
            found.simple = header["simple"], sentences
            found.references.setdefault(sentences, (whole,) * len(sentences))
            return
        if found.simple is None or found.simple[0] != header["simple"]:
            raise MalformedError("the simple sentences of this block have not been given")
        sentences, parts = self._parts(line, block)
        if sentences != found.simple[1]:
            raise MalformedError("the simple sentences differ from those given before")
        if found.references[sentences] == (whole,) * len(parts):  # the first assignment is kept
            found.references[sentences] = parts

    def _parts(self, line: int, block: list[str]) -> tuple[tuple[str, ...], tuple[TripleSet, ...]]:
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
        return tuple(sentences), tuple(parts)

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
            self._report.reject(str(self._path), line, f"no file of triples has {text}")
        self._by_name[text] = triples or _EMPTY
        return self._by_name[text]


class _Pair(MinWiki):
    """The files "train.complex" and "train.simple", one reference a line."""

    def _sources(self, lines: Iterator[Line]) -> Iterator[Line]:
        return lines

    def _cut(self, line: str) -> tuple[str, ...]:
        return at_final_stops(line)


class _Division(NamedTuple):
    """How the blocks describe the way in which a reference divides its triples."""

    whole: TripleSet
    kind: str
    names: tuple[str, ...]
    """One for each sentence, or one for all together."""

    def blocks(self, head: str, sentences: Sequence[str]) -> str:
        """The two blocks of a reference."""
        text = "\n".join(sentences)
        named = [f"{self.names[0]}\n{text}"]
        if len(self.names) > 1:
            named = ["\n".join(pair) for pair in zip(self.names, sentences, strict=True)]
        below = "\n".join(named)
        return f"{head}\n{text}\n\n{head}:SPTYPE-{self.kind}:MR-1\n{below}\n"


class _Writer:
    """Writes examples as blocks, and names the triple sets that have no name yet."""

    def __init__(self, write: Writer, names: dict[TripleSet, SetName]) -> None:
        self._write = write
        self.names = names
        self._used = set(names.values())
        self._division = lru_cache(_REMEMBERED)(self._divided)
        self._last = 0

    def write(self, example: Example) -> None:
        self._last = max(self._last + 1, number_of(example.id))
        label = f"COMPLEX-{self._last}"
        self._write(f"{label}\n{_one_line(example.source, example)}\n")
        by_set: dict[TripleSet, list[tuple[tuple[str, ...], _Division]]] = {}
        for index, reference in enumerate(example.references):
            known = example.reference_triples[index] if example.reference_triples else ()
            division = self._division(known or (example.triples,) * len(reference))
            by_set.setdefault(division.whole, []).append((reference, division))
        if not by_set:
            by_set[example.triples] = []
        # References share most of their sentences: each different one is checked once.
        simple = {text for reference in example.references for text in reference}
        lines = {text: _one_line(text, example) for text in simple}
        for number, (whole, references) in enumerate(by_set.items(), start=1):
            head = f"{label}:MR-{number}"
            self._write(f"{head}\n{self._name(whole)}\n")
            for order, (reference, division) in enumerate(references, start=1):
                sentences = [lines[text] for text in reference]
                self._write(division.blocks(f"{head}:SIMPLE-{order}", sentences))

    def _divided(self, parts: tuple[TripleSet, ...]) -> _Division:
        whole = _EMPTY.union(*parts)
        if all(part == whole for part in parts):
            return _Division(whole, "NONE", (self._name(whole),))
        kind = "-".join(map(str, sorted(map(len, parts))))
        return _Division(whole, kind, tuple(map(self._name, parts)))

    def _name(self, triples: TripleSet) -> str:
        name = self.names.get(triples)
        if name is None:
            numbers = count(len(self.names) + 1)
            new = (SetName(_UNKNOWN_CATEGORY, f"Id{each}", len(triples)) for each in numbers)
            name = self.names[triples] = next(each for each in new if each not in self._used)
            self._used.add(name)
        return str(name)


def _one_line(sentence: str, example: Example) -> str:
    """A sentence as one line; the format cannot hold an empty one."""
    if not (line := on_one_line(sentence)):
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
