"""Before and after: what a reader finds is brought back to the source and counted once."""

from collections.abc import Iterator, Sequence

import numpy as np
import pytest

from parataxis.errors import InputError
from parataxis.evaluate.resample import Resampler
from parataxis.lab.downstream.effect import (
    Effect,
    effect_report,
    effects,
    length_groups,
)
from parataxis.lab.downstream.parsers import (
    DependencyPair,
    ExtractedTriple,
    load_extractor,
    load_parser,
)
from parataxis.lab.downstream.score import SplitSentence
from parataxis.report import ReportFormat
from parataxis.rewrite.record import Rewrite

LINES = """
Ann PROPN 2 nsubj 2:nsubj|6:nsubj
wrote VERB 0 root 0:root
songs NOUN 2 obj 2:obj
, PUNCT 6 punct 6:punct
and CCONJ 6 cc 6:cc
sang VERB 2 conj 2:conj:and
them PRON 6 obj 6:obj
. PUNCT 2 punct 2:punct
"""
TEXT = "Ann wrote songs, and sang them."
FRAMES = [
    (1, [(0, 0, "ARG0"), (2, 2, "ARG1")]),
    (5, [(0, 0, "ARG0"), (6, 6, "ARG1")]),
]


class FakeParser:
    """Finds a verb's neighbours: the word before it is its subject, the one after its object. A
    text with "dance" is too much for it."""

    name = "fake"

    def pipe(self, texts: Sequence[str]) -> Iterator[list[DependencyPair] | None]:
        for text in texts:
            yield None if "dance" in text else list(self._pairs(text))

    def _pairs(self, text: str) -> Iterator[DependencyPair]:
        places = []
        start = 0
        for word in text.split():
            start = text.index(word, start)
            places.append((word.strip(".,"), (start, start + len(word.strip(".,")))))
        for number, (word, place) in enumerate(places):
            if word in ("wrote", "sang"):
                yield DependencyPair(place, "nsubj", places[number - 1][1])
                if number + 1 < len(places):
                    yield DependencyPair(place, "obj", places[number + 1][1])


class FakeExtractor:
    """The same as triples."""

    name = "fake-triples"

    def pipe(self, texts: Sequence[str]) -> Iterator[list[ExtractedTriple]]:
        for found in FakeParser().pipe(texts):
            pairs = found or []
            yield [
                ExtractedTriple((one.argument,), (one.predicate,), (other.argument,))
                for one, other in zip(pairs[::2], pairs[1::2], strict=True)
            ]


@pytest.fixture
def sentence(gold) -> SplitSentence:
    simple = ["Ann wrote songs.", "Ann sang them."]
    return SplitSentence(
        gold(TEXT, LINES, FRAMES), Rewrite(source=TEXT, simple=simple, splitter="hand")
    )


def by_measure(found: Sequence[Effect], length: str = "all") -> dict[str, tuple[float, float]]:
    return {
        effect.measure: (effect.before, effect.after)
        for effect in found
        if (effect.words, effect.sentences) == (length, "all")
    }


def test_effect_of_a_rewrite_that_names_the_shared_subject(sentence: SplitSentence) -> None:
    # Before, the word before "sang" is "and": one pair of four is wrong, one of four missing.
    assert by_measure(effects([sentence], [FakeParser()])) == {
        "attachment": (100.0, 100.0),
        "attachment-unlabelled": (100.0, 100.0),
        "pairs": (75.0, 100.0),
        "pairs-precision": (75.0, 100.0),
        "pairs-recall": (75.0, 100.0),
        "pairs-named": (75.0, 100.0),
        "pairs-named-precision": (75.0, 100.0),
        "pairs-named-recall": (75.0, 100.0),
        "shared-recall": (0.0, 100.0),
    }


def test_effect_counts_a_pronoun_only_where_it_need_not_be_named(gold) -> None:
    rewrite = Rewrite(source=TEXT, simple=["Ann wrote songs.", "She sang them."], splitter="hand")
    found = by_measure(
        effects(
            [SplitSentence(gold(TEXT, LINES, FRAMES), rewrite)], [FakeParser()], [FakeExtractor()]
        )
    )
    assert found["pairs"] == (75.0, 100.0)
    assert found["pairs-named"] == (75.0, 75.0)
    assert found["triples"] == (50.0, 100.0)
    assert found["triples-named"] == (50.0, 50.0)


def test_effect_on_triples_is_told_by_frames(sentence: SplitSentence) -> None:
    assert by_measure(effects([sentence], [], [FakeExtractor()]))["triples-recall"] == (50.0, 100.0)


def test_effect_leaves_out_arcs_that_are_torn(gold) -> None:
    simple = ["Ann wrote.", "There were songs.", "Ann sang them."]
    sentence = SplitSentence(
        gold(TEXT, LINES), Rewrite(source=TEXT, simple=simple, splitter="hand")
    )
    assert (sentence.torn, len(sentence.arcs)) == (1, 2)
    (effect, *_) = effects([sentence], [FakeParser()])
    assert effect.gold == 2
    assert effect.torn == pytest.approx(100 / 3)


def test_effect_is_none_where_sentences_stay_whole(gold) -> None:
    whole = SplitSentence(gold(TEXT, LINES), Rewrite(source=TEXT, simple=[TEXT], splitter="hand"))
    for effect in effects([whole], [FakeParser(), load_parser("analyser")]):
        assert effect.before == effect.after or np.isnan(effect.before)
        assert effect.sentences == "all" or effect.number == 0


def test_effect_is_told_by_length_with_intervals(gold, sentence: SplitSentence) -> None:
    short = gold(
        "Bob sang it.", "Bob PROPN 2 nsubj\nsang VERB 0 root\nit PRON 2 obj\n. PUNCT 2 punct"
    )
    whole = Rewrite(source="Bob sang it.", simple=["Bob sang it."], splitter="hand")
    sentences = [sentence, SplitSentence(short, whole), sentence] * 5
    found = effects(sentences, [FakeParser()], lengths=(5, 10), resampler=Resampler(20, 1))
    pairs = {(each.words, each.sentences): each for each in found if each.measure == "pairs"}
    assert {words: each.number for (words, chosen), each in pairs.items() if chosen == "all"} == {
        "all": 15,
        "1-5": 5,
        "6-10": 10,
        "11+": 0,
    }
    assert pairs["1-5", "all"].change == 0
    assert pairs["6-10", "split"].change == 25
    every = pairs["all", "all"]
    assert every.low < every.change < every.high
    assert np.isnan(pairs["1-5", "all"].low)  # of too few sentences
    assert np.isnan(pairs["11+", "all"].before)


def test_effect_leaves_out_what_a_parser_cannot_read(gold, sentence: SplitSentence) -> None:
    text = "Bob sang a dance."
    lines = "Bob PROPN 2 nsubj\nsang VERB 0 root\na DET 4 det\ndance NOUN 2 obj\n. PUNCT 2 punct"
    whole = Rewrite(source=text, simple=[text], splitter="hand")
    unread = SplitSentence(gold(text, lines), whole)
    assert effects([sentence, unread], [FakeParser()])[0].number == 1
    with pytest.raises(InputError, match="fake could read none"):
        effects([unread], [FakeParser()])


def test_effect_needs_frames_for_triples(gold) -> None:
    whole = SplitSentence(gold(TEXT, LINES), Rewrite(source=TEXT, simple=[TEXT], splitter="hand"))
    with pytest.raises(InputError, match="no sentence has any"):
        effects([whole], [], [FakeExtractor()])


def test_effect_groups_are_named_by_their_lengths() -> None:
    groups = length_groups(np.array([1, 10, 11, 40]), (20, 10))
    assert [(name, chosen.tolist()) for name, chosen in groups] == [
        ("all", [True] * 4),
        ("1-10", [True, True, False, False]),
        ("11-20", [False, False, True, False]),
        ("21+", [False, False, False, True]),
    ]


def test_effect_tables_have_every_form(sentence: SplitSentence) -> None:
    found = effects([sentence], [FakeParser()], resampler=Resampler(5, 1))
    report = effect_report(found, ["a note"])
    whole, by_length = report.tables
    assert whole.header[-4:] == ("before", "after", "change", "95 % interval")
    assert ["fake", "pairs", "split", "1", "4", "75.00", "100.00", "+25.00"] in [
        row[:8] for row in whole.rows
    ]
    assert [row[2] for row in by_length.rows if row[1] == "pairs"] == [
        "1-10",
        "11-20",
        "21-30",
        "31-40",
        "41+",
    ]
    assert report.render(ReportFormat.MARKDOWN).endswith("- `a note`\n")
    assert report.render(ReportFormat.LATEX).count(r"\bottomrule") == 2
    lines = report.render(ReportFormat.CSV).splitlines()
    assert len(lines) == 1 + len(found)
    assert '"change": 25.0' in report.render(ReportFormat.JSON)


@pytest.mark.parametrize("name", ["stanza", "spacy", "spacy:"])
def test_effect_has_only_known_readers(name: str) -> None:
    with pytest.raises(InputError, match="There is no parser"):
        load_parser(name)
    with pytest.raises(InputError, match="There is no extractor"):
        load_extractor(name)
