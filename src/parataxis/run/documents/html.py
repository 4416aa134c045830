"""HTML: the text of paragraphs, list items, table cells and the like is rewritten.

Words keep the tags around them. Code, headings, scripts and anything else that is not running text
are left alone.
"""

import re
from collections import Counter
from collections.abc import Sequence
from html import escape, unescape
from html.parser import HTMLParser

from parataxis.errors import InputError
from parataxis.run.documents import Surrounding
from parataxis.run.documents.markup import Block, CellReader, MarkupDocument, placeholder


def _tags(names: str) -> frozenset[str]:
    return frozenset(names.split())


_FORMATTING = _tags("b big cite em font i mark s small span strike strong tt u")
"""Tags that may be repeated around a word that moves, unless they have an id."""
_INLINE = _FORMATTING | _tags("a abbr acronym bdi bdo data del dfn ins label q time")
_VERBATIM = _tags("code kbd samp var")
_NOTES = frozenset(["sub", "sup"])
_SKIPPED = _tags(
    "head script style title template noscript svg math pre textarea select option button h1 h2 h3 "
    "h4 h5 h6 audio video canvas iframe object"
)
_SURROUNDINGS = {"table": Surrounding.TABLE, "blockquote": Surrounding.QUOTATION}
_OBSTACLES = {"br": "a line break"} | dict.fromkeys(["img", "input", "embed"], "a picture")
_VOID = _tags("area base br col embed hr img input link meta param source track wbr basefont")
_MOST_UNCLOSED = 100
_TAG_START = re.compile(r"<[!?/A-Za-z]")
"""The start of a tag that does not end. The parser reads it as text, but may read it as a tag once
the text before it has changed."""
_DEEPEST = 100  # how deep inline tags may be nested; a block with more is left alone


class HtmlDocument(MarkupDocument):
    """An HTML document and its sentences."""

    def __init__(self, text: str) -> None:
        super().__init__(text, _HtmlReader(text).blocks)

    def escape(self, text: str) -> str:
        return escape(text, quote=False)


class _HtmlReader(CellReader, HTMLParser):
    """Cuts a document into blocks of cells."""

    def __init__(self, text: str) -> None:
        CellReader.__init__(self)
        HTMLParser.__init__(self, convert_charrefs=False)
        self.blocks: list[Block] = []
        self._text = text
        self._names: list[str] = []
        self._is_broken = False
        self._around = Counter[Surrounding]()
        # The outermost open tag with other content than text, and those of its name in it.
        self._whole: list[str] = []
        self._whole_start = 0
        self._lines = [0, *(match.end() for match in re.finditer("\n", text))]  # the parser's lines
        unclosed = text.count("<", text.rfind(">") + 1) + text.count("<!--", text.rfind("-->") + 1)
        if unclosed > _MOST_UNCLOSED:  # the parser searches the rest of the text for each of them
            raise InputError(f"The HTML is damaged: {unclosed} tags or comments do not end.")
        try:
            self.feed(text)
            self.close()
        except AssertionError as error:  # of the parser, for a declaration that it cannot read
            raise InputError(
                "The HTML is damaged: it has a declaration that ends early."
            ) from error
        self._end_block()

    @property
    def _place(self) -> int:
        line, column = self.getpos()
        return self._lines[line - 1] + column

    def handle_starttag(self, tag: str, attrs: Sequence[tuple[str, str | None]]) -> None:
        raw = self.get_starttag_text() or ""
        start, end = self._place, self._place + len(raw)
        if self._whole:
            if tag == self._whole[0]:
                self._whole.append(tag)
        elif tag in _OBSTACLES:
            self.add("\n" if tag == "br" else "\ufffc", raw, start, end, obstacle=_OBSTACLES[tag])
        elif tag == "wbr":
            self.tail(raw, end)
        elif tag in _SKIPPED or dict(attrs).get("translate") == "no":
            if tag not in _INLINE:
                self._end_block()
            if tag not in _VOID:
                self._whole, self._whole_start = [tag], start
        elif tag in _VERBATIM or tag in _NOTES:
            self._whole, self._whole_start = [tag], start
        elif tag in _INLINE and len(self.chain) >= _DEEPEST:
            self._is_broken = True
        elif tag in _INLINE:
            is_formatting = tag in _FORMATTING and "id" not in dict(attrs)
            self.open(raw, start, is_formatting=is_formatting)
            self._names.append(tag)
        else:
            self._end_block()
            if tag in _SURROUNDINGS:
                self._around[_SURROUNDINGS[tag]] += 1

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        # HTML has no self-closing tags: "<b/>" opens, "<br/>" is void anyway.
        self.handle_starttag(tag, attrs)

    def handle_endtag(self, tag: str) -> None:
        start = self._place
        end = self._text.find(">", start) + 1 or len(self._text)
        if self._whole:
            if tag == self._whole[0]:
                self._whole.pop()
                if not self._whole:
                    self._end_whole(tag, end)
        elif tag in _INLINE:
            self._close(tag, self._text[start:end], end)
        elif tag not in _VOID:
            self._end_block()
            if tag in _SURROUNDINGS:
                self._around[_SURROUNDINGS[tag]] -= 1

    def handle_data(self, data: str) -> None:
        if self._whole:
            return
        start = self._place
        for i, char in enumerate(data, start):
            self.add(" " if char in " \t\r\n\f" else char, char, i, i + 1)

    def handle_entityref(self, name: str) -> None:
        self._reference(f"&{name}")

    def handle_charref(self, name: str) -> None:
        self._reference(f"&#{name}")

    def handle_comment(self, data: str) -> None:
        if not self._whole and self.cells:
            start = self._place
            end = self._text.find("-->", start)
            if end >= 0 and self._text.startswith("<!--", start):
                self.tail(self._text[start : end + 3], end + 3)
            else:  # it does not end, or is a declaration that the parser takes for a comment
                self._is_broken = True

    def handle_decl(self, decl: str) -> None:
        self._end_block()

    def handle_pi(self, data: str) -> None:
        self._is_broken = True

    unknown_decl = handle_pi

    def _reference(self, raw: str) -> None:
        if self._whole:
            return
        start = self._place
        if self._text.startswith(";", start + len(raw)):
            raw += ";"
        chars = unescape(raw)
        if chars == raw:  # "AT&T"
            self.handle_data(raw)
            return
        obstacle = "" if len(chars) == 1 else "a sign"
        self.add(chars, raw, start, start + len(raw), obstacle=obstacle)

    def _close(self, tag: str, raw: str, end: int) -> None:
        if not self._names or self._names[-1] != tag:
            self._is_broken = True  # the tags are not nested
            return
        element = self.close_element(raw, end)
        self._names.pop()
        if not self.cells or element not in self.cells[-1].chain:
            self.tail(self._text[element.start : end], end)

    def _end_whole(self, tag: str, end: int) -> None:
        raw = self._text[self._whole_start : end]
        if tag in _NOTES and self.cells and not self.cells[-1].char.isspace():
            self.tail(raw, end)
        elif tag in _VERBATIM | _NOTES | _INLINE:
            content = raw[raw.find(">") + 1 : raw.rfind("<")]
            first = len(self.cells)
            word = placeholder(unescape(content), first)
            self.add(word, raw, self._whole_start, end, verbatim=first)

    def _end_block(self) -> None:
        cells, chain = self.cells, self.chain
        is_found = all(self._text.startswith(cell.raw, cell.start) for cell in cells if cell.raw)
        typed = "".join(cell.raw if len(cell.raw) == 1 else " " for cell in cells)
        is_found = is_found and _TAG_START.search(typed) is None
        first = next((i for i, cell in enumerate(cells) if not cell.char.isspace()), len(cells))
        # A tag that is still open may end anywhere.
        if first < len(cells) and is_found and not self._is_broken and not chain:
            self.blocks.append(Block(cells[first:], frozenset(+self._around)))
        self.cells, self.chain, self._names, self._is_broken = [], (), [], False
