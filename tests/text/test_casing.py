"""The first letter of a sentence, and nothing else, changes its case."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from parataxis.text.tokens import capitalise, lower_first


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("the film won.", "The film won."),
        ("“the film” won.", "“The film” won."),
        ("(it rained.)", "(It rained.)"),
        ("'twas late", "'Twas late"),
        ("  a start", "  A start"),
        ("élan matters", "Élan matters"),
        ("ünal left", "Ünal left"),
        ("a", "A"),
        ("The film", "The film"),
        ("iPhone sales rose", "iPhone sales rose"),
        ("“eBay” fell", "“eBay” fell"),
        ("mRNA is a molecule", "mRNA is a molecule"),
        ("x86 chips", "x86 chips"),
        ("www.example.com is down", "www.example.com is down"),
        ("john@example.com wrote", "john@example.com wrote"),
        ("@ann wrote", "@ann wrote"),
        ("10 people came", "10 people came"),
        ("3rd place", "3rd place"),
        ("e-mail came", "E-mail came"),
        ("ßen", "ßen"),
        ("end.", "End."),
        ("e.g. this", "e.g. this"),
        ("", ""),
        ("... and", "... And"),
        ("😀 yes", "😀 Yes"),
        ("日本", "日本"),
    ],
)
def test_casing_capitalise(text: str, expected: str) -> None:
    assert capitalise(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The film won.", "the film won."),
        ("“The film” won.", "“the film” won."),
        ("A film", "a film"),
        ("Élan matters", "élan matters"),
        ("I left", "I left"),
        ("I'm here", "I'm here"),
        ("I’ve left", "I’ve left"),
        ("In May", "in May"),
        ("NATO met", "NATO met"),
        ("U.S. Bank", "U.S. Bank"),
        ("McLean left", "McLean left"),
        ("the film", "the film"),
        ("10 People", "10 People"),
        ("", ""),
    ],
)
def test_casing_lower_first(text: str, expected: str) -> None:
    assert lower_first(text, keep=False) == expected
    assert lower_first(text, keep=True) == text


@given(st.text(max_size=40))
@settings(max_examples=200)
def test_casing_changes_at_most_one_letter(text: str) -> None:
    for changed in (capitalise(text), lower_first(text, keep=False)):
        assert len(changed) == len(text)
        assert sum(a != b for a, b in zip(text, changed, strict=True)) <= 1
    assert capitalise(capitalise(text)) == capitalise(text)
