"""The sequence-to-sequence splitters of Aharoni and Goldberg (2018), plain and copying."""

import re
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import islice, pairwise
from pathlib import Path
from typing import Self

from parataxis.errors import InputError, ParataxisError
from parataxis.lab.lstm.model import SENTENCES, LoadedModel, open_model
from parataxis.lab.lstm.search import BEAM, SPLIT, LstmHypothesis, Vocabulary, search, words_of
from parataxis.rewrite.compose import left_whole
from parataxis.rewrite.record import Origin, OutputToken, Rewrite
from parataxis.splitters.registry import Attention
from parataxis.syntax.onnx import threads
from parataxis.text.tokens import Token, tokenize

_HUGS_LAST = re.compile(r"[,;:.!?%)\]}”»…]+|n['’]t|['’](s|re|ve|ll|d|m)?", re.IGNORECASE)
_HUGS_NEXT = frozenset("([{“«‘$£€¥#")
_JOINS = frozenset("-–/")


@dataclass(frozen=True, slots=True)
class Written:
    """A word of the output, and the source word (by index) with the same spelling that the model
    attended to most when it wrote it, if there is one."""

    text: str
    place: int | None

    def elsewhere(self) -> "Written":
        """The same word, where the sentence to compose is not the one that it was read in."""
        return Written(self.text, None)


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

    def adjusted(self, *, beam: int | None = None, strict: bool = False) -> Self:
        """The same splitter with another beam; strictness is left to the caller, which keeps a
        source whole if a check faults its rewrite."""
        splitter = type(self)(self.folder, beam=self.beam if beam is None else beam)
        splitter._loaded = self._loaded
        return splitter

    def __call__(self, sentence: str) -> Rewrite:
        """Rewrite one sentence."""
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
        tokens = [tokenize(sentence) for sentence in sentences]
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
        if model.description.reads != SENTENCES:
            raise ParataxisError(
                f"The model in {self.folder} reads {model.description.reads}, not sentences; see "
                "docs/lstm.md for how to use it."
            )
        if model.description.copies != self._copies:
            other = "copynet" if model.description.copies else "seq2seq"
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
