"""What came back from a platform, as ratings and rewrites like those of our own pages."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from parataxis.rewrite.record import Rewrite
from parataxis.studies.items import Item, as_expected, effort, sentences_of
from parataxis.studies.items import ItemKind as Phase
from parataxis.studies.platforms.files import Answered, PlatformResults, field_of, opaque
from parataxis.studies.records import HUMAN, Answers, Purpose, Rating, Value, is_identical
from parataxis.studies.rubric import Rubric, complete, from_text, outcomes, problems, writing
from parataxis.studies.study import Controls, OnFailure, Study

SIMPLE, TOO_HARD = "simple", "too-hard"
_ANSWER, _REWRITE = "answer", "rewrite"

Name = Callable[[str], str]
"""What a worker is called in the records."""


@dataclass(frozen=True)
class FlaggedSource:
    """A source that a worker flagged instead of rewriting it."""

    source_id: str
    source: str
    writer: str
    flag: str


@dataclass
class Brought:
    """What was brought home, and, in sentences, what was not and why."""

    ratings: list[Rating] = field(default_factory=list)
    rewrites: list[Rewrite] = field(default_factory=list)
    flagged: list[FlaggedSource] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def ratings_of(
    results: PlatformResults, study: Study, rubric: Rubric, items: Sequence[Item], name: Name
) -> Brought:
    """The ratings in a platform's results. Left out, and noted, are those that the rubric does not
    allow, second ones of the same rewrite, those of one's own rewrite, and all of somebody who
    failed more control items than the study lets pass, where it says ``void``."""
    brought = Brought(notes=_rejected(results))
    failures: Counter[tuple[str, Purpose]] = Counter()
    for one, item, answers in _known(results, rubric, items, Phase.RATE, name, brought.notes):
        rater = name(one.worker)
        rewrite = item.rewrite
        if rewrite is None:
            continue
        if (rewrite.model_extra or {}).get("writer") == rater:
            brought.notes.append(f"{one.where}: {rater} rated a rewrite of their own; left out.")
            continue
        identical = is_identical(rewrite)
        controls = _controls(study, item.purpose)
        if controls is not None:
            right = as_expected(item.expected, answers, controls.tolerance)
            failures[rater, item.purpose] += not all(right.values())
        brought.ratings.append(
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
    _discipline(brought, study, failures)
    return brought


def rewrites_of(
    results: PlatformResults, study: Study, items: Sequence[Item], name: Name
) -> Brought:
    """The rewrites and flags in the results of a task to write; work without the effort that the
    study asks for is left out, and noted."""
    brought = Brought(notes=_rejected(results))
    wanted = study.write.sentences if study.write else 2
    numbers: dict[str, int] = defaultdict(int)
    for one, item, answers in _known(results, writing(), items, Phase.WRITE, name, brought.notes):
        writer, flag = name(one.worker), answers.get(_ANSWER)
        text = str(answers.get(_REWRITE) or "")
        if text.strip().strip(".").upper() == "SIMPLE":  # as the guidelines of the paper ask
            flag = SIMPLE
        if flag in (SIMPLE, TOO_HARD):
            brought.flagged.append(FlaggedSource(item.id, item.source, writer, str(flag)))
            continue
        lacking = effort(item.source, text, wanted)
        if lacking is not None:
            brought.notes.append(f"{one.where}: the rewrite is {_LACKING[lacking]}; left out.")
            continue
        numbers[item.id] += 1
        fields = {"writer": writer, "source_id": item.id}
        brought.rewrites.append(
            Rewrite.model_validate(
                {
                    "source": item.source,
                    "simple": sentences_of(text),
                    "splitter": HUMAN,
                    "id": f"{item.id}.{numbers[item.id]}",
                    **fields,
                }
            )
        )
    return brought


_LACKING = {"empty": "empty", "same": "the source itself", "too-few": "too few sentences"}


def _rejected(results: PlatformResults) -> list[str]:
    number = results.rejected
    return [f"{number:,} rejected pieces of work are left out."] if number else []


def _known(
    results: PlatformResults,
    rubric: Rubric,
    items: Sequence[Item],
    phase: Phase,
    name: Name,
    notes: list[str],
) -> Iterator[tuple[Answered, Item, Answers]]:
    """The results about items of the study, with answers that the rubric allows, once each."""
    known = {opaque(item.id): item for item in items if item.kind is phase}
    seen: set[tuple[str, str]] = set()
    for one in results.answered:
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


def _controls(study: Study, purpose: Purpose) -> Controls | None:
    return {Purpose.ATTENTION: study.attention, Purpose.KNOWN: study.known}.get(purpose)


def _discipline(brought: Brought, study: Study, failures: Counter[tuple[str, Purpose]]) -> None:
    """What follows for those who failed more control items than are allowed."""
    for (rater, purpose), number in sorted(failures.items()):
        controls = _controls(study, purpose)
        if controls is None or number <= controls.allowed:
            continue
        note = f"{rater} failed {number} {purpose} items"
        if controls.on_failure is OnFailure.VOID:
            before = len(brought.ratings)
            brought.ratings = [each for each in brought.ratings if each.rater != rater]
            note += f"; their {before - len(brought.ratings)} ratings are left out"
        brought.notes.append(f"{note}.")
