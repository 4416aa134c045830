"""``python -m parataxis.training.metric RATINGS``: fit the learned metric and print how good it is
on systems, families of systems and sources that it has not seen, and against other metrics."""

import argparse
import sys
from pathlib import Path

from parataxis.metrics.learned import CRITERIA
from parataxis.metrics.registry import load_metric, metric_names
from parataxis.reports.correlate import single_scores
from parataxis.reports.judgements import read_judgements
from parataxis.reports.systems import read_examples
from parataxis.training.metric.fit import Material, advantages, agreement, family, fit, held_out
from parataxis.training.steps import run_step


def main(arguments: list[str] | None = None) -> int:
    """Fit, and return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m parataxis.training.metric")
    parser.add_argument("ratings", type=Path, help="a CSV file with the four criteria")
    parser.add_argument(
        "--references",
        action="append",
        default=[],
        metavar="CORPUS",
        help="references of the sources, so that it is compared with BLEU and SARI too",
    )
    parser.add_argument("--output", type=Path, help="a JSON file for the fitted metric")
    parser.set_defaults(run=_run)
    return run_step(parser, arguments, sys.stderr)


def _run(options: argparse.Namespace) -> None:
    examples = read_examples(None, options.references) if options.references else []
    judged = read_judgements(options.ratings, list(CRITERIA), examples=examples)
    material = Material.of(judged)
    parts = {
        "system": lambda each: each.system,
        "family": family,
        "source": lambda each: each.item.source,
    }
    for name, part in parts.items():
        found = agreement(material, held_out(material, part))
        shown = "  ".join(f"{criterion} {each.value:.3f}" for criterion, each in found.items())
        sys.stdout.write(f"held out by {name}: {shown}\n")
    others = [load_metric(name) for name in metric_names() if name != "learned"]
    known = [each for each in others if examples or not each.needs_references]
    predicted = held_out(material, parts["system"])
    compared = advantages(material, predicted, single_scores(known, judged))
    for criterion, each in compared.items():
        sys.stdout.write(
            f"{criterion}: {each.difference:+.3f} ({each.interval.low:+.3f} to "
            f"{each.interval.high:+.3f}) against {each.metric} ({each.value:.3f})\n"
        )
    if options.output:
        fit(material, options.output)


if __name__ == "__main__":
    sys.exit(main())
