"""Gold analyses from Universal Dependencies and PropBank files, in our own data types.

The folder layout is that of the project's data: ``ud/ewt-train.conllu.gz``,
``propbank/train.jsonl.gz`` and so on, joined by ``sent_id``.
"""

import gzip
import json
from collections.abc import Iterator
from pathlib import Path

from parataxis.errors import InputError
from parataxis.syntax.analysis import ROOT, Analysis, Argument, Frame, Word

__all__ = ["KEPT_FEATURES", "GoldSentence", "gold_sentences"]

KEPT_FEATURES = frozenset(
    ("Case", "Degree", "Gender", "Mood", "Number", "Person", "Poss", "PronType")
) | {"Tense", "VerbForm", "Voice"}
"""The UD features that the analyser predicts: what generation and the checks look at."""


class GoldSentence:
    """A treebank sentence: its analysis, its document, and whether roles were annotated."""

    def __init__(self, analysis: Analysis, document: str, paragraph: bool, has_roles: bool) -> None:
        self.analysis = analysis
        self.document = document
        self.starts_paragraph = paragraph
        self.has_roles = has_roles


def gold_sentences(data: Path, treebank: str, part: str) -> Iterator[GoldSentence]:
    """Read ``treebank`` ("ewt", "gum") ``part`` ("train", "dev", "test") from the data folder."""
    path = data / "ud" / f"{treebank}-{part}.conllu.gz"
    if not path.exists():
        raise InputError(f"There is no treebank file {path}; pass the folder that holds ud/.")
    roles = _propbank(data / "propbank" / f"{part}.jsonl.gz") if treebank == "ewt" else {}
    document, paragraph = "", True
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        for comments, rows in _blocks(lines):
            if "newdoc id" in comments:
                document, paragraph = comments["newdoc id"], True
            paragraph = paragraph or any(key.startswith("newpar") for key in comments)
            words = _words(comments["text"], rows)
            record = roles.get(comments["sent_id"])
            frames = _frames(record, len(words)) if record else None
            analysis = Analysis(comments["text"], words, frames or ())
            yield GoldSentence(analysis, document, paragraph, frames is not None)
            paragraph = False


def _blocks(lines: Iterator[str]) -> Iterator[tuple[dict[str, str], list[list[str]]]]:
    comments: dict[str, str] = {}
    rows: list[list[str]] = []
    for line in lines:
        line = line.rstrip("\n")
        if line.startswith("#"):
            key, _, value = line[1:].partition("=")
            comments[key.strip()] = value.strip()
        elif line:
            rows.append(line.split("\t"))
        elif rows:
            yield comments, rows
            comments, rows = {}, []
    if rows:
        yield comments, rows


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


def _propbank(path: Path) -> dict[str, dict[str, object]]:
    if not path.exists():
        return {}
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        return {record["sent_id"]: record for record in map(json.loads, lines)}


def _frames(record: dict[str, object], length: int) -> list[Frame] | None:
    tokens, frames = record["tokens"], record["frames"]
    if not isinstance(tokens, list) or not isinstance(frames, list) or len(tokens) != length:
        return None
    return [
        Frame(f["predicate"], tuple(Argument(a, b, label) for a, b, label in f["arguments"]))
        for f in frames
    ]
