"""A study as one YAML file: what is written and rated, by how many people, and on what terms.

Only ``rubric`` is required, and ``items`` or ``write`` to have something to do. Paths are relative
to the file.
"""

from enum import StrEnum
from pathlib import Path
from typing import Annotated, Self

from pydantic import Field, StringConstraints, model_validator

from parataxis.studies.records import Purpose, Text
from parataxis.studies.yaml_files import YamlPart, read_yaml

Name = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=200)]


class ItemKind(StrEnum):
    """What people do with an item."""

    WRITE = "write"
    RATE = "rate"


class Role(StrEnum):
    """What a person does in a study."""

    WRITER = "writer"
    RATER = "rater"
    BOTH = "both"
    """Writes while there is something to write, then rates what others wrote."""
    EXPERT = "expert"
    """Rates a sample; these ratings are separate from those of the raters."""


class OnFailure(StrEnum):
    """What happens to a person who fails too many control items."""

    WARN = "warn"
    """The organiser and the person are told."""
    BLOCK = "block"
    """The person gets no more tasks; earlier work counts."""
    VOID = "void"
    """The person gets no more tasks, and others do all their work again."""


class Write(YamlPart):
    """The first phase: people write rewrites."""

    sources: Path
    """JSON lines with a "source" or "complex", TSV or CSV (column "source", or the first), or a
    text file with one sentence per line."""
    writers: int = Field(default=3, ge=1)
    """Rewrites wanted of each source (Zhang et al. 2020, §4.2.1)."""
    sentences: int = Field(default=2, ge=1)
    """The fewest sentences of a rewrite."""
    per_person: int | None = Field(default=None, ge=1)
    """The most rewrites that one person may write."""


class Rate(YamlPart):
    """The second phase: people rate rewrites."""

    raters: int | None = Field(default=None, ge=1)
    """Ratings wanted of each rewrite. The default is 2 for rewrites by participants (Zhang et al.
    2020, §4.2.2) and 3 for those in ``items`` (§5)."""
    per_person: int | None = Field(default=None, ge=1)
    """The most ratings that one person may give."""


class Qualification(YamlPart):
    """What a rater does first: items with feedback, then a test. Both are files like ``items``
    whose lines also have ``expected`` (answers by question) and optionally ``feedback``."""

    training: Path | None = None
    test: Path | None = None
    pass_mark: float = Field(default=0.8, ge=0, le=1)
    """The share of test items that must be answered as expected."""
    attempts: int = Field(default=2, ge=1)
    tolerance: float = Field(default=0, ge=0)
    """How far a number may be from the expected one."""

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.training is None and self.test is None:
            raise ValueError("a qualification needs training, test, or both")
        return self


class Controls(YamlPart):
    """Items with known answers, mixed in with the others: a file like those of the
    qualification."""

    items: Path
    every: int = Field(default=10, ge=1)
    """One comes, at a random place, in each stretch of so many items."""
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


class BackgroundQuestion(YamlPart):
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


class Panel(YamlPart):
    """How people of a panel arrive, by a URL with parameters, and leave, with a code."""

    parameters: dict[str, Name] = Field(
        default_factory=lambda: {
            "person": "PROLIFIC_PID",
            "study": "STUDY_ID",
            "session": "SESSION_ID",
        }
    )
    """The panel's names of the parameters; "person" identifies the person, others are stored."""
    role: Role = Role.RATER
    completion_code: str | None = None
    completion_url: str | None = Field(default=None, pattern=r"^https?://")

    @model_validator(mode="after")
    def _check(self) -> Self:
        if "person" not in self.parameters:
            raise ValueError('"parameters" must say which one is the "person"')
        return self


class Payment(YamlPart):
    """What the work costs."""

    per_rewrite: float = Field(default=0, ge=0)
    per_rating: float = Field(default=0, ge=0)
    fee: float = Field(default=0, ge=0)
    """What the platform adds, as a share: 0.25 is 25 %."""
    currency: str = "USD"


class Study(YamlPart):
    """The description of a study; read by :func:`load_study`."""

    name: Name = "study"
    rubric: Name
    """The name of an installed rubric, or the path of one."""
    languages: tuple[str, ...] = Field(default=("en", "es"), min_length=1)
    """The languages of the pages; the first one is the default."""
    url: str | None = Field(default=None, pattern=r"^https?://")
    """The address of the pages; links begin with it."""
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
    """How long a task is reserved for a person who is inactive."""
    payment: Payment | None = None

    @model_validator(mode="after")
    def _check(self) -> Self:
        ids = [question.id for question in self.background]
        if len(set(ids)) < len(ids):
            raise ValueError("two questions of the background form have the same id")
        return self

    @property
    def rubric_name(self) -> str:
        """The name of the rubric in ratings; without the folder, if it is a path."""
        path = Path(self.rubric)
        return path.stem if path.suffix in {".yaml", ".yml"} else self.rubric

    @property
    def per_person(self) -> dict[ItemKind, int | None]:
        """The most that one person may do; None if there is no limit."""
        written = self.write.per_person if self.write else None
        return {ItemKind.WRITE: written, ItemKind.RATE: self.rate.per_person}

    @property
    def raters_of_items(self) -> int:
        """Ratings wanted of a rewrite in ``items``."""
        return self.rate.raters or 3

    @property
    def raters_of_rewrites(self) -> int:
        """Ratings wanted of a rewrite by a participant."""
        return self.rate.raters or 2

    def controls(self, purpose: Purpose) -> Controls | None:
        """The settings of the control items with that purpose."""
        return {Purpose.ATTENTION: self.attention, Purpose.KNOWN: self.known}.get(purpose)


def load_study(path: Path) -> Study:
    """Read the study in a YAML file, and resolve its paths. Its default name is the file's."""
    study = read_yaml(path, Study)
    if "name" not in study.model_fields_set:
        study = study.model_copy(update={"name": path.stem})
    folder = path.absolute().parent
    changed: dict[str, object] = {}
    if (folder / study.rubric).is_file():
        changed["rubric"] = str(folder / study.rubric)
    if study.items:
        changed["items"] = folder / study.items
    for name in ("write", "qualification", "attention", "known"):
        part = getattr(study, name)
        paths = {key: folder / value for key, value in part or () if isinstance(value, Path)}
        if paths:
            changed[name] = part.model_copy(update=paths)
    return study.model_copy(update=changed)
