"""Particles that a rewrite loses: "put off" is something else than "put"."""

from collections.abc import Sequence

from parataxis.checks.origins import Origins
from parataxis.rewrite.forms import key
from parataxis.rewrite.record import Finding, Kind
from parataxis.syntax.analysis import Analysis

__all__ = ["lost_particles"]


def lost_particles(
    source: Analysis, simple: Sequence[str], origins: Sequence[Origins]
) -> list[Finding]:
    """The particles of verbs that are nowhere in the rewrite though their verb is."""
    particles = [word for word in source if word.deprel == "compound:prt"]
    if not particles:
        return []
    used = {word.index for origin in origins for word in origin.used()}
    written = {key(word) for sentence in simple for word in sentence.split()}
    return [
        Finding(
            kind=Kind.LOST,
            words=word.text,
            start=word.start,
            end=word.end,
            message=f"The word '{word.text}' is missing.",
        )
        for word in particles
        if word.index not in used
        and word.head in used
        and not any(other.startswith(key(word.text)) for other in written)
    ]
