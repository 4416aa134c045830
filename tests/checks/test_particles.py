"""Particles of verbs are not lost."""

import pytest

from parataxis.checks import Checker
from parataxis.syntax.analyser import load_analyser


@pytest.mark.parametrize(
    ("source", "simple", "lost"),
    [
        (
            "The directors, who met in May, put off the decision.",
            ["The directors met in May.", "They put the decision."],
            ["off"],
        ),
        (
            "The directors, who met in May, put off the decision.",
            ["The directors met in May.", "They put the decision off."],
            [],
        ),
        (
            "Ann, who gave up chess, took up rowing and won.",
            ["Ann gave up chess.", "She took up rowing.", "She won."],
            [],
        ),
    ],
)
def test_particles_of_a_kept_verb_are_kept(source: str, simple: list[str], lost: list[str]) -> None:
    findings = Checker(load_analyser())(source, simple)
    assert [finding.words for finding in findings] == lost
