"""The tables and figures of a study, from its rewrites and ratings."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import cycle
from typing import TYPE_CHECKING

import numpy as np

from parataxis.evaluate.corpora.example import Example
from parataxis.evaluate.correlate import Correlation
from parataxis.evaluate.figures import draw_svg
from parataxis.evaluate.metrics.protocol import Metric
from parataxis.report import Block, Figure, Heading, Report, ReportParagraph, Table
from parataxis.rewrite.record import Rewrite
from parataxis.studies.agreement import (
    Alpha,
    MeasurementLevel,
    Posterior,
    RaterAgreement,
    alpha,
    pairwise,
    posteriors,
    raters_against_rest,
)
from parataxis.studies.budget import CORRECT, benchmark, perfect, statistics
from parataxis.studies.records import HUMAN, Purpose, Rating, Value, in_language
from parataxis.studies.rubric import NUMBERS, QuestionKind, Rubric
from parataxis.studies.summary import Summary, correlations, judged_rewrites, summarise, with_scores

if TYPE_CHECKING:
    from matplotlib.axes import Axes


# A study on one page: what raters said, how far they agree, how far to trust them, and the
# rewrites that are good enough to be references.

TRIALS = 200
"""Samples of items for the interval of an alpha."""
CONFIDENCE = 0.9


@dataclass(frozen=True)
class Agreement:
    """How far raters agree about one question or outcome."""

    title: str
    level: MeasurementLevel
    alpha: Alpha
    equal: float | None
    """The share of pairs of ratings of one item that are equal."""
    pairs: int


@dataclass(frozen=True)
class StudyReport:
    """All that can be said about a study, before it is laid out."""

    rubric: Rubric
    summary: Summary
    agreement: tuple[Agreement, ...]
    raters: tuple[RaterAgreement, ...]
    """By the rubric's first outcome that is yes or no, else by its first question."""
    trust: tuple[Posterior, ...] = ()
    gold: tuple[Rewrite, ...] = ()
    correlations: tuple[Correlation, ...] = ()
    notes: tuple[str, ...] = field(default=())

    def document(self, title: str, figure: str = "") -> Report:
        """The report as headings, paragraphs and tables. ``figure`` is the picture of how far to
        trust the raters, as SVG."""
        return Report(title, list(self._blocks(figure)))

    def _blocks(self, figure: str) -> Iterator[Block]:
        header, rows = self.summary.table()
        yield Heading("What raters said")
        numbers = 2 + len(self.summary.columns) + len(self.summary.metrics)
        yield Table(header, rows, names=len(header) - numbers)
        yield ReportParagraph(self._legend())
        yield Heading("How far they agree")
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
            yield Heading("How far to trust them")
            yield Table(
                ["raters who said yes", "expert yes", "expert no", "mean", "at least", "at most"],
                [_trust_cells(one) for one in self.trust],
            )
            yield from (ReportParagraph(line) for line in _conclusions(self.trust))
            if figure:
                yield Figure(figure, "How often an expert agrees, by how many raters said yes.")
        if self.correlations:
            yield Heading("How far metrics agree with them")
            yield _correlation_table(self.correlations)
            pairs = max(each.pairs for each in self.correlations)
            yield ReportParagraph(
                f"Spearman's correlation over single rewrites, {pairs:,} in all; †: not "
                "significant at .05. What people of the study wrote is left out."
            )
        if CORRECT in self.rubric.outcomes:
            counted = statistics(benchmark(self.gold))
            yield Heading("Perfect rewrites")
            yield Table(
                ["# complex", "# simple", "# toks/complex", "# sents/simple"],
                [
                    [
                        f"{counted.complex:,}",
                        f"{counted.simple:,}",
                        f"{counted.tokens_per_complex:.1f}",
                        f"{counted.sentences_per_simple:.1f}",
                    ]
                ],
                names=0,
            )
        yield from map(ReportParagraph, self.notes)

    def _legend(self) -> str:
        parts = []
        if any(question.kind in NUMBERS for question in self.rubric.questions):
            parts.append("Of a number: the share of the best answer, and the mean.")
        parts.append("Of yes or no: the share of answers that speak for the rewrite.")
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
    """The report of a study. A rewrite is perfect if so many raters found it correct; where
    people wrote some, only theirs can be references.

    ``examples`` bring references for ``metrics``, which are correlated with what raters said, and
    for ``column``, whose score of each system stands beside it.
    """
    summary = summarise(rewrites, ratings, rubric, language)
    if column is not None:
        summary = with_scores(summary, rewrites, examples, column)
    compared = judged_rewrites(rewrites, ratings, rubric, examples, language) if metrics else []
    judged = [rating for rating in ratings if rating.purpose is Purpose.ITEM]
    notes = []
    if summary.unknown:
        notes.append(f"{summary.unknown:,} ratings are of items that are not there; left out.")
    if metrics and not compared:
        notes.append("No rewrite of a system has a rating and a reference; nothing correlates.")
    is_gold = CORRECT in rubric.outcomes
    by_people = [rewrite for rewrite in rewrites if rewrite.splitter == HUMAN]
    yes_no = rubric.verdicts
    return StudyReport(
        rubric,
        summary,
        tuple(agreements(rubric, judged, language)),
        tuple(raters_compared(rubric, judged)),
        tuple(posteriors(judged, expert, yes_no[0])) if expert and yes_no else (),
        tuple(perfect(by_people or rewrites, judged, raters=raters)) if is_gold else (),
        tuple(correlations(compared, metrics)) if compared else (),
        tuple(notes),
    )


def raters_compared(rubric: Rubric, ratings: Sequence[Rating]) -> list[RaterAgreement]:
    """Each rater against the rest, by the rubric's first outcome that is yes or no, else by its
    first question; those who agree least first."""
    yes_no = rubric.verdicts
    main = f"={yes_no[0]}" if yes_no else rubric.questions[0].id
    return raters_against_rest(_values(ratings, main, rubric))


def agreements(
    rubric: Rubric, ratings: Sequence[Rating], language: str, *, trials: int = TRIALS
) -> Iterator[Agreement]:
    """How far raters agree about each question that is no text, and each outcome that is yes or
    no; with the interval from so many samples."""
    for question in rubric.questions:
        if question.kind is not QuestionKind.TEXT:
            level = (
                MeasurementLevel.ORDINAL if question.kind in NUMBERS else MeasurementLevel.NOMINAL
            )
            title = in_language(question.title or question.id, language)
            yield _agreement(title, level, ratings, question.id, rubric, trials)
    for name, outcome in rubric.outcomes.items():
        if outcome.all:
            title = in_language(outcome.title or name, language)
            yield _agreement(title, MeasurementLevel.NOMINAL, ratings, f"={name}", rubric, trials)


def _agreement(
    title: str,
    level: MeasurementLevel,
    ratings: Sequence[Rating],
    key: str,
    rubric: Rubric,
    trials: int,
) -> Agreement:
    table = _values(ratings, key, rubric)
    return Agreement(title, level, alpha(table, level, trials=trials), *pairwise(table))


def _values(ratings: Sequence[Rating], key: str, rubric: Rubric) -> dict[str, dict[str, float]]:
    """Values by item and rater; fixed answers say nothing about raters, and are left out."""
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
        "–" if found.value is None else f"{found.value:.3f}",
        "" if found.low is None or found.high is None else f"{found.low:.2f} to {found.high:.2f}",
        "–" if one.equal is None else f"{100 * one.equal:.1f} %",
        f"{one.pairs:,}",
    ]


def _rater_cells(one: RaterAgreement) -> list[str]:
    return [
        one.rater,
        f"{one.items:,}",
        "–" if one.agreement is None else f"{100 * one.agreement:.1f} %",
        "–" if one.difference is None else f"{one.difference:+.2f}",
    ]


def _correlation_table(found: Sequence[Correlation]) -> Table:
    """A row for each group and metric, a column for each question and outcome."""
    criteria = list(dict.fromkeys(each.criterion for each in found))
    rows: dict[tuple[str, str], dict[str, str]] = defaultdict(dict)
    for each in found:
        rows[each.group, each.metric][each.criterion] = str(each)
    cells = [[*key, *(row[name] for name in criteria)] for key, row in rows.items()]
    return Table(["rewrites of", "metric", *criteria], cells, names=2)


def _trust_cells(one: Posterior) -> list[str]:
    return [
        f"{one.bucket.yes} of {one.bucket.raters}",
        str(one.yes),
        str(one.no),
        f"{100 * one.mean:.0f} %",
        f"{100 * one.at_least(CONFIDENCE):.0f} %",
        f"{100 * one.at_most(CONFIDENCE):.0f} %",
    ]


def _conclusions(trust: Sequence[Posterior]) -> Iterator[str]:
    """The sentences of §6 of Zhang et al. (2020), for the buckets where all raters agree."""
    for one in trust:
        yes, raters = one.bucket
        if yes == raters:
            share = f"more than {100 * one.at_least(CONFIDENCE):.0f} %"
            yield f"When all {raters} raters say yes, an expert agrees in {share} of the cases."
        elif yes == 0:
            share = f"less than {100 * one.at_most(CONFIDENCE):.0f} %"
            yield f"When none of {raters} raters says yes, an expert does in {share} of the cases."
    yield f"These bounds are one-sided, with {100 * CONFIDENCE:.0f} % confidence."


# Figure 1 of Zhang et al. (2020): how often an expert agrees, by what raters said.


def reliability_svg(trust: Sequence[Posterior]) -> str:
    """A curve for each bucket, as SVG."""
    return draw_svg(lambda axes: _curves(axes, trust), height=3.2)


def _curves(axes: "Axes", trust: Sequence[Posterior]) -> None:
    shares = np.linspace(0, 1, 401)
    for one, line in zip(trust, cycle(("-", "--", "-.", ":")), strict=False):
        label = f"{one.bucket.yes} of {one.bucket.raters} raters"
        axes.plot(shares, one.density(shares), line, label=label)  # curves may cover each other
    axes.set_xlabel("share of rewrites that an expert finds correct")
    axes.set_ylabel("density")
    axes.set_xlim(0, 1)
    axes.set_ylim(bottom=0)
