"""Writers and raters, from their link to the last page, with a browser that runs no script."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from parataxis.studies.records import Purpose
from parataxis.studies.store.types import Stage
from parataxis.studies.study import Role

GOOD = {
    "q-sensical": "5",
    "q-grammatical": "5",
    "q-misses": "no",
    "q-adds": "no",
    "q-wrong-split": "no",
    "q-split-further": "no",
}
BACKGROUND = [
    {
        "id": "native",
        "text": {"en": "Native?", "es": "¿Nativa?"},
        "kind": "yes-no",
        "required": True,
    },
    {"id": "age", "text": "Age", "kind": "number"},
    {"id": "field", "text": "Field", "kind": "choice", "choices": {"law": "Law", "art": "Art"}},
]
QUALIFICATION = {"training": "training.jsonl", "test": "test.jsonl"}
WRITE = {"sources": "sources.txt", "writers": 1}


def test_people_first_steps_consent_background_instructions(serve: Any) -> None:
    served = serve(consent={"en": "Do you\n\nagree?", "es": "¿Acepta?"}, background=BACKGROUND)
    person, visitor = served.person()
    assert visitor.path == "/consent"
    assert "Do you" in visitor.page.text
    assert visitor.post("/consent").status_code == 422
    assert "only take part if you agree" in visitor.page.text
    visitor.post("/consent", agree="yes")
    assert visitor.path == "/background"
    assert visitor.send("/background", {"b-1": "old"}).status_code == 422
    assert visitor.page.text.count('class="problem"') == 2
    visitor.send("/background", {"b-0": "yes", "b-1": "41", "b-2": "law"})
    assert visitor.path == "/instructions"
    kept = served.store.person(person)
    assert kept.background == {"native": True, "age": 41, "field": "law"}
    assert kept.consented is not None
    assert kept.language == "en"
    assert visitor.get("/task").status_code == 200
    assert visitor.path.startswith("/task/")


def test_people_optional_background_is_asked_once_and_may_stay_empty(serve: Any) -> None:
    served = serve(background=[BACKGROUND[1]])
    _, visitor = served.person()
    assert visitor.path == "/background"
    visitor.post("/background")
    assert visitor.path == "/instructions"
    visitor.get("/")
    assert visitor.path == "/instructions"


def test_people_rate_everything_and_leave_with_a_code(serve: Any) -> None:
    url = "https://panel.example/done?cc=C0DE"
    served = serve(panel={"completion_code": "C0DE", "completion_url": url}, rate={"raters": 1})
    visitor = served.visitor()
    visitor.get("/panel?PROLIFIC_PID=p1&STUDY_ID=s&SESSION_ID=t")
    assert visitor.path == "/instructions"
    visitor.get("/task")
    while visitor.path.startswith("/task/"):
        assert "C0DE" not in visitor.page.text
        assert visitor.send(visitor.path, GOOD).status_code == 200
    assert visitor.path == "/status"
    assert "C0DE" in visitor.page.text
    assert url in visitor.page.text
    ratings = served.store.export_ratings()
    assert len(ratings) == 3
    assert {rating.item for rating in ratings} == {"i0", "i1", "i2"}
    assert all(rating.seconds is not None for rating in ratings)


def test_people_of_a_panel_come_back_as_themselves(serve: Any) -> None:
    served = serve(panel={"parameters": {"person": "workerId"}})
    for _ in range(2):
        served.visitor().get("/panel?workerId=w1")
    assert len(served.store.people()) == 1
    refused = served.visitor().get("/panel?PROLIFIC_PID=w1")
    assert refused.status_code == 400
    assert "does not say who you are" in refused.text


def test_people_a_rating_with_something_missing_is_shown_again(serve: Any) -> None:
    served = serve()
    person, visitor = served.person()
    visitor.get("/task")
    given = {key: value for key, value in GOOD.items() if key != "q-adds"}
    answer = visitor.send(visitor.path, {**given, "q-sensical": "9"})
    assert answer.status_code == 422
    assert "This is not one of the possible answers." in answer.text
    assert answer.text.count("Please answer this question.") == 1
    assert 'name="q-grammatical" value="5" checked' in answer.text
    assert served.store.progress(person).done["rate"] == 0


def test_people_conditions_work_without_a_script(serve: Any) -> None:
    served = serve(rubric="concise", rate={"raters": 1})
    _, visitor = served.person()
    visitor.get("/task")
    while "equal to the original" in visitor.page.text:
        visitor.send(
            visitor.path, {"q-simplification": "1", "q-concerning": "no", "q-needed": "no"}
        )
    first = {"q-simplification": "3", "q-meaning": "3", "q-fluency": "3", "q-concerning": "no"}
    first |= {"q-overall": "reject", "q-needed": "yes"}
    assert 'id="q-severity"' in visitor.page.text
    assert _is_hidden(visitor.page.text, "severity")
    assert visitor.send(visitor.path, first).status_code == 422
    assert not _is_hidden(visitor.page.text, "severity")
    assert not _is_hidden(visitor.page.text, "corrected")
    assert _is_hidden(visitor.page.text, "edited")
    visitor.send(visitor.path, {**first, "q-severity": "2", "q-corrected": "It burnt."})
    assert visitor.page.status_code == 200
    kept = next(rating for rating in served.store.export_ratings() if not rating.identical)
    assert kept.answers["overall"] == "reject"
    assert kept.answers["severity"] == 2
    assert kept.answers["edited"] is None


def _is_hidden(page: str, question: str) -> bool:
    start = page.index(f'id="q-{question}"')
    return "hidden disabled" in page[start : page.index("</legend>", start)].split(">")[0]


def test_people_identical_pairs_are_marked_and_have_fixed_answers(serve: Any) -> None:
    served = serve(rubric="concise", rate={"raters": 1})
    person, visitor = served.person()
    visitor.get("/task")
    everything = {"q-simplification": "1", "q-meaning": "1", "q-fluency": "1"}
    everything |= {"q-concerning": "no", "q-overall": "accept", "q-needed": "no"}
    while visitor.path.startswith("/task/"):
        if served.store.task(person, visitor.path.rpartition("/")[2]).item.identical:
            assert 'data-testid="identical"' in visitor.page.text
            assert "3 (they mean the same)" in visitor.page.text
            assert 'id="q-overall"' not in visitor.page.text
        visitor.send(visitor.path, everything)
    (same,) = [rating for rating in served.store.export_ratings() if rating.identical]
    assert (same.answers["meaning"], same.answers["fluency"]) == (3, 3)
    assert same.answers["overall"] is None
    assert same.answers["simplification"] == 1


def test_people_training_gives_feedback_and_the_test_two_attempts(serve: Any) -> None:
    served = serve(qualification=QUALIFICATION)
    person, visitor = served.person()
    visitor.get("/task")
    assert "Practice 1 of 1" in visitor.page.text
    slot = visitor.path
    visitor.send(slot, {**GOOD, "q-sensical": "2"})
    assert visitor.path == f"{slot}/feedback"
    assert "All is well." in visitor.page.text
    assert 'class="wrong" data-testid="feedback-sensical"' in visitor.page.text
    assert 'class="right" data-testid="feedback-misses"' in visitor.page.text
    visitor.get(slot)
    assert "cannot be changed" in visitor.page.text
    visitor.get("/task")
    assert "Test 1 of 1" in visitor.page.text
    visitor.send(visitor.path, GOOD)
    assert "Here is another attempt" in visitor.page.text
    visitor.send(visitor.path, GOOD)
    assert visitor.path == "/status"
    assert served.store.progress(person).stage is Stage.FAILED
    assert "You did not pass the test" in visitor.page.text
    assert "another attempt" not in visitor.page.text


def test_people_who_pass_the_test_begin_to_work(serve: Any) -> None:
    served = serve(qualification=QUALIFICATION)
    _, visitor = served.person()
    visitor.get("/task")
    visitor.send(visitor.path, GOOD)
    visitor.get("/task")
    visitor.send(visitor.path, {**GOOD, "q-misses": "yes"})
    assert "You have passed the test" in visitor.page.text
    assert "Done so far: 0" in visitor.page.text


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "write your rewrite first"),
        ("  \n ", "write your rewrite first"),
        ("The ferry left.", "at least 2 sentences"),
        ("SOURCE", "This is the original."),
        ("x" * 10_001 + ". It left.", "at most 10000 characters"),
    ],
)
def test_people_a_rewrite_needs_some_effort(serve: Any, text: str, message: str) -> None:
    served = serve(write=WRITE, items=None)
    person, visitor = served.person(Role.WRITER)
    visitor.get("/task")
    source = served.store.next_task(person).item.source
    answer = visitor.post(rewrite=text.replace("SOURCE", source))
    assert answer.status_code == 422
    assert message in answer.text
    assert text.replace("SOURCE", source).strip()[:50] in answer.text


def test_people_what_is_written_is_rated_by_others_only(serve: Any) -> None:
    served = serve(write=WRITE, items=None)
    writer, visitor = served.person(Role.BOTH)
    visitor.get("/task")
    visitor.post(rewrite="The ferry left.\nIt ran aground.")
    visitor.post(flag="too-hard")
    assert visitor.path == "/status"
    assert "Rewrites: 2." in visitor.page.text
    _, rater = served.person()
    rater.get("/task")
    assert "It ran aground." in rater.page.text
    assert writer not in rater.page.text
    rater.send(rater.path, GOOD)
    (rating,) = served.store.export_ratings()
    (rewrite,) = served.store.export_items()
    assert rating.item == rewrite.id
    assert rewrite.simple == ("The ferry left.", "It ran aground.")
    assert [each.flag.value for each in served.store.export_flagged()] == ["too-hard"]


def test_people_undo_opens_the_last_submission_again(serve: Any) -> None:
    served = serve()
    person, visitor = served.person()
    visitor.get("/task")
    first = visitor.path
    visitor.send(first, {**GOOD, "q-sensical": "4"})
    assert visitor.path != first
    visitor.post("/undo")
    assert visitor.path == first
    assert "open again" in visitor.page.text
    assert 'name="q-sensical" value="4" checked' in visitor.page.text
    visitor.send(first, GOOD)
    assert [rating.answers["sensical"] for rating in served.store.export_ratings()] == [5]
    visitor.post("/undo")
    visitor.post("/undo")
    assert "cannot be undone" in visitor.page.text
    assert served.store.progress(person).done["rate"] == 0


def test_people_who_go_back_correct_what_they_submitted(serve: Any) -> None:
    served = serve()
    _, visitor = served.person()
    visitor.get("/task")
    first = visitor.path
    visitor.send(first, GOOD)
    visitor.get(first)
    assert "You have submitted this." in visitor.page.text
    visitor.send(first, {**GOOD, "q-adds": "yes"})
    (rating,) = served.store.export_ratings()
    assert rating.answers["adds"] is True
    assert rating.outcomes == {}
    assert len(served.store.export_history()) == 2


def test_people_resume_on_another_device(serve: Any) -> None:
    served = serve()
    person, visitor = served.person()
    slot = visitor.get("/task").url.path.rpartition("/")[2]
    body = {"answers": {"sensical": 3}, "seconds": 12.3}
    assert visitor.api("PUT", f"/tasks/{slot}/draft", body, visitor.token).json() == {"saved": True}
    other = served.visitor()
    other.get(f"/join/{served.token_of(person)}")
    other.get("/task")
    assert other.path == f"/task/{slot}"
    assert 'name="q-sensical" value="3" checked' in other.page.text
    assert 'data-before="12"' in other.page.text


@pytest.mark.parametrize(
    ("change", "stage"), [("block", "blocked"), ("exclude", "blocked"), (None, "paused")]
)
def test_people_who_cannot_work_are_told_why(serve: Any, change: str | None, stage: str) -> None:
    served = serve()
    person, visitor = served.person()
    if change is None:
        served.store.pause()
    else:
        getattr(served.store, change)(person)
    visitor.get("/task")
    assert f'data-stage="{stage}"' in visitor.page.text


def test_people_control_items_look_like_any_other(serve: Any) -> None:
    served = serve(attention={"items": "test.jsonl", "every": 2}, rate={"raters": 1})
    _, visitor = served.person()
    visitor.get("/task")
    seen = 0
    while visitor.path.startswith("/task/"):
        seen += 1
        for secret in ("attention", "known", "i0", "rules", "expected"):
            assert secret not in visitor.page.text
        misses = "yes" if "Cy, who left" in visitor.page.text else "no"
        visitor.send(visitor.path, {**GOOD, "q-misses": misses})
        if seen == 4:
            break
    controls = served.store.export_ratings(purposes=[Purpose.ATTENTION])
    assert len(controls) == 1


def test_people_progress_counts_towards_the_limit(serve: Any) -> None:
    served = serve(rate={"per_person": 2})
    _, visitor = served.person()
    visitor.get("/task")
    assert "0 of 2 done" in visitor.page.text
    visitor.send(visitor.path, GOOD)
    assert '<progress value="1" max="2"' in visitor.page.text
    visitor.send(visitor.path, GOOD)
    assert 'data-stage="finished"' in visitor.page.text


def test_people_someone_without_a_link_learns_what_to_do(serve: Any) -> None:
    served = serve()
    visitor = served.visitor()
    assert "personal link" in visitor.get("/").text
    refused = visitor.get("/task")
    assert refused.status_code == 401
    assert "personal link" in refused.text


def test_people_an_external_question_of_mechanical_turk(serve: Any) -> None:
    served = serve(panel={"parameters": {"person": "workerId"}, "completion_code": "C0DE"})
    visitor = served.visitor()
    at = "/mturk?workerId=w1&hitId=h&turkSubmitTo=https://www.mturk.com&assignmentId="
    preview = visitor.get(f"{at}ASSIGNMENT_ID_NOT_AVAILABLE")
    assert "accept this task first" in preview.text
    page = visitor.get(f"{at}a1")
    assert 'action="https://www.mturk.com/mturk/externalSubmit"' in page.text
    assert 'name="assignmentId" value="a1"' in page.text
    assert "C0DE" not in page.text
    assert not page.headers.get("set-cookie")
    policy = page.headers["content-security-policy"]
    assert "frame-ancestors https://*.mturk.com" in policy
    assert "script-src 'self'" in policy
    visitor.get("/panel?workerId=w1&hitId=h")
    assert visitor.path == "/instructions"
    assert "frame-ancestors 'none'" in visitor.page.headers["content-security-policy"]


@pytest.mark.parametrize(
    "target",
    ["https://evil.example", "http://www.mturk.com", "https://evilmturk.com", "javascript:x", ""],
)
def test_people_the_code_is_sent_to_mechanical_turk_only(serve: Any, target: str) -> None:
    page = serve(panel={}).visitor().get(f"/mturk?assignmentId=a&turkSubmitTo={target}")
    assert "<form" not in page.text


def test_people_a_study_below_a_path(serve: Any) -> None:
    served = serve(consent="Yes?", rate={"raters": 1})
    (person,) = served.store.invite(1)
    visitor = served.visitor(root_path="/pilot")
    visitor.get(f"/pilot/join/{served.token_of(person.id)}")
    assert visitor.path == "/pilot/consent"
    visitor.post(agree="yes")
    assert visitor.path == "/pilot/instructions"
    visitor.get("/pilot/task")
    while visitor.path.startswith("/pilot/task/"):
        assert not re.search(r'(?:href|src|action|data-api)="/(?!pilot/)', visitor.page.text)
        visitor.send(visitor.path, GOOD)
    assert visitor.path == "/pilot/status"
    assert len(served.store.export_ratings()) == 3
    assert visitor.get("/pilot/static/study.css").status_code == 200
    assert visitor.get("/pilot/api/progress").json()["rated"] == 3
    assert visitor.get("/pilot/api/nowhere").json()["detail"] == "Not Found"
    assert visitor.get("/pilot/organiser").url.path == "/pilot/organiser/login"


def test_people_a_study_in_one_language_offers_no_other(serve: Any) -> None:
    served = serve(languages=["es"], items="items.jsonl")
    _, visitor = served.person()
    assert "Instrucciones" in visitor.page.text
    assert "language-en" not in visitor.page.text
    visitor.get("/language/en?back=/instructions")
    assert "Instrucciones" in visitor.page.text


# --- What raters and writers can look up, and what they are told


def test_people_look_up_what_they_submitted(serve: Any) -> None:
    served = serve(rate={"raters": 2}, qualification={"training": "training.jsonl"})
    _, rater = served.person()
    assert "You have not submitted anything yet." in rater.get("/mine").text
    rater.get("/task")
    rater.send(rater.path, GOOD)
    rater.get("/task")
    source = re.search(r'data-testid="source">([^<]*)<', rater.text)[1]
    task = rater.path
    rater.send(task, GOOD)
    page = rater.get("/mine").text
    assert source in page
    assert "practice" in page
    assert "rules" not in page
    assert page.count(f'href="{task}"') == 1
    assert "the new answer counts" in rater.get(task).text
    assert rater.get("/mine?page=2").status_code == 200
    for wrong in ("0", "-1", "x", "9" * 30):
        assert rater.get(f"/mine?page={wrong}").status_code == 404


def test_people_a_change_that_comes_too_late_says_so(serve: Any) -> None:
    served = serve(items=None, rate={"raters": 1}, write={"sources": "sources.txt", "writers": 1})
    _, wanda = served.person(Role.WRITER)
    wanda.get("/task")
    here = wanda.path
    wanda.post(rewrite="The ferry sank.\nIt left.")
    assert "the new answer counts" in wanda.get(here).text
    page = wanda.page
    _, rater = served.person()
    rater.get("/task")  # somebody begins to rate it
    assert "it cannot be changed any more" in wanda.get(here).text
    assert 'id="submit"' not in wanda.text
    wanda.page = page  # which was open all the time
    wanda.post(here, rewrite="Another one.\nQuite another.")
    assert "came too late and does not count" in wanda.text
    assert served.store.export_items()[0].simple == ("The ferry sank.", "It left.")


@pytest.mark.parametrize("given", ["-5", "15", "111", "999999999", "1e3", "9" * 40, "٤٢"])
def test_people_numbers_have_bounds(serve: Any, given: str) -> None:
    age = {"id": "age", "text": "Age?", "kind": "number", "low": 16, "high": 110}
    served = serve(background=[age])
    person, visitor = served.person()
    visitor.get("/background")
    answer = visitor.send("/background", {"b-0": given})
    assert answer.status_code == 422
    assert "Please give a whole number from 16 to 110." in answer.text
    assert visitor.send("/background", {"b-0": "16"}).url.path == "/instructions"
    assert served.store.person(person).background == {"age": 16}


def test_people_who_fail_leave_with_the_screen_out_code(serve: Any) -> None:
    served = serve(
        panel={"completion_code": "D0NE", "screen_out_code": "0UT"},
        qualification={"test": "test.jsonl", "attempts": 1},
    )
    visitor = served.visitor()
    visitor.get("/panel?PROLIFIC_PID=p")
    visitor.get("/task")
    visitor.send(visitor.path, GOOD | {"q-misses": "no"})
    assert visitor.path == "/status"
    assert "0UT" in visitor.text
    assert "D0NE" not in visitor.text


def test_people_who_find_nothing_left_leave_without_the_completion_code(serve: Any) -> None:
    served = serve(panel={"completion_code": "D0NE", "screen_out_code": "0UT"}, rate={"raters": 1})
    for person, code, other in (("first", "D0NE", "0UT"), ("late", "0UT", "D0NE")):
        visitor = served.visitor()
        visitor.get(f"/panel?PROLIFIC_PID={person}")
        visitor.get("/task")
        while visitor.path.startswith("/task/"):
            visitor.send(visitor.path, GOOD)
        assert visitor.path == "/status"
        assert code in visitor.text
        assert other not in visitor.text
    assert "Nothing is left to do" in visitor.text


def test_people_writers_have_own_rules_examples_and_lessons(serve: Any, tmp_path: Path) -> None:
    lesson = {"source": "Al, who left, is back.", "expected": {"sentences": 2, "keeps": ["Al"]}}
    lesson["feedback"] = {"en": "Name Al in both.", "es": "Nombre a Al en ambas."}
    (tmp_path / "lessons.jsonl").write_text(json.dumps(lesson))
    case = {"source": "Our own, long.", "simple": ["Our own.", "It is long."], "good": True}
    write = {
        "sources": "sources.txt",
        "instructions": {"en": "Write plainly.\n\nBe kind.", "es": "Escriba claro."},
        "examples": [case],
        "qualification": {"training": "lessons.jsonl"},
    }
    served = serve(write=write)
    _, wanda = served.person(Role.WRITER)
    page = wanda.get("/instructions").text
    assert "<li>Be kind.</li>" in page
    assert "It is long." in page
    assert "The old mill" not in page
    wanda.get("/task")
    assert "Practice 1 of 1" in wanda.text
    wanda.post(rewrite="He left.\nHe is back.")
    assert wanda.path.endswith("/feedback")
    assert "Name Al in both." in wanda.text
    assert re.search('class="wrong" data-testid="feedback-keeps"', wanda.text)
    assert re.search('class="right" data-testid="feedback-sentences"', wanda.text)
    assert "Practice" not in wanda.get("/task").text
