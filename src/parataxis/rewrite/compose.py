"""Build a simple sentence from parts whose origin is known: copied, inflected and inserted words.

Every splitter that knows where its words come from uses it.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from parataxis.errors import InputError
from parataxis.rewrite.forms import is_known
from parataxis.rewrite.record import Origin, OutputToken, Rewrite
from parataxis.syntax.analysis import Analysis, Word
from parataxis.text.english import COORDINATORS
from parataxis.text.tokens import capitalise, has_word, lower_first, tokenize


@dataclass(frozen=True, slots=True)
class Copy:
    """The source word with this index, unchanged."""

    word: int


@dataclass(frozen=True, slots=True)
class Inflect:
    """Another form of the source word with this index: "serving" as "serves"."""

    word: int
    form: str


@dataclass(frozen=True, slots=True)
class Insert:
    """A word or mark that does not come from the source."""

    text: str


Part = Copy | Inflect | Insert

# How strongly a mark separates: of two adjacent marks the stronger one stays.
_STRENGTH = {",": 1, "-": 2, "--": 2, "–": 2, "—": 2, ";": 3, ":": 4}
_STOP = re.compile(r"[.!?…]+")
_STOP_STRENGTH = 5
_PAIRS = {"(": ")", "[": "]", "{": "}", "“": "”", "«": "»", "‘": "’"}
_TWINS = frozenset(["'", '"', "*", "**", "***", "~~", "`", "``", "_", "__"])
"""Quotation marks and Markdown emphasis: the same sign opens and closes."""
_IN_PAIRS = re.compile(r"""[()\[\]{}“”«»‘’'"*~`_]""")
"""A character of a mark that opens or closes something."""
_CODE = frozenset(["`", "``"])
_OPENING = frozenset("([{“«‘")
_CLOSING = frozenset(")]}”»")
_QUOTES = frozenset("\"'”’»") | {"''"}
_MARKER = 4
"""The longest marker of a list item: "(viii)"."""
_CONJUNCTIONS = COORDINATORS - {"so", "yet"}
_CLITIC = re.compile(r"(n['’]t|['’](s|re|ve|ll|d|m))", re.IGNORECASE)
_NO_SPACE_BEFORE = frozenset(",;:%)]}”»")
_NO_SPACE_AFTER = frozenset("([{“«‘$£€¥#")
_JOINING = frozenset(["-", "--", "–", "—", "/", "&", "+"])


def compose(analysis: Analysis, parts: Iterable[Part]) -> tuple[str, tuple[OutputToken, ...]]:
    """A simple sentence and the origin of each of its tokens.

    Words that are neighbours in the source keep the exact text between them. The sentence starts
    with a capital and ends with a stop; the first word of the source loses its capital inside the
    sentence unless it :func:`keeps_capital`. Dangling marks are removed: a comma or "and" at either
    end, one of two adjacent commas, half a pair of brackets, quotation marks or Markdown emphasis.
    The text is empty only if the parts contain nothing else.
    """
    partners = mark_partners(analysis)
    tidy = _tidy(analysis, partners, list(parts))
    texts = _cased(analysis, tidy)
    sentence, tokens = "", []
    for position, (part, text) in enumerate(zip(tidy, texts, strict=True)):
        if position:
            sentence += _gap(analysis, partners, tidy[position - 1], part)
        tokens.append(_token(analysis, part, text, len(sentence)))
        sentence += text
    return sentence, tuple(tokens)


def copies(words: Iterable[int]) -> list[Part]:
    """Copies of source words, given by index.

    >>> copies(range(2, 4))
    [Copy(word=2), Copy(word=3)]
    """
    return [Copy(word) for word in words]


def keeps_capital(analysis: Analysis, index: int) -> bool:
    """Whether a capitalised word keeps its capital in any position: a name, a letter, a word that
    the source capitalises elsewhere too (a defined term), or an adjective or noun that is not in
    the dictionary ("American")."""
    word = analysis[index]
    if word.upos == "PROPN" or (len(word.text) == 1 and word.text != "A"):
        return True
    if word.upos not in ("ADJ", "NOUN", "VERB", "X"):
        return False
    if any(other.text == word.text for other in analysis if other.index != index):
        return True
    if word.xpos == "NN" and word.relation == "nsubj" and not analysis.children(index, "det"):
        # "Buyer grants Seller a licence": a term that needs no article, beside another one
        return any(_is_term(analysis, other) for other in analysis if other.index != index)
    return word.upos in ("ADJ", "NOUN") and not is_known(word.text.lower())


def _is_term(analysis: Analysis, word: Word) -> bool:
    """Whether a noun of the dictionary has a capital but no article: a defined term."""
    is_noun = word.xpos in ("NN", "NNP") and word.text.istitle() and is_known(word.text.lower())
    beside = analysis.children(word.index, "det", "compound", "flat")
    return is_noun and word.deprel in ("nsubj", "obj", "iobj") and not beside


def part_text(analysis: Analysis, part: Part) -> str:
    """The text of a part, before the capitals of its sentence are set."""
    if isinstance(part, Copy):
        return analysis.words[part.word].text
    return part.form if isinstance(part, Inflect) else part.text


def are_neighbours(left: Part, right: Part) -> bool:
    """Whether two parts are neighbours in the source."""
    if isinstance(left, Insert) or isinstance(right, Insert):
        return False
    return right.word == left.word + 1


_Partners = dict[int, int]
"""For each mark of the source that opens or closes a pair, the index of its partner. A word with
the underscore of an emphasis ("_War and Peace_") counts as such a mark."""


def mark_partners(analysis: Analysis) -> _Partners:
    """The paired marks of a source, found once for all its simple sentences."""
    return analysis.once(_mark_partners)


def _mark_partners(analysis: Analysis) -> _Partners:
    partners: _Partners = {}
    awaited: list[tuple[str, int]] = []
    for word in analysis if _IN_PAIRS.search(analysis.text) else ():
        if not _IN_PAIRS.search(word.text):
            continue
        mark = _closed_by(analysis, word)
        # A bracket closes whatever is still open inside it; another mark closes only the last one.
        within = awaited if mark in _CLOSING else awaited[-1:]
        if mark in [closing for closing, _ in within]:
            while mark != awaited[-1][0]:
                awaited.pop()
            other = awaited.pop()[1]
            partners[word.index], partners[other] = other, word.index
        elif closing := _opened_by(analysis, word):
            awaited.append((closing, word.index))
    return partners


def _opened_by(analysis: Analysis, word: Word) -> str:
    """The mark that closes what this word opens, or ""."""
    text = word.text
    if _is_apostrophe(analysis, word):
        return ""
    if text in _PAIRS:
        return _PAIRS[text]
    if text == '"':  # unlike the inches of a 6" pipe
        return text if _touches_next(analysis, word) or not _touches_last(analysis, word) else ""
    if text in _TWINS:  # unlike the note of "the price*"
        after_word = _touches_last(analysis, word) and has_word(analysis[word.index - 1].text)
        return text if _touches_next(analysis, word) and not after_word else ""
    if has_word(text) and not text.endswith("_"):
        return text[: len(text) - len(text.lstrip("_"))]
    return ""


def _closed_by(analysis: Analysis, word: Word) -> str:
    """The mark that this word is or ends in, if it can close a pair."""
    text = word.text
    if _is_apostrophe(analysis, word):
        return ""
    if text == '"':  # unlike the second mark of 'a "poet and "critic"'
        return "" if _leans_right(analysis, word) else text
    if text in _TWINS:
        return text if _touches_last(analysis, word) else ""
    if has_word(text):
        return "" if text.startswith("_") else text[len(text.rstrip("_")) :]
    return text


def _is_apostrophe(analysis: Analysis, word: Word) -> bool:
    """Whether a single mark is an apostrophe ("the boys' house", "'Twas night"), not a quote."""
    if word.text not in ("'", "’", "‘"):
        return False
    follower = analysis[word.index + 1].text if _touches_next(analysis, word) else ""
    return word.upos == "PART" or follower.casefold() in ("tis", "twas", "twere", "twill")


def _leans_right(analysis: Analysis, word: Word) -> bool:
    """Whether a mark touches only what follows it, so that it can only open something."""
    is_apart = not _touches_last(analysis, word) or analysis[word.index - 1].text in _OPENING
    return is_apart and _touches_next(analysis, word)


def _touches_last(analysis: Analysis, word: Word) -> bool:
    return word.index > 0 and analysis[word.index - 1].end == word.start


def _touches_next(analysis: Analysis, word: Word) -> bool:
    """Whether a word is written together with the next, which is no mark like "," or "."."""
    if word.index + 1 == len(analysis):
        return False
    follower = analysis[word.index + 1]
    return follower.start == word.end and not _stands_behind(follower.text)


def _stands_behind(text: str) -> bool:
    return text in _NO_SPACE_BEFORE or _is_stop(text)


def _tidy(analysis: Analysis, partners: _Partners, parts: list[Part]) -> list[Part]:
    parts = _without_half_pairs(analysis, partners, parts)
    given = _without_inner_commas(analysis, partners, parts)
    parts = []
    for part in given:
        if not parts or are_neighbours(parts[-1], part) or _may_follow(analysis, parts, part):
            parts.append(part)
    while parts and parts[0] != Copy(0) and _dangles_first(analysis, parts[0]):
        del parts[0]
    stop = None
    if len(parts) > 1 and _is_stop(part_text(analysis, parts[-1])):
        if are_neighbours(*parts[-2:]):
            return parts  # the source's own ending
        stop = parts.pop()
    own_end = Copy(len(analysis) - 1)
    while parts and parts[-1] != own_end and _dangles_last(analysis, parts[-1]):
        del parts[-1]
    if len(parts) > 1 and own_end not in parts[-2:]:
        before, last = parts[-2:]
        if part_text(analysis, before) in _STRENGTH and _ends_quotation(analysis, partners, last):
            del parts[-2]  # the comma in “so,” he said
    if not parts or _ends_itself(analysis, partners, parts):
        return parts
    return [*parts, Insert(".") if stop is None else stop]


def _ends_quotation(analysis: Analysis, partners: _Partners, part: Part) -> bool:
    text = part_text(analysis, part)
    if text in _QUOTES or isinstance(part, Insert):
        return text in _QUOTES
    return text in _TWINS and partners.get(part.word, part.word) < part.word


def _strength(text: str) -> int:
    if text[-1:].isalnum():
        return 0
    return _STOP_STRENGTH if _is_stop(text) else _STRENGTH.get(text, 0)


def _is_stop(text: str) -> bool:
    return _STOP.fullmatch(text) is not None


def _dangles_first(analysis: Analysis, part: Part) -> bool:
    text = part_text(analysis, part)
    return _strength(text) > 0 or text in _CLOSING or not text.strip()


def _dangles_last(analysis: Analysis, part: Part) -> bool:
    text = part_text(analysis, part)
    return _strength(text) > 0 or text in _OPENING or text in _CONJUNCTIONS or not text.strip()


def _without_half_pairs(analysis: Analysis, partners: _Partners, parts: list[Part]) -> list[Part]:
    if not partners:
        return parts
    present = {part.word for part in parts if isinstance(part, Copy)}
    kept: list[Part] = []
    for part in parts:
        if not isinstance(part, Copy) or present.issuperset(_needed(analysis, partners, part.word)):
            kept.append(part)
        elif has_word(part_text(analysis, part)):
            kept.append(Inflect(part.word, part_text(analysis, part).strip("_")))
    return kept


def _needed(analysis: Analysis, partners: _Partners, index: int) -> list[int]:
    """The words that must be present for a mark to stay: its partner, and a link's address."""
    if index not in partners:
        return []
    end = max(index, partners[index])
    is_label = analysis[end].text == "]" and _touches_next(analysis, analysis[end])
    if is_label and analysis[end + 1].text == "(":
        return [partners[index], end + 1]
    return [partners[index]]


def _without_inner_commas(analysis: Analysis, partners: _Partners, parts: list[Part]) -> list[Part]:
    """Drop the comma of “Note,” if what it set off is gone, and the comma after that."""
    texts = [part_text(analysis, part) for part in parts]
    if "," not in texts:
        return parts
    gone: set[int] = set()
    for k in range(1, len(parts) - 1):
        if texts[k - 1] != "," or are_neighbours(parts[k], parts[k + 1]):
            continue
        if _ends_quotation(analysis, partners, parts[k]):
            gone |= {k - 1, k + 1} if texts[k + 1] == "," else {k - 1}
    return [part for k, part in enumerate(parts) if k not in gone]


def _may_follow(analysis: Analysis, kept: list[Part], part: Part) -> bool:
    """Whether to keep a part that did not follow the last one in the source; weaker marks before it
    are removed."""
    text = part_text(analysis, part)
    strength = _strength(text)
    if not strength and text not in _CLOSING:
        return True
    while kept and not are_neighbours(kept[-1], part):
        last = part_text(analysis, kept[-1])
        if _strength(last) and (text in _CLOSING or strength > _strength(last)):
            kept.pop()  # ", ." and ", )"
        elif strength:
            return not (_strength(last) >= strength or last in _OPENING)
        elif last in _OPENING:
            kept.pop()
            return False
        else:
            return True
    return True


def _ends_itself(analysis: Analysis, partners: _Partners, parts: list[Part]) -> bool:
    if _strength(part_text(analysis, parts[-1])):  # only the source's own last mark: "as follows:"
        return True
    if _own_ending(analysis, parts):
        return True
    bracketed = part_text(analysis, parts[0]) in _OPENING
    for part in reversed(parts):
        text = part_text(analysis, part)
        if not (_ends_quotation(analysis, partners, part) or (bracketed and text in _CLOSING)):
            return text.endswith((".", "!", "?", "…"))
    return False


def _own_ending(analysis: Analysis, parts: list[Part]) -> bool:
    """Whether the parts end like the source, in a stop with a note: "in Ohio.[3]"."""
    for distance, part in enumerate(reversed(parts), start=1):
        place = len(analysis) - distance
        if part != Copy(place):
            return False
        if _is_stop(analysis[place].text):
            return True
        if not _touches_last(analysis, analysis[place]):
            return False
    return False


def _cased(analysis: Analysis, parts: Sequence[Part]) -> list[str]:
    texts = [part_text(analysis, part) for part in parts]
    first = next((k for k, text in enumerate(texts) if has_word(text)), None)
    if texts[:1] == ["("] and texts[2:3] == [")"] and len(texts[1]) <= _MARKER:
        first = 3 if len(texts) > 3 else first  # "(a) The Tenant"
    opener = analysis.opener
    for position, part in enumerate(parts):
        if position == first:
            is_code = position > 0 and texts[position - 1] in _CODE
            is_code = is_code or texts[position + 1 : position + 3] == ["(", ")"]  # "g() closes"
            texts[position] = texts[position] if is_code else capitalise(texts[position])
        elif isinstance(part, Copy) and part.word == opener:
            keep = keeps_capital(analysis, part.word)
            texts[position] = lower_first(texts[position], keep=keep)
    return texts


def _gap(analysis: Analysis, partners: _Partners, left: Part, right: Part) -> str:
    if not (isinstance(left, Insert) or isinstance(right, Insert)) and right.word == left.word + 1:
        return analysis.text[analysis.words[left.word].end : analysis.words[right.word].start]
    if _stands_behind(part_text(analysis, right)) and analysis.once(_is_tokenised):
        return " "
    if _hugs_next(analysis, partners, left) or _hugs_last(analysis, partners, right):
        return ""
    if right == Insert("not") and part_text(analysis, left).lower() == "can":
        return ""
    return " "


def _is_tokenised(analysis: Analysis) -> bool:
    """Whether the source has a space before its final stop, as tokenised text has: "London ."."""
    if len(analysis) < 2 or not _is_stop(analysis[len(analysis) - 1].text):
        return False
    last, stop = analysis[len(analysis) - 2], analysis[len(analysis) - 1]
    return last.end < stop.start


def _hugs_last(analysis: Analysis, partners: _Partners, part: Part) -> bool:
    """Whether there is no space before a part."""
    text = part_text(analysis, part)
    if _stands_behind(text) or _CLITIC.fullmatch(text):
        return True
    if isinstance(part, Insert):
        return text == "'"  # that of "the boys' house"
    if has_word(text):
        return False
    return _leans_left(analysis, partners, part.word)


def _hugs_next(analysis: Analysis, partners: _Partners, part: Part) -> bool:
    """Whether there is no space after a part."""
    text = part_text(analysis, part)
    if isinstance(part, Insert) or text in _OPENING:
        return text in _NO_SPACE_AFTER
    if has_word(text) or _stands_behind(text):
        return False
    if _leans_left(analysis, partners, part.word):  # "the Model X® is"
        return text in _JOINING and _touches_next(analysis, analysis[part.word])
    return text in _NO_SPACE_AFTER or _touches_next(analysis, analysis[part.word])


def _leans_left(analysis: Analysis, partners: _Partners, index: int) -> bool:
    """Whether a sign is attached to a word before it in the source, directly or by other signs."""
    for place in range(index, 0, -1):
        last = analysis[place - 1]
        if analysis[place].text in _OPENING or partners.get(place, place) > place:
            return False
        if last.end != analysis[place].start or last.text in _JOINING:
            return False
        is_closing = partners.get(last.index, last.index) < last.index
        if has_word(last.text) or _stands_behind(last.text) or is_closing:
            return True
    return False


def _token(analysis: Analysis, part: Part, text: str, start: int) -> OutputToken:
    end = start + len(text)
    if isinstance(part, Insert):
        return OutputToken(text=text, start=start, end=end, origin=Origin.INSERTED)
    word = analysis[part.word]
    same = text == word.text or text.casefold().strip("_") == word.text.casefold().strip("_")
    return OutputToken(
        text=text,
        start=start,
        end=end,
        origin=Origin.COPIED if same else Origin.INFLECTED,
        source=(word.start, word.end),
    )


def left_whole(sentence: str, *, splitter: str, note: str | None = None) -> Rewrite:
    """A rewrite that is the source itself; ``note`` says why where a splitter could do nothing."""
    if not sentence.strip():
        raise InputError("There is no sentence here: the text is empty or only white space.")
    tokens = tuple(
        OutputToken(
            text=token.text,
            start=token.start,
            end=token.end,
            origin=Origin.COPIED,
            source=(token.start, token.end),
        )
        for token in tokenize(sentence)
    )
    return Rewrite(
        source=sentence, simple=(sentence,), splitter=splitter, provenance=(tokens,), note=note
    )
