"""Decoding the scores of the model: trees from arc scores, semantic roles from BIO scores.

In PropBank a relative word ("who", "to which", "most of whom", "where") has the role of its
antecedent with the prefix "R-", and the antecedent comes before it in the same frame. The model
tags each word independently and sometimes violates this; :func:`reconcile` repairs it with the
tree, which is more reliable than the tags.
"""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from parataxis.syntax.analysis import ROOT, Analysis, Argument

Scores = NDArray[np.float32]
Heads = NDArray[np.int64]


def best_trees(scores: Scores, lengths: Sequence[int]) -> list[list[int]]:
    """The heads of the best tree with one root, for each sentence of a batch.

    ``scores[k, i, j + 1]`` is the score of word j as the head of word i in sentence k, and
    ``scores[k, i, 0]`` that of word i as the root; what is beyond the length of a sentence is
    padding. For most sentences the greedy choice is a tree; the others need the maximum spanning
    tree.

    >>> best_trees(np.array([[[0, 0, 9.0], [5.0, 8.0, 0]]], dtype=np.float32), [2])
    [[1, -1]]
    """
    rows, longest, _ = scores.shape
    places = np.arange(longest)
    beyond = places >= np.array(lengths)[:, None]
    weights = scores.copy()
    weights[:, places, places + 1] = -np.inf
    np.copyto(weights[:, :, 1:], -np.inf, where=beyond[:, None])
    heads = np.zeros((rows, longest + 1), dtype=np.int64)  # node 0 stands above the sentence
    heads[:, 1:] = np.where(beyond, 0, weights.argmax(2))
    has_one_root = ((heads[:, 1:] == 0) & ~beyond).sum(1) == 1
    above = heads
    for _ in range(longest.bit_length()):  # each time twice as far up
        above = np.take_along_axis(above, above, 1)
    is_tree = has_one_root & ~above.any(1)
    trees: list[list[int]] = (heads[:, 1:] - 1).tolist()
    return [
        trees[row][:length] if is_tree[row] else _best_spanning(scores[row, :length, : length + 1])
        for row, length in enumerate(lengths)
    ]


def _best_spanning(scores: Scores) -> list[int]:
    """The best tree if the greedy choice is not a tree."""
    length = len(scores)
    weights = np.full((length + 1, length + 1), -np.inf)
    weights[1:] = scores
    np.fill_diagonal(weights, -np.inf)
    # A penalty larger than any gain makes the spanning tree use exactly one root.
    weights[:, 0] -= (np.ptp(scores) + 1.0) * (length + 1)
    return [int(head) - 1 for head in _spanning(weights, 0)[1:]]


def _spanning(weights: NDArray[np.float64], root: int) -> Heads:
    """The maximum spanning tree below ``root`` (Chu and Liu 1965, Edmonds 1967)."""
    heads: Heads = weights.argmax(1)
    heads[root] = ROOT
    cycle = _cycle(heads)
    if cycle is None:
        return heads
    length = len(weights)
    inside = np.zeros(length, dtype=bool)
    inside[cycle] = True
    outside = np.flatnonzero(~inside)
    kept = weights[cycle, heads[cycle]]
    # Contract the cycle into one node, which stands last.
    into = weights[np.ix_(cycle, outside)] - kept[:, None]
    out = weights[np.ix_(outside, cycle)]
    size = len(outside) + 1
    smaller = np.full((size, size), -np.inf)
    smaller[:-1, :-1] = weights[np.ix_(outside, outside)]
    smaller[-1, :-1] = into.max(0)
    smaller[:-1, -1] = out.max(1)
    contracted = _spanning(smaller, int(np.flatnonzero(outside == root)[0]))
    for place, node in enumerate(outside):
        head = contracted[place]
        if head == ROOT:
            heads[node] = ROOT
        elif head == size - 1:
            heads[node] = cycle[int(out[place].argmax())]
        else:
            heads[node] = outside[head]
    entry = int(contracted[-1])
    broken = cycle[int(into[:, entry].argmax())]
    heads[broken] = outside[entry]
    return heads


def _cycle(heads: Heads) -> Heads | None:
    """The nodes of one cycle, or None if every node reaches the root."""
    state = np.zeros(len(heads), dtype=np.int8)  # 1: on the current path, 2: known to be fine
    following = heads.tolist()
    for start in range(len(following)):
        path = []
        node = start
        while node != ROOT and state[node] == 0:
            state[node] = 1
            path.append(node)
            node = following[node]
        if node != ROOT and state[node] == 1:
            return np.array(path[path.index(node) :])
        state[path] = 2
    return None


def best_tags(scores: Scores) -> list[list[int]]:
    """The best BIO tags of each sequence, in which I-X only follows B-X or I-X.

    ``scores`` has the shape (sequences, words, tags) with the tags O, B-0, I-0, B-1, I-1 and so on.
    If the best tags of all words form an allowed sequence, as they usually do, it is the best one.
    """
    greedy = scores.argmax(2)
    inside = (greedy > 0) & (greedy % 2 == 0)
    before = np.concatenate([np.zeros_like(greedy[:, :1]), greedy[:, :-1]], axis=1)
    broken = (inside & (before != greedy) & (before != greedy - 1)).any(1)
    return [
        _allowed_tags(sequence) if wrong else tags
        for sequence, tags, wrong in zip(scores, greedy.tolist(), broken.tolist(), strict=True)
    ]


def _allowed_tags(scores: Scores) -> list[int]:
    """Viterbi decoding. Only I tags are restricted, so each step needs one maximum per label."""
    length, tags = scores.shape
    begin, inside = np.arange(1, tags, 2), np.arange(2, tags, 2)
    best = scores[0].astype(np.float64)
    best[inside] = -np.inf
    back = np.empty((length, tags), dtype=np.int64)
    for place in range(1, length):
        top = best.argmax()
        back[place] = top
        back[place, inside] = np.where(best[inside] >= best[begin], inside, begin)
        best = best[back[place]] + scores[place]
    found = [int(best.argmax())]
    for place in range(length - 1, 0, -1):
        found.append(int(back[place, found[-1]]))
    return found[::-1]


def bio_spans(tags: list[int], roles: tuple[str, ...]) -> tuple[Argument, ...]:
    """The arguments that a BIO sequence encodes, in order.

    >>> bio_spans([1, 2, 0, 3], ("ARG0", "ARG1"))
    (Argument(first=0, last=1, label='ARG0'), Argument(first=3, last=3, label='ARG1'))
    """
    spans: list[Argument] = []
    for place, tag in enumerate(tags):
        if tag == 0:
            continue
        label = roles[(tag - 1) // 2]
        if tag % 2:
            spans.append(Argument(place, place, label))
        else:
            spans[-1] = Argument(spans[-1].first, place, label)
    return tuple(spans)


@dataclass(frozen=True)
class Labels:
    """The labels of each head, in the order of the model's outputs; stored in ``analyser.json``.

    ``feats`` holds whole feature bundles ("Number=Sing|Person=3"); ``roles`` holds role labels,
    which the model tags as O, B-first, I-first, B-second, I-second and so on.
    """

    upos: tuple[str, ...]
    xpos: tuple[str, ...]
    feats: tuple[str, ...]
    deprels: tuple[str, ...]
    roles: tuple[str, ...]


def read_labels(path: Path) -> Labels:
    """Read the labels that :func:`write_labels` wrote."""
    stored = json.loads(path.read_text(encoding="utf-8"))
    return Labels(**{name: tuple(values) for name, values in stored.items()})


def write_labels(labels: Labels, path: Path) -> None:
    """Write the labels as JSON."""
    path.write_text(json.dumps(asdict(labels), indent=1) + "\n", encoding="utf-8")


RELATIVE_TAGS = frozenset(("WDT", "WP", "WP$", "WRB"))
BEFORE_NOUN = ("det", "amod", "nummod", "compound", "nmod:poss", "flat")
LONGEST = 4
"""The longest relative phrase in words ("most of all of which" has five and is rare)."""


def reconcile(analysis: Analysis, arguments: Sequence[Argument]) -> tuple[Argument, ...]:
    """Make the roles of relative words agree with their antecedents.

    - "most of" and "whom", tagged as two arguments, become one relative phrase;
    - "a time" and "when" with the same role become a role and its relative;
    - a relative word takes the role of the argument right before it;
    - if the frame lacks the antecedent, the noun that the clause is attached to is added;
    - a relative word without any antecedent is not an argument.
    """
    found: list[Argument] = []
    for place, argument in enumerate(arguments):
        if not _is_relative(analysis, argument):
            found.append(argument)
        elif argument.label not in {later.label for later in arguments[place + 1 :]}:
            found = _with_relative(analysis, found, argument, arguments)
    return tuple(sorted(found, key=lambda a: a.first))


def _with_relative(
    analysis: Analysis, found: list[Argument], argument: Argument, all_: Sequence[Argument]
) -> list[Argument]:
    """The arguments found so far, with the relative word added or skipped."""
    before, phrase = _whole_phrase(analysis, found, argument)
    antecedent = _antecedent(analysis, before, phrase)
    if not argument.label.startswith("R-"):
        if antecedent is None or antecedent.label != argument.label:
            return [*found, argument]
        return [*before, replace(phrase, label=f"R-{argument.label}")]
    if antecedent is None:
        antecedent = _from_tree(analysis, before, phrase)
        if antecedent is None or any(a.label == antecedent.label for a in all_):
            return found
        before = [*before, antecedent]
    return [*before, replace(phrase, label=f"R-{antecedent.label}")]


def _is_relative(analysis: Analysis, argument: Argument) -> bool:
    words = analysis.words[argument.first : argument.last + 1]
    # The model often tags "whose" like "his".
    return len(words) <= LONGEST and any(
        word.xpos in RELATIVE_TAGS or word.text.lower() == "whose" for word in words
    )


def _whole_phrase(
    analysis: Analysis, found: list[Argument], argument: Argument
) -> tuple[list[Argument], Argument]:
    """Join "most of" or "to" with its relative word if they were tagged separately."""
    if not found or found[-1].last + 1 != argument.first:
        return found, argument
    before = found[-1]
    if analysis[before.last].upos != "ADP":
        return found, argument
    if len(found) > 1 and before.last - before.first < LONGEST - 1:
        return found[:-1], replace(argument, first=before.first)
    if before.first < before.last:
        shorter = replace(before, last=before.last - 1)
        return [*found[:-1], shorter], replace(argument, first=before.last)
    return found, argument


def _antecedent(analysis: Analysis, found: list[Argument], argument: Argument) -> Argument | None:
    """The argument right before a relative word, or the one with the same role."""
    earlier = [a for a in found if not a.label.startswith(("R-", "C-"))]
    gap = analysis.words[earlier[-1].last + 1 : argument.first] if earlier else ()
    if earlier and all(word.upos == "PUNCT" for word in gap):
        return earlier[-1] if analysis[earlier[-1].last].upos != "ADV" else None
    same = [a for a in earlier if f"R-{a.label}" == argument.label]
    return same[-1] if same else None


def _from_tree(analysis: Analysis, found: list[Argument], argument: Argument) -> Argument | None:
    """The noun phrase that the clause of a relative word is attached to, as an argument."""
    place = argument.last
    while analysis[place].deprel not in ("acl:relcl", "advcl:relcl"):
        place = analysis[place].head
        if place == ROOT:
            return None
    noun = analysis[place].head
    edge = [w.index for w in analysis.children(noun, *BEFORE_NOUN) if w.index < noun]
    first = min([noun, *edge])
    if noun >= argument.first or any(a.last >= first for a in found):
        return None
    return Argument(first, noun, argument.label.removeprefix("R-"))
