"""What the pointer model points at, word by word: the rewrite is walked through once more, and the
distribution over the source is taken down at each step. The search itself knows nothing of it."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from parataxis.checks import Checker
from parataxis.errors import InputError, TooLongError
from parataxis.rewrite.forms import form_of, key
from parataxis.rewrite.record import Rewrite
from parataxis.splitters.pointer.actions import (
    CLOSED,
    CLOSED_WORDS,
    COPY,
    END,
    FORM_NAMES,
    FORMS,
    NEXT,
    WHOLE,
    Features,
    read_source,
)
from parataxis.splitters.pointer.choose import (
    NAME,
    choose,
    search_until,
    whole_rewrite,
)
from parataxis.splitters.pointer.model import load_decoder, padded_width
from parataxis.splitters.pointer.search import Decoder, Found, Place, search
from parataxis.splitters.registry import SPLIT_MARK, Attention
from parataxis.syntax.analyser import Analyser, Tokenized, load_trees
from parataxis.syntax.analysis import Analysis
from parataxis.syntax.onnx import threads
from parataxis.syntax.wordpieces import MAX_PIECES
from parataxis.text.tokens import has_word, tokenize

_NEVER = -1e9


def pointing(
    decoder: Decoder, features: Features, words: Sequence[str], actions: Sequence[int]
) -> Attention:
    """How likely each word of the source was to be pointed at when each output word was written.

    A word in another form has the row of the word that it was made of.
    """
    guided = _Guided(decoder, (*actions, END), len(words))
    search(guided, [features], beam=1)
    spelled: list[str] = []
    rows: list[NDArray[np.float32]] = []
    for action, row in zip(actions, guided.rows, strict=False):
        if FORMS <= action < CLOSED:
            spelled[-1] = form_of(key(spelled[-1]), FORM_NAMES[action - FORMS]) or spelled[-1]
            continue
        spelled.append(_spelling(action, words))
        rows.append(row)
    weights = np.array(rows, dtype=np.float32).reshape(len(rows), len(words))
    return Attention(tuple(words), tuple(spelled), weights)


def _spelling(action: int, words: Sequence[str]) -> str:
    if action == NEXT:
        return SPLIT_MARK
    return words[action - COPY] if action >= COPY else CLOSED_WORDS[action - CLOSED]


class _Guided:
    """A decoder that goes one way only, whatever it finds likely, and remembers what it pointed
    at. So the search moves it exactly as it did when it found that way."""

    def __init__(self, decoder: Decoder, actions: Sequence[int], words: int) -> None:
        self._decoder, self._words = decoder, words
        self._actions: Iterator[int] = iter(actions)
        self.rows: list[NDArray[np.float32]] = []

    def read(self, sources: Sequence[Features]) -> tuple[Any, int, tuple[int, int]]:
        """Read the source."""
        return self._decoder.read(sources)

    def step(self, memory: Any, place: Place) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """Allow for the next action of the way, and no other."""
        logs, recurrent = self._decoder.step(memory, place)
        self.rows.append(_chances(logs[0, 0])[COPY : COPY + self._words])
        only = np.full_like(logs, _NEVER)
        only[:, :, next(self._actions)] = 0.0
        return only, recurrent


def _chances(logs: NDArray[np.float32]) -> NDArray[np.float32]:
    """How likely the actions are, given that the source does not stay whole."""
    others = logs.astype(np.float64)
    others[WHOLE] = -np.inf
    found = np.exp(others - others.max())
    shares: NDArray[np.float32] = (found / found.sum()).astype(np.float32)
    return shares


# The pointer splitter: searches rewrites of sentences, and lets the checks choose.

WINDOW = 256
"""Sentences that are read ahead: the more, the more of them have the same length."""
BATCH = 32
"""Sources that are searched side by side."""
_FEWEST = 8
"""Smaller batches are not worth a thread of their own."""

BEAMS = range(1, 9)
"""How many hypotheses may be followed."""

CAUTION = 1.5
"""What each new sentence costs a hypothesis, in log-probability. Raters preferred it to 0 and 3."""

LONGEST = 200
"""Words of the longest sentence that is rewritten."""


class PointerSplitter:
    """Rewrites a sentence with copies and inflections of its own words and with function words.

    ``beam`` hypotheses are followed for each source. In strict mode no rewrite with any finding of
    the checks is taken, and none that is not sure; else only what loses, adds or repeats something,
    changes a relation, or is most likely wrong is ruled out.
    """

    name = NAME
    summary = "Copies the words of the source one by one, so it cannot add content words; checked."

    def __init__(
        self,
        analyser: Analyser | None = None,
        decoder: Decoder | None = None,
        checker: Checker | None = None,
        *,
        beam: int = 4,
        strict: bool = False,
    ) -> None:
        if beam not in BEAMS:
            raise InputError(f"The beam must be from {BEAMS[0]} to {BEAMS[-1]}, not {beam}.")
        self._analyser, self._decoder, self._checker = analyser, decoder, checker
        self.beam, self.strict = beam, strict

    def adjusted(self, *, beam: int | None = None, strict: bool = False) -> "PointerSplitter":
        """The same splitter with another beam, or strict."""
        return PointerSplitter(
            self._analyser,
            self._decoder,
            self._checker,
            beam=self.beam if beam is None else beam,
            strict=self.strict or strict,
        )

    def __call__(self, sentence: str) -> Rewrite:
        """Rewrite one sentence."""
        return next(self.pipe([sentence]))

    def pipe(self, sentences: Iterable[str]) -> Iterator[Rewrite]:
        """Rewrite many sentences, in order; several are read, searched and checked at once."""
        stream = iter(sentences)
        with ThreadPoolExecutor(threads()) as pool:
            while window := list(islice(stream, self.window)):
                yield from self._window(window, pool)

    @property
    def window(self) -> int:
        """How many sentences are read, searched and checked side by side."""
        return WINDOW

    def attention(self, sentence: str) -> Attention:
        """What the likeliest rewrite of a sentence pointed at, word by word. It is that of the
        model alone: neither the checks nor the chance that the sentence stays whole are asked."""
        words = [token.text for token in tokenize(sentence)]
        features = read_source(words)
        if not words or untouched(sentence, words, features) is not None:
            raise InputError(f"A sentence must have 1 to {LONGEST} words, not {len(words)}.")
        decoder = self._loaded_decoder()
        found = search(decoder, [features], beam=self.beam, caution=CAUTION)[0]
        best = found.hypotheses[0].actions if found.hypotheses else ()
        return pointing(decoder, features, words, best)

    def _window(self, sentences: Sequence[str], pool: ThreadPoolExecutor) -> list[Rewrite]:
        tokens = [tokenize(sentence) for sentence in sentences]
        words = [[token.text for token in each] for each in tokens]
        features = [read_source(each) for each in words]
        rewrites = dict(enumerate(map(untouched, sentences, words, features)))
        readable = [place for place, rewrite in rewrites.items() if rewrite is None]
        founds = self.search([features[place] for place in readable], pool)
        # What surely stays whole need not be analysed.
        open_ones = [
            (place, found)
            for place, found in zip(readable, founds, strict=True)
            if found.whole < search_until(len(words[place]))
        ]
        analyses = self.analyse(
            [Tokenized(sentences[place], tokens[place]) for place, _ in open_ones]
        )
        sources = [
            (place, analysis, found)
            for (place, found), analysis in zip(open_ones, analyses, strict=True)
            if isinstance(analysis, Analysis)
        ]
        chosen = choose(
            [(analysis, found) for _, analysis, found in sources],
            self._loaded_checker(),
            strict=self.strict,
        )
        rewrites |= {place: each for (place, _, _), each in zip(sources, chosen, strict=True)}
        return [
            rewrite or whole_rewrite(sentence)
            for sentence, rewrite in zip(sentences, rewrites.values(), strict=True)
        ]

    def analyse(self, sentences: Sequence[Tokenized]) -> Iterable[Analysis | TooLongError]:
        """Analyse sentences; those who ask for the same ones again find them remembered."""
        return self._loaded_analyser().pipe(sentence.text for sentence in sentences)

    def search(self, features: Sequence[Features], pool: ThreadPoolExecutor) -> list[Found]:
        """Search in batches of similar length, which waste the least; the order is kept."""
        if not features:
            return []
        decoder = self._loaded_decoder()
        batches = _batches(features)

        def found(batch: Sequence[int]) -> list[Found]:
            sources = [features[place] for place in batch]
            return search(
                decoder, sources, beam=self.beam, whole_from=search_until, caution=CAUTION
            )

        by_place = {
            place: each
            for batch, results in zip(batches, pool.map(found, batches), strict=True)
            for place, each in zip(batch, results, strict=True)
        }
        return [by_place[place] for place in range(len(features))]

    def _loaded_analyser(self) -> Analyser:
        if self._analyser is None:
            self._analyser = load_trees()
        return self._analyser

    def _loaded_decoder(self) -> Decoder:
        if self._decoder is None:
            self._decoder = load_decoder()
        return self._decoder

    def _loaded_checker(self) -> Checker:
        if self._checker is None:
            self._checker = Checker(self._loaded_analyser())
        return self._checker


def _batches(features: Sequence[Features]) -> list[list[int]]:
    """The places of the sources in batches of one width each, the longest first, so that threads
    end together; inside, those of equal length are neighbours."""
    size = min(BATCH, max(_FEWEST, -(-len(features) // threads())))
    by_width = defaultdict(list)
    for place in sorted(range(len(features)), key=lambda place: len(features[place].pieces.ids)):
        by_width[padded_width(len(features[place]))].append(place)
    batches = []
    for _, places in sorted(by_width.items(), reverse=True):
        count = -(-len(places) // size)
        batches += [
            places[len(places) * n // count : len(places) * (n + 1) // count] for n in range(count)
        ]
    return batches


def untouched(sentence: str, words: Sequence[str], features: Features) -> Rewrite | None:
    """The sentence itself, where there is nothing to rewrite or it is too long for the models."""
    spoken = sum(map(has_word, words))
    if not spoken:
        return whole_rewrite(sentence)
    pieces = len(features.pieces.ids)
    if spoken <= LONGEST and pieces <= MAX_PIECES:
        return None
    return whole_rewrite(
        sentence,
        note=f"Left whole because it has {spoken} words ({pieces} word pieces), and only sentences "
        f"of up to {LONGEST} words ({MAX_PIECES} word pieces) are rewritten; split it at a "
        "semicolon or a full stop first.",
    )
