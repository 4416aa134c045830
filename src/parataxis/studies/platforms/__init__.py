"""Crowd platforms: a study as their files, and their results as records of the study."""

from parataxis.studies.platforms.appen import Appen
from parataxis.studies.platforms.files import Platform
from parataxis.studies.platforms.mturk import MTurk

PLATFORMS: dict[str, Platform] = {"mturk": MTurk(), "appen": Appen()}
