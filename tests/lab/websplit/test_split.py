"""The split by triples: both conditions always hold, and nothing gets lost."""

import random

from hypothesis import given, settings
from hypothesis import strategies as st

from parataxis.evaluate.corpora.example import Triple
from parataxis.lab.rdf_split import DataSplit, split, tied_groups

TRIPLE = st.builds(
    Triple, st.sampled_from("ABCDEFGH"), st.sampled_from("rstu"), st.sampled_from("12345678")
)
SENTENCES = st.lists(st.frozensets(TRIPLE, max_size=3), max_size=40)
SHARES = st.tuples(st.floats(0, 0.45), st.floats(0, 0.45))


def keeps_conditions(sentences: list[frozenset[Triple]], found: DataSplit) -> bool:
    """The two conditions, in the plainest words."""
    parts = [
        {triple for index in part for triple in sentences[index]}
        for part in (found.train, found.validation, found.test)
    ]
    relations = {triple.relation for triples in sentences for triple in triples}
    one_part_only = not (parts[0] & parts[1] or parts[0] & parts[2] or parts[1] & parts[2])
    return one_part_only and relations == {triple.relation for triple in parts[0]}


@given(SENTENCES, SHARES, st.integers(0, 5))
@settings(max_examples=150)
def test_split_always_keeps_both_conditions(
    sentences: list[frozenset[Triple]], shares: tuple[float, float], seed: int
) -> None:
    found = split(sentences, shares=shares, seed=seed)
    assert keeps_conditions(sentences, found)
    given_away = (*found.train, *found.validation, *found.test, *found.dropped)
    assert sorted(given_away) == list(range(len(sentences)))
    assert len(found.validation) <= round(shares[0] * len(sentences))
    assert len(found.test) <= round(shares[1] * len(sentences))


@given(SENTENCES, st.integers(0, 5))
@settings(max_examples=30)
def test_split_is_deterministic(sentences: list[frozenset[Triple]], seed: int) -> None:
    assert split(sentences, seed=seed) == split(list(sentences), seed=seed)


def pairs(number: int) -> list[frozenset[Triple]]:
    """Many small groups: two sentences each, and a relation that ten of them share."""
    facts = [Triple(f"S{n}", f"r{n % 10}", "o") for n in range(number)]
    return [frozenset({fact}) for fact in facts for _ in range(2)]


def test_split_of_small_groups_is_exact_and_depends_on_the_seed() -> None:
    sentences = pairs(100)
    found = split(sentences)
    assert (len(found.train), len(found.validation), len(found.test)) == (160, 20, 20)
    assert found.dropped == ()
    assert (found.groups, found.largest) == (100, 2)
    assert split(sentences, seed=1) != found


def test_split_keeps_the_only_group_of_a_relation_in_training() -> None:
    rare = frozenset({Triple("X", "rare", "Y")})
    for seed in range(20):
        assert 200 in split([*pairs(100), rare], seed=seed).train


def chain(number: int) -> list[frozenset[Triple]]:
    """One group: each sentence shares a triple with the next one."""
    facts = [Triple(f"S{n}", f"r{n % 3}", "o") for n in range(number + 1)]
    return [frozenset(facts[n : n + 2]) for n in range(number)]


def test_split_cuts_a_group_that_is_too_large_and_drops_few() -> None:
    sentences = chain(200)
    found = split(sentences)
    assert found.groups == 1
    assert keeps_conditions(sentences, found)
    assert len(found.validation) >= 18
    assert len(found.test) >= 18
    assert 0 < len(found.dropped) <= 4  # a cut through a chain has two ends at most


def test_split_does_not_cut_what_hangs_together() -> None:
    hub = Triple("Hub", "r", "o")
    sentences = [frozenset({hub, Triple(f"S{n}", "r", "o")}) for n in range(50)]
    found = split(sentences)
    assert (len(found.train), found.dropped) == (50, ())


def with_tail(name: str, *, tail: int, links: int, tied: int) -> list[frozenset[Triple]]:
    """A group whose sentences share a fact of a relation that only it has, but for a tail that
    ``links`` sentences tie to them. Only the tail can be cut off."""
    hub, end = Triple(name, f"only {name}", "o"), Triple(f"{name} tail", "r", "o")
    return [
        *(frozenset({hub, Triple(f"{name} {n}", "r", "o")}) for n in range(tied)),
        *[frozenset({hub, end})] * links,
        *[frozenset({end})] * tail,
    ]


def test_split_cuts_for_the_emptier_part_in_turn() -> None:
    two = [sentence for name in "AB" for sentence in with_tail(name, tail=5, links=1, tied=44)]
    found = split(two)
    assert keeps_conditions(two, found)
    assert (len(found.validation), len(found.test), len(found.dropped)) == (5, 5, 2)
    assert found.wanted == (10, 10)


def test_split_pays_more_for_a_part_that_would_be_nearly_empty() -> None:
    two = [sentence for name in "AB" for sentence in with_tail(name, tail=6, links=6, tied=38)]
    found = split(two)
    assert keeps_conditions(two, found)
    assert (len(found.validation), len(found.test), len(found.dropped)) == (6, 6, 12)
    dear = [sentence for name in "AB" for sentence in with_tail(name, tail=3, links=6, tied=41)]
    assert split(dear).dropped == ()


def test_split_shares_may_differ_much() -> None:
    found = split(pairs(500), shares=(0.3, 0.01))
    assert (len(found.train), len(found.validation), len(found.test)) == (690, 300, 10)
    one = chain(500)
    uneven = split(one, shares=(0.01, 0.2))
    assert len(uneven.validation) >= 4
    assert len(uneven.test) >= 90


def test_split_by_chance_is_exact_and_depends_on_the_seed() -> None:
    tied = [frozenset({Triple("A", "r", "B")})] * 50
    found = split(tied, shares=(0.2, 0.1), seed=1, by_chance=True)
    parts = found.train, found.validation, found.test
    assert [len(part) for part in parts] == [35, 10, 5]
    assert sorted(sum(parts, ())) == list(range(50))
    assert not found.dropped
    assert found != split(tied, shares=(0.2, 0.1), seed=2, by_chance=True)


def test_split_of_nothing_and_without_triples() -> None:
    assert split([]).train == ()
    assert len(split([frozenset()] * 10).validation) == 1


def test_split_groups_are_those_of_a_plain_search() -> None:
    draw = random.Random(3)
    facts = [Triple(str(n), "r", "o") for n in range(40)]
    sentences = [frozenset(draw.sample(facts, 2)) for _ in range(25)]
    groups = [set(group) for group in tied_groups(sentences)]
    for one in range(25):
        for other in range(25):
            together = any({one, other} <= group for group in groups)
            if sentences[one] & sentences[other]:
                assert together
    for group in groups:
        reached, seen = [min(group)], set()
        while reached:
            here = reached.pop()
            seen.add(here)
            reached += [n for n in group - seen if sentences[n] & sentences[here]]
        assert seen == group
