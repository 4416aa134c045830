"""The installed splitters, found through entry points of the group ``parataxis.splitters``."""

from pathlib import Path

from parataxis.errors import InputError, UnknownSplitterError
from parataxis.plugins import Installed, Registry
from parataxis.splitters.protocol import ModelSplitter, SentenceSplitter

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
    """The splitter of that name, ready to use; "NAME:DIR" is one with the model in a folder."""
    if ":" not in name:
        return _SPLITTERS.load(name)
    plain, _, folder = name.partition(":")
    splitter = _SPLITTERS.load(plain)
    if not isinstance(splitter, ModelSplitter):
        raise InputError(f'The splitter "{plain}" takes no model; leave ":{folder}" out.')
    if not folder:
        raise InputError(f'There is no folder in "{name}"; write "{plain}:DIR".')
    return splitter.opened(Path(folder))


def available_splitters() -> list[Installed]:
    """Every installed splitter with its one-line summary, sorted by name.

    A splitter that cannot be loaded is listed with its problem and does not hide the others.
    """
    return _SPLITTERS.available(lambda splitter: splitter.summary)
