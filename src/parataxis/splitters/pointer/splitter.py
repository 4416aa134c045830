"""The pointer splitter: the model proposes rewrites, the verifier and the checks choose."""

import re
from bisect import bisect
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from copy import copy
from itertools import accumulate, chain, islice, pairwise
from typing import Self, Unpack

from parataxis.checks import Checker
from parataxis.checks.checker import Verifying
from parataxis.checks.verifier import load_verifier
from parataxis.errors import InputError, TooLongError
from parataxis.rewrite.record import Level, Rewrite
from parataxis.splitters.pointer.actions import Features, read_source
from parataxis.splitters.pointer.choose import (
    CAUTION,
    NAME,
    SURE,
    SURELY_WHOLE,
    alternatives,
    blocking_findings,
    choose,
    claim_findings,
    whole_rewrite,
)
from parataxis.splitters.pointer.model import load_decoder, padded_width
from parataxis.splitters.pointer.search import Decoder, Found, search
from parataxis.splitters.registry import Attention
from parataxis.splitters.settings import SettingOptions, SplitSettings, broken_phrase
from parataxis.syntax.analyser import Analyser, Tokenized, load_trees
from parataxis.syntax.analysis import Analysis
from parataxis.syntax.onnx import threads, weights_named
from parataxis.syntax.wordpieces import MAX_PIECES
from parataxis.text.tokens import has_word, tokenize

WINDOW = 256
"""Sentences that are read ahead, so that batches of similar length can be made."""
BATCH = 32
"""Sources that are searched in one batch."""
_FEWEST = 4
"""Fewer sentences are not worth a thread of their own."""

BEAM, BEAMS = 4, range(1, 9)
"""The usual width of the beam, and the allowed ones."""

NO_SENTENCE = re.compile(
    r"(?:Subject|Re|From|To|Cc|Date):\s|>|.*;(?:\s+(?:and|or|and/or))?\s*\Z"
    r"|[a-z][^.!?…]*[^.!?…:\s\"'”’)\]]\s*\Z",
    re.DOTALL,
)
"""A header line of a message, a quoted reply, an item of a list that goes on after it, or one that
is no sentence: it begins small and has no stop."""

SURE_CLAIM = 0.6
"""The confidence from which a claim is split once more."""

LONGEST = 200
"""The longest sentence that is rewritten, in words."""


class PointerSplitter:
    """Rewrites a sentence with copies and inflections of its own words and with function words.

    ``beam`` is the number of hypotheses per source; ``verifying`` chooses among them and the source
    itself, by default with the shipped verifier. In strict mode a rewrite must be without any
    finding and have the confidence :data:`SURE`; otherwise only rewrites that lose, add or repeat
    something or change a relation are ruled out. ``confidence`` sets that line by hand. ``level``
    says how far to split.
    """

    name = NAME
    summary = "Copies the words of the source one by one, so it cannot add content words; checked."
    levels = tuple(Level)
    window = WINDOW

    def __init__(
        self,
        analyser: Analyser | None = None,
        decoder: Decoder | None = None,
        checker: Checker | None = None,
        verifying: Verifying | None = None,
        **options: Unpack[SettingOptions],
    ) -> None:
        self._analyser, self._decoder, self._checker = analyser, decoder, checker
        self._verifying = verifying
        self._is_ours = decoder is None and verifying is None
        self._is_second = False
        self._set(SplitSettings.given(**options))

    def _set(self, settings: SplitSettings) -> None:
        self.settings = settings
        self.beam = BEAM if settings.beam is None else settings.beam
        if self.beam not in BEAMS:
            raise InputError(f"The beam must be from {BEAMS[0]} to {BEAMS[-1]}, not {self.beam}.")

    def adjusted(self, settings: SplitSettings) -> Self:
        """A copy with other settings, which shares the models."""
        made = copy(self)
        made._set(self.settings.merged(settings))
        return made

    def __call__(self, sentence: str) -> Rewrite:
        return next(self.pipe([sentence]))

    def pipe(self, sentences: Iterable[str]) -> Iterator[Rewrite]:
        """Rewrite many sentences, in order and in batches."""
        stream = iter(sentences)
        with ThreadPoolExecutor(threads()) as pool:
            while window := list(islice(stream, self.window)):
                yield from self._in_parallel(window, pool)

    def _cut(self, whole: Rewrite, pool: ThreadPoolExecutor | None) -> Rewrite:
        """The rewrites of the parts of a sentence that is too long as a whole, or the sentence."""
        from parataxis.splitters.pointer.long import cut_long, joined

        parts = cut_long(whole.source, self._loaded_analyser().pipe)
        texts = [text for _, text in parts]
        if len(parts) < 2 or broken_phrase(self.settings.keep_phrases, whole.source, texts):
            return whole
        return joined(whole.source, [place for place, _ in parts], self._window(texts, pool))

    def alternatives(self, sentence: str) -> list[Rewrite]:
        """Every split of a sentence that a wide beam finds, also for a sentence that is left whole;
        none for one that is no sentence or too long."""
        words = [token.text for token in tokenize(sentence)]
        features = read_source(words, self.settings.level)
        if untouched(sentence, words, features) is not None:
            return []
        analysis = next(iter(self.analyse([Tokenized(sentence, tokenize(sentence))])))
        if not isinstance(analysis, Analysis):
            return []
        found = search(self._loaded_decoder(), [features], beam=BEAMS[-1], caution=CAUTION)[0]
        made = alternatives(
            analysis,
            found,
            self._loaded_checker(),
            self._loaded_verifier(),
            self.settings.level,
        )
        return [self._labelled(each) for each in made]

    def attention(self, sentence: str) -> Attention:
        """What the likeliest rewrite of a sentence pointed at, word by word, regardless of the
        checks and of the probability that the sentence stays whole."""
        from parataxis.splitters.pointer.attention import pointing

        words = [token.text for token in tokenize(sentence)]
        features = read_source(words, self.settings.level)
        if not words or untouched(sentence, words, features) is not None:
            raise InputError(f"A sentence must have 1 to {LONGEST} words, not {len(words)}.")
        decoder = self._loaded_decoder()
        found = search(decoder, [features], beam=self.beam, caution=CAUTION)[0]
        best = found.hypotheses[0].actions if found.hypotheses else ()
        return pointing(decoder, features, words, best)

    def _in_parallel(self, sentences: Sequence[str], pool: ThreadPoolExecutor) -> list[Rewrite]:
        """Rewrite sentences, each thread a share of them from reading to checks: while one of them
        is in Python, the others run models. A share has sentences of similar length."""
        count = min(threads(), len(sentences) // _FEWEST)
        if count < 2:
            return self._window(sentences, pool)
        self._loaded_decoder(), self._loaded_checker(), self._loaded_verifier()  # only once
        order = sorted(range(len(sentences)), key=lambda place: len(sentences[place]))
        sums = list(accumulate(len(sentences[place]) for place in order))
        cuts = [bisect(sums, sums[-1] * share / count) for share in range(1, count)]
        shares = [order[a:b] for a, b in pairwise([0, *cuts, len(order)])]
        found = pool.map(self._window, [[sentences[place] for place in each] for each in shares])
        made = dict(zip(chain(*shares), chain.from_iterable(found), strict=True))
        return [made[place] for place in range(len(sentences))]

    def _window(
        self, sentences: Sequence[str], pool: ThreadPoolExecutor | None = None
    ) -> list[Rewrite]:
        tokens = [tokenize(sentence) for sentence in sentences]
        words = [[token.text for token in each] for each in tokens]
        features = [read_source(each, self.settings.level) for each in words]
        rewrites = dict(enumerate(map(untouched, sentences, words, features)))
        readable = [place for place, rewrite in rewrites.items() if rewrite is None]
        for place, rewrite in rewrites.items():
            if rewrite is None or self.settings.strict:
                continue
            if is_too_long(words[place], features[place]):
                rewrites[place] = self._cut(rewrite, pool)
        founds = self.search([features[place] for place in readable])
        # A sentence that certainly stays whole need not be analysed.
        open_ones = [
            (place, found)
            for place, found in zip(readable, founds, strict=True)
            if found.whole < SURELY_WHOLE
        ]
        analyses = self.analyse(
            [Tokenized(sentences[place], tokens[place]) for place, _ in open_ones]
        )
        sources = [
            (place, analysis, found)
            for (place, found), analysis in zip(open_ones, analyses, strict=True)
            if isinstance(analysis, Analysis)
        ]
        least = self.settings.confidence
        if least is None:
            least = SURE if self.settings.strict else 0.0
        chosen = choose(
            [(analysis, found) for _, analysis, found in sources],
            self._loaded_checker(),
            self._loaded_verifier(),
            level=self.settings.level,
            strict=self.settings.strict,
            least=least,
            keep=self.settings.keep_phrases,
            pool=pool,
        )
        if self.settings.level is Level.ATOMIC and not self._is_second:
            chosen = self._again([analysis for _, analysis, _ in sources], chosen, pool)
        rewrites |= {place: each for (place, _, _), each in zip(sources, chosen, strict=True)}
        made = [
            rewrite or whole_rewrite(sentence)
            for sentence, rewrite in zip(sentences, rewrites.values(), strict=True)
        ]
        return [self._labelled(each) for each in made]

    def _again(
        self,
        analyses: Sequence[Analysis],
        rewrites: Sequence[Rewrite],
        pool: ThreadPoolExecutor | None,
    ) -> list[Rewrite]:
        """The rewrites with each claim split further that can surely be split."""
        from parataxis.rewrite.align import split_further

        claims = [
            (row, number)
            for row, rewrite in enumerate(rewrites)
            for number in range(len(rewrite.simple))
            if rewrite.is_split
        ]
        second = copy(self)
        second._is_second = True
        found = second._window([rewrites[row].simple[number] for row, number in claims], pool)
        waiting: dict[int, list[tuple[int, Rewrite]]] = defaultdict(list)
        for (row, number), more in zip(claims, found, strict=True):
            is_sure = more.is_split and (more.confidence or 0.0) >= SURE_CLAIM
            # "It rained." beside "Because it rained, ..." would say one thing twice.
            if is_sure and more.source not in more.simple:
                waiting[row].append((number, more))
        made = list(rewrites)
        blocking = blocking_findings(strict=self.settings.strict)
        while waiting:  # the last claim first, so that the numbers of the others stay
            tried = {row: split_further(made[row], *more.pop()) for row, more in waiting.items()}
            checked = self._loaded_checker().pipe(
                [(each.source, each.simple) for each in tried.values()],
                [each.provenance for each in tried.values()],
                [analyses[row] for row in tried],
            )
            for (row, each), findings in zip(tried.items(), checked, strict=True):
                own = claim_findings(analyses[row], each.provenance or (), findings)
                if blocking.isdisjoint(finding.kind for finding in own):
                    made[row] = each.model_copy(update={"findings": tuple(own)})
            waiting = {row: more for row, more in waiting.items() if more}
        return made

    def _labelled(self, rewrite: Rewrite) -> Rewrite:
        """The rewrite with the versions of the models in its record, and with the level, unless it
        is the usual one."""
        level = None if self.settings.level is Level.PLAIN else self.settings.level
        weights = weights_named("pointer", "verifier", "analyser") if self._is_ours else None
        return rewrite.model_copy(update={"level": level, "weights": weights})

    def analyse(self, sentences: Sequence[Tokenized]) -> Iterable[Analysis | TooLongError]:
        """Analyse sentences; the analyser remembers them for the checks."""
        return self._loaded_analyser().pipe(sentence.text for sentence in sentences)

    def search(self, features: Sequence[Features]) -> list[Found]:
        """Search for rewrites in batches of similar length; results are in the given order."""
        found: dict[int, Found] = {}
        for batch in width_batches(features):
            results = search(
                self._loaded_decoder(),
                [features[place] for place in batch],
                beam=self.beam,
                whole_from=SURELY_WHOLE,
                caution=CAUTION,
            )
            found.update(zip(batch, results, strict=True))
        return [found[place] for place in range(len(features))]

    def _loaded_analyser(self) -> Analyser:
        self._analyser = self._analyser or load_trees()
        return self._analyser

    def _loaded_decoder(self) -> Decoder:
        self._decoder = self._decoder or load_decoder()
        return self._decoder

    def _loaded_verifier(self) -> Verifying:
        self._verifying = self._verifying or load_verifier()
        return self._verifying

    def _loaded_checker(self) -> Checker:
        self._checker = self._checker or Checker(self._loaded_analyser())
        return self._checker


def width_batches(features: Sequence[Features]) -> list[list[int]]:
    """The indices of the sources in batches of one width each, sorted by length inside a batch."""
    by_width = defaultdict(list)
    for place in sorted(range(len(features)), key=lambda place: len(features[place].pieces.ids)):
        by_width[padded_width(len(features[place]))].append(place)
    batches = []
    for places in by_width.values():
        count = -(-len(places) // BATCH)
        batches += [
            places[len(places) * n // count : len(places) * (n + 1) // count] for n in range(count)
        ]
    return batches


def untouched(sentence: str, words: Sequence[str], features: Features) -> Rewrite | None:
    """The sentence itself if it has no words, is not a sentence, or is too long for the models;
    else None."""
    if not any(map(has_word, words)):
        return whole_rewrite(sentence)
    if NO_SENTENCE.match(sentence):
        return whole_rewrite(
            sentence, note="Left whole because it is a list item, a header line or a quoted reply."
        )
    if not is_too_long(words, features):
        return None
    return whole_rewrite(
        sentence,
        note=f"Left whole because it has {sum(map(has_word, words))} words "
        f"({len(features.pieces.ids)} word pieces), and only sentences of up to {LONGEST} words "
        f"({MAX_PIECES} word pieces) are rewritten; split it at a semicolon or a full stop first.",
    )


def is_too_long(words: Sequence[str], features: Features) -> bool:
    """Whether a sentence has too many words or word pieces for the models."""
    return sum(map(has_word, words)) > LONGEST or len(features.pieces.ids) > MAX_PIECES
