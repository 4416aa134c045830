"""What is installed under an entry-point group: splitters, corpus formats, metrics.

The built-in ones are registered the same way, so one of a third party is their equal.
"""

from collections.abc import Callable
from dataclasses import dataclass
from difflib import get_close_matches
from importlib.metadata import EntryPoint, entry_points
from typing import Generic, TypeVar

from parataxis.errors import ParataxisError

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Installed:
    """What a list of the installed shows: ``distribution`` is the package it comes with.

    ``problem`` says in one sentence why a broken one cannot be used; it is None for others.
    """

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
    """The objects of an entry-point group, made by calling what each entry names.

    ``noun`` is what users call one of them, ``needs`` what makes an object one of them, and
    ``unknown`` the error for a name that is not installed.
    """

    group: str
    noun: str
    protocol: type[T]
    needs: str
    unknown: type[ParataxisError] = ParataxisError

    def names(self) -> list[str]:
        """The names of all installed ones, sorted; nothing is imported."""
        return sorted(self._entries())

    def load(self, name: str) -> T:
        """The object of that name, ready to use."""
        entries = self._entries()
        if name not in entries:
            raise self.unknown(self._complaint(name, sorted(entries)))
        return self._load(entries[name])

    def available(self, summary: Callable[[T], str]) -> list[Installed]:
        """Every installed one with its one-line summary, sorted by name.

        One that cannot be loaded is listed with its problem and does not hide the others.
        """
        found = []
        for name, entry in sorted(self._entries().items()):
            try:
                line, problem = summary(self._load(entry)), None
            except ParataxisError as error:
                line, problem = "", str(error)
            found.append(Installed(name, line, _distribution(entry), problem))
        return found

    def _entries(self) -> dict[str, EntryPoint]:
        """Entry points by name; of two with one name, that of Parataxis itself, else the first."""
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
        except Exception as error:  # another package's code can fail in any way
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
