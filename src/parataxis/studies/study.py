"""A study as one YAML file: what is written and rated, by how many people, and on which terms.

Only ``rubric`` is required, and ``items`` or ``write`` to have something to do. Paths are relative
to the file.
"""

from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Annotated, Self, TypeVar

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    StringConstraints,
    ValidationError,
    model_validator,
)

from parataxis.errors import InputError, ParataxisError
from parataxis.studies.records import Text

if TYPE_CHECKING:
    import yaml


# YAML files as checked records: a fault is told in one sentence, with the line it stands in.

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


Name = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=200)]


class Role(StrEnum):
    """What a person does in a study."""

    WRITER = "writer"
    RATER = "rater"
    BOTH = "both"
    """Writes while there is something to write, then rates what others wrote."""
    EXPERT = "expert"
    """Rates a sample, beside the raters and not counted among them."""


class OnFailure(StrEnum):
    """What happens to a person who fails a control item once too often."""

    WARN = "warn"
    """The organiser sees it, and the person is told."""
    BLOCK = "block"
    """The person gets no more tasks; what they did counts."""
    VOID = "void"
    """The person gets no more tasks, and all they did is done again by others."""


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Write(_Part):
    """The first phase: people write rewrites."""

    sources: Path
    """JSON lines with a "source" or "complex", TSV or CSV (column "source", or the first), or a
    text file with a sentence in each line."""
    writers: int = Field(default=3, ge=1)
    """Rewrites wanted of each source (Zhang et al. 2020, §4.2.1)."""
    sentences: int = Field(default=2, ge=1)
    """The fewest sentences of a rewrite."""
    per_person: int | None = Field(default=None, ge=1)
    """The most rewrites that one person may write."""


class Rate(_Part):
    """The second phase: people rate rewrites."""

    raters: int | None = Field(default=None, ge=1)
    """Ratings wanted of each rewrite. Where it is not given: 2 of those that people of the study
    wrote (Zhang et al. 2020, §4.2.2) and 3 of those in ``items`` (§5)."""
    per_person: int | None = Field(default=None, ge=1)
    """The most ratings that one person may give."""


class Qualification(_Part):
    """What a rater does first: items with feedback, then a test. Both are files like ``items``
    whose lines also have ``expected`` (answers by question) and perhaps ``feedback``."""

    training: Path | None = None
    test: Path | None = None
    pass_mark: float = Field(default=0.8, ge=0, le=1)
    """The share of test items whose answers must be the expected ones."""
    attempts: int = Field(default=2, ge=1)
    tolerance: float = Field(default=0, ge=0)
    """How far a number may lie from the expected one."""

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.training is None and self.test is None:
            raise ValueError("a qualification needs training, test, or both")
        return self


class Controls(_Part):
    """Items whose answers are known, mixed in with the others: a file like those of the
    qualification."""

    items: Path
    every: int = Field(default=10, ge=1)
    """One comes, at a place drawn by chance, in each so many items."""
    tolerance: float = Field(default=0, ge=0)
    allowed: int = Field(default=0, ge=0)
    """Failures without a consequence."""
    on_failure: OnFailure = OnFailure.WARN


class BackgroundKind(StrEnum):
    """How a question of the background form is answered."""

    TEXT = "text"
    NUMBER = "number"
    YES_NO = "yes-no"
    CHOICE = "choice"


class BackgroundQuestion(_Part):
    """A question about the person, asked once."""

    id: Name
    text: Text
    kind: BackgroundKind = BackgroundKind.TEXT
    choices: dict[str, Text] = Field(default_factory=dict)
    required: bool = False

    @model_validator(mode="after")
    def _check(self) -> Self:
        if (self.kind is BackgroundKind.CHOICE) != bool(self.choices):
            raise ValueError("a question has choices if, and only if, its kind is choice")
        return self


class Panel(_Part):
    """How people of a panel arrive, by a URL with parameters, and leave, with a code."""

    parameters: dict[str, Name] = Field(
        default_factory=lambda: {
            "person": "PROLIFIC_PID",
            "study": "STUDY_ID",
            "session": "SESSION_ID",
        }
    )
    """The panel's names of the parameters; "person" says who it is, the others are kept."""
    role: Role = Role.RATER
    completion_code: str | None = None
    completion_url: str | None = Field(default=None, pattern=r"^https?://")

    @model_validator(mode="after")
    def _check(self) -> Self:
        if "person" not in self.parameters:
            raise ValueError('"parameters" must say which one is the "person"')
        return self


class Payment(_Part):
    """What the work costs."""

    per_rewrite: float = Field(default=0, ge=0)
    per_rating: float = Field(default=0, ge=0)
    fee: float = Field(default=0, ge=0)
    """What the platform takes on top, as a share: 0.25 is 25 %."""
    currency: str = "USD"


class Study(_Part):
    """What a study is; made by :func:`load_study`."""

    name: Name = "study"
    rubric: Name
    """The name of an installed rubric, or the path of one."""
    languages: tuple[str, ...] = Field(default=("en", "es"), min_length=1)
    """Of the pages; the first is the one that people meet."""
    url: str | None = Field(default=None, pattern=r"^https?://")
    """Where people find the pages; links begin with it."""
    items: Path | None = None
    """Rewrites to be rated: JSON lines, or TSV or CSV of pairs."""
    write: Write | None = None
    rate: Rate = Field(default_factory=Rate)
    qualification: Qualification | None = None
    attention: Controls | None = None
    known: Controls | None = None
    instructions: Text | None = None
    consent: Text | None = None
    background: tuple[BackgroundQuestion, ...] = ()
    panel: Panel | None = None
    lease_minutes: float = Field(default=30, gt=0)
    """How long a task is kept for a person who does nothing."""
    payment: Payment | None = None

    @model_validator(mode="after")
    def _check(self) -> Self:
        ids = [question.id for question in self.background]
        if len(set(ids)) < len(ids):
            raise ValueError("two questions of the background form have the same id")
        return self

    @property
    def rubric_name(self) -> str:
        """What ratings call the rubric: a path is nobody else's business."""
        path = Path(self.rubric)
        return path.stem if path.suffix in {".yaml", ".yml"} else self.rubric

    @property
    def raters_of_items(self) -> int:
        """Ratings wanted of a rewrite that the study began with."""
        return self.rate.raters or 3

    @property
    def raters_of_rewrites(self) -> int:
        """Ratings wanted of a rewrite that a person of the study wrote."""
        return self.rate.raters or 2


def load_study(path: Path) -> Study:
    """The study that a YAML file describes, with its paths resolved; without a name of its own it
    is called like the file."""
    study = read_yaml(path, Study)
    return _resolved(study if "name" in study.model_fields_set else _named(study, path), path)


def _named(study: Study, path: Path) -> Study:
    return study.model_copy(update={"name": path.stem})


def _resolved(study: Study, path: Path) -> Study:
    folder = path.absolute().parent

    def update(part: Study | Write | Qualification | Controls, *fields: str) -> dict[str, Path]:
        paths = ((field, getattr(part, field)) for field in fields)
        return {field: folder / value for field, value in paths if value is not None}

    changed: dict[str, object] = dict(update(study, "items"))
    if (folder / study.rubric).is_file():
        changed["rubric"] = str(folder / study.rubric)
    if study.write:
        changed["write"] = study.write.model_copy(update=update(study.write, "sources"))
    if study.qualification:
        files = update(study.qualification, "training", "test")
        changed["qualification"] = study.qualification.model_copy(update=files)
    for name in ("attention", "known"):
        if controls := getattr(study, name):
            changed[name] = controls.model_copy(update=update(controls, "items"))
    return study.model_copy(update=changed)
