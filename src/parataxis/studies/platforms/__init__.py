"""Crowd platforms: a study as their files, and their results as records of the study."""

from parataxis.studies.platforms.appen import Appen
from parataxis.studies.platforms.files import (
    Design,
    Platform,
    PlatformResults,
    Pseudonyms,
    key_file,
    shuffled,
)
from parataxis.studies.platforms.mturk import MTurk
from parataxis.studies.platforms.results import Brought, ratings_of, rewrites_of

__all__ = [
    "PLATFORMS",
    "Brought",
    "Design",
    "Platform",
    "PlatformResults",
    "Pseudonyms",
    "key_file",
    "ratings_of",
    "rewrites_of",
    "shuffled",
]

PLATFORMS: dict[str, Platform] = {each.name: each for each in (MTurk(), Appen())}
