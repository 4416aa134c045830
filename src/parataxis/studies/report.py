"""The report of a study: ratings, agreement, reliability, correlations and perfect rewrites."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import cycle
from typing import TYPE_CHECKING

import numpy as np

from parataxis.evaluate.corpora.example import Example
from parataxis.evaluate.correlate import Correlation
from parataxis.evaluate.figures import draw_svg
from parataxis.evaluate.metrics.protocol import Metric
from parataxis.report import NONE, Block, Figure, Heading, Report, ReportParagraph, Table
from parataxis.rewrite.record import Rewrite
from parataxis.studies.agreement import (
    Alpha,
    MeasurementLevel,
    Posterior,
    RaterAgreement,
    alpha,
    buckets,
    pairwise,
    posteriors,
    raters_against_rest,
)
from parataxis.studies.records import HUMAN, Purpose, Rating, Value, in_language
from parataxis.studies.rubric import NUMBERS, QuestionKind, Rubric
from parataxis.studies.summary import Summary, correlations, judged_rewrites, summarise, with_scores
from parataxis.text.tokens import tokenize

if TYPE_CHECKING:
    from matplotlib.axes import Axes

TRIALS = 200
"""Bootstrap samples for the interval of an alpha."""
CONFIDENCE = 0.9
CORRECT = "correct"
"""The outcome that decides which rewrites are perfect."""


@dataclass(frozen=True)
class Agreement:
    """The agreement of raters about one question or outcome."""

    title: str
    level: MeasurementLevel
    alpha: Alpha
    equal: float | None
    """The share of pairs of ratings of one item that are equal."""
    pairs: int


@dataclass(frozen=True)
class BenchmarkSize:
    """The rows of table 2 of Zhang et al. (2020)."""

    complex: int
    simple: int
    """References; several references of one source count each."""
    tokens_per_complex: float
    sentences_per_simple: float


@dataclass(frozen=True)
class StudyReport:
    """The results of a study, before they are laid out."""

    rubric: Rubric
    summary: Summary
    agreement: tuple[Agreement, ...]
    raters: tuple[RaterAgreement, ...]
    """By the rubric's first yes-or-no outcome, or else by its first question."""
    trust: tuple[Posterior, ...] = ()
    gold: tuple[Rewrite, ...] = ()
    correlations: tuple[Correlation, ...] = ()
    notes: tuple[str, ...] = ()

    def document(self, title: str, figure: str = "") -> Report:
        """The report in all formats. ``figure`` is the reliability plot as SVG."""
        record = {
            "title": title,
            "rubric": self.rubric.name,
            "columns": self.summary.columns,
            "systems": [asdict(row) for row in self.summary.rows],
            "agreement": [asdict(one) for one in self.agreement],
            "raters": [asdict(one) for one in self.raters],
            "reliability": [_trust_record(one) for one in self.trust],
            "correlations": [asdict(one) for one in self.correlations],
            "perfect": asdict(statistics(benchmark(self.gold))),
            "notes": self.notes,
        }
        lines = list(self.summary.lines())
        return Report(title, list(self._blocks(figure)), record=record, lines=lines)

    def _blocks(self, figure: str) -> Iterator[Block]:
        header, rows = self.summary.table()
        yield Heading("Ratings")
        numbers = 2 + len(self.summary.columns) + len(self.summary.metrics)
        yield Table(header, rows, names=len(header) - numbers)
        yield ReportParagraph(self._legend())
        yield Heading("Agreement")
        yield Table(
            ["question", "level", "alpha", "95 % interval", "equal pairs", "pairs"],
            [_agreement_cells(one) for one in self.agreement],
            names=2,
        )
        for one in self.agreement:
            if one.alpha.reason:
                yield ReportParagraph(f"Alpha of {one.title} is undefined: {one.alpha.reason}.")
        yield Table(
            ["rater", "items", "equal to others", "higher than others by"],
            [_rater_cells(one) for one in self.raters],
        )
        if self.trust:
            yield Heading("Reliability")
            yield Table(
                ["raters who said yes", "expert yes", "expert no", "mean", "at least", "at most"],
                [_trust_cells(one) for one in self.trust],
            )
            yield from map(ReportParagraph, _conclusions(self.trust))
            if figure:
                yield Figure(figure, "How often an expert agrees, by how many raters said yes.")
        if self.correlations:
            yield Heading("Correlation with metrics")
            yield _correlation_table(self.correlations)
            pairs = max(each.pairs for each in self.correlations)
            yield ReportParagraph(
                f"Spearman's correlation over single rewrites, {pairs:,} in all; †: not "
                "significant at .05. Rewrites by participants are left out."
            )
        if CORRECT in self.rubric.outcomes:
            size = statistics(benchmark(self.gold))
            counts = [f"{size.complex:,}", f"{size.simple:,}"]
            means = [f"{size.tokens_per_complex:.1f}", f"{size.sentences_per_simple:.1f}"]
            yield Heading("Perfect rewrites")
            yield Table(
                ["# complex", "# simple", "# toks/complex", "# sents/simple"],
                [[*counts, *means]],
                names=0,
            )
        yield from map(ReportParagraph, self.notes)

    def _legend(self) -> str:
        parts = []
        if any(question.kind in NUMBERS for question in self.rubric.questions):
            parts.append("For numbers: the share of the best answer, and the mean.")
        parts.append("For yes or no: the share of answers in favour of the rewrite.")
        same = sum(row.identical for row in self.summary.rows)
        if same:
            fixed = "; some of their answers are fixed" if self.rubric.identical else ""
            parts.append(f"{same:,} rewrites are equal to their source{fixed}.")
        return " ".join(parts)


def study_report(
    rewrites: Sequence[Rewrite],
    ratings: Sequence[Rating],
    rubric: Rubric,
    *,
    expert: Sequence[Rating] = (),
    raters: int = 2,
    language: str = "en",
    examples: Sequence[Example] = (),
    metrics: Sequence[Metric] = (),
    column: Metric | None = None,
) -> StudyReport:
    """The report of a study. A rewrite is perfect if at least so many raters rated it and all
    found it correct; if participants wrote some, only theirs can be references.

    ``examples`` hold references for ``metrics``, which are correlated with the ratings, and for
    ``column``, whose scores are added to the summary.
    """
    summary = summarise(rewrites, ratings, rubric, language)
    if column is not None:
        summary = with_scores(summary, rewrites, examples, column)
    compared = judged_rewrites(rewrites, ratings, rubric, examples, language) if metrics else []
    judged = [rating for rating in ratings if rating.purpose is Purpose.ITEM]
    notes = []
    if summary.unknown:
        notes.append(f"{summary.unknown:,} ratings of unknown items are left out.")
    if metrics and not compared:
        notes.append("No rewrite by a system has a rating and a reference; nothing correlates.")
    by_people = [rewrite for rewrite in rewrites if rewrite.splitter == HUMAN]
    has_gold, verdicts = CORRECT in rubric.outcomes, rubric.verdicts
    return StudyReport(
        rubric,
        summary,
        tuple(agreements(rubric, judged, language)),
        tuple(raters_compared(rubric, judged)),
        tuple(posteriors(judged, expert, verdicts[0])) if expert and verdicts else (),
        tuple(perfect(by_people or rewrites, judged, raters=raters)) if has_gold else (),
        tuple(correlations(compared, metrics)) if compared else (),
        tuple(notes),
    )


# --- Agreement


def raters_compared(rubric: Rubric, ratings: Sequence[Rating]) -> list[RaterAgreement]:
    """Each rater against the rest, by the rubric's first yes-or-no outcome, or else by its first
    question; those who agree least come first."""
    verdicts = rubric.verdicts
    main = f"={verdicts[0]}" if verdicts else rubric.questions[0].id
    return raters_against_rest(_values(ratings, main, rubric))


def agreements(
    rubric: Rubric, ratings: Sequence[Rating], language: str, *, trials: int = TRIALS
) -> Iterator[Agreement]:
    """The agreement about each question except texts, and about each yes-or-no outcome; intervals
    are from so many bootstrap samples."""
    asked = [
        (question.id, question.title or question.id, question.kind in NUMBERS)
        for question in rubric.questions
        if question.kind is not QuestionKind.TEXT
    ]
    derived = [
        (f"={name}", outcome.title or name, False)
        for name, outcome in rubric.outcomes.items()
        if outcome.all
    ]
    for key, title, is_number in asked + derived:
        level = MeasurementLevel.ORDINAL if is_number else MeasurementLevel.NOMINAL
        table = _values(ratings, key, rubric)
        found = alpha(table, level, trials=trials)
        yield Agreement(in_language(title, language), level, found, *pairwise(table))


def _values(ratings: Sequence[Rating], key: str, rubric: Rubric) -> dict[str, dict[str, float]]:
    """Values by item and rater, without fixed answers, which say nothing about the raters."""
    table: dict[str, dict[str, float]] = defaultdict(dict)
    is_outcome = key.startswith("=")
    asked = set(rubric.outcomes[key[1:]].all) if is_outcome else {key}
    is_fixed = bool(asked & set(rubric.identical))
    choices = [] if is_outcome else list(rubric.question(key).choices)
    for rating in ratings:
        found: Value | float = (
            rating.outcomes.get(key[1:]) if is_outcome else rating.answers.get(key)
        )
        if found is None or (rating.identical and is_fixed):
            continue
        number = choices.index(found) if isinstance(found, str) else float(found)
        table[rating.item][rating.rater] = float(number)
    return table


def _agreement_cells(one: Agreement) -> list[str]:
    found = one.alpha
    return [
        one.title,
        one.level.value,
        NONE if found.value is None else f"{found.value:.3f}",
        "" if found.low is None or found.high is None else f"{found.low:.2f} to {found.high:.2f}",
        NONE if one.equal is None else f"{100 * one.equal:.1f} %",
        f"{one.pairs:,}",
    ]


def _rater_cells(one: RaterAgreement) -> list[str]:
    return [
        one.rater,
        f"{one.items:,}",
        NONE if one.agreement is None else f"{100 * one.agreement:.1f} %",
        NONE if one.difference is None else f"{one.difference:+.2f}",
    ]


def _correlation_table(found: Sequence[Correlation]) -> Table:
    """A row for each group and metric, a column for each question and outcome."""
    criteria = list(dict.fromkeys(each.criterion for each in found))
    rows: dict[tuple[str, str], dict[str, str]] = defaultdict(dict)
    for each in found:
        rows[each.group, each.metric][each.criterion] = str(each)
    cells = [[*key, *(row[name] for name in criteria)] for key, row in rows.items()]
    return Table(["rewrites of", "metric", *criteria], cells, names=2)


# --- Reliability (Zhang et al. 2020, section 6 and figure 1)


def _trust_record(one: Posterior) -> dict[str, object]:
    return {
        "yes": one.bucket.yes,
        "raters": one.bucket.raters,
        "expert_yes": one.yes,
        "expert_no": one.no,
        "mean": one.mean,
        "at_least": one.at_least(CONFIDENCE),
        "at_most": one.at_most(CONFIDENCE),
    }


def _trust_cells(one: Posterior) -> list[str]:
    shares = (one.mean, one.at_least(CONFIDENCE), one.at_most(CONFIDENCE))
    bucket = f"{one.bucket.yes} of {one.bucket.raters}"
    return [bucket, str(one.yes), str(one.no), *(f"{100 * share:.0f} %" for share in shares)]


def _conclusions(trust: Sequence[Posterior]) -> Iterator[str]:
    """The sentences of §6 of Zhang et al. (2020), for the buckets in which all raters agree."""
    for one in trust:
        yes, raters = one.bucket
        if yes == raters:
            share = f"more than {100 * one.at_least(CONFIDENCE):.0f} %"
            yield f"When all {raters} raters say yes, an expert agrees in {share} of the cases."
        elif yes == 0:
            share = f"less than {100 * one.at_most(CONFIDENCE):.0f} %"
            yield f"When none of {raters} raters says yes, an expert does in {share} of the cases."
    yield f"These bounds are one-sided, with {100 * CONFIDENCE:.0f} % confidence."


def reliability_svg(trust: Sequence[Posterior]) -> str:
    """Figure 1 of Zhang et al. (2020) as SVG: a density for each bucket."""
    return draw_svg(lambda axes: _draw_densities(axes, trust), height=3.2)


def _draw_densities(axes: "Axes", trust: Sequence[Posterior]) -> None:
    shares = np.linspace(0, 1, 401)
    for one, line in zip(trust, cycle(("-", "--", "-.", ":")), strict=False):
        label = f"{one.bucket.yes} of {one.bucket.raters} raters"
        axes.plot(shares, one.density(shares), line, label=label)  # curves may overlap
    axes.set_xlabel("share of rewrites that an expert finds correct")
    axes.set_ylabel("density")
    axes.set_xlim(0, 1)
    axes.set_ylim(bottom=0)


# --- Perfect rewrites


def perfect(
    rewrites: Iterable[Rewrite],
    ratings: Iterable[Rating],
    *,
    outcome: str = CORRECT,
    raters: int = 2,
) -> list[Rewrite]:
    """The rewrites with the outcome in all ratings, of which there are at least so many
    (Zhang et al. 2020, §4.2.2)."""
    found = buckets(ratings, outcome)
    return [
        each
        for each in rewrites
        if (votes := found.get(each.id or "")) and votes.yes == votes.raters >= raters
    ]


def benchmark(rewrites: Iterable[Rewrite]) -> list[Example]:
    """The sources of the rewrites with these as references, without duplicates."""
    found: dict[str, dict[tuple[str, ...], None]] = {}
    for rewrite in rewrites:
        found.setdefault(rewrite.source, {})[rewrite.simple] = None
    return [
        Example(source, tuple(references), str(number))
        for number, (source, references) in enumerate(found.items(), start=1)
    ]


def statistics(examples: Sequence[Example]) -> BenchmarkSize:
    """The size of a benchmark.

    >>> ghent = Example("Ghent, a city, is old.", (("Ghent is a city.", "It is old."),), "1")
    >>> statistics([ghent])
    BenchmarkSize(complex=1, simple=1, tokens_per_complex=8.0, sentences_per_simple=2.0)
    """
    references = [reference for example in examples for reference in example.references]
    tokens = sum(len(tokenize(example.source)) for example in examples)
    return BenchmarkSize(
        len(examples),
        len(references),
        tokens / len(examples) if examples else 0.0,
        sum(map(len, references)) / len(references) if references else 0.0,
    )
