"""The report of a study: ratings, agreement, reliability, correlations and perfect rewrites."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from itertools import cycle
from typing import TYPE_CHECKING

import numpy as np

from parataxis.evaluate.corpora.describe import describe
from parataxis.evaluate.corpora.example import Example, gather
from parataxis.evaluate.correlate import Correlation, correlation_table
from parataxis.evaluate.figures import draw_svg
from parataxis.evaluate.metrics.protocol import Metric
from parataxis.report import (
    NONE,
    Block,
    Figure,
    Heading,
    Report,
    ReportParagraph,
    Table,
    number_cell,
)
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
from parataxis.studies.yaml_files import LanguageTexts

if TYPE_CHECKING:
    from matplotlib.axes import Axes

TRIALS = 200
"""Bootstrap samples for the interval of an alpha."""
CONFIDENCE = 0.9
report_texts = partial(LanguageTexts, "parataxis.studies", "report.yaml")
"""The texts of reports in a language."""
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
    language: str = "en"

    def document(self, title: str = "", figure: str = "") -> Report:
        """The report in all formats. ``figure`` is the reliability plot as SVG."""
        title = title or report_texts(self.language)("title")
        record = {
            "title": title,
            "rubric": self.rubric.name,
            "columns": self.summary.columns,
            "systems": [asdict(row) for row in self.summary.rows],
            "agreement": [asdict(one) for one in self.agreement],
            "raters": [asdict(one) for one in self.raters],
            "reliability": [_trust_record(one) for one in self.trust],
            "correlations": [asdict(one) for one in self.correlations],
            "perfect": _size(self.gold),
            "notes": self.notes,
        }
        lines = list(self.summary.lines())
        text = report_texts(self.language)
        return Report(
            title, list(self._blocks(text, figure)), record, lines, language=self.language
        )

    def _blocks(self, text: LanguageTexts, figure: str) -> Iterator[Block]:
        def table(columns: Sequence[str], rows: Sequence[Sequence[str]], names: int = 1) -> Table:
            return Table(list(map(text, columns)), rows, names)

        header, rows = self.summary.table(text)
        yield Heading(text("ratings"))
        numbers = 2 + len(self.summary.columns) + len(self.summary.metrics)
        yield Table(header, rows, names=len(header) - numbers)
        yield ReportParagraph(self._legend(text))
        yield Heading(text("agreement"))
        columns = ["question", "level", "alpha", "interval", "equal-pairs", "pairs"]
        yield table(columns, [_agreement_cells(one, text) for one in self.agreement], names=2)
        for one in self.agreement:
            if one.alpha.reason:
                found = one.alpha
                reason = text("same", count=found.ratings) if found.items else text("alone")
                yield ReportParagraph(text("undefined", title=one.title, reason=reason))
        columns = ["rater", "column-items", "equal-to-others", "higher"]
        yield table(columns, list(map(_rater_cells, self.raters)))
        if self.trust:
            yield Heading(text("reliability"))
            columns = ["said-yes", "expert-yes", "expert-no", "mean", "at-least", "at-most"]
            yield table(columns, [_trust_cells(one, text) for one in self.trust])
            yield from map(ReportParagraph, _conclusions(self.trust, text))
            if figure:
                yield Figure(figure, text("figure"))
        if self.correlations:
            yield Heading(text("correlation"))
            names = (text("rewrites-of"), text("metric"))
            yield correlation_table(self.correlations, names, text("all"))
            pairs = max(each.pairs for each in self.correlations)
            yield ReportParagraph(text("spearman", pairs=pairs))
        if CORRECT in self.rubric.outcomes:
            sizes = [
                f"{size:.1f}" if isinstance(size, float) else f"{size:,}"
                for size in _size(self.gold).values()
            ]
            yield Heading(text("perfect"))
            yield table(["count-complex", "count-simple", "tokens", "sentences"], [sizes], names=0)
        yield from map(ReportParagraph, self.notes)

    def _legend(self, text: LanguageTexts) -> str:
        parts = []
        if any(question.kind in NUMBERS for question in self.rubric.questions):
            parts.append(text("legend-numbers"))
        parts.append(text("legend-yes-no"))
        same = sum(row.identical for row in self.summary.rows)
        if same:
            key = "legend-fixed" if self.rubric.identical else "legend-identical"
            parts.append(text(key, count=same))
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
    notes, text = [], report_texts(language)
    if summary.unknown:
        notes.append(text("note-unknown", count=summary.unknown))
    if metrics and not compared:
        notes.append(text("note-nothing"))
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
        language,
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


def _agreement_cells(one: Agreement, text: LanguageTexts) -> list[str]:
    found = one.alpha
    is_open = found.low is None or found.high is None
    return [
        one.title,
        one.level.value,
        number_cell(found.value, ".3f"),
        "" if is_open else text("range", low=found.low, high=found.high),
        NONE if one.equal is None else f"{100 * one.equal:.1f} %",
        f"{one.pairs:,}",
    ]


def _rater_cells(one: RaterAgreement) -> list[str]:
    return [
        one.rater,
        f"{one.items:,}",
        NONE if one.agreement is None else f"{100 * one.agreement:.1f} %",
        number_cell(one.difference, "+.2f"),
    ]


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


def _trust_cells(one: Posterior, text: LanguageTexts) -> list[str]:
    shares = (one.mean, one.at_least(CONFIDENCE), one.at_most(CONFIDENCE))
    bucket = text("bucket", **one.bucket._asdict())
    return [bucket, str(one.yes), str(one.no), *(f"{100 * share:.0f} %" for share in shares)]


def _conclusions(trust: Sequence[Posterior], text: LanguageTexts) -> Iterator[str]:
    """The sentences of §6 of Zhang et al. (2020), for the buckets in which all raters agree."""
    for one in trust:
        yes, raters = one.bucket
        if yes == raters:
            yield text("all-yes", raters=raters, share=100 * one.at_least(CONFIDENCE))
        elif yes == 0:
            yield text("none-yes", raters=raters, share=100 * one.at_most(CONFIDENCE))
    yield text("bounds", share=100 * CONFIDENCE)


def reliability_svg(trust: Sequence[Posterior], language: str = "en") -> str:
    """Figure 1 of Zhang et al. (2020) as SVG: a density for each bucket."""
    text = report_texts(language)
    return draw_svg(lambda axes: _draw_densities(axes, trust, text), height=3.2)


def _draw_densities(axes: "Axes", trust: Sequence[Posterior], text: LanguageTexts) -> None:
    shares = np.linspace(0, 1, 401)
    for one, line in zip(trust, cycle(("-", "--", "-.", ":")), strict=False):
        label = text("bucket-raters", **one.bucket._asdict())
        axes.plot(shares, one.density(shares), line, label=label)  # curves may overlap
    axes.set_xlabel(text("figure-x"))
    axes.set_ylabel(text("figure-y"))
    axes.set_xlim(0, 1)
    axes.set_ylim(bottom=0)


# --- Perfect rewrites


def perfect(
    rewrites: Iterable[Rewrite], ratings: Iterable[Rating], *, raters: int = 2
) -> list[Rewrite]:
    """The rewrites that are correct in all ratings, of which there are at least so many
    (Zhang et al. 2020, §4.2.2)."""
    found = buckets(ratings, CORRECT)
    return [
        each
        for each in rewrites
        if (votes := found.get(each.id or "")) and votes.yes == votes.raters >= raters
    ]


def benchmark(rewrites: Iterable[Rewrite]) -> list[Example]:
    """The sources of the rewrites with these as references, without duplicates."""
    pairs = (Example(each.source, (each.simple,), "") for each in without_duplicates(rewrites))
    return [replace(each, id=str(number)) for number, each in enumerate(gather(pairs), start=1)]


def without_duplicates(rewrites: Iterable[Rewrite]) -> list[Rewrite]:
    """The same rewrites as records, with their ids and writers, the sources together."""
    found: dict[str, dict[tuple[str, ...], Rewrite]] = {}
    for rewrite in rewrites:
        found.setdefault(rewrite.source, {}).setdefault(rewrite.simple, rewrite)
    return [rewrite for references in found.values() for rewrite in references.values()]


def _size(gold: Iterable[Rewrite]) -> dict[str, float]:
    """The rows of table 2 of Zhang et al. (2020)."""
    found = describe(benchmark(gold))
    return {
        "complex": found.complex.unique,
        "simple": found.pairs.total,
        "tokens_per_complex": found.tokens_per_complex,
        "sentences_per_simple": found.sentences_per_pair,
    }
