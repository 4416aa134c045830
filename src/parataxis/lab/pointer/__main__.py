"""``python -m parataxis.lab.pointer STEP``: every step from the data to the shipped files."""

import argparse
import sys
from pathlib import Path

from parataxis.lab.training import run_step


def main(arguments: list[str] | None = None) -> int:
    """Run one of the steps, and return the exit code."""
    return run_step(_parser(), arguments, sys.stderr)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m parataxis.lab.pointer")
    steps = parser.add_subparsers(required=True)

    train = steps.add_parser("train", help="make examples, train, export; on a GPU if there is one")
    train.add_argument("--data", type=Path, required=True, help="folder with rewrites/ and more")
    train.add_argument("--output", type=Path, required=True)
    train.add_argument("--encoder", type=Path, help="an analyser's weights, or a model's folder")
    train.add_argument("--start", type=Path, help="a trained network to go on from")
    train.add_argument("--more", type=Path, action="append", default=[], help="more rewrites")
    train.add_argument("--taught", type=Path, action="append", default=[], help="from `teach`")
    train.add_argument("--teacher", type=Path, action="append", default=[], help="to imitate")
    train.add_argument("--config", type=Path)
    train.add_argument("--set", action="append", default=[], metavar="NAME=VALUE")
    train.add_argument("--resume", action="store_true")
    train.add_argument("--limit", type=int, help="so many examples of each kind: a rehearsal")
    train.set_defaults(run=_train)

    teach = steps.add_parser("teach", help="let teachers rewrite the sentences without a rewrite")
    teach.add_argument("teachers", type=Path, nargs="+")
    teach.add_argument("--data", type=Path, required=True)
    teach.add_argument("--output", type=Path, required=True, help="an .npz file for --taught")
    teach.add_argument("--limit", type=int)
    teach.set_defaults(run=_teach)

    average = steps.add_parser("average", help="the mean of networks that had one start")
    average.add_argument("weights", type=Path, nargs="+")
    average.add_argument("--output", type=Path, required=True)
    average.set_defaults(run=_average)

    deepen = steps.add_parser("deepen", help="add encoder layers that change little at first")
    deepen.add_argument("weights", type=Path)
    deepen.add_argument("--above", type=int, nargs="+", required=True, help="layers, from 0 on")
    deepen.add_argument("--data", type=Path, required=True, help="folder with rewrites/")
    deepen.add_argument("--output", type=Path, required=True)
    deepen.set_defaults(run=_deepen)

    export = steps.add_parser("export", help="turn trained weights into the int8 ONNX bundle")
    export.add_argument("weights", type=Path)
    export.add_argument("--output", type=Path, required=True)
    export.set_defaults(run=_export)

    score = steps.add_parser("evaluate", help="print every figure of a splitter on the references")
    score.add_argument("--data", type=Path, required=True, help="folder with rewrites/dev.jsonl")
    score.add_argument("--splitter", default="pointer")
    score.add_argument("--rewrites", type=Path, help="rewrites of dev as JSONL, of any system")
    score.add_argument("--json", action="store_true")
    score.set_defaults(run=_evaluate)
    return parser


def _train(options: argparse.Namespace) -> None:
    from parataxis.lab.pointer.pipeline import CONFIG, PointerRecipe, train_pointer

    recipe = PointerRecipe(
        data=options.data,
        output=options.output,
        encoder=options.encoder,
        start=options.start,
        more=options.more,
        taught=options.taught,
        teachers=options.teacher,
        config=options.config or CONFIG,
        changes=dict(change.split("=", 1) for change in options.set),
    )
    train_pointer(recipe, resume=options.resume, limit=options.limit)


def _teach(options: argparse.Namespace) -> None:
    from parataxis.lab.pointer.pipeline import teach

    teach(options.data, options.teachers, options.output, limit=options.limit)


def _average(options: argparse.Namespace) -> None:
    from parataxis.lab.pointer.pipeline import average

    average(options.weights, options.output)


def _deepen(options: argparse.Namespace) -> None:
    from parataxis.lab.pointer.pipeline import deepen

    deepen(options.weights, options.above, options.data, options.output)


def _export(options: argparse.Namespace) -> None:
    from parataxis.lab.pointer.export import export

    export(options.weights, options.output)


def _evaluate(options: argparse.Namespace) -> None:
    from parataxis.lab.pointer.evaluate import run_evaluation

    text = run_evaluation(options.data, options.splitter, options.rewrites, options.json)
    sys.stdout.write(text)


if __name__ == "__main__":
    sys.exit(main())
