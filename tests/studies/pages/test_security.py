"""Each promise of the application, attacked."""

import re
import time
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient
from uvicorn.middleware.proxy_headers import ProxyHeadersMiddleware

from parataxis.studies.pages.app import make_app
from parataxis.studies.pages.keys import Secrets, SecretsFile, Signing, StudySettings, keep_password
from parataxis.studies.study import Role
from parataxis.web import Throttle, network_of

GOOD = {
    "q-sensical": "5",
    "q-grammatical": "5",
    "q-misses": "no",
    "q-adds": "no",
    "q-wrong-split": "no",
    "q-split-further": "no",
}
PASSWORD = "correct horse battery"


# --- Links and sessions


@pytest.mark.parametrize(
    "forge",
    [
        lambda token: token[:-5] + ("A" if token[-5] != "A" else "B") + token[-4:],
        lambda token: token.replace(".", ".9", 1),  # a later time
        lambda token: "x" + token,
        lambda token: token.rpartition(".")[0],
        lambda token: "",
        lambda token: "a" * 5000,
        lambda token: "é.%00.ü",
    ],
)
def test_security_a_forged_link_opens_nothing(serve: Any, forge: Any) -> None:
    served = serve()
    (person,) = served.store.invite(1)
    visitor = served.visitor()
    answer = visitor.client.get(f"/join/{forge(served.token_of(person.id))}")
    assert answer.status_code in (404, 410)
    assert "parataxis_person" not in visitor.client.cookies


def test_security_a_link_of_another_key_or_another_time_opens_nothing(serve: Any) -> None:
    served = serve()
    (person,) = served.store.invite(1)
    others = Signing(StudySettings(Secrets(key="z" * 48)))
    late = Signing(served.settings, clock=lambda: time.time() - 61 * 86_400)
    for signing in (others, late):
        token = signing.link(person.id).rpartition("/")[2]
        assert served.visitor().get(f"/join/{token}").status_code == 410
    assert served.visitor().get(f"/join/{served.token_of(person.id)}").status_code == 200


def test_security_a_link_is_no_session_and_a_session_no_link(serve: Any) -> None:
    served = serve()
    (person,) = served.store.invite(1)
    cookie, _ = served.signing.new_session("person", person.id)
    organiser, _ = served.signing.new_session("organiser", "organiser")
    assert served.signing.person_of_link(cookie) is None
    assert served.signing.session("person", served.token_of(person.id)) is None
    assert served.signing.session("organiser", cookie) is None
    assert served.signing.session("person", organiser) is None
    assert served.signing.session("person", "ü") is None


def test_security_a_session_ends(serve: Any) -> None:
    served = serve(server={"session_days": 1, "organiser_hours": 1})
    then = Signing(served.settings, clock=lambda: time.time() - 2 * 86_400)
    for kind in ("person", "organiser"):
        cookie, _ = then.new_session(kind, "somebody")
        assert served.signing.session(kind, cookie) is None
        assert then.session(kind, cookie) is not None


def test_security_a_new_password_ends_the_sessions_of_the_organiser(serve: Any) -> None:
    served = serve()
    changed = Signing(StudySettings(Secrets(key=served.settings.secrets.key, password_hash="new")))
    cookie, _ = served.signing.new_session("organiser", "organiser")
    assert changed.session("organiser", cookie) is None
    cookie, _ = served.signing.new_session("person", "x")
    assert changed.session("person", cookie) is not None


def test_security_a_new_password_holds_without_a_restart(serve: Any, tmp_path: Path) -> None:
    path = tmp_path / "new.secrets"
    keep_password(path, "the first password")
    served = serve(server={"secrets": SecretsFile(path)})
    organiser = served.visitor()
    organiser.get("/organiser/login")
    organiser.post(password="the first password")
    assert organiser.path == "/organiser"
    _, rater = served.person()
    keep_password(path, "the second password")
    assert organiser.get("/organiser").url.path == "/organiser/login"
    assert organiser.post(password="the first password").status_code == 401
    organiser.post(password="the second password")
    assert organiser.path == "/organiser"
    assert rater.get("/task").status_code == 200  # sessions and links of people go on


def test_security_a_session_that_was_logged_out_of_is_over_everywhere(serve: Any) -> None:
    served = serve()
    organiser, other = served.organiser(), served.organiser()
    stolen = served.visitor()
    stolen.client.cookies.update(organiser.client.cookies)
    stolen.get("/organiser")
    assert stolen.path == "/organiser"
    token = stolen.csrf
    organiser.get("/organiser")
    organiser.post("/organiser/logout")
    again = make_app(served.store, served.study, served.rubric, served.settings)
    for app in (served.app, again):  # also after a restart, or at another server
        client = TestClient(app, cookies=dict(stolen.client.cookies), follow_redirects=False)
        assert client.get("/organiser").headers["location"] == "/organiser/login"
        assert client.get("/organiser/export/study.zip").status_code == 303
        assert client.post("/organiser/pause", data={"csrf": token}).status_code == 303
        assert client.get("/organiser/login").status_code == 200
    assert not served.store.paused
    assert other.get("/organiser").url.path == "/organiser"  # a session of its own


def test_security_one_person_cannot_ask_without_end(serve: Any) -> None:
    served = serve(server={"requests_per_minute": 20})
    person, rater = served.person()
    _, other = served.person()
    slot = served.store.next_task(person).slot
    rater.get("/task")
    token = rater.csrf
    answers = [
        rater.api("PUT", f"/tasks/{slot}/draft", {"answers": {"sensical": 4}}, token)
        for _ in range(30)
    ]
    refused = [answer for answer in answers if answer.status_code == 429]
    assert 10 <= len(refused) <= 15
    assert {answer.status_code for answer in answers} == {200, 429}
    assert 0 < int(refused[0].headers["retry-after"]) <= 61
    assert "Too many requests" in refused[0].json()["detail"]
    # Another session of the same person is no way out, pages count too, and others go on.
    again = served.visitor()
    again.get(f"/join/{served.token_of(person)}")
    page = again.get("/instructions")
    assert page.status_code == 429
    assert "Too fast" in page.text
    assert other.get("/instructions").status_code == 200


def test_security_a_link_that_is_looked_at_consumes_nothing(serve: Any) -> None:
    """Mail programs and messengers fetch links before people do, some of them with cookies."""
    served = serve(consent="Do you agree?", rate={"raters": 1})
    (person,) = served.store.invite(1)
    before = served.store.personal_data(person.id), served.store.overview().phases
    path = f"/join/{served.token_of(person.id)}"
    for follow in (False, True):
        bot = served.visitor(follow_redirects=follow).client
        assert [bot.get(path).status_code for _ in range(3)] == [200 if follow else 303] * 3
        assert bot.head(path).status_code in (303, 405)
    assert (served.store.personal_data(person.id), served.store.overview().phases) == before
    visitor = served.visitor()
    assert visitor.get(path).url.path == "/consent"


def test_security_a_link_that_is_looked_at_takes_at_most_what_the_person_gets(serve: Any) -> None:
    served = serve(rate={"raters": 1})
    person, rater = served.person()
    rater.get("/task")
    task = served.store.next_task(person)
    served.store.submit(person, task.slot, {"sensical": 5})
    bot = served.visitor()
    bot.get(f"/join/{served.token_of(person)}")
    held = served.store.overview().phases["rate"].held
    assert held <= 1
    assert rater.get("/task").url.path == bot.path  # the very task that the person goes on with
    assert served.store.overview().phases["rate"].held == 1


def test_security_somebody_with_the_id_of_a_panel_reads_nothing_about_the_person(
    serve: Any,
) -> None:
    question = {"id": "age", "text": "How old are you?", "kind": "number"}
    served = serve(panel={}, background=[question])
    first = served.visitor()
    first.get("/panel?PROLIFIC_PID=5f3c2a&STUDY_ID=s&SESSION_ID=one")
    first.get("/background")
    first.post(b_0="4721")
    assert first.path == "/instructions"
    guesser = served.visitor()
    guesser.get("/panel?PROLIFIC_PID=5f3c2a&STUDY_ID=s&SESSION_ID=two")
    for path in ("/background", "/instructions", "/task", "/status", "/mine", "/api/session"):
        text = guesser.get(path).text
        assert "4721" not in text, path
        assert "5f3c2a" not in text, path


def proxied(app: Any, trusted: list[str], at: str) -> TestClient:
    """The application as uvicorn serves it, asked from an address."""
    return TestClient(ProxyHeadersMiddleware(app, trusted_hosts=trusted), client=(at, 5000))


def guess(client: TestClient, came_from: str, password: str) -> int:
    headers = {"x-forwarded-for": came_from}
    form = client.get("/organiser/login", headers=headers)
    token = re.search(r'name="csrf" value="([^"]*)"', form.text)
    fields = {"csrf": token[1] if token else "", "password": password}
    return client.post(
        "/organiser/login", data=fields, headers=headers, follow_redirects=False
    ).status_code


def test_security_behind_a_proxy_one_guesser_does_not_lock_the_others_out(serve: Any) -> None:
    served = serve()
    client = proxied(served.app, ["127.0.0.1", "10.0.0.2"], "10.0.0.2")
    assert [guess(client, "203.0.113.9", "guess") for _ in range(6)] == [401] * 5 + [429]
    assert guess(client, "203.0.113.9", PASSWORD) == 429
    assert guess(client, "198.51.100.7", PASSWORD) == 303


def test_security_an_address_that_somebody_invents_is_not_believed(serve: Any) -> None:
    served = serve()
    client = proxied(served.app, ["127.0.0.1", "10.0.0.2"], "203.0.113.9")
    tried = [guess(client, f"198.51.100.{n}", "guess") for n in range(6)]
    assert tried == [401] * 5 + [429]


@pytest.mark.parametrize(
    ("url", "secure"), [("http://127.0.0.1:8000", False), ("https://study.example", True)]
)
def test_security_cookies_are_closed_to_scripts_and_other_sites(
    serve: Any, url: str, secure: bool
) -> None:
    served = serve(server={"base_url": url})
    (person,) = served.store.invite(1)
    client = served.visitor(follow_redirects=False).client
    for answer in (
        client.get(f"/join/{served.token_of(person.id)}"),
        client.get("/organiser/login"),
        client.get("/language/es"),
    ):
        cookie = answer.headers["set-cookie"]
        assert "HttpOnly" in cookie
        assert "SameSite=lax" in cookie
        assert ("Secure" in cookie) is secure
    assert ("strict-transport-security" in client.get("/").headers) is secure


def test_security_somebody_erased_or_unknown_has_no_session_any_more(serve: Any) -> None:
    served = serve()
    person, visitor = served.person()
    token = served.token_of(person)
    served.store.erase(person)
    for path in ("/task", "/instructions", "/status", "/api/progress", "/api/tasks/next"):
        assert visitor.get(path).status_code == 404
    assert served.visitor().get(f"/join/{token}").status_code == 410


# --- Others' data


def test_security_no_rater_sees_or_touches_the_task_of_another(serve: Any) -> None:
    served = serve(qualification={"training": "training.jsonl"})
    _, ann = served.person()
    ann.get("/task")
    task = ann.path
    ann.send(task, GOOD)
    slot = task.rpartition("/")[2]
    _, bob = served.person()
    bob.get("/instructions")
    token = bob.token
    body = {"answers": {"sensical": 1}}
    assert bob.get(task).status_code == 404
    assert bob.get(f"{task}/feedback").status_code == 404
    assert bob.client.post(task, data={"csrf": token, **GOOD}).status_code == 404
    assert bob.api("GET", f"/tasks/{slot}").status_code == 404
    assert bob.api("PUT", f"/tasks/{slot}/draft", body, token).status_code == 404
    assert bob.api("POST", f"/tasks/{slot}/submission", body, token).status_code == 404
    assert bob.api("POST", f"/tasks/{slot}/help", {"text": "x"}, token).status_code == 404


@pytest.mark.parametrize("slot", ["0", "-1", "99999999", str(2**63), "1e3", "x", "1%00"])
def test_security_tasks_that_do_not_exist(serve: Any, slot: str) -> None:
    _, visitor = serve().person()
    assert visitor.client.get(f"/task/{slot}").status_code == 404
    assert visitor.client.get(f"/api/tasks/{slot}").status_code in (404, 422)


ORGANISER_GETS = [
    "",
    "/people",
    "/people/PERSON",
    "/people/PERSON/data.json",
    "/items",
    "/items/1",
    "/people.csv",
    "/export/items.jsonl",
    "/export/ratings.jsonl",
    "/export/history.jsonl",
    "/export/study.zip",
]
ORGANISER_POSTS = [
    "/pause",
    "/resume",
    "/invite",
    "/logout",
    "/work/2222222222/reject",
    "/work/2222222222/accept",
    "/people/PERSON/exclude",
    "/people/PERSON/block",
    "/people/PERSON/reinstate",
    "/people/PERSON/erase",
]


def test_security_no_rater_sees_the_pages_of_the_organiser(serve: Any) -> None:
    served = serve()
    person, rater = served.person()
    rater.get("/instructions")
    rater.client.follow_redirects = False
    nobody = served.visitor(follow_redirects=False)
    at_login = served.visitor(follow_redirects=False)
    at_login.get("/organiser/login")
    for visitor, token in ((rater, rater.token), (nobody, "x"), (at_login, at_login.csrf)):
        for path in ORGANISER_GETS:
            answer = visitor.client.get(f"/organiser{path.replace('PERSON', person)}")
            assert answer.headers["location"] == "/organiser/login", path
        for path in ORGANISER_POSTS:
            target = f"/organiser{path.replace('PERSON', person)}"
            answer = visitor.client.post(target, data={"csrf": token, "sure": "yes", "count": "1"})
            assert answer.headers["location"] == "/organiser/login", path
    assert not served.store.paused
    assert len(served.store.people()) == 1
    assert served.store.person(person) is not None


def test_security_a_session_of_a_rater_does_not_pass_for_one_of_the_organiser(serve: Any) -> None:
    served = serve()
    _, visitor = served.person()
    cookie = visitor.client.cookies["parataxis_person"]
    thief = served.visitor(cookies={"parataxis_organiser": cookie}, follow_redirects=False)
    assert thief.client.get("/organiser").status_code == 303
    cookie, _ = served.signing.new_session("person", "organiser")
    thief = served.visitor(cookies={"parataxis_organiser": cookie}, follow_redirects=False)
    assert thief.client.get("/organiser").status_code == 303


# --- Forged requests


def test_security_forms_of_people_need_the_token(serve: Any) -> None:
    served = serve(consent="Yes?", background=[{"id": "a", "text": "A"}])
    person, visitor = served.person()
    _, other = served.person()
    stolen = other.csrf  # of another session
    for token in ({}, {"csrf": ""}, {"csrf": "x"}, {"csrf": "é"}, {"csrf": stolen}):
        for path in ("/consent", "/background", "/task/1", "/undo"):
            answer = visitor.client.post(path, data={"agree": "yes", **token})
            assert answer.status_code == 403, (path, token)
    assert served.store.person(person).consented is None


def test_security_forms_of_the_organiser_need_the_token(serve: Any) -> None:
    served = serve()
    person, _ = served.person()
    organiser = served.organiser()
    fields = {"sure": "yes", "count": "1", "role": "rater"}
    for token in ({}, {"csrf": "x"}):
        for path in ORGANISER_POSTS:
            target = f"/organiser{path.replace('PERSON', person)}"
            answer = organiser.client.post(target, data={**fields, **token})
            assert answer.status_code == 403, path
    assert len(served.store.people()) == 1
    assert not served.store.paused


def test_security_the_login_form_needs_its_token(serve: Any) -> None:
    served = serve()
    visitor = served.visitor()
    answer = visitor.client.post("/organiser/login", data={"password": PASSWORD})
    assert answer.status_code == 403
    visitor.get("/organiser/login")
    answer = visitor.client.post("/organiser/login", data={"password": PASSWORD, "csrf": "x"})
    assert answer.status_code == 403


def test_security_the_api_needs_the_token_as_a_header(serve: Any) -> None:
    served = serve()
    person, visitor = served.person()
    slot = served.store.next_task(person).slot
    body = {"answers": {"sensical": 3}}
    for method, path in (
        ("PUT", f"/tasks/{slot}/draft"),
        ("POST", f"/tasks/{slot}/submission"),
        ("POST", f"/tasks/{slot}/help"),
        ("POST", "/undo"),
    ):
        for token in (None, "", "x"):
            assert visitor.api(method, path, body, token).status_code == 403
        # What a form of another site could send has no header and no JSON.
        answer = visitor.client.request(method, f"/api{path}", data={"csrf": visitor.token})
        assert answer.status_code in (403, 422)
    assert served.store.task(person, slot).draft is None


# --- The password


def test_security_a_wrong_password_is_refused(serve: Any) -> None:
    served = serve()
    visitor = served.visitor()
    visitor.get("/organiser/login")
    for password in ("", "wrong", PASSWORD.upper(), PASSWORD + " "):
        answer = visitor.post(password=password)
        assert answer.status_code == 401
        assert "This is not the password." in answer.text
    assert "argon2" not in answer.text
    assert visitor.post(password=PASSWORD).url.path == "/organiser"


def test_security_after_five_failures_even_the_password_must_wait(serve: Any) -> None:
    served = serve()
    visitor = served.visitor()
    visitor.get("/organiser/login")
    for _ in range(5):
        assert visitor.post(password="wrong").status_code == 401
    answer = visitor.post(password=PASSWORD)
    assert answer.status_code == 429
    assert 0 < int(answer.headers["retry-after"]) <= 301
    fresh = served.visitor()  # without the cookies it is the same address
    fresh.get("/organiser/login")
    assert fresh.post(password=PASSWORD).status_code == 429


def _fail_to_log_in(served: Any, addresses: int) -> None:
    """Each address fails until it has to wait."""
    for number in range(addresses):
        visitor = served.visitor(client=(f"192.0.2.{number}", 50_000))
        visitor.get("/organiser/login")
        answers = [visitor.post(password="wrong").status_code for _ in range(6)]
        assert answers == [401] * 5 + [429]


def test_security_many_wrong_passwords_lock_nobody_else_out(
    serve: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    served = serve()
    with monkeypatch.context() as quick:
        quick.setattr("parataxis.studies.pages.organiser.is_password", lambda *_: False)
        _fail_to_log_in(served, 50)
    fresh = served.visitor(client=("198.51.100.1", 50_000))
    fresh.get("/organiser/login")
    assert fresh.post(password=PASSWORD).url.path == "/organiser"


def test_security_a_browser_that_has_logged_in_before_is_not_locked_out(serve: Any) -> None:
    served = serve()
    organiser = served.organiser()
    organiser.get("/organiser")
    organiser.post("/organiser/logout")
    attacker = served.visitor()  # from the same address
    attacker.get("/organiser/login")
    for _ in range(5):
        attacker.post(password="wrong")
    attacker.client.cookies.set("parataxis_browser", "me.9999999999.forged")
    assert attacker.post(password=PASSWORD).status_code == 429
    organiser.get("/organiser/login")
    assert organiser.post(password="wrong").status_code == 401
    assert organiser.post(password=PASSWORD).url.path == "/organiser"


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("192.0.2.1", "192.0.2.2", False),
        ("2001:db8::1", "2001:db8::ffff:1", True),
        ("2001:db8::1", "2001:db8:0:1::1", False),
        ("testclient", "testclient", True),
    ],
)
def test_security_an_attacker_has_one_address_or_half_of_one(
    one: str, other: str, same: bool
) -> None:
    assert (network_of((one, 1)) == network_of((other, 2))) is same


def test_security_without_a_password_nobody_logs_in(serve: Any) -> None:
    served = serve()
    settings = StudySettings(Secrets(key=served.settings.secrets.key))
    served.app = make_app(served.store, served.study, served.rubric, settings)
    visitor = served.visitor()
    assert "parataxis study password" in visitor.get("/organiser/login").text
    assert visitor.post(password="").status_code == 401


def test_security_a_throttle_counts_for_each() -> None:
    now = [0.0]
    throttle = Throttle(2, 10, clock=lambda: now[0])
    throttle.count("a")
    now[0] = 4
    throttle.count("a")
    assert throttle.wait("a") == 6
    assert throttle.wait("b") == 0
    throttle.count("b")
    now[0] = 10.5
    assert throttle.wait("a") == 0
    throttle.count("b")
    assert throttle.wait("b") == 3.5
    throttle.forgive("b")
    now[0] = 14.5
    assert throttle.wait("b") == 0


# --- What is shown and what is taken


def test_security_texts_of_items_and_people_are_never_html(serve: Any) -> None:
    nasty = '<script>alert("x")</script>'
    served = serve(
        rate={"raters": 1},
        consent=nasty,
        instructions=nasty,
        background=[{"id": "a", "text": nasty, "required": True}],
        write={"sources": "sources.txt", "writers": 1},
    )
    pages = []
    _, writer = served.person(Role.WRITER, name=nasty)
    pages += [writer.page, writer.post("/consent", agree="yes")]
    pages += [writer.send("/background", {"b-0": nasty}), writer.get("/task")]
    pages += [writer.post(rewrite=nasty), writer.post(rewrite=f"{nasty}\n{nasty}")]
    _, rater = served.person(Role.RATER)
    rater.post("/consent", agree="yes")
    rater.send("/background", {"b-0": "x"})
    rater.get("/task")
    while rater.path.startswith("/task/"):
        pages.append(rater.page)
        rater.send(rater.path, GOOD)
    organiser = served.organiser()
    pages += [organiser.get("/organiser"), organiser.get("/organiser/people")]
    for each in served.store.people():
        pages.append(organiser.get(f"/organiser/people/{each.id}"))
    for page in pages:
        assert "<script>alert" not in page.text
        assert "<img src=x" not in page.text
        assert page.text.count("<script") == page.text.count("<script src=")
    assert sum("&lt;script&gt;" in page.text for page in pages) > 6


def test_security_answers_are_never_html(serve: Any) -> None:
    _, visitor = serve(rubric="concise").person()
    visitor.get("/task")
    answer = visitor.send(visitor.path, {"q-comments": "</textarea><script>alert(1)</script>"})
    assert answer.status_code == 422
    assert "<script>alert" not in answer.text


def test_security_every_answer_has_the_headers(serve: Any) -> None:
    served = serve()
    _, visitor = served.person()
    answers = [
        visitor.client.get(path)
        for path in ("/", "/task", "/nowhere", "/static/study.css", "/api/progress", "/join/x")
    ]
    answers.append(visitor.client.post("/undo", content=b"x" * 300_000))
    for answer in answers:
        policy = answer.headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "script-src 'self'" in policy
        assert "frame-ancestors 'none'" in policy
        assert "form-action 'self'" in policy
        assert "unsafe" not in policy
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["referrer-policy"] == "no-referrer"
    assert all(
        answer.headers["cache-control"] == "no-store"
        for answer in answers
        if "/static/" not in str(answer.url)
    )


def test_security_a_bug_tells_nothing_and_has_the_headers(
    serve: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    served = serve()
    _, visitor = served.person()
    monkeypatch.setattr(served.store, "progress", lambda person: 1 / 0)
    answer = visitor.get("/status")
    assert answer.status_code == 500
    assert "Zero" not in answer.text
    assert "content-security-policy" in answer.headers
    assert visitor.get("/api/progress").json() == {
        "detail": "Something went wrong.",
        "problems": {},
    }


@pytest.mark.parametrize("declared", [True, False])
def test_security_what_is_too_large_is_not_read(serve: Any, declared: bool) -> None:
    _, visitor = serve().person()

    def pieces() -> Any:
        for _ in range(1000):
            yield b"x" * 1000

    body = b"x" * 1_000_000 if declared else pieces()
    headers = {"content-type": "application/x-www-form-urlencoded"}
    answer = visitor.client.post("/undo", content=body, headers=headers)
    assert answer.status_code == 413


def test_security_files_are_not_taken(serve: Any) -> None:
    _, visitor = serve().person()
    visitor.get("/task")
    answer = visitor.client.post(
        "/undo", data={"csrf": visitor.csrf}, files={"upload": ("x.html", b"<script>")}
    )
    assert answer.status_code == 400


def test_security_a_panel_cannot_flood_the_study(serve: Any) -> None:
    served = serve(server={"arrivals_per_minute": 3}, panel={})
    codes = [served.visitor().get(f"/panel?PROLIFIC_PID=p{n}").status_code for n in range(5)]
    assert codes == [200, 200, 200, 429, 429]
    assert len(served.store.people()) == 3


def test_security_secrets_are_not_in_the_database(serve: Any, tmp_path: Path) -> None:
    served = serve()
    served.person(name="Ann")
    served.organiser()
    served.store.close()
    for file in tmp_path.glob("study.db*"):
        data = file.read_bytes()
        assert served.settings.secrets.key.encode() not in data
        assert b"argon2" not in data


@pytest.mark.parametrize(
    "path", ["/static/../app.py", "/static/%2e%2e/app.py", "/static/..%2fapp.py"]
)
def test_security_static_files_only(serve: Any, path: str) -> None:
    assert serve().visitor().client.get(path).status_code == 404


@pytest.mark.parametrize("base", ["", "/pilot"])
def test_security_a_file_that_is_not_there_is_told_on_an_ordinary_page(
    serve: Any, base: str
) -> None:
    client = serve().visitor(root_path=base).client
    page = client.get(f"{base}/static/nothing.css")
    assert page.status_code == 404
    for style in re.findall(r'<link rel="stylesheet" href="([^"]*)"', page.text):
        assert style.startswith(f"{base}/static/")
        assert client.get(style).status_code == 200, style
    assert f'href="{base}/"' in page.text


def test_security_a_notice_in_the_address_says_only_what_we_wrote(serve: Any) -> None:
    _, visitor = serve().person()
    assert 'class="notice"' not in visitor.get("/instructions?notice=<b>x</b>").text
    assert "open again" in visitor.get("/instructions?notice=undone").text
