"""The actions with which the pointer model writes given sentences, and what actions write."""

from collections.abc import Sequence

from parataxis.rewrite.forms import form_of, key, lemmas
from parataxis.splitters.pointer.actions import (
    CLOSED,
    CLOSED_WORDS,
    COPY,
    END,
    FORM_NAMES,
    FORMS,
    NEXT,
    WHOLE,
    closed_word,
)
from parataxis.text.tokens import tokenize

# A word that goes on where the last one was copied is free; a jump costs, back more than forward,
# and writing a word without a source costs a little less than a jump for its sake alone.
_FORWARD = 1.0
_BACK = 1.2
_PER_WORD = 0.01
_CLOSED = 0.9
_FORM = 0.2
_KEPT = 16
"""How many of the cheapest paths are followed."""

_Option = tuple[int, tuple[int, ...]]
"""The source word that an option copies (-1: none), and its actions."""


def target_actions(
    words: Sequence[str], simple: Sequence[str], *, whole: bool = False, skip: bool = False
) -> list[int] | None:
    """The cheapest actions that write the simple sentences from the source words.

    None where a word is neither in the source, nor a form of one of its words, nor closed, unless
    such words are to be skipped. The stop that ends a sentence is left out: whoever composes the
    sentence puts it there.

    >>> from parataxis.splitters.pointer.actions import COPY
    >>> words = ["Ann", ",", "a", "poet", ",", "died", "."]
    >>> actions = target_actions(words, ["Ann died.", "Ann was a poet."], whole=False)
    >>> [action - COPY for action in actions if action >= COPY]
    [0, 5, 0, 2, 3]
    """
    if whole:
        return [WHOLE]
    source = _Source(words)
    paths: dict[int, tuple[float, tuple[int, ...]]] = {-1: (0.0, ())}
    for number, sentence in enumerate(simple):
        for token in source.without_stop([token.text for token in tokenize(sentence)]):
            options = source.options(key(token))
            if options:
                paths = _advance(paths, options)
            elif not skip:
                return None
        mark = END if number + 1 == len(simple) else NEXT
        paths = {last: (cost, (*done, mark)) for last, (cost, done) in paths.items()}
    return list(min(paths.values())[1])


def written_words(words: Sequence[str], actions: Sequence[int]) -> list[list[str]]:
    """The words of the sentences that actions write: what :func:`target_actions` was given, but
    for capitals and the stop at the end.

    >>> words = ["Ann", ",", "serving", "tea", ",", "fell", "."]
    >>> written_words(words, target_actions(words, ["Ann served tea.", "She fell."], whole=False))
    [['Ann', 'served', 'tea'], ['she', 'fell']]
    """
    if list(actions) == [WHOLE]:
        return [list(words)]
    sentences: list[list[str]] = [[]]
    for action in actions:
        if action == NEXT:
            sentences.append([])
        elif action >= COPY:
            sentences[-1].append(words[action - COPY])
        elif action >= CLOSED:
            sentences[-1].append(CLOSED_WORDS[action - CLOSED])
        elif action >= FORMS:
            copied = sentences[-1].pop()
            sentences[-1].append(form_of(key(copied), FORM_NAMES[action - FORMS]) or copied)
    return sentences


def _advance(
    paths: dict[int, tuple[float, tuple[int, ...]]], options: Sequence[_Option]
) -> dict[int, tuple[float, tuple[int, ...]]]:
    advanced: dict[int, tuple[float, tuple[int, ...]]] = {}
    for last, (cost, done) in paths.items():
        for place, actions in options:
            new = cost + _price(last, place) + _FORM * (place >= 0 and len(actions) > 1)
            state = last if place < 0 else place
            if state not in advanced or new < advanced[state][0]:
                advanced[state] = new, (*done, *actions)
    return dict(sorted(advanced.items(), key=lambda item: item[1][0])[:_KEPT])


def _price(last: int, place: int) -> float:
    if place < 0:
        return _CLOSED
    if place == last + 1:
        return 0.0
    return (_FORWARD if place > last else _BACK) + _PER_WORD * abs(place - last)


class _Source:
    """The words of a source, and what can be written from them."""

    def __init__(self, words: Sequence[str]) -> None:
        self._keys = [key(word) for word in words]

    def without_stop(self, tokens: list[str]) -> list[str]:
        """The tokens of a sentence less its stop, which may be that of an abbreviation as well."""
        if len(tokens) < 2 or tokens[-1] != ".":
            return tokens
        abbreviation = tokens[-2] + "."
        if key(abbreviation) in self._keys and key(tokens[-2]) not in self._keys:
            return [*tokens[:-2], abbreviation]
        return tokens[:-1]

    def options(self, word: str) -> list[_Option]:
        found: list[_Option] = [
            (place, (COPY + place,)) for place, other in enumerate(self._keys) if other == word
        ]
        closed = closed_word(word)
        if closed is not None:
            found.append((-1, (closed,)))
        return found or self._forms(word)

    def _forms(self, word: str) -> list[_Option]:
        if not word.isalpha():
            return []
        return [
            (place, (COPY + place, FORMS + number))
            for place, other in enumerate(self._keys)
            if other[:1] == word[:1] and lemmas(other) & lemmas(word)
            for number, tag in enumerate(FORM_NAMES)
            if form_of(other, tag) == word
        ]
