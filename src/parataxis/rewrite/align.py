"""Provenance for rewrites that came without it: human references and other systems' outputs."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from parataxis.rewrite.forms import key, lemmas
from parataxis.rewrite.record import Origin, OutputToken
from parataxis.syntax.analysis import ROOT, Analysis, Word
from parataxis.syntax.patterns import Occurrence, find_patterns
from parataxis.text.tokens import Token, tokenize

# A jump costs more than any number of words skipped, so that runs stay together; going back costs
# more than going on, so that a repeated word is taken from the clause that is being copied.
_FORWARD = 1.0
_BACK = 1.5
_PER_WORD = 1e-6


def align(source: str, simple: Sequence[str]) -> tuple[tuple[OutputToken, ...], ...]:
    """Say for every token of the simple sentences which source word it came from.

    A token is copied where the source has the same word, inflected where it has another form of
    it, and inserted otherwise. Of several places in the source, the one that continues a copied
    run is taken, then the next one to the right.

    >>> [(t.text, t.origin.value, t.source) for t in align("Ann, serving tea, fell.",
    ...     ["Ann served tea."])[0]][:2]
    [('Ann', 'copied', (0, 3)), ('served', 'inflected', (5, 12))]
    """
    words = tokenize(source)
    places = _places(key(word.text) for word in words)
    forms = _Forms(places)
    return tuple(_align_sentence(sentence, words, places, forms) for sentence in simple)


class _Forms:
    """Where the forms of a lemma stand; made on the first word that is not a plain copy."""

    def __init__(self, places: Mapping[str, list[int]]) -> None:
        self._words = places
        self._lemmas: dict[str, list[int]] | None = None

    def places(self, word: str) -> list[int]:
        if not any(map(str.isalpha, word)):
            return []
        if self._lemmas is None:
            self._lemmas = defaultdict(list)
            for other, found in self._words.items():
                for lemma in lemmas(other):
                    self._lemmas[lemma].extend(found)
        return sorted({i for lemma in lemmas(word) for i in self._lemmas.get(lemma, ())})


def _places(keys: Iterable[str]) -> dict[str, list[int]]:
    places: dict[str, list[int]] = {}
    for index, word in enumerate(keys):
        places.setdefault(word, []).append(index)
    return places


def _align_sentence(
    sentence: str, words: Sequence[Token], places: Mapping[str, list[int]], forms: _Forms
) -> tuple[OutputToken, ...]:
    tokens = tokenize(sentence)
    origins: list[Origin] = []
    candidates: list[list[int]] = []
    for token in tokens:
        word = key(token.text)
        if word in places:
            origins.append(Origin.COPIED)
            candidates.append(places[word])
        elif found := forms.places(word):
            origins.append(Origin.INFLECTED)
            candidates.append(found)
        else:
            origins.append(Origin.INSERTED)
    path = iter(_cheapest_path(candidates))
    output = []
    for token, origin in zip(tokens, origins, strict=True):
        span = None
        if origin is not Origin.INSERTED:
            word_at = words[next(path)]
            span = word_at.start, word_at.end
        output.append(
            OutputToken(
                text=token.text, start=token.start, end=token.end, origin=origin, source=span
            )
        )
    return tuple(output)


def _cheapest_path(candidates: Sequence[Sequence[int]]) -> list[int]:
    """One source position for each token, with as few jumps as possible.

    Every list of candidates is sorted, so one sweep from each side finds the best predecessor of
    each: the time is linear in the number of candidates.
    """
    if not candidates:
        return []
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
            # Costs are brought to a common origin, so that the distance is counted once.
            levelled = costs[before[i]] - step * _PER_WORD * before[i]
            if best is None or levelled <= best[0]:
                best = levelled, before[i]
            i += 1
        if best is None:
            continue
        cost = best[0] + step * _PER_WORD * place + jump
        if place not in arrived or cost < arrived[place][0]:
            arrived[place] = cost, best[1]


# Which patterns of a source a rewrite has split, and which simple sentences that made.

_CONTENT = frozenset(["NOUN", "PROPN", "VERB", "ADJ", "ADV", "NUM"])
_CLAUSES = frozenset(["root", "ccomp", "xcomp", "advcl", "acl", "csubj", "conj", "parataxis"])
_VERBS = frozenset(["VERB", "AUX"])
_ENOUGH = 0.5
"""The share of a phrase's content words by which a simple sentence holds the phrase."""

_Place = int
"""Where a word starts in the source."""


@dataclass(frozen=True, slots=True)
class Sides:
    """What a pattern holds together: the content words of the phrase (without those of phrases
    inside it), and the words that say what the clause around it says."""

    occurrence: Occurrence
    phrase: frozenset[_Place]
    clause: frozenset[_Place]


def sides(analysis: Analysis) -> list[Sides]:
    """The two sides of every pattern in a sentence."""
    occurrences = find_patterns(analysis)
    return [
        Sides(found, _phrase(analysis, found, occurrences), _clause(analysis, found))
        for found in occurrences
    ]


def said_apart(found: Sides, provenance: Sequence[Sequence[OutputToken]]) -> list[int]:
    """The simple sentences that say the phrase of a pattern; none where it was not split.

    A pattern was split if the rewrite says both of its sides and in no simple sentence both: a
    sentence holds the phrase if at least half of the phrase's content words come from there, and
    the clause if its predicate does (of a noun or adjective with a copula: the copula).
    """
    sentences = [{token.source[0] for token in tokens if token.source} for tokens in provenance]
    phrase = [i for i, places in enumerate(sentences) if _holds(places, found.phrase)]
    clause = {i for i, places in enumerate(sentences) if not found.clause.isdisjoint(places)}
    return phrase if clause and clause.isdisjoint(phrase) else []


def _holds(sentence: set[_Place], phrase: frozenset[_Place]) -> bool:
    return len(phrase & sentence) >= _ENOUGH * len(phrase)


def _phrase(
    analysis: Analysis, found: Occurrence, occurrences: Sequence[Occurrence]
) -> frozenset[_Place]:
    inner = {
        index
        for other in occurrences
        if other is not found and found.first <= other.first and other.last <= found.last
        for index in range(other.first, other.last + 1)
    }
    own = [analysis[i] for i in range(found.first, found.last + 1) if i not in inner]
    content = [word for word in own if word.upos in _CONTENT]
    return frozenset(word.start for word in content or own or [analysis[found.head]])


def _clause(analysis: Analysis, found: Occurrence) -> frozenset[_Place]:
    """The predicate of the clause that the phrase hangs on. A noun that is a predicate may be said
    again in the sentence of the phrase ("He was a painter. The painter died."): its copula counts
    instead."""
    word = analysis[found.head]
    while word.head != ROOT:
        word = analysis[word.head]
        if not found.first <= word.index <= found.last and _is_predicate(analysis, word):
            break
    copulas = analysis.children(word.index, "cop")
    return frozenset(copula.start for copula in copulas) or frozenset([word.start])


def _is_predicate(analysis: Analysis, word: Word) -> bool:
    return word.relation in _CLAUSES and (
        word.upos in _VERBS or bool(analysis.children(word.index, "cop"))
    )
