"""Settings of a training run: a TOML file, of which single settings can be changed."""

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from parataxis.errors import InputError

__all__ = ["read_settings"]


def read_settings(path: Path, changes: Mapping[str, str] | None = None) -> dict[str, Any]:
    """Read settings; ``changes`` override single ones by name ("epochs", "sizes.layers")."""
    settings = tomllib.loads(path.read_text(encoding="utf-8"))
    for name, value in (changes or {}).items():
        table, _, key = name.rpartition(".")
        target = settings.get(table) if table else settings
        if not isinstance(target, dict) or not isinstance(target.get(key), int | float):
            raise InputError(f"{path.name} has no number called {name!r} that could be changed.")
        try:
            target[key] = type(target[key])(float(value))
        except ValueError as error:
            raise InputError(f"{name!r} must be a number, not {value!r}.") from error
    return settings
