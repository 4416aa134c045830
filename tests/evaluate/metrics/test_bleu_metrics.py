"""BLEU as a metric: exactly that of sacrebleu, and the average over single rewrites."""

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from parataxis.evaluate.metrics.bleu import (
    Bleu,
    LowercaseBleu,
    NarayanBleu,
    SentenceBleu,
    bleu_from_counts,
    corpus_bleu,
)
from parataxis.evaluate.metrics.protocol import ScoredItem, score

sacrebleu = pytest.importorskip("sacrebleu", reason="needs the extra [metrics]")

texts = st.lists(
    st.sampled_from(["Ann", "ann", "sang", "left.", "3.5", "&quot;", "&QUOT;", "it's", "(a)", "İ"]),
    min_size=1,
    max_size=9,
).map(" ".join)
items = st.builds(
    ScoredItem,
    source=texts,
    simple=st.lists(texts, min_size=1, max_size=3).map(tuple),
    references=st.lists(texts.map(lambda text: (text,)), min_size=1, max_size=4).map(tuple),
)
corpora = st.lists(items, min_size=1, max_size=6)


def streams(corpus: list[ScoredItem]) -> list[list[str | None]]:
    """References as sacrebleu wants them: all first ones, all second ones, None for a gap."""
    most = max(len(item.references) for item in corpus)
    return [
        [item.reference_texts[place] if place < len(item.references) else None for item in corpus]
        for place in range(most)
    ]


@settings(max_examples=60)
@given(corpora, st.booleans())
def test_bleu_equals_sacrebleu_exactly(corpus: list[ScoredItem], lowercase: bool) -> None:
    theirs = sacrebleu.BLEU(lowercase=lowercase, force=True)
    expected = theirs.corpus_score([item.text for item in corpus], streams(corpus)).score
    assert score(Bleu(lowercase=lowercase), corpus).value == expected


@settings(max_examples=60)
@given(items)
def test_bleu_of_a_sentence_equals_sacrebleu_exactly(item: ScoredItem) -> None:
    theirs = sacrebleu.BLEU(effective_order=True, force=True)
    expected = theirs.sentence_score(item.text, list(item.reference_texts)).score
    assert score(SentenceBleu(), [item]).value == expected


@settings(max_examples=30)
@given(corpora, st.randoms(use_true_random=False))
def test_bleu_does_not_depend_on_the_order(corpus: list[ScoredItem], random: object) -> None:
    shuffled = list(corpus)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    for metric in (Bleu(), NarayanBleu(), SentenceBleu()):
        assert score(metric, shuffled).value == pytest.approx(score(metric, corpus).value)


@settings(max_examples=30)
@given(st.lists(st.sampled_from("abcdefgh"), min_size=4, max_size=12), st.integers(0, 2))
def test_bleu_of_a_copied_reference_is_100(words: list[str], others: int) -> None:
    text = " ".join(words)
    item = ScoredItem("x", (text,), ((text,),) + (("z y",),) * others)
    for metric in (Bleu(), LowercaseBleu(), NarayanBleu(), SentenceBleu()):
        assert score(metric, [item]).value == pytest.approx(100)


def test_bleu_of_narayan_is_the_mean_over_sources_of_unsmoothed_scores() -> None:
    right = ScoredItem("s", ("a b c d e",), (("a b c d e",), ("x",)))
    # 5 of 6 tokens, 4 of 5, 3 of 4 and 2 of 3; the nearest reference is as long.
    near = ScoredItem("s", ("a b c d e f",), (("a b c d e g",),))
    # No four tokens in a row are right: 0, not a smoothed value.
    wrong = ScoredItem("s", ("a b c x d e",), (("a b c y d e",),))
    by_hand = (100 + 100 * (5 / 6 * 4 / 5 * 3 / 4 * 2 / 3) ** 0.25 + 0) / 3
    assert score(NarayanBleu(), [right, near, wrong]).value == pytest.approx(by_hand)


def test_bleu_of_narayan_takes_tokens_as_they_stand() -> None:
    item = ScoredItem("s", ("It rained all day.",), (("It rained all day .",),))
    assert score(NarayanBleu(), [item]).value == 0
    assert score(NarayanBleu(tokenize="13a"), [item]).value == pytest.approx(100)


def test_bleu_takes_the_nearest_reference_length_and_of_two_the_shorter() -> None:
    # 4 tokens between references of 3 and 5: no penalty. All n-grams are in the longer one.
    item = ScoredItem("s", ("a b c d",), (("a b c",), ("a b c d e",)))
    assert score(Bleu(), [item]).value == pytest.approx(100)
    longer = ScoredItem("s", ("a b c d",), (("a b c d e",), ("a b c d e f",)))
    assert score(Bleu(), [longer]).value == pytest.approx(100 * math.exp(1 - 5 / 4))


def test_bleu_of_fractions_is_not_rounded() -> None:
    counts = [9.0, 10.0, 8.0, 6.0, 4.0, 2.0, 9.0, 8.0, 7.0, 6.0]
    whole = bleu_from_counts(counts, smooth="exp")
    third = bleu_from_counts([count / 3 for count in counts], smooth="exp")
    assert third[0] == pytest.approx(whole[0])
    assert third[1] == pytest.approx(whole[1])
    assert third[2] == pytest.approx(whole[2])


def test_bleu_says_what_it_is_made_of() -> None:
    found = score(Bleu(), [ScoredItem("s", ("a b c d",), (("a b c d e",),))])
    assert found.parts["precision-4"] == 100
    assert found.parts["brevity-penalty"] == pytest.approx(math.exp(1 - 5 / 4))
    version = sacrebleu.__version__
    assert str(found.signature) == (
        f"bleu|level:corpus|case:mixed|tok:13a|brackets:plain|smooth:exp|sacrebleu:{version}"
    )
    assert str(LowercaseBleu().signature).startswith(
        "bleu-lc|level:corpus|case:lc|tok:13a|brackets:plain"
    )
    assert str(NarayanBleu().signature).startswith(
        "bleu-narayan|level:mean of sentences|case:mixed|tok:spaces|brackets:plain|smooth:none"
    )


def test_bleu_for_lists_is_the_metric() -> None:
    pairs = [("a b c d x", ["a b c d e"]), ("k l m n", ["k l m n", "k l"])]
    found = [
        ScoredItem("s", (text,), tuple((r,) for r in references)) for text, references in pairs
    ]
    assert score(Bleu(), found).value == corpus_bleu(*map(list, zip(*pairs, strict=True)))
