"""Tests for rewrites that keep the next sentence clear."""

import pytest

from parataxis.api import Splitter
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
        ("Ann left, and he stayed.", None),
        ("However, the storm passed.", None),
    ],
)
def test_context_reference_back(sentence: str, word: str | None) -> None:
    before = "The council refused the offer, and the town complained."
    tree, source = load_trees().pipe([sentence, before])
    assert reference_back(tree, source) == word


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
        # A person is not "it".
        ("The firm hired a doctor, who left.", ("The firm hired a doctor.", "The doctor left.")),
    ],
)
def test_context_leaves_clear_rewrites_alone(source: str, simple: tuple[str, ...]) -> None:
    rewrite = Rewrite(source=source, simple=simple, splitter="mine")
    assert clear_before("It was sold in May.", rewrite, lambda _: []) is rewrite


def test_context_takes_the_best_other_rewrite_that_is_clear() -> None:
    rewrite = Rewrite(source=SUPPLIER, simple=SPLIT, splitter="mine", id="7")
    unclear = rewrite.model_copy(update={"confidence": 0.99})
    clear = Rewrite(source=SUPPLIER, simple=SPLIT[::-1], splitter="mine", confidence=0.8)
    made = clear_before("It bears the risk.", rewrite, lambda _: [unclear, clear])
    assert made.simple == SPLIT[::-1]
    assert made.id == "7"
    assert made.note == 'The next sentence begins with "it", which must stay clear.'


def test_context_of_a_text() -> None:
    splitter = Splitter()
    assert splitter(CASTLE).simple[-1] == "His widow completed the western tower."
    first, second = splitter.split(f"{CASTLE} It passed to the bishops in 1304.").rewrites
    assert first.simple == (
        "The Castle of Orveld stands above the River Minn.",
        "It was begun around 1190 by Count Ruprecht, whose widow completed the western tower.",
    )
    assert first.note
    assert second.note is None
    other = splitter.split(f"{CASTLE} Nobody lives there now.").rewrites[0]
    assert other == splitter(CASTLE)


def test_context_is_for_running_text_only() -> None:
    text = f"{CASTLE} It passed to the bishops in 1304."
    for options in ({"level": "atomic"}, {"max_words": 12}):
        splitter = Splitter(**options)
        sources = [span.text for span in splitter.split(text).document.sentences]
        assert splitter.split(text).rewrites == tuple(splitter.pipe(sources))
