"""``python -m parataxis.training.metric RATINGS``: fit the learned metric and print how good it is
on systems, families of systems and sources that it has not seen."""

import argparse
import re
import sys
from pathlib import Path

from parataxis.metrics.learned import CRITERIA
from parataxis.reports.judgements import Judged, read_judgements
from parataxis.training.metric.fit import Material, fit, held_out
from parataxis.training.steps import run_step


def main(arguments: list[str] | None = None) -> int:
    """Fit, and return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m parataxis.training.metric")
    parser.add_argument("ratings", type=Path, help="a CSV file with the four criteria")
    parser.add_argument("--output", type=Path, help="a JSON file for the fitted metric")
    parser.set_defaults(run=_run)
    return run_step(parser, arguments, sys.stderr)


def family(judged: Judged) -> str:
    """The first letters of a system's name: "SENTS-h4_w2v_model" and its kin are one family."""
    found = re.match(r"SETrain|SEMoses|[A-Za-z]+", judged.system)
    name = found[0] if found else judged.system
    return "Moses" if name in ("SETrain", "SEMoses") else name


def _run(options: argparse.Namespace) -> None:
    material = Material.of(read_judgements(options.ratings, list(CRITERIA)))
    parts = {
        "system": lambda each: each.system,
        "family": family,
        "source": lambda each: each.item.source,
    }
    for name, part in parts.items():
        found = held_out(material, part)
        shown = "  ".join(f"{criterion} {value:.3f}" for criterion, value in found.items())
        sys.stdout.write(f"held out by {name}: {shown}\n")
    if options.output:
        fit(material, options.output)


if __name__ == "__main__":
    sys.exit(main())
