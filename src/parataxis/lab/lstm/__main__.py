"""``python -m parataxis.lab.lstm STEP``: train, export, and rewrite a corpus."""

import argparse
import sys
from pathlib import Path

from parataxis.lab.training import run_step


def main(arguments: list[str] | None = None) -> int:
    """Run one of the steps, and return the exit code."""
    return run_step(_parser(), arguments, sys.stderr)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m parataxis.lab.lstm")
    steps = parser.add_subparsers(required=True)

    train = steps.add_parser("train", help="train and export; on a GPU if there is one")
    train.add_argument("--data", action="append", required=True, metavar="CORPUS")
    train.add_argument("--validation", action="append", required=True, metavar="CORPUS")
    train.add_argument("--output", type=Path, required=True)
    train.add_argument("--config", default="copy-512", help="a name, or a TOML file")
    train.add_argument("--set", action="append", default=[], metavar="NAME=VALUE")
    train.add_argument("--resume", action="store_true")
    train.add_argument("--limit", type=int, help="so many examples of each corpus: a rehearsal")
    train.set_defaults(run=_train)

    export = steps.add_parser("export", help="export the best weights of a run so far")
    export.add_argument("run_folder", type=Path, metavar="RUN")
    export.set_defaults(run=_export)

    rewrite = steps.add_parser("rewrite", help="rewrite the sources of a corpus, as JSONL")
    rewrite.add_argument("model", type=Path, help="the folder of an exported model")
    rewrite.add_argument("--data", action="append", required=True, metavar="CORPUS")
    rewrite.add_argument("--output", type=Path, required=True, help="a JSONL file")
    rewrite.add_argument("--beam", type=int, default=12)
    rewrite.add_argument("--limit", type=int)
    rewrite.set_defaults(run=_rewrite)

    configs = steps.add_parser("configs", help="list the configurations")
    configs.set_defaults(run=_configs)
    return parser


def _train(options: argparse.Namespace) -> None:
    from parataxis.lab.lstm.config import parse_changes
    from parataxis.lab.lstm.pipeline import LstmRecipe, train_lstm

    recipe = LstmRecipe(
        options.data,
        options.validation,
        options.output,
        options.config,
        parse_changes(options.set),
    )
    train_lstm(recipe, resume=options.resume, limit=options.limit)


def _export(options: argparse.Namespace) -> None:
    from parataxis.lab.lstm.pipeline import export_run

    export_run(options.run_folder)


def _rewrite(options: argparse.Namespace) -> None:
    from parataxis.lab.lstm.datasets import rewrite_corpora

    rewrite_corpora(
        options.model, options.data, options.output, beam=options.beam, limit=options.limit
    )


def _configs(options: argparse.Namespace) -> None:
    from parataxis.lab.lstm.config import configurations

    sys.stdout.write("".join(f"{name}\n" for name in configurations()))


if __name__ == "__main__":
    sys.exit(main())
