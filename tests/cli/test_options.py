"""Options that the docstring of a command describes."""

from pathlib import Path

import pytest

from parataxis.cli.options import Natural, OptionalCount, documented
from parataxis.cli.reference import Parameter, parameters


def test_documented_options_have_names_and_help() -> None:
    @documented
    def command(
        folder: Path, set_: list[str] | None = None, most: OptionalCount = None, seed: Natural = 1
    ) -> None:
        """Do something.

        Options:
        FOLDER | -: Where it is: a folder,
            or standard input.
        --set NAME=VALUE: Change a number.
        --most, -m N: At most N.
        """

    assert command.__doc__ == "Do something."
    assert parameters(command) == [
        Parameter((), "FOLDER | -", (), "Where it is: a folder, or standard input.", "", True),
        Parameter(("--set",), "NAME=VALUE", (), "Change a number.", ""),
        Parameter(("--most", "-m"), "N", (), "At most N.", ""),
        Parameter(("--seed",), "", (), "", "1"),
    ]


def test_documented_refuses_what_is_no_option() -> None:
    def command() -> None:
        """Do something.

        Options:
        And more.
        """

    with pytest.raises(ValueError, match=r"'And more.' does not describe an option"):
        documented(command)
