"""Parts of an email that are not running text of its writer: header lines, quoted replies and
signatures."""

import re
from collections.abc import Iterator

_HEADER = re.compile(
    r"(?:From|To|Cc|Bcc|Date|Sent|Subject|Reply-To|Message-ID):[ \t]\S.*\Z", re.IGNORECASE
)
_ATTRIBUTION = re.compile(
    r"(?:On\s.{5,150}\swrote:|.{3,80}\s(?:wrote|writes):|-{2,}\s*Original Message\s*-{2,})\s*\Z"
)
_ORIGINAL = re.compile(r"-{2,}\s*Original Message\s*-{2,}\s*\Z")
_DELIMITER = re.compile(r"-- ?\Z")
"""The line before a signature (RFC 3676, section 4.3)."""
_CLOSING = re.compile(
    r"(?:(?:with|many|my)\s)?(?:(?:best|kind|warm|kindest|warmest)\s)?"
    r"(?:regards|wishes|thanks|sincerely|cheers|best|yours(?:\s(?:sincerely|faithfully|truly))?)"
    r"(?:\syours)?\s*[,.!]?\s*\Z",
    re.IGNORECASE,
)
_FINISHED = re.compile(r"[.!?]\s*\Z")
_LONGEST_SIGNATURE = 8
"""Lines after "Best regards," or "-- " that may belong to a signature."""


def email_parts(text: str) -> list[tuple[int, int]]:
    """The places of header lines, of quoted replies with their attribution, and of signatures.

    >>> mail = "Bo, I agree.\\n\\nOn Monday Bo wrote:\\n> Do you agree?\\n\\nRegards,\\nAnn"
    >>> [mail[start:end] for start, end in email_parts(mail)]
    ['On Monday Bo wrote:\\n> Do you agree?\\n', 'Regards,\\nAnn']
    """
    lines = list(re.finditer(r"[^\r\n]*(?:\r\n|\r|\n|\Z)", text))
    bodies = [line.group().rstrip("\r\n") for line in lines]
    return [(lines[a].start(), lines[b - 1].end()) for a, b in _parts(bodies)]


def _parts(lines: list[str]) -> Iterator[tuple[int, int]]:
    """The numbers of the first line of each part and of the line after it."""
    number = 0
    while number < len(lines):
        end = _headers(lines, number) or _reply(lines, number) or _signature(lines, number)
        if end:
            yield number, end
        number = end or number + 1


def _headers(lines: list[str], start: int) -> int | None:
    """Two header lines or more at the start of a paragraph."""
    if start and lines[start - 1].strip():
        return None
    end = start
    while end < len(lines) and _HEADER.match(lines[end]):
        end += 1
    return end if end - start > 1 else None


def _reply(lines: list[str], start: int) -> int | None:
    """An attribution with the quoted lines that follow."""
    if not _ATTRIBUTION.match(lines[start]):
        return None
    if _ORIGINAL.match(lines[start]):
        return len(lines)
    end = start + 1
    while end < len(lines) and (lines[end].startswith(">") or not lines[end].strip()):
        end += 1
    while not lines[end - 1].strip():
        end -= 1
    return end if end > start + 1 else None


def _signature(lines: list[str], start: int) -> int | None:
    """A delimiter or a closing phrase with the short lines that follow, none of them a sentence."""
    is_delimiter = bool(_DELIMITER.match(lines[start]))
    if not is_delimiter and not _CLOSING.match(lines[start]):
        return None
    end = start + 1
    while end < len(lines) and end - start <= _LONGEST_SIGNATURE:
        if not lines[end].strip() and end > start + 1:
            break
        if not is_delimiter and _FINISHED.search(lines[end]):
            break
        end += 1
    return end if end > start + 1 else None
