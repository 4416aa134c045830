"""A decoder that was told what to say, so that everything behind the model can be tested."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import pytest
from numpy.typing import NDArray

from parataxis.rewrite.forms import key
from parataxis.splitters.pointer.actions import (
    COPY,
    END,
    FORM_NAMES,
    FORMS,
    NEXT,
    START,
    WHOLE,
    Features,
    closed_word,
    read_source,
)
from parataxis.splitters.pointer.search import Place
from parataxis.syntax.analyser import Analyser, load_analyser
from parataxis.text.tokens import tokenize

Scripts = Sequence[tuple[float, Sequence[int]]]


@dataclass
class Node:
    """Where some scripts have come to, and how likely each next action is."""

    children: dict[int, "Node"] = field(default_factory=dict)
    weight: float = 0.0


class ScriptMemory:
    """For each source where its scripts begin, and how many words it has."""

    def __init__(self, roots: NDArray[np.int64], lengths: NDArray[np.int64]) -> None:
        self.roots, self.lengths = roots, lengths

    def select(self, rows: NDArray[np.int64]) -> "ScriptMemory":
        return ScriptMemory(self.roots[rows], self.lengths[rows])


class ScriptedDecoder:
    """Gives each source the distribution over action sequences that it was told.

    ``scripts`` maps a source to its sequences, each with its probability, the end not included.
    """

    def __init__(self, scripts: Mapping[str, Scripts]) -> None:
        self.nodes: list[Node] = []
        self.ids: dict[int, int] = {}
        self.roots: dict[tuple[int, ...], int] = {}
        for source, sequences in scripts.items():
            words = [token.text for token in tokenize(source)]
            self.roots[tuple(read_source(words).pieces.ids)] = self._grow(sequences)

    def _grow(self, sequences: Scripts) -> int:
        root = self._node()
        for weight, actions in sequences:
            node = self.nodes[root]
            for action in [*actions] if list(actions) == [WHOLE] else [*actions, END]:
                if action not in node.children:
                    node.children[action] = self.nodes[self._node()]
                node = node.children[action]
                node.weight += weight
        return root

    def _node(self) -> int:
        self.nodes.append(Node())
        self.ids[id(self.nodes[-1])] = len(self.nodes) - 1
        return len(self.nodes) - 1

    def read(self, sources: Sequence[Features]) -> tuple[ScriptMemory, int, tuple[int, int]]:
        roots = np.array([self.roots[tuple(source.pieces.ids)] for source in sources])
        lengths = np.array([len(source) for source in sources])
        return ScriptMemory(roots, lengths), int(lengths.max()), (1, 1)

    def step(
        self, memory: ScriptMemory, place: Place
    ) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        count, beams = place.previous.shape
        logs = np.full((count, beams, COPY + place.copied.shape[2]), -50.0, dtype=np.float32)
        reached = np.array(place.recurrent)
        for row in range(count):
            logs[row, :, COPY + memory.lengths[row] :] = -1e9
            for beam in range(beams):
                action = int(place.previous[row, beam])
                if action == START:
                    node = self.nodes[memory.roots[row]]
                else:
                    # A sequence that nobody told (number 0: an empty node) goes nowhere.
                    before = self.nodes[int(reached[row, beam, 0, 0])]
                    node = before.children.get(action, Node())
                reached[row, beam, 0, 0] = self.ids.get(id(node), 0)
                total = sum(child.weight for child in node.children.values())
                for following, child in node.children.items():
                    logs[row, beam, following] = np.log(child.weight / total)
        return logs, reached


def actions(source: str, *sentences: str) -> list[int]:
    """The actions that write sentences, which are given as words of the source ("cat"; of several
    the next one, else the first; "cat#2" is its second place), words in another form ("sing/VBZ")
    and, in brackets, words of the closed list ("[is]")."""
    keys = [key(token.text) for token in tokenize(source)]
    found: list[int] = []
    last = -1
    for number, sentence in enumerate(sentences):
        if number:
            found.append(NEXT)
        for item in sentence.split():
            if item[0] == "[":
                closed = closed_word(item[1:-1])
                assert closed is not None, item
                found.append(closed)
                continue
            last, form = _copied(keys, item, last)
            found.append(COPY + last)
            if form:
                found.append(FORMS + FORM_NAMES.index(form))
    return found


def _copied(keys: Sequence[str], item: str, last: int) -> tuple[int, str]:
    word, _, form = item.partition("/") if len(item) > 1 else (item, "", "")
    word, _, place = word.partition("#") if len(word) > 1 else (word, "", "")
    places = [index for index, spelling in enumerate(keys) if spelling == key(word)]
    if not place and last + 1 in places:
        return last + 1, form
    return places[int(place or 1) - 1], form


@pytest.fixture(scope="session")
def write() -> Callable[..., list[int]]:
    return actions


@pytest.fixture(scope="session")
def scripted() -> type[ScriptedDecoder]:
    return ScriptedDecoder


@pytest.fixture(scope="session")
def analyser() -> Analyser:
    return load_analyser()
