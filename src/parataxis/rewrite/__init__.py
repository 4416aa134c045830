"""The ``Rewrite`` record, its provenance, and reading, writing and showing it."""

from parataxis.rewrite.record import Finding, Kind, Origin, OutputToken, Rewrite

__all__ = ["Finding", "Kind", "Origin", "OutputToken", "Rewrite"]
