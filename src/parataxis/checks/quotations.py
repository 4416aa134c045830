"""Quotations that a rewrite no longer gives as such. No analyser is needed here.

A quotation may be cut in two, but every word that the source puts between quotation marks stands
between quotation marks in the rewrite too.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence

from parataxis.checks.sides import Side
from parataxis.checks.units import Unit
from parataxis.rewrite.record import Finding, Kind

__all__ = ["lost_quotations"]

# Single marks are left out: most of them are apostrophes.
_QUOTATION = re.compile(r"“([^“”]+)”|„([^„“”]+)[“”]|«([^«»]+)»|\"([^\"]+)\"|``(.+?)''")
_OPENERS = re.compile(r'["“„«`]')
_AT_CUTS = frozenset(("and", "or", "but", "nor", "that", "which", "who", "whose"))
"""Words that may go where a quotation is cut in two."""
_INCHES = re.compile(r"\d\"")


def lost_quotations(source: Side, simple: Side, known: Sequence[Finding]) -> list[Finding]:
    """Quotations of the source whose words stand outside quotation marks, or nowhere.

    ``known`` are the findings on lost words: what they name is not named again.
    """
    if not _OPENERS.search(source.text):
        return []
    quoted = Counter(
        key
        for sentence, units in zip(simple.texts, simple.sentences, strict=True)
        for span in _spans(sentence)
        for key in _keys(units, span)
    )
    written = simple.counts()
    findings = []
    for start, end in _spans(source.text):
        needed = Counter(_keys(source.units, (start, end)))
        cut = Counter({key: count for key, count in needed.items() if key not in _AT_CUTS})
        if (cut or needed) <= quoted or any(f.start < end and start < f.end for f in known):
            continue
        words = source.text[start:end].strip(" ,.;:")
        if cut <= written:
            message = f"The quotation marks around '{words}' are missing."
        else:
            message = f"The quotation '{words}' is not whole."
        place = source.text.index(words, start)
        findings.append(
            Finding(
                kind=Kind.LOST, words=words, start=place, end=place + len(words), message=message
            )
        )
    return findings


def _spans(text: str) -> Iterator[tuple[int, int]]:
    """Where quotations stand, without their marks."""
    if _INCHES.search(text) and text.count('"') % 2:
        return  # which of the marks are inches is not certain
    for match in _QUOTATION.finditer(text):
        yield match.span(match.lastindex or 0)


def _keys(units: Sequence[Unit], span: tuple[int, int]) -> list[str]:
    return [unit.key for unit in units if span[0] <= unit.start and unit.end <= span[1]]
