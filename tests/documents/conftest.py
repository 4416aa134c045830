"""A rewrite of any sentence, without a model."""

from collections.abc import Callable

import pytest

from parataxis.rewrite.record import Rewrite


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
