"""The Flesch-Kincaid grade level (Kincaid et al. 1975) as a metric."""

from collections.abc import Mapping, Sequence
from typing import ClassVar

import numpy as np

from parataxis.evaluate.metrics.protocol import (
    BaseMetric,
    RatioMetric,
    Score,
    ScoredItem,
    Statistics,
)
from parataxis.text.readability import (
    COUNTER,
    VISIBLE,
    count_syllables,
    grade_level,
    readability_counts,
)


class GradeLevel(BaseMetric):
    """The grade level of the corpus as one text, the same for tokenised and for running text. It
    says nothing about grammar or meaning: any additional full stop lowers it."""

    name = "fkgl"
    summary = "Flesch-Kincaid grade level of the corpus"
    higher_is_better = False
    settings: ClassVar[Mapping[str, str]] = {
        "average": "micro",
        "words": "spoken",
        "syllables": COUNTER,
    }

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


class GradeLevel2019(RatioMetric, GradeLevel):
    """The mean of the grade levels of single rewrites, in which every token counts as a word,
    punctuation marks too: only for comparison with table 6 of the 2019 report on evaluating
    split-and-rephrase."""

    name = "fkgl-2019"
    summary = "mean Flesch-Kincaid grade level of rewrites, every token a word"
    settings: ClassVar[Mapping[str, str]] = {
        **GradeLevel.settings,
        "average": "macro",
        "words": "tokens",
    }

    def counts(self, item: ScoredItem) -> tuple[float, float]:
        """Its grade level and 1; both 0 where it is empty."""
        tokens = [token for sentence in item.simple for token in sentence.split()]
        syllables = sum(count_syllables(token) for token in tokens if VISIBLE.search(token))
        grade = grade_level(len(item.simple), len(tokens), syllables)
        return (grade, 1) if tokens else (0, 0)
