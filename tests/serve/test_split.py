"""Splitting over the network gives what splitting at home gives, and nobody else's."""

import json
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx2
import pytest
from fastapi.testclient import TestClient

from parataxis import Splitter
from parataxis.api import split
from parataxis.rewrite.record import Rewrite

from .conftest import Ask, Held, Serve, wait_for

MILL = "The mill, which was built in 1811, burnt down, and nobody was hurt."
OSLO = "Oslo, the capital of Norway, lies\n  at the head of a fjord."
TEXT = f"# On mills\n\n* {MILL}  It rained.\n* {OSLO}\n"


def lines(answer: Any) -> list[dict[str, Any]]:
    assert answer.headers["content-type"] == "application/x-ndjson"
    return [json.loads(line) for line in answer.text.split("\n")[:-1]]


def test_split_of_a_text(plain: TestClient) -> None:
    answer = plain.post("/v1/split", json={"text": TEXT})
    assert answer.status_code == 200
    told = answer.json()
    expected = split(TEXT, splitter="pointer")
    assert told["splitter"] == "pointer"
    assert told["text"] == expected.text
    assert told["text"] == (
        "# On mills\n\n* The mill was built in 1811. It burnt down. Nobody was hurt.  It rained.\n"
        "* Oslo is the capital of Norway. It\n  lies at the head of a fjord.\n"
    )
    assert [each["index"] for each in told["rewrites"]] == [0, 1, 2, 3]
    for each in told["rewrites"]:
        rewrite = Rewrite.model_validate(each["rewrite"])
        assert rewrite.source == " ".join(TEXT[each["start"] : each["end"]].split())
        assert rewrite.findings is not None
        assert rewrite.provenance is not None


def test_split_keeps_the_next_sentence_of_a_text_clear(plain: TestClient) -> None:
    castle = (
        "The Castle of Orveld stands above the River Minn and was begun around 1190 by Count "
        "Ruprecht, whose widow completed the western tower."
    )
    after = "It passed to the bishops in 1304."
    expected = [list(each.simple) for each in split(f"{castle} {after}").rewrites]
    separate = [list(Splitter()(castle).simple), [after]]
    assert expected != separate
    for body, simple in (
        ({"text": f"{castle} {after}"}, expected),
        ({"sentences": [castle, after], "consecutive": True}, expected),
        ({"sentences": [castle, after]}, separate),
        ({"text": f"{castle}\n\n{after}"}, separate),
    ):
        answer = plain.post("/v1/split", json=body).json()
        assert [each["rewrite"]["simple"] for each in answer["rewrites"]] == simple


def test_split_tells_which_sentence_comes_from_which_pattern(plain: TestClient) -> None:
    body = {"sentences": [MILL], "splitter": "pointer"}
    (told,) = plain.post("/v1/split", json=body).json()["rewrites"]
    assert (told["start"], told["end"]) == (None, None)
    assert told["rewrite"]["simple"] == [
        "The mill was built in 1811.",
        "It burnt down.",
        "Nobody was hurt.",
    ]
    assert told["splits"] == [["rc"], [], ["conj"]]
    assert told["patterns"] == [
        {
            "pattern": "rc",
            "name": "relative clause",
            "words": "which was built in 1811",
            "start": 10,
            "end": 33,
        },
        {
            "pattern": "conj",
            "name": "joined clause or verb phrase",
            "words": "and nobody was hurt",
            "start": 47,
            "end": 66,
        },
    ]


def test_split_leaves_out_what_is_not_asked_for(plain: TestClient) -> None:
    body = {"sentences": [MILL], "splitter": "rules", "check": False, "patterns": False}
    (told,) = plain.post("/v1/split", json=body).json()["rewrites"]
    assert (told["patterns"], told["splits"], told["rewrite"]["findings"]) == (None, None, None)


@pytest.mark.parametrize(
    "options",
    [
        {"strict": True},
        {"beam": 8, "strict": True},
        {"level": "atomic", "max_words": 4},
        {"level": "light", "confidence": 0.95, "beam": 1},
    ],
)
def test_split_with_options_is_that_of_a_splitter_with_them(
    plain: TestClient, options: dict[str, Any]
) -> None:
    body = {"sentences": [MILL, "Ann, a nurse, paints."], **options}
    told = plain.post("/v1/split", json=body).json()["rewrites"]
    expected = Splitter("pointer", check=True, **options).pipe(body["sentences"])
    assert [Rewrite.model_validate(each["rewrite"]) for each in told] == list(expected)


@pytest.mark.parametrize(
    ("options", "status", "part"),
    [
        ({"level": "deep"}, 422, "level"),
        ({"max_words": 0}, 422, "max_words"),
        ({"confidence": 2}, 422, "confidence"),
        ({"level": "atomic", "splitter": "rules"}, 422, 'The splitter "rules" has no levels'),
    ],
)
def test_split_refuses_other_levels_and_limits(
    plain: TestClient, options: dict[str, Any], status: int, part: str
) -> None:
    answer = plain.post("/v1/split", json={"sentences": [MILL], **options})
    assert (answer.status_code, part in answer.json()["detail"]) == (status, True), answer.text


def test_splitters_are_listed_with_their_levels(plain: TestClient) -> None:
    listed = plain.get("/v1/splitters").json()["splitters"]
    levels = {each["name"]: each["levels"] for each in listed}
    assert levels["pointer"] == ["light", "plain", "atomic"]
    assert levels["rules"] == ["plain"]


def test_split_of_a_text_without_sentences(plain: TestClient) -> None:
    told = plain.post("/v1/split", json={"text": "-----\n"}).json()
    assert told == {"splitter": "pointer", "text": "-----\n", "rewrites": []}


def test_split_a_sentence_that_is_too_long_stays_whole(plain: TestClient) -> None:
    sentence = "Ann and " * 600 + "Bob sing."
    (told,) = plain.post("/v1/split", json={"sentences": [sentence]}).json()["rewrites"]
    assert told["rewrite"]["simple"] == [sentence]
    assert told["rewrite"]["note"].startswith("Left whole because it has 1202 words")
    assert (told["patterns"], told["splits"]) == ([], [[]])


def test_stream_has_the_same_answers_line_by_line(plain: TestClient) -> None:
    whole = plain.post("/v1/split", json={"text": TEXT, "splitter": "rules"}).json()
    told = lines(plain.post("/v1/split/stream", json={"text": TEXT, "splitter": "rules"}))
    assert told[0] == {"type": "start", "splitter": "rules", "sentences": 4}
    assert told[1:-1] == [{"type": "split", **each} for each in whole["rewrites"]]
    assert told[-1] == {"type": "end", "text": whole["text"]}


def test_stream_of_sentences_ends_without_a_text(plain: TestClient) -> None:
    body = {"sentences": ["It rained."], "splitter": "source"}
    assert lines(plain.post("/v1/split/stream", json=body))[-1] == {"type": "end", "text": None}


def test_stream_keeps_signs_that_end_lines_elsewhere(plain: TestClient) -> None:
    sentence = "Ann\u2028came\x0band\u0085left."
    body = {"sentences": [sentence], "splitter": "source"}
    told = lines(plain.post("/v1/split/stream", json=body))
    assert told[1]["rewrite"]["simple"] == [sentence]


def test_stream_tells_a_bug_in_its_last_line_and_no_secret(ask: Ask) -> None:
    client = ask(Held(is_held=False))
    sentences = [*(f"Number {n}." for n in range(6)), "A bug.", "Never reached."]
    answer = client.post("/v1/split/stream", json={"sentences": sentences})
    told = lines(answer)
    assert [each["type"] for each in told[:3]] == ["start", "split", "split"]
    assert told[-1]["type"] == "error"
    assert told[-1]["detail"].startswith("Something went wrong on our side")
    assert "secret" not in answer.text


def test_split_a_bug_is_told_without_its_secret(ask: Ask) -> None:
    answer = ask(Held(is_held=False)).post("/v1/split", json={"sentences": ["A bug."]})
    assert answer.status_code == 500
    assert answer.json()["detail"].startswith("Something went wrong on our side")
    assert answer.headers["x-content-type-options"] == "nosniff"


def test_stream_comes_as_it_is_made(serve: Serve) -> None:
    held = Held()
    url = serve("source", held).url
    sentences = [f"Number {n}." for n in range(10)]
    body = {"sentences": sentences, "splitter": "held", "patterns": False, "check": False}
    with httpx2.stream("POST", f"{url}/v1/split/stream", json=body, timeout=20) as answer:
        parts = answer.iter_lines()
        assert json.loads(next(parts))["sentences"] == 10  # while the splitter is held
        held.go.set()
        rest = [json.loads(part) for part in parts]
    assert [each["rewrite"]["source"] for each in rest[:-1]] == sentences


@pytest.mark.parametrize("path", ["/v1/split", "/v1/split/stream"])
def test_split_who_goes_away_cancels_what_has_not_begun(serve: Serve, path: str) -> None:
    held = Held()
    running = serve("source", held)
    engine = running.app.state.service.engine
    body = {"sentences": ["Ann sings."] * 500, "splitter": "held", "patterns": False}
    with pytest.raises(httpx2.TimeoutException):
        httpx2.post(f"{running.url}{path}", json=body, timeout=httpx2.Timeout(10, read=0.5))
    wait_for(lambda: engine.waiting == 0)
    held.go.set()
    assert httpx2.get(f"{running.url}/v1/health").status_code == 200
    assert len(held.seen) < 20


def test_split_a_service_that_is_stopped_says_so(serve: Serve) -> None:
    held = Held()
    running = serve("source", held)
    body = {"sentences": ["Ann sings."] * 50, "splitter": "held", "patterns": False, "check": False}
    with ThreadPoolExecutor(2) as pool:
        asked = [
            pool.submit(httpx2.post, f"{running.url}{path}", json=body, timeout=20)
            for path in ("/v1/split", "/v1/split/stream")
        ]
        wait_for(lambda: running.app.state.service.engine.waiting > 90)
        running.app.state.service.close()
        held.go.set()
        whole, stream = (each.result() for each in asked)
    stopped = "The service is being stopped; try again later."
    assert (whole.status_code, whole.json()) == (503, {"detail": stopped})
    assert whole.headers["retry-after"] == "1"
    assert lines(stream)[-1] == {"type": "error", "detail": stopped}
    assert httpx2.post(f"{running.url}/v1/split", json=body, timeout=20).status_code == 503


def test_split_many_at_once_get_each_their_own(serve: Serve) -> None:
    url = serve().url
    names = ["Ann", "Bob", "Cleo", "Dan", "Eve", "Fay", "Gus", "Hal"]

    def ask(number: int) -> None:
        name = names[number % 8]
        body: dict[str, Any] = {
            "sentences": [f"{name}, who is {age}, paints." for age in range(number, number + 2)],
            "splitter": "rules",
            "patterns": number % 2 == 0,
        }
        path = "/v1/split" if number % 3 else "/v1/split/stream"
        answer = httpx2.post(f"{url}{path}", json=body, timeout=30)
        told = answer.json()["rewrites"] if number % 3 else lines(answer)[1:-1]
        assert [each["rewrite"]["source"] for each in told] == body["sentences"]
        for each, age in zip(told, range(number, number + 2), strict=True):
            assert each["rewrite"]["simple"] == [f"{name} paints.", f"{name} is {age}."]
            assert (each["patterns"] is None) == bool(number % 2)

    with ThreadPoolExecutor(16) as pool:
        list(pool.map(ask, range(40)))
