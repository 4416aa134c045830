"""Tests for rewrites that keep the next sentence clear."""

import pytest

from parataxis.api import Splitter
from parataxis.errors import InputError
from parataxis.rewrite.record import Rewrite
from parataxis.splitters.context import clear_before, reference_back
from parataxis.syntax.analyser import load_trees

CASTLE = (
    "The Castle of Orveld stands above the River Minn and was begun around 1190 by Count Ruprecht, "
    "whose widow completed the western tower."
)
SUPPLIER = (
    "The Supplier shall deliver the Goods to the warehouse, which is operated by Norbrook Limited."
)
SPLIT = (
    "The Supplier shall deliver the Goods to the warehouse.",
    "The warehouse is operated by Norbrook Limited.",
)


@pytest.mark.parametrize(
    ("sentence", "word"),
    [
        ("It raged all night.", "it"),
        ("Even so, they left.", "they"),
        ("His brother stayed.", "he"),
        ("This was expensive.", "this"),
        ("But such payments are rare.", "such"),
        ("There he found work.", "there"),
        ("This Agreement ends in May.", None),
        ("There is no time.", None),
        ("In that case the price falls.", "that"),
        ("That refusal was a mistake.", "that"),
        ("This town is small.", None),
        ("Therefore the price falls.", "therefore"),
        ("In May the price fell.", None),
        ("That the captain slept is known.", None),
        ("That night, people prayed.", None),
        ("To this day, people remember.", None),
        ("IT staff were busy.", None),
        ("Ann left, and he stayed.", None),
        ("However, the storm passed.", None),
    ],
)
def test_context_reference_back(sentence: str, word: str | None) -> None:
    before = "The council refused the offer, and the town complained."
    tree, source = load_trees().pipe([sentence, before])
    found = reference_back(tree, source)
    assert (found and found.word) == word


@pytest.mark.parametrize(
    ("following", "is_clear"),
    [
        ("It bears the risk until then.", False),  # the Supplier, not the warehouse
        ("This does not affect the price.", False),
        ("They shall be packed in crates.", True),  # the Goods: a warehouse is not "they"
        ("The Buyer bears the risk.", True),
        ("There is no charge for this.", True),
        ("", True),
    ],
)
def test_context_decides_whether_a_detail_may_come_last(following: str, is_clear: bool) -> None:
    rewrite = Rewrite(source=SUPPLIER, simple=SPLIT, splitter="mine", id="7")
    made = clear_before(following, rewrite, lambda _: [])
    assert made.simple == (SPLIT if is_clear else (SUPPLIER,))
    assert made.id == "7"
    assert (made.note or "").startswith("" if is_clear else "Left whole because ")
    assert made is rewrite or following.split()[0] in str(made.note)


@pytest.mark.parametrize(
    ("source", "simple"),
    [
        # The detail is about the subject itself.
        (
            "The mill, which was built in 1811, burnt down.",
            ("The mill burnt down.", "It was built in 1811."),
        ),
        # The last sentence is a main clause.
        (
            "The lorry hit the wall, which was new, and it burst.",
            ("The lorry hit the wall.", "It was new.", "The lorry burst."),
        ),
        # "Them" is nobody else than "they".
        (
            "The flood drove us to the hills, which were dry.",
            ("The flood drove us to the hills.", "The hills were dry."),
        ),
        # A person is not "it".
        ("The firm hired a doctor, who left.", ("The firm hired a doctor.", "The doctor left.")),
    ],
)
def test_context_leaves_clear_rewrites_alone(source: str, simple: tuple[str, ...]) -> None:
    rewrite = Rewrite(source=source, simple=simple, splitter="mine")
    assert clear_before("It was sold in May.", rewrite, lambda _: []) is rewrite


@pytest.mark.parametrize(
    ("source", "simple", "following"),
    [
        (
            "The company opened a factory near Leeds, which has a port.",
            ("The company opened a factory near Leeds.", "Leeds has a port."),
            "It employs 40 people.",
        ),
        (
            "The storm hit the harbor, which is old.",
            ("The storm hit the harbor.", "The harbor is old."),
            "It raged all night.",
        ),
        (
            "Ann called the doctor, who was asleep.",
            ("Ann called the doctor.", "The doctor was asleep."),
            "She lived near the mill.",
        ),
    ],
)
def test_context_leaves_unclear_rewrites_whole(
    source: str, simple: tuple[str, ...], following: str
) -> None:
    rewrite = Rewrite(source=source, simple=simple, splitter="mine", findings=())
    made = clear_before(following, rewrite, lambda _: [])
    assert made.simple == (source,)
    assert made.findings == ()


@pytest.mark.parametrize(
    "source",
    [
        "John moved to London, which is the capital.",
        "The man walked to the door, which was old.",
    ],
)
def test_context_takes_no_place_for_a_person(source: str) -> None:
    main, detail = source.split(", which ")
    simple = (f"{main}.", f"The {main.split()[-1].lower()} {detail}")
    rewrite = Rewrite(source=source, simple=simple, splitter="mine")
    assert clear_before("He left early.", rewrite, lambda _: []) is rewrite


def test_context_takes_the_best_other_rewrite_that_is_clear() -> None:
    rewrite = Rewrite(source=SUPPLIER, simple=SPLIT, splitter="mine", id="7")
    unclear = rewrite.model_copy(update={"confidence": 0.99})
    clear = Rewrite(source=SUPPLIER, simple=SPLIT[::-1], splitter="mine", confidence=0.8)
    made = clear_before("It bears the risk.", rewrite, lambda _: [unclear, clear])
    assert made.simple == SPLIT[::-1]
    assert made.id == "7"
    assert made.note == (
        'This is not the preferred rewrite: after that one, "It" at the beginning of the next '
        "sentence would seem to mean something else."
    )


def test_context_of_a_text() -> None:
    splitter = Splitter()
    assert splitter(CASTLE).simple[-1] == "His widow completed the western tower."
    after = "It passed to the bishops in 1304."
    first, second = splitter.split(f"{CASTLE} {after}").rewrites
    assert first.simple == (
        "The Castle of Orveld stands above the River Minn.",
        "It was begun around 1190 by Count Ruprecht, whose widow completed the western tower.",
    )
    assert first.note
    assert second.note is None
    for text in (
        f"{CASTLE} Nobody lives there now.",
        f"{CASTLE}\n\n{after}",
        f"{CASTLE}\n* {after}",
    ):
        assert splitter.split(text).rewrites[0] == splitter(CASTLE)
    for line_end in ("\n", "\r\n", "\r"):
        assert splitter.split(f"{CASTLE}{line_end}{after}").rewrites[0] == first
    with pytest.raises(InputError, match="1 rewrites and 2 following sentences"):
        splitter.in_context([second], [after, ""])


def test_context_is_for_running_text_only() -> None:
    # At every level the castle is split, and the widow comes last.
    text = f"{CASTLE} It passed to the bishops in 1304."
    for options in ({"level": "atomic"}, {"max_words": 12}):
        splitter = Splitter(**options)
        sources = [span.text for span in splitter.split(text).document.sentences]
        made = splitter.split(text).rewrites
        assert made == tuple(splitter.pipe(sources))
        assert "widow" in made[0].simple[-1]


def test_context_keeps_long_sentences_that_were_cut() -> None:
    long = " and ".join([SUPPLIER.rstrip(".")] * 16) + "."
    rewrite = Rewrite(source=long, simple=[*SPLIT] * 16, splitter="mine")
    assert clear_before("It bears the risk.", rewrite, lambda _: []) is rewrite
