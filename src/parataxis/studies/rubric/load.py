"""Rubrics by name or by file. The shipped ones are registered like those of third parties."""

from functools import cache
from importlib.resources import files
from pathlib import Path

from parataxis.errors import InputError
from parataxis.plugins import Installed, Registry
from parataxis.studies.rubric.model import Rubric
from parataxis.studies.texts import in_language
from parataxis.studies.yaml_file import read_yaml

__all__ = [
    "available_rubrics",
    "concise",
    "gms",
    "load_rubric",
    "plain_language",
    "six_criteria",
    "writing",
]


_REGISTRY = Registry("parataxis.rubrics", "rubric", Path, "the path of its file", InputError)
"""An entry point names a function that gives the path of a YAML file."""


def load_rubric(name: str | Path) -> Rubric:
    """An installed rubric by its name, or the rubric of a YAML file.

    A rubric with an error is refused with the line and the reason.
    """
    path = Path(name)
    if path.suffix.lower() in (".yaml", ".yml"):
        return read_yaml(path, Rubric)
    return read_yaml(_REGISTRY.load(str(name)), Rubric)


def available_rubrics() -> list[Installed]:
    """Every installed rubric with its summary."""
    return _REGISTRY.available(lambda path: in_language(read_yaml(path, Rubric).summary, "en"))


@cache
def writing() -> Rubric:
    """What writers are told and asked, as a rubric. It rates nothing, so it is not installed."""
    return read_yaml(_shipped("write"), Rubric)


def _shipped(name: str) -> Path:
    return Path(str(files("parataxis.studies.rubric"))) / "rubrics" / f"{name}.yaml"


def six_criteria() -> Path:
    """The six criteria of Zhang et al. (2020)."""
    return _shipped("six-criteria")


def gms() -> Path:
    """Grammaticality, meaning, simplicity and structural simplicity: the 2019 report."""
    return _shipped("gms")


def concise() -> Path:
    """The conciseness rubric of BrevE/CLaro."""
    return _shipped("concise")


def plain_language() -> Path:
    """The plain-language rubric of BrevE/CLaro."""
    return _shipped("plain-language")
