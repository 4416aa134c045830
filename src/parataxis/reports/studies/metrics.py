"""Raters beside automatic metrics: table 4 of Zhang et al. (2020), and BLEU, the last column of
its table 3."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace

from parataxis.corpora.example import Example
from parataxis.metrics.protocol import Item, Metric
from parataxis.metrics.scoring import score
from parataxis.reports.correlate import Correlation, correlate
from parataxis.reports.judgements import Judged
from parataxis.reports.studies.summary import Summary, group_of
from parataxis.rewrite.record import Rewrite
from parataxis.studies.records import HUMAN, Purpose, Rating
from parataxis.studies.rubric.model import NUMBERS, Kind, Question, Rubric
from parataxis.studies.texts import in_language

__all__ = ["correlations", "judged_rewrites", "with_scores"]

References = Mapping[str, tuple[tuple[str, ...], ...]]


def judged_rewrites(
    rewrites: Sequence[Rewrite],
    ratings: Sequence[Rating],
    rubric: Rubric,
    examples: Sequence[Example] = (),
    language: str = "en",
) -> list[Judged]:
    """What raters said about each rewrite on average: of a number its mean, of yes or no the share
    that speaks for the rewrite. People's rewrites are left out, since they are what references are
    made of (Zhang et al. 2020, appendix C); so are, where there are references, sources without."""
    given: dict[str, list[Rating]] = defaultdict(list)
    for rating in ratings:
        if rating.purpose is Purpose.ITEM:
            given[rating.item].append(rating)
    references = _references(examples)
    found = []
    for rewrite in rewrites:
        said = given.get(rewrite.id or "")
        known = references.get(rewrite.source.strip(), ())
        if not said or rewrite.splitter == HUMAN or (examples and not known):
            continue
        item = Item(rewrite.source, rewrite.simple, known)
        benchmark, system = group_of(rewrite)
        found.append(Judged(item, system, benchmark, _means(said, rubric, language)))
    return found


def correlations(judged: Sequence[Judged], metrics: Sequence[Metric]) -> list[Correlation]:
    """Each metric with each question and outcome: for each system on each benchmark, for each
    benchmark, and overall."""
    benchmarks = list(dict.fromkeys(each.benchmark for each in judged))
    systems = {each.system for each in judged}
    by = ["benchmark", "system"] if any(benchmarks) else ["system"]
    whole, *parts = _grouped(correlate(judged, metrics, by=by))
    groups = parts if len(systems) > 1 or len(benchmarks) > 1 else []
    if len(benchmarks) > 1:
        groups += _grouped(correlate(judged, metrics, by=["benchmark"]))[1:]
    return [each for group in (*groups, whole) for each in group]


def _grouped(found: Sequence[Correlation]) -> list[list[Correlation]]:
    groups: dict[str, list[Correlation]] = defaultdict(list)
    for each in found:
        groups[each.group].append(each)
    return list(groups.values())


def with_scores(
    summary: Summary, rewrites: Sequence[Rewrite], examples: Sequence[Example], metric: Metric
) -> Summary:
    """The summary with one more column: the score of what was rated of each system. A rewrite is
    not compared with itself, and without another reference not at all."""
    references = _references(examples)
    items: dict[tuple[str, str], list[Item]] = defaultdict(list)
    for rewrite in rewrites:
        known = references.get(rewrite.source.strip(), ())
        others = tuple(reference for reference in known if reference != rewrite.simple)
        if others and rewrite.id in summary.rated:
            items[group_of(rewrite)].append(Item(rewrite.source, rewrite.simple, others))
    rows = []
    for row in summary.rows:
        scored = items.get((row.benchmark, row.system))
        value = score(metric, scored).value if scored else None
        rows.append(replace(row, scores={**row.scores, metric.name: value}))
    return replace(summary, rows=tuple(rows), metrics=(*summary.metrics, metric.name))


def _references(examples: Sequence[Example]) -> References:
    return {example.source.strip(): example.references for example in examples}


def _means(ratings: Sequence[Rating], rubric: Rubric, language: str) -> dict[str, float]:
    found = {}
    for question in rubric.questions:
        numbers = [_number(question, rating) for rating in ratings]
        known = [number for number in numbers if number is not None]
        if known:
            found[in_language(question.title or question.id, language)] = sum(known) / len(known)
    for name, outcome in rubric.outcomes.items():
        values = [rating.outcomes.get(name) for rating in ratings]
        given = [float(value) for value in values if value is not None]
        if given:
            found[in_language(outcome.title or name, language)] = sum(given) / len(given)
    return found


def _number(question: Question, rating: Rating) -> float | None:
    value = rating.answers.get(question.id)
    if value is None or question.kind is Kind.TEXT:
        return None
    if question.kind in NUMBERS and not isinstance(value, str):
        return float(value)
    return None if question.best is None else float(value == question.best)
