"""Training examples of the ranker: the candidates of a source as two prefix trees.

One is a tree of the teacher's tokens, one of the ranker's word pieces; each token belongs to a
piece, which has the teacher's log-probability of that token as a target.
"""

import logging
import os
import pickle
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer

from parataxis.checks.ranker import PrefixTree, Reading, prefix_tree, read, rewrite_pieces
from parataxis.errors import ParataxisError
from parataxis.lab.ranker.candidates import RankedSource, find_candidates, read_sources
from parataxis.syntax.onnx import THREADS_VARIABLE, threads
from parataxis.text.tokens import has_word, tokenize

log = logging.getLogger(__name__)

CHUNK = 256
"""The number of sources in one file of candidates."""

Ints = NDArray[np.int64]
Floats = NDArray[np.float32]


PROMPT = "Complex: {}\nSimple:\n"
"""The prompt; one simple sentence per line follows, then the end mark."""
TOKENIZER, KEPT = "tokenizer.json", "kept.npy"
_END = "<|im_end|>"
_BYTES = 256
"""The first tokens are single bytes, which can spell everything."""
_OFTEN = 2
"""Tokens that are rarer than this in the texts are spelt byte by byte."""


class TeacherTokens:
    """The teacher's tokenizer with a reduced vocabulary.

    Both files are in the teacher's folder: ``tokenizer.json`` and ``kept.npy``.
    """

    def __init__(self, folder: Path) -> None:
        self._tokenizer = Tokenizer.from_file(str(folder / TOKENIZER))
        old: NDArray[np.int64] = np.load(folder / KEPT)
        self._new = {token: place for place, token in enumerate(old.tolist())}
        self.end = self._new[self._tokenizer.token_to_id(_END)]

    def __call__(self, text: str) -> tuple[list[int], list[int]]:
        """The tokens of a text, and the offset at which each one ends."""
        encoding = self._tokenizer.encode(text, add_special_tokens=False)
        tokens: list[int] = []
        ends: list[int] = []
        for token, name, (_, end) in zip(
            encoding.ids, encoding.tokens, encoding.offsets, strict=True
        ):
            known = self._new.get(token)
            # The name of a token has one character for each of its bytes, which is itself a token.
            own = (
                [self._new[self._tokenizer.token_to_id(byte)] for byte in name]
                if known is None
                else [known]
            )
            tokens += own
            ends += [end] * len(own)
        return tokens, ends

    def batch(self, texts: Sequence[str]) -> list[list[int]]:
        """The tokens of many texts, on all cores."""
        found = []
        for text, encoding in zip(
            texts, self._tokenizer.encode_batch(list(texts), add_special_tokens=False), strict=True
        ):
            known = [self._new.get(token) for token in encoding.ids]
            found.append([token for token in known if token is not None])
            if len(found[-1]) < len(known):
                found[-1] = self(text)[0]
        return found

    def prompt(self, source: str) -> list[int]:
        """The tokens of the prompt for a source."""
        return self(PROMPT.format(source))[0]


def choose_vocabulary(folder: Path, texts: Sequence[str]) -> NDArray[np.int64]:
    """Choose the tokens that are kept, and write them into the teacher's folder."""
    reader = Tokenizer.from_file(str(folder / TOKENIZER))
    counts = np.zeros(reader.get_vocab_size(), dtype=np.int64)
    for start in range(0, len(texts), 1000):
        for encoding in reader.encode_batch(texts[start : start + 1000], add_special_tokens=False):
            np.add.at(counts, encoding.ids, 1)
    counts[:_BYTES] = counts[reader.token_to_id(_END)] = _OFTEN
    kept = np.flatnonzero(counts >= _OFTEN)
    np.save(folder / KEPT, kept)
    return kept


@dataclass
class RankerExample:
    """One source with its candidates, for the teacher and for the ranker."""

    source: RankedSource
    reading: Reading
    teacher: PrefixTree | None
    """None when the scores are known."""
    prompt: int
    """The number of nodes in the prompt, which come first in the teacher's tree."""
    pairs: Ints
    """(pairs, 2): a node of the teacher's tree, and the ranker's node that it belongs to."""
    weights: Floats
    """The weight of each pair: candidates that align a node differently share it."""
    scores: Floats | None = None
    """The teacher's log-probability of each candidate."""
    targets: Floats | None = None
    """The teacher's log-probability of each node of the ranker's tree."""

    def set_scores(self, logs: Floats) -> None:
        """Set scores and targets from the log-probabilities of the teacher's nodes."""
        if self.teacher is None:
            raise ParataxisError("The scores of this example are known already.")
        own = logs.copy()
        own[: self.prompt] = 0.0
        self.scores = np.array([own[path].sum() for path in self.teacher.paths], np.float32)
        self.targets = np.zeros(len(self.reading.tree), np.float32)
        np.add.at(self.targets, self.pairs[:, 1], own[self.pairs[:, 0]] * self.weights)
        self.teacher, self.pairs, self.weights = None, self.pairs[:0], self.weights[:0]


def make_example(source: RankedSource, tokens: TeacherTokens) -> RankerExample:
    """Build the trees of a source and align them."""
    prompt = tokens.prompt(source.complex)
    candidates = [candidate.simple for candidate in source.candidates]
    written = [tokens("\n".join(simple)) for simple in candidates]
    teacher = prefix_tree([[*prompt, *own, tokens.end] for own, _ in written])
    reading = read(source.complex, candidates)
    shares: Counter[tuple[int, int]] = Counter()
    passing: Counter[int] = Counter()
    for simple, (_, ends), teacher_path, path in zip(
        candidates, written, teacher.paths, reading.tree.paths, strict=True
    ):
        passing.update(path.tolist())
        slots = _slots(simple, ends)
        for node, slot in zip(teacher_path[len(prompt) :].tolist(), slots, strict=True):
            shares[node, int(path[slot])] += 1
    weights = [count / passing[own] for (_, own), count in shares.items()]
    return RankerExample(
        source,
        reading,
        teacher,
        len(prompt),
        np.array(list(shares), dtype=np.int64).reshape(-1, 2),
        np.array(weights, dtype=np.float32),
    )


def _slots(simple: Sequence[str], ends: Sequence[int]) -> list[int]:
    """The piece that each token of a rewrite belongs to: the last piece of its word, where the word
    is complete. The final punctuation belongs to the mark at the end of the sentence."""
    _, last_pieces = rewrite_pieces(simple)
    owner: list[int] = []
    for text, places in zip(simple, last_pieces, strict=True):
        words = tokenize(text)
        mark, own = places[-1], places[0]
        filled: list[int] = []
        for number, (word, place) in enumerate(zip(words, places[:-1], strict=True)):
            own = place
            if number == len(words) - 1 and not has_word(word.text):
                own = mark
            filled += [own] * (word.end - len(filled))
        owner += filled + [own] * (len(text) - len(filled)) + [mark]
    # The last line break stands for the end of the rewrite.
    return [owner[end - 1] for end in ends] + [owner[-1]]


def save_examples(examples: Sequence[RankerExample], path: Path) -> None:
    """Write examples; the file is complete or not there at all."""
    partial = path.with_suffix(".part")
    with partial.open("wb") as stream:
        pickle.dump([_small(each) for each in examples], stream, pickle.HIGHEST_PROTOCOL)
    partial.rename(path)


def _small(example: RankerExample) -> RankerExample:
    """The same with 16-bit numbers, which are enough for the trees and the vocabularies."""
    reading = example.reading
    return replace(
        example,
        reading=replace(
            reading,
            pieces=_short(reading.pieces),
            shapes=_short(reading.shapes),
            places=_short(reading.places),
            tree=_small_tree(reading.tree),
        ),
        teacher=None if example.teacher is None else _small_tree(example.teacher),
        pairs=_short(example.pairs),
    )


def _small_tree(tree: PrefixTree) -> PrefixTree:
    return PrefixTree(
        _short(tree.tokens),
        _short(tree.depth),
        _short(tree.end),
        tuple(_short(path) for path in tree.paths),
    )


def _short(numbers: Ints) -> Ints:
    short: Any = numbers.astype(np.uint16)
    return short  # type: ignore[no-any-return]


def load_examples(paths: Sequence[Path]) -> list[RankerExample]:
    """Read what :func:`save_examples` wrote."""
    found: list[RankerExample] = []
    for path in paths:
        with path.open("rb") as stream:
            found += pickle.load(stream)
    return found


def make_candidates(sources: Path, teacher: Path, output: Path, limit: int | None = None) -> None:
    """Find the candidates of all sources, in several processes; ``output`` has a file per chunk.

    Chunks that are there already are not made again.
    """
    output.mkdir(parents=True, exist_ok=True)
    lines = sources.read_text(encoding="utf-8").splitlines(keepends=True)[:limit]
    tasks = []
    for number, start in enumerate(range(0, len(lines), CHUNK)):
        part = output / f"{number:05}.jsonl"
        part.write_text("".join(lines[start : start + CHUNK]), encoding="utf-8")
        if not part.with_suffix(".pkl").exists():
            tasks.append((part, teacher))
    with ProcessPoolExecutor(threads(), initializer=_use_one_thread) as pool:
        made = sum(pool.map(_make_chunk, tasks))
    log.info("%d sources with candidates", made)


def _use_one_thread() -> None:
    os.environ[THREADS_VARIABLE] = "1"


def _make_chunk(task: tuple[Path, Path]) -> int:
    from parataxis.splitters.pointer.model import load_decoder
    from parataxis.syntax.analyser import load_trees

    part, teacher = task
    tokens = TeacherTokens(teacher)
    found = find_candidates(read_sources(part), load_decoder(), load_trees())
    examples = [make_example(source, tokens) for source in found]
    save_examples(examples, part.with_suffix(".pkl"))
    return len(examples)
