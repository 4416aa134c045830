"""``parataxis corpus leaks``: how much of an evaluation set is in a training set."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Annotated

import typer

from parataxis.cli.options import ReportFormatOption
from parataxis.cli.terminal import Progress, open_output
from parataxis.evaluate.commands.corpus_input import (
    CORPUS_HELP,
    StrictOption,
    counting,
    parse_corpora,
    read_corpus,
)
from parataxis.evaluate.corpora.leaks import NEAR, Leak, Overlap, Overlaps, find_overlaps
from parataxis.report import Block, Notes, Report, ReportFormat, ReportParagraph, Table


@dataclass(frozen=True)
class _LeakCheck:
    """What one evaluation set has in common with one training set."""

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
            help="A training set, named in the same way; repeatable.",
        ),
    ],
    near: Annotated[
        float,
        typer.Option(
            "--near",
            min=0.5,
            max=1.0,
            metavar="J",
            help="Texts are nearly the same if their word 3-grams overlap this much (Jaccard); "
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
            help="Accept P % of texts in common: short ones can be equal by chance.",
        ),
    ] = 0.0,
    fail: Annotated[
        bool, typer.Option("--fail", help="Exit with code 1 if anything leaks.")
    ] = False,
    output_format: ReportFormatOption = ReportFormat.TEXT,
    strict: StrictOption = False,
) -> None:
    """Check how much of an evaluation set is in a training set.

    Sources, simple sentences and triples that are also in the training set are leaks. Vocabulary,
    names and relations in common are no leaks; they are shown because results depend on them. A set
    whose sources are mostly in training always leaks.
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
                    _LeakCheck(each.label, part.label, found, allow / 100)
                    for part, found in zip(sets, overlaps, strict=True)
                ]
        out.write(_report(comparisons, show).render(output_format))
    if fail and any(each.is_leak for each in comparisons):
        raise typer.Exit(1)


def _report(comparisons: Sequence[_LeakCheck], show: int) -> Report:
    blocks: list[Block] = []
    for each in comparisons:
        blocks.append(ReportParagraph(f"{each.evaluation} in {each.train}"))
        blocks.append(overlap_table(each.found, each.allowed))
        blocks.append(Notes(list(_findings(each, show))))
    records = [
        {
            "train": each.train,
            "evaluation": each.evaluation,
            "leak": each.is_leak,
            "inside": round(each.found.inside, 4),
            "overlaps": overlap_records(each.found, each.allowed),
        }
        for each in comparisons
    ]
    lines = [
        {"evaluation": each.evaluation, "train": each.train, **_counts(leak, each.allowed)}
        for each in comparisons
        for leak in each.found.leaks
    ]
    return Report("Leaks", blocks, records, lines, bare=True)


def _counts(leak: Leak, allowed: float) -> dict[str, object]:
    """A leak in numbers, without the texts that show it."""
    counts = {key: value for key, value in asdict(leak).items() if key != "sights"}
    return {**counts, "leak": leak.is_leak(allowed)}


def overlap_records(found: Overlaps, allowed: float = 0.0) -> list[dict[str, object]]:
    """What was found in training, for JSON."""
    return [{**asdict(each), "leak": each.is_leak(allowed)} for each in found.leaks]


def overlap_table(found: Overlaps, allowed: float = 0.0) -> Table:
    """What was found in training; the last column marks leaks."""
    rows = [
        (
            leak.kind.value,
            f"{leak.found:,}",
            f"{leak.total:,}",
            _percent(leak.found, leak.total),
            f"{leak.unique_found:,}",
            f"{leak.unique_total:,}",
            _percent(leak.unique_found, leak.unique_total),
            "LEAK" if leak.is_leak(allowed) else "",
        )
        for leak in found.leaks
    ]
    return Table(("", "found", "of", "%", "different", "of", "%", ""), rows)


def _percent(part: int, whole: int) -> str:
    return f"{100 * part / whole:.2f}" if whole else "0.00"


def _findings(comparison: _LeakCheck, show: int) -> Iterator[str]:
    """A line for each leak, with up to ``show`` of its texts."""
    for leak in comparison.found.leaks:
        if not leak.is_leak(comparison.allowed):
            continue
        noun = leak.kind.value.partition(",")[0]
        near = "nearly " if leak.kind in (Overlap.NEAR_SOURCES, Overlap.NEAR_SIMPLE) else ""
        yield (
            f"LEAK: {leak.unique_found:,} of {leak.unique_total:,} different {noun} "
            f"of {comparison.evaluation} are {near}in {comparison.train}."
        )
        for sight in leak.sights[:show]:
            yield f"  {sight.text}"
            if sight.text != sight.seen:
                yield f"  {sight.seen} ({sight.jaccard:.2f})"
            yield f"    {sight.id}"
    if comparison.found.is_inside:
        inside = comparison.found.inside
        share = "All" if inside == 1 else f"{100 * inside:.0f} %"
        yield (
            f"LEAK: {comparison.evaluation} is inside {comparison.train}: {share} of its sources "
            "are there. Do not train on one and report results on the other."
        )
    if not comparison.is_leak:
        yield "No leak."
