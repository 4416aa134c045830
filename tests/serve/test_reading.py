"""Checks, analyses, readability, and what the service says about itself."""

import pytest
from fastapi.testclient import TestClient

from parataxis import __version__
from parataxis.errors import InputError, UnknownSplitterError
from parataxis.serve.app import make_app
from parataxis.serve.service import ServiceSettings
from parataxis.syntax.analyser import load_analyser

from .conftest import URL, Ask, Held, wait_for

SOURCE = "Ann, who is a nurse, does not paint."


def test_check_says_what_is_wrong_and_where_words_come_from(plain: TestClient) -> None:
    written = [
        {"source": SOURCE, "simple": ["Ann is a nurse.", "Ann paints."], "splitter": "me"},
        {"source": SOURCE, "simple": ["Ann is a nurse.", "Ann does not paint."]},
    ]
    wrong, right = plain.post("/v1/check", json={"rewrites": written}).json()["rewrites"]
    assert wrong["rewrite"]["splitter"] == "me"
    assert [found["message"] for found in wrong["rewrite"]["findings"]] == [
        "The negation 'not' is missing."
    ]
    assert (right["rewrite"]["splitter"], right["rewrite"]["findings"]) == ("unknown", [])
    assert right["splits"] == [["rc"], []]
    assert [found["words"] for found in right["patterns"]] == ["who is a nurse"]
    (first, *_), _ = right["rewrite"]["provenance"]
    assert first == {"text": "Ann", "start": 0, "end": 3, "origin": "copied", "source": [0, 3]}


@pytest.mark.parametrize(
    ("body", "detail"),
    [
        ({}, 'The field "rewrites" is missing.'),
        ({"rewrites": []}, 'The field "rewrites" is empty; give at least one sentence.'),
        ({"rewrites": [{"source": "A."}]}, 'The field "rewrites.0.simple" is missing.'),
        (
            {"rewrites": [{"source": "A.", "simple": ["A.", ""]}]},
            'The field "rewrites.0.simple.1" is empty; give at least one sentence.',
        ),
    ],
)
def test_check_refuses_what_is_no_rewrite(plain: TestClient, body: object, detail: str) -> None:
    answer = plain.post("/v1/check", json=body)
    assert (answer.status_code, answer.json()) == (422, {"detail": detail})


def test_analyse_tells_what_the_analyser_sees(plain: TestClient) -> None:
    text = f"It rained. {SOURCE}"
    first, second = plain.post("/v1/analyse", json={"text": text}).json()["sentences"]
    assert (first["start"], first["end"], second["start"]) == (0, 10, 11)
    analysis = load_analyser()(SOURCE)
    assert [word["text"] for word in second["words"]] == [word.text for word in analysis]
    root = next(word for word in second["words"] if word["head"] is None)
    assert (root["text"], root["upos"], root["deprel"]) == ("paint", "VERB", "root")
    assert second["words"][0]["feats"] == {"Number": "Sing"}
    assert [found["pattern"] for found in second["patterns"]] == ["rc"]
    frame = next(f for f in second["frames"] if second["words"][f["predicate"]]["text"] == "paint")
    assert {"first": 0, "last": 5, "label": "ARG0"} in frame["arguments"]


def test_analyse_says_which_sentence_is_too_long(plain: TestClient) -> None:
    body = {"sentences": ["It rained.", "and " * 700]}
    first, second = plain.post("/v1/analyse", json=body).json()["sentences"]
    assert (first["start"], first["problem"]) == (None, None)
    assert second["words"] == []
    assert "700 words" in second["problem"]


def test_readability_of_texts(plain: TestClient) -> None:
    texts = [["Ann, who sings, left."], ["Ann sings.", "Ann left."], [], ["..."]]
    told = plain.post("/v1/readability", json={"texts": texts}).json()["texts"]
    assert [each["words"] for each in told] == [4, 4, 0, 0]
    assert [each["sentences"] for each in told] == [1, 2, 0, 1]
    assert [each["words_per_sentence"] for each in told] == [4.0, 2.0, None, 0.0]
    assert [each["longest"] for each in told] == [4, 2, 0, 0]
    assert told[0]["grade"] == pytest.approx(0.39 * 4 + 11.8 * 4 / 4 - 15.59)
    assert [each["grade"] for each in told[2:]] == [None, None]


def test_status_splitters(plain: TestClient) -> None:
    told = plain.get("/v1/splitters").json()
    assert told["default"] == "pointer"
    assert [(s["name"], s["adjustable"], s["problem"]) for s in told["splitters"]] == [
        ("pointer", True, None),
        ("rules", False, None),
        ("source", False, None),
    ]
    assert told["splitters"][2]["summary"] == "Leaves every sentence as it is."


def test_status_a_splitter_that_cannot_be_used_says_why(ask: Ask) -> None:
    client = ask("source", "seq2seq:nowhere", "copynet")
    source, seq2seq, copynet = client.get("/v1/splitters").json()["splitters"]
    assert source["problem"] is None
    assert "nowhere" in seq2seq["problem"]
    for each in (seq2seq, copynet):
        answer = client.post("/v1/split", json={"text": "It rained.", "splitter": each["name"]})
        assert answer.status_code == 503
        assert answer.json()["detail"].endswith(".")
        assert "retry-after" not in answer.headers


@pytest.mark.parametrize(
    ("splitters", "error"),
    [((), InputError), (("source", "source"), InputError), (("sauce",), UnknownSplitterError)],
)
def test_status_splitters_that_cannot_be_offered(
    splitters: tuple[str, ...], error: type[Exception]
) -> None:
    with pytest.raises(error):
        make_app(ServiceSettings(splitters=splitters, page=False))


def test_status_is_ready_when_the_default_splitter_is_loaded() -> None:
    held = Held()
    with TestClient(make_app(ServiceSettings(splitters=(held,), page=False)), URL) as client:
        assert client.get("/v1/health").json() == {"status": "alive", "version": __version__}
        answer = client.get("/v1/ready")
        assert answer.status_code == 503
        assert answer.json() == {"detail": "The models are being loaded."}
        assert answer.headers["retry-after"] == "1"
        held.go.set()
        wait_for(lambda: client.get("/v1/ready").json() == {"status": "ready"})


def test_status_never_ready_says_why() -> None:
    with TestClient(make_app(ServiceSettings(splitters=("copynet",), page=False)), URL) as client:
        wait_for(lambda: "copynet:DIR" in client.get("/v1/ready").json()["detail"])


def test_status_metrics_count_what_was_done(ask: Ask) -> None:
    client = ask("source")
    client.post("/v1/split", json={"sentences": ["It rained."] * 3})
    client.post("/v1/split", json={})
    client.get("/v1/anything/that/somebody/invents")
    answer = client.get("/metrics")
    assert answer.headers["content-type"].startswith("text/plain")
    told = dict(line.rsplit(" ", 1) for line in answer.text.splitlines() if line[0] != "#")
    requests = 'parataxis_requests_total{method="%s",path="%s",status="%s"}'
    assert told[requests % ("POST", "/v1/split", "200")] == "1.0"
    assert told[requests % ("POST", "/v1/split", "422")] == "1.0"
    assert told[requests % ("GET", "other", "404")] == "1.0"
    assert told['parataxis_sentences_total{lane="source"}'] == "3.0"
    assert told["parataxis_waiting_sentences"] == "0.0"
    assert told['parataxis_request_seconds_count{path="/v1/split"}'] == "2.0"


HARD = "If the goods, which the Buyer ordered in May, arrive late, the Buyer may refuse them."


def test_difficulty_of_each_sentence(plain: TestClient) -> None:
    found = plain.post("/v1/difficulty", json={"text": f"It rained. {HARD}"}).json()
    assert found == {
        "english": True,
        "sentences": [
            {"start": 0, "end": 10, "words": 2, "nested": False},
            {"start": 11, "end": 11 + len(HARD), "words": 16, "nested": True},
        ],
    }
    foreign = {"text": "Der Mann, der die Ware im Mai bestellt hat, zahlt den Preis. " * 3}
    assert plain.post("/v1/difficulty", json=foreign).json()["english"] is False


def test_alternatives_are_explained(plain: TestClient) -> None:
    body = {"sentence": HARD, "level": "light", "keep_phrases": ["arrive late"]}
    found = plain.post("/v1/alternatives", json=body).json()["rewrites"]
    assert found
    for each in found:
        assert each["rewrite"]["source"] == HARD
        assert each["source_words"] == 16
        assert each["nested"] is True
        assert len(each["words"]) == len(each["splits"]) == len(each["rewrite"]["simple"])
    answer = plain.post("/v1/alternatives", json={"sentence": "x" * 2001})
    assert answer.status_code == 422
