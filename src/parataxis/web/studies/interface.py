"""The texts of the pages, in every language of the interface; ``interface.yaml`` has them all."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from pydantic import RootModel

from parataxis.studies.yaml_file import parse_yaml

__all__ = ["LANGUAGES", "Interface", "choose", "interface"]

LANGUAGES = {"en": "English", "es": "Español"}
"""The languages of the interface, as their speakers call them."""

_FILE = "interface.yaml"


class _Catalogue(RootModel[dict[str, dict[str, str]]]):
    """Texts by key and language."""


@dataclass(frozen=True)
class Interface:
    """The texts of one language.

    >>> interface("es")("yes")
    'Sí'
    """

    language: str

    def __call__(self, key: str, **values: object) -> str:
        """The text of that key, with values filled in."""
        text = catalogue()[key][self.language]
        return text.format(**values) if values else text


@cache
def catalogue() -> dict[str, dict[str, str]]:
    """All texts, by key and language."""
    text = (files("parataxis.web.studies") / _FILE).read_text(encoding="utf-8")
    return parse_yaml(text, _FILE, _Catalogue).root


@cache
def interface(language: str) -> Interface:
    """The texts of a language."""
    return Interface(language)


def choose(wanted: Iterable[str | None], offered: Sequence[str]) -> str:
    """The first of the wanted languages that is offered, else the first that is offered.

    >>> choose([None, "fr", "es-MX"], ["en", "es"])
    'es'
    """
    for each in wanted:
        for code in (each or "", (each or "").partition("-")[0].strip().lower()):
            if code in offered:
                return code
    return offered[0]
