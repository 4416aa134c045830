"""The ratings of each system as one table: table 3 of Zhang et al. (2020), table 7 of the 2019
report, or the summary of BrevE/CLaro, depending on the rubric."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from parataxis.evaluate.corpora.example import Example
from parataxis.evaluate.correlate import Correlation, correlate
from parataxis.evaluate.judgements import Judged
from parataxis.evaluate.metrics.protocol import Metric, ScoredItem, score
from parataxis.report import NONE, number_cell
from parataxis.rewrite.record import Rewrite
from parataxis.studies.records import HUMAN, Purpose, Rating, Value, in_language
from parataxis.studies.rubric import NUMBERS, QuestionKind, Rubric, as_number

BENCHMARK = "benchmark"
"""An optional field of a rewrite: the benchmark that its source comes from."""


@dataclass(frozen=True)
class SummaryCell:
    """The number of answers, the share of the best answer, and the mean.

    A number has both a share and a mean, yes or no and a choice only a share, and a derived mean
    only a mean.
    """

    count: int
    share: float | None = None
    mean: float | None = None

    def __str__(self) -> str:
        share = None if self.share is None else f"{100 * self.share:.1f} %"
        mean = None if self.mean is None else f"{self.mean:.2f}"
        return " / ".join(part for part in (share, mean) if part) or NONE


@dataclass(frozen=True)
class SummaryRow:
    """One system on one benchmark."""

    benchmark: str
    system: str
    items: int
    """Rewrites with a rating."""
    ratings: int
    identical: int
    """Rewrites among these that are equal to their source."""
    cells: Mapping[str, SummaryCell]
    scores: Mapping[str, float | None] = field(default_factory=dict)
    """By metric; None if nothing could be scored."""


@dataclass(frozen=True)
class Summary:
    """All systems in the order of the rewrites, people last."""

    columns: Mapping[str, str]
    """The titles of the questions and outcomes, by their keys in the cells."""
    rows: tuple[SummaryRow, ...]
    unknown: int
    """Ratings of items that are not among the rewrites; they are left out."""
    rated: frozenset[str] = frozenset()
    """The ids of the rewrites with a rating."""
    metrics: tuple[str, ...] = ()
    """Automatic metrics, the last columns."""

    def table(self, text: Callable[[str], str]) -> tuple[list[str], list[list[str]]]:
        """The header and the rows as text; benchmarks have a column if there are any. ``text``
        translates the names of columns."""
        named = any(row.benchmark for row in self.rows)
        header = [*(["benchmark"] if named else []), "system", "items", "ratings"]
        header = [text(f"column-{name}") for name in header]
        rows = []
        for row in self.rows:
            names = [*([row.benchmark] if named else []), row.system]
            cells = (str(row.cells[key]) for key in self.columns)
            shown = (number_cell(row.scores[name], ".1f") for name in self.metrics)
            rows.append([*names, f"{row.items:,}", f"{row.ratings:,}", *cells, *shown])
        return [*header, *self.columns.values(), *self.metrics], rows

    def lines(self) -> Iterator[dict[str, object]]:
        """A record with plain numbers for each system and column."""
        for row in self.rows:
            of = {"benchmark": row.benchmark, "system": row.system}
            for key, title in self.columns.items():
                cell = row.cells[key]
                numbers = {"answers": cell.count, "share": cell.share, "mean": cell.mean}
                yield {**of, "column": title, **numbers}
            for name in self.metrics:
                numbers = {"answers": None, "share": None, "mean": row.scores[name]}
                yield {**of, "column": name, **numbers}


def summarise(
    rewrites: Iterable[Rewrite], ratings: Iterable[Rating], rubric: Rubric, language: str = "en"
) -> Summary:
    """Summarise the ratings of the rewrites; training, test and control items do not count."""
    known = {rewrite.id: rewrite for rewrite in rewrites if rewrite.id is not None}
    groups: dict[tuple[str, str], list[Rating]] = defaultdict(list)
    for rewrite in known.values():
        groups[group_of(rewrite)] = []
    unknown = 0
    for rating in ratings:
        if rating.purpose is not Purpose.ITEM:
            continue
        if rating.item in known:
            groups[group_of(known[rating.item])].append(rating)
        else:
            unknown += 1
    rows = [_row(*group, given, rubric) for group, given in groups.items() if given]
    order = {benchmark: place for place, (benchmark, _) in enumerate(reversed(list(groups)))}
    rows.sort(key=lambda row: (-order[row.benchmark], row.system == HUMAN))
    rated = frozenset(rating.item for given in groups.values() for rating in given)
    titles = {key: title for key, title, _ in _columns(rubric, (), language)}
    return Summary(titles, tuple(rows), unknown, rated)


def group_of(rewrite: Rewrite) -> tuple[str, str]:
    """The benchmark and the system of a rewrite."""
    named = (rewrite.model_extra or {}).get(BENCHMARK)
    return (named if isinstance(named, str) else ""), rewrite.splitter


def _row(benchmark: str, system: str, ratings: Sequence[Rating], rubric: Rubric) -> SummaryRow:
    cells = {key: cell for key, _, cell in _columns(rubric, ratings)}
    items = {rating.item: rating.identical for rating in ratings}
    return SummaryRow(benchmark, system, len(items), len(ratings), sum(items.values()), cells)


def _columns(
    rubric: Rubric, ratings: Sequence[Rating], language: str = "en"
) -> Iterator[tuple[str, str, SummaryCell]]:
    """The key, the title and the cell of each column; a choice has one for each answer."""
    for question in rubric.questions:
        given = [rating.answers.get(question.id) for rating in ratings]
        values = [value for value in given if value is not None]
        count, title = len(values), in_language(question.title or question.id, language)
        if question.kind is QuestionKind.CHOICE:
            for key, text in question.choices.items():
                cell = SummaryCell(count, _share(values, key))
                yield f"{question.id}:{key}", in_language(text, language).lower(), cell
        elif question.kind in NUMBERS:
            mean = _mean([value for value in values if isinstance(value, int)])
            share = None if question.best is None else _share(values, question.best)
            yield question.id, title, SummaryCell(count, share, mean)
        elif question.kind is QuestionKind.YES_NO:
            best = True if question.best is None else question.best
            yield question.id, title, SummaryCell(count, _share(values, best))
    for name, outcome in rubric.outcomes.items():
        found = [rating.outcomes.get(name) for rating in ratings]
        numbers = [float(value) for value in found if value is not None]
        kind = "share" if outcome.all else "mean"
        cell = SummaryCell(len(numbers), **{kind: _mean(numbers)})
        yield f"={name}", in_language(outcome.title or name, language), cell


def _share(values: Sequence[Value], wanted: Value) -> float | None:
    return _mean([value == wanted for value in values])


def _mean(values: Sequence[float]) -> float | None:
    return sum(values) / len(values) if values else None


# --- Automatic metrics (Zhang et al. 2020, table 4, and the last column of table 3)


def judged_rewrites(
    rewrites: Sequence[Rewrite],
    ratings: Sequence[Rating],
    rubric: Rubric,
    examples: Sequence[Example] = (),
    language: str = "en",
) -> list[Judged]:
    """The average rating of each rewrite: the mean of a number, and the share of answers in favour
    of the rewrite for yes or no. Rewrites by people are left out, since references are made of
    them (Zhang et al. 2020, appendix C). If there are references, sources without are left out."""
    given: dict[str, list[Rating]] = defaultdict(list)
    for rating in ratings:
        if rating.purpose is Purpose.ITEM:
            given[rating.item].append(rating)
    references = _references(examples)
    found = []
    for rewrite in rewrites:
        rated = given.get(rewrite.id or "")
        known = references.get(rewrite.source.strip(), ())
        if not rated or rewrite.splitter == HUMAN or (examples and not known):
            continue
        item = ScoredItem(rewrite.source, rewrite.simple, known)
        benchmark, system = group_of(rewrite)
        found.append(Judged(item, system, benchmark, _means(rated, rubric, language)))
    return found


def _means(ratings: Sequence[Rating], rubric: Rubric, language: str) -> dict[str, float]:
    found: dict[str, float | None] = {}
    for question in rubric.questions:
        numbers = [as_number(question, rating.answers.get(question.id)) for rating in ratings]
        mean = _mean([number for number in numbers if number is not None])
        found[in_language(question.title or question.id, language)] = mean
    for name, outcome in rubric.outcomes.items():
        values = [rating.outcomes.get(name) for rating in ratings]
        mean = _mean([float(value) for value in values if value is not None])
        found[in_language(outcome.title or name, language)] = mean
    return {title: mean for title, mean in found.items() if mean is not None}


def correlations(judged: Sequence[Judged], metrics: Sequence[Metric]) -> list[Correlation]:
    """The correlation of each metric with each question and outcome: for each system on each
    benchmark, for each benchmark, and overall."""
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
    """The summary with the scores of a metric as one more column. A rewrite is not compared with
    itself, and not scored without another reference."""
    references = _references(examples)
    items: dict[tuple[str, str], list[ScoredItem]] = defaultdict(list)
    for rewrite in rewrites:
        known = references.get(rewrite.source.strip(), ())
        others = tuple(reference for reference in known if reference != rewrite.simple)
        if others and rewrite.id in summary.rated:
            items[group_of(rewrite)].append(ScoredItem(rewrite.source, rewrite.simple, others))
    rows = []
    for row in summary.rows:
        scored = items.get((row.benchmark, row.system))
        value = score(metric, scored).value if scored else None
        rows.append(replace(row, scores={**row.scores, metric.name: value}))
    return replace(summary, rows=tuple(rows), metrics=(*summary.metrics, metric.name))


def _references(examples: Sequence[Example]) -> dict[str, tuple[tuple[str, ...], ...]]:
    return {example.source.strip(): example.references for example in examples}
