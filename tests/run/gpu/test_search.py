"""The search on a device finds what the search on the CPU finds."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from parataxis.errors import InputError, ParataxisError
from parataxis.run.gpu.models import DeviceModels, open_device
from parataxis.run.gpu.splitter import WIDTHS, PackedResults, Sources, find
from parataxis.splitters.pointer.actions import Features, read_source
from parataxis.splitters.pointer.choose import SURELY_WHOLE
from parataxis.splitters.pointer.model import load_decoder
from parataxis.splitters.pointer.search import search
from parataxis.splitters.pointer.splitter import CAUTION
from parataxis.text.tokens import tokenize

SENTENCES = (
    "Ann, who left, saw the mill.",
    "It rained.",
    "The cat and the dog, which the man saw, ran, and the man left.",
)


def _features(sentences: tuple[str, ...]) -> list[Features]:
    return [read_source([token.text for token in tokenize(text)]) for text in sentences]


@pytest.mark.parametrize("beam", [1, 3])
def test_search_finds_what_the_cpu_finds(models: DeviceModels, beam: int) -> None:
    sources = _features(SENTENCES)
    found = find(models.search, sources, beam)
    wanted = search(load_decoder(), sources, beam=beam, whole_from=SURELY_WHOLE, caution=CAUTION)
    for ours, cpu in zip(found, wanted, strict=True):
        assert ours.whole == pytest.approx(cpu.whole, abs=0.02)
        assert len(ours.hypotheses) == len(cpu.hypotheses)
        if cpu.hypotheses:
            assert ours.hypotheses[0].actions == cpu.hypotheses[0].actions
            assert ours.hypotheses[0].score == pytest.approx(cpu.hypotheses[0].score, abs=0.02)
            assert ours.hypotheses[0].log_chance == pytest.approx(
                cpu.hypotheses[0].log_chance, abs=0.3
            )


def test_search_does_not_depend_on_the_batch(models: DeviceModels) -> None:
    sources = _features(SENTENCES)
    together = find(models.search, sources, 2)
    alone = [find(models.search, [source], 2)[0] for source in sources]
    assert [[h.actions for h in each.hypotheses] for each in together] == [
        [h.actions for h in each.hypotheses] for each in alone
    ]


def test_search_reports_an_unknown_device() -> None:
    with pytest.raises(InputError, match='"gpu9" is no device'):
        open_device("gpu9")
    with pytest.raises(InputError, match="is no device that is supported"):
        open_device("meta")
    with pytest.raises(ParataxisError, match="torch finds no GPU here"):
        open_device("cuda")


words = st.lists(st.sampled_from(["the", "The", "cat", "ran", ",", "and", "."]), min_size=1)


@settings(max_examples=40, deadline=None)
@given(st.lists(words, min_size=2, max_size=6))
def test_search_packed_sources_can_be_selected_again(texts: list[list[str]]) -> None:
    features = [read_source(text) for text in texts]
    width = next(w for w in WIDTHS if w >= max(map(len, features)))
    apart = [Sources.of([each], width) for each in features]
    packed = Sources.together(apart)
    assert len(packed) == len(features)
    for row, (each, one) in enumerate(zip(features, apart, strict=True)):
        count = len(each.pieces.ids)
        assert packed.pieces[row, :count].tolist() == list(each.pieces.ids)
        assert not packed.pieces[row, count:].any()
        assert packed.first[row, : len(each) + 1].tolist() == list(each.pieces.first)
        assert packed.same[row, : len(each)].tolist() == list(each.same)
        assert packed.twins[row, : len(each)].tolist() == list(each.twins)
        again = packed.some(slice(row, row + 1))
        assert all(
            np.array_equal(getattr(again, name), getattr(one, name)) for name in Sources.arrays()
        )


def test_search_results_know_where_rewrites_end() -> None:
    results = PackedResults(
        np.array([0.25]),
        np.array([[-0.5, -np.inf]]),
        np.array([[-2.0, 0.0]]),
        np.array([[1.5, 0.0]]),
        np.array([[2, 0]]),
        np.array([[[7, 8, 9], [0, 0, 0]]], dtype=np.int16),
    )
    (found,) = PackedResults.together([results]).found()
    assert found.whole == 0.25
    (hypothesis,) = found.hypotheses
    assert (hypothesis.actions, hypothesis.score) == ((7, 8), -0.5)
    assert (hypothesis.log_chance, hypothesis.entropy) == (-2.0, 1.5)
