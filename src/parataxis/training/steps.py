"""Running one step of a training from the command line."""

import argparse
import logging
import sys
from collections.abc import Sequence
from typing import TextIO

from parataxis.errors import ParataxisError

__all__ = ["run_step"]


def run_step(
    parser: argparse.ArgumentParser, arguments: Sequence[str] | None, progress: TextIO
) -> int:
    """Run the step that the arguments name, with ``run`` of their options; the exit code.

    Progress goes to a stream; a user's mistake ends in one sentence and exit code 2.
    """
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s", stream=progress)
    options = parser.parse_args(arguments)
    try:
        options.run(options)
    except ParataxisError as error:
        sys.stderr.write(f"{error}\n")
        return 2
    return 0
