"""Changes in a paragraph of a Word document: runs are cut, deleted and put in where a plan says so.

Nothing else moves, so that tracked changes, once rejected, leave what was there.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from copy import deepcopy
from dataclasses import dataclass
from itertools import groupby, pairwise
from typing import TYPE_CHECKING

from parataxis.run.documents.plan import Kept, New, Plan, Sentence
from parataxis.run.documents.wordml import (
    XML_SPACE,
    Field,
    Letter,
    WordParagraph,
    read_again,
    shown,
    w,
)

if TYPE_CHECKING:
    from lxml.etree import _Element as Node

_RANGE_STARTS = frozenset(map(w, ["bookmarkStart", "commentRangeStart", "permStart"]))
_OWN = frozenset(map(w, ["t", "noBreakHyphen", "softHyphen"]))


@dataclass
class Tracking:
    """How tracked changes are signed; each has a number of its own."""

    date: str
    next_id: int

    def sign(self, node: "Node", author: str) -> "Node":
        """The w:ins or w:del, signed."""
        node.set(w("id"), str(self.next_id))
        node.set(w("author"), author)
        node.set(w("date"), self.date)
        self.next_id += 1
        return node


@dataclass(frozen=True)
class Revision:
    """A sentence with its plan, and the name of who made it."""

    sentence: Sentence
    plan: Plan
    author: str

    def insertions(self) -> Iterator[tuple[int, list[tuple[int, New]]]]:
        """What is put in, with its number in the plan, before which letter."""
        place = self.sentence.end
        for is_new, group in groupby(
            reversed(list(enumerate(self.plan))), key=lambda pair: isinstance(pair[1], New)
        ):
            parts = list(group)[::-1]
            if is_new:
                yield place, [(i, part) for i, part in parts if isinstance(part, New)]
            else:
                place = min(part.start for _, part in parts if isinstance(part, Kept))

    def deletions(self) -> Iterator[range]:
        """The letters that go."""
        end = self.sentence.start
        for part in self.plan:
            if isinstance(part, Kept):
                if part.start > end:
                    yield range(end, part.start)
                end = part.end
        if end < self.sentence.end:
            yield range(end, self.sentence.end)


def revise(
    paragraph: WordParagraph, revisions: Sequence[Revision], tracking: Tracking | None = None
) -> None:
    """Change sentences of a paragraph, with tracked changes or at once."""
    _cut(paragraph, revisions)
    paragraph = read_again(paragraph)
    for revision in revisions:
        for place, parts in revision.insertions():
            _insert(paragraph, revision, place, parts, tracking)
    for revision in revisions:
        for places in revision.deletions():
            _delete([paragraph.letters[i].run for i in places], revision.author, tracking)


def _cut(paragraph: WordParagraph, revisions: Sequence[Revision]) -> None:
    """Cut runs so that each is deleted or kept as a whole, and that something can be put in."""
    edges = {place for revision in revisions for place, _ in revision.insertions()}
    for revision in revisions:
        edges.update(edge for gone in revision.deletions() for edge in (gone.start, gone.stop))
    gone = {i for revision in revisions for places in revision.deletions() for i in places}
    for _, group in groupby(enumerate(paragraph.letters), key=lambda pair: id(pair[1].run)):
        places = [place for place, _ in group]
        letters = paragraph.letters[places[0] : places[-1] + 1]
        if letters[0].run.tag == w("r") and edges.intersection(places):
            _cut_run(letters, places[0], edges, is_gone=bool(gone.intersection(places)))


def _cut_run(letters: Sequence[Letter], place: int, edges: set[int], *, is_gone: bool) -> None:
    """Cut the run of some letters, the first of which stands at ``place``, at edges; where some of
    it goes, what is not text (it stays) gets runs of its own."""
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
    for child in [child for child in run.iterchildren("*") if child.tag != w("rPr")]:
        if child not in groups[0]:
            run.remove(child)
    for piece in groups[0]:
        run.append(piece)


def _pieces(
    child: "Node", length: int, place: int, edges: set[int]
) -> Iterator[tuple["Node", int]]:
    """A child of a run, cut at edges, each piece with the number of its letters."""
    cuts = [0, *(i for i in range(1, length) if place + i in edges), length]
    if len(cuts) == 2:
        yield child, length
        return
    for start, end in pairwise(cuts):
        yield _text(child, "t", shown(child)[start:end]), end - start


def _text(like: "Node", name: str, text: str) -> "Node":
    node = like.makeelement(w(name), {XML_SPACE: "preserve"})
    node.text = text
    return node


def _insert(
    paragraph: WordParagraph,
    revision: Revision,
    place: int,
    parts: Sequence[tuple[int, New]],
    tracking: Tracking | None,
) -> None:
    depth = len(paragraph.home(revision.sentence.start, revision.sentence.end))
    runs = list(_runs(paragraph, revision.plan, parts))
    if tracking:
        wrapper = runs[0].makeelement(w("ins"), {})
        wrapper.extend(runs)
        runs = [tracking.sign(wrapper, revision.author)]
    if place < revision.sentence.end:
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
    """The node before (or after) which something is put that is to stand before (or after) a
    letter and outside of all its holders but the first ``depth``."""
    holder = letter.holders[depth] if len(letter.holders) > depth else None
    if isinstance(holder, Field):
        return holder.end if at_end and holder.end is not None else holder.begin
    return letter.run if holder is None else holder


def _runs(
    paragraph: WordParagraph, plan: Plan, parts: Sequence[tuple[int, New]]
) -> Iterator["Node"]:
    """Runs for new text, each with the formatting of the letter that it is to be like."""
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
    """The w:rPr of a new part: that of the letter that it is like, or else the plainest of those
    of its neighbours and of the space that the right one had before it. So what is put in beside
    an underlined word is not underlined, but between two of them it is."""
    own = _like(plan[index])
    if own is not None:
        return _properties(paragraph.letters[own])
    before = (_like(part, last=True) for part in plan[index - 1 :: -1]) if index else iter(())
    after = (_like(part) for part in plan[index + 1 :])
    sides = [next((i for i in side if i is not None), None) for side in (before, after)]
    places = [i for i in sides if i is not None]
    if sides[1] and paragraph.letters[sides[1] - 1].char.isspace():
        places.append(sides[1] - 1)
    found = [_properties(paragraph.letters[i]) for i in places]
    return min(found, key=lambda properties: len(_spelling(properties)), default=None)


def _like(part: Kept | New, *, last: bool = False) -> int | None:
    if isinstance(part, New):
        return part.like
    return part.end - 1 if last else part.start


def _properties(letter: Letter) -> "Node | None":
    return letter.run.find(w("rPr"))


def _spelling(properties: "Node | None") -> bytes:
    from lxml.etree import tostring

    return b"" if properties is None else tostring(properties, method="c14n")


def _spelt(paragraph: WordParagraph, new: New) -> str:
    """The text of a new part; a hyphen at which no line breaks stays one."""
    if new.copied is None:
        return new.text
    letters = paragraph.letters[slice(*new.copied)]
    return "".join(
        "\u2011" if letter.node.tag == w("noBreakHyphen") else letter.char for letter in letters
    )


def _delete(runs: Sequence["Node"], author: str, tracking: Tracking | None) -> None:
    wrapper: Node | None = None
    for run in dict.fromkeys(runs):
        if tracking is None:
            parent = run.getparent()
            if parent is not None:
                parent.remove(run)
            continue
        if wrapper is None or run.getprevious() is not wrapper:
            wrapper = tracking.sign(run.makeelement(w("del"), {}), author)
            run.addprevious(wrapper)
        wrapper.append(run)
        for text in run.findall(w("t")):
            run.replace(text, _text(text, "delText", shown(text)))
