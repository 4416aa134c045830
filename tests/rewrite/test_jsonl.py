"""Rewrites as JSON lines: what is read, what is written, what is refused and how."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from parataxis.errors import InputError
from parataxis.rewrite.jsonl import read_rewrites, read_sources, to_json
from parataxis.rewrite.record import Finding, FindingKind, Origin, OutputToken, Rewrite, SourceLine

RAIN = Rewrite(source="It rained.", simple=("It rained.",), splitter="source")
BROKEN = "the record has a lone surrogate (half a character) or is nested too deeply"

sentences = st.text(st.characters(exclude_categories=["Cs"]), min_size=1).filter(
    lambda text: text.strip() != ""
)
rewrites = st.builds(
    Rewrite,
    source=sentences,
    simple=st.lists(sentences, min_size=1, max_size=4),
    splitter=st.sampled_from(["rules", "source"]),
    note=st.none() | sentences,
    id=st.text(st.characters(exclude_categories=["Cs"])),
)


@given(st.lists(rewrites, max_size=3))
def test_jsonl_reads_back_what_it_wrote(written: list[Rewrite]) -> None:
    lines = [to_json(rewrite) for rewrite in written]
    assert all("\n" not in line for line in lines)
    assert list(read_rewrites(lines, "a.jsonl")) == written


def test_jsonl_keeps_provenance_and_findings() -> None:
    token = OutputToken(text="It", start=0, end=2, origin=Origin.COPIED, source=(0, 2))
    finding = Finding(
        kind=FindingKind.LOST, words="x", sentence=None, start=0, end=1, message="Gone."
    )
    rewrite = RAIN.model_copy(
        update={"provenance": ((token,),), "findings": (finding,), "id": "mine"}
    )
    assert list(read_rewrites([to_json(rewrite)], "a.jsonl")) == [rewrite]


def test_jsonl_leaves_out_empty_fields() -> None:
    assert json.loads(to_json(RAIN)) == {
        "source": "It rained.",
        "simple": ["It rained."],
        "splitter": "source",
    }


def test_jsonl_writes_text_not_escapes() -> None:
    assert "Zoë → 雨" in to_json(RAIN.model_copy(update={"source": "Zoë → 雨"}))


def test_jsonl_accepts_the_fields_of_corpora() -> None:
    lines = ["\n", '{"complex": "A b.", "simple": ["A.", "B."], "domain": "x"}\n', "  "]
    (rewrite,) = read_rewrites(lines, "gold.jsonl")
    assert (rewrite.source, rewrite.simple) == ("A b.", ("A.", "B."))
    assert (rewrite.splitter, rewrite.id) == ("unknown", "gold.jsonl:2")


def test_jsonl_carries_fields_that_it_does_not_know() -> None:
    extra = {"domain": "news", "patterns": [{"pattern": "rc", "start": 0}], "is_split": {"n": None}}
    line = json.dumps({"complex": "A b.", "simple": ["A b."], "id": "1", **extra})
    (rewrite,) = read_rewrites([line], "gold.jsonl")
    assert not rewrite.is_split
    written = to_json(rewrite.model_copy(update={"findings": ()}))
    assert json.loads(written) == {
        "source": "A b.",
        "simple": ["A b."],
        "splitter": "unknown",
        "findings": [],
        "id": "1",
        **extra,
    }
    assert list(read_rewrites([to_json(rewrite)], "b.jsonl")) == [rewrite]


def test_jsonl_sources_refuse_a_lone_surrogate() -> None:
    with pytest.raises(InputError) as caught:
        list(read_sources([r'{"source": "Ann \ud83d sang."}'], "a.jsonl"))
    assert str(caught.value) == f"a.jsonl, line 1: {BROKEN}."
    (emoji,) = read_sources([r'{"source": "Ann \ud83d\ude42 sang."}'], "a.jsonl")
    assert emoji.source == "Ann 🙂 sang."


def test_jsonl_sources_need_no_simple_sentences() -> None:
    lines = ['{"source": "It rained."}', '{"id": 7, "complex": "It snowed.", "simple": "odd"}']
    assert list(read_sources(lines, "a.jsonl")) == [
        SourceLine("a.jsonl:1", "It rained."),
        SourceLine("7", "It snowed."),
    ]


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        ("{", "this is not a line of JSON"),
        ("It rained.", "this is not a line of JSON"),
        ("[" * 100_000, "this is not a line of JSON"),
        ('["It rained."]', "a record must be a JSON object"),
        ('{"text": "It rained."}', 'the record has neither "source" nor "complex"'),
        ('{"source": 5, "simple": ["x"]}', "the source must be a sentence, and not empty"),
        ('{"source": " ", "simple": ["x"]}', "the source must be a sentence, and not empty"),
        ('{"source": "It rained."}', '"simple": Field required'),
        ('{"source": "A.", "simple": "A."}', '"simple" must be a list of sentences'),
        ('{"source": "A.", "simple": ["A.", " "]}', "a simple sentence is empty"),
        (r'{"source": "\ud800", "simple": ["A."]}', BROKEN),
        (r'{"source": "A.", "simple": ["A\udfff."]}', BROKEN),
        (r'{"source": "A.", "simple": ["A."], "id": "\ud800"}', BROKEN),
        ('{"source": "A.", "simple": ["A."], "tree": ' + "[" * 300 + "]" * 300 + "}", BROKEN),
        ('{"source": "A.", "simple": [1]}', '"simple.0": Input should be a valid string'),
    ],
)
def test_jsonl_refuses_a_bad_line_with_its_place(line: str, complaint: str) -> None:
    lines = [to_json(RAIN), line]
    reading = read_rewrites(lines, "gold.jsonl")
    assert next(reading).source == "It rained."
    with pytest.raises(InputError) as caught:
        next(reading)
    assert str(caught.value) == f"gold.jsonl, line 2: {complaint}."
