"""A "not" where the source denies nothing. The checks only ask whether a source denies anything at
all, since people put a denial in many ways; here it must belong to the same verb."""

from collections.abc import Iterator, Sequence
from itertools import pairwise

from parataxis.checks.lexicon import NEGATIVE_GROUNDS
from parataxis.checks.origins import Origins
from parataxis.rewrite.forms import key, lemmas
from parataxis.rewrite.record import Finding, Kind, OutputToken
from parataxis.syntax.analysis import Analysis, Word
from parataxis.text.wordlists import words

__all__ = ["new_denials"]

_DENIALS = words("not n't never")
_INSIDE = ("det", "advmod", "case", "cc")


def new_denials(
    source: Analysis, sentence: Analysis, index: int, tokens: Sequence[OutputToken]
) -> Iterator[Finding]:
    """The words that deny in a simple sentence what the source does not deny."""
    origins = Origins(source, tokens)
    known = _beside(source)
    for word, places in zip(sentence, _places(sentence), strict=True):
        if key(word.text) not in _DENIALS or word.head < 0 or places & known:
            continue
        verb = origins.any(sentence[word.head])
        if verb is not None and not _is_denied(source, verb):
            yield Finding(
                kind=Kind.NEW,
                words=word.text,
                sentence=index,
                start=word.start,
                end=word.end,
                message=f"The source does not deny '{verb.text}'.",
            )


def _beside(tree: Analysis) -> set[tuple[str, str]]:
    """All pairs of neighbours. A "not" beside a neighbour that it has in the source was copied with
    it, and what it denies may have been left to the reader: "she did not"."""
    return set().union(*_places(tree))


def _places(tree: Analysis) -> list[set[tuple[str, str]]]:
    """For each word the pairs in which it stands."""
    pairs = list(pairwise(key(word.text) for word in tree))
    return [set(pairs[max(0, place - 1) : place + 1]) for place in range(len(tree))]


def _is_denied(source: Analysis, verb: Word) -> bool:
    """Whether a negative word belongs to a verb or to what governs it: "refused to pay"."""
    while True:
        if _is_negative(verb) or any(map(_is_negative, _near(source, verb))):
            return True
        if verb.head < 0:
            return False
        head = source[verb.head]
        shares = verb.relation in ("xcomp", "acl") or (
            verb.relation == "conj" and not source.children(verb.index, "nsubj")
        )
        if not shares:
            return _is_negative(head)
        verb = head


def _near(source: Analysis, verb: Word) -> Iterator[Word]:
    """The words that belong to a verb, and the small ones that belong to them: "no reason"."""
    for child in source.children(verb.index):
        yield child
        yield from source.children(child.index, *_INSIDE)


def _is_negative(word: Word) -> bool:
    return not NEGATIVE_GROUNDS.isdisjoint(lemmas(key(word.text)))
