"""Build a simple sentence out of parts whose origin is known: copies and inflections of source
words, and inserted words. Shared by every splitter that knows where its words come from.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from parataxis.rewrite.forms import is_known
from parataxis.rewrite.record import Origin, OutputToken
from parataxis.syntax.analysis import Analysis
from parataxis.text.casing import capitalise, lower_first

__all__ = ["Copy", "Inflect", "Insert", "Part", "compose", "copies", "keeps_capital"]


@dataclass(frozen=True, slots=True)
class Copy:
    """The source word with this index, as it stands."""

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

# How strongly a mark separates: of two that meet, the stronger stays.
_STRENGTH = {",": 1, "-": 2, "--": 2, "–": 2, "—": 2, ";": 3, ":": 4}
_STOP = re.compile(r"[.!?…]+")
_STOP_STRENGTH = 5
_PAIRS = {"(": ")", "[": "]", "{": "}", "“": "”", "«": "»", '"': '"'}
_OPENING = frozenset("([{“«")
_CLOSING = frozenset(")]}”»")
_QUOTES = frozenset("\"'”’»") | {"''"}
_CONJUNCTIONS = frozenset(["and", "or", "but", "nor"])
_CLITIC = re.compile(r"(n['’]t|['’](s|re|ve|ll|d|m))", re.IGNORECASE)
_NO_SPACE_BEFORE = frozenset(",;:%)]}”»")
_NO_SPACE_AFTER = frozenset("([{“«$£€¥#")


def compose(analysis: Analysis, parts: Iterable[Part]) -> tuple[str, tuple[OutputToken, ...]]:
    """A simple sentence and the origin of each of its tokens.

    Words that are neighbours in the source keep the exact text between them. The sentence starts
    with a capital and ends with a stop; the word that began the source loses its capital inside
    the sentence unless it :func:`keeps_capital`. Marks left dangling (a comma or "and" at an end,
    two commas that meet, half a pair of brackets) go. The text is empty only where the parts hold
    nothing else.
    """
    tidy = _tidy(analysis, list(parts))
    texts = _cased(analysis, tidy)
    sentence, tokens = "", []
    for position, (part, text) in enumerate(zip(tidy, texts, strict=True)):
        if position:
            sentence += _gap(analysis, tidy[position - 1], part)
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
    """Whether a capitalised word keeps its capital wherever it stands: a name, a letter, a word
    that the source capitalises elsewhere too (a defined term), or an adjective or noun that the
    dictionary does not have ("American")."""
    word = analysis[index]
    if word.upos == "PROPN" or (len(word.text) == 1 and word.text != "A"):
        return True
    if word.upos not in ("ADJ", "NOUN", "VERB", "X"):
        return False
    if any(other.text == word.text for other in analysis if other.index != index):
        return True
    return word.upos in ("ADJ", "NOUN") and not is_known(word.text.lower())


def _text(analysis: Analysis, part: Part) -> str:
    match part:
        case Copy(word):
            return analysis[word].text
        case Inflect(_, form):
            return form
        case Insert(text):
            return text


def _are_neighbours(left: Part, right: Part) -> bool:
    """Whether two parts stand side by side in the source."""
    match left, right:
        case ((Copy(first) | Inflect(first, _)), (Copy(second) | Inflect(second, _))):
            return second == first + 1
    return False


# Which parts stay -----------------------------------------------------------------------------


def _tidy(analysis: Analysis, parts: list[Part]) -> list[Part]:
    parts = _without_meeting_marks(analysis, _without_half_pairs(analysis, parts))
    while parts and parts[0] != Copy(0) and _dangles_first(analysis, parts[0]):
        del parts[0]
    if len(parts) > 1 and _is_stop(_text(analysis, parts[-1])):
        if _are_neighbours(*parts[-2:]):
            return parts  # the source's own ending
        stop = parts.pop()
    else:
        stop = None
    own_end = Copy(len(analysis) - 1)
    while parts and parts[-1] != own_end and _dangles_last(analysis, parts[-1]):
        del parts[-1]
    last_two = [_text(analysis, part) for part in parts[-2:] if part != own_end]
    if len(last_two) == 2 and last_two[0] in _STRENGTH and last_two[1] in _QUOTES:
        del parts[-2]  # the comma in “so,” he said
    return _stopped(analysis, parts, stop)


def _strength(text: str) -> int:
    return _STOP_STRENGTH if _is_stop(text) else _STRENGTH.get(text, 0)


def _is_stop(text: str) -> bool:
    return _STOP.fullmatch(text) is not None


def _dangles_first(analysis: Analysis, part: Part) -> bool:
    text = _text(analysis, part)
    return _strength(text) > 0 or text in _CLOSING or not text.strip()


def _dangles_last(analysis: Analysis, part: Part) -> bool:
    text = _text(analysis, part)
    return _strength(text) > 0 or text in _OPENING or text in _CONJUNCTIONS or not text.strip()


def _without_half_pairs(analysis: Analysis, parts: list[Part]) -> list[Part]:
    partners = _partners(analysis)
    present = {part.word for part in parts if isinstance(part, Copy)}
    return [
        part
        for part in parts
        if not isinstance(part, Copy) or partners.get(part.word, part.word) in present
    ]


def _partners(analysis: Analysis) -> dict[int, int]:
    """For each bracket and double quotation mark of the source that has one, its other half."""
    partners: dict[int, int] = {}
    open_marks: list[tuple[str, int]] = []
    for word in analysis:
        if open_marks and word.text == open_marks[-1][0]:
            other = open_marks.pop()[1]
            partners[word.index], partners[other] = other, word.index
        elif word.text in _PAIRS:
            open_marks.append((_PAIRS[word.text], word.index))
    return partners


def _without_meeting_marks(analysis: Analysis, parts: list[Part]) -> list[Part]:
    kept: list[Part] = []
    for part in parts:
        text = _text(analysis, part)
        while kept and not _are_neighbours(kept[-1], part):
            last = _text(analysis, kept[-1])
            if _strength(last) and (text in _CLOSING or _strength(text) > _strength(last)):
                kept.pop()  # the weaker mark gives way: ", ." and ", )"
            else:
                break
        if kept and not _are_neighbours(kept[-1], part):
            last = _text(analysis, kept[-1])
            if _strength(text) and (_strength(last) >= _strength(text) or last in _OPENING):
                continue
            if last in _OPENING and text in _CLOSING:
                kept.pop()
                continue
        kept.append(part)
    return kept


def _stopped(analysis: Analysis, parts: list[Part], stop: Part | None) -> list[Part]:
    """The parts with the stop they ended in, or an inserted one, unless they need none."""
    if not parts or _ends_itself(analysis, parts):
        return parts
    return [*parts, Insert(".") if stop is None else stop]


def _ends_itself(analysis: Analysis, parts: list[Part]) -> bool:
    texts = [_text(analysis, part) for part in parts]
    if _strength(texts[-1]):  # only the source's own last mark is still here: "as follows:"
        return True
    bracketed = texts[0] in _OPENING
    while texts and (texts[-1] in _QUOTES or (bracketed and texts[-1] in _CLOSING)):
        texts.pop()
    return bool(texts) and texts[-1].endswith((".", "!", "?", "…"))


# How they are written -------------------------------------------------------------------------


def _cased(analysis: Analysis, parts: Sequence[Part]) -> list[str]:
    texts = [_text(analysis, part) for part in parts]
    first = next((k for k, text in enumerate(texts) if _has_word(text)), None)
    opener = next((word.index for word in analysis if _has_word(word.text)), None)
    for position, text in enumerate(texts):
        if position == first:
            texts[position] = capitalise(text)
        elif opener is not None and parts[position] == Copy(opener):
            texts[position] = lower_first(text, keep=keeps_capital(analysis, opener))
    return texts


def _has_word(text: str) -> bool:
    return any(letter.isalnum() for letter in text)


def _gap(analysis: Analysis, left: Part, right: Part) -> str:
    match left, right:
        case ((Copy(first) | Inflect(first, _)), (Copy(second) | Inflect(second, _))):
            if second == first + 1:
                return analysis.text[analysis[first].end : analysis[second].start]
    return "" if _hugs_next(analysis, left) or _hugs_last(analysis, right) else " "


def _hugs_last(analysis: Analysis, part: Part) -> bool:
    """Whether a part is written without a space before it."""
    text = _text(analysis, part)
    if text in _NO_SPACE_BEFORE or _is_stop(text) or _CLITIC.fullmatch(text):
        return True
    if isinstance(part, Insert) or _has_word(text) or part.word == 0:
        return False
    last = analysis[part.word - 1]
    return last.end == analysis[part.word].start and last.text not in _OPENING


def _hugs_next(analysis: Analysis, part: Part) -> bool:
    """Whether a part is written without a space after it."""
    text = _text(analysis, part)
    if text in _NO_SPACE_AFTER:
        return True
    if isinstance(part, Insert) or _has_word(text) or part.word + 1 == len(analysis):
        return False
    if text in _NO_SPACE_BEFORE or _is_stop(text):
        return False
    if text in _QUOTES and _hugs_last(analysis, part):
        return False  # a closing quotation mark before a comma
    return analysis[part.word].end == analysis[part.word + 1].start


def _token(analysis: Analysis, part: Part, text: str, start: int) -> OutputToken:
    end = start + len(text)
    if isinstance(part, Insert):
        return OutputToken(text=text, start=start, end=end, origin=Origin.INSERTED)
    word = analysis[part.word]
    same = text.casefold() == word.text.casefold()
    return OutputToken(
        text=text,
        start=start,
        end=end,
        origin=Origin.COPIED if same else Origin.INFLECTED,
        source=(word.start, word.end),
    )
