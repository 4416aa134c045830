"""The splitter that leaves every sentence whole."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from parataxis.errors import InputError
from parataxis.rewrite.compose import left_whole
from parataxis.splitters.registry import SentenceSplitter
from parataxis.splitters.source import SourceSplitter


def test_source_follows_the_protocol():
    assert isinstance(SourceSplitter(), SentenceSplitter)


def test_source_returns_the_sentence_with_its_own_places():
    rewrite = SourceSplitter()("Ann left , then.")
    assert rewrite.simple == ("Ann left , then.",)
    assert not rewrite.is_split
    assert [(t.text, t.start, t.source) for t in rewrite.provenance[0]] == [
        ("Ann", 0, (0, 3)),
        ("left", 4, (4, 8)),
        (",", 9, (9, 10)),
        ("then", 11, (11, 15)),
        (".", 15, (15, 16)),
    ]


def test_source_pipe_keeps_the_order():
    rewrites = SourceSplitter().pipe(["One.", "Two."])
    assert [rewrite.source for rewrite in rewrites] == ["One.", "Two."]


@pytest.mark.parametrize("blank", ["", " ", "\n\t"])
def test_source_refuses_blank_text_in_one_sentence(blank):
    with pytest.raises(InputError, match="no sentence here"):
        SourceSplitter()(blank)


def test_left_whole_says_why():
    assert left_whole("Go.", splitter="x", note="Too short.").note == "Too short."


@settings(max_examples=100, deadline=None)
@given(st.text(min_size=1).filter(str.strip))
def test_source_answers_any_visible_text_with_itself(text):
    assert SourceSplitter()(text).simple == (text,)
