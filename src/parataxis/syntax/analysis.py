"""The analysis of one sentence: words with tags, a dependency tree, and semantic roles.

This module only holds the data; :mod:`parataxis.syntax.analyser` produces it.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple, TypeVar

from parataxis.text.tokens import has_word

T = TypeVar("T")

ROOT = -1
"""The head of the word that is the root of the tree."""


class Word(NamedTuple):
    """One token of the sentence with its tags and its place in the dependency tree.

    ``head`` is the index of the governing word, or :data:`ROOT`. ``deprel`` is a Universal
    Dependencies relation with its subtype ("acl:relcl"); ``upos`` a UD tag, ``xpos`` a Penn
    Treebank tag ("VBD"), ``feats`` UD features ("Number": "Sing").
    """

    index: int  # type: ignore[assignment]  # in place of the method of tuples
    text: str
    start: int
    end: int
    upos: str
    xpos: str
    feats: Mapping[str, str]
    head: int
    deprel: str

    @property
    def relation(self) -> str:
        """The dependency relation without its subtype: "acl" for "acl:relcl"."""
        return self.deprel.partition(":")[0]


@dataclass(frozen=True, slots=True)
class Argument:
    """A PropBank argument: the words ``first`` to ``last`` (inclusive) and a label such as
    "ARG0", "ARGM-TMP", "R-ARG1" (a relative pronoun) or "C-ARG1" (a continuation)."""

    first: int
    last: int
    label: str


@dataclass(frozen=True, slots=True)
class Frame:
    """A predicate (the index of its word) and its arguments, in order, never overlapping."""

    predicate: int
    arguments: tuple[Argument, ...]


@dataclass(frozen=True)
class Analysis:
    """The analysis of one sentence.

    ``words`` is empty only for a sentence without visible characters. Exactly one word has the
    head :data:`ROOT`, and every word reaches it: the tree is always a tree.
    """

    text: str
    words: Sequence[Word]
    frames: Sequence[Frame] = field(default=())

    def __len__(self) -> int:
        return len(self.words)

    def __iter__(self) -> Iterator[Word]:
        return iter(self.words)

    def __getitem__(self, index: int) -> Word:
        return self.words[index]

    @cached_property
    def root(self) -> Word:
        """The word that governs all others."""
        return next(word for word in self.words if word.head == ROOT)

    @cached_property
    def opener(self) -> int | None:
        """The index of the first word that is not punctuation."""
        return next((word.index for word in self.words if has_word(word.text)), None)

    @cached_property
    def by_start(self) -> Mapping[int, Word]:
        """The words by the position of their first character."""
        return {word.start: word for word in self.words}

    @cached_property
    def _children(self) -> tuple[tuple[int, ...], ...]:
        children: list[list[int]] = [[] for _ in self.words]
        for word in self.words:
            if word.head != ROOT:
                children[word.head].append(word.index)
        return tuple(map(tuple, children))

    def once(self, find: Callable[["Analysis"], T]) -> T:
        """The result of a function of the analysis, which is called only once per analysis."""
        known = vars(self)  # where cached properties are stored too
        name = f"{find.__module__}.{find.__qualname__}"
        if name not in known:
            known[name] = find(self)
        found: T = known[name]
        return found

    def children(self, index: int, *relations: str) -> list[Word]:
        """The direct dependents of a word, in order; if ``relations`` are given, only those with
        one of them (with or without subtype)."""
        found = [self.words[child] for child in self._children[index]]
        if not relations or not found:
            return found
        return [w for w in found if w.deprel in relations or w.relation in relations]

    def upwards(self, word: Word) -> Iterator[Word]:
        """A word and its governors, without the root."""
        while word.head != ROOT:
            yield word
            word = self.words[word.head]

    def subtree(self, index: int) -> list[int]:
        """The indices of a word and everything below it, in sentence order."""
        found, stack = [], [index]
        while stack:
            top = stack.pop()
            found.append(top)
            stack.extend(self._children[top])
        return sorted(found)

    def span(self, index: int) -> tuple[int, int]:
        """First and last word index (inclusive) of the subtree of a word."""
        indices = self.subtree(index)
        return indices[0], indices[-1]

    def phrase(self, first: int, last: int) -> str:
        """The exact source text from word ``first`` to word ``last``, inclusive."""
        return self.text[self.words[first].start : self.words[last].end]
