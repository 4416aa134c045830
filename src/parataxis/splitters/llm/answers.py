"""Finding the rewrites in what a language model wrote, whatever stands around them.

A model is asked for JSON and gives JSON, JSON in a code block, JSON behind a speech, half of it, or
none. What can be read is taken; a sentence that is missing, answered twice or out of order is not.
"""

import json
import re
import unicodedata
from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

from parataxis.text.casing import capitalise
from parataxis.text.segments import sentence_spans

__all__ = ["read_answer"]

_MOST = 500
"""Braces at which JSON is looked for; a model that writes more is not answering."""

_NOT_TEXT = frozenset(["Cc", "Cs"])
"""Control characters, and halves of characters, which no file can hold."""

_ENDED = re.compile(r"[.!?…:;][\"'”’»)\]]*$")


class _Entry(NamedTuple):
    number: int
    simple: tuple[str, ...]


def read_answer(text: str, count: int) -> list[tuple[str, ...] | None]:
    """The simple sentences for each of ``count`` numbered sentences; None where they are not there
    once, in order and in one piece.

    >>> read_answer('Sure! {"rewrites": [{"id": 1, "simple": ["It rained.", "It snowed."]}]}', 2)
    [('It rained.', 'It snowed.'), None]
    """
    entries = list(_entries(text, alone=count == 1))
    times = Counter(entry.number for entry in entries)
    found: list[tuple[str, ...] | None] = [None] * count
    for place, (number, simple) in enumerate(entries):
        is_in_order = all(entry.number < number for entry in entries[:place]) and all(
            entry.number > number for entry in entries[place + 1 :]
        )
        if 1 <= number <= count and times[number] == 1 and is_in_order and simple:
            found[number - 1] = simple
    return found


def _entries(text: str, *, alone: bool) -> Iterator[_Entry]:
    for value in _objects(text):
        listed = value.get("rewrites")
        for each in listed if isinstance(listed, list) else [value]:
            if isinstance(each, dict) and "simple" in each:
                number = _number(each.get("id", 1 if alone else None))
                if number is not None:
                    yield _Entry(number, _sentences(each["simple"]))


def _objects(text: str) -> Iterator[dict[str, object]]:
    """The outermost JSON objects of a text; of one that is broken off, the whole ones inside."""
    decoder = json.JSONDecoder()
    start = text.find("{")
    for _ in range(_MOST):
        if start < 0:
            return
        end = start + 1
        try:
            value, end = decoder.raw_decode(text, start)
        except (ValueError, RecursionError):
            pass
        else:
            yield value
        start = text.find("{", end)


def _number(value: object) -> int | None:
    if isinstance(value, str) and value.isascii() and value.isdecimal() and len(value) < 4:
        return int(value)
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _sentences(value: object) -> tuple[str, ...]:
    """The simple sentences of an entry, each by itself, with a capital and a stop; none where
    anything else stands there."""
    texts = [value] if isinstance(value, str) else value
    if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
        return ()
    plain = [" ".join(text.split()) for text in texts]
    if any(unicodedata.category(c) in _NOT_TEXT for text in plain for c in text):
        return ()
    found = [capitalise(span.text) for text in plain for span in sentence_spans(text)]
    return tuple(text if _ENDED.search(text) else f"{text}." for text in found)
