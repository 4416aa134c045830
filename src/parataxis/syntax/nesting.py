"""Nested clauses: how deep the clauses of a sentence lie inside one another, and whether one stands
between a subject and its verb."""

from parataxis.syntax.analysis import ROOT, Analysis
from parataxis.text.tokens import has_word

_CLAUSES = frozenset({"acl", "advcl", "ccomp", "csubj"})
"""The relations of subordinate clauses in Universal Dependencies."""
_DEEP = 2
"""A clause inside a clause."""
_LONG_BREAK = 6
"""Words between a subject and its verb that a reader has to carry."""


def is_nested(analysis: Analysis) -> bool:
    """Whether a subordinate clause lies inside another one, or a long one parts a subject from its
    verb."""
    return clause_depth(analysis) >= _DEEP or _is_interrupted(analysis)


def clause_depth(analysis: Analysis) -> int:
    """How many subordinate clauses the deepest word is inside of."""
    return max((_depth(analysis, word.index) for word in analysis), default=0)


def _depth(analysis: Analysis, index: int) -> int:
    depth = 0
    while index != ROOT:
        word = analysis[index]
        depth += word.relation in _CLAUSES
        index = word.head
    return depth


def _is_interrupted(analysis: Analysis) -> bool:
    for subject in analysis:
        if subject.relation != "nsubj" or subject.head < subject.index:
            continue
        for clause in analysis.children(subject.index, "acl"):
            words = [i for i in analysis.subtree(clause.index) if subject.index < i < subject.head]
            if sum(has_word(analysis[i].text) for i in words) >= _LONG_BREAK:
                return True
    return False
