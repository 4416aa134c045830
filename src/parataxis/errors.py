"""Errors that a user can cause.

Each carries one sentence that says what was wrong, where, and what to do. The command line prints
that sentence and exits with code 2, without having written anything.
"""

__all__ = ["InputError", "ParataxisError", "TooLongError", "TryLaterError", "UnknownSplitterError"]


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
