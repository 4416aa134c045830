"""What had to be found out to get published numbers (benchmarks/reproduction.py), on excerpts of
our own: how files are read decides the score."""

import pytest

from parataxis.evaluate.metrics.protocol import ScoredItem, score
from parataxis.evaluate.metrics.readability import GradeLevel, GradeLevel2019
from parataxis.evaluate.metrics.shape import (
    SentencesPerSource,
    TokensPerSentence,
    TokensPerSentence2019,
)

REPORT = [
    "The mill stood at the river and the mill was old and the mill burnt down in May 1901 .",
    "Ann sang . <::::> She left . <::::> Ann 's dog -LRB- Rex -RRB- barked .",
]
BISECT = (
    "The keeper ( Ann ) left , and the dog barked .",
    "The keeper -LRB- Ann -RRB- left . <SEP> The dog barked .",
    "The keeper ( Ann ) left . <SEP> And the dog barked .",
)


def items(lines: list[str]) -> list[ScoredItem]:
    return [ScoredItem("s", tuple(part.strip() for part in line.split("<::::>"))) for line in lines]


def test_known_answers_of_the_report_are_macro_averages_of_what_stands_between_spaces() -> None:
    # 20 tokens; 3, 3 and 8 tokens.
    assert score(SentencesPerSource(), items(REPORT)).value == 2
    assert score(TokensPerSentence(tokenize="spaces"), items(REPORT)).value == 34 / 4
    assert score(TokensPerSentence2019(), items(REPORT)).value == pytest.approx((20 + 14 / 3) / 2)


def test_known_answers_grade_level_of_the_report_takes_every_token_for_a_word() -> None:
    second = items(REPORT[1:])
    # 14 tokens in 3 sentences; 9 syllables, and 3 letters in each bracket.
    assert score(GradeLevel2019(), second).value == pytest.approx(
        0.39 * 14 / 3 + 11.8 * 15 / 14 - 15.59
    )
    # 8 words, without marks, brackets and the clitic, of one syllable each.
    assert score(GradeLevel(), second).value == pytest.approx(0.39 * 8 / 3 + 11.8 - 15.59)


def test_known_answers_of_bisect_need_plain_brackets_and_no_separator() -> None:
    pytest.importorskip("sacrebleu", reason="needs the extra [metrics]")
    from parataxis.evaluate.metrics.bleu import LowercaseBleu
    from parataxis.evaluate.metrics.sari import CorpusSari

    source, output, reference = BISECT

    def value(metric: CorpusSari | LowercaseBleu, output: str, reference: str) -> float:
        return score(metric, [ScoredItem(source, (output,), ((reference,),))]).value

    def joined(text: str) -> str:
        return " ".join(text.replace("<SEP>", " ").split())

    # A separator that is left in is a token that every system gets right.
    with_separator = value(CorpusSari(), output, reference)
    assert with_separator > value(CorpusSari(), joined(output), joined(reference)) + 3
    # A bracket that is written otherwise is the same bracket, on every side.
    clean = "The keeper ( Ann ) left . The dog barked ."
    bleu = value(LowercaseBleu(), clean, joined(reference))
    assert value(LowercaseBleu(), joined(output), joined(reference)) == bleu
    assert value(LowercaseBleu(), clean, "The keeper - LRB - Ann - RRB - left . And the dog") > 60
