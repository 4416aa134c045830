"""Artificial faults in good rewrites, to measure how many of them the checks find.

Each kind of damage changes one thing in one simple sentence and names the finding that it should
raise. A damage that does not apply to a rewrite (there is no number to drop) is skipped.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from random import Random

from parataxis.checks import lexicon
from parataxis.checks.units import FactUnit, Sort, units
from parataxis.rewrite.record import FindingKind

_ADDITIONS = ("famous", "Spanish", "wooden", "secretly", "Peterson", "1847", "dangerous")
_SIGNS = "".join(lexicon.SIGNS) + "− "
_COPULA = re.compile(r"(?:It|He|She|They|This|These) (?:is|are|was|were) (?=\w+(?:ed|wn|lt) )")
_AUXILIARY = re.compile(r" (?:is|are|was|were|has|had|can|may|will|shall)(?= \w)")
_LINK = re.compile(r"(?:However|Therefore|As a result|Because of this|Nevertheless), ")
_PRONOUN = re.compile(r"(It|He|She|They) (?=\w)")

Damage = Callable[[str, Sequence[str], Random], list[str] | None]


def damaged(
    source: str, simple: Sequence[str], *, seed: int = 0
) -> Iterator[tuple[str, FindingKind, list[str]]]:
    """Every damage that applies to a rewrite: its name, the kind of finding expected, the result.

    >>> for name, kind, result in damaged("Ann ran and did not fall.", ["Ann ran.",
    ...     "She did not fall."]):
    ...     if name == "drop a negation":
    ...         print(kind.value, result)
    lost ['Ann ran.', 'She did fall.']
    """
    for name, (kind, damage) in DAMAGES.items():
        result = damage(source, simple, Random(f"{seed} {name} {source}"))
        if result is not None:
            yield name, kind, result


def _change_word(fits: Callable[[FactUnit], object], change: Callable[[FactUnit], str]) -> Damage:
    """Change one of the words that fit."""

    def damage(source: str, simple: Sequence[str], random: Random) -> list[str] | None:
        found = [(i, unit) for i, text in enumerate(simple) for unit in units(text) if fits(unit)]
        if not found:
            return None
        index, unit = random.choice(found)
        return _replace(simple, index, unit, change(unit))

    return damage


def _change_sentence(
    fits: Callable[[str], object], change: Callable[[str], str], *, after_first: bool = False
) -> Damage:
    """Change one of the sentences that fit, or of those after the first sentence."""

    def damage(source: str, simple: Sequence[str], random: Random) -> list[str] | None:
        first = 1 if after_first else 0
        found = [i for i, text in enumerate(simple) if i >= first and fits(text)]
        if not found:
            return None
        index = random.choice(found)
        return [*simple[:index], change(simple[index]), *simple[index + 1 :]]

    return damage


def _drop(*sorts: Sort, once: bool) -> Damage:
    """Drop one word of the given sorts; with ``once``, a word that the rewrite uses only once."""

    def damage(source: str, simple: Sequence[str], random: Random) -> list[str] | None:
        counts = Counter(unit.key for text in simple for unit in units(text))
        known = {unit.key for unit in units(source)}

        def fits(unit: FactUnit) -> bool:
            is_whole_word = not unit.key.startswith(("'", "n'"))
            may_go = not once or counts[unit.key] == 1
            return unit.sort in sorts and may_go and unit.key in known and is_whole_word

        return _change_word(fits, lambda unit: "")(source, simple, random)

    return damage


def _add_word(source: str, simple: Sequence[str], random: Random) -> list[str] | None:
    index = random.randrange(len(simple))
    words = [unit for unit in units(simple[index]) if unit.sort is Sort.WORD and unit.start]
    if not words:
        return None
    unit = random.choice(words)
    return _replace(simple, index, unit, f"{random.choice(_ADDITIONS)} {unit.text}")


def _drop_sentence(source: str, simple: Sequence[str], random: Random) -> list[str] | None:
    if len(simple) < 2:
        return None
    index = random.randrange(len(simple))
    return [*simple[:index], *simple[index + 1 :]]


def _repeat_sentence(source: str, simple: Sequence[str], random: Random) -> list[str] | None:
    return [*simple, random.choice(simple)]


def _without_signs(unit: FactUnit) -> str:
    return unit.text.strip(_SIGNS)


def _other_number(unit: FactUnit) -> str:
    number = _without_signs(unit)
    return unit.text.replace(number, str(int(number) + 17))


def _capitalised(text: str) -> str:
    return text[:1].upper() + text[1:]


def _replace(simple: Sequence[str], index: int, unit: FactUnit, text: str) -> list[str]:
    old = simple[index]
    new = f"{old[: unit.start]}{text}{old[unit.end :]}"
    new = re.sub(r"\s+([.,;:?!])", r"\1", re.sub(r"\s{2,}", " ", new)).strip()
    return [*simple[:index], new, *simple[index + 1 :]]


_change_number = _change_word(
    lambda unit: unit.sort is Sort.NUMBER and _without_signs(unit).isdecimal(), _other_number
)
_drop_link = _change_sentence(_LINK.match, lambda text: _capitalised(_LINK.sub("", text)))
_add_negation = _change_sentence(
    lambda text: _AUXILIARY.search(text) and " not " not in text,
    lambda text: _AUXILIARY.sub(r"\g<0> not", text, count=1),
)
_subordinate = _change_sentence(
    lambda text: _PRONOUN.match(text) and "," not in text,
    lambda text: f"Although {text[0].lower()}{text[1:]}",
    after_first=True,
)
_begin_with_relative = _change_sentence(
    _PRONOUN.match,
    lambda text: _PRONOUN.sub("Which " if text.startswith("It") else "Who ", text, count=1),
    after_first=True,
)
_drop_verb = _change_sentence(
    lambda text: _COPULA.match(text) and "," not in text,
    lambda text: _capitalised(_COPULA.sub("", text, count=1)),
)

DAMAGES: dict[str, tuple[FindingKind, Damage]] = {
    "drop a number": (FindingKind.LOST, _drop(Sort.NUMBER, once=True)),
    "change a number": (FindingKind.NEW, _change_number),
    "drop a sign": (FindingKind.LOST, _change_word(lambda unit: unit.signs, _without_signs)),
    "drop a name": (FindingKind.LOST, _drop(Sort.NAME, once=True)),
    "drop a content word": (FindingKind.LOST, _drop(Sort.WORD, once=True)),
    "drop a negation": (FindingKind.LOST, _drop(Sort.NEGATION, once=False)),
    "drop a modal verb": (FindingKind.LOST, _drop(Sort.MODAL, once=False)),
    "drop a condition": (FindingKind.LOST, _drop(Sort.CONDITION, once=False)),
    "drop a link": (FindingKind.LOST, _drop_link),
    "drop a sentence": (FindingKind.LOST, _drop_sentence),
    "add a word": (FindingKind.NEW, _add_word),
    "add a negation": (FindingKind.NEW, _add_negation),
    "repeat a sentence": (FindingKind.REPEATED, _repeat_sentence),
    "subordinate a sentence": (FindingKind.FRAGMENT, _subordinate),
    "begin with a relative": (FindingKind.FRAGMENT, _begin_with_relative),
    "drop the main verb": (FindingKind.NO_VERB, _drop_verb),
}
"""Every kind of damage: the finding that it should raise, and the function that does it."""
