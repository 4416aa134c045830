"""What the pointer points at: by a decoder that was told what to say, and by the shipped model."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from parataxis.errors import InputError
from parataxis.lab.lstm.splitter import CopySplitter, Seq2SeqSplitter
from parataxis.splitters.pointer import PointerSplitter
from parataxis.splitters.pointer.actions import WHOLE
from parataxis.splitters.registry import AttentiveSplitter
from parataxis.splitters.source import SourceSplitter

SOURCE = "Ann, serving tea, fell."
Write = Callable[..., list[int]]


def test_attention_is_what_the_decoder_found_likely(scripted: type[Any], write: Write) -> None:
    split = write(SOURCE, "Ann fell", "Ann serving/VBZ [the] tea")
    other = write(SOURCE, "tea fell", "Ann serving/VBZ [the] tea")
    decoder = scripted({SOURCE: [(0.5, [WHOLE]), (0.3, split), (0.2, other)]})
    found = PointerSplitter(decoder=decoder).attention(SOURCE)
    assert found.source == ("Ann", ",", "serving", "tea", ",", "fell", ".")
    assert found.output == ("Ann", "fell", "<split>", "Ann", "serves", "the", "tea")
    # Given that the source does not stay whole.
    assert found.weights[0] == pytest.approx([0.6, 0, 0, 0.4, 0, 0, 0], abs=1e-4)
    for place, word in ((1, "fell"), (3, "Ann"), (4, "serving"), (6, "tea")):
        assert found.source[int(found.weights[place].argmax())] == word
        assert found.weights[place].max() == pytest.approx(1, abs=1e-4)
    for place in (2, 5):  # a new sentence, and a word of its own
        assert found.weights[place].sum() == pytest.approx(0, abs=1e-4)


@pytest.mark.parametrize(
    "sentence",
    [
        "The castle, which was built in 1300, overlooks the village, where Ann Lee was born.",
        "Ann came, and Bob left because it rained.",
        "It rained.",
    ],
)
def test_attention_of_the_shipped_model_is_on_the_word_it_copies(sentence: str) -> None:
    splitter = PointerSplitter()
    before = splitter(sentence)
    found = splitter.attention(sentence)
    assert found.weights.shape == (len(found.output), len(found.source))
    assert found.weights.min() >= 0
    assert found.weights.sum(axis=1).max() <= 1 + 1e-5
    names = {"castle", "village", "Ann", "Lee", "Bob", "1300", "rained"}
    for word, row in zip(found.output, found.weights, strict=True):
        if word in names:
            assert found.source[int(np.argmax(row))] == word
    assert splitter(sentence) == before


def test_attention_needs_a_sentence() -> None:
    for sentence in ("", "...", "word " * 300):
        with pytest.raises(InputError, match="A sentence must have 1 to 200 words"):
            PointerSplitter().attention(sentence)


def test_attention_makes_an_attentive_splitter() -> None:
    for splitter in (PointerSplitter(), Seq2SeqSplitter(), CopySplitter()):
        assert isinstance(splitter, AttentiveSplitter)
    assert not isinstance(SourceSplitter(), AttentiveSplitter)
