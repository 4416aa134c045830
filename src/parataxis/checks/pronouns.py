"""Inserted pronouns that a reader cannot resolve."""

from collections.abc import Sequence

from parataxis.rewrite.record import Finding, OutputToken
from parataxis.syntax.analysis import Analysis

__all__ = ["pronoun_findings"]


def pronoun_findings(
    source: Analysis, simple: Sequence[Analysis], provenance: Sequence[Sequence[OutputToken]]
) -> list[Finding]:
    return []
