"""The results of a platform as ratings and rewrites, like those of the study's own pages."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from parataxis.rewrite.record import Rewrite
from parataxis.studies.items import Effort, Item, as_expected, effort, sentences_of
from parataxis.studies.platforms.files import Answered, field_of
from parataxis.studies.records import (
    HUMAN,
    REWRITE,
    Answers,
    Flag,
    FlaggedSource,
    Purpose,
    Rating,
    Value,
    is_identical,
)
from parataxis.studies.rubric import Rubric, complete, from_text, outcomes, problems, writing
from parataxis.studies.study import ItemKind, OnFailure, Study

_LACKING = {
    Effort.EMPTY: "empty",
    Effort.SAME: "the source itself",
    Effort.TOO_FEW: "too few sentences",
}

Name = Callable[[str], str]
"""The name of a worker in the records."""


@dataclass
class ImportedResults:
    """Ratings, rewrites and flagged sources, and notes about work that was left out."""

    ratings: list[Rating] = field(default_factory=list)
    rewrites: list[Rewrite] = field(default_factory=list)
    flagged: list[FlaggedSource] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def ratings_of(
    results: Sequence[Answered], study: Study, rubric: Rubric, items: Sequence[Item], name: Name
) -> ImportedResults:
    """The ratings in a platform's results. Left out, with a note, are rejected work, answers that
    the rubric does not allow, second ratings of the same rewrite, ratings of the worker's own
    rewrite or, unless the study allows it, of one of the same source, and everything by a worker
    who failed too many control items, if the study says ``void``."""
    found = ImportedResults()
    wrote = {
        (item.source, (item.rewrite.model_extra or {}).get("writer"))
        for item in items
        if item.rewrite is not None and study.keeps_apart
    }
    failures: Counter[tuple[str, Purpose]] = Counter()
    for one, item, answers in _valid(results, rubric, items, ItemKind.RATE, name, found.notes):
        rater = name(one.worker)
        rewrite = item.rewrite
        if rewrite is None:
            continue
        if (rewrite.model_extra or {}).get("writer") == rater:
            found.notes.append(f"{one.where}: {rater} rated a rewrite of their own; left out.")
            continue
        if (item.source, rater) in wrote:
            found.notes.append(f"{one.where}: {rater} rewrote this source themselves; left out.")
            continue
        identical = is_identical(rewrite)
        controls = study.controls(item.purpose)
        if controls is not None:
            right = as_expected(item.expected, answers, controls.tolerance)
            failures[rater, item.purpose] += not all(right.values())
        found.ratings.append(
            Rating(
                item=item.id,
                rater=rater,
                rubric=study.rubric_name,
                answers=complete(rubric, answers, identical=identical),
                outcomes=outcomes(rubric, answers, identical=identical),
                identical=identical,
                purpose=item.purpose,
                seconds=one.seconds,
                when=one.when,
            )
        )
    _apply_controls(found, study, failures)
    return found


def rewrites_of(
    results: Sequence[Answered], study: Study, items: Sequence[Item], name: Name
) -> ImportedResults:
    """The rewrites and flags in the results of a write task. Work without enough effort is left
    out, with a note."""
    found = ImportedResults()
    wanted = study.write.sentences if study.write else 2
    numbers: dict[str, int] = defaultdict(int)
    for one, item, answers in _valid(results, writing(), items, ItemKind.WRITE, name, found.notes):
        writer, flag = name(one.worker), answers.get("answer")
        text = str(answers.get(REWRITE) or "")
        if text.strip().strip(".").upper() == "SIMPLE":  # as the guidelines of the paper ask
            flag = Flag.SIMPLE
        if flag in list(Flag):
            found.flagged.append(FlaggedSource(item.id, item.source, writer, Flag(str(flag))))
            continue
        lacking = effort(item.source, text, wanted)
        if lacking is not None:
            found.notes.append(f"{one.where}: the rewrite is {_LACKING[lacking]}; left out.")
            continue
        numbers[item.id] += 1
        fields = {"source": item.source, "simple": sentences_of(text), "splitter": HUMAN}
        ids = {"id": f"{item.id}.{numbers[item.id]}", "writer": writer, "source_id": item.id}
        found.rewrites.append(Rewrite.model_validate({**fields, **ids}))
    return found


def _valid(
    results: Sequence[Answered],
    rubric: Rubric,
    items: Sequence[Item],
    kind: ItemKind,
    name: Name,
    notes: list[str],
) -> Iterator[tuple[Answered, Item, Answers]]:
    """The results about items of the study with answers that the rubric allows, once each."""
    known = {item.id: item for item in items if item.kind is kind}
    seen: set[tuple[str, str]] = set()
    if rejected := sum(one.rejected for one in results):
        notes.append(f"{rejected:,} rejected pieces of work are left out.")
    for one in results:
        if one.rejected:
            continue
        item = known.get(one.item)
        if item is None:
            notes.append(f'{one.where}: the study has no item "{one.item}"; left out.')
            continue
        answers: dict[str, Value] = {
            question.id: value
            for question in rubric.questions
            if (value := from_text(question, one.values.get(field_of(question), ""))) is not None
        }
        identical = item.rewrite is not None and is_identical(item.rewrite)
        wrong = problems(rubric, answers, identical=identical)
        if wrong:
            question, message = next(iter(wrong.items()))
            notes.append(f'{one.where}: "{question}": {message.rstrip(".")}; left out.')
        elif (one.worker, item.id) in seen:
            again = f"{name(one.worker)} has answered about this item before"
            notes.append(f"{one.where}: {again}; left out.")
        else:
            seen.add((one.worker, item.id))
            yield one, item, answers


def _apply_controls(
    found: ImportedResults, study: Study, failures: Counter[tuple[str, Purpose]]
) -> None:
    """Apply the consequences for raters who failed more control items than are allowed."""
    for (rater, purpose), number in sorted(failures.items()):
        controls = study.controls(purpose)
        if controls is None or number <= controls.allowed:
            continue
        note = f"{rater} failed {number} {purpose} items"
        if controls.on_failure is OnFailure.VOID:
            before = len(found.ratings)
            found.ratings = [each for each in found.ratings if each.rater != rater]
            note += f"; their {before - len(found.ratings)} ratings are left out"
        found.notes.append(f"{note}.")
