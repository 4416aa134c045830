"""``parataxis train``: every step from the data to the files of a model."""

import inspect
import logging
import sys
from collections.abc import Callable, Iterable
from enum import StrEnum
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from parataxis.cli.options import OptionalCount, documented
from parataxis.errors import InputError
from parataxis.report import ReportFormat

Trainable = StrEnum("Trainable", "pointer seq2seq copynet analyser verifier metric")
TrainingStep = StrEnum(
    "TrainingStep",
    "export evaluate rewrite configs collect label shrink tune candidates score confidence",
)


@documented
def train(
    model: Trainable,
    files: list[Path] | None = None,
    only: TrainingStep | None = None,
    data: list[str] | None = None,
    output: Path | None = None,
    validation: list[str] | None = None,
    config: str | None = None,
    set_: list[str] | None = None,
    encoder: Path | None = None,
    start: Path | None = None,
    more: list[Path] | None = None,
    taught: list[Path] | None = None,
    teacher: Path | None = None,
    silver: Path | None = None,
    resume: bool = False,
    limit: OptionalCount = None,
    beam: OptionalCount = None,
    splitter: str | None = None,
    rewrites: Path | None = None,
    format_: ReportFormat | None = None,
    part: str | None = None,
    weights: Path | None = None,
    references: list[str] | None = None,
) -> None:
    """Train a model from data, on a GPU if there is one, and export it.

    Progress goes to standard error. The exported model is in the folder "model" of the output; an
    export that rewrites differently from the trained network is refused. --only does another step:

    pointer: export, evaluate, confidence. analyser: export, evaluate, collect, label. seq2seq,
    copynet: export,
    rewrite, configs. verifier: collect, shrink, tune, label, candidates, score, export.

    Options:
    MODEL: Which model.
    [FILE]...: metric: ratings as CSV. With --only: the weights or the folder to start from, or for
        confidence the judgements that it is fitted to, as JSONL.
    --only: Do one other step instead of training.
    --data DIR | CORPUS: pointer, analyser: the data folder (see docs/pointer.md,
        docs/analyser.md). verifier: a folder from --only score, or rewrites or judgements as
        JSONL; with --only collect a folder of sentences. seq2seq, copynet: a corpus,
        FORMAT:FILE,FILE (see `parataxis corpus formats`). Some can be repeated.
    --output, -o PATH: The folder for checkpoints and the exported model, or what --only writes.
    --validation CORPUS | DIR: seq2seq, copynet: the corpus that decides when to stop. verifier:
        held-out data or, for --only tune, rewrites. Can be repeated.
    --config NAME | FILE: A TOML file. seq2seq, copynet: also a name that --only configs lists; the
        default is seq2seq-512 or copy-512.
    --set NAME=VALUE: Change a number of the configuration; can be repeated.
    --encoder PATH: pointer, analyser: train a new model on this encoder: the folder of a pretrained
        model or, for pointer, the weights of a trained analyser.
    --start PATH: pointer, verifier: weights or ONNX files to continue from; default: the shipped
        ones. verifier --only tune: adapters.
    --more FILE: pointer, verifier --only collect: more rewrites as JSONL; can be repeated. pointer:
        also judgements of rewrites.
    --taught PATH: pointer: rewrites by the teacher, a file or the folder from `verifier --only
        label` or `--only score`. verifier --only score: the former, as more candidates. Can be
        repeated.
    --teacher DIR: verifier: the folder from --only shrink.
    --silver FILE: analyser: sentences from --only label.
    --resume: Continue an interrupted run.
    --limit N: Use only N examples of each kind or corpus, for a trial run.
    --beam N: --only rewrite: the beam width; default 12.
    --splitter NAME: pointer --only evaluate: another splitter.
    --rewrites FILE: pointer --only evaluate: rewrites of the development set by any system, as
        JSONL.
    --format, -f: --only evaluate: how the report is written.
    --part dev | test: analyser --only evaluate: which set; default test.
    --weights FILE: analyser --only evaluate: also score these weights before int8.
    --references CORPUS: metric: references of the sources, to compare it with BLEU and SARI too;
        can be repeated.
    """
    given = {name: value for name, value in locals().items() if value not in (None, False)}
    given.pop("only", None)
    steps = _steps(model)
    step = steps.get(only)
    if step is None:
        known = ", ".join(name for name in steps if name) or "nothing"
        raise InputError(f"The model {model} has no step {only}; --only takes {known}.")
    what = f"the step {only}" if only else f"the model {model}"
    parameters = inspect.signature(step).parameters
    accepted = {"model", *(_OPTIONS.get(name, name) for name in parameters)}
    for name in given:
        if name not in accepted:
            flag = "A file" if name == "files" else f"--{name.rstrip('_')}"
            raise InputError(f"{flag} is not for {what}; leave it out.")
    arguments = {}
    for name, parameter in parameters.items():
        option = _OPTIONS.get(name, name)
        if option in given:
            arguments[name] = _converted(name, given[option], model)
        elif parameter.default is parameter.empty:
            raise InputError(_MISSING.get(option, f"Name --{option} for {what}."))
    start_log()
    found = step(**arguments)
    made = f"The {model} model is in {found}.\n" if isinstance(found, Path) else found
    sys.stdout.write(made or "")


_OPTIONS = {"file": "files", "folder": "data", "changes": "set_", "output_format": "format_"}
"""The options behind parameters of steps that have another name."""
_MISSING = {
    "validation": "Name a corpus that says when to stop with --validation.",
    "files": "Name the files to work on.",
}


def _steps(model: Trainable) -> dict[str | None, Callable[..., str | Path | None]]:
    if model is Trainable.metric:
        from parataxis.lab.metric import fit_and_report

        return {None: fit_and_report}
    if find_spec("torch") is None:
        raise InputError("Training needs torch; run pip install 'parataxis[train]'.")
    from parataxis.lab.commands.steps import STEPS  # slow, and needs torch

    return STEPS[model]


def _converted(name: str, value: Any, model: Trainable) -> object:
    if name == "file" and len(value) != 1:
        raise InputError(f"This step takes one file, not {len(value)}.")
    if name == "file":
        return value[0]
    if name == "changes":
        return parse_changes(value)
    if name != "folder":
        return value
    if len(value) != 1:
        raise InputError(f"The {model} model is trained from one folder; give --data once.")
    folder = Path(value[0])
    if not folder.is_dir():
        raise InputError(f"{folder} is not a folder.")
    return folder


def start_log() -> None:
    """Write the progress of training to standard error."""
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s", stream=sys.stderr)


def parse_changes(words: Iterable[str]) -> dict[str, str]:
    """Parse settings that are written as NAME=VALUE.

    >>> parse_changes(["epochs=3", "sizes.width=64"])
    {'epochs': '3', 'sizes.width': '64'}
    """
    changes = {}
    for word in words:
        name, equals, value = word.partition("=")
        if not (name and equals):
            raise InputError(f'A setting is changed as NAME=VALUE, not "{word}".')
        changes[name] = value
    return changes
