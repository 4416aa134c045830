"""What a language model is told: the rules, a few examples, the sentences, and what was wrong.

The rules and the examples are the files in ``assets``; they follow the guidelines that the
rewrites of the other models were written by.
"""

import json
from collections.abc import Iterable, Sequence
from functools import cache
from importlib.resources import files

from parataxis.rewrite.jsonl import read_rewrites
from parataxis.rewrite.record import Finding, Rewrite
from parataxis.rewrite.render import describe

__all__ = ["Messages", "correct", "examples", "longest_answer", "repeat", "request"]

Messages = list[dict[str, str]]

_FRAME = 256
"""Tokens of an answer beside those of its sentences: generous, since a model may talk."""

_UNREADABLE = (
    "That cannot be read. Answer with JSON only, of this form, with the id 1: "
    '{"rewrites": [{"id": 1, "simple": ["First sentence.", "Second sentence."]}]}'
)


def request(sentences: Sequence[str]) -> Messages:
    """The messages that ask for rewrites of sentences, numbered from 1."""
    return [*_opening(), _message("user", _question(sentences))]


def correct(sentence: str, simple: Sequence[str], findings: Iterable[Finding]) -> Messages:
    """The messages that ask for a better rewrite of one sentence than the model's last one."""
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
    """The messages that ask once more for the rewrite of a sentence: the last answer was of no use.
    It is not repeated to the model, since it may be endless."""
    asked = request([sentence])
    asked[-1]["content"] += f"\n{_UNREADABLE}"
    return asked


def longest_answer(sentences: Iterable[str]) -> int:
    """How many tokens the answer may have. A rewrite is hardly ever twice as long as its source,
    and a token has several letters: one for each character is plenty."""
    return _FRAME + sum(map(len, sentences))


@cache
def examples() -> tuple[Rewrite, ...]:
    """The sentences that the model is shown, with their rewrites."""
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
