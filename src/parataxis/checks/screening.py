"""Which simple sentences the analyser must read for the checks to be complete.

Analysis is most of the cost of a check. Where the source word of each word is known, most simple
sentences need no analysis: they contain a verb that is finite in the source, no noun has moved,
and nothing in them could make a fragment, a bare verb or an ambiguous pronoun.
"""

from collections.abc import Sequence

from parataxis.checks import lexicon
from parataxis.checks.clauses import FINITE_TAGS, WH_RELATIVES
from parataxis.checks.relations import NOMINAL, follows
from parataxis.rewrite.forms import key
from parataxis.rewrite.record import Origin, OutputToken
from parataxis.syntax.analysis import Analysis, Word
from parataxis.text import english

_CONJUNCTIONS = english.COORDINATORS | {"plus"}
_COPIED = Origin.COPIED  # looking up a member of an enumeration for each word is slow
_NEAR = 4  # words of a noun phrase up to its noun: "the old stone bridge"
_BEFORE_INFINITIVES = lexicon.MODALS | {"to", "do", "does", "did", "let", "lets"}


def uncertain_sentences(source: Analysis, sentences: Sequence[Sequence[OutputToken]]) -> set[int]:
    """The indices of the sentences whose analysis could lead to a finding."""
    words = source.by_start
    found = set()
    for index, tokens in enumerate(sentences):
        keys = [key(token.text) for token in tokens]
        spans = [token.source for token in tokens]
        came_from = [words.get(span[0]) if span else None for span in spans]
        copied = [
            word if token.origin is _COPIED else None
            for token, word in zip(tokens, came_from, strict=True)
        ]
        if index and _may_be_ambiguous(keys, came_from):
            found |= {index - 1, index}
        elif _may_be_no_sentence(keys, copied) or _has_moved_noun(source, came_from, copied):
            found.add(index)
    return found


def _may_be_no_sentence(keys: Sequence[str], copied: Sequence[Word | None]) -> bool:
    if "that" in keys or not WH_RELATIVES.isdisjoint(keys):
        return True
    if not english.SUBORDINATORS.isdisjoint(keys) and _opener(keys) in english.SUBORDINATORS:
        return True
    tags = [None if word is None else word.xpos for word in copied]
    if lexicon.FINITE_FORMS.isdisjoint(keys) and FINITE_TAGS.isdisjoint(tags):
        return True
    return "VB" in tags and _has_bare_verb(keys, tags)


def _opener(keys: Sequence[str]) -> str | None:
    """The first word, or the one behind a conjunction at the head of the sentence."""
    spoken = (word for word in keys if any(map(str.isalnum, word)))
    first = next(spoken, None)
    return next(spoken, None) if first in _CONJUNCTIONS else first


def _has_bare_verb(keys: Sequence[str], tags: Sequence[str | None]) -> bool:
    """Whether an infinitive stands before everything that could govern one."""
    for spelling, tag in zip(keys, tags, strict=True):
        if spelling in _BEFORE_INFINITIVES:
            return False
        if tag == "VB" and spelling not in lexicon.UNCHANGING_VERBS:
            return True
    return False


def _has_moved_noun(
    source: Analysis, came_from: Sequence[Word | None], copied: Sequence[Word | None]
) -> bool:
    """Whether a noun stands before other words than in the source, or in a pronoun's place."""
    last = len(came_from) - 1
    while last > 0 and ((word := came_from[last]) is None or word.upos == "PUNCT"):
        last -= 1
    # The right one is a copy: not "are" that became "is".
    for place, (left, right) in enumerate(zip(came_from[:last], copied[1:], strict=False), start=1):
        if left is None or (right is not None and right.index == left.index + 1):
            continue
        if right is not None and _is_unmoved(source, left, right):
            continue
        if left.upos in NOMINAL:
            return True
        if left.index + 1 < len(source) and source[left.index + 1].upos == "PRON":
            nearby = came_from[place : place + _NEAR]
            if any(word is not None and word.upos in NOMINAL for word in nearby):
                return True
    return False


def _is_unmoved(source: Analysis, left: Word, right: Word) -> bool:
    """Whether only what stands between marks, or ", who", is between two words of the source."""
    if follows(source, left, right):
        return True
    between = source.words[left.index + 1 : right.index]
    return bool(between) and all(
        word.upos == "PUNCT" or key(word.text) in WH_RELATIVES for word in between
    )


def _may_be_ambiguous(keys: Sequence[str], came_from: Sequence[Word | None]) -> bool:
    return not english.THIRD_PERSON.isdisjoint(keys) and any(
        word is not None and word.relation == "acl" for word in came_from
    )
