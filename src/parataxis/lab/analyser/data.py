"""The treebanks that the analyser learns from, in the folder layout of the project's data:
``ud/ewt-train.conllu.gz``, ``propbank/train.jsonl.gz`` and so on."""

import gzip
import json
import logging
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from parataxis.errors import InputError, TooLongError
from parataxis.evaluate.corpora.treebanks import GoldSentence, read_treebank
from parataxis.lab.training import choose_device
from parataxis.syntax.analysis import Analysis, Argument, Frame, Word
from parataxis.syntax.decoding import Labels
from parataxis.syntax.wordpieces import MAX_PIECES, Pieces, load_word_pieces, stack

log = logging.getLogger(__name__)

IGNORED = -100
"""The target of padding, which no loss counts."""

LONGEST = 600
"""Longer sentences (in characters) cost the student much time for few words."""


def gold_sentences(data: Path, treebank: str, part: str) -> Iterator[GoldSentence]:
    """Read ``treebank`` ("ewt", "gum") ``part`` ("train", "dev", "test") from the data folder."""
    path = data / "ud" / f"{treebank}-{part}.conllu.gz"
    if not path.exists():
        raise InputError(f"There is no treebank file {path}; pass the folder that holds ud/.")
    frames = data / "propbank" / f"{part}.jsonl.gz"
    # Only EWT has frames.
    return read_treebank(path, frames if treebank == "ewt" and frames.exists() else None)


def feature_bundle(feats: Iterable[tuple[str, str]]) -> str:
    """UD features as one label: "Number=Sing|Person=3"."""
    return "|".join(f"{name}={value}" for name, value in sorted(feats)) or "_"


def build_labels(sentences: Sequence[GoldSentence]) -> Labels:
    """The labels that occur; a role label that is seen fewer than five times is not learned."""
    words = [word for sentence in sentences for word in sentence.analysis]
    roles = Counter(
        argument.label
        for sentence in sentences
        for frame in sentence.analysis.frames
        for argument in frame.arguments
    )
    return Labels(
        upos=tuple(sorted({word.upos for word in words})),
        xpos=tuple(sorted({word.xpos for word in words})),
        feats=tuple(sorted({feature_bundle(word.feats.items()) for word in words})),
        deprels=tuple(sorted({word.deprel for word in words})),
        roles=tuple(sorted(label for label, count in roles.items() if count >= 5)),
    )


@dataclass(frozen=True)
class TreeExample:
    """One sentence: its pieces, and for each of its words the target of every head. ``roles`` pairs
    each predicate with its BIO tags; None where the sentence has no role annotation."""

    pieces: Pieces
    targets: dict[str, list[int]]
    roles: list[tuple[int, list[int]]] | None

    def __len__(self) -> int:
        return len(self.targets["heads"])


def make_examples(sentences: Sequence[GoldSentence], labels: Labels) -> list[TreeExample]:
    """Encode sentences; those too long for the encoder are left out."""
    index = {
        name: {label: number for number, label in enumerate(known)}
        for name, known in asdict(labels).items()
    }

    def targets(words: Analysis) -> dict[str, list[int]]:
        found = {
            "upos": [word.upos for word in words],
            "xpos": [word.xpos for word in words],
            "feats": [feature_bundle(word.feats.items()) for word in words],
            "deprels": [word.deprel for word in words],
        }
        numbers = {
            name: [index[name].get(each, IGNORED) for each in said] for name, said in found.items()
        }
        return {**numbers, "heads": [word.head + 1 for word in words]}

    encoded = load_word_pieces()([[w.text for w in s.analysis] for s in sentences])
    return [
        TreeExample(pieces, targets(s.analysis), _roles(s, index["roles"]) if s.has_roles else None)
        for s, pieces in zip(sentences, encoded, strict=True)
        if len(pieces.ids) <= MAX_PIECES
    ]


def _roles(sentence: GoldSentence, index: dict[str, int]) -> list[tuple[int, list[int]]]:
    found = []
    for frame in sentence.analysis.frames:
        tags = [0] * len(sentence.analysis)
        for argument in frame.arguments:
            if argument.label in index:
                first = 1 + 2 * index[argument.label]
                length = argument.last - argument.first
                tags[argument.first : argument.last + 1] = [first, *[first + 1] * length]
        found.append((frame.predicate, tags))
    return found


class TreeBatch:
    """Examples as padded tensors on one device."""

    def __init__(self, examples: Sequence[TreeExample], device: torch.device) -> None:
        def tensor(rows: Sequence[Sequence[int]], fill: int = 0) -> Tensor:
            return torch.from_numpy(stack(rows, fill)).to(device, non_blocking=True)

        self.pieces = tensor([e.pieces.ids for e in examples])
        self.shapes = tensor([e.pieces.shapes for e in examples])
        self.mask = tensor([[1] * len(e.pieces.ids) for e in examples])
        self.first = tensor([e.pieces.first for e in examples])
        self.targets = {
            name: tensor([e.targets[name] for e in examples], IGNORED)
            for name in examples[0].targets
        }
        self.present = self.targets["heads"] != IGNORED
        frames = [(row, at, tags) for row, e in enumerate(examples) for at, tags in e.roles or ()]
        self.rows = torch.tensor([row for row, _, _ in frames], dtype=torch.long, device=device)
        self.at = torch.tensor([at for _, at, _ in frames], dtype=torch.long, device=device)
        width = self.present.shape[1]
        tags = np.full((len(frames), width), IGNORED, dtype=np.int64)
        predicates = np.full((len(examples), width), IGNORED, dtype=np.int64)
        for row, example in enumerate(examples):
            if example.roles is not None:
                predicates[row, : len(example)] = 0
        for place, (row, at, sequence) in enumerate(frames):
            tags[place, : len(sequence)] = sequence
            predicates[row, at] = 1
        self.tags = torch.from_numpy(tags).to(device)
        self.predicates = torch.from_numpy(predicates).to(device)


def collect(data: Path, output: Path) -> None:
    """Write the sentences worth labelling, one a line: the sources and the simple sentences of
    the rewrites, contracts, encyclopaedia and essays, each sentence once."""
    found = {
        " ".join(sentence.split()): None
        for sentence in _sentences(data)
        if len(sentence) <= LONGEST
    }
    output.write_text("".join(f"{sentence}\n" for sentence in found), encoding="utf-8")
    log.info("%d sentences", len(found))


def _sentences(data: Path) -> Iterator[str]:
    with (data / "rewrites" / "train.jsonl").open(encoding="utf-8") as lines:
        for number, line in enumerate(lines):
            record = json.loads(line)
            yield record["complex"]
            if number % 5 == 0:  # short sentences are easy: a fifth of them is enough
                yield from record["simple"]
    with gzip.open(data / "contracts" / "sentences.txt.gz", "rt", encoding="utf-8") as lines:
        yield from lines
    for corpus, every in (("desse", 1), ("minwiki", 2)):
        with (data / corpus / "train.complex").open(encoding="utf-8") as lines:
            yield from (line for number, line in enumerate(lines) if number % every == 0)


def label(weights: Path, sentences: Path, output: Path) -> None:
    """Analyse the lines of ``sentences`` with trained weights and write them as silver data: one
    JSON object per line, gzipped."""
    from parataxis.lab.analyser.train import load_network, torch_analyser

    network, labels = load_network(weights)
    analyser = torch_analyser(network, labels, choose_device())
    lines = sentences.read_text(encoding="utf-8").splitlines()
    with gzip.open(output, "wt", encoding="utf-8") as stream:
        for analysis in analyser.pipe(lines):
            if isinstance(analysis, TooLongError) or not len(analysis):
                continue
            stream.write(json.dumps(_to_json(analysis), ensure_ascii=False) + "\n")


def read_silver(path: Path) -> Iterator[GoldSentence]:
    """Read what :func:`label` wrote."""
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        for number, line in enumerate(lines):
            record = json.loads(line)
            text = record["text"]
            words = [
                Word(index, text[start:end], start, end, upos, xpos, feats, head, deprel)
                for index, (start, end, upos, xpos, feats, head, deprel) in enumerate(
                    record["words"]
                )
            ]
            frames = [
                Frame(predicate, tuple(Argument(*argument) for argument in arguments))
                for predicate, arguments in record["frames"]
            ]
            analysis = Analysis(text, words, frames)
            yield GoldSentence(analysis, f"silver-{number}", True, has_roles=True)


def _to_json(analysis: Analysis) -> dict[str, object]:
    return {
        "text": analysis.text,
        "words": [
            (w.start, w.end, w.upos, w.xpos, dict(w.feats), w.head, w.deprel) for w in analysis
        ],
        "frames": [
            (f.predicate, [(a.first, a.last, a.label) for a in f.arguments])
            for f in analysis.frames
        ],
    }
