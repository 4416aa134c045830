"""The Flesch-Kincaid grade level (Kincaid et al. 1975) as a metric."""

from collections.abc import Mapping, Sequence
from typing import ClassVar

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

    Sentences are the simple sentences as the rewrite gives them. A word is a stretch without spaces
    that has a letter or a digit; a clitic that a tokeniser cut off ("'s", "n't") belongs to the
    word before it, and the escape "-LRB-" is no word. So tokenised text has the same level as
    running text. Syllables are counted by :func:`~parataxis.text.readability.count_syllables`.

    The level says nothing about grammar or meaning: any additional full stop lowers it.
    """

    name = "fkgl"
    summary = "Flesch-Kincaid grade level of the corpus"
    needs_references = False
    higher_is_better: bool | None = False
    settings: ClassVar[Mapping[str, str]] = {"average": "micro", "words": "spoken"}

    @property
    def signature(self) -> Signature:
        """The average, what a word is, and the syllable counter."""
        return Signature(self.name, {**self.settings, "syllables": COUNTER})

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


class GradeLevel2019(GradeLevel):
    """The mean of the grade levels of single rewrites, in which every token counts as a word,
    punctuation marks too.

    This gives the 8 and 6 in table 6 of the 2019 report on evaluating split-and-rephrase, which
    counts its tokens per sentence in the same way. Without the marks its outputs have 8 and 7 as
    one text, and 9 and 8 as a mean. Use this only for comparison with that report.
    """

    name = "fkgl-2019"
    summary = "mean Flesch-Kincaid grade level of rewrites, every token a word"
    settings: ClassVar[Mapping[str, str]] = {"average": "macro", "words": "tokens"}

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
