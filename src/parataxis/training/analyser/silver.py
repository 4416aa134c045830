"""Silver data: sentences that a larger, slower analyser (the teacher) has labelled.

One JSON object a line, gzipped. The student reads them as it reads treebank sentences.
"""

import gzip
import json
import logging
from collections.abc import Iterator
from pathlib import Path

from parataxis.errors import TooLongError
from parataxis.syntax.analysis import Analysis, Argument, Frame, Word
from parataxis.training.analyser.treebank import GoldSentence

__all__ = ["collect", "label", "read_silver"]

log = logging.getLogger(__name__)

LONGEST = 600
"""Longer sentences (in characters) cost the student much time for few words."""


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
    """Analyse the lines of ``sentences`` with trained weights and write them as silver data."""
    import torch

    from parataxis.syntax.analyser import Analyser
    from parataxis.training.analyser.train import TorchModel, load_network

    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    network, labels = load_network(weights)
    analyser = Analyser(TorchModel(network.to(device), device), labels)
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
