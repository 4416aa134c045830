"""Parataxis splits long, complex English sentences into simple ones with the same meaning."""

__version__ = "0.1.0"
