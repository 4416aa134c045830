"""Insertion handling, the third process (Zhang et al. 2020, appendix A)."""

from collections.abc import Iterator, Sequence

from parataxis.rewrite.compose import Copy, Insert, Part, copies
from parataxis.rewrite.inflect import be
from parataxis.splitters.rules.roles import RELATIVE_WORDS, trimmed
from parataxis.syntax.analysis import ROOT, Analysis, Word

__all__ = ["split_insertion"]

_TYPES = frozenset(["acl", "advcl", "nmod", "amod", "appos"])
_SHORTEST = 2
_BRACKETS = {"(": ")", "[": "]"}
_SEPARATORS = frozenset([",", "–", "—", "--", "-"])
_STOPS = frozenset([".", "!", "?", ";", ":"])
_MARKS = _SEPARATORS | {*_BRACKETS, *_BRACKETS.values()}
_NOMINAL = frozenset(["NOUN", "PROPN", "PRON", "NUM", "DET", "SYM", "X"])
_CLAUSES_OF_A_NOUN = ("acl", "appos", "parataxis")
_BEFORE_THE_PHRASE = ("case", "fixed", "cc", "mark")


def split_insertion(
    analysis: Analysis, sentence: Sequence[Part]
) -> Iterator[tuple[list[Part], list[Part]]]:
    """Extract each modifier that is a clause, and put its subject before it."""
    for node, words in _modifiers(analysis):
        start = _place(sentence, words)
        subject = _subject(analysis, node.head)
        if start is None or subject is None:
            continue
        end = start + len(words)
        if _is_set_off(analysis, sentence[:start], sentence[end:]):
            start -= _mark(analysis, sentence[start - 1 : start]) is not None
            end += _mark(analysis, sentence[end : end + 1]) is not None
        elif not _has_verb(analysis, node):
            continue
        rest = [*sentence[:start], *sentence[end:]]
        phrase = [part for part in _phrase(analysis, subject) if part not in sentence[start:end]]
        own = [*phrase, *_predicate(analysis, node, words, subject)]
        yield (rest, own) if start else (own, rest)


def _modifiers(analysis: Analysis) -> list[tuple[Word, range]]:
    """The modifiers of the five types with their words, from left to right, the longest first."""
    found = []
    for node in analysis:
        if node.relation not in _TYPES or not analysis.is_projective(node.index):
            continue
        words = trimmed(analysis, *analysis.span(node.index))
        if len(words) >= _SHORTEST and _is_modifier(analysis, node, words):
            found.append((node, words))
    return sorted(found, key=lambda pair: (pair[1].start, -len(pair[1])))


def _is_modifier(analysis: Analysis, node: Word, words: range) -> bool:
    if _has_verb(analysis, node):
        return True
    if not _is_bare(analysis, node):
        return False
    if node.deprel in ("amod", "appos"):
        return node.head < words[0]
    if node.deprel == "nmod":
        return node.head < words[0] and analysis[words[0]].relation == "case"
    return node.deprel in ("acl", "advcl") and node.upos == "ADJ"


def _has_verb(analysis: Analysis, node: Word) -> bool:
    """Whether the node is a participle modifier or a relative clause modifier."""
    if node.deprel == "acl:relcl":
        return _begins_with_its_subject(analysis, node)
    is_participle = node.deprel in ("acl", "advcl") and node.xpos in ("VBG", "VBN")
    return is_participle and _is_bare(analysis, node)


def _is_bare(analysis: Analysis, node: Word) -> bool:
    """Whether a clause has no subject, auxiliary or conjunction of its own."""
    if analysis.children(node.index, "nsubj", "csubj", "expl", "aux", "cop", "mark"):
        return False
    return all(child.xpos != "WRB" for child in analysis.children(node.index, "advmod"))


def _begins_with_its_subject(analysis: Analysis, clause: Word) -> bool:
    """Whether a relative clause begins with a relative pronoun that is its subject."""
    first = analysis[trimmed(analysis, *analysis.span(clause.index))[0]]
    is_subject = first.head == clause.index and first.relation == "nsubj"
    return is_subject and first.text.lower() in RELATIVE_WORDS


def _place(sentence: Sequence[Part], words: range) -> int | None:
    """Where all the words stand side by side in the sentence."""
    wanted = copies(words)
    if wanted[0] not in sentence:
        return None
    start = sentence.index(wanted[0])
    return start if list(sentence[start : start + len(wanted)]) == wanted else None


def _is_set_off(analysis: Analysis, left: Sequence[Part], right: Sequence[Part]) -> bool:
    """Whether commas, dashes or brackets stand on both sides, or on one and the sentence's end
    on the other."""
    before, after = _mark(analysis, left[-1:]), _mark(analysis, right[:1])
    if before in _BRACKETS or after in _BRACKETS.values():
        return before in _BRACKETS and _BRACKETS[before] == after
    if before is None:
        return not left and after is not None
    return after is not None or not right or _is_stop(analysis, right[0])


def _mark(analysis: Analysis, parts: Sequence[Part]) -> str | None:
    """The mark that the only part is, if it is one that can set off a clause."""
    if not parts or not isinstance(parts[0], Copy):
        return None
    word = analysis[parts[0].word]
    is_hyphen = word.text == "-" and word.index and analysis[word.index - 1].end == word.start
    return word.text if word.text in _MARKS and not is_hyphen else None


def _is_stop(analysis: Analysis, part: Part) -> bool:
    return isinstance(part, Copy) and analysis[part.word].text in _STOPS


def _subject(analysis: Analysis, head: int) -> Word | None:
    """The subject of the clause that ``head`` is the predicate of, else the noun that it is,
    else the subject of the clause above it."""
    while head != ROOT:
        word = analysis[head]
        subjects = analysis.children(head, "nsubj")
        if word.deprel == "acl:relcl" and _begins_with_its_subject(analysis, word):
            return analysis[word.head]
        if subjects:
            return subjects[0]
        if word.upos in _NOMINAL:
            return word
        head = word.head
    return None


def _phrase(analysis: Analysis, noun: Word) -> list[Part]:
    """The noun with what belongs to it, without its preposition and its own clauses."""
    clauses = {
        index
        for child in analysis.children(noun.index, *_CLAUSES_OF_A_NOUN)
        if child.relation != "appos" or _follows_mark(analysis, child)
        for index in analysis.subtree(child.index)
    }
    commas = {
        index
        for index in analysis.subtree(noun.index)
        if analysis[index].text == "," and {index - 1, index + 1} & clauses
    }
    dropped = (clauses | commas) - {noun.index}  # a wrong tree may take a comma for the subject
    words = [analysis[index] for index in analysis.subtree(noun.index) if index not in dropped]
    while words[0] != noun and (
        words[0].relation in _BEFORE_THE_PHRASE or words[0].text in _SEPARATORS
    ):
        words.pop(0)
    while words[-1] != noun and (
        words[-1].relation == "case" or words[-1].text in _SEPARATORS | _STOPS
    ):
        words.pop()  # the "'s" of a possessor, the dash before a clause, the stop of the source
    return copies(word.index for word in words)


def _follows_mark(analysis: Analysis, node: Word) -> bool:
    first, _ = analysis.span(node.index)
    return any(analysis[index].text in _MARKS for index in (first - 1, first) if index >= 0)


def _predicate(analysis: Analysis, node: Word, words: range, subject: Word) -> list[Part]:
    """The clause as it follows its subject: after "to be", or without its relative pronoun."""
    if node.deprel == "acl:relcl":
        return copies(words[1:])
    return [Insert(be(analysis, subject.index, node.head)), *copies(words)]
