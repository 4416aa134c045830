"""YAML files as validated records; errors name the line."""

from collections.abc import Iterator, Mapping
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict, RootModel, ValidationError

from parataxis.errors import InputError, needs, system_errors

Model = TypeVar("Model", bound=BaseModel)


class YamlPart(BaseModel):
    """A mapping in a YAML file; unknown keys are errors."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class _Texts(RootModel[dict[str, dict[str, str]]]):
    """Texts by key and language."""


class FaultError(ValueError):
    """An error found by a validator of a whole record; ``where`` is the path to its place."""

    def __init__(self, message: str, *where: int | str) -> None:
        super().__init__(message)
        self.where = where


def read_yaml(path: Path, model: type[Model]) -> Model:
    """Read the record in a YAML file."""
    try:
        with system_errors(f"{path} cannot be read"):
            text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(f"{path} is not UTF-8 text.") from error
    return parse_yaml(text, str(path), model)


def parse_yaml(text: str, name: str, model: type[Model]) -> Model:
    """Parse the record in the text of the YAML file ``name``.

    >>> class Cat(BaseModel):
    ...     lives: int
    >>> parse_yaml("lives: nine", "cat.yaml", Cat)
    Traceback (most recent call last):
    ...
    parataxis.errors.InputError: cat.yaml, line 1: "lives": Input should be a valid integer, ...
    """
    with needs("Studies need PyYAML", "study"):
        import yaml
    try:
        root = yaml.compose(text, Loader=yaml.SafeLoader)
        if root is None:
            raise InputError(f"{name} is empty.")
        lines = dict(_lines(root, name))
        value = yaml.safe_load(text)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        where = f", line {mark.line + 1}" if mark else ""
        reason = getattr(error, "problem", None) or "it holds characters that YAML does not allow"
        raise InputError(f"{name}{where}: this is not YAML ({reason}).") from error
    except (ValueError, RecursionError) as error:  # a date such as 2020-13-45, too deep nesting
        raise InputError(f"{name}: this is not YAML ({error}).") from error
    try:
        return model.model_validate(value)
    except ValidationError as error:
        raise _with_line(error, lines, name) from error


@cache
def texts_of(package: str, name: str) -> dict[str, dict[str, str]]:
    """The texts in a YAML file of a package, by key and language."""
    text = (files(package) / name).read_text(encoding="utf-8")
    return parse_yaml(text, name, _Texts).root


class LanguageTexts:
    """The texts in a YAML file of a package, in one language; English where it has no such one."""

    def __init__(self, package: str, name: str, language: str) -> None:
        self._texts, self.language = texts_of(package, name), language

    def __call__(self, key: str, **values: object) -> str:
        found = self._texts[key]
        text = found.get(self.language.partition("-")[0], found["en"])
        return text.format(**values) if values else text


def _lines(
    node: Any, name: str, path: tuple[str, ...] = ()
) -> Iterator[tuple[tuple[str, ...], int]]:
    """The line of each part of a node of YAML, by its path of keys. Repeated keys are errors; YAML
    itself would silently use the last one."""
    yield path, node.start_mark.line + 1
    if node.id == "sequence":
        for place, child in enumerate(node.value):
            yield from _lines(child, name, (*path, str(place)))
    elif node.id == "mapping":
        seen: set[str] = set()
        for key, child in node.value:
            line, part = key.start_mark.line + 1, str(key.value)
            if part in seen:
                raise InputError(f'{name}, line {line}: "{part}" is there twice.')
            seen.add(part)
            yield from _lines(child, name, (*path, part))
            yield (*path, part), line


def _with_line(
    error: ValidationError, lines: Mapping[tuple[str, ...], int], name: str
) -> InputError:
    """The first error with its line. Pydantic adds the names of the branches of a union to the
    path, which the file does not have, so that they are skipped."""
    first = error.errors(include_url=False)[0]
    cause = first.get("ctx", {}).get("error")
    inside = cause.where if isinstance(cause, FaultError) else ()
    path: tuple[str, ...] = ()
    for part in map(str, (*first["loc"], *inside)):
        path = (*path, part) if (*path, part) in lines else path
    line, message = lines[path], first["msg"].removeprefix("Value error, ")
    if first["type"] == "extra_forbidden":
        message = "there is no such setting"
    elif first["type"] == "missing":
        message, path = "it is missing", (*path, str(first["loc"][-1]))
    where = f'"{".".join(path)}": ' if path else ""
    return InputError(f"{name}, line {line}: {where}{message.rstrip('.')}.")
