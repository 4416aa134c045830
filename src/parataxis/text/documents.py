"""Documents whose sentences can be replaced; everything else comes back exactly."""

import io
import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from parataxis.text.layout import LINE, next_fence
from parataxis.text.segments import Span, sentence_spans

_EMAIL_HINTS = (
    *("From:", "Subject:", "Date:", "wrote:", "writes:", "Original Message", "-- ", "--\n"),
    *("egards", "ishes", "hanks", "incerely", "heers", "est,", "ours"),
)
"""A text without any of these is no email; to look for them is quick."""
BLOCK_LIMIT = 1 << 14
"""The number of characters after which a block is cut even without a blank line."""

Replacements = Mapping[int, Sequence[str]] | Callable[[Span], Sequence[str]]


@dataclass(frozen=True)
class Document:
    """A text and the sentences found in it, in order; they do not overlap."""

    text: str
    sentences: tuple[Span, ...]

    def rebuild(self, replacements: Replacements) -> str:
        """The text with sentences replaced by simple sentences.

        ``replacements`` maps the index of a sentence to its simple sentences, or is a function
        that is called for every sentence. Simple sentences are joined by one space. A sentence that
        is not replaced, or replaced by itself, comes back byte for byte, with all its whitespace.
        The replacement of a sentence on several lines is wrapped to the width of these lines, with
        the same line ends and the same margin.

        >>> document = read_document("* Ann, who sings, left.\\n* Bob stayed.")
        >>> document.rebuild({0: ["Ann left.", "Ann sings."]})
        '* Ann left. Ann sings.\\n* Bob stayed.'
        """
        parts: list[str] = []
        position = 0
        for index, span in enumerate(self.sentences):
            if callable(replacements):
                simple = replacements(span)
            else:
                simple = replacements.get(index, (span.text,))
            if not simple:
                raise ValueError(f"Sentence {index} is replaced by nothing.")
            if list(simple) != [span.text]:
                parts += (self.text[position : span.start], self.lay_out(span, simple))
                position = span.end
        parts.append(self.text[position:])
        return "".join(parts)

    @property
    def following(self) -> list[str]:
        """For each sentence the next one of its paragraph; the empty text after the last one.

        >>> read_document("Ann came. Bob left.\\n\\nIt rained.\\n* Eve sang.").following
        ['Bob left.', '', '', '']
        >>> read_document("> Ann came.\\r\\n> Bob left.").following
        ['Bob left.', '']
        """
        pairs = zip(self.sentences, self.sentences[1:], strict=False)
        inside = [
            "" if _PARAGRAPH_END.search(self.text, one.end, other.start) else other.text
            for one, other in pairs
        ]
        return [*inside, ""][: len(self.sentences)]

    def lay_out(self, span: Span, simple: Sequence[str]) -> str:
        """The simple sentences as they are written in the place of a sentence."""
        text = " ".join(simple)
        line_break = _BREAK.search(self.text, span.start, span.end)
        if line_break is None:
            return text
        line_start = _last_break(self.text, span.start)
        last_line = _LINE_END.search(self.text, span.end)
        line_end = last_line.start() if last_line else len(self.text)
        width = max(map(len, _LINE_END.split(self.text[line_start:line_end])))
        return _fill(text, span.start - line_start, width, line_break.group())


_PARAGRAPH_END = re.compile(r"[^\s>]|(?:\r\n|\r(?!\n)|\n)[^\S\r\n]*[\r\n]")
"""What between two sentences tells that the second one does not go on with the paragraph: a list
marker or a blank line, but not the margin of a quoted block."""
_LINE_END = re.compile(r"\r\n|\r|\n")
_BREAK = re.compile(r"(?:\r\n|\r|\n)[^\S\r\n]*(?:>[^\S\r\n]*)*")
_MARK = re.compile(r"[-+*#>|=~•]|\d+[.)]|`{3}")
"""What a line must not begin with: it would read as a list item, a heading or a table."""


def _last_break(text: str, end: int) -> int:
    """The start of the line that ``end`` is in."""
    return max(text.rfind("\n", 0, end), text.rfind("\r", 0, end)) + 1


def _fill(text: str, column: int, width: int, line_break: str) -> str:
    first, *words = text.split(" ")
    parts = [first]
    column += len(first)
    for word in words:
        if column + 1 + len(word) > width and not _MARK.match(word):
            parts += (line_break, word)
            column = len(line_break.lstrip("\r\n")) + len(word)
        else:
            parts += (" ", word)
            column += 1 + len(word)
    return "".join(parts)


def read_document(text: str) -> Document:
    """Find the sentences of a plain-text or Markdown document.

    >>> document = read_document("# Dr. Lee\\n\\nHe left.  She\\nstayed.")
    >>> [sentence.text for sentence in document.sentences]
    ['Dr. Lee', 'He left.', 'She stayed.']
    """
    return Document(text, running_sentences(text))


def read_blocks(lines: Iterable[str], *, limit: int = BLOCK_LIMIT) -> Iterator[Document]:
    """Read a document of any size in blocks; together their texts are the exact document.

    ``lines`` are lines with their ends, such as an open file (open it with ``newline=""`` to keep
    its line ends). A block ends at a blank line, so its sentences are those that
    :func:`read_document` finds in the whole. More than ``limit`` characters without a blank line
    are cut after a sentence, or else at a line end or a space.

    >>> [block.text for block in read_blocks(["One.\\n", "\\n", "Two.\\n"])]
    ['One.\\n\\n', 'Two.\\n']
    """
    for text, fence in split_blocks(lines, limit=limit):
        yield Document(text, running_sentences(text, fence))


def running_sentences(text: str, fence: str = "") -> tuple[Span, ...]:
    """The sentences of a text without those in the header, the quoted replies and the signature of
    an email."""
    spans = sentence_spans(text, fence=fence)
    if not any(hint in text for hint in _EMAIL_HINTS):
        return tuple(spans)
    from parataxis.text.email import email_parts

    parts = email_parts(text)
    ends = [end for _, end in parts]  # parts and sentences are both in order

    def is_outside(span: Span) -> bool:
        index = bisect_right(ends, span.start)
        return index == len(parts) or parts[index][0] >= span.end

    return tuple(filter(is_outside, spans))


def split_blocks(lines: Iterable[str], *, limit: int = BLOCK_LIMIT) -> Iterator[tuple[str, str]]:
    """The texts of the blocks, each with the code fence that is open at its start."""
    parts: list[str] = []
    size = 0
    has_words = False
    before = fence = ""
    last = "\n"
    for line in _short_lines(lines, limit):
        parts.append(line)
        size += len(line)
        is_blank = _is_blank(line, last)
        has_words = has_words or not is_blank
        if last.endswith(("\n", "\r")):
            fence = next_fence(line, fence)
        last = line
        if has_words and is_blank and not fence:
            yield "".join(parts), before
            parts, size, before, has_words = [], 0, fence, False
        while size > limit:
            text = "".join(parts)
            cut = _cut_point(text, before, fence)
            yield text[:cut], before
            parts, size, before = [text[cut:]], len(text) - cut, fence
    if size:
        yield "".join(parts), before


def _is_blank(line: str, last: str) -> bool:
    """Whether this is a whole line without words, and not the second half of a CRLF."""
    whole = line.endswith(("\n", "\r")) and last.endswith(("\n", "\r"))
    return whole and not line.strip() and not (line == "\n" and last.endswith("\r"))


def _short_lines(lines: Iterable[str], limit: int) -> Iterator[str]:
    """The lines; those that are longer than the limit are cut into parts."""
    # Iterating over a file would read a line of any length into memory.
    file = lines if isinstance(lines, io.TextIOBase) else None
    for line in iter(lambda: file.readline(limit), "") if file else lines:
        # What a file calls a line may contain lone carriage returns.
        for match in LINE.finditer(line) if "\r" in line else (line,):
            part = match if isinstance(match, str) else match.group()
            for start in range(0, len(part), limit):
                yield part[start : start + limit]


def _cut_point(text: str, before: str, fence: str) -> int:
    if fence:
        return _last_break(text, len(text)) or len(text)
    spans = sentence_spans(text, fence=before)
    if len(spans) > 1:
        return spans[-2].end
    space = max(text.rfind(" "), text.rfind("\t"))
    return _last_break(text, len(text)) or space + 1 or len(text)
