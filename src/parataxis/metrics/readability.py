"""The Flesch-Kincaid grade level (Kincaid et al. 1975): how long sentences and words are."""

import re
from collections.abc import Callable, Sequence
from functools import lru_cache

import numpy as np

from parataxis.metrics.protocol import Item, Score, Signature, Statistics
from parataxis.metrics.syllables import count_by_hyphenation, count_by_spelling

__all__ = ["GradeLevel", "GradeLevel2019", "words"]

_PER_LENGTH, _PER_SYLLABLE, _OFFSET = 0.39, 11.8, 15.59
_VISIBLE = re.compile(r"[^\W_]")
_NO_WORD = re.compile(r"['’`]\w{1,2}\Z|n['’`]t\Z|-[LR][RSC]B-\Z", re.IGNORECASE)
_CACHED = 2**15


class GradeLevel:
    """0.39 words per sentence + 11.8 syllables per word - 15.59, of the corpus as one text.

    Sentences are the simple sentences as the rewrite gives them. A word is what stands between
    spaces and has a letter or a digit; a clitic that a tokeniser cut off ("'s", "n't") is part of
    the word before it, and a bracket that it wrote as "-LRB-" is none. So text that was tokenised
    has the level of text that was not. Syllables are counted by the spelling rules of
    :func:`~parataxis.metrics.syllables.count_by_spelling`.

    The level says nothing about grammar or meaning: it falls whenever a full stop is put anywhere.
    """

    name = "fkgl"
    summary = "Flesch-Kincaid grade level of the corpus"
    needs_references = False
    higher_is_better: bool | None = False

    @property
    def signature(self) -> Signature:
        """Over what it is averaged, and who counts the syllables."""
        return Signature(self.name, {"level": "corpus", "syllables": "parataxis-spelling-1"})

    def statistics(self, items: Sequence[Item]) -> Statistics:
        """For each item its sentences, words and syllables."""
        return np.array([_counts(item.simple, count_by_spelling) for item in items], float)

    def from_statistics(self, total: Statistics) -> Score:
        """The grade level and the two lengths that it is made of."""
        sentences, spoken, syllables = total.tolist()
        parts = {
            "words-per-sentence": spoken / sentences if sentences else float("nan"),
            "syllables-per-word": syllables / spoken if spoken else float("nan"),
        }
        return Score(_grade(sentences, spoken, syllables), self.signature, parts)


class GradeLevel2019:
    """The mean of the grade levels of single rewrites, with the syllables of textstat (Pyphen).

    This is how the 2019 report on evaluating split-and-rephrase must have come to 8 and 6 in its
    table 6: with syllables counted well its outputs have 9 and 7, and as one text 8 and 7. Take it
    for comparison with that report only: hyphenation finds too few syllables.
    """

    name = "fkgl-2019"
    summary = "mean Flesch-Kincaid grade level of rewrites, syllables by hyphenation"
    needs_references = False
    higher_is_better: bool | None = False

    @property
    def signature(self) -> Signature:
        """Over what it is averaged, and who counts the syllables."""
        return Signature(self.name, {"level": "mean of rewrites", "syllables": "pyphen-en_US"})

    def statistics(self, items: Sequence[Item]) -> Statistics:
        """For each item its grade level and 1; both 0 where it has no word."""
        rows = []
        for item in items:
            counts = _counts(item.simple, count_by_hyphenation)
            rows.append((_grade(*counts), 1.0) if counts[1] else (0.0, 0.0))
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
    return tuple(
        piece for piece in sentence.split() if _VISIBLE.search(piece) and not _NO_WORD.match(piece)
    )


def _counts(simple: Sequence[str], count: Callable[[str], int]) -> tuple[int, int, int]:
    spoken = [word for sentence in simple for word in words(sentence)]
    return len(simple), len(spoken), sum(count(word) for word in spoken)


def _grade(sentences: float, spoken: float, syllables: float) -> float:
    if not sentences or not spoken:
        return float("nan")
    return _PER_LENGTH * spoken / sentences + _PER_SYLLABLE * syllables / spoken - _OFFSET
