"""``parataxis train``: train a model from data, and export it."""

import logging
import sys
from collections.abc import Mapping, Sequence
from enum import StrEnum
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated

import typer

from parataxis.errors import InputError


class Trainable(StrEnum):
    """The models that can be trained."""

    POINTER = "pointer"
    SEQ2SEQ = "seq2seq"
    COPYNET = "copynet"


def train(
    model: Annotated[Trainable, typer.Argument(metavar="MODEL", help="Which model.")],
    data: Annotated[
        list[str],
        typer.Option(
            "--data",
            metavar="DIR | CORPUS",
            help="pointer: the folder with rewrites/, minwiki/ and wikisplit/. seq2seq, copynet: a "
            "corpus, FORMAT:FILE,FILE (see `parataxis corpus formats`); may be given several "
            "times.",
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
    validation: Annotated[
        list[str] | None,
        typer.Option(
            "--validation",
            metavar="CORPUS",
            help="seq2seq, copynet: the corpus that says when to stop; several times.",
        ),
    ] = None,
    config: Annotated[
        str | None,
        typer.Option(
            "--config",
            metavar="NAME | FILE",
            help="seq2seq, copynet: seq2seq-128, -256 or -512, copy-128, -256 or -512, lstm-ag18, "
            "split-seq2seq, or a TOML file; seq2seq-512 or copy-512 where none is named.",
        ),
    ] = None,
    change: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="NAME=VALUE",
            help="seq2seq, copynet: change a number of the configuration; several times.",
        ),
    ] = None,
    encoder: Annotated[
        Path | None,
        typer.Option(
            "--encoder",
            metavar="PATH",
            help="pointer: where the encoder starts: the weights of a trained analyser, or a "
            "folder with a pretrained model.",
        ),
    ] = None,
    more: Annotated[
        list[Path] | None,
        typer.Option(
            "--more", metavar="FILE", help="pointer: more rewrites as JSONL; several times."
        ),
    ] = None,
    taught: Annotated[
        list[Path] | None,
        typer.Option(
            "--taught", metavar="FILE", help="pointer: examples that teachers wrote; several times."
        ),
    ] = None,
    teacher: Annotated[
        list[Path] | None,
        typer.Option(
            "--teacher", metavar="FILE", help="pointer: trained weights to imitate; several times."
        ),
    ] = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on with an interrupted run.")
    ] = False,
    limit: Annotated[
        int | None,
        typer.Option(
            "--limit",
            min=1,
            metavar="N",
            help="So many examples of each kind or corpus: a rehearsal.",
        ),
    ] = None,
) -> None:
    """Train a model from data, on a GPU if there is one, and export it.

    Progress goes to standard error. The exported model is in the folder "model" of the output; an
    export that rewrites otherwise than the trained network is refused.
    """
    if find_spec("torch") is None:
        raise InputError("Training needs torch; run pip install 'parataxis[train]'.")
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s", stream=sys.stderr)
    if model is Trainable.POINTER:
        _refuse(model, {"--validation": validation, "--config": config, "--set": change})
        folder = _train_pointer(
            data, output, encoder, more or [], taught or [], teacher or [], resume, limit
        )
    else:
        own = {"--encoder": encoder, "--more": more, "--taught": taught, "--teacher": teacher}
        _refuse(model, own)
        folder = _train_lstm(
            model, data, validation or [], output, config, change or [], resume, limit
        )
    sys.stdout.write(f"The {model.value} model is in {folder}.\n")


def _refuse(model: Trainable, options: Mapping[str, object]) -> None:
    """Refuse options that are not for this model, which would else be left out in silence."""
    for name, value in options.items():
        if value:
            raise InputError(f"{name} is not for the model {model.value}; leave it out.")


def _train_pointer(
    data: Sequence[str],
    output: Path,
    encoder: Path | None,
    more: Sequence[Path],
    taught: Sequence[Path],
    teachers: Sequence[Path],
    resume: bool,
    limit: int | None,
) -> Path:
    if len(data) != 1:
        raise InputError("The pointer model is trained from one folder; give --data once.")
    if not Path(data[0]).is_dir():
        raise InputError(f"{data[0]} is not a folder.")
    from parataxis.lab.pointer.pipeline import PointerRecipe, train_pointer

    recipe = PointerRecipe(
        Path(data[0]),
        output,
        encoder,
        more=tuple(more),
        taught=tuple(taught),
        teachers=tuple(teachers),
    )
    return train_pointer(recipe, resume=resume, limit=limit)


def _train_lstm(
    model: Trainable,
    data: Sequence[str],
    validation: Sequence[str],
    output: Path,
    config: str | None,
    changes: Sequence[str],
    resume: bool,
    limit: int | None,
) -> Path:
    if not validation:
        raise InputError("Name a corpus that says when to stop with --validation.")
    from parataxis.lab.lstm.config import parse_changes
    from parataxis.lab.lstm.pipeline import LstmRecipe, train_lstm

    default = {Trainable.SEQ2SEQ: "seq2seq-512", Trainable.COPYNET: "copy-512"}[model]
    recipe = LstmRecipe(data, validation, output, config or default, parse_changes(changes))
    return train_lstm(recipe, splitter=model.value, resume=resume, limit=limit)
