"""The sequence-to-sequence splitters of Aharoni and Goldberg (2018), plain and copying, and the
folder of a trained model that they run: two ONNX graphs, the words, and a description."""

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, fields
from itertools import islice, pairwise
from pathlib import Path
from typing import Self

import numpy as np
from numpy.typing import NDArray

from parataxis.errors import InputError, ParataxisError
from parataxis.lab.lstm.search import (
    BEAM,
    PAD,
    SPLIT,
    UNKNOWN,
    Arrays,
    LstmHypothesis,
    Step,
    Vocabulary,
    search,
    tokens_of,
    words_of,
)
from parataxis.rewrite.compose import left_whole
from parataxis.rewrite.record import Origin, OutputToken, Rewrite
from parataxis.splitters.registry import Attention
from parataxis.splitters.settings import SplitSettings
from parataxis.syntax.onnx import Model, OnnxModel, threads
from parataxis.syntax.wordpieces import stack
from parataxis.text.tokens import Token

ENCODER, DECODER = "encoder.onnx", "decoder.onnx"
DESCRIPTION, WORDS = "lstm.json", "words.txt"
VERSION = 1
"""The version of the files in a model's folder."""

SENTENCES, TRIPLES = "sentences", "triples"
"""What a model reads."""


@dataclass(frozen=True)
class LstmDescription:
    """What a model is, stored beside it as ``lstm.json``."""

    copies: bool
    feeds: bool
    """Whether a step is fed the last attentional state, besides the last word."""
    width: int
    words: int
    reads: str
    configuration: str
    version: int = VERSION

    def write(self, path: Path) -> None:
        path.write_text(json.dumps(asdict(self), indent=1) + "\n", encoding="utf-8")

    @classmethod
    def read(cls, folder: Path) -> "LstmDescription":
        """The description in a folder, if it is one of this version."""
        if not folder.is_dir():
            raise ParataxisError(f"{folder} is not a folder; name the folder of a trained model.")
        path = folder / DESCRIPTION
        if not path.is_file():
            raise ParataxisError(f"There is no model in {folder}: {DESCRIPTION} is missing.")
        try:
            stored = json.loads(path.read_text(encoding="utf-8"))
            version = stored["version"]
        except (ValueError, KeyError, TypeError) as error:
            raise ParataxisError(f"{path} is damaged; export the model again.") from error
        names = {field.name for field in fields(cls)}
        if version != VERSION or set(stored) != names:
            raise ParataxisError(
                f"The model in {folder} has version {version}, and this version of Parataxis reads "
                f"version {VERSION}; export it again."
            )
        return cls(**stored)


@dataclass
class LoadedModel:
    """A model that is ready to write."""

    description: LstmDescription
    vocabulary: Vocabulary
    decoder: "GraphDecoder"


def open_model(folder: Path) -> LoadedModel:
    """The model in a folder; :class:`ParataxisError` where it is not there or does not fit."""
    description = LstmDescription.read(folder)
    for name in (ENCODER, DECODER, WORDS):
        if not (folder / name).is_file():
            raise ParataxisError(f"The model in {folder} is incomplete: {name} is missing.")
    vocabulary = Vocabulary.load(folder / WORDS)
    if len(vocabulary) != description.words:
        raise ParataxisError(
            f"{folder / WORDS} has {len(vocabulary):,} words with the marks, and the model was "
            f"trained with {description.words:,}; export it again."
        )
    try:
        encoder, decoder = OnnxModel(folder / ENCODER), OnnxModel(folder / DECODER)
    except Exception as error:  # onnxruntime names no error for a file that is not a graph
        raise ParataxisError(f"A graph in {folder} is damaged; export the model again.") from error
    unused = [] if description.feeds else ["fed"]
    unused += [] if description.copies else ["source"]
    graphs = GraphDecoder(encoder, decoder, description.words, unused)
    return LoadedModel(description, vocabulary, graphs)


class GraphDecoder:
    """An encoder and a decoder, in onnxruntime or torch, behind the interface of the search.

    An ONNX graph has no inputs that it does not use; ``unused`` names those of the decoder.
    """

    def __init__(
        self, encoder: Model, decoder: Model, words: int, unused: Sequence[str] = ()
    ) -> None:
        self._encoder, self._decoder, self._words, self._unused = encoder, decoder, words, unused

    def read(self, sources: Sequence[Sequence[int]], beam: int) -> tuple[Arrays, Arrays]:
        """Read the sources one by one, so that padding does not affect them."""
        numbers = stack(sources, PAD)
        known = [np.array([n if n < self._words else UNKNOWN for n in each]) for each in sources]
        found = [self._encoder({"words": each[None]}) for each in known]
        memory = {"source": numbers, "hidden": numbers == PAD}
        for name in ("memory", "keys"):
            padded = np.zeros((*numbers.shape, found[0][name].shape[2]), dtype=np.float32)
            for row, each in enumerate(found):
                padded[row, : each[name].shape[1]] = each[name][0]
            memory[name] = padded
        state = {
            name: np.repeat(np.concatenate([each[name] for each in found])[:, None], beam, axis=1)
            for name in ("state", "cell")
        }
        return memory, {**state, "fed": np.zeros_like(state["state"])}

    def step(self, memory: Arrays, state: Arrays, previous: NDArray[np.int64]) -> Step:
        inputs = {**memory, **state, "previous": previous}
        found = self._decoder({n: each for n, each in inputs.items() if n not in self._unused})
        states = {name: found[f"next_{name}"] for name in ("state", "cell", "fed")}
        return Step(found["words"], found["logs"], found["attention"], states)


_HUGS_LAST = re.compile(r"[,;:.!?%)\]}”»…]+|n['’]t|['’](s|re|ve|ll|d|m)?", re.IGNORECASE)
_HUGS_NEXT = frozenset("([{“«‘$£€¥#")
_JOINS = frozenset("-–/")


@dataclass(frozen=True, slots=True)
class Written:
    """A word of the output, and the source word (by index) with the same spelling that the model
    attended to most when it wrote it, if there is one."""

    text: str
    place: int | None


def written(
    hypothesis: LstmHypothesis, source: Sequence[str], vocabulary: Vocabulary
) -> list[list[Written]]:
    """The words of each simple sentence."""
    sentences: list[list[Written]] = [[]]
    spelled = vocabulary.spell(hypothesis.words, source)
    for number, word, attention in zip(
        hypothesis.words, spelled, hypothesis.attention, strict=True
    ):
        if number == SPLIT:
            sentences.append([])
            continue
        places = [place for place, other in enumerate(source) if other == word]
        place = max(places, key=lambda each: attention[each]) if places else None
        sentences[-1].append(Written(word, place))
    return [sentence for sentence in sentences if sentence]


def compose(
    words: Sequence[Written], source: str, tokens: Sequence[Token]
) -> tuple[str, tuple[OutputToken, ...]]:
    """A simple sentence and the origin of its words.

    Where the source has a space between any two tokens, as tokenised corpora do, so has the
    output. Else words that are neighbours in the source keep the text between them, and other
    spaces follow the usual rules.
    """
    is_spaced = len(tokens) > 1 and all(a.end < b.start for a, b in pairwise(tokens))
    text, output, quotes = "", [], 0
    for place, word in enumerate(words):
        if place:
            last = words[place - 1]
            text += " " if is_spaced else _gap(last, word, source, tokens, quotes)
        quotes += word.text == '"'
        start = len(text)
        text += word.text
        span = None
        if word.place is not None:
            token = tokens[word.place]
            span = token.start, token.end
        origin = Origin.INSERTED if span is None else Origin.COPIED
        output.append(
            OutputToken(text=word.text, start=start, end=len(text), origin=origin, source=span)
        )
    return text, tuple(output)


def _gap(left: Written, right: Written, source: str, tokens: Sequence[Token], quotes: int) -> str:
    """The text between two words; ``quotes`` is how many straight ones came before."""
    if left.place is not None and right.place == left.place + 1:
        return source[tokens[left.place].end : tokens[right.place].start]
    if _HUGS_LAST.fullmatch(right.text) or left.text in _HUGS_NEXT:
        return ""
    if right.text in _JOINS or left.text in _JOINS:
        return ""
    is_open = bool(quotes % 2)
    if (left.text == '"' and is_open) or (right.text == '"' and is_open):
        return ""
    return " "


BATCH = 16
"""Sources that are searched side by side."""
LONGEST = 250
"""Words of the longest sentence that is rewritten."""


class Seq2SeqSplitter:
    """SEQ2SEQ of Aharoni and Goldberg (2018), §2: writes words of its vocabulary only.

    The model is that of ``folder``, which ``parataxis train seq2seq`` makes; it is loaded on first
    use. What it cannot spell it writes as ``<unk>``.
    """

    name = "seq2seq"
    summary = "Seq2seq of Aharoni and Goldberg (2018), not copying; needs a model: seq2seq:DIR."
    _copies = False

    def __init__(self, folder: Path | None = None, *, beam: int = BEAM) -> None:
        if not 1 <= beam <= BEAM:
            raise InputError(f"The beam must be from 1 to {BEAM}, not {beam}.")
        self.folder, self.beam = folder, beam
        self._loaded: LoadedModel | None = None

    def opened(self, folder: Path) -> Self:
        """The same splitter with the model of a folder, which is loaded now."""
        splitter = type(self)(folder, beam=self.beam)
        splitter._model()
        return splitter

    def adjusted(self, settings: SplitSettings) -> Self:
        """The same splitter with another beam; strictness is left to the caller, which keeps a
        source whole if a check faults its rewrite."""
        beam = self.beam if settings.beam is None else settings.beam
        splitter = type(self)(self.folder, beam=beam)
        splitter._loaded = self._loaded
        return splitter

    def __call__(self, sentence: str) -> Rewrite:
        return next(self.pipe([sentence]))

    def pipe(self, sentences: Iterable[str]) -> Iterator[Rewrite]:
        """Rewrite many sentences, in order; those of similar length are searched together."""
        stream = iter(sentences)
        with ThreadPoolExecutor(threads()) as pool:
            while window := list(islice(stream, 4 * BATCH * threads())):
                yield from self._window(window, pool)

    def attention(self, sentence: str) -> Attention:
        """What the best rewrite of a sentence attended to, word by word."""
        words = words_of(sentence)
        if not 0 < len(words) <= LONGEST:
            raise InputError(f"A sentence must have 1 to {LONGEST} words, not {len(words)}.")
        vocabulary = self._model().vocabulary
        best = search(self._model().decoder, [vocabulary.read(words)], beam=self.beam)[0][0]
        spelled = vocabulary.spell(best.words, words)
        return Attention(tuple(words), tuple(spelled), best.attention)

    def _window(self, sentences: Sequence[str], pool: ThreadPoolExecutor) -> list[Rewrite]:
        tokens = [tokens_of(sentence) for sentence in sentences]
        readable = [place for place, each in enumerate(tokens) if 0 < len(each) <= LONGEST]
        readable.sort(key=lambda place: len(tokens[place]))
        batches = [readable[start : start + BATCH] for start in range(0, len(readable), BATCH)]
        model = self._model()

        def found(batch: Sequence[int]) -> list[list[LstmHypothesis]]:
            numbers = [
                model.vocabulary.read([token.text for token in tokens[place]]) for place in batch
            ]
            return search(model.decoder, numbers, beam=self.beam)

        best = {
            place: hypotheses[0]
            for batch, results in zip(batches, pool.map(found, batches), strict=True)
            for place, hypotheses in zip(batch, results, strict=True)
        }
        return [
            self._rewrite(sentence, tokens[place], best.get(place))
            for place, sentence in enumerate(sentences)
        ]

    def _rewrite(
        self, sentence: str, tokens: Sequence[Token], best: LstmHypothesis | None
    ) -> Rewrite:
        if best is None:
            note = f"Left whole because it has {len(tokens)} words, and at most {LONGEST} are read."
            return left_whole(sentence, splitter=self.name, note=note)
        words = written(best, [token.text for token in tokens], self._model().vocabulary)
        if not words:
            note = "Left whole because the model wrote nothing."
            return left_whole(sentence, splitter=self.name, note=note)
        composed = [compose(each, sentence, tokens) for each in words]
        return Rewrite(
            source=sentence,
            simple=tuple(text for text, _ in composed),
            splitter=self.name,
            provenance=tuple(origins for _, origins in composed) if self._copies else None,
            note=None if best.is_finished else "The model did not come to an end and was stopped.",
        )

    def _model(self) -> LoadedModel:
        if self._loaded is None:
            self._loaded = self._open()
        return self._loaded

    def _open(self) -> LoadedModel:
        if self.folder is None:
            raise ParataxisError(
                f'The splitter "{self.name}" ships no model; train one with `parataxis train '
                f'{self.name}` and name its folder: "{self.name}:DIR".'
            )
        model = open_model(self.folder)
        found = model.description
        if found.reads != SENTENCES:
            raise ParataxisError(
                f"The model in {self.folder} reads {found.reads}, not sentences; see docs/lstm.md "
                "for how to use it."
            )
        if found.copies != self._copies:
            other = "copynet" if found.copies else "seq2seq"
            raise ParataxisError(
                f'The model in {self.folder} belongs to the splitter "{other}"; name it as '
                f'"{other}:{self.folder}".'
            )
        return model


class CopySplitter(Seq2SeqSplitter):
    """COPY of Aharoni and Goldberg (2018), §4: can also copy any word of the source.

    The record has the source position of each word that occurs in the source, by the attention.
    """

    name = "copynet"
    summary = "Copying seq2seq of Aharoni and Goldberg (2018); needs a model: copynet:DIR."
    _copies = True
