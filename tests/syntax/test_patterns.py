"""The seven patterns: the paper's examples and the decisions of docs/patterns.md. How well they
are found is measured in tests/benchmarks/test_patterns.py."""

from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from parataxis.syntax.analyser import load_analyser
from parataxis.syntax.analysis import ROOT, Analysis, Word
from parataxis.syntax.patterns import Pattern, draw_sample, find_patterns, pattern_table


def found(text: str) -> list[tuple[str, str]]:
    analysis = load_analyser()(text)
    return [(str(o.pattern), analysis.text[o.start : o.end]) for o in find_patterns(analysis)]


# Zhang et al. (2020): §1, §2, §4.1.3 and appendix B.
PAPER = [
    (
        "Scott Adsit voiced Baymax which was created by Duncan Rouleau.",
        [("rc", "which was created by Duncan Rouleau")],
    ),
    (
        "Above the Veil is from Australia and was preceded by Aenir and Castle.",
        [("conj", "and was preceded by Aenir and Castle")],
    ),
    (
        "Serving the city of Alderney, the 1st runway is made from Poaceae.",
        [("part", "Serving the city of Alderney")],
    ),
    (
        "The mausoleum was built in 1894 along the lines specified by Frazer.",
        [("prep", "along the lines specified by Frazer")],
    ),
    (
        "Except as may be otherwise specified, Supplier shall invoice Buyer.",
        [("adv", "Except as may be otherwise specified")],
    ),
    (
        "Leila married the movie director Ruy Guerra, father of her only daughter.",
        [("appos", "father of her only daughter")],
    ),
    (
        "Nimfa was forced to take part of a devilish plan to fool the Saavedra family.",
        [("inf", "to fool the Saavedra family")],
    ),
    (
        "Voiced by Aoi Koga, Kaguya is the series’ titular character, "
        "popular among a wide audience.",
        [("part", "Voiced by Aoi Koga"), ("part", "popular among a wide audience")],
    ),
    (
        "Jonathan Thirkield, currently living in New York City, is an American poet "
        "who is known to be prolific.",
        [("part", "currently living in New York City"), ("rc", "who is known to be prolific")],
    ),
]


@pytest.mark.parametrize(("text", "expected"), PAPER)
def test_patterns_paper_examples(text: str, expected: list[tuple[str, str]]) -> None:
    assert found(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "The cat sat on the mat.",
        "The man who sold me this watch has left the country.",
        "Anyone who enters the reserve must leave at once.",
        "We bought apples, pears and two loaves of bread.",
        "The architects designed and built the library in two years.",
        "The Tenant shall indemnify and hold harmless the Landlord.",
        "The Buyer may cancel the order or return the goods.",
        "If the Buyer fails to pay, the Seller may end the contract.",
        "The witness said that she had heard a shot and had seen two men.",
        "The letters written by her grandmother are kept in a tin box.",
        "He ran as fast as he could.",
        "In the spring of 1894 the family moved to a farm near Lyon.",
        "My brother Tom lives in Austin, Texas.",
        'Acme Holdings Ltd. (the "Seller") sells office furniture.',
        "He wants to study medicine in Edinburgh.",
        "The right to terminate this Agreement belongs to the Licensor.",
    ],
)
def test_patterns_not_a_place_to_split(text: str) -> None:
    assert found(text) == []


def test_patterns_nested_phrases_come_after_the_phrase_around_them() -> None:
    text = "Clara Berg, a nurse who worked in Lima, sold her house and moved to Cusco."
    assert found(text) == [
        ("appos", "a nurse who worked in Lima"),
        ("rc", "who worked in Lima"),
        ("conj", "and moved to Cusco"),
    ]


def test_patterns_aside_is_found_inside_reported_speech_but_coordination_is_not() -> None:
    text = "She said that the mill, which was built in 1860, had closed and would be sold."
    assert found(text) == [("rc", "which was built in 1860")]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "The Landlord shall repair the roof, provided, however, that the Tenant has given "
            "notice of the damage.",
            [("adv", "provided, however, that the Tenant has given notice of the damage")],
        ),
        (
            "The Borrower certifies that the accounts are true and that no default has occurred.",
            [("conj", "and that no default has occurred")],
        ),
        (
            "The ferry was launched as Swan (she became Heron two winters later).",
            [("conj", "she became Heron two winters later")],
        ),
        (
            "The river rose during the night; by morning the road was under water.",
            [("conj", "by morning the road was under water")],
        ),
        (
            "A gifted linguist, Moser spoke eleven languages.",
            [("appos", "A gifted linguist")],
        ),
        (
            "The park has nine lakes, three of which are closed to boats.",
            [("rc", "three of which are closed to boats")],
        ),
        (
            "He moved to Rome, where he met Eva Holm, and opened a shop near the station.",
            [("rc", "where he met Eva Holm"), ("conj", "and opened a shop near the station")],
        ),
    ],
)
def test_patterns_decisions(text: str, expected: list[tuple[str, str]]) -> None:
    assert found(text) == expected


def test_patterns_occurrence_names_words_characters_and_head() -> None:
    analysis = load_analyser()("Oslo, the capital of Norway, lies on a fjord.")
    [occurrence] = find_patterns(analysis)
    assert analysis.phrase(occurrence.first, occurrence.last) == "the capital of Norway"
    assert analysis.text[occurrence.start : occurrence.end] == "the capital of Norway"
    assert analysis[occurrence.head].text == "capital"


@pytest.mark.parametrize("text", ["", " ", "Yes.", "😀", "to", "and", "...", ", which"])
def test_patterns_tiny_texts(text: str) -> None:
    assert found(text) == []


def test_patterns_have_plain_names() -> None:
    assert Pattern("rc").plain_name == "relative clause"
    assert len({p.plain_name for p in Pattern}) == 7


def split(text: str) -> list[str]:
    return text.split()


_VOCABULARY = [
    *split("the a who whom which to so and or but as soon of with despite when if without"),
    *split('Otto mill built runs old 1902 , ; ( ) — " . having not'),
]
_UPOS = ["NOUN", "PROPN", "VERB", "AUX", "ADJ", "ADP", "PART", "PUNCT", "NUM", "SCONJ", "ADV"]
_XPOS = ["NN", "NNP", "VBD", "VBN", "VBG", "VBZ", "VB", "JJ", "IN", "CD", "TO", ","]
_DEPRELS = [
    *split("nsubj obj obl nmod conj cc cc:preconj acl acl:relcl advcl advcl:relcl appos"),
    *split("parataxis ccomp csubj xcomp case mark det amod aux cop punct advmod nmod:poss"),
]


@st.composite
def trees(draw: st.DrawFn) -> Analysis:
    """Any tree over any words: a parser may be wrong in every way."""
    length = draw(st.integers(1, 14))
    order = draw(st.permutations(range(length)))
    words: dict[int, Word] = {}
    texts = [draw(st.sampled_from(_VOCABULARY)) for _ in range(length)]
    for rank, index in enumerate(order):
        head = order[draw(st.integers(0, rank - 1))] if rank else ROOT
        start = sum(len(text) + 1 for text in texts[:index])
        words[index] = Word(
            index,
            texts[index],
            start,
            start + len(texts[index]),
            draw(st.sampled_from(_UPOS)),
            draw(st.sampled_from(_XPOS)),
            {"Tense": "Pres"} if draw(st.booleans()) else {},
            head,
            draw(st.sampled_from(_DEPRELS)) if rank else "root",
        )
    return Analysis(" ".join(texts), [words[i] for i in range(length)])


@settings(max_examples=300, deadline=None)
@given(trees())
def test_patterns_any_tree_gives_ordered_phrases_around_their_heads(analysis: Analysis) -> None:
    occurrences = find_patterns(analysis)
    assert [(o.first, -o.last) for o in occurrences] == sorted(
        (o.first, -o.last) for o in occurrences
    )
    assert len({o.head for o in occurrences}) == len(occurrences)
    for o in occurrences:
        assert 0 <= o.first <= o.last < len(analysis)
        assert (o.start, o.end) == (analysis[o.first].start, analysis[o.last].end)


SENTENCES = [text for text, _ in PAPER]


def test_patterns_table_counts_sentences_not_occurrences() -> None:
    table = pattern_table(load_analyser()(text) for text in SENTENCES)
    assert table.sentences == 9
    assert [table.counts[p] for p in Pattern] == [2, 1, 3, 1, 1, 1, 1]
    assert table.occurrences[Pattern.PART] == 4
    assert table.patterns_per_sentence == pytest.approx(10 / 9)
    assert table.per_hundred(Pattern.RC) == pytest.approx(200 / 9)


@given(st.integers(0, 30), st.integers(1, 40), st.integers(0, 99))
def test_patterns_sample_is_reproducible_and_never_larger_than_the_text(
    length: int, size: int, seed: int
) -> None:
    sample = draw_sample(iter(range(length)), size, seed=seed)
    assert sample == draw_sample(range(length), size, seed=seed)
    assert len(sample) == len(set(sample)) == min(length, size)
    assert set(sample) <= set(range(length))


def test_patterns_sample_draws_each_sentence_equally_often() -> None:
    drawn = Counter(n for seed in range(2000) for n in draw_sample(range(5), 2, seed=seed))
    assert all(700 <= drawn[n] <= 900 for n in range(5))  # 800 expected, deviation 22


def test_patterns_table_of_nothing() -> None:
    table = pattern_table([])
    assert table.sentences == 0
    assert table.patterns_per_sentence == 0.0
