"""What opens a source governs all its clauses, also those in sentences of their own."""

from collections.abc import Callable

import pytest

from parataxis.rewrite.compose import compose
from parataxis.splitters.pointer.parts import sentence_parts
from parataxis.syntax.analyser import Analyser

Write = Callable[..., list[int]]

SAID_AGAIN = [
    ("In 1847 he invented the lamp and took the pump abroad.",
     ["In 1847 he invented the lamp", "[he] took the pump abroad"],
     "In 1847, he took the pump abroad."),
    ("According to reports, she returned home but her father sent her away.",
     ["According to reports , she returned home", "[however] [,] her father sent her away"],
     "However, according to reports, her father sent her away."),
    ("If it rains, the Host shall move the party and shall tell the guests.",
     ["If it rains , the Host shall move the party", "the Host shall [also] tell the guests"],
     "In that event, the Host shall also tell the guests."),
    ("If you find a fault, write it down and tell the owner.",
     ["If you find a fault , write it down", "tell the owner"],
     "In that case, tell the owner."),
    ("Unless the Schedule shows otherwise, cover is limited and claims are not paid.",
     ["Unless the Schedule shows otherwise , cover is limited", "claims are not paid"],
     "Unless the Schedule shows otherwise, claims are not paid."),
]  # fmt: skip

LEFT_ALONE = [
    # a time of its own
    ("In 1847 he invented the lamp and died in 1852.",
     ["In 1847 he invented the lamp", "[he] died in 1852"], "He died in 1852."),
    # another tense
    ("In 1922, the house was given to the town and is open to the public.",
     ["In 1922 , the house was given to the town", "[it] is open to the public"],
     "It is open to the public."),
    # a link to the text before it
    ("In addition, he invented the lamp and took the pump abroad.",
     ["In addition , he invented the lamp", "[he] took the pump abroad"],
     "He took the pump abroad."),
    # already taken up
    ("If it rains, the Host shall move the party and shall tell the guests.",
     ["If it rains , the Host shall move the party",
      "[in] [that] [event] [,] the Host shall tell the guests"],
     "In that event, the Host shall tell the guests."),
    # a condition that is not in the sentence before
    ("If the goods, which Bo ordered, are late, Bo may refuse them, and Ann shall repay him.",
     ["If the goods are late , Bo may refuse them", "Bo ordered the goods", "Ann shall repay him"],
     "Ann shall repay him."),
    # not governed: the clause comes first
    ("He took the pump abroad and in 1847 he invented the lamp.",
     ["He took the pump abroad", "in 1847 he invented the lamp"],
     "In 1847 he invented the lamp."),
    # the phrase is the end of a source without a stop
    ("He took the pump abroad and invented the lamp in 1847",
     ["He took the pump abroad", "[he] invented the lamp in 1847"],
     "He invented the lamp in 1847."),
    ("He took the pump and then the lamp abroad in 1847",
     ["He took the pump abroad in 1847", "[he] took then the lamp abroad"],
     "He took then the lamp abroad."),
]  # fmt: skip


@pytest.mark.parametrize(("source", "written", "second"), SAID_AGAIN + LEFT_ALONE)
def test_openers(
    analyser: Analyser, write: Write, source: str, written: list[str], second: str
) -> None:
    analysis = analyser(source)
    sentences = sentence_parts(analysis, write(source, *written))
    assert sentences is not None
    assert [compose(analysis, parts)[0] for parts in sentences][-1] == second
