"""The three SARIs on the same texts: by hand, and where they must differ."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from parataxis.evaluate.metrics.protocol import ScoredItem, score
from parataxis.evaluate.metrics.sari import CorpusSari, HubSari, XuSari, corpus_sari

pytest.importorskip("sacrebleu", reason="needs the extra [metrics]")

ALL = (CorpusSari, XuSari, HubSari)

texts = st.lists(st.sampled_from("abcd"), min_size=1, max_size=8).map(" ".join)
items = st.builds(
    ScoredItem,
    source=texts,
    simple=texts.map(lambda text: (text,)),
    references=st.lists(texts.map(lambda text: (text,)), min_size=1, max_size=3).map(tuple),
)


def item(source: str, rewrite: str, *references: str) -> ScoredItem:
    return ScoredItem(source, (rewrite,), tuple((text,) for text in references))


@pytest.mark.parametrize(
    ("metric", "add", "keep", "delete"),
    [
        # 1-grams of "a a b" -> "a c" against "a c" and "a b":
        #   add: c by both: 1.
        #   keep, twice each source count: a is kept 2 (of 4), wanted 2; b is wanted 1, not kept.
        #     occurrences: both 2, kept 2, wanted 3; distinct: 2/2 of 1 kept, 2/2 of 2 wanted.
        #   delete: a 2 (of 4), b 2; the references delete a 2 and b 1.
        #     EASSE: both 2 + 1 of 4 and of 3. Xu: of a 2 - 2, of b 2 - 1: (0 + 1/2) / 2.
        # 2-grams: "a c" is added by both; "a a" and "a b" are deleted, and by the references twice
        #   and once. EASSE: 2 + 1 of 4 and of 3. Xu: (2/2 + 1/2) / 2.
        # 3-grams: "a a b" is deleted by all. There are no 4-grams.
        (CorpusSari, (1 + 1) / 4, (4 / 5) / 4, (6 / 7 + 6 / 7 + 1) / 4),
        (XuSari, (1 + 1) / 4, (2 / 3) / 4, (1 / 4 + 3 / 4 + 1) / 4),
        # 0/0 = 1: nothing is added of length 3 and 4, none of 4 is deleted; the references keep
        # one "a b" of length 2 (recall 0, precision 0/0), and nothing of length 3 and 4.
        (HubSari, (1 + 1 + 1 + 1) / 4, (4 / 5 + 0 + 1 + 1) / 4, (1 / 4 + 3 / 4 + 1 + 1) / 4),
    ],
)
def test_sari_variants_have_the_values_worked_out_by_hand(
    metric: type[CorpusSari] | type[XuSari], add: float, keep: float, delete: float
) -> None:
    found = score(metric(), [item("a a b", "a c", "a c", "a b")])
    expected = {"add": 100 * add, "keep": 100 * keep, "delete": 100 * delete}
    assert found.parts == pytest.approx(expected)
    assert found.value == pytest.approx(sum(expected.values()) / 3)


# The example in the released SARI.py of Xu et al. (2016) and in the documentation of the hub, with
# the values that these programs print.
EXAMPLE = "About 95 species are currently accepted ."
WANTED = (
    "About 95 species are currently known .",
    "About 95 species are now accepted .",
    "95 species are now accepted .",
)


@pytest.mark.parametrize(
    ("rewrite", "xu", "hub"),
    [
        ("About 95 you now get in .", 26.82782411698074, 26.953601953601954),
        ("About 95 species are now agreed .", 58.89995423074248, None),
        ("About 95 species are currently agreed .", 50.71608864657479, None),
    ],
)
def test_sari_variants_have_the_published_values(
    rewrite: str, xu: float, hub: float | None
) -> None:
    example = [item(EXAMPLE, rewrite, *WANTED)]
    assert score(XuSari(), example).value == pytest.approx(xu, abs=1e-10)
    if hub is not None:
        assert score(HubSari(), example).value == pytest.approx(hub, abs=1e-10)


def test_sari_of_a_copied_source_differs_by_tens_of_points() -> None:
    source = "Ann , who sang in the hall , left the house ."
    copy = [item(source, source, "Ann left the house . She sang in the hall .")]
    values = {metric.name: score(metric(), copy).value for metric in ALL}
    # Nothing is added or deleted. The hub takes that for perfect deletion, and gives 100.
    assert values["sari"] == pytest.approx(values["sari-xu"], abs=2)
    assert values["sari-hub"] > values["sari"] + 30
    assert score(HubSari(), copy).parts["delete"] == 100


def test_sari_hub_of_the_only_reference_is_100_even_where_it_is_the_source() -> None:
    copy = [item("It rained .", "It rained .", "It rained .")]
    assert score(HubSari(), copy).value == pytest.approx(100)
    # Two tokens and a stop have no 4-gram to keep.
    assert score(XuSari(), copy).value == pytest.approx(100 / 4)
    assert score(CorpusSari(), copy).value == pytest.approx(100 / 4)


@settings(max_examples=40)
@given(st.lists(items, min_size=1, max_size=5))
def test_sari_of_a_corpus_comes_from_the_sum_of_its_rows(corpus: list[ScoredItem]) -> None:
    for metric in (CorpusSari(), XuSari(), HubSari()):
        rows = metric.statistics(corpus)
        one_by_one = sum(metric.statistics([one])[0] for one in corpus)
        assert rows.sum(axis=0) == pytest.approx(one_by_one)
        reverse = score(metric, corpus[::-1])
        assert score(metric, corpus).value == pytest.approx(reverse.value)
        assert all(-1e-9 <= part <= 100 + 1e-9 for part in reverse.parts.values())


@settings(max_examples=40)
@given(st.lists(items, min_size=1, max_size=4))
def test_sari_variants_of_sentences_are_means(corpus: list[ScoredItem]) -> None:
    for metric in (XuSari(), HubSari()):
        mean = sum(score(metric, [one]).value for one in corpus) / len(corpus)
        assert score(metric, corpus).value == pytest.approx(mean)


@given(items)
def test_sari_for_lists_is_the_metric(one: ScoredItem) -> None:
    found = score(CorpusSari(), [one])
    listed = corpus_sari([one.source], [one.text], [one.reference_texts])
    assert listed.score == pytest.approx(found.value)
    assert (listed.add, listed.keep, listed.delete) == tuple(found.parts.values())


def test_sari_names_its_variant() -> None:
    tokens = "case:lc|tok:13a|brackets:plain"
    assert [str(metric().signature) for metric in ALL] == [
        f"sari|variant:easse|level:corpus|delete:f1|0/0:0|{tokens}",
        f"sari-xu|variant:xu2016|level:mean of sentences|delete:precision|0/0:0|{tokens}",
        f"sari-hub|variant:hub|level:mean of sentences|delete:precision|0/0:1|{tokens}",
    ]
