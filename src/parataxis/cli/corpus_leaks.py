"""``parataxis corpus leaks``: what of an evaluation set stands in a training set."""

import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Annotated

import typer

from parataxis.cli.corpus_inputs import (
    CORPUS_HELP,
    StrictOption,
    TableFormat,
    TableFormatOption,
    counting,
    parse_corpora,
    read_corpus,
)
from parataxis.cli.tables import plain_table
from parataxis.cli.terminal import Progress, open_output
from parataxis.corpora.leaks import NEAR, Overlap, Overlaps, find_overlaps
from parataxis.reports.overlaps import overlap_cells

__all__ = ["leaks", "overlap_records", "overlap_table"]


@dataclass(frozen=True)
class _Comparison:
    train: str
    evaluation: str
    found: Overlaps
    allowed: float

    @property
    def is_leak(self) -> bool:
        return self.found.is_leak(self.allowed)


def leaks(
    evaluation: Annotated[
        list[str],
        typer.Argument(
            metavar="CORPUS...",
            show_default=False,
            help=f"Evaluation sets, dev or test, each {CORPUS_HELP}",
        ),
    ],
    train: Annotated[
        list[str],
        typer.Option(
            "--train",
            metavar="CORPUS",
            help="A training set, named in the same way; several times.",
        ),
    ],
    near: Annotated[
        float,
        typer.Option(
            "--near",
            min=0.5,
            max=1.0,
            metavar="J",
            help="Texts that share this part of their word 3-grams (Jaccard) are nearly the same; "
            "1 looks for none.",
        ),
    ] = NEAR,
    show: Annotated[
        int,
        typer.Option(
            "--show", min=0, max=5, metavar="N", help="Show up to N texts of each kind of leak."
        ),
    ] = 0,
    allow: Annotated[
        float,
        typer.Option(
            "--allow",
            min=0.0,
            max=100.0,
            metavar="P",
            help="Accept P % of texts in common: short ones can be the same by chance.",
        ),
    ] = 0.0,
    fail: Annotated[
        bool, typer.Option("--fail", help="Exit with code 1 if anything leaks.")
    ] = False,
    output_format: TableFormatOption = TableFormat.TEXT,
    strict: StrictOption = False,
) -> None:
    """Check what of an evaluation set stands in a training set.

    Sources, simple sentences and triples that also stand in training leak; vocabulary, names and
    relations in common are no leak, and are shown because results depend on them. A set of which
    most sources are in training leaks, whatever is allowed.
    """
    sets, trains = parse_corpora(evaluation), parse_corpora(train)
    comparisons = []
    with open_output(None) as out:
        with Progress(None, out) as progress:
            for each in trains:
                parts = {str(n): read_corpus(part, strict=strict) for n, part in enumerate(sets)}
                examples = counting(read_corpus(each, strict=strict), progress)
                overlaps = find_overlaps(examples, parts, near=near).values()
                comparisons += [
                    _Comparison(each.label, part.label, found, allow / 100)
                    for part, found in zip(sets, overlaps, strict=True)
                ]
        if output_format is TableFormat.JSON:
            records = [_record(each) for each in comparisons]
            out.write(json.dumps(records, ensure_ascii=False, indent=1) + "\n")
        else:
            out.write("\n".join(_text(each, show) for each in comparisons))
    if fail and any(each.is_leak for each in comparisons):
        raise typer.Exit(1)


def _record(comparison: _Comparison) -> dict[str, object]:
    return {
        "train": comparison.train,
        "evaluation": comparison.evaluation,
        "leak": comparison.is_leak,
        "inside": round(comparison.found.inside, 4),
        "overlaps": overlap_records(comparison.found, comparison.allowed),
    }


def overlap_records(found: Overlaps, allowed: float = 0.0) -> list[dict[str, object]]:
    """What was found in training, for JSON."""
    return [{**asdict(each), "leak": each.is_leak(allowed)} for each in found.leaks]


def overlap_table(found: Overlaps, allowed: float = 0.0) -> str:
    """What was found in training, as a table."""
    header, rows = overlap_cells(found, allowed)
    return plain_table(header, rows, right=range(1, 7))


def _text(comparison: _Comparison, show: int) -> str:
    head = f"{comparison.evaluation} in {comparison.train}\n"
    table = overlap_table(comparison.found, comparison.allowed)
    return head + table + "".join(_loud(comparison, show))


def _loud(comparison: _Comparison, show: int) -> Iterator[str]:
    """A line for each leak, and what it is about."""
    for leak in comparison.found.leaks:
        if not leak.is_leak(comparison.allowed):
            continue
        yield (
            f"LEAK: {leak.unique_found:,} of {leak.unique_total:,} different {_noun(leak.kind)} "
            f"of {comparison.evaluation} stand {_how(leak.kind)}in {comparison.train}.\n"
        )
        for sight in leak.sights[:show]:
            yield f"  {sight.text}\n"
            if sight.text != sight.seen:
                yield f"  {sight.seen} ({sight.jaccard:.2f})\n"
            yield f"    {sight.id}\n"
    if comparison.found.is_inside:
        inside = comparison.found.inside
        share = "All" if inside == 1 else f"{100 * inside:.0f} %"
        yield (
            f"LEAK: {comparison.evaluation} sits inside {comparison.train}: {share} of its sources "
            "are there. Do not train on the one and report results on the other.\n"
        )
    if not comparison.is_leak:
        yield "No leak.\n"


def _noun(kind: Overlap) -> str:
    return kind.value.partition(",")[0]


def _how(kind: Overlap) -> str:
    return "nearly " if kind in (Overlap.NEAR_SOURCES, Overlap.NEAR_SIMPLE) else ""
