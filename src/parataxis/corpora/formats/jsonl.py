"""Our JSON lines: a line for each reference. Lines of one source that follow each other are its
references; a line without the field "simple" is a sentence without any."""

import json
from collections.abc import Iterable, Iterator
from pathlib import Path

import pydantic_core

from parataxis.corpora.example import Example, Triple, group
from parataxis.corpora.files import BLANK_SOURCE, name_of, one_path, read_lines, write_files
from parataxis.corpora.protocol import Report

__all__ = ["Jsonl"]

SPLITTER = "reference"
"""What a line of a corpus names as its splitter."""


class _MalformedError(Exception):
    """Why a record cannot be an example, in a few words."""


class Jsonl:
    """The rewrites that all commands read and write; triples are kept in fields of their own."""

    name = "jsonl"
    summary = "one file of rewrites as JSON lines; several lines a source"

    def read(self, paths: tuple[Path, ...], report: Report) -> Iterator[Example]:
        """One example for each source; blank lines are skipped, as everywhere in JSON lines."""
        return group(self._lines(one_path(paths, self.name), report))

    def write(self, examples: Iterable[Example], paths: tuple[Path, ...]) -> int:
        """One line for each reference, or one for an example without any."""
        written = 0
        with write_files([one_path(paths, self.name)]) as (write,):
            for example in examples:
                written += 1
                for record in _records(example):
                    write(json.dumps(record, ensure_ascii=False, separators=(",", ":")))
        return written

    def _lines(self, path: Path, report: Report) -> Iterator[Example]:
        for number, line in read_lines(path, report):
            if not line.strip():
                continue
            try:
                yield _example(line, f"{name_of(path)}:{number}")
            except _MalformedError as error:
                report.reject(name_of(path), number, str(error))


def _example(line: str, default_id: str) -> Example:
    record = _record(line)
    source = record.get("source", record.get("complex"))
    if source is None:
        raise _MalformedError('there is neither "source" nor "complex"')
    if not isinstance(source, str) or not source.strip():
        raise _MalformedError(BLANK_SOURCE)
    own = record.get("id")
    simple = record.get("simple")
    triples = _triples(record.get("simple_triples", []))
    if triples and len(triples) != len(simple if isinstance(simple, list) else ()):
        raise _MalformedError('"simple_triples" must have an entry for each simple sentence')
    return Example(
        source.strip(),
        () if simple is None else (_sentences(simple),),
        default_id if own is None else str(own),
        triples=frozenset(*_triples([record["triples"]])) if "triples" in record else frozenset(),
        reference_triples=(triples,) if triples else (),
    )


def _record(line: str) -> dict[str, object]:
    try:
        record = json.loads(line)
    except (ValueError, RecursionError):
        raise _MalformedError("this is not a line of JSON") from None
    if not isinstance(record, dict):
        raise _MalformedError("a record must be a JSON object")
    try:  # JSON can spell half a character, but no UTF-8 file can hold one
        pydantic_core.to_json(record)
    except pydantic_core.PydanticSerializationError:
        raise _MalformedError("there is half a character, or too much nesting") from None
    return record


def _sentences(simple: object) -> tuple[str, ...]:
    if not isinstance(simple, list) or not simple:
        raise _MalformedError('"simple" must be a list of sentences')
    if not all(isinstance(each, str) and each.strip() for each in simple):
        raise _MalformedError("a simple sentence is empty")
    return tuple(each.strip() for each in simple)


def _triples(found: object) -> tuple[frozenset[Triple], ...]:
    """Sets of triples: a list of lists of triples, which are lists of three strings."""
    if not isinstance(found, list) or not all(isinstance(triples, list) for triples in found):
        raise _MalformedError("triples must be a list")
    return tuple(frozenset(map(_triple, triples)) for triples in found)


def _triple(found: object) -> Triple:
    match found:
        case [str(subject), str(relation), str(target)]:
            return Triple(subject, relation, target)
    raise _MalformedError("a triple must be a list of three strings")


def _records(example: Example) -> Iterator[dict[str, object]]:
    common: dict[str, object] = {"id": example.id, "source": example.source}
    triples = {"triples": sorted(example.triples)} if example.triples else {}
    if not example.references:
        yield {**common, **triples}
    for place, reference in enumerate(example.references):
        record = {**common, "simple": list(reference), "splitter": SPLITTER, **triples}
        if place < len(example.reference_triples):
            record["simple_triples"] = [sorted(each) for each in example.reference_triples[place]]
        yield record
