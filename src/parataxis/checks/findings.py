"""How a finding about words is put: which words, where, and a sentence for the writer."""

from collections.abc import Sequence

from parataxis.checks import lexicon
from parataxis.checks.units import Sort, Unit
from parataxis.rewrite.record import Finding, Kind

__all__ = ["lost", "new", "runs", "whole"]

_WIDEST_GAP = 2
_QUOTES = '"“”„«»'
_NOUNS = {
    Sort.NAME: "name",
    Sort.NUMBER: "number",
    Sort.NEGATION: "negation",
    Sort.MODAL: "modal verb",
    Sort.CONDITION: "condition",
    Sort.FUNCTION: "link",
}


def lost(source: str, run: Sequence[Unit]) -> Finding:
    """Words of the source that are missing."""
    words = source[run[0].start : run[-1].end]
    noun = "quotation" if run[0].is_fact and _is_quoted(source, run) else _noun(run)
    return _finding(Kind.LOST, None, words, run, f"The {noun} '{words}' is missing.")


def new(index: int, sentence: str, run: Sequence[Unit]) -> Finding:
    """Words of a simple sentence that the source does not have."""
    words = sentence[run[0].start : run[-1].end]
    return _finding(
        Kind.NEW, index, words, run, f"The {_noun(run)} '{words}' is not in the source."
    )


def whole(kind: Kind, index: int, sentence: str, message: str) -> Finding:
    """A finding about a simple sentence as a whole."""
    return Finding(
        kind=kind, words=sentence, sentence=index, start=0, end=len(sentence), message=message
    )


def runs(found: Sequence[Unit], units: Sequence[Unit]) -> list[list[Unit]]:
    """Group words that stand together but for a function word or two ("April 28, 2012")."""
    if not found:
        return []
    place = {id(unit): index for index, unit in enumerate(units)}
    groups: list[list[Unit]] = []
    for unit in found:
        here = place[id(unit)]
        if groups and _is_near(units[place[id(groups[-1][-1])] + 1 : here]):
            groups[-1].append(unit)
        else:
            groups.append([unit])
    return groups


def _is_near(between: Sequence[Unit]) -> bool:
    return len(between) <= _WIDEST_GAP and all(u.sort is Sort.FUNCTION for u in between)


def _is_quoted(source: str, run: Sequence[Unit]) -> bool:
    """Whether the words stand between quotation marks: an odd number of marks comes before."""
    before = sum(source.count(mark, 0, run[0].start) for mark in _QUOTES)
    return before % 2 == 1 and any(mark in source[run[-1].end :] for mark in _QUOTES)


def _noun(run: Sequence[Unit]) -> str:
    sorts = {unit.sort for unit in run}
    if Sort.NUMBER in sorts and any(unit.key in lexicon.DATE_WORDS for unit in run):
        return "date"
    if len(sorts) == 1 and run[0].sort in _NOUNS:
        return _NOUNS[run[0].sort]
    return "word" if len(run) == 1 else "wording"


def _finding(
    kind: Kind, sentence: int | None, words: str, run: Sequence[Unit], message: str
) -> Finding:
    return Finding(
        kind=kind,
        words=words,
        sentence=sentence,
        start=run[0].start,
        end=run[-1].end,
        message=message,
    )
