"""A rewrite of any sentence, without a model."""

import re
from collections.abc import Callable, Sequence

import pytest

from parataxis.rewrite.record import Rewrite
from parataxis.run.documents.markup import MarkupDocument


def rewrite(sentence: str) -> Rewrite:
    """Splits at semicolons, and puts what follows "who" into a sentence of its own."""
    before, who, rest = sentence.partition(", who ")
    if who and ", " in rest:
        clause, _, after = rest.partition(", ")
        simple = [f"{before} {after}", f"{before} {clause}."]
    else:
        parts = sentence.rstrip(".").split("; ")
        simple = [f"{part[:1].upper()}{part[1:]}." for part in parts]
    done = simple if len(simple) > 1 else [sentence]
    return Rewrite(source=sentence, simple=done, splitter="mine")


@pytest.fixture(scope="session")
def cut() -> Callable[[str], Rewrite]:
    return rewrite


def show(document: MarkupDocument, rewrites: Sequence[Rewrite] | None = None) -> str:
    """What a reader sees, without white space, with rewrites in the place of their sources."""
    parts: list[str] = []
    made = iter(rewrites or [])
    for block in document.blocks:
        end = 0
        for sentence in block.sentences() if rewrites else ():
            parts += [block.text[end : sentence.start], *next(made).simple]
            end = sentence.end
        parts.append(block.text[end:])
    # The words that stand for code are numbered, so a second copy has another number.
    return re.sub("X[a-z]", "X", "".join("".join(parts).split()))


@pytest.fixture(scope="session")
def shown() -> Callable[..., str]:
    return show
