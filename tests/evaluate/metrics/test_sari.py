"""SARI against numbers worked out by hand, and what must hold for any texts."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from parataxis.evaluate.metrics import Sari, corpus_sari
from parataxis.evaluate.metrics.protocol import ScoredItem, score
from parataxis.evaluate.metrics.registry import load_metric
from parataxis.evaluate.metrics.sari import CorpusSari
from parataxis.evaluate.metrics.tokens import text_items

pytest.importorskip("sacrebleu", reason="needs the extra [metrics]")

SOURCE = "Ann, who sang in the hall, left the house."
REFERENCE = "Ann left the house. She sang in the hall."

texts = st.lists(st.sampled_from("abcd"), min_size=1, max_size=8).map(" ".join)
corpora = st.lists(
    st.tuples(texts, texts, st.lists(texts, min_size=1, max_size=3)), min_size=1, max_size=4
)


@pytest.mark.parametrize(
    ("source", "rewrite", "references", "add", "keep", "delete"),
    [
        (SOURCE, REFERENCE, [REFERENCE], 100, 100, 100),
        # One token of four changes: no 4-gram is left to keep.
        ("a b c d", "a b c e", ["a b c e"], 100, 75, 100),
        # Nothing is added and nothing deleted.
        ("a b c d", "a b c d", ["a b c d"], 0, 100, 0),
        # 1-grams: c is added by all; a is kept by both and b by one of two references (2 of 2 and
        # of 3); b is deleted, and by one of two references (1 of 2 and of 1). 2-grams: "a c" is
        # added by all; "a b" is deleted, and by one of two. There are no longer ones.
        ("a b", "a c", ["a c", "a b"], 200 / 4, 80 / 4, (2 / 3 + 2 / 3) * 100 / 4),
        # An n-gram is added once however often it stands there, but kept as often as it does.
        # 1-grams: b is added by both; a is kept once, and twice by the reference. 2-grams: the
        # rewrite adds "a b" and "b b", the reference "a b" and "b a". 3-grams: nothing agrees.
        ("a a", "a b b", ["a b a a"], (100 + 50) / 4, 200 / 3 / 4, 0),
    ],
)
def test_sari_has_the_value_worked_out_by_hand(
    source: str, rewrite: str, references: list[str], add: float, keep: float, delete: float
) -> None:
    sari = corpus_sari([source], [rewrite], [references])
    assert (sari.add, sari.keep, sari.delete) == pytest.approx((add, keep, delete))
    assert sari.score == pytest.approx((add + keep + delete) / 3)


def test_sari_adds_up_counts_over_the_corpus() -> None:
    # The second source is rightly left whole, so it has nothing to add or delete.
    sari = corpus_sari(
        [SOURCE, "It rained."], [REFERENCE, "It rained."], [[REFERENCE], ["It rained."]]
    )
    assert sari.score == pytest.approx(100)


def test_sari_reads_no_capitals_unless_told_to() -> None:
    assert corpus_sari(["a b c d"], ["A B C E"], [["a b c e"]]).add == pytest.approx(100)
    cased = corpus_sari(["a b c d"], ["A B C E"], [["a b c e"]], lowercase=False)
    assert cased == Sari(add=0, keep=0, delete=cased.delete)


def test_sari_separates_punctuation_from_words() -> None:
    assert corpus_sari(["a b, c d"], ["a b , c e"], [["a b, c e"]]).add == pytest.approx(100)


@given(corpora)
def test_sari_stays_between_0_and_100(corpus: list[tuple[str, str, list[str]]]) -> None:
    sources, rewrites, references = (list(column) for column in zip(*corpus, strict=True))
    sari = corpus_sari(sources, rewrites, references)  # type: ignore[arg-type]
    assert all(0 <= part <= 100 + 1e-9 for part in (sari.add, sari.keep, sari.delete))


@given(st.lists(st.tuples(texts, texts), min_size=1, max_size=4))
def test_sari_of_a_copy_adds_and_deletes_nothing(corpus: list[tuple[str, str]]) -> None:
    sources, references = zip(*corpus, strict=True)
    sari = corpus_sari(sources, sources, [[text] for text in references])
    assert (sari.add, sari.delete) == (0, 0)


@given(texts, texts, texts, st.integers(2, 3))
def test_sari_does_not_change_when_a_reference_is_repeated(
    source: str, rewrite: str, reference: str, times: int
) -> None:
    once = corpus_sari([source], [rewrite], [[reference]])
    again = corpus_sari([source], [rewrite], [[reference] * times])
    assert again.score == pytest.approx(once.score)


@pytest.mark.parametrize(
    ("rewrites", "references"), [([], []), ([SOURCE], []), ([], [[SOURCE]]), ([SOURCE], [[]])]
)
def test_sari_refuses_sources_without_rewrite_or_references(
    rewrites: list[str], references: list[list[str]]
) -> None:
    with pytest.raises(ValueError, match="each source needs"):
        corpus_sari([SOURCE], rewrites, references)


tokenised = st.lists(st.sampled_from("aab."), min_size=1, max_size=6).map(" ".join)


@given(tokenised, tokenised, st.lists(tokenised, min_size=1, max_size=4))
def test_references_are_counted_as_by_hand(source: str, text: str, references: list[str]) -> None:
    """SARI from the n-grams of each reference, one operation and one length at a time."""
    both, ours, theirs = (np.zeros((3, 4)) for _ in range(3))
    number = len(references)
    for n in range(4):
        before, after, *wanted = (
            Counter(zip(*(each.split()[k:] for k in range(n + 1)), strict=False))
            for each in (source, text, *references)
        )
        total = sum(wanted, Counter())
        before_all = Counter({ngram: number * count for ngram, count in before.items()})
        kept = before_all & Counter({ngram: number * count for ngram, count in after.items()})
        to_keep = before_all & total
        added, to_add = after.keys() - before.keys(), total.keys() - before.keys()
        deleted, to_delete = before_all - kept, before_all - to_keep
        both[:, n] = len(added & to_add), (kept & to_keep).total(), (deleted & to_delete).total()
        ours[:, n] = len(added), kept.total(), deleted.total()
        theirs[:, n] = len(to_add), to_keep.total(), to_delete.total()
    f1 = np.divide(2 * both, ours + theirs, out=np.zeros_like(both), where=both > 0)
    found = score(CorpusSari(tokenize="spaces"), text_items([source], [text], [references]))
    assert found.value == pytest.approx(100 * f1.mean())


@given(st.lists(st.lists(st.sampled_from("aab."), min_size=1, max_size=6), min_size=2, max_size=5))
def test_references_counted_once_for_all_of_them(texts: list[list[str]]) -> None:
    """A reference beside the others of its source, which are counted with it."""
    pool = tuple(map(" ".join, texts))
    for name in ("bleu", "bleu-narayan", "sari", "sari-xu", "sari-hub", "exact-match"):
        metric = load_metric(name)
        for place, text in enumerate(pool):
            others = tuple((each,) for each in pool[:place] + pool[place + 1 :])
            alone = ScoredItem("a b a .", (text,), others)
            shared = ScoredItem("a b a .", (text,), others, pool)
            rows = [metric.statistics([item]) for item in (alone, shared)]
            assert np.array_equal(*rows), (name, text)
