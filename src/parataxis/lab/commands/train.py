"""``parataxis train``: every step from the data to the files of a model."""

import inspect
import logging
import sys
from collections.abc import Callable, Sequence
from enum import StrEnum
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, Any

import typer

from parataxis.errors import InputError
from parataxis.report import ReportFormat


class Trainable(StrEnum):
    """The models that can be trained."""

    POINTER = "pointer"
    SEQ2SEQ = "seq2seq"
    COPYNET = "copynet"
    ANALYSER = "analyser"
    RANKER = "ranker"
    METRIC = "metric"


class TrainingStep(StrEnum):
    """What can be done alone."""

    EXPORT = "export"
    EVALUATE = "evaluate"
    REWRITE = "rewrite"
    CONFIGS = "configs"
    COLLECT = "collect"
    LABEL = "label"
    TEACH = "teach"
    AVERAGE = "average"
    DEEPEN = "deepen"
    SHRINK = "shrink"
    TUNE = "tune"
    CANDIDATES = "candidates"
    SCORE = "score"


def _option(flag: str, metavar: str, text: str, **more: Any) -> Any:
    return typer.Option(flag, metavar=metavar, help=text, show_default=False, **more)


def train(
    model: Annotated[Trainable, typer.Argument(metavar="MODEL", help="Which model.")],
    files: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="[FILE]...",
            show_default=False,
            help="metric: ratings as CSV. With --only: the weights or the folder to start from.",
        ),
    ] = None,
    only: Annotated[
        TrainingStep | None,
        typer.Option("--only", help="Do one other step instead of training.", show_default=False),
    ] = None,
    data: Annotated[
        list[str] | None,
        _option(
            "--data",
            "DIR | CORPUS",
            "pointer, analyser: the data folder (see docs/pointer.md, docs/analyser.md). ranker: a "
            "folder from --only score, or with --only collect a folder of sentences. seq2seq, "
            "copynet: a corpus, FORMAT:FILE,FILE (see `parataxis corpus formats`). Some can be "
            "repeated.",
        ),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            metavar="PATH",
            show_default=False,
            help="The folder for checkpoints and the exported model, or what --only writes.",
        ),
    ] = None,
    validation: Annotated[
        list[str] | None,
        _option(
            "--validation",
            "CORPUS | DIR",
            "seq2seq, copynet: the corpus that decides when to stop. ranker: held-out examples or, "
            "for --only tune, rewrites. Can be repeated.",
        ),
    ] = None,
    config: Annotated[
        str | None,
        _option(
            "--config",
            "NAME | FILE",
            "A TOML file. seq2seq, copynet: also a name that --only configs lists; the default is "
            "seq2seq-512 or copy-512.",
        ),
    ] = None,
    changes: Annotated[
        list[str] | None,
        _option("--set", "NAME=VALUE", "Change a number of the configuration; can be repeated."),
    ] = None,
    encoder: Annotated[
        Path | None,
        _option(
            "--encoder",
            "PATH",
            "pointer, analyser, ranker: where the encoder starts: the folder of a pretrained model "
            "or, for pointer, the weights of a trained analyser.",
        ),
    ] = None,
    start: Annotated[
        Path | None, _option("--start", "FILE", "pointer: trained weights to start from.")
    ] = None,
    more: Annotated[
        list[Path] | None,
        _option("--more", "FILE", "pointer, ranker: more rewrites as JSONL; can be repeated."),
    ] = None,
    taught: Annotated[
        list[Path] | None,
        _option("--taught", "FILE", "pointer: examples from --only teach; can be repeated."),
    ] = None,
    teacher: Annotated[
        list[Path] | None,
        _option(
            "--teacher",
            "PATH",
            "pointer: trained weights to imitate; can be repeated. ranker: the folder from --only "
            "shrink.",
        ),
    ] = None,
    silver: Annotated[
        Path | None, _option("--silver", "FILE", "analyser: sentences from --only label.")
    ] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Continue an interrupted run.")] = False,
    limit: Annotated[
        int | None,
        _option("--limit", "N", "Use N examples of each kind or corpus: a rehearsal.", min=1),
    ] = None,
    above: Annotated[
        list[int] | None,
        _option(
            "--above",
            "N",
            "pointer --only deepen: add a layer above this one, from 0; can be repeated.",
        ),
    ] = None,
    beam: Annotated[
        int | None, _option("--beam", "N", "--only rewrite: the beam width; default 12.", min=1)
    ] = None,
    splitter: Annotated[
        str | None,
        _option("--splitter", "NAME", "pointer --only evaluate: another splitter."),
    ] = None,
    rewrites: Annotated[
        Path | None,
        _option(
            "--rewrites",
            "FILE",
            "pointer --only evaluate: rewrites of the development set by any system, as JSONL.",
        ),
    ] = None,
    output_format: Annotated[
        ReportFormat | None,
        typer.Option("--format", "-f", help="--only evaluate: how the report is written."),
    ] = None,
    part: Annotated[
        str | None,
        _option("--part", "dev | test", "analyser --only evaluate: which set; default test."),
    ] = None,
    weights: Annotated[
        Path | None,
        _option(
            "--weights", "FILE", "analyser --only evaluate: also score these weights before int8."
        ),
    ] = None,
    references: Annotated[
        list[str] | None,
        _option(
            "--references",
            "CORPUS",
            "metric: references of the sources, to compare it with BLEU and SARI too; can be "
            "repeated.",
        ),
    ] = None,
) -> None:
    """Train a model from data, on a GPU if there is one, and export it.

    Progress goes to standard error. The exported model is in the folder "model" of the output; an
    export that rewrites differently from the trained network is refused. --only does another step:

    pointer: export, evaluate, teach, average, deepen. analyser: export, evaluate, collect, label.
    seq2seq, copynet: export, rewrite, configs. ranker: collect, shrink, tune, candidates, score,
    export.
    """
    given = {name: value for name, value in locals().items() if value not in (None, False)}
    del given["model"]
    steps = _STEPS[model]
    step = steps.get(given.pop("only", None))
    if step is None:
        known = ", ".join(name for name in steps if name) or "nothing"
        raise InputError(f"The model {model.value} has no step {only}; --only takes {known}.")
    if find_spec("torch") is None and model is not Trainable.METRIC:
        raise InputError("Training needs torch; run pip install 'parataxis[train]'.")
    accepted = inspect.signature(step).parameters
    what = f"the step {only.value}" if only else f"the model {model.value}"
    for name in given:
        if name not in accepted:
            raise InputError(f"{_FLAGS.get(name, f'--{name}')} is not for {what}; leave it out.")
    for name, parameter in accepted.items():
        if parameter.default is parameter.empty and name not in (*given, "model"):
            raise InputError(_MISSING.get(name, f"Name --{name} for {what}."))
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s", stream=sys.stderr)
    if "model" in accepted:
        given["model"] = model
    sys.stdout.write(step(**given) or "")


_FLAGS = {"files": "A file", "changes": "--set", "output_format": "--format"}
_MISSING = {
    "validation": "Name a corpus that says when to stop with --validation.",
    "files": "Name the files to work on.",
}


def _folder(data: Sequence[str], model: str) -> Path:
    if len(data) != 1:
        raise InputError(f"The {model} model is trained from one folder; give --data once.")
    folder = Path(data[0])
    if not folder.is_dir():
        raise InputError(f"{folder} is not a folder.")
    return folder


def _one(files: Sequence[Path]) -> Path:
    if len(files) != 1:
        raise InputError(f"This step takes one file, not {len(files)}.")
    return files[0]


def _train_pointer(
    data: Sequence[str],
    output: Path,
    config: str | None = None,
    changes: Sequence[str] = (),
    encoder: Path | None = None,
    start: Path | None = None,
    more: Sequence[Path] = (),
    taught: Sequence[Path] = (),
    teacher: Sequence[Path] = (),
    resume: bool = False,
    limit: int | None = None,
) -> str:
    folder = _folder(data, "pointer")
    from parataxis.lab.pointer.pipeline import CONFIG, PointerRecipe, train_pointer
    from parataxis.lab.training import parse_changes

    recipe = PointerRecipe(
        folder,
        output,
        encoder,
        start,
        more=tuple(more),
        taught=tuple(taught),
        teachers=tuple(teacher),
        config=Path(config) if config else CONFIG,
        changes=parse_changes(changes),
    )
    return _made("pointer", train_pointer(recipe, resume=resume, limit=limit))


def _export_pointer(files: Sequence[Path], output: Path) -> None:
    from parataxis.lab.pointer.export import export

    export(_one(files), output)


def _evaluate_pointer(
    data: Sequence[str],
    splitter: str = "pointer",
    rewrites: Path | None = None,
    output_format: ReportFormat = ReportFormat.TEXT,
) -> str:
    from parataxis.lab.pointer.evaluate import run_evaluation

    found = run_evaluation(_folder(data, "pointer"), splitter, rewrites)
    return found.render(output_format)


def _teach(
    files: Sequence[Path], data: Sequence[str], output: Path, limit: int | None = None
) -> None:
    from parataxis.lab.pointer.pipeline import teach

    teach(_folder(data, "pointer"), files, output, limit=limit)


def _average(files: Sequence[Path], output: Path) -> None:
    from parataxis.lab.pointer.pipeline import average

    average(files, output)


def _deepen(files: Sequence[Path], above: Sequence[int], data: Sequence[str], output: Path) -> None:
    from parataxis.lab.pointer.pipeline import deepen

    deepen(_one(files), above, _folder(data, "pointer"), output)


def _train_lstm(
    model: Trainable,
    data: Sequence[str],
    validation: Sequence[str],
    output: Path,
    config: str | None = None,
    changes: Sequence[str] = (),
    resume: bool = False,
    limit: int | None = None,
) -> str:
    from parataxis.lab.lstm.pipeline import LstmRecipe, train_lstm
    from parataxis.lab.training import parse_changes

    default = {Trainable.SEQ2SEQ: "seq2seq-512", Trainable.COPYNET: "copy-512"}[model]
    recipe = LstmRecipe(data, validation, output, config or default, parse_changes(changes))
    return _made(model, train_lstm(recipe, splitter=model.value, resume=resume, limit=limit))


def _export_lstm(model: Trainable, files: Sequence[Path]) -> str:
    from parataxis.lab.lstm.pipeline import export_run

    return _made(model, export_run(_one(files)))


def _rewrite(
    files: Sequence[Path],
    data: Sequence[str],
    output: Path,
    beam: int = 12,
    limit: int | None = None,
) -> None:
    from parataxis.lab.lstm.datasets import rewrite_corpora

    rewrite_corpora(_one(files), data, output, beam=beam, limit=limit)


def _configs() -> str:
    from parataxis.lab.lstm.config import configurations

    return "".join(f"{name}\n" for name in configurations())


def _train_analyser(
    data: Sequence[str],
    output: Path,
    config: Path | None = None,
    changes: Sequence[str] = (),
    encoder: Path | None = None,
    silver: Path | None = None,
    resume: bool = False,
    limit: int | None = None,
) -> str:
    folder = _folder(data, "analyser")
    from parataxis.lab.analyser.export import export
    from parataxis.lab.analyser.train import CONFIG, read_config, train
    from parataxis.lab.encoder import encoder_folder
    from parataxis.lab.training import parse_changes

    settings = read_config(Path(config) if config else CONFIG, parse_changes(changes))
    start = encoder or encoder_folder()
    weights = train(folder, start, output, settings, resume=resume, limit=limit, silver=silver)
    export(weights, output / "model")
    return _made("analyser", output / "model")


def _export_analyser(files: Sequence[Path], output: Path) -> None:
    from parataxis.lab.analyser.export import export

    export(_one(files), output)


def _evaluate_analyser(
    data: Sequence[str],
    files: Sequence[Path] = (),
    part: str = "test",
    weights: Path | None = None,
    output_format: ReportFormat = ReportFormat.TEXT,
) -> str:
    from parataxis.lab.analyser.export import accuracy_report

    folder, model = _folder(data, "analyser"), _one(files) if files else None
    return accuracy_report(folder, part, model, weights).render(output_format)


def _collect(data: Sequence[str], output: Path) -> None:
    from parataxis.lab.analyser.data import collect

    collect(_folder(data, "analyser"), output)


def _label(files: Sequence[Path], output: Path) -> None:
    if len(files) != 2:
        raise InputError("Name the weights and the file of sentences.")
    from parataxis.lab.analyser.data import label

    weights, sentences = files
    label(weights, sentences, output)


def _train_ranker(
    data: Sequence[str],
    validation: Sequence[str],
    output: Path,
    config: str | None = None,
    changes: Sequence[str] = (),
    encoder: Path | None = None,
    resume: bool = False,
    limit: int | None = None,
) -> str:
    from parataxis.lab.ranker.train import CONFIG, train_ranker
    from parataxis.lab.training import parse_changes

    made = train_ranker(
        [Path(folder) for folder in data],
        [Path(folder) for folder in validation],
        output,
        encoder,
        Path(config) if config else CONFIG,
        parse_changes(changes),
        resume=resume,
        limit=limit,
    )
    return _made("ranker", made)


def _export_ranker(files: Sequence[Path], output: Path) -> None:
    from parataxis.lab.ranker.network import export

    export(_one(files), output)


def _collect_sources(data: Sequence[str], output: Path, more: Sequence[Path] = ()) -> None:
    from parataxis.lab.ranker.candidates import collect_sources

    collect_sources(_folder(data, "ranker"), more, output)


def _shrink(files: Sequence[Path], output: Path) -> None:
    if len(files) < 3:
        raise InputError("Name the GGUF file, its tokenizer.json, and the files of text.")
    from parataxis.lab.ranker.teacher import make_teacher

    weights, tokenizer, *texts = files
    make_teacher(weights, tokenizer, texts, output)


def _tune(files: Sequence[Path], validation: Sequence[str], teacher: Sequence[Path]) -> None:
    from parataxis.lab.ranker.teacher import tune

    tune(_one(teacher), files, [Path(name) for name in validation])


def _find_candidates(
    files: Sequence[Path], teacher: Sequence[Path], output: Path, limit: int | None = None
) -> None:
    from parataxis.lab.ranker.examples import make_candidates

    make_candidates(_one(files), _one(teacher), output, limit)


def _score(files: Sequence[Path], teacher: Sequence[Path]) -> None:
    from parataxis.lab.ranker.teacher import score

    score(_one(teacher), files)


def _fit_metric(
    files: Sequence[Path], references: Sequence[str] = (), output: Path | None = None
) -> str:
    from parataxis.lab.metric import fit_and_report

    return fit_and_report(_one(files), references, output)


def _made(model: str, folder: Path) -> str:
    return f"The {model} model is in {folder}.\n"


_LSTM_STEPS: dict[str | None, Callable[..., str | None]] = {
    None: _train_lstm,
    TrainingStep.EXPORT: _export_lstm,
    TrainingStep.REWRITE: _rewrite,
    TrainingStep.CONFIGS: _configs,
}
_STEPS: dict[Trainable, dict[str | None, Callable[..., str | None]]] = {
    Trainable.POINTER: {
        None: _train_pointer,
        TrainingStep.EXPORT: _export_pointer,
        TrainingStep.EVALUATE: _evaluate_pointer,
        TrainingStep.TEACH: _teach,
        TrainingStep.AVERAGE: _average,
        TrainingStep.DEEPEN: _deepen,
    },
    Trainable.SEQ2SEQ: _LSTM_STEPS,
    Trainable.COPYNET: _LSTM_STEPS,
    Trainable.ANALYSER: {
        None: _train_analyser,
        TrainingStep.EXPORT: _export_analyser,
        TrainingStep.EVALUATE: _evaluate_analyser,
        TrainingStep.COLLECT: _collect,
        TrainingStep.LABEL: _label,
    },
    Trainable.RANKER: {
        None: _train_ranker,
        TrainingStep.COLLECT: _collect_sources,
        TrainingStep.SHRINK: _shrink,
        TrainingStep.TUNE: _tune,
        TrainingStep.CANDIDATES: _find_candidates,
        TrainingStep.SCORE: _score,
        TrainingStep.EXPORT: _export_ranker,
    },
    Trainable.METRIC: {None: _fit_metric},
}
"""What is called for a model and a step; its parameters are the options that the step takes."""
