"""The seven syntactic patterns at which a sentence can be split: find them, count them."""

from parataxis.syntax.patterns.find import PatternTable, draw_sample, find_patterns, pattern_table
from parataxis.syntax.patterns.phrases import Occurrence, Pattern

__all__ = ["Occurrence", "Pattern", "PatternTable", "draw_sample", "find_patterns", "pattern_table"]
