"""Which simple sentences of a rewrite an analyser must read for the checks to be sure.

Analysing is most of what a check costs. Where it is known from which source word each word came,
most simple sentences can be passed without it: they hold a verb that is finite in the source, and
nothing that a fragment, a bare verb or an ambiguous pronoun needs; and no noun has come to another
place than it had.
"""

from collections.abc import Sequence
from itertools import pairwise

from parataxis.checks import lexicon
from parataxis.checks.clauses import FINITE_TAGS, RELATIVES
from parataxis.checks.pronouns import PRONOUNS
from parataxis.checks.referents import NOMINAL, follows
from parataxis.rewrite.forms import key
from parataxis.rewrite.record import Origin, OutputToken
from parataxis.syntax.analysis import Analysis, Word

__all__ = ["doubtful"]

_CONJUNCTIONS = frozenset(("and", "or", "but", "nor", "so", "yet", "plus"))
_OPENERS = lexicon.SUBORDINATORS | RELATIVES
_NEAR = 4  # words of a noun phrase up to its noun: "the old stone bridge"
_BEFORE_INFINITIVES = lexicon.MODALS | frozenset(("to", "do", "does", "did", "let", "lets"))


def doubtful(source: Analysis, sentences: Sequence[Sequence[OutputToken]]) -> set[int]:
    """The indices of the sentences whose analysis could lead to a finding."""
    words = {word.start: word for word in source}
    found = set()
    for index, tokens in enumerate(sentences):
        came_from = [words.get(token.source[0]) if token.source else None for token in tokens]
        if index and _may_be_ambiguous(tokens, came_from):
            found |= {index - 1, index}
        elif _may_be_no_sentence(tokens, came_from) or _has_moved_noun(source, tokens, came_from):
            found.add(index)
    return found


def _may_be_no_sentence(tokens: Sequence[OutputToken], came_from: Sequence[Word | None]) -> bool:
    keys = [key(token.text) for token in tokens]
    spoken = [word for word in keys if any(map(str.isalnum, word))]
    opener = spoken[1:2] if spoken[:1] and spoken[0] in _CONJUNCTIONS else spoken[:1]
    if _OPENERS.intersection(opener) or "that" in keys or RELATIVES.intersection(keys):
        return True
    copied = [
        word if token.origin is Origin.COPIED else None
        for token, word in zip(tokens, came_from, strict=True)
    ]
    has_verb = not lexicon.FINITE_FORMS.isdisjoint(keys) or any(
        word is not None and word.xpos in FINITE_TAGS for word in copied
    )
    return not has_verb or _has_bare_verb(keys, copied)


def _has_bare_verb(keys: Sequence[str], copied: Sequence[Word | None]) -> bool:
    """Whether an infinitive stands before everything that could govern one."""
    for spelling, word in zip(keys, copied, strict=True):
        if spelling in _BEFORE_INFINITIVES:
            return False
        if word is not None and word.xpos == "VB" and spelling not in lexicon.UNCHANGING_VERBS:
            return True
    return False


def _has_moved_noun(
    source: Analysis, tokens: Sequence[OutputToken], came_from: Sequence[Word | None]
) -> bool:
    """Whether a noun stands before other words than in the source, or in a pronoun's place."""
    last = max((i for i, word in enumerate(came_from) if word and word.upos != "PUNCT"), default=0)
    for place, (left, right) in enumerate(pairwise(came_from[: last + 1])):
        if left is None:
            continue
        is_same = tokens[place + 1].origin is Origin.COPIED  # not "are" that became "is"
        if right is not None and _is_unmoved(source, left, right) and is_same:
            continue
        if left.upos in NOMINAL:
            return True
        if left.index + 1 < len(source) and source[left.index + 1].upos == "PRON":
            nearby = came_from[place + 1 : place + 1 + _NEAR]
            if any(word is not None and word.upos in NOMINAL for word in nearby):
                return True
    return False


def _is_unmoved(source: Analysis, left: Word, right: Word) -> bool:
    """Whether two words stand side by side in the source, or with ", who" between them."""
    between = source.words[left.index + 1 : right.index]
    only_who = all(word.upos == "PUNCT" or key(word.text) in RELATIVES for word in between)
    return follows(source, left, right) or (bool(between) and only_who)


def _may_be_ambiguous(tokens: Sequence[OutputToken], came_from: Sequence[Word | None]) -> bool:
    return any(word is not None and word.relation == "acl" for word in came_from) and any(
        key(token.text) in PRONOUNS for token in tokens
    )
