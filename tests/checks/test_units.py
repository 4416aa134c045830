import pytest

from parataxis.checks.units import Sort, units


def _sorts(sentence: str) -> dict[str, str]:
    return {unit.text: unit.sort.value for unit in units(sentence)}


@pytest.mark.parametrize(
    ("sentence", "expected"),
    [
        (
            "The Tenant may not sublet the flat.",
            {
                "The": "function",
                "Tenant": "name",
                "may": "modal",
                "not": "negation",
                "sublet": "word",
                "the": "function",
                "flat": "word",
            },
        ),
        ("He left in May.", {"He": "function", "left": "word", "in": "function", "May": "name"}),
        (
            "Should it rain, bring hats.",
            {
                "Should": "condition",
                "it": "function",
                "rain": "word",
                "bring": "word",
                "hats": "word",
            },
        ),
        (
            "He paid, save that",
            {"He": "function", "paid": "word", "save": "condition", "that": "function"},
        ),
        ("In CA he can", {"In": "function", "CA": "name", "he": "function", "can": "modal"}),
        ("They save money", {"They": "function", "save": "word", "money": "word"}),
        (
            "It not only sank",
            {"It": "function", "not": "function", "only": "function", "sank": "word"},
        ),
    ],
)
def test_units_know_what_words_state(sentence: str, expected: dict[str, str]) -> None:
    assert _sorts(sentence) == expected


@pytest.mark.parametrize(
    ("sentence", "keys"),
    [
        ("$1,000.50 for 19th", ["1000.50", "for", "19th"]),
        ("seventy nineteenth", ["70", "19th"]),
        ("able-bodied U.S. 2010-11", ["able", "bodied", "us", "2010", "11"]),
        ("Rome ' s `` end ''", ["rome", "s", "end"]),
        ("O’Neill", ["o'neill"]),
        ("(i) pay and (b) go, 2) stay", ["pay", "and", "go", "stay"]),
        ("“…” — ;", []),
        ("", []),
    ],
)
def test_units_are_compared_by_their_keys(sentence: str, keys: list[str]) -> None:
    assert [unit.key for unit in units(sentence)] == keys


def test_units_of_numbers_hold_their_signs() -> None:
    sentence = "At -5 or −6 it cost $7, -$8 or 9 €, 10-15 % in 1990 -95, not 2010-11 or - 3"
    numbers = [unit for unit in units(sentence) if unit.sort is Sort.NUMBER]
    assert [(unit.text, unit.signs) for unit in numbers] == [
        ("-5", "-"),
        ("−6", "-"),
        ("$7", "$"),
        ("-$8", "-$"),
        ("9 €", "€"),
        ("10", ""),
        ("15 %", "%"),
        ("1990", ""),
        ("95", ""),
        ("2010", ""),
        ("11", ""),
        ("3", ""),
    ]
    assert all(sentence[unit.start : unit.end] == unit.text for unit in numbers)


def test_units_name_is_not_the_first_word() -> None:
    assert units("London calls")[0].sort is Sort.WORD
    assert units("In London")[1].sort is Sort.NAME
