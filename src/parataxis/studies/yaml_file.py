"""YAML files as checked records: a fault is told in one sentence, with the line it stands in."""

from collections.abc import Sequence
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, TypeVar

from pydantic import BaseModel, ValidationError

from parataxis.errors import InputError, ParataxisError

if TYPE_CHECKING:
    import yaml

__all__ = ["FaultError", "parse_yaml", "read_yaml"]

Model = TypeVar("Model", bound=BaseModel)


class FaultError(ValueError):
    """A fault that a validator finds in a record as a whole; ``where`` leads to its place."""

    def __init__(self, message: str, *where: int | str) -> None:
        super().__init__(message)
        self.where = where


def read_yaml(path: Path, model: type[Model]) -> Model:
    """The record in a YAML file."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(f"{path} is not UTF-8 text.") from error
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise InputError(f"{path} cannot be read: {reason}.") from error
    return parse_yaml(text, str(path), model)


def parse_yaml(text: str, name: str, model: type[Model]) -> Model:
    """The record in the text of the YAML file ``name``.

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
        reason = getattr(error, "problem", None) or "it holds characters that YAML cannot"
        raise InputError(f"{name}{where}: this is not YAML ({reason}).") from error
    except (ValueError, RecursionError) as error:  # a date such as 2020-13-45, a too deep nesting
        raise InputError(f"{name}: this is not YAML ({error}).") from error
    try:
        return model.model_validate(value)
    except ValidationError as error:
        raise _complaint(error, root, name) from error


def _complaint(error: ValidationError, root: "yaml.Node", name: str) -> InputError:
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
    """The line of the node that a path of keys leads to, or of the last one that is there.

    Besides keys the path has names that pydantic gives to the branches of a union, which the
    file does not have; those are left out, except for the last, which may be a missing key.
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
    """YAML would take the last one in silence."""
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
