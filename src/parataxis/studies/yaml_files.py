"""YAML files as validated records; errors name the line."""

from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, TypeVar

from pydantic import BaseModel, ConfigDict, RootModel, ValidationError

from parataxis.errors import InputError, ParataxisError

if TYPE_CHECKING:
    import yaml

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
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(f"{path} is not UTF-8 text.") from error
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise InputError(f"{path} cannot be read: {reason}.") from error
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
    yaml = _load_package()
    try:
        root = yaml.compose(text, Loader=yaml.SafeLoader)
        if root is None:
            raise InputError(f"{name} is empty.")
        _refuse_repeated_keys(root, name)
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
        raise _with_line(error, root, name) from error


@cache
def texts_of(package: str, name: str) -> dict[str, dict[str, str]]:
    """The texts in a YAML file of a package, by key and language."""
    text = (files(package) / name).read_text(encoding="utf-8")
    return parse_yaml(text, name, _Texts).root


def _with_line(error: ValidationError, root: "yaml.Node", name: str) -> InputError:
    first = error.errors(include_url=False)[0]
    cause = first.get("ctx", {}).get("error")
    inside = cause.where if isinstance(cause, FaultError) else ()
    line, path = _find(root, (*first["loc"], *inside))
    message = first["msg"].removeprefix("Value error, ")
    if first["type"] == "extra_forbidden":
        message = "there is no such setting"
    elif first["type"] == "missing":
        message = "it is missing"
    where = f'"{".".join(path)}": ' if path else ""
    return InputError(f"{name}, line {line}: {where}{message.rstrip('.')}.")


def _find(root: "yaml.Node", where: Sequence[int | str]) -> tuple[int, list[str]]:
    """The line of the node at a path of keys, or of the last node on the path that exists.

    Pydantic adds the names of the branches of a union to the path. The file does not have them,
    so they are skipped, except for the last part, which may be a missing key.
    """
    node, line, path = root, root.start_mark.line + 1, []
    for place, part in enumerate(where):
        found = _child(node, part)
        if found is not None:
            node, line = found
        if found is not None or (place == len(where) - 1 and _is_mapping(node)):
            path.append(str(part))
    return line, path


def _child(node: "yaml.Node", part: int | str) -> "tuple[yaml.Node, int] | None":
    for key, value in _pairs(node):
        if key.value == str(part):
            return value, key.start_mark.line + 1
    children = _elements(node)
    if isinstance(part, int) and part < len(children):
        return children[part], children[part].start_mark.line + 1
    return None


def _refuse_repeated_keys(node: "yaml.Node", name: str) -> None:
    """YAML itself would silently use the last one."""
    for child in _elements(node):
        _refuse_repeated_keys(child, name)
    seen: set[str] = set()
    for key, value in _pairs(node):
        if str(key.value) in seen:
            line = key.start_mark.line + 1
            raise InputError(f'{name}, line {line}: "{key.value}" is there twice.')
        seen.add(str(key.value))
        _refuse_repeated_keys(value, name)


def _is_mapping(node: "yaml.Node") -> bool:
    return isinstance(node, _load_package().MappingNode)


def _pairs(node: "yaml.Node") -> "list[tuple[yaml.Node, yaml.Node]]":
    return list(node.value) if _is_mapping(node) else []


def _elements(node: "yaml.Node") -> "list[yaml.Node]":
    return list(node.value) if isinstance(node, _load_package().SequenceNode) else []


def _load_package() -> ModuleType:
    try:
        import yaml
    except ImportError as error:
        raise ParataxisError(
            "Studies need PyYAML; install it with: pip install 'parataxis[study]'."
        ) from error
    return yaml
