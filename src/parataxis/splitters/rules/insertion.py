"""Insertion handling, the third process (Zhang et al. 2020, appendix A)."""

from collections.abc import Sequence

from parataxis.rewrite.compose import Copy, Insert, Part, copies
from parataxis.rewrite.inflect import be
from parataxis.splitters.rules.roles import trimmed
from parataxis.syntax.analysis import ROOT, Analysis, Word

__all__ = ["split_insertion"]

_SHORTEST = 2
_MARKS = frozenset([",", "(", ")", "[", "]", "–", "—", "--", "-"])
_NOMINAL = frozenset(["NOUN", "PROPN", "PRON", "NUM", "DET", "SYM", "X"])
_CLAUSES_OF_A_NOUN = ("acl", "appos", "parataxis")
_OUTSIDE_THE_PHRASE = (*_CLAUSES_OF_A_NOUN, "case", "cc", "mark", "punct")


def split_insertion(
    analysis: Analysis, sentence: Sequence[Part]
) -> tuple[list[Part], list[Part]] | None:
    """Extract the first modifier that is a clause, and put its subject before it."""
    for node, words in _modifiers(analysis):
        start = _place(sentence, words)
        subject = _subject(analysis, node.head)
        if start is None or subject is None:
            continue
        left, right = list(sentence[:start]), list(sentence[start + len(words) :])
        if _is_set_off(analysis, left, right):
            left = left[:-1] if _is_mark(analysis, left[-1:]) else left
            right = right[1:] if _is_mark(analysis, right[:1]) else right
        elif not _has_verb(analysis, node):
            continue
        own = _own_sentence(analysis, node, words, subject)
        rest = [*left, *right]
        return (rest, own) if left else (own, rest)
    return None


def _modifiers(analysis: Analysis) -> list[tuple[Word, range]]:
    """The modifiers of the five types with their words, from left to right, the longest first."""
    found = []
    for node in analysis:
        if node.head == ROOT or not analysis.is_projective(node.index):
            continue
        words = trimmed(analysis, *analysis.span(node.index))
        if len(words) >= _SHORTEST and _is_modifier(analysis, node, words):
            found.append((node, words))
    return sorted(found, key=lambda pair: (pair[1].start, -len(pair[1])))


def _is_modifier(analysis: Analysis, node: Word, words: range) -> bool:
    return (
        _has_verb(analysis, node)
        or (node.deprel == "nmod" and analysis[words[0]].relation == "case")
        or (node.deprel == "amod" and node.head < words[0])
        or (node.deprel in ("acl", "advcl") and node.upos == "ADJ" and _is_bare(analysis, node))
        or node.deprel == "appos"
    )


def _has_verb(analysis: Analysis, node: Word) -> bool:
    """Whether the node is a participle modifier or a relative clause modifier."""
    if node.deprel == "acl:relcl":
        return _relative_subject(analysis, node) is not None
    is_participle = node.deprel in ("acl", "advcl") and node.xpos in ("VBG", "VBN")
    return is_participle and _is_bare(analysis, node)


def _is_bare(analysis: Analysis, node: Word) -> bool:
    """Whether a clause has no subject, auxiliary or conjunction of its own."""
    return not analysis.children(node.index, "nsubj", "csubj", "aux", "cop", "mark", "case", "expl")


def _relative_subject(analysis: Analysis, clause: Word) -> Word | None:
    """The relative pronoun that begins a relative clause and is its subject."""
    first = trimmed(analysis, *analysis.span(clause.index))[0]
    subjects = analysis.children(clause.index, "nsubj")
    return next((s for s in subjects if s.index == first and s.xpos in ("WDT", "WP")), None)


def _place(sentence: Sequence[Part], words: range) -> int | None:
    """Where all the words stand side by side in the sentence."""
    wanted = copies(words)
    if wanted[0] not in sentence:
        return None
    start = sentence.index(wanted[0])
    return start if list(sentence[start : start + len(wanted)]) == wanted else None


def _is_set_off(analysis: Analysis, left: Sequence[Part], right: Sequence[Part]) -> bool:
    """Whether marks or the ends of the sentence stand on both sides, and at least one mark."""
    mark_before, mark_after = _is_mark(analysis, left[-1:]), _is_mark(analysis, right[:1])
    starts, ends = not left, not right or _is_stop(analysis, right[0])
    return (mark_before and (mark_after or ends)) or (starts and mark_after)


def _is_mark(analysis: Analysis, parts: Sequence[Part]) -> bool:
    if not parts or not isinstance(parts[0], Copy):
        return False
    word = analysis[parts[0].word]
    is_hyphen = word.text == "-" and word.index and analysis[word.index - 1].end == word.start
    return word.text in _MARKS and not is_hyphen


def _is_stop(analysis: Analysis, part: Part) -> bool:
    return isinstance(part, Copy) and analysis[part.word].text in (".", "!", "?", ";", ":")


def _subject(analysis: Analysis, head: int) -> Word | None:
    """The subject of the clause that ``head`` is the predicate of, else the noun that it is,
    else the subject of the clause above it."""
    while head != ROOT:
        word = analysis[head]
        subjects = analysis.children(head, "nsubj")
        if subjects and subjects[0].xpos in ("WDT", "WP") and word.deprel == "acl:relcl":
            return analysis[word.head]
        if subjects:
            return subjects[0]
        if word.upos in _NOMINAL:
            return word
        head = word.head
    return None


def _own_sentence(analysis: Analysis, node: Word, words: range, subject: Word) -> list[Part]:
    extracted = analysis.subtree(node.index)
    phrase = copies(i for i in _phrase(analysis, subject) if i not in extracted)
    if node.deprel == "acl:relcl":
        return [*phrase, *copies(words[1:])]
    return [*phrase, Insert(be(analysis, subject.index, node.head)), *copies(words)]


def _phrase(analysis: Analysis, noun: Word) -> list[int]:
    """The noun with what belongs to it, without its preposition and its own clauses."""
    outside = {
        index
        for child in analysis.children(noun.index, *_OUTSIDE_THE_PHRASE)
        for index in analysis.subtree(child.index)
    }
    return [index for index in analysis.subtree(noun.index) if index not in outside]
