"""What a language model is told."""

import json

import pytest

from parataxis.rewrite.record import Finding, FindingKind
from parataxis.splitters.llm.guard import examine
from parataxis.splitters.llm.prompt import correct, examples, longest_answer, repeat, request
from parataxis.syntax.analyser import load_analyser


def test_prompt_examples_have_no_fault() -> None:
    pairs = [(example.source, example.simple) for example in examples()]
    assert len(pairs) >= 5
    for candidate in examine(pairs, load_analyser()):
        assert candidate.findings == ()


def test_prompt_examples_show_a_whole_sentence_and_split_ones() -> None:
    assert {example.is_split for example in examples()} == {True, False}


def test_prompt_asks_for_numbered_sentences_after_examples() -> None:
    messages = request(["It rained.", 'Ann said "no".'])
    assert [message["role"] for message in messages] == ["system", "user", "assistant", "user"]
    assert json.loads(messages[-1]["content"]) == {
        "sentences": [
            {"id": 1, "sentence": "It rained."},
            {"id": 2, "sentence": 'Ann said "no".'},
        ]
    }
    shown, answered = (json.loads(messages[place]["content"]) for place in (1, 2))
    assert [each["sentence"] for each in shown["sentences"]] == [e.source for e in examples()]
    assert [tuple(each["simple"]) for each in answered["rewrites"]] == [
        example.simple for example in examples()
    ]


def test_prompt_sends_findings_back() -> None:
    source, simple = "Ann did not sing, and Bob left.", ("Ann sang.", "Bob left.")
    message = "The negation 'not' is missing."
    finding = Finding(kind=FindingKind.LOST, words="not", start=8, end=11, message=message)
    messages = correct(source, simple, [finding])
    assert messages[:-2] == request([source])
    assert json.loads(messages[-2]["content"])["rewrites"] == [{"id": 1, "simple": list(simple)}]
    assert "\n- lost: The negation 'not' is missing\n" in messages[-1]["content"]


def test_prompt_asks_again_without_changing_the_question_for_others() -> None:
    assert repeat("It rained.")[-1]["content"].startswith(request(["It rained."])[-1]["content"])
    assert "cannot be read" in repeat("It rained.")[-1]["content"]
    assert "cannot be read" not in request(["It rained."])[-1]["content"]


@pytest.mark.parametrize("sentences", [["It rained."], ["It rained.", "x" * 100]])
def test_prompt_answers_have_room_for_twice_the_words(sentences: list[str]) -> None:
    # About four characters are a token, in English.
    assert longest_answer(sentences) > 2 * sum(map(len, sentences)) / 4 + 100
