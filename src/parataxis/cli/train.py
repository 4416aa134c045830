"""``parataxis train``: train a model from the data again, and export it."""

import logging
import sys
from enum import StrEnum
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated

import typer

from parataxis.errors import InputError

__all__ = ["train"]


class Trainable(StrEnum):
    """The models that can be trained."""

    POINTER = "pointer"


def train(
    model: Annotated[Trainable, typer.Argument(metavar="MODEL", help="Which model.")],
    data: Annotated[
        Path,
        typer.Option(
            "--data", metavar="DIR", help="The folder with rewrites/, minwiki/ and wikisplit/."
        ),
    ],
    output: Annotated[
        Path,
        typer.Option(
            "--output",
            "-o",
            metavar="DIR",
            help="Where examples, checkpoints and the exported model go.",
        ),
    ],
    encoder: Annotated[
        Path | None,
        typer.Option(
            "--encoder",
            metavar="PATH",
            help="Where the encoder starts: the weights of a trained analyser, or a folder with a "
            "pretrained model.",
        ),
    ] = None,
    more: Annotated[
        list[Path] | None,
        typer.Option(
            "--more", metavar="FILE", help="More rewrites as JSONL; may be given several times."
        ),
    ] = None,
    taught: Annotated[
        list[Path] | None,
        typer.Option(
            "--taught", metavar="FILE", help="Examples that teachers wrote; several times."
        ),
    ] = None,
    teacher: Annotated[
        list[Path] | None,
        typer.Option(
            "--teacher", metavar="FILE", help="Trained weights to imitate; several times."
        ),
    ] = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on with an interrupted run.")
    ] = False,
    limit: Annotated[
        int | None,
        typer.Option(
            "--limit", min=1, metavar="N", help="So many examples of each kind: a rehearsal."
        ),
    ] = None,
) -> None:
    """Train a model from the data, on a GPU if there is one, and export it.

    Progress goes to standard error. The exported model is in the folder "model" of the output; an
    export that rewrites otherwise than the trained network is refused.
    """
    if find_spec("torch") is None:
        raise InputError("Training needs torch; run pip install 'parataxis[train]'.")
    if not data.is_dir():
        raise InputError(f"{data} is not a folder.")
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s", stream=sys.stderr)
    from parataxis.training.pointer.pipeline import Recipe, train_pointer

    recipe = Recipe(
        data,
        output,
        encoder,
        more=tuple(more or ()),
        taught=tuple(taught or ()),
        teachers=tuple(teacher or ()),
    )
    folder = train_pointer(recipe, resume=resume, limit=limit)
    sys.stdout.write(f"The {model.value} model is in {folder}.\n")
