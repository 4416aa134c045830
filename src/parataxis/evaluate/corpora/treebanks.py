"""Treebanks: sentences in CoNLL-U with their gold trees, and PropBank frames if there are any.

The frames are a file of JSON lines ``{sent_id, tokens, frames}`` that is joined by ``sent_id``.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import NamedTuple

from parataxis.errors import InputError
from parataxis.syntax.analysis import ROOT, Analysis, Argument, Frame, Word
from parataxis.text.files import ReadReport, read_lines

KEPT_FEATURES = frozenset(
    ("Case", "Degree", "Gender", "Mood", "Number", "Person", "Poss", "PronType")
) | {"Tense", "VerbForm", "Voice"}
"""The UD features that the analyser predicts, and that generation and the checks use."""


class Arc(NamedTuple):
    """An arc of the enhanced graph between two words: their indices and the relation."""

    head: int
    dependent: int
    relation: str


@dataclass(frozen=True)
class GoldSentence:
    """A treebank sentence: its analysis, its document, whether roles were annotated, and its
    enhanced graph (without nodes for words left out) if the treebank has one."""

    analysis: Analysis
    document: str
    starts_paragraph: bool
    has_roles: bool
    enhanced: tuple[Arc, ...] = ()


def read_treebank(path: Path, frames: Path | None = None) -> Iterator[GoldSentence]:
    """The sentences of a CoNLL-U file, plain or packed with gzip."""
    roles = _propbank(frames) if frames else {}
    document, paragraph = "", True
    for comments, rows in _blocks(path):
        if "newdoc id" in comments:
            document, paragraph = comments["newdoc id"], True
        paragraph = paragraph or any(key.startswith("newpar") for key in comments)
        words = _words(comments["text"], rows)
        record = roles.get(comments.get("sent_id", ""))
        found = _frames(record, len(words)) if record else None
        yield GoldSentence(
            Analysis(comments["text"], words, found or ()),
            document,
            paragraph,
            found is not None,
            tuple(_arcs(rows)),
        )
        paragraph = False


def _blocks(path: Path) -> Iterator[tuple[dict[str, str], list[list[str]]]]:
    comments: dict[str, str] = {}
    rows: list[list[str]] = []
    # The blank line after the last block may be missing.
    for number, line in chain(read_lines(path, ReadReport(strict=True)), [(0, "")]):
        if line.startswith("#"):
            key, _, value = line[1:].partition("=")
            comments[key.strip()] = value.strip()
        elif line:
            rows.append(line.split("\t"))
            if len(rows[-1]) != 10:
                raise InputError(
                    f"{path}, line {number}: a line of CoNLL-U has 10 columns, not {len(rows[-1])}."
                )
        elif rows:
            if "text" not in comments:
                raise InputError(f'{path}: the sentence "{rows[0][1]} ..." has no line "# text".')
            yield comments, rows
            comments, rows = {}, []


def _words(text: str, rows: list[list[str]]) -> list[Word]:
    words: list[Word] = []
    position = 0
    for row in rows:
        if not row[0].isdigit():
            continue  # multiword ranges and empty nodes have no place in the basic tree
        start = text.find(row[1], position)
        # A few words inside multiword tokens are not substrings of the text; give them no width.
        start, end = (start, start + len(row[1])) if 0 <= start <= position + 3 else (position,) * 2
        position = end
        feats = dict(f.split("=", 1) for f in row[5].split("|") if f != "_")
        kept = {name: value for name, value in feats.items() if name in KEPT_FEATURES}
        head = int(row[6]) - 1 if row[6].isdigit() else ROOT
        words.append(Word(len(words), row[1], start, end, row[3], row[4], kept, head, row[7]))
    return words


def _arcs(rows: list[list[str]]) -> Iterator[Arc]:
    for row in rows:
        if row[0].isdigit() and row[8] != "_":
            for each in row[8].split("|"):
                head, _, relation = each.partition(":")
                if head.isdigit() and head != "0":
                    yield Arc(int(head) - 1, int(row[0]) - 1, relation)


def _propbank(path: Path) -> Mapping[str, dict[str, object]]:
    records = {}
    for number, line in read_lines(path, ReadReport(strict=True)):
        try:
            record = json.loads(line)
            records[record["sent_id"]] = record
        except (ValueError, KeyError, TypeError) as error:
            raise InputError(f"{path}, line {number}: this is no record of frames.") from error
    return records


def _frames(record: dict[str, object], length: int) -> list[Frame] | None:
    tokens, frames = record["tokens"], record["frames"]
    if not isinstance(tokens, list) or not isinstance(frames, list) or len(tokens) != length:
        return None
    return [
        Frame(f["predicate"], tuple(Argument(a, b, label) for a, b, label in f["arguments"]))
        for f in frames
    ]
