"""``parataxis study rubrics``: the installed rubrics, or one in full."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from parataxis.cli.tables import plain_table
from parataxis.studies.rubric import Question, Rubric, available_rubrics, load_rubric
from parataxis.studies.texts import in_language

__all__ = ["rubrics"]


def rubrics(
    name: Annotated[
        str | None,
        typer.Argument(
            metavar="[NAME | FILE]",
            show_default=False,
            help="Show this rubric; a file of your own is checked.",
        ),
    ] = None,
    language: Annotated[str, typer.Option("--language", "-l", help="en or es.")] = "en",
) -> None:
    """List the rubrics that raters can be asked by, or show one."""
    if name is None:
        rows = [[one.name, one.problem or one.summary] for one in available_rubrics()]
        sys.stdout.write(plain_table(["rubric", "what it asks"], rows))
    else:
        file = Path(name)
        sys.stdout.write(_shown(load_rubric(file if file.is_file() else name), language))


def _shown(rubric: Rubric, language: str) -> str:
    rows = [
        [question.id, in_language(question.text, language), _answers(question, language)]
        for question in rubric.questions
    ]
    title = f"{in_language(rubric.title, language)} ({rubric.name})"
    outcomes = ", ".join(in_language(o.title or n, language) for n, o in rubric.outcomes.items())
    return f"{title}\n\n{plain_table(['id', 'question', 'answers'], rows)}\nderived: {outcomes}\n"


def _answers(question: Question, language: str) -> str:
    if question.choices:
        return " | ".join(in_language(text, language) for text in question.choices.values())
    if question.numbers:
        return f"{question.numbers[0]} to {question.numbers[-1]}"
    return question.kind.value
