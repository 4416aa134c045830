"""Where the words of rewrites come from, for rewrites without provenance (references, outputs of
other systems) and for those with a sentence that was rewritten again."""

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from functools import cached_property

from parataxis.rewrite.forms import key, lemmas
from parataxis.rewrite.record import Origin, OutputToken, Rewrite
from parataxis.text.tokens import tokenize

# A jump costs more than any number of skipped words, so that runs stay together; a jump back costs
# more than one forward, so that a repeated word is taken from the clause that is being copied.
_FORWARD = 1.0
_BACK = 1.5
_PER_WORD = 1e-6
_MOST = 50_000
"""Candidates of a sentence among which the best path is searched. An ordinary sentence has
hundreds; one word that is repeated a thousand times has a million."""


def align(source: str, simple: Sequence[str]) -> tuple[tuple[OutputToken, ...], ...]:
    """The origin of every token of the simple sentences.

    A token is copied if the source has the same word, inflected if it has another form of it, and
    inserted otherwise. Of several places in the source, the one that continues a copied run is
    chosen, then the next one to the right.

    >>> [(t.text, t.origin.value, t.source) for t in align("Ann, serving tea, fell.",
    ...     ["Ann served tea."])[0]][:2]
    [('Ann', 'copied', (0, 3)), ('served', 'inflected', (5, 12))]
    """
    words = _SourceWords(source)
    return tuple(_align_sentence(sentence, words) for sentence in simple)


class _SourceWords:
    """The words of a source and their places, by spelling and by lemma."""

    def __init__(self, source: str) -> None:
        self.tokens = tokenize(source)
        self.places: dict[str, list[int]] = {}
        for index, token in enumerate(self.tokens):
            self.places.setdefault(key(token.text), []).append(index)

    @cached_property
    def _places_by_lemma(self) -> Mapping[str, list[int]]:
        """Built only for a word that is not a plain copy."""
        by_lemma: dict[str, list[int]] = {}
        for word, places in self.places.items():
            for lemma in lemmas(word):
                by_lemma.setdefault(lemma, []).extend(places)
        return by_lemma

    def places_of_forms(self, word: str) -> list[int]:
        if not any(map(str.isalpha, word)):
            return []
        by_lemma = self._places_by_lemma
        return sorted({i for lemma in lemmas(word) for i in by_lemma.get(lemma, ())})


def _align_sentence(sentence: str, words: _SourceWords) -> tuple[OutputToken, ...]:
    tokens = tokenize(sentence)
    origins: list[Origin] = []
    candidates: list[list[int]] = []
    for token in tokens:
        word = key(token.text)
        if word in words.places:
            origins.append(Origin.COPIED)
            candidates.append(words.places[word])
        elif found := words.places_of_forms(word):
            origins.append(Origin.INFLECTED)
            candidates.append(found)
        else:
            origins.append(Origin.INSERTED)
    path = iter(_cheapest_path(candidates))
    output = []
    for token, origin in zip(tokens, origins, strict=True):
        span = None
        if origin is not Origin.INSERTED:
            copied = words.tokens[next(path)]
            span = copied.start, copied.end
        text, start, end = token
        output.append(OutputToken(text=text, start=start, end=end, origin=origin, source=span))
    return tuple(output)


def _cheapest_path(candidates: Sequence[Sequence[int]]) -> list[int]:
    """One source position for each token, with as few jumps as possible.

    The lists of candidates are sorted, so one sweep from each side finds the best predecessors:
    the time is linear in the number of candidates.
    """
    if not candidates:
        return []
    if sum(map(len, candidates)) > _MOST:
        return _next_places(candidates)
    costs: dict[int, float] = dict.fromkeys(candidates[0], 0.0)
    links: list[dict[int, int]] = []
    for here in candidates[1:]:
        before = sorted(costs)
        arrived: dict[int, tuple[float, int]] = {}
        _sweep(before, here, costs, arrived, step=1)
        _sweep(before[::-1], here[::-1], costs, arrived, step=-1)
        for place in here:
            if place - 1 in costs and costs[place - 1] <= arrived[place][0]:
                arrived[place] = costs[place - 1], place - 1
        costs = {place: arrived[place][0] for place in here}
        links.append({place: arrived[place][1] for place in here})
    path = [min(costs, key=lambda place: (costs[place], place))]
    for link in reversed(links):
        path.append(link[path[-1]])
    return path[::-1]


def _next_places(candidates: Sequence[Sequence[int]]) -> list[int]:
    """For each token the next place to the right of the one before, or else the first."""
    path = [-1]
    for places in candidates:
        index = bisect_right(places, path[-1])
        path.append(places[index] if index < len(places) else places[0])
    return path[1:]


def _sweep(
    before: Sequence[int],
    here: Sequence[int],
    costs: Mapping[int, float],
    arrived: dict[int, tuple[float, int]],
    *,
    step: int,
) -> None:
    """Reach each place from the best one on its left (``step`` 1) or at or after it (-1)."""
    jump = _FORWARD if step > 0 else _BACK
    best: tuple[float, int] | None = None
    i = 0
    for place in here:
        while i < len(before) and (before[i] < place if step > 0 else before[i] >= place):
            # Costs relative to a common origin can be compared without the distance.
            levelled = costs[before[i]] - step * _PER_WORD * before[i]
            if best is None or levelled <= best[0]:
                best = levelled, before[i]
            i += 1
        if best is None:
            continue
        cost = best[0] + step * _PER_WORD * place + jump
        if place not in arrived or cost < arrived[place][0]:
            arrived[place] = cost, best[1]


def split_further(rewrite: Rewrite, number: int, more: Rewrite) -> Rewrite:
    """The rewrite with one of its sentences replaced by the rewrite of that sentence; the origin of
    each word is in the source."""
    simple = (*rewrite.simple[:number], *more.simple, *rewrite.simple[number + 1 :])
    if rewrite.provenance and more.provenance:
        old = rewrite.provenance
        traced = [tuple(_traced(each, old[number]) for each in part) for part in more.provenance]
        provenance = (*old[:number], *traced, *old[number + 1 :])
    else:
        provenance = align(rewrite.source, simple)
    splits = [each for each in (rewrite, more) if each.is_split]
    sure = [each.confidence for each in splits if each.confidence is not None]
    update = {
        "simple": simple,
        "provenance": provenance,
        "findings": None,
        "note": rewrite.note if rewrite.is_split else None,
        "confidence": min(sure) if len(sure) == len(splits) else None,
        "further": None,
    }
    return rewrite.model_copy(update=update)


def _traced(token: OutputToken, tokens: Sequence[OutputToken]) -> OutputToken:
    """A token whose source is a place among the tokens, with their source instead."""
    if token.source is None:
        return token
    start, end = token.source
    before = next((each for each in tokens if each.start < end and start < each.end), None)
    if before is None or before.source is None:
        return token.model_copy(update={"origin": Origin.INSERTED, "source": None})
    origin = token.origin if token.origin is Origin.INFLECTED else before.origin
    return token.model_copy(update={"origin": origin, "source": before.source})
