"""The Flesch-Kincaid grade level (Kincaid et al. 1975) as a metric."""

from collections.abc import Sequence

import numpy as np

from parataxis.evaluate.metrics.protocol import Score, ScoredItem, Signature, Statistics
from parataxis.text.readability import (
    COUNTER,
    VISIBLE,
    count_syllables,
    grade_level,
    readability_counts,
)


class GradeLevel:
    """0.39 words per sentence + 11.8 syllables per word - 15.59, of the corpus as one text.

    Sentences are the simple sentences as the rewrite gives them. A word is what stands between
    spaces and has a letter or a digit; a clitic that a tokeniser cut off ("'s", "n't") is part of
    the word before it, and a bracket that it wrote as "-LRB-" is none. So text that was tokenised
    has the level of text that was not. Syllables are counted by
    :func:`~parataxis.text.readability.count_syllables`.

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

    def statistics(self, items: Sequence[ScoredItem]) -> Statistics:
        """For each item its sentences, words and syllables."""
        return np.array([readability_counts(item.simple) for item in items], float)

    def from_statistics(self, total: Statistics) -> Score:
        """The grade level and the two lengths that it is made of."""
        sentences, spoken, syllables = total.tolist()
        parts = {
            "words-per-sentence": spoken / sentences if sentences else float("nan"),
            "syllables-per-word": syllables / spoken if spoken else float("nan"),
        }
        return Score(grade_level(sentences, spoken, syllables), self.signature, parts)


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

    def statistics(self, items: Sequence[ScoredItem]) -> Statistics:
        """For each item its grade level and 1; both 0 where it is empty."""
        rows = []
        for item in items:
            tokens = [token for sentence in item.simple for token in sentence.split()]
            syllables = sum(count_syllables(token) for token in tokens if VISIBLE.search(token))
            grade = grade_level(len(item.simple), len(tokens), syllables)
            rows.append((grade, 1.0) if tokens else (0.0, 0.0))
        return np.array(rows)

    def from_statistics(self, total: Statistics) -> Score:
        """The mean."""
        value = float(total[0] / total[1]) if total[1] else float("nan")
        return Score(value, self.signature)
