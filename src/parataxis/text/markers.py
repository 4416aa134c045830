"""What numbers or marks a clause and is no part of its sentence: "1.", "(a)", "•", "Section 3."."""

import re

from parataxis.text.starters import STARTERS

__all__ = ["label_length", "marker_length"]

_ROMAN = r"[ivxIVX]{1,5}|[lcLC]{1,2}[ivxIVX]{0,5}"
_BULLET = re.compile(r"(?:[-*+•‣◦·▪●○■□–—]\s+)(?:\[[ xX]\]\s+)?(?=\S)")
_DASH = re.compile(r"[-+–—]\s+[a-z]")
_NUMBER = re.compile(
    rf"\s*(?P<label>(?:\((?:\d{{1,3}}|[a-zA-Z]{{1,2}}|{_ROMAN})\)|(?:\d{{1,3}}|[a-z]|{_ROMAN})\)"
    r"|\d{1,3}(?:\.\d{1,3}){0,9}\.|\d{1,3}(?:\.\d{1,3}){1,9}(?=\s+[\"“(]*[A-Z])"
    r"|(?:[a-hj-z]|[ivx]{2,5}|[IVX]{2,5})\.)\s+)(?=\S)"
)
_CAPITAL = re.compile(r"\s*(?P<label>[A-Z]\.\s+)(?P<word>[A-Z][a-z]*)\b")
_LABEL = re.compile(
    r"\s*(?P<label>"
    r"(?i:article|section|sec\.|clause|chapter|part|schedule|exhibit|appendix|annex|§+)\s*"
    rf"(?:\d+(?:\.\d+)*|{_ROMAN}|[A-Z])(?:\([a-zA-Z0-9]{{1,4}}\))*[.:]\s+)(?=[\"“(]*[A-Z])"
)
_REFERENCE = re.compile(
    r"\b(?i:clauses?|sections?|subsections?|paragraphs?|articles?|items?|of|in|to|by|under|with)$"
)
_FINISHED = re.compile(r"(?:[.!?…:;][\"'”’)\]*_]*|\band|\bor|,)$")


def marker_length(line: str, above: str = "", *, in_list: bool = False) -> int:
    """Length of the list markers and labels at the start of a line.

    ``above`` is the line above in the same paragraph; ``in_list`` says that an item began at the
    same column before. Under a line that is not finished, "5. May" or "- or" is the rest of a
    sentence.
    """
    bullet = _BULLET.match(line)
    length = bullet.end() if bullet else 0
    length += label_length(line[length:])
    if not above or (bullet and not _DASH.match(line)):
        return length
    if not bullet and _REFERENCE.search(above):
        return 0
    return length if in_list or _FINISHED.search(above) else 0


def label_length(text: str) -> int:
    """Length of what numbers a clause: "1.", "(a)", "A. ", "Section 3.", several in a row."""
    length = 0
    while match := (
        _NUMBER.match(text, length) or _LABEL.match(text, length) or _letter(text, length)
    ):
        length = match.end("label")
    return length


def _letter(text: str, position: int) -> re.Match[str] | None:
    # "A. The Lender" is a clause, "A. Lincoln" is a man.
    match = _CAPITAL.match(text, position)
    return match if match and match["word"] in STARTERS else None
