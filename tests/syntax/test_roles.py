"""Roles of relative words agree with their antecedents."""

import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from parataxis.syntax.analysis import ROOT, Analysis, Argument, Word
from parataxis.syntax.decoding import reconcile

CLAUSES = {
    # word/xpos/upos/head/relation; heads count from 1, 0 is the root
    "the time when they met": "the/DT/DET/2/det time/NN/NOUN/0/root when/WRB/ADV/5/advmod "
    "they/PRP/PRON/5/nsubj met/VBD/VERB/2/acl:relcl",
    "men most of whom left": "men/NNS/NOUN/0/root most/JJS/ADJ/5/nsubj of/IN/ADP/4/case "
    "whom/WP/PRON/2/nmod left/VBD/VERB/1/acl:relcl",
    "the firm to which it belongs": "the/DT/DET/2/det firm/NN/NOUN/0/root to/IN/ADP/4/case "
    "which/WDT/PRON/6/obl it/PRP/PRON/6/nsubj belongs/VBZ/VERB/2/acl:relcl",
    "tell me who left": "tell/VB/VERB/0/root me/PRP/PRON/1/iobj who/WP/PRON/4/nsubj "
    "left/VBD/VERB/1/ccomp",
}


def analysis(name: str) -> Analysis:
    words, start = [], 0
    for index, item in enumerate(CLAUSES[name].split()):
        text, xpos, upos, head, deprel = item.split("/")
        end = start + len(text)
        words.append(Word(index, text, start, end, upos, xpos, {}, int(head) - 1, deprel))
        start = end + 1
    assert words[0].head == ROOT or any(word.head == ROOT for word in words)
    return Analysis(name, words)


def spans(*items: tuple[int, int, str]) -> tuple[Argument, ...]:
    return tuple(Argument(*item) for item in items)


@pytest.mark.parametrize(
    ("name", "predicted", "expected"),
    [
        # one and the same role for the antecedent and its relative
        (
            "the time when they met",
            spans((0, 1, "ARGM-TMP"), (2, 2, "ARGM-TMP"), (3, 3, "ARG0")),
            spans((0, 1, "ARGM-TMP"), (2, 2, "R-ARGM-TMP"), (3, 3, "ARG0")),
        ),
        # a relative takes the role of the argument right before it
        (
            "the time when they met",
            spans((0, 1, "ARGM-TMP"), (2, 2, "R-ARG1"), (3, 3, "ARG0")),
            spans((0, 1, "ARGM-TMP"), (2, 2, "R-ARGM-TMP"), (3, 3, "ARG0")),
        ),
        # a relative phrase that was tagged in two
        (
            "men most of whom left",
            spans((0, 0, "ARG0"), (1, 2, "ARG0"), (3, 3, "R-ARG0")),
            spans((0, 0, "ARG0"), (1, 3, "R-ARG0")),
        ),
        # the preposition went to the antecedent
        (
            "the firm to which it belongs",
            spans((0, 2, "ARG1"), (3, 3, "R-ARG1"), (4, 4, "ARG0")),
            spans((0, 1, "ARG1"), (2, 3, "R-ARG1"), (4, 4, "ARG0")),
        ),
        # the antecedent is missing, and the tree knows it
        (
            "the firm to which it belongs",
            spans((2, 3, "R-ARG1"), (4, 4, "ARG0")),
            spans((0, 1, "ARG1"), (2, 3, "R-ARG1"), (4, 4, "ARG0")),
        ),
        # no antecedent anywhere: no argument
        ("tell me who left", spans((2, 2, "R-ARG0")), ()),
        # a question word keeps its role
        ("tell me who left", spans((2, 2, "ARG0")), spans((2, 2, "ARG0"))),
    ],
)
def test_roles_reconcile(
    name: str, predicted: tuple[Argument, ...], expected: tuple[Argument, ...]
) -> None:
    assert reconcile(analysis(name), predicted) == expected


@settings(max_examples=300, deadline=None)
@given(
    st.sampled_from(sorted(CLAUSES)),
    st.lists(st.sampled_from(["", "ARG0", "ARG1", "ARGM-TMP", "R-ARG0", "R-ARGM-TMP"]), min_size=6),
    st.lists(st.booleans(), min_size=6),
)
def test_roles_reconciled_never_overlap(name: str, labels: list[str], joins: list[bool]) -> None:
    parsed = analysis(name)
    predicted: list[Argument] = []
    for word, label, join in zip(parsed, labels, joins, strict=False):
        if join and predicted and predicted[-1].last == word.index - 1:
            predicted[-1] = Argument(predicted[-1].first, word.index, predicted[-1].label)
        elif label:
            predicted.append(Argument(word.index, word.index, label))
    found = reconcile(parsed, predicted)
    assert all(one.last < two.first for one, two in itertools.pairwise(found))
