"""Treebank sentences from a short notation."""

import json
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from parataxis.evaluate.corpora.treebanks import GoldSentence, read_treebank

Gold = Callable[..., GoldSentence]


@pytest.fixture
def gold(tmp_path: Path) -> Gold:
    """A sentence from its text, a line "word tag head relation [enhanced]" for each word, and
    frames (predicate, [(first, last, label), ...])."""

    def make(
        text: str, lines: str, frames: Sequence[tuple[int, list[object]]] = ()
    ) -> GoldSentence:
        rows = []
        for number, line in enumerate(lines.strip().splitlines(), start=1):
            word, tag, head, relation, deps = [*line.split(), "_"][:5]
            rows.append(
                "\t".join(f"{number} {word} _ {tag} _ _ {head} {relation} {deps} _".split())
            )
        path = tmp_path / "gold.conllu"
        path.write_text("\n".join(["# sent_id = s", f"# text = {text}", *rows, ""]))
        record = {
            "sent_id": "s",
            "tokens": [""] * len(rows),
            "frames": [{"predicate": place, "arguments": found} for place, found in frames],
        }
        (tmp_path / "frames.jsonl").write_text(json.dumps(record))
        (sentence,) = read_treebank(path, tmp_path / "frames.jsonl" if frames else None)
        return sentence

    return make
