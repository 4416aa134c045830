"""The installed splitters, found through entry points of the group ``parataxis.splitters``."""

from parataxis.errors import UnknownSplitterError
from parataxis.plugins import Installed, Registry
from parataxis.splitters.protocol import SentenceSplitter

__all__ = ["GROUP", "available_splitters", "load_splitter", "splitter_names"]

GROUP = "parataxis.splitters"

_SPLITTERS: Registry[SentenceSplitter] = Registry(
    GROUP,
    "splitter",
    SentenceSplitter,  # type: ignore[type-abstract]
    "name, summary, __call__ and pipe",
    UnknownSplitterError,
)


def splitter_names() -> list[str]:
    """The names of all installed splitters, sorted; nothing is imported.

    >>> {"rules", "source"} <= set(splitter_names())
    True
    """
    return _SPLITTERS.names()


def load_splitter(name: str) -> SentenceSplitter:
    """The splitter of that name, ready to use."""
    return _SPLITTERS.load(name)


def available_splitters() -> list[Installed]:
    """Every installed splitter with its one-line summary, sorted by name.

    A splitter that cannot be loaded is listed with its problem and does not hide the others.
    """
    return _SPLITTERS.available(lambda splitter: splitter.summary)
