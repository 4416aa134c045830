import pytest

from parataxis.checks import check
from parataxis.rewrite.record import FindingKind


def _repeated(source: str, *simple: str) -> list[int | None]:
    return [f.sentence for f in check(source, simple) if f.kind is FindingKind.REPEATED]


@pytest.mark.parametrize(
    ("source", "simple", "expected"),
    [
        ("Ann ran and Bob slept.", ["Ann ran.", "Bob slept.", "Ann ran."], [2]),
        ("He ran, and she ran.", ["He ran.", "He ran ."], [1]),
        # A part of a sentence, said again with other function words.
        (
            "The pond is a pit in the clay floor of the quarry.",
            [
                "The pond is a pit in the clay floor of the quarry.",
                "It is a pit in the clay floor.",
            ],
            [1],
        ),
        # Said twice in the source, so twice in the rewrite.
        (
            "Tim saw the red door, and Tom, later, saw the red door.",
            ["Tim saw the red door.", "Tom later saw the red door."],
            [],
        ),
        # The first sentence introduces what the second is about.
        (
            "It is a clan of herders that has moved west.",
            ["It is a clan of herders.", "The clan of herders has moved west."],
            [],
        ),
        # Names that are introduced and then described.
        (
            "The shafts are Anna shaft, which carries men, and Otto shaft, which carries ore.",
            [
                "These are the Anna and the Otto.",
                "The Anna shaft carries men.",
                "The Otto shaft carries ore.",
                "They are the shafts.",
            ],
            [],
        ),
    ],
)
def test_repeated_sentences_are_found(source: str, simple: list[str], expected: list[int]) -> None:
    assert _repeated(source, *simple) == expected


def test_repeated_sentence_is_named_whole() -> None:
    finding = check("It rained.", ["It rained.", "It rained."])[0]
    assert (finding.words, finding.start, finding.end) == ("It rained.", 0, 10)
    assert finding.message == "The sentence 'It rained.' says again what was said before."
