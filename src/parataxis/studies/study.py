"""A study as one YAML file: what is written and rated, by how many people, and on what terms.

Only ``rubric`` is required, and ``items`` or ``write`` to have something to do. Paths are relative
to the file.
"""

import hashlib
from collections.abc import Iterator, Mapping
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, Self

from pydantic import Field, StringConstraints, model_validator

from parataxis.errors import InputError
from parataxis.studies.records import Purpose, Text
from parataxis.studies.rubric import Case, Rubric
from parataxis.studies.yaml_files import YamlPart, read_yaml

Count = Annotated[int, Field(ge=1, le=1000)]
Limit = Annotated[int | None, Field(ge=1, le=1_000_000)]
Price = Annotated[float, Field(ge=0, le=1_000_000, allow_inf_nan=False)]
Seconds = Annotated[float, Field(ge=0, le=3600, allow_inf_nan=False)]
Tolerance = Annotated[float, Field(ge=0, le=1000, allow_inf_nan=False)]
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


class Qualification(YamlPart):
    """What a person does first: items with feedback, then a test. Both are files whose lines have
    ``expected`` and optionally ``feedback``: for raters files like ``items`` with the expected
    answers, for writers sources with what is expected of their rewrite."""

    training: Path | None = None
    test: Path | None = None
    pass_mark: float = Field(default=0.8, ge=0, le=1)
    """The share of test items that must be answered as expected."""
    attempts: int = Field(default=2, ge=1, le=100)
    tolerance: Tolerance = 0
    """How far a number may be from the expected one."""

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.training is None and self.test is None:
            raise ValueError("a qualification needs training, test, or both")
        return self


class Write(YamlPart):
    """The first phase: people write rewrites."""

    sources: Path
    """JSON lines with a "source" or "complex", TSV or CSV (column "source", or the first), or a
    text file with one sentence per line. A field or column "hard" marks sources with a bonus."""
    writers: Count = 3
    """Rewrites wanted of each source (Zhang et al. 2020, §4.2.1)."""
    sentences: Count = 2
    """The fewest sentences of a rewrite."""
    per_person: Limit = None
    """The most rewrites that one person may write."""
    least_seconds: Seconds = 0
    """People who need less for a rewrite are flagged."""
    instructions: Text | None = None
    """The rules for writers, instead of the shipped ones; each paragraph is one."""
    examples: tuple[Case, ...] = ()
    """Examples for writers, instead of the shipped ones."""
    qualification: Qualification | None = None


class Rate(YamlPart):
    """The second phase: people rate rewrites."""

    raters: Count | None = None
    """Ratings wanted of each rewrite. The default is 2 for rewrites by participants (Zhang et al.
    2020, §4.2.2) and 3 for those in ``items`` (§5)."""
    per_person: Limit = None
    """The most ratings that one person may give."""
    least_seconds: Seconds = 0
    """People who need less for a rating are flagged."""
    own_sources: bool = False
    """Whether people may rate rewrites of sources that they rewrote themselves."""


class Controls(YamlPart):
    """Items with known answers, mixed in with the others: a file like those of the
    qualification."""

    items: Path
    every: int = Field(default=10, ge=1, le=1_000_000)
    """One comes, at a random place, in each stretch of so many items."""
    tolerance: Tolerance = 0
    allowed: int = Field(default=0, ge=0, le=1_000_000)
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
    low: int | None = Field(default=None, ge=-(10**9), le=10**9)
    high: int | None = Field(default=None, ge=-(10**9), le=10**9)

    @property
    def bounds(self) -> tuple[int, int]:
        """The least and the greatest number that can be answered."""
        return 0 if self.low is None else self.low, 9999 if self.high is None else self.high

    @model_validator(mode="after")
    def _check(self) -> Self:
        if (self.kind is BackgroundKind.CHOICE) != bool(self.choices):
            raise ValueError("a question has choices if, and only if, its kind is choice")
        is_bound = self.low is not None or self.high is not None
        if is_bound and self.kind is not BackgroundKind.NUMBER:
            raise ValueError("only a number has bounds")
        if self.bounds[1] < self.bounds[0]:
            raise ValueError("the highest number must not be below the lowest")
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
    screen_out_code: str | None = None
    """For people who did not pass the test, were blocked, or came when nothing was left to do."""
    screen_out_url: str | None = Field(default=None, pattern=r"^https?://")

    @model_validator(mode="after")
    def _check(self) -> Self:
        if "person" not in self.parameters:
            raise ValueError('"parameters" must say which one is the "person"')
        return self


class Payment(YamlPart):
    """What the work costs."""

    per_rewrite: Price = 0
    per_hard: Price = 0
    """The bonus for a rewrite of a hard source, on top of ``per_rewrite``."""
    per_rating: Price = 0
    fee: float = Field(default=0, ge=0, le=10)
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
    lease_minutes: float = Field(default=30, gt=0, le=525_600)
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

    @property
    def keeps_apart(self) -> bool:
        """Whether nobody rates rewrites of sources that they rewrote."""
        return self.write is not None and not self.rate.own_sources

    def controls(self, purpose: Purpose) -> Controls | None:
        return {Purpose.ATTENTION: self.attention, Purpose.KNOWN: self.known}.get(purpose)

    def qualification_of(self, kind: str) -> Qualification | None:
        if kind == ItemKind.WRITE:
            return self.write.qualification if self.write else None
        return self.qualification

    def least_seconds(self, kind: str) -> float:
        part = self.write if kind == ItemKind.WRITE else self.rate
        return part.least_seconds if part else 0


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
        changed[name] = _resolved(getattr(study, name), folder)
    return study.model_copy(update=changed)


def _resolved(part: YamlPart | None, folder: Path) -> YamlPart | None:
    if part is None:
        return None
    paths: dict[str, object] = {
        key: folder / value if isinstance(value, Path) else _resolved(value, folder)
        for key, value in part
        if isinstance(value, Path | Qualification)
    }
    return part.model_copy(update=paths)


# --- Changes after a study was created

_FREE = (
    *("name", "url", "languages", "instructions", "panel", "payment", "lease_minutes"),
    *("write.per_person", "write.least_seconds", "write.instructions", "write.examples"),
    *("rate.per_person", "rate.least_seconds"),
)
"""What may change while people work: nothing of it decides what is asked, of whom, how often."""
_RUBRIC = "rubric"


def digests(study: Study, rubric: Rubric) -> dict[str, str]:
    """A digest of what raters are asked, and of each file of a study that can be read."""
    found = {_RUBRIC: _digest(rubric.asked().encode())}
    for name, path in _files(study):
        if path.is_file():
            found[name] = _digest(path.read_bytes())
    return found


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _files(part: YamlPart, prefix: str = "") -> Iterator[tuple[str, Path]]:
    for name, value in part:
        if isinstance(value, Path):
            yield f"{prefix}{name}", value
        elif isinstance(value, YamlPart):
            yield from _files(value, f"{prefix}{name}.")


def refuse_changes(
    stored: Mapping[str, Any],
    files: Mapping[str, str] | None,
    now: Study,
    rubric: Rubric,
) -> None:
    """InputError if anything that decides the results differs from the stored description, or if
    one of the files has changed. Settings that an older version did not know had their defaults."""
    paths = {name for name, _ in _files(now)} | {_RUBRIC}
    known_now = Study.model_validate(stored).model_dump(mode="json")
    for name, before, after in _changes(known_now, now.model_dump(mode="json")):
        is_file = before is not None and name in paths  # which is compared below
        if not is_file and not name.startswith(_FREE):
            raise InputError(f"{_said(name, before, after)}; {_FIXED}")
    known, found = files or {}, digests(now, rubric)
    given_items = stored.get("items")
    if given_items and Path(given_items).is_file():  # perhaps those of: create --items
        own = _digest(Path(given_items).read_bytes())
        found["items"] = own if own == known.get("items") else found.get("items", own)
    for name in known:
        if name in found and found[name] != known[name]:
            what = f'The rubric "{rubric.name}"' if name == _RUBRIC else f'The file of "{name}"'
            raise InputError(f"{what} is not the one that the study was created with; {_FIXED}")
    if not known and Path(str(stored[_RUBRIC])).stem != Path(now.rubric).stem:
        raise InputError(f'The rubric "{rubric.name}" is not that of the study; {_FIXED}')


_FIXED = "put it back, or create a new study with another database."


def _said(name: str, before: object, after: object) -> str:
    if all(
        value is None or isinstance(value, bool | int | float | str) for value in (before, after)
    ):
        shown = ["unset" if value is None else f'"{value}"' for value in (before, after)]
        if all(len(each) < 40 for each in shown):
            return f'"{name}" was {shown[0]} when the study was created, and is {shown[1]} now'
    return f'"{name}" is not what it was when the study was created'


def _changes(before: Any, after: Any, name: str = "") -> Iterator[tuple[str, Any, Any]]:
    """The names of settings that differ, with both values."""
    if isinstance(before, dict) and isinstance(after, dict):
        for key in before | after:
            new = f"{name}.{key}" if name else key
            yield from _changes(before.get(key), after.get(key), new)
    elif isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        for place, value in enumerate(before):
            yield from _changes(value, after[place], f"{name}.{place}")
    elif before != after:
        yield name, before, after
