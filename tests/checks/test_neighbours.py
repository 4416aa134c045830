"""Numbers and names stay beside the words that they stand beside in the source."""

import pytest

from parataxis.checks import Checker


@pytest.mark.parametrize(
    ("source", "simple", "messages"),
    [
        (
            "The fee is $5 for adults and $3 for children.",
            ["The fee is $3 for adults.", "It is $5 for children."],
            [
                "Is it '3' or '5'? The source has '5' here.",
                "Is it '5' or '3'? The source has '3' here.",
            ],
        ),
        (
            "The lease, signed on 5 May 1990, ended on 12 June 1995.",
            ["The lease ended on 5 June 1995.", "It was signed on 12 May 1990."],
            [
                "Is it '5' or '12'? The source has '12' here.",
                "Is it '12' or '5'? The source has '5' here.",
            ],
        ),
        (
            "In 1990 the mill was sold by Dorn Brewery to Kestrel Foods, which closed it.",
            [
                "In 1990 the mill was sold by Kestrel Foods to Dorn Brewery.",
                "Kestrel Foods closed it.",
            ],
            [
                "Is it 'Kestrel' or 'Dorn'? The source has 'Dorn' here.",
                "'sold by' whom or what: Kestrel Foods or Dorn Brewery? "
                "In the source it is Dorn Brewery.",
                "'sold ... to' whom or what: Dorn Brewery or Kestrel Foods? "
                "In the source it is Kestrel Foods.",
            ],
        ),
    ],
)
def test_neighbours_that_were_exchanged_are_found(
    checker: Checker, source: str, simple: list[str], messages: list[str]
) -> None:
    assert [finding.message for finding in checker(source, simple)] == messages


@pytest.mark.parametrize(
    ("source", "simple"),
    [
        ("Smith and Jones sold the mill.", ["Smith sold the mill.", "Jones sold it, too."]),
        (
            "Ann Lee, a friend of Bob Ray, sang in Oslo.",
            ["Ann Lee sang in Oslo.", "She was a friend of Bob Ray."],
        ),
        (
            "It opens from 8 am to 12 pm on Monday and from 1 pm to 5 pm on Friday.",
            ["It opens from 8 am to 12 pm on Monday.", "It opens from 1 pm to 5 pm on Friday."],
        ),
        (
            "Two teams, one in Lyon and one in Kyoto, won.",
            ["Two teams won.", "One team was in Lyon, and one team was in Kyoto."],
        ),
    ],
)
def test_neighbours_that_are_only_apart_are_kept(
    checker: Checker, source: str, simple: list[str]
) -> None:
    assert checker(source, simple) == []
