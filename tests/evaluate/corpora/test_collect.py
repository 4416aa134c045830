"""Drawing complex sentences."""

import pytest

from parataxis.errors import InputError
from parataxis.evaluate.corpora.describe import Filter, collect
from parataxis.evaluate.corpora.example import Example

CORPUS = [Example(f"Number {n} rained, and we left.", (("X.",),), str(n)) for n in range(200)]


@pytest.mark.parametrize(
    ("sentence", "takes"),
    [
        ("In 1894, it was built.", True),
        ("It's old.", False),
        ("It was built; it stands.", False),
        ("A café was built.", False),
        ("It was built (in 1894).", False),
    ],
)
def test_collect_filter_of_zhang_2020(sentence: str, takes: bool) -> None:
    assert Filter().takes(sentence) is takes


def test_collect_filter_by_tokens() -> None:
    chosen = Filter(".*", shortest=4, longest=5)
    assert [chosen.takes(text) for text in ("We left.", "It has rained.", "So it has rained.")] == [
        False,
        True,
        True,
    ]
    assert not chosen.takes("And so it has rained.")


def test_collect_is_reproducible_and_in_order() -> None:
    first, second = collect(CORPUS, 20, seed=1), collect(iter(CORPUS), 20, seed=1)
    assert first.sentences == second.sentences
    ids = [int(each.id) for each in first.sentences]
    assert ids == sorted(set(ids))
    assert len(ids) == 20
    assert collect(CORPUS, 20, seed=2).sentences != first.sentences
    assert all(each.references == () for each in first.sentences)


def test_collect_draws_each_different_source_once() -> None:
    found = collect(CORPUS[:3] * 5, 10)
    assert (len(found.sentences), found.different, found.passed) == (3, 3, 3)


def test_collect_leaves_out_what_is_excluded() -> None:
    found = collect(CORPUS, 500, exclude=CORPUS[:150])
    assert [each.id for each in found.sentences] == [str(n) for n in range(150, 200)]


def test_collect_counts_what_passes() -> None:
    found = collect([*CORPUS[:2], Example("It's old.", (), "x")], 9)
    assert (found.different, found.passed) == (3, 2)


def test_collect_refuses_bad_filters() -> None:
    with pytest.raises(InputError, match="not a regular expression"):
        Filter("(")
    with pytest.raises(InputError, match="longest"):
        Filter(shortest=9, longest=3)
