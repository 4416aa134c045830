"""Changes a paragraph of a Word document: runs are cut, deleted and inserted as a plan says.

Nothing else moves, so that rejecting the tracked changes restores the paragraph.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from copy import deepcopy
from dataclasses import dataclass
from itertools import groupby, pairwise
from typing import TYPE_CHECKING

from parataxis.run.documents.document import Change
from parataxis.run.documents.plan import Kept, New, Plan
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
    paragraph = read_again(paragraph)
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
    """The letters that are deleted."""
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
    for child in [child for child in run.iterchildren("*") if child.tag != w("rPr")]:
        if child not in groups[0]:
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
        yield _text(child, "t", shown(child)[start:end]), end - start


def _text(like: "Node", name: str, text: str) -> "Node":
    node = like.makeelement(w(name), {XML_SPACE: "preserve"})
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
            run.replace(text, _text(text, "delText", shown(text)))
