"""Reads the paragraphs of a Word document as characters with their surroundings, and changes them.

Only the characters of plain runs are ever changed: runs are cut, deleted and inserted as a plan
says. An element around some of them (a link, a content control, the result of a field) is called a
*holder*. Anything between two characters that is not text (a reference to a footnote, a bookmark)
stays in place, so that rejecting the tracked changes restores the paragraph.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from copy import deepcopy
from dataclasses import dataclass, replace
from itertools import groupby, pairwise, takewhile
from typing import TYPE_CHECKING
from unicodedata import bidirectional

from parataxis.errors import InputError
from parataxis.run.documents import Change, Sentence
from parataxis.run.documents.plan import Kept, New, Plan, Range
from parataxis.text.segments import Span

if TYPE_CHECKING:
    from lxml.etree import _Element as Node

_W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_XML_SPACE = "{http://www.w3.org/XML/1998/namespace}space"
_ANCHOR = "{http://schemas.openxmlformats.org/drawingml/2006/wordprocessingDrawing}anchor"

_BLANKS = str.maketrans("\t\r\n", "   ")
_PLACEHOLDER = "\ufffc"  # the character that stands for an object

_DEEPEST = 100
"""Fields in each other; Word itself allows 20."""
_MOST_MARKS = 1000
"""Notes, bookmarks and the like in one paragraph; one with more is left alone."""

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
_RANGE_STARTS = _names("bookmarkStart commentRangeStart permStart")
_OWN = _names("t noBreakHyphen softHyphen")
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


class WordParagraph:
    """The letters of a paragraph, and the places between them that matter: ``notes`` are the
    letters after which there is a reference to a note, ``removed`` those before which tracked
    changes have deleted text, ``ranges`` the bookmarks and comments that begin or end here (kind,
    first letter, end)."""

    def __init__(self, node: "Node", fields: list[Field]) -> None:
        """Read a paragraph; ``fields`` are those open before it, and afterwards those after it."""
        self.node = node
        self.letters: list[Letter] = []
        self.notes: list[int] = []
        self.removed: list[int] = []
        self.ranges: list[tuple[str, int, int]] = []
        self._fields, self._fields_before = fields, [replace(field) for field in fields]
        self._open: dict[tuple[str, str], int] = {}
        self._read(node, ())
        for (kind, _), first in self._open.items():  # they go on after the paragraph
            self.ranges.append((kind, first, len(self.letters) + 1))

    def again(self) -> "WordParagraph":
        return WordParagraph(self.node, [replace(field) for field in self._fields_before])

    @property
    def text(self) -> str:
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

    def _read(self, node: "Node", holders: Sequence["Node | Field"]) -> None:
        for child in node.iterchildren("*"):
            tag = child.tag
            if tag == w("r"):
                self._run(child, holders)
            elif tag in _HOLDERS:
                content = child.find(w("sdtContent")) if tag == w("sdt") else child
                if content is not None:
                    self._read(content, (*holders, child))
            elif tag in _REMOVED:
                self.removed.append(len(self.letters))
            elif tag in _RANGES:
                self._mark(child)
            elif tag not in _WIDTHLESS:
                around = (*holders, *self._fields)
                self.letters.append(Letter(_PLACEHOLDER, child, child, around, _OBJECT))

    def _mark(self, node: "Node") -> None:
        kind, is_start = _RANGES[node.tag]
        key = kind, node.get(w("id"), "")
        here = len(self.letters)
        if is_start:
            self._open[key] = here
            return
        first = self._open.pop(key, 0)  # it may have begun in an earlier paragraph
        if first < here:
            self.ranges.append((kind, first, here))

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
                text, obstacle = _shown(child), _HIDDEN if is_hidden else ""
            elif tag in _SIGNS:
                text = _SIGNS[tag]
            elif tag in _BREAKS:
                text, obstacle = _BREAKS[tag], _BREAK
            elif tag in _NOTES:
                self.notes.append(len(self.letters) - 1)
            elif tag not in _WIDTHLESS and child.find(f".//{_ANCHOR}") is None:  # it may float
                text, obstacle = _PLACEHOLDER, _OBJECT
            around = (*holders, *self._fields)
            self.letters += [Letter(char, run, child, around, obstacle) for char in text]

    def _field(self, node: "Node", run: "Node") -> None:
        kind = node.get(w("fldCharType"))
        if kind == "begin":
            if len(self._fields) == _DEEPEST:
                raise InputError(f"The document has more than {_DEEPEST} fields in each other.")
            self._fields.append(Field(run))
        elif kind == "separate" and self._fields:
            self._fields[-1].shows_result = True
        elif kind == "end" and self._fields:
            self._fields.pop().end = run

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
        paragraph = WordParagraph(node, fields)
        marks = len(paragraph.notes) + len(paragraph.removed) + len(paragraph.ranges)
        if paragraph.text.strip() and marks <= _MOST_MARKS and not _is_closed(node):
            yield paragraph


def _is_closed(node: "Node") -> bool:
    """Whether a paragraph is a tracked change, or in one, or in a locked content control."""
    mark = node.find(f"{w('pPr')}/{w('rPr')}")
    if mark is not None and any(mark.find(name) is not None for name in _REMOVED | _names("ins")):
        return True
    return any(
        holder.tag in _REMOVED or _is_tracked(holder) or _is_locked(holder)
        for holder in node.iterancestors()
    )


def _shown(node: "Node") -> str:
    """The visible text of a w:t: without xml:space, white space at its ends is only layout."""
    text = node.text or ""
    if node.get(_XML_SPACE) != "preserve":
        text = text.strip(" \t\r\n")
    return text.translate(_BLANKS)


@dataclass
class Tracking:
    """The date of tracked changes, and their running number."""

    date: str
    next_id: int

    def wrapper(self, like: "Node", name: str, change: Change) -> "Node":
        """A new w:ins or w:del of the change."""
        node = like.makeelement(w(name), {})
        node.set(w("id"), str(self.next_id))
        node.set(w("author"), f"Parataxis ({change.splitter})")
        node.set(w("date"), self.date)
        self.next_id += 1
        return node


def revise(
    paragraph: WordParagraph, changes: Sequence[Change], tracking: Tracking | None = None
) -> None:
    """Change sentences of a paragraph, directly or as tracked changes."""
    _cut(paragraph, changes)
    paragraph = paragraph.again()
    for change in changes:
        for place, parts in _insertions(change):
            _insert(paragraph, change, place, parts, tracking)
    for change in changes:
        for places in _deletions(change):
            _delete([paragraph.letters[i].run for i in places], change, tracking)


def _insertions(change: Change) -> Iterator[tuple[int, list[tuple[int, New]]]]:
    """The new parts, with their numbers in the plan, and the letter before which they go."""
    place = change.sentence.end
    for is_new, group in groupby(
        reversed(list(enumerate(change.plan))), key=lambda pair: isinstance(pair[1], New)
    ):
        parts = list(group)[::-1]
        if is_new:
            yield place, [(i, part) for i, part in parts if isinstance(part, New)]
        else:
            place = min(part.start for _, part in parts if isinstance(part, Kept))


def _deletions(change: Change) -> Iterator[range]:
    kept = [(part.start, part.end) for part in change.plan if isinstance(part, Kept)]
    ends = [change.sentence.start, *(end for _, end in kept)]
    starts = [*(start for start, _ in kept), change.sentence.end]
    return (range(end, start) for end, start in zip(ends, starts, strict=True) if end < start)


def _cut(paragraph: WordParagraph, changes: Sequence[Change]) -> None:
    """Cut runs so that each is deleted or kept as a whole, and parts can be inserted between."""
    deleted = [letters for change in changes for letters in _deletions(change)]
    edges = {place for change in changes for place, _ in _insertions(change)}
    edges.update(edge for letters in deleted for edge in (letters.start, letters.stop))
    gone = {place for letters in deleted for place in letters}
    for _, group in groupby(enumerate(paragraph.letters), key=lambda pair: id(pair[1].run)):
        places = [place for place, _ in group]
        letters = paragraph.letters[places[0] : places[-1] + 1]
        if letters[0].run.tag == w("r") and edges.intersection(places):
            _cut_run(letters, places[0], edges, is_gone=bool(gone.intersection(places)))


def _cut_run(letters: Sequence[Letter], place: int, edges: set[int], *, is_gone: bool) -> None:
    """Cut the run of some letters, the first of which is at ``place``, at edges. If some of it is
    deleted, anything that is not text stays, in runs of its own."""
    run = letters[0].run
    lengths = Counter(letter.node for letter in letters)
    groups: list[list[Node]] = [[]]
    for child in [child for child in run.iterchildren("*") if child.tag != w("rPr")]:
        is_text = child.tag in _OWN
        if groups[-1] and is_gone and is_text != (groups[-1][-1].tag in _OWN):
            groups.append([])
        for piece, length in _pieces(child, lengths[child], place, edges):
            if length and place in edges and groups[-1]:
                groups.append([])
            groups[-1].append(piece)
            place += length
    last = run
    for group in groups[1:]:
        after = run.makeelement(run.tag, {str(k): str(v) for k, v in run.attrib.items()})
        after.extend(deepcopy(run.findall(w("rPr"))))
        after.extend(group)
        last.addnext(after)
        last = after
    kept = set(groups[0])
    for child in [child for child in run.iterchildren("*") if child.tag != w("rPr")]:
        if child not in kept:
            run.remove(child)
    for piece in groups[0]:
        run.append(piece)


def _pieces(
    child: "Node", length: int, place: int, edges: set[int]
) -> Iterator[tuple["Node", int]]:
    """A child of a run cut at edges; each piece with its number of letters."""
    cuts = [0, *(i for i in range(1, length) if place + i in edges), length]
    if len(cuts) == 2:
        yield child, length
        return
    for start, end in pairwise(cuts):
        yield _text(child, "t", _shown(child)[start:end]), end - start


def _text(like: "Node", name: str, text: str) -> "Node":
    node = like.makeelement(w(name), {_XML_SPACE: "preserve"})
    node.text = text
    return node


def _insert(
    paragraph: WordParagraph,
    change: Change,
    place: int,
    parts: Sequence[tuple[int, New]],
    tracking: Tracking | None,
) -> None:
    depth = len(paragraph.home(change.sentence.start, change.sentence.end))
    runs = list(_runs(paragraph, change.plan, parts))
    if tracking:
        wrapper = tracking.wrapper(runs[0], "ins", change)
        wrapper.extend(runs)
        runs = [wrapper]
    if place < change.sentence.end:
        before = _top(paragraph.letters[place], depth)
        while (sibling := before.getprevious()) is not None and sibling.tag in _RANGE_STARTS:
            before = sibling
        for run in runs:
            before.addprevious(run)
    else:
        after = _top(paragraph.letters[place - 1], depth, at_end=True)
        for run in reversed(runs):
            after.addnext(run)


def _top(letter: Letter, depth: int, *, at_end: bool = False) -> "Node":
    """The node before (or after) which a run is inserted so that it comes before (or after) the
    letter and is inside only the first ``depth`` of its holders."""
    holder = letter.holders[depth] if len(letter.holders) > depth else None
    if isinstance(holder, Field):
        return holder.end if at_end and holder.end is not None else holder.begin
    return letter.run if holder is None else holder


def _runs(
    paragraph: WordParagraph, plan: Plan, parts: Sequence[tuple[int, New]]
) -> Iterator["Node"]:
    """Runs for new text, each with the formatting of the letter that it should look like."""
    made = [(_format(paragraph, plan, index), _spelt(paragraph, new)) for index, new in parts]
    like = paragraph.letters[0].run
    for _, group in groupby(made, key=lambda pair: _spelling(pair[0])):
        same = list(group)
        run = like.makeelement(w("r"), {})
        properties = deepcopy(same[0][0])
        if properties is not None:
            for change in properties.findall(w("rPrChange")):
                properties.remove(change)
            run.append(properties)
        run.append(_text(run, "t", "".join(text for _, text in same)))
        yield run


def _format(paragraph: WordParagraph, plan: Plan, index: int) -> "Node | None":
    """The w:rPr of a new part: that of the letter that it looks like, or else the shortest of those
    of its neighbours and of the space before the right one. So text inserted beside an underlined
    word is not underlined, but text between two of them is."""
    own = _like(plan[index])
    if own is not None:
        return paragraph.letters[own].run.find(w("rPr"))
    before = (_like(part, last=True) for part in plan[index - 1 :: -1]) if index else iter(())
    after = (_like(part) for part in plan[index + 1 :])
    sides = [next((i for i in side if i is not None), None) for side in (before, after)]
    places = [i for i in sides if i is not None]
    if sides[1] and paragraph.letters[sides[1] - 1].char.isspace():
        places.append(sides[1] - 1)
    found = [paragraph.letters[i].run.find(w("rPr")) for i in places]
    return min(found, key=lambda properties: len(_spelling(properties)), default=None)


def _like(part: Kept | New, *, last: bool = False) -> int | None:
    if isinstance(part, New):
        return part.like
    return part.end - 1 if last else part.start


def _spelling(properties: "Node | None") -> bytes:
    from lxml.etree import tostring

    return b"" if properties is None else tostring(properties, method="c14n")


def _spelt(paragraph: WordParagraph, new: New) -> str:
    """The text of a new part; no-break hyphens stay what they are."""
    if new.copied is None:
        return new.text
    letters = paragraph.letters[slice(*new.copied)]
    return "".join(
        "\u2011" if letter.node.tag == w("noBreakHyphen") else letter.char for letter in letters
    )


def _delete(runs: Sequence["Node"], change: Change, tracking: Tracking | None) -> None:
    wrapper: Node | None = None
    for run in dict.fromkeys(runs):
        if tracking is None:
            parent = run.getparent()
            if parent is not None:
                parent.remove(run)
            continue
        if wrapper is None or run.getprevious() is not wrapper:
            wrapper = tracking.wrapper(run, "del", change)
            run.addprevious(wrapper)
        wrapper.append(run)
        for text in run.findall(w("t")):
            run.replace(text, _text(text, "delText", _shown(text)))
