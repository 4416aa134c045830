"""``python -m parataxis.lab.analyser STEP``: every step from the data to the shipped files."""

import argparse
import sys
from pathlib import Path

from parataxis.lab.training import run_step

CONFIG = Path(__file__).with_name("config.toml")


def main(arguments: list[str] | None = None) -> int:
    """Run one of the steps, and return the exit code."""
    return run_step(_parser(), arguments, sys.stdout)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m parataxis.lab.analyser")
    steps = parser.add_subparsers(required=True)

    train = steps.add_parser("train", help="train on UD and PropBank, on a GPU if there is one")
    train.add_argument("--data", type=Path, required=True, help="folder with ud/ and propbank/")
    train.add_argument("--output", type=Path, required=True)
    train.add_argument("--encoder", type=Path, help="default: the installed encoder package")
    train.add_argument("--config", type=Path, default=CONFIG)
    train.add_argument("--set", action="append", default=[], metavar="NAME=VALUE")
    train.add_argument("--silver", type=Path, help="sentences labelled by a teacher")
    train.add_argument("--resume", action="store_true")
    train.add_argument("--limit", type=int, help="train on this many sentences: a rehearsal")
    train.set_defaults(run=_train)

    collect = steps.add_parser("collect", help="gather the sentences a teacher shall label")
    collect.add_argument("--data", type=Path, required=True, help="folder with rewrites/ and more")
    collect.add_argument("--output", type=Path, required=True, help="a text file")
    collect.set_defaults(run=_collect)

    label = steps.add_parser("label", help="label sentences with trained weights: silver data")
    label.add_argument("weights", type=Path)
    label.add_argument("sentences", type=Path, help="one sentence a line")
    label.add_argument("--output", type=Path, required=True, help="a .jsonl.gz file")
    label.set_defaults(run=_label)

    export = steps.add_parser("export", help="turn trained weights into the int8 ONNX model")
    export.add_argument("weights", type=Path)
    export.add_argument("--output", type=Path, required=True)
    export.set_defaults(run=_export)

    score = steps.add_parser("evaluate", help="print every accuracy figure of an ONNX model")
    score.add_argument("--data", type=Path, required=True, help="folder with ud/ and propbank/")
    score.add_argument("--model", type=Path, help="folder of a model; default: the shipped one")
    score.add_argument("--part", choices=["dev", "test"], default="test")
    score.add_argument("--weights", type=Path, help="also score these weights before int8")
    score.set_defaults(run=_evaluate)
    return parser


def _train(options: argparse.Namespace) -> None:
    from parataxis.lab.analyser.train import read_config, train
    from parataxis.lab.encoder import encoder_folder

    config = read_config(options.config, dict(change.split("=", 1) for change in options.set))
    train(
        options.data,
        options.encoder or encoder_folder(),
        options.output,
        config,
        resume=options.resume,
        limit=options.limit,
        silver=options.silver,
    )


def _collect(options: argparse.Namespace) -> None:
    from parataxis.lab.analyser.data import collect

    collect(options.data, options.output)


def _label(options: argparse.Namespace) -> None:
    from parataxis.lab.analyser.data import label

    label(options.weights, options.sentences, options.output)


def _export(options: argparse.Namespace) -> None:
    from parataxis.lab.analyser.export import export

    export(options.weights, options.output)


def _evaluate(options: argparse.Namespace) -> None:
    from parataxis.lab.analyser.export import report

    report(options.data, options.part, options.model, options.weights)


if __name__ == "__main__":
    sys.exit(main())
