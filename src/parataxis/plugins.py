"""Registries of plugins by entry-point group: splitters, corpus formats, metrics.

The built-in ones are registered in the same way as those of third parties.
"""

from collections.abc import Callable
from dataclasses import dataclass
from difflib import get_close_matches
from importlib.metadata import EntryPoint, entry_points
from operator import attrgetter
from typing import Generic, TypeVar

from parataxis.errors import ParataxisError

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Installed:
    """An installed plugin as it is listed: ``distribution`` is its package, and ``problem`` says in
    one sentence why it cannot be used, or is None."""

    name: str
    summary: str
    distribution: str
    problem: str | None = None

    @property
    def about(self) -> str:
        """The summary, or the problem of one that cannot be used."""
        return self.summary if self.problem is None else f"(unusable) {self.problem}"


@dataclass(frozen=True, slots=True)
class Registry(Generic[T]):
    """The plugins of an entry-point group, made by calling the object of each entry point.

    ``noun`` is the word for a plugin in messages, ``needs`` names the members of the protocol, and
    ``unknown`` is the error for a name that is not installed.
    """

    group: str
    noun: str
    protocol: type[T]
    needs: str
    unknown: type[ParataxisError] = ParataxisError

    def names(self) -> list[str]:
        """The names of all installed plugins, sorted, without importing them."""
        return sorted(self._entries())

    def load(self, name: str) -> T:
        """Load the plugin of that name."""
        entries = self._entries()
        if name not in entries:
            raise self.unknown(self._complaint(name, sorted(entries)))
        return self._load(entries[name])

    def available(self, summary: Callable[[T], str] = attrgetter("summary")) -> list[Installed]:
        """Every installed plugin with its summary, sorted by name; one that cannot be loaded is
        listed with its problem."""
        found = []
        for name, entry in sorted(self._entries().items()):
            try:
                line, problem = summary(self._load(entry)), None
            except ParataxisError as error:
                line, problem = "", str(error)
            found.append(Installed(name, line, _distribution(entry), problem))
        return found

    def _entries(self) -> dict[str, EntryPoint]:
        """Entry points by name; of two with the same name, ours or else the first."""
        found: dict[str, EntryPoint] = {}
        for entry in entry_points(group=self.group):
            if entry.name not in found or _distribution(entry) == "parataxis":
                found[entry.name] = entry
        return found

    def _load(self, entry: EntryPoint) -> T:
        owner = f'The {self.noun} "{entry.name}" of the package {_distribution(entry)}'
        try:
            made = entry.load()()
        except ParataxisError:
            raise
        except Exception as error:  # third-party code can fail in any way
            reason = " ".join(f"{type(error).__name__}: {error}".split())
            raise ParataxisError(
                f"{owner} cannot be loaded ({reason}); update or remove it."
            ) from error
        if not isinstance(made, self.protocol):
            raise ParataxisError(f"{owner} is not a {self.noun}: it needs {self.needs}.")
        return made

    def _complaint(self, name: str, names: list[str]) -> str:
        message = f'There is no {self.noun} "{name}"; installed: {", ".join(names) or "none"}'
        close = get_close_matches(name, names, n=1)
        return f'{message}; did you mean "{close[0]}"?' if close else f"{message}."


def _distribution(entry: EntryPoint) -> str:
    return entry.dist.name if entry.dist else "an unknown package"
