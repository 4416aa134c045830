"""Checks on a rewrite: lost facts, new facts, repetitions, fragments, ambiguous pronouns."""

from parataxis.checks.checker import Checker, SentenceAnalyser, check

__all__ = ["Checker", "SentenceAnalyser", "check"]
