"""The treebanks that the analyser learns from, in the folder layout of the project's data:
``ud/ewt-train.conllu.gz``, ``propbank/train.jsonl.gz`` and so on."""

from collections.abc import Iterator
from pathlib import Path

from parataxis.corpora.treebanks import GoldSentence, read_treebank
from parataxis.errors import InputError

__all__ = ["GoldSentence", "gold_sentences"]


def gold_sentences(data: Path, treebank: str, part: str) -> Iterator[GoldSentence]:
    """Read ``treebank`` ("ewt", "gum") ``part`` ("train", "dev", "test") from the data folder."""
    path = data / "ud" / f"{treebank}-{part}.conllu.gz"
    if not path.exists():
        raise InputError(f"There is no treebank file {path}; pass the folder that holds ud/.")
    frames = data / "propbank" / f"{part}.jsonl.gz"
    # Only EWT has frames.
    return read_treebank(path, frames if treebank == "ewt" and frames.exists() else None)
