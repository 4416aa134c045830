"""Parataxis splits long, complex English sentences into simple ones with the same meaning.

>>> import parataxis
>>> print(parataxis.split("It rained.", splitter="source"))
It rained.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from parataxis.api import DEFAULT_SPLITTER, DocumentRewrite, Splitter, claims, split
    from parataxis.errors import InputError, ParataxisError, TooLongError, UnknownSplitterError
    from parataxis.rewrite.record import Finding, FindingKind, Origin, OutputToken, Rewrite
    from parataxis.splitters.claims import Claim

__all__ = [
    "DEFAULT_SPLITTER",
    "Claim",
    "DocumentRewrite",
    "Finding",
    "FindingKind",
    "InputError",
    "Origin",
    "OutputToken",
    "ParataxisError",
    "Rewrite",
    "Splitter",
    "TooLongError",
    "UnknownSplitterError",
    "__version__",
    "claims",
    "split",
]

__version__ = "0.2.0.dev0"


_HOMES = {
    "parataxis.api": ("DEFAULT_SPLITTER", "DocumentRewrite", "Splitter", "claims", "split"),
    "parataxis.errors": ("InputError", "ParataxisError", "TooLongError", "UnknownSplitterError"),
    "parataxis.rewrite.record": ("Finding", "FindingKind", "Origin", "OutputToken", "Rewrite"),
    "parataxis.splitters.claims": ("Claim",),
}


def __getattr__(name: str) -> object:
    """Import a public name on first use, so that ``import parataxis`` itself costs nothing."""
    for module, names in _HOMES.items():
        if name in names:
            from importlib import import_module

            value: object = getattr(import_module(module), name)
            globals()[name] = value
            return value
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
