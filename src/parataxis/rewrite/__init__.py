"""The ``Rewrite`` record, its provenance, and reading, writing and showing it."""

from parataxis.rewrite.record import Finding, FindingKind, Origin, OutputToken, Rewrite

__all__ = ["Finding", "FindingKind", "Origin", "OutputToken", "Rewrite"]
