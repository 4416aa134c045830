"""How corpora separate the simple sentences in a line, and how tokenised text is joined again."""

import re
from collections.abc import Sequence
from itertools import chain, pairwise

from parataxis.errors import InputError
from parataxis.text.segments import sentence_ends
from parataxis.text.tokens import plain_brackets

SEP = "<SEP>"
"""The mark of BiSECT and of the systems' outputs published with it."""

WIKISPLIT_MARK = "<::::>"

_MARK = re.compile(f"{SEP}|{WIKISPLIT_MARK}")
_AFTER_STOP = re.compile(r"(?<=(?<!\S)[.?!])\s+(?![”’'\")\]](?:\s|$))")
_AFTER_CLOSED_STOP = re.compile(r"(?<=(?<!\S)[.?!] [”’'\")\]])\s+(?=\w)")
_WORD = re.compile(r"\w")


def at_mark(text: str, mark: str) -> tuple[str, ...]:
    """The sentences between the marks.

    >>> at_mark("It rained . <SEP> We left .", SEP)
    ('It rained .', 'We left .')
    """
    return tuple(filter(None, map(str.strip, text.split(mark))))


def has_mark(line: str) -> bool:
    """Whether a line has a mark between sentences."""
    return _MARK.search(line) is not None


def cut_line(line: str, *, marked: bool) -> tuple[str, ...]:
    """The simple sentences of a line of text, the rewrite of one source, between marks of either
    kind. A line without a mark is one sentence if the file is ``marked``, else the segmenter cuts.

    >>> cut_line("It rained. <::::> We left. <SEP> Bo sat.", marked=True)
    ('It rained.', 'We left.', 'Bo sat.')
    >>> cut_line("It rained. We left.", marked=True), cut_line("It rained. We left.", marked=False)
    (('It rained. We left.',), ('It rained.', 'We left.'))
    """
    if marked or has_mark(line):
        return tuple(filter(None, map(str.strip, _MARK.split(line))))
    return by_segmenter(line)


def joined_at_mark(sentences: Sequence[str], mark: str) -> str:
    """The sentences in one line, with marks between them."""
    for sentence in sentences:
        if mark in sentence:
            raise InputError(f'The sentence "{sentence}" has the mark {mark} inside.')
    return f" {mark} ".join(map(on_one_line, sentences))


def by_segmenter(text: str) -> tuple[str, ...]:
    """The sentences of running text, as our segmenter finds them.

    >>> by_segmenter("Dr. Lee left. He is back!")
    ('Dr. Lee left.', 'He is back!')
    """
    line = on_one_line(text)
    edges = [0, *sentence_ends(line), len(line)]
    parts = (line[start:end].strip() for start, end in pairwise(edges))
    return tuple(filter(None, parts))


def at_final_stops(text: str) -> tuple[str, ...]:
    """The sentences of tokenised text, in which a final mark is a token of its own; marks without a
    word belong to the sentence before them.

    >>> at_final_stops("St. Mary came . she left . ”")
    ('St. Mary came .', 'she left . ”')
    """
    parts = map(_AFTER_CLOSED_STOP.split, _AFTER_STOP.split(text.strip()))
    sentences: list[str] = []
    for piece in chain.from_iterable(parts):
        if sentences and not (_WORD.search(piece) and _WORD.search(sentences[-1])):
            sentences[-1] += f" {piece}"
        else:
            sentences.append(piece)
    return tuple(sentence for sentence in sentences if _WORD.search(sentence))


def on_one_line(text: str) -> str:
    """The text with all white space, such as tabs and line breaks, replaced by single spaces."""
    return " ".join(text.split())


_QUOTED = re.compile(r'" ([^"]*?) "')
_TIGHT_BEFORE = re.compile(r" ([,.;:%)\]!?]|n't\b|'(?:s|re|ve|ll|d|m)\b)")
_TIGHT_AFTER = re.compile(r"([(\[$]) ")


def running_text(tokens: str) -> str:
    """Penn Treebank tokens as running text; a guess if quotation marks do not pair.

    >>> running_text("He did n't like `` Evita '' ( 1996 ) , Ann 's film .")
    'He didn\\'t like "Evita" (1996), Ann\\'s film.'
    """
    text = plain_brackets(on_one_line(tokens))
    text = _QUOTED.sub(r'"\1"', text.replace("``", '"').replace("''", '"'))
    return _TIGHT_AFTER.sub(r"\1", _TIGHT_BEFORE.sub(r"\1", text))
