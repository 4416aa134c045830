"""The open benchmark: checks a submission, and writes the leaderboard.

    python benchmarks/leaderboard.py                            # docs/leaderboard.md
    python benchmarks/leaderboard.py --check SYSTEM.jsonl [--train FILE...]
    python benchmarks/leaderboard.py --run pointer rules        # the rewrites of our splitters

``data/benchmark`` has the sources with three references each, the rewrites of the systems and the
ratings; its README says how they were made and how to add a system.
"""

import argparse
import json
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from parataxis.api import Splitter
from parataxis.errors import InputError, ParataxisError
from parataxis.evaluate.compare import System, compare
from parataxis.evaluate.corpora.example import Example
from parataxis.evaluate.corpora.leaks import Overlap, find_overlaps
from parataxis.evaluate.metrics.registry import load_metric
from parataxis.evaluate.resample import Resampler
from parataxis.report import Report, ReportFormat, Table

ROOT = Path(__file__).parents[1]
BENCHMARK = ROOT / "data" / "benchmark"
PAGE = ROOT / "docs" / "leaderboard.md"
METRICS = ("bleu", "sari", "exact-match", "sentences-per-source", "unsplit", "verified")
NEAR = 0.6
"""From this share of common word 3-grams on, a training sentence is too near to a source."""

HEAD = """# Leaderboard

An open benchmark of 500 sentences that were invented for it, 50 in each of ten domains, with three
references each by different writers. [Its page](../data/benchmark/README.md) says how it was made
and how to add a system. **Sources, references and ratings are the work of language models that had
the guidelines of this project**, not of people; read the figures accordingly.

`python benchmarks/leaderboard.py` writes this page.
"""
SCORES = """
## Scores

REFERENCE is each reference against the other two of its source, SOURCE the sources themselves.

"""
RATINGS = """
## Blind ratings

Raters did not know which system had made a rewrite. *Correct* means no fault in any of the six
criteria, *without fault* none in the first five ("should be split further" is the sixth).

"""
DOMAINS = """
## By domain

The share of correct ratings, in percent.

"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--check", type=Path, metavar="FILE", help="check a submission only")
    parser.add_argument("--train", type=Path, nargs="*", default=[], help="its training data")
    parser.add_argument("--run", nargs="*", default=[], metavar="SPLITTER", help="run splitters")
    options = parser.parse_args()
    examples = read_sources(BENCHMARK / "sources.jsonl")
    try:
        for name in options.run:
            run(name, examples)
        if options.check is None:
            PAGE.write_text("".join(page(examples)), encoding="utf-8")
            return
        read_submission(options.check, examples)
        for path in options.train:
            check_leaks(path, examples)
    except ParataxisError as error:
        sys.exit(str(error))
    print(f"{options.check} can be listed.")


def read_sources(path: Path) -> list[Example]:
    """The sources and their references."""
    records = map(json.loads, path.read_text(encoding="utf-8").splitlines())
    return [
        Example(record["source"], tuple(map(tuple, record["references"])), record["id"])
        for record in records
    ]


def read_submission(path: Path, examples: Sequence[Example]) -> System:
    """The rewrites of a system, one for each source; :class:`InputError` says what is wrong."""
    found: dict[str, tuple[str, ...]] = {}
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
        try:
            record = json.loads(line)
            id_, simple = record["id"], tuple(record["simple"])
        except (ValueError, KeyError, TypeError) as error:
            raise InputError(f'{path.name}, line {number} needs "id" and "simple".') from error
        if not simple or not all(isinstance(text, str) and text.strip() for text in simple):
            raise InputError(f"{path.name}, line {number} has no simple sentences.")
        if id_ in found:
            raise InputError(f"{path.name}, line {number}: {id_} is there twice.")
        found[id_] = simple
    missing = [example.id for example in examples if example.id not in found]
    unknown = found.keys() - {example.id for example in examples}
    if missing or unknown:
        what = (
            f"has no rewrite of {missing[0]}" if missing else f"has {min(unknown)}, which is no id"
        )
        raise InputError(f"{path.name} {what}.")
    return System(path.stem, tuple(found[example.id] for example in examples))


def check_leaks(path: Path, examples: Sequence[Example]) -> None:
    """Refuse a training set that has a source of the benchmark, or nearly one.

    A line is text, or a JSON record with "complex" or "source".
    """
    lines = path.read_text(encoding="utf-8").splitlines()
    train = (Example(_text(line), (), f"{path.name}:{n}") for n, line in enumerate(lines, start=1))
    bare = [Example(example.source, (), example.id) for example in examples]
    found = find_overlaps(train, {"benchmark": bare}, near=NEAR)["benchmark"]
    for kind in (Overlap.SOURCES, Overlap.NEAR_SOURCES):
        for sight in found[kind].sights:
            raise InputError(f'{sight.id} is too near to a source of the benchmark: "{sight.text}"')


def _text(line: str) -> str:
    if not line.startswith("{"):
        return line
    record = json.loads(line)
    return str(record.get("complex") or record.get("source") or "")


def run(name: str, examples: Sequence[Example]) -> None:
    """Write the rewrites of one of our splitters; ``pointer-strict`` is its strict mode."""
    splitter, _, mode = name.partition("-")
    rewrites = Splitter(splitter, strict=mode == "strict").pipe([each.source for each in examples])
    with (BENCHMARK / "systems" / f"{name}.jsonl").open("w", encoding="utf-8") as file:
        for example, rewrite in zip(examples, rewrites, strict=True):
            record = {"id": example.id, "simple": list(rewrite.simple)}
            file.write(json.dumps(record, ensure_ascii=False) + "\n")


def page(examples: Sequence[Example]) -> Iterator[str]:
    """The leaderboard, piece by piece."""
    systems = [
        read_submission(path, examples) for path in sorted((BENCHMARK / "systems").glob("*.jsonl"))
    ]
    metrics = [load_metric(name) for name in METRICS]
    found = compare(examples, systems, metrics, Resampler(trials=0))
    rows = [
        [result.name, *(_shown(result.scores.get(name)) for name in METRICS)]
        for result in found.results
    ]
    yield HEAD + SCORES + _markdown(Table(["system", *METRICS], rows))
    ratings = BENCHMARK / "ratings.jsonl"
    if ratings.exists():
        yield from _ratings([json.loads(line) for line in ratings.open(encoding="utf-8")])
    yield "\n## Signatures\n\n" + "".join(f"- `{metric.signature}`\n" for metric in metrics)


def _ratings(ratings: Sequence[dict[str, object]]) -> Iterator[str]:
    systems = sorted({str(each["system"]) for each in ratings})
    rows = []
    for system in systems:
        own = [each for each in ratings if each["system"] == system]
        splits = [each for each in own if each["split"]]
        rows.append(
            [
                system,
                str(len(own)),
                _percent([not each["faults"] and not each["further"] for each in own]),
                _percent([not each["faults"] for each in own]),
                str(len(splits)),
                _percent([not each["faults"] for each in splits]),
            ]
        )
    header = ["system", "ratings", "correct", "without fault", "of splits", "without fault"]
    yield RATINGS + _markdown(Table(header, rows))
    domains = sorted(Counter(str(each["domain"]) for each in ratings))
    table = [
        [
            domain,
            *(
                _percent(
                    [
                        not each["faults"] and not each["further"]
                        for each in ratings
                        if each["system"] == system and each["domain"] == domain
                    ]
                )
                for system in systems
            ),
        ]
        for domain in domains
    ]
    yield DOMAINS + _markdown(Table(["domain", *systems], table))


def _percent(values: Sequence[bool]) -> str:
    return f"{100 * sum(values) / len(values):.1f}" if values else ""


def _shown(score: object) -> str:
    return "" if score is None else f"{score.value:.2f}"  # type: ignore[attr-defined]


def _markdown(table: Table) -> str:
    return Report("", [table], bare=True).render(ReportFormat.MARKDOWN)


if __name__ == "__main__":
    main()
