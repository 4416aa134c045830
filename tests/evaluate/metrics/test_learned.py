"""The learned metric: its features, its regression, and that it is what raters would say."""

import json

import numpy as np
import pytest

from parataxis.errors import ParataxisError
from parataxis.evaluate.metrics.learned import CRITERIA, FEATURES, Learned, Regression, features
from parataxis.evaluate.metrics.protocol import ScoredItem, score
from parataxis.syntax.analyser import load_analyser

SOURCE = "The mill, which had closed in May, reopened in June after a long strike."
GOOD = ("The mill reopened in June after a long strike.", "It had closed in May.")
BROKEN = ("The mill which.", "Closed May strike the the reopened.")


def row(simple: tuple[str, ...]) -> dict[str, float]:
    values = features([ScoredItem(SOURCE, simple)], load_analyser())[0]
    return dict(zip(FEATURES, values, strict=True))


def test_features_of_a_copy() -> None:
    found = row((SOURCE,))
    assert found["words kept"] == found["words known"] == found["pairs kept"] == 1.0
    assert found["words new"] == found["pairs new"] == found["patterns split"] == 0.0
    assert found["unchanged"] == found["length"] == found["share of the longest"] == 1.0
    assert found["patterns of the source"] == found["patterns left"] > 0
    assert found["lost findings"] == 0.0


def test_features_of_a_split() -> None:
    found = row(GOOD)
    assert found["sentences"] == 2.0
    assert found["unchanged"] == 0.0
    assert found["patterns split"] > 0
    assert found["patterns left"] < found["patterns of the source"]
    # "It" and a second full stop are new; the commas and "which" are gone.
    assert found["words new"] == pytest.approx(2 / 16)


def test_features_do_not_depend_on_spaces_between_tokens() -> None:
    spaced = tuple(sentence.replace(".", " .") for sentence in GOOD)
    assert row(spaced)["words kept"] == row(GOOD)["words kept"]
    assert row(spaced)["length"] == row(GOOD)["length"]


def test_regression_finds_a_linear_law_and_survives_json() -> None:
    chance = np.random.default_rng(0)
    rows = chance.normal(size=(400, 3))
    judgements = rows @ np.array([[1.0, 0.0], [0.0, -2.0], [0.5, 0.0]]) + [3.0, 1.0]
    found = Regression.fit(rows, judgements, penalty=1e-6)
    assert np.allclose(found(rows), judgements, atol=0.15)
    again = Regression.from_record(json.loads(json.dumps(found.as_record())))
    assert np.allclose(again(rows), found(rows), atol=1e-6)


def test_regression_holds_large_weights_down() -> None:
    rows = np.array([[-1.0], [1.0]] * 15)
    # The sum of squares is 30, and so is the penalty: half of the slope is left.
    found = Regression.fit(rows, 2 * rows, penalty=30.0)
    assert found.weights[0, 0] == pytest.approx(1.0)


def test_regression_for_other_features_is_refused() -> None:
    record = Regression.fit(np.zeros((2, 1)), np.zeros((2, 1)), penalty=1.0).as_record()
    for key, names in (("features", list(FEATURES[::-1])), ("criteria", ["meaning"])):
        with pytest.raises(ParataxisError, match=f"weights of the learned metric are .* {key}"):
            Regression.from_record({**record, key: names})


def test_learned_metric_is_the_mean_of_four_scales() -> None:
    none = np.zeros((4, len(FEATURES)))
    said = Regression(none[0], none[0] + 1, none, np.array([5.0, 3.0, -1.0, 2.0]))
    found = score(Learned(regression=said), [ScoredItem(SOURCE, GOOD)])
    assert found.value == pytest.approx((100 + 50 + 25 + 100) / 4)
    assert list(found.parts.values()) == [5.0, 3.0, -1.0, 2.0]


def test_learned_metric_says_what_it_was_fitted_on() -> None:
    assert "fitted-on:sulem2018" in str(Learned().signature)


def test_regression_is_not_carried_away_by_an_outlier() -> None:
    rows = np.random.default_rng(0).normal(size=(100, 1))
    found = Regression.fit(rows, rows, penalty=1.0)
    assert found(np.array([[1000.0]]))[0, 0] < 5


def test_learned_metric_prefers_what_raters_prefer() -> None:
    good, broken, copy = (
        score(Learned(), [ScoredItem(SOURCE, simple)]) for simple in (GOOD, BROKEN, (SOURCE,))
    )
    assert good.parts["grammaticality"] > broken.parts["grammaticality"] + 0.5
    assert good.parts["meaning"] > broken.parts["meaning"] + 0.5
    assert good.parts["structural_simplicity"] > copy.parts["structural_simplicity"]
    assert copy.parts["meaning"] > 4.5
    assert list(good.parts) == list(CRITERIA)
    assert 0 <= broken.value < good.value <= 100


def test_learned_metric_of_a_corpus_is_the_mean() -> None:
    items = [ScoredItem(SOURCE, GOOD), ScoredItem(SOURCE, BROKEN)]
    singles = [score(Learned(), [item]).parts["meaning"] for item in items]
    assert score(Learned(), items).parts["meaning"] == pytest.approx(np.mean(singles))
