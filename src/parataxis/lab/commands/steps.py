"""The steps of ``parataxis train``: the parameters of each are the options that it takes.

``folder`` stands for the one folder of ``--data``, and ``file`` for the one file among the
arguments. A path that a step returns is the folder of the model that it made.
"""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from parataxis.errors import InputError
from parataxis.evaluate.corpora.example import gather
from parataxis.lab.analyser import train as analyser
from parataxis.lab.analyser.data import collect, label
from parataxis.lab.analyser.export import accuracy_report
from parataxis.lab.analyser.export import export as export_analyser
from parataxis.lab.encoder import encoder_folder
from parataxis.lab.lstm.data import read_corpora
from parataxis.lab.lstm.datasets import rewrite_examples
from parataxis.lab.lstm.pipeline import export_run, train_lstm
from parataxis.lab.lstm.train import configurations
from parataxis.lab.pointer import pipeline as pointer
from parataxis.lab.pointer.confidence import fit_confidence
from parataxis.lab.pointer.evaluate import run_evaluation
from parataxis.lab.pointer.export import export as export_pointer
from parataxis.lab.verifier import train as verifier
from parataxis.lab.verifier.candidates import collect_sources, make_candidates
from parataxis.lab.verifier.label import label as label_rewrites
from parataxis.lab.verifier.network import export as export_verifier
from parataxis.lab.verifier.teacher import make_teacher, score, tune
from parataxis.report import ReportFormat
from parataxis.syntax.onnx import shipped_folder

Step = Callable[..., str | Path | None]
TEXT = ReportFormat.TEXT


def _train_pointer(
    folder: Path,
    output: Path,
    config: str | None = None,
    changes: Mapping[str, str] | None = None,
    encoder: Path | None = None,
    start: Path | None = None,
    more: Sequence[Path] = (),
    taught: Sequence[Path] = (),
    resume: bool = False,
    limit: int | None = None,
) -> Path:
    recipe = pointer.PointerRecipe(
        *(folder, output, encoder, start or shipped_folder("pointer"), more, taught),
        config=Path(config) if config else pointer.CONFIG,
        changes=changes or {},
    )
    return pointer.train_pointer(recipe, resume=resume, limit=limit)


def _train_analyser(
    folder: Path,
    output: Path,
    config: str | None = None,
    changes: Mapping[str, str] | None = None,
    encoder: Path | None = None,
    silver: Path | None = None,
    resume: bool = False,
    limit: int | None = None,
) -> Path:
    settings = analyser.read_config(Path(config) if config else analyser.CONFIG, changes)
    start = encoder or encoder_folder()
    weights = analyser.train(
        folder, start, output, settings, resume=resume, limit=limit, silver=silver
    )
    export_analyser(weights, output / "model")
    return output / "model"


def _label(files: Sequence[Path], output: Path) -> None:
    if len(files) != 2:
        raise InputError("Name the weights and the file of sentences.")
    label(files[0], files[1], output)


def _train_verifier(
    data: Sequence[str],
    validation: Sequence[str],
    output: Path,
    config: str | None = None,
    changes: Mapping[str, str] | None = None,
    start: Path | None = None,
    resume: bool = False,
    limit: int | None = None,
) -> Path:
    settings = Path(config) if config else verifier.CONFIG
    return verifier.train_verifier(
        *(list(map(Path, data)), list(map(Path, validation)), output, start, settings, changes),
        resume=resume,
        limit=limit,
    )


def _shrink(files: Sequence[Path], output: Path) -> None:
    if len(files) < 3:
        raise InputError("Name the GGUF file, its tokenizer.json, and the files of text.")
    model, tokenizer, *texts = files
    make_teacher(model, tokenizer, texts, output)


_LSTM_STEPS: dict[str | None, Step] = {
    None: train_lstm,
    "export": lambda file: export_run(file),
    "rewrite": lambda file, data, output, beam=12, limit=None: rewrite_examples(
        file, gather(read_corpora(data, limit)), output, beam=beam, name=", ".join(data)
    ),
    "configs": lambda: "".join(f"{name}\n" for name in configurations()),
}
STEPS: dict[str, dict[str | None, Step]] = {
    "pointer": {
        None: _train_pointer,
        "export": lambda file, output: export_pointer(file, output),
        "evaluate": lambda folder, splitter="pointer", rewrites=None, output_format=TEXT: (
            run_evaluation(folder, splitter, rewrites).render(output_format)
        ),
        "confidence": lambda files, limit=None: fit_confidence(files, limit),
    },
    "seq2seq": _LSTM_STEPS,
    "copynet": _LSTM_STEPS,
    "analyser": {
        None: _train_analyser,
        "export": lambda file, output: export_analyser(file, output),
        "evaluate": lambda folder, file=None, part="test", weights=None, output_format=TEXT: (
            accuracy_report(folder, part, file, weights).render(output_format)
        ),
        "collect": lambda folder, output: collect(folder, output),
        "label": _label,
    },
    "verifier": {
        None: _train_verifier,
        "collect": lambda folder, output, more=(): collect_sources(folder, more, output),
        "shrink": _shrink,
        "tune": lambda files, validation, teacher, start=None, changes=None: tune(
            teacher, files, list(map(Path, validation)), start, changes
        ),
        "label": lambda file, teacher, output, limit=None: label_rewrites(
            teacher, file, output, limit
        ),
        "candidates": lambda file, output, limit=None: make_candidates(file, output, limit),
        "score": lambda files, teacher, taught=(): score(teacher, files, taught),
        "export": lambda file, output: export_verifier(file, output),
    },
}
"""The steps of each model by the name for ``--only``; None is the training itself."""
