"""What the commands of a running study share: its file, its database and its secrets."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from parataxis.errors import InputError
from parataxis.studies.items import Item, read_items
from parataxis.studies.rubric import Rubric, load_rubric
from parataxis.studies.study import Study, load_study

if TYPE_CHECKING:
    from parataxis.studies.store import Store

__all__ = ["DatabaseOption", "StudyArgument", "begin", "open_study", "secrets_path"]

StudyArgument = Annotated[
    Path, typer.Argument(metavar="STUDY", show_default=False, help="The YAML file of the study.")
]
DatabaseOption = Annotated[
    str | None,
    typer.Option(
        "--database",
        "-d",
        metavar="FILE | URL",
        show_default=False,
        help="An SQLite file or postgresql://...; else a .db file beside the study.",
    ),
]


def secrets_path(file: Path, database: str | None) -> Path:
    """Where the secrets of a study are: beside its SQLite file, or else beside its YAML file."""
    location = _location(file, database)
    if "://" in location and not location.startswith("sqlite"):
        return file.with_suffix(".secrets")
    return Path(location.removeprefix("sqlite:///")).with_suffix(".secrets")


def begin(
    file: Path, database: str | None, items: Path | None = None
) -> "tuple[Store, Study, Rubric, bool]":
    """The study in its database, which is filled where that is new (and the last value true).

    A description that was changed since is taken over.
    """
    study = load_study(file)
    if items is not None:
        study = study.model_copy(update={"items": items.absolute()})
    rubric = load_rubric(study.rubric)
    store = _open(_location(file, database))
    try:
        if not store.exists:
            found = read_items(study)
            _check_expected(found, rubric)
            store.create(study, found)
            return store, study, rubric, True
        if study.items is None:
            study = study.model_copy(update={"items": store.study.items})
        if study != store.study:
            store.update(study)
    except BaseException:
        store.close()
        raise
    return store, study, rubric, False


def open_study(file: Path, database: str | None) -> "tuple[Store, Study, Rubric]":
    """A study that was created before."""
    location = _location(file, database)
    if "://" not in location and not Path(location).is_file():
        raise InputError(f"There is no database {location} yet; make it with: study create {file}")
    store = _open(location)
    study = store.study
    return store, study, load_rubric(study.rubric)


def _open(location: str) -> "Store":
    from parataxis.studies.store import Store

    return Store.open(location)


def _location(file: Path, database: str | None) -> str:
    return database or str(file.with_suffix(".db"))


def _check_expected(items: list[Item], rubric: Rubric) -> None:
    """Known answers must be answers of the rubric: a typing error would fail every rater."""
    questions = {question.id: question for question in rubric.questions}
    for item in items:
        for name, known in item.expected.items():
            if name not in questions:
                raise InputError(
                    f'The item "{item.id}" expects an answer to "{name}", '
                    f"which the rubric {rubric.name} does not ask."
                )
            for value in known if isinstance(known, list | tuple) else [known]:
                if value is not None and not questions[name].allows(value):
                    raise InputError(
                        f'The item "{item.id}" expects {value!r} for "{name}", which is no answer.'
                    )
