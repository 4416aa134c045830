"""Crowd platforms: a study as their files, and their results as records of the study."""

from parataxis.studies.platforms import appen, mturk
from parataxis.studies.platforms.files import Platform

PLATFORMS: dict[str, Platform] = {"mturk": mturk, "appen": appen}
