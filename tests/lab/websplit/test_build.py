"""Building WebSplit: which sequences of simple sentences a complex sentence gets."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from parataxis.evaluate.corpora.example import Example, Triple
from parataxis.evaluate.corpora.webnlg import read_webnlg
from parataxis.lab.websplit import (
    Verbalisations,
    build,
    depth_first,
    partitions,
    released_tokens,
    verbalisations,
)


def known(webnlg: Path) -> Verbalisations:
    return verbalisations(read_webnlg(webnlg))


def examples(webnlg: Path, max_references: int | None = None, seed: int = 0) -> dict[str, Example]:
    found = build(known(webnlg), max_references=max_references, seed=seed)
    return {example.source: example for example in found}


def test_build_partitions_in_tree_order_then_texts_of_several_sentences(webnlg: Path) -> None:
    found = examples(webnlg)["Ada Vell, born in Morrow, designed Vell Tower."]
    assert found.references == (
        ("Ada Vell designed Vell Tower.", "Ada Vell was born in Morrow."),
        ("Vell Tower is by Ada Vell.", "Ada Vell was born in Morrow."),
        ("Ada Vell was born in Morrow.", "She designed Vell Tower."),
    )
    built, born = (frozenset({each}) for each in sorted(found.triples, reverse=True))
    assert found.reference_triples == ((built, born), (built, born), (found.triples,) * 2)


def test_build_a_part_is_one_sentence_and_may_have_several_triples(webnlg: Path) -> None:
    found = examples(webnlg)["Vell Tower, by Ada Vell of Morrow, has 9 floors."]
    # Depth first, the birth place stands before the floors, which the file has second.
    assert found.references == (
        (
            "Ada Vell designed Vell Tower.",
            "Ada Vell was born in Morrow.",
            "Vell Tower has 9 floors.",
        ),
        ("Vell Tower is by Ada Vell.", "Ada Vell was born in Morrow.", "Vell Tower has 9 floors."),
        ("Ada Vell, born in Morrow, designed Vell Tower.", "Vell Tower has 9 floors."),
    )


def test_build_leaves_out_what_no_simple_sentences_say(webnlg: Path) -> None:
    assert "Ada Vell was born in Morrow, which Bo Lind leads." in known(webnlg).sources
    assert "Ada Vell was born in Morrow, which Bo Lind leads." not in examples(webnlg)
    assert [each.id for each in examples(webnlg).values()] == [
        "COMPLEX-1",
        "COMPLEX-2",
        "COMPLEX-3",
    ]


def test_build_equal_sets_of_two_files_are_one_and_names_are_unique(webnlg: Path) -> None:
    copy = webnlg / "dev" / "2triples.xml"
    copy.parent.mkdir()
    text = (webnlg / "train/2triples/2triples_Food.xml").read_text(encoding="utf-8")
    copy.write_text(text.replace("Ossia, contains", "Ossia, has"), encoding="utf-8")
    found = known(webnlg)
    assert found.entries == 10
    assert len(found.names) == len(set(found.names.values())) == 9
    assert tuple(found.scopes["Food"].single[frozenset(_food())]) == (
        "Plum cake, from Ossia, has plums.",  # dev stands before train
        "Plum cake, from Ossia, contains plums.",
    )


def _food() -> list[Triple]:
    return [
        Triple("Plum_cake", "country", "Ossia"),
        Triple("Plum_cake", "ingredient", "Plum"),
    ]


def test_build_texts_of_two_categories_go_together_only_on_demand(webnlg: Path) -> None:
    path = webnlg / "train/1triples/1triples_Food.xml"
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace('"Food" eid="Id2"', '"Plant" eid="Id2"'), encoding="utf-8")
    apart = {each.source for each in build(known(webnlg))}
    together = {each.source for each in build(verbalisations(read_webnlg(webnlg), across=True))}
    assert together - apart == {"Plum cake, from Ossia, contains plums."}


def test_build_max_references_draws_by_seed(webnlg: Path) -> None:
    complete = examples(webnlg)
    for seed in range(5):
        drawn = examples(webnlg, 2, seed)
        assert drawn == examples(webnlg, 2, seed)
        for source, example in drawn.items():
            assert len(example.references) == min(2, len(complete[source].references))
            places = [complete[source].references.index(each) for each in example.references]
            assert places == sorted(places)
    assert len({str(examples(webnlg, 1, seed)) for seed in range(9)}) > 1


def test_build_tokenised_as_the_released_files(webnlg: Path) -> None:
    found = verbalisations(read_webnlg(webnlg), tokenised=True)
    assert "Plum cake , from Ossia , contains plums ." in found.sources


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("Ann was born on 1974-08-01.", "Ann was born on 1974-08-01 ."),
        ("Its ISBN is 0-439-17684-0.", "Its ISBN is 0-439-17684-0 ."),
        ("The A/S-owned runway, 10R/28L.", "The A/S-owned runway , 10R/28L ."),
        ("At -3.3528 m - no less.", "At -3.3528 m - no less ."),
        ('He said "no" (twice).', 'He said " no " ( twice ) .'),
    ],
)
def test_build_a_token_keeps_its_hyphens_and_slashes(text: str, tokens: str) -> None:
    assert released_tokens(text) == tokens


def test_build_depth_first_of_what_is_no_tree() -> None:
    one, other = Triple("A", "r", "B"), Triple("B", "r", "A")
    assert depth_first([one, other]) == (one, other)
    apart = Triple("C", "r", "D")
    assert depth_first([other, apart, one]) == (apart, other, one)


TRIPLES = st.lists(
    st.builds(Triple, *(st.sampled_from("ABCD") for _ in range(3))), unique=True, max_size=6
)


@given(TRIPLES)
def test_build_depth_first_keeps_every_triple_once(triples: list[Triple]) -> None:
    walk = depth_first(triples)
    assert sorted(walk) == sorted(triples)


@given(TRIPLES, st.integers(0, 2**32))
def test_build_partitions_are_partitions(triples: list[Triple], mask: int) -> None:
    subsets = [
        frozenset(each for place, each in enumerate(triples) if number >> place & 1)
        for number in range(1, 2 ** len(triples))
    ]
    some = {each: None for place, each in enumerate(subsets) if mask >> (place % 33) & 1}
    found = list(partitions(triples, some))
    assert len(found) == len(set(found))
    for parts in found:
        assert all(part in some for part in parts)
        assert sorted(each for part in parts for each in part) == sorted(triples)
        firsts = [min(map(triples.index, part)) for part in parts]
        assert firsts == sorted(firsts)


def test_build_partitions_are_all_of_them() -> None:
    triples = [Triple("A", "r", str(number)) for number in range(5)]
    everything = {
        frozenset(each for place, each in enumerate(triples) if number >> place & 1): None
        for number in range(1, 32)
    }
    assert len(list(partitions(triples, everything))) == 52  # the Bell number of 5
