"""Reads the paragraphs of a Word document as characters with their surroundings.

Only the characters of plain runs are ever changed. An element around some of them (a link, a
content control, the result of a field) is called a *holder*. Anything between two characters that
is not text (a reference to a footnote, a bookmark) stays in place.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby, takewhile
from typing import TYPE_CHECKING
from unicodedata import bidirectional

from parataxis.run.documents.document import Sentence
from parataxis.run.documents.plan import Range
from parataxis.text.segments import Span

if TYPE_CHECKING:
    from lxml.etree import _Element as Node

_W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
XML_SPACE = "{http://www.w3.org/XML/1998/namespace}space"
_ANCHOR = "{http://schemas.openxmlformats.org/drawingml/2006/wordprocessingDrawing}anchor"

_BLANKS = str.maketrans("\t\r\n", "   ")
_PLACEHOLDER = "\ufffc"
"""The character that stands for an object."""

_TRACKED = "tracked changes already"
_FIELD = "a field around it"
_LOCKED = "a content control that is filled or locked"
_OBJECT = "a picture, a formula or another object"
_BREAK = "a tab or a line break"
_HIDDEN = "hidden text"
_RIGHT_TO_LEFT = "text from right to left"


def w(name: str) -> str:
    """A name in the namespace of WordprocessingML."""
    return _W + name


def _names(text: str) -> frozenset[str]:
    return frozenset(map(w, text.split()))


_HOLDERS = _names("hyperlink smartTag customXml bdo dir sdt fldSimple ins moveTo")
_REMOVED = _names("del moveFrom")
_SIGNS = {w("noBreakHyphen"): "-", w("softHyphen"): "\u00ad"}
_BREAKS = {w("tab"): "\t", w("ptab"): "\t", w("br"): "\n", w("cr"): "\n"}
_NOTES = _names("footnoteReference endnoteReference")
_WIDTHLESS = _names(
    "rPr pPr instrText delText delInstrText lastRenderedPageBreak commentReference annotationRef "
    "footnoteRef endnoteRef separator continuationSeparator proofErr permStart permEnd "
    "moveFromRangeStart moveFromRangeEnd moveToRangeStart moveToRangeEnd sdtPr sdtEndPr "
    "smartTagPr customXmlPr "
)
_RANGES = {
    w("bookmarkStart"): ("bookmark", True),
    w("bookmarkEnd"): ("bookmark", False),
    w("commentRangeStart"): ("comment", True),
    w("commentRangeEnd"): ("comment", False),
}


@dataclass(eq=False)
class Field:
    """A field of several runs; ``begin`` and ``end`` are the first and the last."""

    begin: "Node"
    end: "Node | None" = None
    shows_result: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Letter:
    """A character of ``node`` (w:t, or the element of a special character) in ``run``."""

    char: str
    run: "Node"
    node: "Node"
    holders: Sequence["Node | Field"]
    obstacle: str = ""


@dataclass
class WordParagraph:
    """The letters of a paragraph, and the places between them that matter."""

    node: "Node"
    letters: list[Letter] = field(default_factory=list)
    notes: list[int] = field(default_factory=list)
    """The letters after which there is a reference to a note."""
    removed: list[int] = field(default_factory=list)
    """The letters before which tracked changes have deleted text."""
    fields: Sequence[Field] = ()
    """The fields that are open at the beginning of the paragraph."""
    ranges: list[tuple[str, int, int]] = field(default_factory=list)
    """Bookmarks and comments that begin or end here: kind, first letter, end."""

    @property
    def text(self) -> str:
        """The visible text."""
        return "".join(letter.char for letter in self.letters)

    def home(self, start: int, end: int) -> Sequence["Node | Field"]:
        """The holders that all letters of a range share."""
        levels = zip(*(letter.holders for letter in self.letters[start:end]), strict=False)
        shared = takewhile(lambda level: all(each is level[0] for each in level), levels)
        return [level[0] for level in shared]

    def sentence(self, span: Span) -> Sentence:
        """A sentence of the paragraph, with the parts that must stay in place."""
        start, end = span.start, span.end
        home = self.home(start, end)
        whole = [*self._held(start, end, len(home)), *self._bookmarked(start, end)]
        pinned = [note for note in self.notes if start <= note < end]
        comments = [(first, last) for kind, first, last in self.ranges if kind == "comment"]
        partly = [c for c in comments if c[0] < end and start < c[1]]
        obstacle = self._obstacle(start, end, home)
        return Sentence(span.text, start, end, whole, pinned, partly, obstacle=obstacle)

    def _held(self, start: int, end: int, depth: int) -> Iterator[Range]:
        """The ranges of letters with the same holder below the shared ones."""

        def holder(place: int) -> "Node | Field | None":
            holders = self.letters[place].holders
            return holders[depth] if len(holders) > depth else None

        for _, group in groupby(range(start, end), key=lambda place: id(holder(place))):
            places = list(group)
            if holder(places[0]) is not None:
                yield places[0], places[-1] + 1

    def _bookmarked(self, start: int, end: int) -> Iterator[Range]:
        for kind, first, last in self.ranges:
            covers = first <= start and end <= last
            if kind == "bookmark" and not covers and first < end and start < last:
                yield max(first, start), min(last, end)

    def _obstacle(self, start: int, end: int, home: Sequence["Node | Field"]) -> str:
        letters = self.letters[start:end]
        if any(start < place < end for place in self.removed):
            return _TRACKED
        if any(_is_tracked(holder) for letter in letters for holder in letter.holders):
            return _TRACKED
        if any(isinstance(holder, Field) or holder.tag == w("fldSimple") for holder in home):
            return _FIELD
        if any(not _is_level(letter) for letter in letters):
            return _FIELD
        if any(bidirectional(letter.char) in ("R", "AL") for letter in letters):
            return _RIGHT_TO_LEFT
        if any(not isinstance(holder, Field) and _is_locked(holder) for holder in home):
            return _LOCKED
        return next((letter.obstacle for letter in letters if letter.obstacle), "")


def _is_level(letter: Letter) -> bool:
    """Whether the fields of a letter begin and end on the same level as its run."""
    parent = letter.run.getparent()
    fields = [holder for holder in letter.holders if isinstance(holder, Field)]
    edges = [edge for field in fields for edge in (field.begin, field.end)]
    return all(edge is not None and edge.getparent() is parent for edge in edges)


def _is_tracked(holder: "Node | Field") -> bool:
    """Whether a holder is a tracked insertion."""
    return not isinstance(holder, Field) and holder.tag in _names("ins moveTo")


def _is_locked(node: "Node") -> bool:
    """Whether a node is a content control whose text comes from elsewhere or must not change."""
    properties = node.find(w("sdtPr")) if node.tag == w("sdt") else None
    if properties is None:
        return False
    lock = properties.find(w("lock"))
    # "sdtLocked" only says that the control itself cannot be deleted.
    is_closed = lock is not None and lock.get(w("val")) in ("contentLocked", "sdtContentLocked")
    names = "dataBinding showingPlcHdr dropDownList comboBox date picture"
    return is_closed or any(properties.find(name) is not None for name in _names(names))


def read_paragraphs(root: "Node") -> Iterator[WordParagraph]:
    """The paragraphs with text of a part of a document, including tables and text boxes."""
    fields: list[Field] = []  # they may go on from one paragraph to the next
    for node in root.iter(w("p")):
        paragraph = _read(node, fields)
        if paragraph.text.strip() and not _is_closed(node):
            yield paragraph


def read_again(paragraph: WordParagraph) -> WordParagraph:
    """The paragraph as it is now."""
    return _read(paragraph.node, [replace(field) for field in paragraph.fields])


def _read(node: "Node", fields: list[Field]) -> WordParagraph:
    """Read a paragraph; ``fields`` are those open before it, and afterwards those after it."""
    paragraph = WordParagraph(node, fields=[replace(field) for field in fields])
    reader = _ParagraphReader(paragraph, fields)
    reader.children(node, ())
    reader.end()
    return paragraph


def _is_closed(node: "Node") -> bool:
    """Whether a paragraph is a tracked change, or in one, or in a locked content control."""
    mark = node.find(f"{w('pPr')}/{w('rPr')}")
    if mark is not None and any(mark.find(name) is not None for name in _REMOVED | _names("ins")):
        return True
    return any(
        holder.tag in _REMOVED or _is_tracked(holder) or _is_locked(holder)
        for holder in node.iterancestors()
    )


class _ParagraphReader:
    def __init__(self, paragraph: WordParagraph, fields: list[Field]) -> None:
        self.paragraph = paragraph
        self._letters = paragraph.letters
        self._fields = fields
        self._open: dict[tuple[str, str], int] = {}

    def children(self, node: "Node", holders: Sequence["Node | Field"]) -> None:
        for child in node.iterchildren("*"):
            tag = child.tag
            if tag == w("r"):
                self._run(child, holders)
            elif tag in _HOLDERS:
                content = child.find(w("sdtContent")) if tag == w("sdt") else child
                if content is not None:
                    self.children(content, (*holders, child))
            elif tag in _REMOVED:
                self.paragraph.removed.append(len(self._letters))
            elif tag in _RANGES:
                self._mark(child)
            elif tag not in _WIDTHLESS:
                around = (*holders, *self._fields)
                self._letters.append(Letter(_PLACEHOLDER, child, child, around, _OBJECT))

    def end(self) -> None:
        """Add the bookmarks and comments that go on after the paragraph."""
        for (kind, _), first in self._open.items():
            self.paragraph.ranges.append((kind, first, len(self._letters) + 1))

    def _mark(self, node: "Node") -> None:
        kind, is_start = _RANGES[node.tag]
        key = kind, node.get(w("id"), "")
        here = len(self._letters)
        if is_start:
            self._open[key] = here
            return
        first = self._open.pop(key, 0)  # it may have begun in an earlier paragraph
        if first < here:
            self.paragraph.ranges.append((kind, first, here))

    def _run(self, run: "Node", holders: Sequence["Node | Field"]) -> None:
        is_hidden = run.find(f"{w('rPr')}/{w('vanish')}") is not None
        for child in run.iterchildren("*"):
            tag = child.tag
            text, obstacle = "", ""
            if tag == w("fldChar"):
                self._field(child, run)
            elif not all(field.shows_result for field in self._fields):
                continue
            elif tag == w("t"):
                text, obstacle = shown(child), _HIDDEN if is_hidden else ""
            elif tag in _SIGNS:
                text = _SIGNS[tag]
            elif tag in _BREAKS:
                text, obstacle = _BREAKS[tag], _BREAK
            elif tag in _NOTES:
                self.paragraph.notes.append(len(self._letters) - 1)
            elif tag not in _WIDTHLESS and child.find(f".//{_ANCHOR}") is None:  # it may float
                text, obstacle = _PLACEHOLDER, _OBJECT
            around = (*holders, *self._fields)
            self._letters += [Letter(char, run, child, around, obstacle) for char in text]

    def _field(self, node: "Node", run: "Node") -> None:
        kind = node.get(w("fldCharType"))
        if kind == "begin":
            self._fields.append(Field(run))
        elif kind == "separate" and self._fields:
            self._fields[-1].shows_result = True
        elif kind == "end" and self._fields:
            self._fields.pop().end = run


def shown(node: "Node") -> str:
    """The visible text of a w:t: without xml:space, white space at its ends is only layout."""
    text = node.text or ""
    if node.get(XML_SPACE) != "preserve":
        text = text.strip(" \t\r\n")
    return text.translate(_BLANKS)
