"""The seven syntactic patterns at which a sentence can be split: find them, count them."""

from parataxis.syntax.patterns.find import find_patterns
from parataxis.syntax.patterns.kinds import Occurrence, Pattern
from parataxis.syntax.patterns.table import PatternTable, draw_sample, pattern_table

__all__ = [
    "Occurrence",
    "Pattern",
    "PatternTable",
    "draw_sample",
    "find_patterns",
    "pattern_table",
]
