"""Tokens follow the English UD treebanks, and joining them is exact for every string."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from parataxis.text.tokens import Token, tokenize

CASES = {
    "plain": ("The cat sat.", "The cat sat ."),
    "negation": (
        "I don't, can't, won't and DIDN'T.",
        "I do n't , ca n't , wo n't and DID N'T .",
    ),
    "curly": ("It’s what they’d said: “don’t”.", "It ’s what they ’d said : “ do n’t ” ."),
    "no apostrophe": ("Im sure you cant and dont.", "I m sure you ca nt and do nt ."),
    "stacked": ("I'd've and shouldn't've", "I 'd 've and should n't 've"),
    "fused": (
        "We cannot; he's gonna, wanna, gotta.",
        "We can not ; he 's gon na , wan na , got ta .",
    ),
    "its": ("Its a pity; its lid is lost.", "It s a pity ; its lid is lost ."),
    "possessive": ("The boys' and Zoë's toys", "The boys ' and Zoë 's toys"),
    "names": ("O'Neill met Qa'ida's d'Alembert", "O'Neill met Qa'ida 's d'Alembert"),
    "hyphens": ("a 10-year-old search-engine", "a 10 - year - old search - engine"),
    "prefixes": (
        "re-elected non-profit co-owner, e-mail",
        "re-elected non-profit co-owner , e-mail",
    ),
    "dashes": ("now--or never—well", "now -- or never — well"),
    "slash": ("and/or w/o", "and / or w/o"),
    "money": ("$5, €4.2bn, US$5m and 3.5%", "$ 5 , € 4.2 bn , US$ 5 m and 3.5 %"),
    "numbers": ("1,234.56 but 13,14; 1,00,000", "1,234.56 but 13 , 14 ; 1,00,000"),
    "times": ("5:30pm on 11/28/2000", "5:30 pm on 11/28/2000"),
    "ordinals": ("the 3rd, the 1990s, the '90s", "the 3rd , the 1990s , the '90s"),
    "telephone": ("Call 713-853-3989.", "Call 713-853-3989 ."),
    "addresses": (
        "See http://a.b/c?d=1, www.x.org or j.doe@mail.co.uk.",
        "See http://a.b/c?d=1 , www.x.org or j.doe@mail.co.uk .",
    ),
    "domains and files": ("Amazon.com sent plan.doc.", "Amazon.com sent plan.doc ."),
    "handles": ("@ann likes #books", "@ann likes #books"),
    "abbreviations": (
        "Mr. J. R. Smith, e.g., of the U.S. Army",
        "Mr. J. R. Smith , e.g. , of the U.S. Army",
    ),
    "final abbreviation": ("Tea, jam, etc.", "Tea , jam , etc ."),
    "final in quotes": ("“Buy Co.” (Inc.)", "“ Buy Co. ” ( Inc . )"),
    "final letter": ("This is plan B.", "This is plan B ."),
    "final dotted": ("It opened at 5 p.m.", "It opened at 5 p.m."),
    "section": ("Sec. 5(a) of No. 7", "Sec. 5 ( a ) of No. 7"),
    "ampersand": ("AT&T and R&D", "AT&T and R&D"),
    "runs": ("Wait... what?! No!!! ***", "Wait ... what ?! No !!! ***"),
    "emoticons": ("Fine :) or ;-)", "Fine :) or ;-)"),
    "emoji": ("👨\u200d👩\u200d👧 👍🏽! 🇩🇪🇫🇷 ❤️1️⃣", "👨\u200d👩\u200d👧 👍🏽 ! 🇩🇪 🇫🇷 ❤️ 1️⃣"),
    "combining": ("un e\u0301tude", "un e\u0301tude"),
    "soft hyphen": ("basic\u00adally so", "basic\u00adally so"),
    "cjk": ("He wrote 日本語。", "He wrote 日本語 。"),
}


@pytest.mark.parametrize(("text", "expected"), CASES.values(), ids=CASES.keys())
def test_tokens_follow_the_treebanks(text: str, expected: str) -> None:
    assert [token.text for token in tokenize(text)] == expected.split()


def test_tokens_carry_offsets() -> None:
    assert tokenize(" I can't") == [Token("I", 1, 2), Token("ca", 3, 5), Token("n't", 5, 8)]


def test_tokens_of_nothing() -> None:
    assert tokenize("") == []
    assert tokenize(" \t\r\n\u3000") == []


ANY_TEXT = st.text(max_size=80) | st.text(
    alphabet="aIt sn'’t.,-:/@#$%&()0123€\u0301\u200d\ufeff👍🏽🇩\r\n\t\x1c…", max_size=60
)


@given(ANY_TEXT)
@settings(max_examples=300)
def test_tokens_join_to_the_exact_text(text: str) -> None:
    rebuilt = ""
    for token in tokenize(text):
        space = text[len(rebuilt) : token.start]
        assert not space.strip()
        rebuilt += space + token.text
    assert rebuilt == text.rstrip()


@given(ANY_TEXT)
@settings(max_examples=300)
def test_tokens_hold_everything_visible(text: str) -> None:
    tokens = tokenize(text)
    assert "".join(token.text for token in tokens) == "".join(text.split())
    for token in tokens:
        assert text[token.start : token.end] == token.text


# Long runs that tempt a pattern to try every split; quadratic work would take minutes here.
RUNS = {
    "a": 1,
    "a-": 100_000,
    "1,": 100_000,
    "a.b@": 25_000,
    "http://": 99,
    "non-": 25_000,
    "n't": 33_334,
    "[": 100_000,
    "😀\u200d": 1,
}


@pytest.mark.parametrize(("unit", "count"), RUNS.items())
def test_tokens_of_a_long_run(unit: str, count: int) -> None:
    text = unit * (100_000 // len(unit))
    tokens = tokenize(text)
    assert "".join(token.text for token in tokens) == text
    assert len(tokens) == count
