"""The prompts for a language model, and the parser of its answers.

The instructions and examples are in ``assets``; they follow the guidelines by which the training
rewrites of the other models were written.
"""

import json
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from importlib.resources import files
from typing import NamedTuple

from parataxis.rewrite.jsonl import read_rewrites
from parataxis.rewrite.record import Finding, Rewrite
from parataxis.rewrite.render import describe
from parataxis.text.segments import sentence_spans
from parataxis.text.tokens import capitalise

Messages = list[dict[str, str]]

_FRAME = 256
"""Tokens of an answer besides those of its sentences: generous, since a model may chat."""

_MOST_OBJECTS = 500
"""Braces at which JSON is tried; a model that writes more of them is not answering."""

_NOT_TEXT = frozenset(["Cc", "Cs"])
"""Unicode categories of control characters and of lone surrogates, which no file can hold."""

_ENDED = re.compile(r"[.!?…:;][\"'”’»)\]]*$")

_UNREADABLE = (
    "That cannot be read. Answer with JSON only, of this form, with the id 1: "
    '{"rewrites": [{"id": 1, "simple": ["First sentence.", "Second sentence."]}]}'
)


def request(sentences: Sequence[str]) -> Messages:
    """The messages that request rewrites of sentences, numbered from 1."""
    return [*_opening(), _message("user", _question(sentences))]


def correct(sentence: str, simple: Sequence[str], findings: Iterable[Finding]) -> Messages:
    """The messages that request a correction of the model's last rewrite of a sentence."""
    faults = "\n".join(f"- {describe(finding)}" for finding in findings)
    return [
        *request([sentence]),
        _message("assistant", _answer([simple])),
        _message(
            "user",
            f"This rewrite has faults:\n{faults}\nCorrect them and change nothing else. Answer "
            "with the same JSON.",
        ),
    ]


def repeat(sentence: str) -> Messages:
    """The messages that request a rewrite again after an unreadable answer, which is not quoted
    because it may be very long."""
    asked = request([sentence])
    asked[-1]["content"] += f"\n{_UNREADABLE}"
    return asked


def longest_answer(sentences: Iterable[str]) -> int:
    """The limit on the tokens of an answer. A rewrite is hardly ever twice as long as its source,
    and a token has several letters, so one token per character is plenty."""
    return _FRAME + sum(map(len, sentences))


@cache
def examples() -> tuple[Rewrite, ...]:
    """The rewrites that the model is shown as examples."""
    lines = _asset("examples.jsonl").splitlines()
    return tuple(read_rewrites(lines, "examples.jsonl"))


def _opening() -> Messages:
    return [
        _message("system", _asset("instructions.txt").strip()),
        _message("user", _question([example.source for example in examples()])),
        _message("assistant", _answer([example.simple for example in examples()])),
    ]


@cache
def _asset(name: str) -> str:
    return (files("parataxis.splitters.llm") / "assets" / name).read_text(encoding="utf-8")


def _question(sentences: Sequence[str]) -> str:
    numbered = [{"id": number, "sentence": text} for number, text in enumerate(sentences, start=1)]
    return json.dumps({"sentences": numbered}, ensure_ascii=False)


def _answer(rewrites: Iterable[Sequence[str]]) -> str:
    numbered = [
        {"id": number, "simple": list(simple)} for number, simple in enumerate(rewrites, start=1)
    ]
    return json.dumps({"rewrites": numbered}, ensure_ascii=False)


def _message(role: str, content: str) -> dict[str, str]:
    return {"role": role, "content": content}


class _Entry(NamedTuple):
    number: int
    simple: tuple[str, ...]


_MOST_BRACES = 2000
"""An answer with more objects is nonsense, and would take long to read."""


def read_answer(text: str, count: int) -> list[tuple[str, ...] | None]:
    """The simple sentences for each of ``count`` numbered sentences; None if they do not occur
    exactly once, in order and complete.

    The JSON may stand in a code block, follow other text, or be cut off.

    >>> read_answer('Sure! {"rewrites": [{"id": 1, "simple": ["It rained.", "It snowed."]}]}', 2)
    [('It rained.', 'It snowed.'), None]
    """
    if text.count("{") > _MOST_BRACES:
        return [None] * count
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
    """The outermost JSON objects of a text; of one that is cut off, the complete ones inside."""
    decoder = json.JSONDecoder()
    start = text.find("{")
    for _ in range(_MOST_OBJECTS):
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
    """The simple sentences of an entry, each with a capital and a full stop; none if the entry
    holds anything else."""
    texts = [value] if isinstance(value, str) else value
    if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
        return ()
    plain = [" ".join(text.split()) for text in texts]
    if any(unicodedata.category(c) in _NOT_TEXT for text in plain for c in text):
        return ()
    found = [capitalise(span.text) for text in plain for span in sentence_spans(text)]
    return tuple(text if _ENDED.search(text) else f"{text}." for text in found)
