"""Damage to good rewrites, to measure how many faults the checks find.

Each kind of damage changes one thing in one simple sentence and names the finding it should
raise. What cannot be done to a rewrite (it has no number to drop) is left out.
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
    """Each damage that can be done to a rewrite: its name, the kind to be found, the result.

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


def _drop(*sorts: Sort, once: bool) -> Damage:
    """Leave out one word of the given sorts; with ``once`` it must be the only one of its kind."""

    def drop(source: str, simple: Sequence[str], random: Random) -> list[str] | None:
        found = [(i, unit) for i, text in enumerate(simple) for unit in units(text)]
        counts = Counter(unit.key for _, unit in found)
        known = {unit.key for unit in units(source)}
        chosen = [
            (i, unit)
            for i, unit in found
            if unit.sort in sorts
            and (not once or counts[unit.key] == 1)
            and unit.key in known
            and not unit.key.startswith(("'", "n'"))
        ]
        if not chosen:
            return None
        index, unit = random.choice(chosen)
        return _replace(simple, index, unit, "")

    return drop


def _change_number(source: str, simple: Sequence[str], random: Random) -> list[str] | None:
    found = [
        (i, unit)
        for i, text in enumerate(simple)
        for unit in units(text)
        if unit.sort is Sort.NUMBER and _bare(unit).isdecimal()
    ]
    if not found:
        return None
    index, unit = random.choice(found)
    number = _bare(unit)
    return _replace(simple, index, unit, unit.text.replace(number, str(int(number) + 17)))


def _drop_sign(source: str, simple: Sequence[str], random: Random) -> list[str] | None:
    """Leave out what a number is given in: "5%" becomes "5"."""
    found = [(i, unit) for i, text in enumerate(simple) for unit in units(text) if unit.signs]
    if not found:
        return None
    index, unit = random.choice(found)
    return _replace(simple, index, unit, _bare(unit))


def _bare(unit: FactUnit) -> str:
    return unit.text.strip(_SIGNS)


def _add_word(source: str, simple: Sequence[str], random: Random) -> list[str] | None:
    index = random.randrange(len(simple))
    words = [unit for unit in units(simple[index]) if unit.sort is Sort.WORD and unit.start]
    if not words:
        return None
    unit = random.choice(words)
    return _replace(simple, index, unit, f"{random.choice(_ADDITIONS)} {unit.text}")


def _add_negation(source: str, simple: Sequence[str], random: Random) -> list[str] | None:
    fit = [i for i, text in enumerate(simple) if _AUXILIARY.search(text) and " not " not in text]
    if not fit:
        return None
    index = random.choice(fit)
    text = _AUXILIARY.sub(r"\g<0> not", simple[index], count=1)
    return [*simple[:index], text, *simple[index + 1 :]]


def _drop_link(source: str, simple: Sequence[str], random: Random) -> list[str] | None:
    """Leave out the link at the head of a sentence: "However, it rained."."""
    fit = [i for i, text in enumerate(simple) if _LINK.match(text)]
    if not fit:
        return None
    index = random.choice(fit)
    return [*simple[:index], _capitalised(_LINK.sub("", simple[index])), *simple[index + 1 :]]


def _drop_sentence(source: str, simple: Sequence[str], random: Random) -> list[str] | None:
    if len(simple) < 2:
        return None
    index = random.randrange(len(simple))
    return [*simple[:index], *simple[index + 1 :]]


def _repeat_sentence(source: str, simple: Sequence[str], random: Random) -> list[str] | None:
    return [*simple, random.choice(simple)]


def _subordinate(source: str, simple: Sequence[str], random: Random) -> list[str] | None:
    """Turn a sentence into a clause that cannot stand alone: "Because it was ill."."""
    fit = [i for i, text in enumerate(simple) if i and _PRONOUN.match(text) and "," not in text]
    if not fit:
        return None
    index = random.choice(fit)
    text = f"Although {simple[index][0].lower()}{simple[index][1:]}"
    return [*simple[:index], text, *simple[index + 1 :]]


def _relative(source: str, simple: Sequence[str], random: Random) -> list[str] | None:
    """Put a relative pronoun at the head of a sentence: "Which was built in 1900."."""
    fit = [i for i, text in enumerate(simple) if i and _PRONOUN.match(text)]
    if not fit:
        return None
    index = random.choice(fit)
    pronoun = "Which" if simple[index].startswith("It") else "Who"
    text = _PRONOUN.sub(f"{pronoun} ", simple[index], count=1)
    return [*simple[:index], text, *simple[index + 1 :]]


def _drop_verb(source: str, simple: Sequence[str], random: Random) -> list[str] | None:
    """Leave a participle alone: "Built in 1900."."""
    fit = [i for i, text in enumerate(simple) if _COPULA.match(text) and "," not in text]
    if not fit:
        return None
    index = random.choice(fit)
    text = _capitalised(_COPULA.sub("", simple[index], count=1))
    return [*simple[:index], text, *simple[index + 1 :]]


def _capitalised(text: str) -> str:
    return text[:1].upper() + text[1:]


def _replace(simple: Sequence[str], index: int, unit: FactUnit, text: str) -> list[str]:
    old = simple[index]
    new = f"{old[: unit.start]}{text}{old[unit.end :]}"
    new = re.sub(r"\s+([.,;:?!])", r"\1", re.sub(r"\s{2,}", " ", new)).strip()
    return [*simple[:index], new, *simple[index + 1 :]]


DAMAGES: dict[str, tuple[FindingKind, Damage]] = {
    "drop a number": (FindingKind.LOST, _drop(Sort.NUMBER, once=True)),
    "change a number": (FindingKind.NEW, _change_number),
    "drop a sign": (FindingKind.LOST, _drop_sign),
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
    "begin with a relative": (FindingKind.FRAGMENT, _relative),
    "drop the main verb": (FindingKind.NO_VERB, _drop_verb),
}
"""Every kind of damage: the finding that it should raise, and how it is done."""
