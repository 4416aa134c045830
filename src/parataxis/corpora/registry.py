"""The installed corpus formats, found through entry points of the group ``parataxis.corpora``."""

from parataxis.corpora.protocol import CorpusFormat
from parataxis.plugins import Installed, Registry

__all__ = ["GROUP", "corpus_formats", "format_names", "load_format"]

GROUP = "parataxis.corpora"

_FORMATS: Registry[CorpusFormat] = Registry(
    GROUP,
    "corpus format",
    CorpusFormat,  # type: ignore[type-abstract]
    "name, summary, read and write",
)


def format_names() -> list[str]:
    """The names of all installed formats, sorted; nothing is imported.

    >>> {"wikisplit", "bisect", "jsonl"} <= set(format_names())
    True
    """
    return _FORMATS.names()


def load_format(name: str) -> CorpusFormat:
    """The format of that name, ready to read and write."""
    return _FORMATS.load(name)


def corpus_formats() -> list[Installed]:
    """Every installed format with its one-line summary, sorted by name.

    One that cannot be loaded is listed with its problem and does not hide the others.
    """
    return _FORMATS.available(lambda found: found.summary)
