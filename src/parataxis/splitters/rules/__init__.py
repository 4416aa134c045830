"""The rule-based splitter."""

from parataxis.splitters.rules.splitter import RulesSplitter, split_by_rules

__all__ = ["RulesSplitter", "split_by_rules"]
