"""Corpora of split sentences: read, write, build, re-split, describe, and check for leaks."""
