"""Relations that a rewrite changes: a noun becomes the subject, the object or the place of what
the source says of another; a participle changes its voice; a subject and its verb do not agree; a
relative word has lost its noun.

Pronouns are not judged here, and neither is what was copied in one piece with its predicate.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import pairwise

from parataxis.checks.origins import Origins
from parataxis.checks.referents import (
    NUMBERS,
    PLACES,
    UNSURE,
    Referents,
    follows,
    is_noun,
    place_of,
)
from parataxis.rewrite.forms import key
from parataxis.rewrite.record import Finding, Kind
from parataxis.syntax.analysis import Analysis, Word
from parataxis.text.wordlists import words

__all__ = ["relation_findings"]

_RELATIVES = words("which who whom whose")
_SINGULAR = words("the a an this that each every such")
_NO_NOUN = frozenset(("VERB", "AUX", "ADJ", "ADV"))
_SHARING = frozenset(("xcomp", "advcl", "conj"))
_DESCRIBING = ("nmod", "amod", "conj", "nummod", "acl")
_REACH = 4  # words from a noun to its relative word: "the tower, from the top of which"


def relation_findings(
    source: Analysis, simple: Sequence[Analysis | None], origins: Sequence[Origins]
) -> list[Finding]:
    """The wrong relations in a rewrite; a sentence without an analysis is passed over."""
    referents = Referents(source)
    repeated = _Repeated(origins)
    return [
        Finding(
            kind=Kind.RELATION,
            words=word.text,
            sentence=index,
            start=word.start,
            end=word.end,
            message=message,
        )
        for index, (sentence, origin) in enumerate(zip(simple, origins, strict=True))
        if sentence
        for word, message in _Sentence(sentence, origin, referents, repeated).faults()
    ]


class _Repeated:
    """Knows the source words that the rewrite uses more than once: "Ann scrubbed the pots, Bob the
    floor" needs its verb twice, and the second time with another subject."""

    def __init__(self, origins: Sequence[Origins]) -> None:
        self._origins = origins

    def __contains__(self, word: Word) -> bool:
        return self._counts[word.index] > 1

    @cached_property
    def _counts(self) -> Counter[int]:
        return Counter(word.index for origin in self._origins for word in origin.used())


class _Sentence:
    """One simple sentence, compared with its source."""

    def __init__(
        self,
        sentence: Analysis,
        origins: Origins,
        referents: Referents,
        repeated: _Repeated,
    ) -> None:
        self._tree, self._origins, self._referents = sentence, origins, referents
        self._repeated = repeated

    def faults(self) -> Iterator[tuple[Word, str]]:
        """The words at fault, at most once each, with a sentence for the writer."""
        for word in self._tree:
            message = self._fault(word)
            if message is not None:
                yield word, message

    def _fault(self, word: Word) -> str | None:
        if self._has_lost_noun(word):
            return f"'{word.text}' has no noun before it."
        if word.relation not in PLACES or word.head < 0:
            return None
        head = self._tree[word.head]
        if word.relation == "nsubj":
            verb = self._finite(word, head)
            if self._disagrees(word, head, verb) and not self._is_run(word, verb):
                return f"'{word.text}' and '{verb.text}' do not agree in number."
            if self._was_passive(head):
                return f"'{word.text}' does not do what '{head.text}' says: that is done to it."
        if self._is_wrong(word, head):
            return f"The source does not give '{word.text}' to '{head.text}'."
        return None

    def _is_wrong(self, noun: Word, head: Word) -> bool:
        came_from, predicate = self._origins.copied(noun), self._origins.any(head)
        if came_from is None or predicate is None or not (is_noun(noun) and is_noun(came_from)):
            return False
        if self._is_run(noun, head) or predicate in self._repeated:
            return False
        place = place_of(self._tree, noun)
        if place is not None and self._referents.replaces_wrongly(came_from, predicate, place):
            return True
        if place == "nsubj":
            return not self._is_infinitive(head) and self._referents.forbids(came_from, predicate)
        return place == "obj" and self._is_own_subject(noun, head)

    def _is_run(self, first: Word, last: Word) -> bool:
        """Whether nothing between two words has changed but for what stood between marks."""
        start, end = sorted((first.index, last.index))
        source = self._referents.source
        sources = map(self._origins.any, self._tree.words[start : end + 1])
        return all(
            left is not None and right is not None and follows(source, left, right)
            for left, right in pairwise(sources)
        )

    def _is_infinitive(self, head: Word) -> bool:
        return any(key(mark.text) == "to" for mark in self._tree.children(head.index, "mark"))

    def _is_own_subject(self, noun: Word, head: Word) -> bool:
        """Whether the object of a verb is its subject too: "The Client shall pay the Client"."""
        if self._tree.children(noun.index, *_DESCRIBING):
            return False
        subjects = self._tree.children(head.index, "nsubj")
        while not subjects and head.relation in _SHARING and head.head >= 0:
            head = self._tree[head.head]
            subjects = self._tree.children(head.index, "nsubj")
        return any(key(subject.text) == key(noun.text) for subject in subjects)

    def _finite(self, noun: Word, head: Word) -> Word:
        """The verb that agrees with a subject: the first auxiliary after it, or the predicate."""
        verbs = self._tree.children(head.index, "aux", "cop")
        return next((verb for verb in verbs if verb.index > noun.index), head)

    def _disagrees(self, noun: Word, head: Word, verb: Word) -> bool:
        """Whether the numbers of a subject and of its verb are both certain and differ."""
        plural = NUMBERS.get(key(verb.text))
        if plural is None or key(noun.text) in UNSURE or noun.text[0].isupper():
            return False
        if self._tree.children(noun.index, "conj", "nummod", "appos", "flat"):
            return False
        if not plural:
            return noun.xpos == "NNS"
        determiners = {key(word.text) for word in self._tree.children(noun.index, "det")}
        marks = {key(word.text) for word in self._tree.children(head.index, "mark")}
        # "If this money were not collected" is right.
        return noun.xpos == "NN" and bool(determiners & _SINGULAR) and not marks & {"if", "though"}

    def _was_passive(self, head: Word) -> bool:
        """Whether a participle that says what was done to a noun says now what it did."""
        before = self._origins.any(head)
        if before is None or before.deprel != "acl" or before.xpos != "VBN":
            return False
        if head.upos != "VERB" or head.xpos not in ("VBD", "VBN") or head.relation != "root":
            return False
        return not self._tree.children(head.index, "aux", "cop", "obj", "ccomp", "xcomp")

    def _has_lost_noun(self, word: Word) -> bool:
        """Whether a relative word stands behind a verb or the like, as it did not in the source."""
        before = self._origins.copied(word) if key(word.text) in _RELATIVES else None
        if before is None:
            return False
        left = (each for each in reversed(self._tree.words[: word.index]))
        previous = next((each for each in left if each.upos not in ("ADP", "PUNCT")), None)
        if previous is None or previous.upos not in _NO_NOUN:
            return False
        came_from = self._origins.any(previous)
        return came_from is None or not before.index - _REACH <= came_from.index < before.index
