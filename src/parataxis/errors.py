"""Errors that a user can cause.

Each carries one sentence that says what was wrong, where, and what to do. The command line prints
that sentence and exits with code 2, without having written anything.
"""

from collections.abc import Iterator
from contextlib import contextmanager

__all__ = [
    "InputError",
    "ParataxisError",
    "TooLongError",
    "TryLaterError",
    "UnknownSplitterError",
    "needs",
    "system_errors",
]


class ParataxisError(Exception):
    """Base of all errors that Parataxis raises on purpose."""


class InputError(ParataxisError):
    """The input cannot be read: a missing file, a binary file, a wrong encoding, empty text."""


class TooLongError(InputError):
    """A sentence is longer than the model can read."""


class UnknownSplitterError(ParataxisError):
    """No installed splitter has the requested name."""


class TryLaterError(ParataxisError):
    """A service is busy; ``seconds`` is the time after which to retry."""

    def __init__(self, message: str, seconds: float) -> None:
        super().__init__(message)
        self.seconds = seconds


@contextmanager
def system_errors(what: str, remedy: str = "") -> Iterator[None]:
    """Report errors of the system within it as InputError: ``what``, the reason and a remedy."""
    try:
        yield
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise InputError(f"{what}: {reason}{remedy}.") from error


@contextmanager
def needs(what: str, extra: str) -> Iterator[None]:
    """Report packages that cannot be imported within it, and the extra that installs them::

    with needs("Studies need PyYAML", "study"):
        import yaml
    """
    try:
        yield
    except ImportError as error:
        raise ParataxisError(
            f"{what}; install the extra with: pip install 'parataxis[{extra}]'."
        ) from error


def in_words(error: BaseException) -> str:
    """The message of an error, on one line and without its full stop."""
    return " ".join(str(error).split()).rstrip(".")
