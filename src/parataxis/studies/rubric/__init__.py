"""Rubrics as data: what raters are asked, and what follows from their answers."""

from parataxis.studies.rubric.answers import applicable, complete, outcomes, problems
from parataxis.studies.rubric.load import available_rubrics, load_rubric, writing
from parataxis.studies.rubric.model import Kind, Outcome, Question, Rubric

__all__ = [
    "Kind",
    "Outcome",
    "Question",
    "Rubric",
    "applicable",
    "available_rubrics",
    "complete",
    "load_rubric",
    "outcomes",
    "problems",
    "writing",
]
