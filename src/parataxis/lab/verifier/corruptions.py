"""Faults that a program can make in a correct rewrite, for the verifier to find.

Each corruption changes one simple sentence, or the order or number of sentences, and names the kind
of fault that a careful reader would see. It does not have to look natural, only to be wrong.
"""

import random
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from parataxis.rewrite.forms import form_of, key

Rows = list[str]
Fault = tuple[int, str]
"""The place of the sentence at fault, and the kind of the fault."""
Maker = Callable[[Rows, random.Random, str], Fault | None]
"""Changes the sentences of a rewrite, given its source; None if it finds nothing to change."""
Change = Callable[[str, random.Random], str | None]
"""What stands in place of a match; None for no corruption."""


@dataclass(frozen=True)
class Corruption:
    """A rewrite with one fault, in the sentence at ``place``; what precedes that is right."""

    simple: list[str]
    place: int
    kind: str


def corruptions(
    simple: Sequence[str], source: str, chance: random.Random, count: int
) -> list[Corruption]:
    """At most ``count`` corruptions of a rewrite, of different makes."""
    found: list[Corruption] = []
    for make in chance.sample(_MAKERS, len(_MAKERS)):
        rows = list(simple)
        fault = make(rows, chance, source)
        if fault and rows not in (list(simple), [source]) and all(map(str.strip, rows)):
            found.append(Corruption(rows, *fault))
        if len(found) == count:
            break
    return found


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def _matches(rows: Sequence[str], pattern: str, first: int = 0) -> list[tuple[int, re.Match[str]]]:
    return [
        (place, match)
        for place, row in enumerate(rows)
        if place >= first
        for match in re.finditer(pattern, row)
    ]


def _put(rows: Rows, place: int, match: re.Match[str], new: str) -> None:
    if match.group()[:1].isupper():
        new = _capital(new)
    rows[place] = _capital(rows[place][: match.start()] + new + rows[place][match.end() :])


def _edit(kind: str, pattern: str, change: Change | str, first: int = 0) -> Maker:
    """Changes one match of a pattern; sentences before ``first`` are left alone."""

    def make(rows: Rows, chance: random.Random, source: str) -> Fault | None:
        found = _matches(rows, pattern, first)
        if not found:
            return None
        place, match = chance.choice(found)
        new = change if isinstance(change, str) else change(match.group(), chance)
        if new is None:
            return None
        _put(rows, place, match, new)
        return place, kind

    return make


def _other(*groups: str) -> Change:
    """Another word of the first group that a word is in."""
    known = [group.split() for group in groups]

    def change(word: str, chance: random.Random) -> str | None:
        own = next(group for group in known if word.lower() in group)
        return chance.choice([other for other in own if other != word.lower()])

    return change


def _inflected(*tags: str) -> Change:
    """The last of the matched words in another form, without those before it."""

    def change(words: str, chance: random.Random) -> str | None:
        verb = words.split()[-1]
        return (
            chance.choice(["is", "was"])
            if verb == "be"
            else form_of(key(verb), chance.choice(tags))
        )

    return change


def _negated(word: str, chance: random.Random) -> str:
    return f"{word} not"


def _truncated(sentence: str, chance: random.Random) -> str:
    words = sentence.split()
    return " ".join(words[: chance.randrange(3, len(words) - 2)]).rstrip(",;:") + "."


def _swap(pattern: str) -> Maker:
    """Exchanges two different matches."""

    def make(rows: Rows, chance: random.Random, source: str) -> Fault | None:
        text = "\n".join(rows)
        found = list(re.finditer(pattern, text))
        pairs = [
            (one, other)
            for number, one in enumerate(found)
            for other in found[number + 1 :]
            if one.group() != other.group()
        ]
        if not pairs:
            return None
        one, other = chance.choice(pairs)
        between = text[one.end() : other.start()]
        start, end = text[: one.start()], text[other.end() :]
        rows[:] = (start + other.group() + between + one.group() + end).split("\n")
        return start.count("\n"), "referent"

    return make


def _other_name(rows: Rows, chance: random.Random, source: str) -> Fault | None:
    """Another name of the source in place of a name."""
    found = _matches(rows, r"(?<![.\w] )\b[A-Z][a-z]+(?: [A-Z][a-z]+)*\b")
    if not found:
        return None
    place, match = chance.choice(found)
    names = sorted(set(re.findall(r"\b[A-Z][a-z]{2,}(?: [A-Z][a-z]+)*\b", source)))
    others = [name for name in names if name not in match.group() and match.group() not in name]
    if not others:
        return None
    _put(rows, place, match, chance.choice(others))
    return place, "referent"


def _subject(sentence: str) -> str | None:
    match = re.match(rf"([^,]{{2,60}}?) {_AUXILIARY}", sentence)
    return match[1] if match and len(match[1].split()) <= 7 else None


def _other_subject(rows: Rows, chance: random.Random, source: str) -> Fault | None:
    """The subject of another sentence."""
    subjects = [(place, own) for place, row in enumerate(rows) if (own := _subject(row))]
    pairs = [
        (place, own, other)
        for place, own in subjects
        for _, other in subjects
        if own.lower() != other.lower()
    ]
    if not pairs:
        return None
    place, own, other = chance.choice(pairs)
    rows[place] = other + rows[place][len(own) :]
    return place, "referent"


def _noun_as_subject(rows: Rows, chance: random.Random, source: str) -> Fault | None:
    """A noun phrase of the source as the subject of a sentence that is not the first."""
    subjects = [(place, own) for place, row in enumerate(rows) if place and (own := _subject(row))]
    following = r"(?= (?:of|in|and|was|is|were|are|that|which|to)\b|[,.])"
    phrases = re.findall(rf"\b[Tt]he [a-z]+(?: [a-z]+)?{following}", source)
    if not subjects:
        return None
    place, own = chance.choice(subjects)
    others = [_capital(phrase) for phrase in phrases if phrase.lower() not in own.lower()]
    if not others:
        return None
    rows[place] = chance.choice(others) + rows[place][len(own) :]
    return place, "referent"


def _other_noun(rows: Rows, chance: random.Random, source: str) -> Fault | None:
    """Another noun phrase of the source in place of one that is not a subject."""
    found = _matches(rows, rf"(?<=[a-z,] ){_NOUN}")
    if not found:
        return None
    place, match = chance.choice(found)
    others = sorted({each for each in re.findall(_NOUN, source) if each not in rows[place]})
    if not others:
        return None
    _put(rows, place, match, chance.choice(others))
    return place, "referent"


def _moved(rows: Rows, chance: random.Random, source: str) -> Fault | None:
    """The last phrase or subordinate clause of a sentence at the end of another one."""
    found = _matches(rows, _LAST)
    if not found or len(rows) < 2:
        return None
    place, match = chance.choice(found)
    other = chance.choice([number for number in range(len(rows)) if number != place])
    if match.group().strip() in rows[other] or rows[other][-1:] != ".":
        return None
    _put(rows, place, match, "")
    rows[other] = rows[other][:-1] + match.group() + "."
    return min(place, other), "referent"


def _reorder(rows: Rows, chance: random.Random, source: str) -> Fault | None:
    if len(rows) < 2:
        return None
    place = chance.randrange(len(rows) - 1)
    rows[place], rows[place + 1] = rows[place + 1], rows[place]
    return place, "order"


def _drop(rows: Rows, chance: random.Random, source: str) -> Fault | None:
    if len(rows) < 2:
        return None
    del rows[chance.randrange(len(rows))]
    return len(rows) - 1, "lost"


_MODALS = "may might can could shall should will would must"
_AUXILIARY = rf"\b(?:is|are|was|were|has|have|had|does|do|did|{_MODALS.replace(' ', '|')})\b"
_FRONTED = (
    r"^(?:If|Unless|When|Where|Except|Subject to|In|On|At|By|During|After|Before|Because of"
    r"|According to|Under|Until|Although)\b[^,]{3,90}, (?=.)"
)
_CONDITION = (
    r",? (?:if|unless|provided that|except|only if|subject to|until|in the event that"
    r"|to the extent|so long as|other than) .+?(?=[.!?]$)"
)
_ATTRIBUTION = (
    r"^.{2,60}? (?:said|says|claim(?:s|ed)|allege[sd]|report(?:s|ed)|believe[sd]?|state[sd]"
    r"|announced|argue[sd]?|thought|feared|suggest(?:s|ed)|hoped|denied|testified|represents?"
    r"|warrants?|agrees?) that (?=.)"
)
_HEDGE = (
    r"\b(?:only|allegedly|reportedly|probably|perhaps|possibly|usually|often|sometimes|mainly"
    r"|mostly|nearly|almost|about|approximately|at least|at most|up to|partly|generally"
    r"|apparently|likely) "
)
_LINK = (
    r"^(?:However|Therefore|As a result|Because of this|Then|Later|Meanwhile|In that case"
    r"|In that event|Otherwise|Alternatively|At that time|Afterwards|For this reason|Instead"
    r"|Nevertheless), "
)
_PHRASE = (
    r" (?:in|on|at|by|for|with|from|of|to|during|after|before|between|through|under)"
    r" [^,.;]{2,30}(?=[,.;])"
)
_LAST = (
    r",? (?:(?:in|on|at|by|for|with|from|during|after|before|near|under|without) [^,.;]{2,40}"
    r"|(?:because|when|while|since|until|if|unless|although|where|so that) [^.;]{8,90})(?=[.]$)"
)
_NOUN = (
    r"\b(?:the|an?|his|her|its|their) (?:[a-z]+ )??[a-z]{3,}(?= (?:of|in|on|and|or|was|is|were|are"
    r"|that|which|who|to|for|with|from|by|at|had|has)\b|[,.])"
)
_PRONOUN = r"\b(?:[Hh]e|[Ss]he|[Ii]t|[Tt]hey|[Hh]is|[Hh]er|[Ii]ts|[Tt]heir|him|them)\b"

_MAKERS: list[Maker] = [
    _swap(r"\b\d(?:[\d,.]*\d)?\b"),
    _swap(r"(?<=[a-z,] )[A-Z][a-z]+(?: [A-Z][a-z]+)*"),
    _other_name,
    _edit("modality", rf"\b(?:{_MODALS.replace(' ', '|')})\b", _other(_MODALS)),
    _edit(
        "modality",
        rf"\b(?:{_MODALS.replace(' ', '|')}) (?!not\b)[a-z]+\b",
        _inflected("VBZ", "VBD"),
    ),
    _edit("modality", r"\b(?:is|was|are|were|has|had)\b", _other("is was", "are were", "has had")),
    _edit("scope", r" not\b|\bnever |\bno longer |n't\b", ""),
    _edit("new", rf"{_AUXILIARY}(?! not)", _negated),
    _edit("referent", _PRONOUN, _other("he she it they", "his her its their", "him her it them")),
    _other_subject,
    *[_noun_as_subject] * 2,
    *[_other_noun] * 2,
    *[_moved] * 2,
    _edit("scope", _FRONTED, ""),
    _edit("scope", _CONDITION, ""),
    _edit("scope", _ATTRIBUTION, ""),
    _edit("lost", _HEDGE, ""),
    _edit("scope", r" or ", " and "),
    _edit("lost", _LINK, ""),
    _edit("new", _LINK, lambda link, _: "Therefore, " if link == "However, " else "However, "),
    _reorder,
    _drop,
    _edit("lost", _PHRASE, ""),
    _edit(
        "grammar",
        r"\b(?:is|are|was|were|has|have)\b",
        _other("is are", "was were", "has have"),
    ),
    _edit("grammar", r"\b[a-z]{3,}(?:ed|ing|s)\b", _inflected("VB", "VBG", "VBZ", "VBD")),
    _edit("fragment", r"^(?:\S+ ){6,}\S+$", _truncated),
    _edit("fragment", rf"{_AUXILIARY} ", ""),
    _edit("referent", r"^(?:This|It|They|He|She)\b", _other("this it they he she"), first=1),
]
