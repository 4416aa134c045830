"""The JSON API, and its description."""

import json
from typing import Any

import pytest

from parataxis.studies.pages.work import give_help
from parataxis.studies.study import Role

ANSWERS = {
    "sensical": 5,
    "grammatical": 5,
    "misses": False,
    "adds": False,
    "wrong-split": False,
    "split-further": False,
}


def test_api_a_rater_needs_nothing_else(serve: Any) -> None:
    served = serve(rate={"raters": 1})
    person, visitor = served.person()
    session = visitor.api("GET", "/session").json()
    assert session["person"] == person
    done = 0
    while (task := visitor.api("GET", "/tasks/next").json()) is not None:
        assert set(task) == {
            *("slot", "kind", "stage", "source", "simple", "identical"),
            *("draft", "submitted", "final", "lease_until"),
        }
        path = f"/tasks/{task['slot']}"
        body = {"answers": ANSWERS, "seconds": 4.5}
        assert visitor.api("POST", f"{path}/submission", body, session["csrf"]).status_code == 200
        again = visitor.api("POST", f"{path}/submission", body, session["csrf"])
        assert again.status_code == 200
        done += 1
    assert done == len(served.store.export_ratings()) == 3
    progress = visitor.api("GET", "/progress").json()
    assert (progress["stage"], progress["rated"]) == ("finished", 3)
    assert visitor.api("POST", "/undo", token=session["csrf"]).json()["next"].startswith("/task/")


def test_api_problems_come_by_question_and_in_the_language(serve: Any) -> None:
    _, visitor = serve().person()
    visitor.client.cookies.set("parataxis_language", "es")
    task = visitor.api("GET", "/tasks/next").json()
    body = {"answers": {**ANSWERS, "sensical": 6, "adds": None, "extra": 1}}
    answer = visitor.api("POST", f"/tasks/{task['slot']}/submission", body, visitor.token)
    assert answer.status_code == 422
    assert set(answer.json()["problems"]) == {"sensical", "adds", "extra"}
    assert answer.json()["problems"]["adds"] == "Responda a esta pregunta, por favor."


@pytest.mark.parametrize(
    "body",
    [
        None,
        [],
        {"answers": []},
        {"answers": {"sensical": 5.5}},
        {"answers": {"sensical": [5]}},
        {"answers": {"sensical": 10**30}},
        {"answers": {}, "seconds": -1},
        {"answers": {}, "person": "other"},
        {"answers": {str(n): 1 for n in range(300)}},
    ],
)
def test_api_refuses_what_is_no_answer(serve: Any, body: Any) -> None:
    served = serve()
    person, visitor = served.person()
    slot = served.store.next_task(person).slot
    for method, path in (("PUT", "draft"), ("POST", "submission")):
        answer = visitor.api(method, f"/tasks/{slot}/{path}", body, visitor.token)
        assert answer.status_code == 422
        assert answer.json()["detail"] == "The request is not valid."


def test_api_refuses_what_is_no_json(serve: Any) -> None:
    served = serve()
    person, visitor = served.person()
    slot = served.store.next_task(person).slot
    headers = {"x-csrf-token": visitor.token, "content-type": "application/json"}
    for content in (b"{", b"\xff\xfe", b""):
        answer = visitor.client.put(f"/api/tasks/{slot}/draft", content=content, headers=headers)
        assert answer.status_code in (400, 422), content


def test_api_a_draft_keeps_what_is_an_answer(serve: Any) -> None:
    served = serve(rubric="concise")
    person, visitor = served.person()
    slot = served.store.next_task(person).slot
    answers = {"meaning": 2, "fluency": 9, "comments": "so\x00 \ud800so", "what": "x"}
    visitor.client.put(
        f"/api/tasks/{slot}/draft",
        content=json.dumps({"answers": answers}),
        headers={"x-csrf-token": visitor.token, "content-type": "application/json"},
    )
    assert served.store.task(person, slot).draft == {"meaning": 2, "comments": "so so"}
    assert visitor.api("GET", f"/tasks/{slot}").json()["draft"] == {
        "meaning": 2,
        "comments": "so so",
    }


@pytest.mark.parametrize(
    "body",
    [
        {"answers": {str(number): [] for number in range(5_000)}},
        {"answers": {}, **{"a" * 1_000 + str(number): 0 for number in range(100)}},
    ],
)
def test_api_of_many_faults_a_few_are_reported(serve: Any, body: Any) -> None:
    _, visitor = serve().person()
    task = visitor.api("GET", "/tasks/next").json()
    answer = visitor.api("POST", f"/tasks/{task['slot']}/submission", body, visitor.token)
    assert answer.status_code == 422
    assert 0 < len(answer.json()["problems"]) <= 20
    assert len(answer.content) < 10_000


def test_api_words_of_an_endless_rewrite_are_not_compared() -> None:
    assert give_help("Ann came.", "Bob came. " * 401).new == ()
    assert give_help("Ann came.", "Bob came.").new == ("Bob",)


def test_api_a_draft_after_the_submission_is_no_fault(serve: Any) -> None:
    served = serve()
    person, visitor = served.person()
    slot = served.store.next_task(person).slot
    token = visitor.token
    visitor.api("POST", f"/tasks/{slot}/submission", {"answers": ANSWERS}, token)
    late = visitor.api("PUT", f"/tasks/{slot}/draft", {"answers": {"sensical": 1}}, token)
    assert late.json() == {"saved": False}
    assert served.store.export_ratings()[0].answers["sensical"] == 5


def test_api_helps_writers_and_blocks_nothing(serve: Any) -> None:
    served = serve(items=None, write={"sources": "sources.txt", "writers": 1})
    person, visitor = served.person(Role.WRITER)
    task = served.store.next_task(person)
    while "ferry" not in task.item.source:
        served.store.submit(person, task.slot, {"flag": "simple"})
        task = served.store.next_task(person)
    path, token = f"/tasks/{task.slot}", visitor.token
    text = "The ferry had left Arden. It ran aground at a reef."
    found = visitor.api("POST", f"{path}/help", {"text": text}, token).json()
    assert found == {"sentences": 2, "lost": ["noon"], "new": ["reef"]}
    assert visitor.api("POST", f"{path}/help", {"text": "  "}, token).json()["sentences"] == 0
    body = {"answers": {"rewrite": text}}
    assert visitor.api("POST", f"{path}/submission", body, token).status_code == 200


@pytest.mark.parametrize(
    "answers",
    [{"flag": "king"}, {"flag": True}, {"rewrite": 5}, {"rewrite": None}, {}, {"sensical": 5}],
)
def test_api_a_write_task_takes_a_rewrite_or_a_flag(serve: Any, answers: Any) -> None:
    served = serve(items=None, write={"sources": "sources.txt"})
    person, visitor = served.person(Role.WRITER)
    slot = served.store.next_task(person).slot
    body = {"answers": answers}
    answer = visitor.api("POST", f"/tasks/{slot}/submission", body, visitor.token)
    assert answer.status_code == 422
    assert answer.json()["problems"]


def test_api_without_a_session(serve: Any) -> None:
    visitor = serve().visitor()
    for path in ("/session", "/progress", "/tasks/next", "/tasks/1"):
        answer = visitor.api("GET", path)
        assert answer.status_code == 401
        assert answer.json()["problems"] == {}
    assert visitor.api("GET", "/nowhere").json() == {"detail": "Not Found", "problems": {}}


def test_api_a_database_that_fails_is_told(serve: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    from parataxis.studies.store.types import StoreError

    served = serve()
    _, visitor = served.person()

    def fail(*_: object) -> None:
        raise StoreError("The disk is full at /var/secret.")

    monkeypatch.setattr(served.store, "next_task", fail)
    answer = visitor.api("GET", "/tasks/next")
    assert answer.status_code == 503
    assert answer.headers["retry-after"] == "5"
    assert "secret" not in answer.text
    assert visitor.get("/task").status_code == 503


def test_api_is_described(serve: Any) -> None:
    client = serve().visitor().client
    described = client.get("/api/openapi.json").json()
    assert set(described["paths"]) == {
        "/api/session",
        "/api/progress",
        "/api/tasks/next",
        "/api/tasks/{slot}",
        "/api/tasks/{slot}/draft",
        "/api/tasks/{slot}/submission",
        "/api/tasks/{slot}/help",
        "/api/undo",
    }
    assert set(described["components"]["securitySchemes"]) == {"session", "csrf"}
    for path in ("/docs", "/redoc", "/openapi.json"):
        assert client.get(path).status_code == 404
