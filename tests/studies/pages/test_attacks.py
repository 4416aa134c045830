"""Attacks on everything that is there, also on what is added later: the routes are those of the
application, not a list."""

import json
import re
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from fastapi.routing import APIRoute
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from parataxis.studies.pages import organiser as organiser_module
from parataxis.studies.study import Role

FORM = "application/x-www-form-urlencoded"
JSON = "application/json"
PUBLIC = {"/", "/join/{token}", "/panel", "/mturk", "/language/{code}", "/organiser/login"}
"""What can be asked without a session; all of it says nothing about the study's people."""


def _routes(app: Any, *, writing: bool) -> list[tuple[str, str]]:
    """Method and path of every route that writes, or of every one that reads."""
    found = [
        (method, route.path)
        for route in _flat(app.routes)
        if isinstance(route, APIRoute)
        for method in route.methods
        if (method not in ("GET", "HEAD")) == writing
    ]
    assert len(found) > 8, "the routes could not be listed"
    return found


def _flat(routes: Any) -> Any:
    for route in routes:
        inner = getattr(route, "original_router", None)
        yield from _flat(inner.routes) if inner is not None else [route]


def _filled(path: str, person: str, slot: int) -> str:
    names = {"person": person, "slot": str(slot), "action": "exclude", "name": "ratings.jsonl"}
    return re.sub(r"\{(\w+)\}", lambda match: names.get(match[1], "es"), path)


def test_attacks_without_a_session_nothing_is_told_or_done(serve: Any) -> None:
    served = serve(panel={}, write={"sources": "sources.txt"})
    person, _ = served.person(name="Ann Onymous")
    slot = served.store.next_task(person).slot
    before = served.store.personal_data(person)
    nobody = served.visitor(follow_redirects=False).client
    for writing in (False, True):
        for method, path in _routes(served.app, writing=writing):
            answer = nobody.request(method, _filled(path, person, slot), data={"sure": "yes"})
            assert "Ann Onymous" not in answer.text, path
            assert "The mill" not in answer.text, path
            if path not in PUBLIC:
                to_login = answer.headers.get("location") == "/organiser/login"
                assert answer.status_code in (401, 403, 422) or to_login, (method, path)
    assert served.store.personal_data(person) == before


def test_attacks_a_rater_reads_nothing_of_the_organiser_and_of_others(serve: Any) -> None:
    served = serve(panel={}, write={"sources": "sources.txt"})
    person, _ = served.person(name="Ann Onymous")
    slot = served.store.next_task(person).slot
    served.store.save_draft(person, slot, {"sensical": 4})
    _, other = served.person()
    other.client.follow_redirects = False
    for method, path in _routes(served.app, writing=False):
        answer = other.client.request(method, _filled(path, person, slot))
        assert "Ann Onymous" not in answer.text, path
        if path.startswith("/organiser") and path not in PUBLIC:
            assert answer.headers["location"] == "/organiser/login", path
        if "{slot}" in path:
            assert answer.status_code == 404, path


def test_attacks_nothing_is_written_without_the_token(serve: Any) -> None:
    served = serve(panel={}, write={"sources": "sources.txt"})
    person, visitor = served.person()
    slot = served.store.next_task(person).slot
    before = served.store.personal_data(person)
    visitor.client.cookies.update(served.organiser().client.cookies)
    visitor.client.follow_redirects = False
    for method, path in _routes(served.app, writing=True):
        target = _filled(path, person, slot)
        for content, kind in ((b"sure=yes&agree=yes", FORM), (b'{"answers": {}}', JSON)):
            answer = visitor.client.request(
                method, target, content=content, headers={"content-type": kind}
            )
            assert answer.status_code == 403, (method, path, kind)
    assert served.store.personal_data(person) == before
    assert not served.store.paused


@pytest.mark.parametrize(
    "body",
    [
        b'{"answers": {"\\ud800": 1}}',
        b'{"answers": {"sensical": "\\ud800"}}',
        b'{"answers": {"\\u0000": "\\u0000"}, "seconds": 1e999}',
        b'{"answers": ' + b"[" * 50_000 + b"]" * 50_000 + b"}",
        b'{"answers": {"sensical": ' + b"9" * 6000 + b"}}",
        b'{"answers": {"sensical": NaN}}',
        b'{"answers": {"\xff": 1}}',
        b"\x00" * 1000,
    ],
)
def test_attacks_a_hostile_body_breaks_nothing(serve: Any, body: bytes) -> None:
    served = serve()
    person, visitor = served.person()
    slot = served.store.next_task(person).slot
    for method, path in (("POST", "submission"), ("PUT", "draft"), ("POST", "help")):
        answer = visitor.client.request(
            method,
            f"/api/tasks/{slot}/{path}",
            content=body,
            headers={"x-csrf-token": visitor.token, "content-type": JSON},
        )
        assert answer.status_code < 500
        assert answer.json()
    assert served.store.export_history() == []


def test_attacks_any_form_gets_an_answer(serve: Any) -> None:
    """Schemathesis tries the API; this the pages."""
    served = serve(consent="Yes?", background=[{"id": "a", "text": "A"}], panel={})
    person, visitor = served.person()
    slot = served.store.next_task(person)
    assert slot is None  # nothing before the consent
    organiser = served.organiser()
    organiser.get("/organiser/people")
    visitor.client.cookies.update(organiser.client.cookies)
    tokens = [visitor.token, organiser.csrf, "x"]
    routes = [
        _filled(path, person, 1)
        for _, path in _routes(served.app, writing=True)
        if not path.startswith("/api/") and path != "/organiser/logout"
    ]
    names = ["csrf", "agree", "b-0", "q-sensical", "seconds", "started", "rewrite", "flag"]
    names += ["count", "names", "role", "reason", "password"]
    texts = st.text(max_size=40) | st.sampled_from(["yes", "1", "-1", "\x00", "é" * 300, "rater"])
    visitor.client.follow_redirects = False

    @settings(
        max_examples=60, database=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
    )
    @given(
        path=st.sampled_from(routes),
        fields=st.dictionaries(st.sampled_from(names) | st.text(max_size=9), texts, max_size=6),
        token=st.sampled_from(tokens),
        raw=st.none() | st.binary(max_size=200),
        kind=st.sampled_from([FORM, "multipart/form-data; boundary=x", "text/plain", "", "é"]),
    )
    def attack(path: str, fields: dict[str, str], token: str, raw: bytes | None, kind: str) -> None:
        if raw is None:
            sent = {key: value.encode("utf-8", "replace") for key, value in fields.items()}
            answer = visitor.client.post(path, data={**sent, "csrf": token})
        else:
            headers = {"content-type": kind.encode("utf-8")}
            answer = visitor.client.post(path, content=raw, headers=headers)
        assert answer.status_code < 500, (path, fields, raw)

    attack()


@pytest.mark.parametrize(
    "path",
    ["/organiser/", "/organiser/people/", "/static", "/static/", "/task/", "//evil.example/x/"],
)
def test_attacks_no_redirect_goes_where_the_request_says(serve: Any, path: str) -> None:
    _, visitor = serve().person()
    visitor.client.follow_redirects = False
    for headers in ({"host": "evil.example"}, {"x-forwarded-host": "evil.example"}):
        answer = visitor.client.get(path, headers=headers)
        assert re.match(r"$|/(?!/)", answer.headers.get("location", "")), answer.headers


@pytest.mark.parametrize("length", ["9" * 5000, "-1", "1e3", "²"])
def test_attacks_a_length_that_is_none(serve: Any, length: str) -> None:
    client = serve().visitor().client
    headers = {"content-length": length.encode("latin-1")}
    assert client.post("/undo", content=b"x", headers=headers).status_code == 413


@pytest.mark.parametrize(
    "back", ["/%0d%0aset-cookie:%20a=b", "/%0aLocation:%20x", "/%00", "/%e2%80%a8x"]
)
def test_attacks_no_header_can_be_slipped_in(serve: Any, back: str) -> None:
    client = serve().visitor(follow_redirects=False).client
    answer = client.get(f"/language/es?back={back}")
    assert answer.headers["location"] == "/"
    assert answer.headers.get_list("set-cookie") == [answer.headers["set-cookie"]]


def test_attacks_many_guesses_at_once_are_not_more_guesses(
    serve: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    served = serve()
    tried: list[str] = []
    turn = threading.Lock()

    def check(password: str, hash_: str | None) -> bool:
        with turn:
            tried.append(password)
        return False

    monkeypatch.setattr(organiser_module, "is_password", check)
    visitor = served.visitor()
    token = visitor.get("/organiser/login") and visitor.csrf

    def guess(number: int) -> int:
        fields = {"csrf": token, "password": f"guess {number}"}
        headers = {"x-forwarded-for": f"10.0.0.{number}"}  # nobody in front of us said so
        return int(
            visitor.client.post("/organiser/login", data=fields, headers=headers).status_code
        )

    with ThreadPoolExecutor(8) as pool:
        codes = list(pool.map(guess, range(16)))
    assert len(tried) <= 5
    assert codes.count(429) >= 11


def test_attacks_a_changed_cookie_or_link_is_none(serve: Any) -> None:
    served = serve()
    person, visitor = served.person()
    cookie = visitor.client.cookies["parataxis_person"]
    link = served.token_of(person)

    @settings(
        max_examples=60, database=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
    )
    @given(place=st.integers(0, 200), letter=st.sampled_from("aZ0-_. =+/"))
    def attack(place: int, letter: str) -> None:
        for kind, signed in (("person", cookie), ("link", link)):
            at = place % len(signed)
            changed = signed[:at] + letter + signed[at + 1 :]
            found = (
                served.signing.session("person", changed)
                if kind == "person"
                else served.signing.person_of_link(changed)
            )
            assert found is None or changed == signed

    attack()


def test_attacks_a_writer_cannot_rate_and_nobody_sees_who_wrote(serve: Any) -> None:
    served = serve(write={"sources": "sources.txt", "writers": 1}, items=None, rate={"raters": 1})
    writer, visitor = served.person(Role.BOTH, name="Wanda Riter")
    visitor.get("/task")
    visitor.post(rewrite="One is here.\nTwo is there.")
    visitor.post(flag="simple")
    assert served.store.next_task(writer) is None
    rater, other = served.person()
    slot = served.store.next_task(rater).slot
    shown = other.get(f"/task/{slot}").text + json.dumps(other.api("GET", f"/tasks/{slot}").json())
    for secret in ("Wanda", writer, "human", "writer"):
        assert secret not in shown
    token = visitor.token
    answers = {"answers": {"sensical": 5}}
    assert visitor.api("GET", f"/tasks/{slot}").status_code == 404
    assert visitor.api("POST", f"/tasks/{slot}/submission", answers, token).status_code == 404


@pytest.mark.parametrize(
    ("back", "expected"),
    [
        ("https://workersandbox.mturk.com", "https://workersandbox.mturk.com/mturk/externalSubmit"),
        ("https://evil.example\\.mturk.com", None),
        ("https://evil.example/.mturk.com", None),
        ("https://evil.example#.mturk.com", None),
        ("https://www.mturk.com@evil.example", None),
        ("https://evilmturk.com", None),
        ("http://www.mturk.com", None),
        ("javascript://www.mturk.com/%0aalert(1)", None),
        ("https://[", None),
    ],
)
def test_attacks_the_code_of_a_panel_goes_to_the_panel_only(
    serve: Any, back: str, expected: str | None
) -> None:
    client = serve(panel={"completion_code": "C0DE"}).visitor().client
    answer = client.get("/mturk", params={"assignmentId": "A", "turkSubmitTo": back})
    assert answer.status_code == 200
    assert re.findall(r'<form method="post" action="([^"]*)"', answer.text) == (
        [expected] if expected else []
    )
    assert "C0DE" not in answer.text
    policy = answer.headers["content-security-policy"]
    assert "form-action https://*.mturk.com;" in policy + ";"
    assert "script-src 'self'" in policy
