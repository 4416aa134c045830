"""From the data folder to training examples: the rewrites, and more sentences of lesser worth."""

import json
import logging
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from parataxis.rewrite.forms import key, lemmas
from parataxis.splitters.pointer.actions import closed_word
from parataxis.splitters.pointer.features import read_source
from parataxis.text.tokens import has_word, tokenize
from parataxis.training.pointer.examples import Example
from parataxis.training.pointer.targets import target_actions

__all__ = ["Pair", "make_examples", "noisy_pairs", "read_rewrites", "simple_sentences"]

log = logging.getLogger(__name__)

_LOST_AT_MOST = 2
_NEW_AT_MOST = 1
_SHORTEST = 5


@dataclass(frozen=True, slots=True)
class Pair:
    """A source and its simple sentences, as text; ``kind`` says where it comes from."""

    source: str
    simple: tuple[str, ...]
    kind: str


def read_rewrites(path: Path, kind: str) -> Iterator[Pair]:
    """The rewrites of a JSONL file with ``complex`` and ``simple``."""
    with path.open(encoding="utf-8") as lines:
        for line in lines:
            record = json.loads(line)
            yield Pair(record["complex"], tuple(record["simple"]), kind)


def simple_sentences(pairs: Iterable[Pair], every: int) -> Iterator[Pair]:
    """Every so many-th simple sentence of the rewrites: it should stay as it is."""
    sentences = (sentence for pair in pairs if len(pair.simple) > 1 for sentence in pair.simple)
    for number, sentence in enumerate(sentences):
        if number % every == 0 and len(sentence.split()) >= _SHORTEST:
            yield Pair(sentence, (sentence,), "simple")


def noisy_pairs(data: Path) -> Iterator[Pair]:
    """MinWiki and WikiSplit pairs that keep nearly all content words and add nearly none.

    The Wikipedia sources of the development rewrites come from WikiSplit: their pairs are left out.
    """
    held_out = read_rewrites(data / "rewrites" / "dev.jsonl", "dev")
    barred = {_letters(pair.source) for pair in held_out}
    for source, simple in (*_minwiki(data), *_wikisplit(data)):
        if len(simple) > 1 and _letters(source) not in barred and _is_faithful(source, simple):
            yield Pair(source, tuple(simple), "noisy")


def _letters(text: str) -> str:
    """Letters and digits alone: the same for a sentence however it was tokenised."""
    return "".join(filter(str.isalnum, text)).lower()


def _minwiki(data: Path) -> Iterator[tuple[str, list[str]]]:
    folder = data / "minwiki"
    with (
        (folder / "train.complex").open(encoding="utf-8") as sources,
        (folder / "train.simple").open(encoding="utf-8") as targets,
    ):
        for source, target in zip(sources, targets, strict=True):
            parts = [part.strip(" .") for part in target.strip().split(" . ")]
            yield source.strip(), [f"{part}." for part in parts if part]


def _wikisplit(data: Path) -> Iterator[tuple[str, list[str]]]:
    for name in ("tune", "validation"):
        with (data / "wikisplit" / f"{name}.tsv").open(encoding="utf-8") as lines:
            for line in lines:
                source, _, target = line.strip().partition("\t")
                yield _joined(source), [_joined(part) for part in target.split("<::::>")]


def _joined(tokens: str) -> str:
    """Penn Treebank tokens as running text."""
    text = tokens.strip().replace("``", '"').replace("''", '"')
    text = re.sub(r" ([,.;:%)\]!?])", r"\1", text)
    text = re.sub(r"([(\[$]) ", r"\1", text)
    text = re.sub(r" (n't|'(?:s|re|ve|ll|d|m))\b", r"\1", text)
    return re.sub(r'" ([^"]*?) ?"', r'"\1"', text)


def _is_faithful(source: str, simple: Sequence[str]) -> bool:
    have = Counter(_content(source))
    written = Counter(word for sentence in simple for word in _content(sentence))
    return (
        len(set(have) - set(written)) <= _LOST_AT_MOST
        and len(set(written) - set(have)) <= _NEW_AT_MOST
    )


def _content(text: str) -> Iterator[str]:
    for token in tokenize(text):
        word = key(token.text)
        if has_word(word) and closed_word(word) is None:
            yield min(lemmas(word))


def make_examples(pairs: Iterable[Pair]) -> Iterator[Example]:
    """Examples of the pairs that the model can write at all."""
    tried = made = 0
    for pair in pairs:
        tried += 1
        words = [token.text for token in tokenize(pair.source)]
        whole = pair.simple == (pair.source,)
        actions = target_actions(words, pair.simple, whole=whole)
        if actions is not None:
            made += 1
            yield Example(read_source(words), actions, pair.kind, pair.source)
    log.info("%d of %d pairs can be written", made, tried)
