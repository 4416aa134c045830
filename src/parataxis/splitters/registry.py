"""The installed splitters, found through entry points of the group ``parataxis.splitters``.

The built-in ones are registered the same way, so a third-party splitter is their equal.
"""

from dataclasses import dataclass
from difflib import get_close_matches
from importlib.metadata import EntryPoint, entry_points

from parataxis.errors import ParataxisError, UnknownSplitterError
from parataxis.splitters.protocol import SentenceSplitter

__all__ = ["GROUP", "InstalledSplitter", "available_splitters", "load_splitter", "splitter_names"]

GROUP = "parataxis.splitters"


@dataclass(frozen=True, slots=True)
class InstalledSplitter:
    """What ``parataxis splitters`` shows: ``distribution`` is the package it comes with.

    ``problem`` says in one sentence why a broken splitter cannot be used; it is None for others.
    """

    name: str
    summary: str
    distribution: str
    problem: str | None = None


def splitter_names() -> list[str]:
    """The names of all installed splitters, sorted; nothing is imported.

    >>> {"rules", "source"} <= set(splitter_names())
    True
    """
    return sorted(_entries())


def load_splitter(name: str) -> SentenceSplitter:
    """The splitter of that name, ready to use."""
    entries = _entries()
    if name not in entries:
        raise UnknownSplitterError(_unknown(name, sorted(entries)))
    return _load(entries[name])


def available_splitters() -> list[InstalledSplitter]:
    """Every installed splitter with its one-line summary, sorted by name.

    A splitter that cannot be loaded is listed with its problem and does not hide the others.
    """
    found = []
    for name, entry in sorted(_entries().items()):
        try:
            summary, problem = _load(entry).summary, None
        except ParataxisError as error:
            summary, problem = "", str(error)
        found.append(InstalledSplitter(name, summary, _distribution(entry), problem))
    return found


def _entries() -> dict[str, EntryPoint]:
    """Entry points by name; of two with one name, that of Parataxis itself, else the first."""
    found: dict[str, EntryPoint] = {}
    for entry in entry_points(group=GROUP):
        if entry.name not in found or _distribution(entry) == "parataxis":
            found[entry.name] = entry
    return found


def _distribution(entry: EntryPoint) -> str:
    return entry.dist.name if entry.dist else "an unknown package"


def _load(entry: EntryPoint) -> SentenceSplitter:
    owner = f'The splitter "{entry.name}" of the package {_distribution(entry)}'
    try:
        splitter = entry.load()()
    except Exception as error:  # another package's code can fail in any way
        reason = " ".join(f"{type(error).__name__}: {error}".split())
        raise ParataxisError(
            f"{owner} cannot be loaded ({reason}); update or remove it."
        ) from error
    if not isinstance(splitter, SentenceSplitter):
        raise ParataxisError(
            f"{owner} is not a splitter: it needs name, summary, __call__ and pipe."
        )
    return splitter


def _unknown(name: str, names: list[str]) -> str:
    message = f'There is no splitter "{name}"; installed: {", ".join(names) or "none"}'
    close = get_close_matches(name, names, n=1)
    return f'{message}; did you mean "{close[0]}"?' if close else f"{message}."
