"""The Flesch-Kincaid grade level (Kincaid et al. 1975): how long sentences and words are."""

import re
from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from parataxis.metrics.protocol import Item, Score, Signature, Statistics
from parataxis.metrics.syllables import COUNTER, count_syllables
from parataxis.text.brackets import plain_brackets

__all__ = ["GradeLevel", "GradeLevel2019", "words"]

_PER_LENGTH, _PER_SYLLABLE, _OFFSET = 0.39, 11.8, 15.59
_VISIBLE = re.compile(r"[^\W_]")
_NO_WORD = re.compile(r"['’`]\w{1,2}\Z|n['’`]t\Z", re.IGNORECASE)
_CACHED = 2**15


class GradeLevel:
    """0.39 words per sentence + 11.8 syllables per word - 15.59, of the corpus as one text.

    Sentences are the simple sentences as the rewrite gives them. A word is what stands between
    spaces and has a letter or a digit; a clitic that a tokeniser cut off ("'s", "n't") is part of
    the word before it, and a bracket that it wrote as "-LRB-" is none. So text that was tokenised
    has the level of text that was not. Syllables are counted by
    :func:`~parataxis.metrics.syllables.count_syllables`.

    The level says nothing about grammar or meaning: it falls whenever a full stop is put anywhere.
    """

    name = "fkgl"
    summary = "Flesch-Kincaid grade level of the corpus"
    needs_references = False
    higher_is_better: bool | None = False

    @property
    def signature(self) -> Signature:
        """Over what it is averaged, what a word is, and who counts the syllables."""
        return Signature(self.name, {"average": "micro", "words": "spoken", "syllables": COUNTER})

    def statistics(self, items: Sequence[Item]) -> Statistics:
        """For each item its sentences, words and syllables."""
        return np.array([_counts(item.simple) for item in items], float)

    def from_statistics(self, total: Statistics) -> Score:
        """The grade level and the two lengths that it is made of."""
        sentences, spoken, syllables = total.tolist()
        parts = {
            "words-per-sentence": spoken / sentences if sentences else float("nan"),
            "syllables-per-word": syllables / spoken if spoken else float("nan"),
        }
        return Score(_grade(sentences, spoken, syllables), self.signature, parts)


class GradeLevel2019:
    """The mean of the grade levels of single rewrites, in which every token counts as a word,
    punctuation marks too.

    This gives the 8 and 6 in table 6 of the 2019 report on evaluating split-and-rephrase, and it is
    how that report counts its tokens per sentence. Without the marks its outputs have 8 and 7 as
    one text, and 9 and 8 as a mean. Take this for comparison with that report only.
    """

    name = "fkgl-2019"
    summary = "mean Flesch-Kincaid grade level of rewrites, every token a word"
    needs_references = False
    higher_is_better: bool | None = False

    @property
    def signature(self) -> Signature:
        """Over what it is averaged, what a word is, and who counts the syllables."""
        return Signature(self.name, {"average": "macro", "words": "tokens", "syllables": COUNTER})

    def statistics(self, items: Sequence[Item]) -> Statistics:
        """For each item its grade level and 1; both 0 where it is empty."""
        rows = []
        for item in items:
            tokens = [token for sentence in item.simple for token in sentence.split()]
            syllables = sum(count_syllables(token) for token in tokens if _VISIBLE.search(token))
            grade = _grade(len(item.simple), len(tokens), syllables)
            rows.append((grade, 1.0) if tokens else (0.0, 0.0))
        return np.array(rows)

    def from_statistics(self, total: Statistics) -> Score:
        """The mean."""
        value = float(total[0] / total[1]) if total[1] else float("nan")
        return Score(value, self.signature)


@lru_cache(maxsize=_CACHED)
def words(sentence: str) -> tuple[str, ...]:
    """The words of a sentence without punctuation and clitics.

    >>> words("Andrew White 's genre , 16.76 km per sec .")
    ('Andrew', 'White', 'genre', '16.76', 'km', 'per', 'sec')
    """
    pieces = plain_brackets(sentence).split()
    return tuple(piece for piece in pieces if _VISIBLE.search(piece) and not _NO_WORD.match(piece))


def _counts(simple: Sequence[str]) -> tuple[int, int, int]:
    spoken = [word for sentence in simple for word in words(sentence)]
    return len(simple), len(spoken), sum(map(count_syllables, spoken))


def _grade(sentences: float, spoken: float, syllables: float) -> float:
    if not sentences or not spoken:
        return float("nan")
    return _PER_LENGTH * spoken / sentences + _PER_SYLLABLE * syllables / spoken - _OFFSET
