"""LanguageTool's API, asked by a real client of it, alone and merged with another server."""

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any, ClassVar
from urllib.parse import parse_qs

import pytest
from fastapi.testclient import TestClient

pytest.importorskip("language_tool_python", reason="needs language-tool-python, which [dev] has")

from language_tool_python import LanguageTool

from parataxis import Splitter
from parataxis.errors import InputError
from parataxis.lint.readers import LintFormat, Source, read_source
from parataxis.lint.rules import LintVerdict, Reason
from parataxis.serve.commands import serve as serve_command
from parataxis.serve.languagetool import _matches
from parataxis.serve.tasks import LONGEST_WORD

from .conftest import Ask, Serve

GOODS = (
    "The goods, which the Buyer had ordered in May, arrived late, and the Seller, a company "
    "registered in Norway, repaid the price to the Buyer within thirty days."
)
TEXT = f"It 😀 rained. {GOODS} Ann came."


def test_languagetool_client_gets_our_suggestions(serve: Serve) -> None:
    with LanguageTool("en-US", remote_server=serve("pointer").url) as tool:
        (match,) = tool.check(TEXT)
        assert match.rule_id == "PARATAXIS_TOO_LONG"
        assert match.message.startswith("Too long (28 words, at most 25)")
        assert TEXT[match.offset : match.offset + match.error_length] == GOODS
        assert match.rule_issue_type == "style"
        simple = " ".join(Splitter(max_words=25, confidence=0.5)(GOODS).simple)
        assert match.replacements == [simple]
        assert tool.correct(TEXT) == TEXT.replace(GOODS, simple)
        tool.disabled_rules = {"PARATAXIS_TOO_LONG"}
        assert tool.check(TEXT) == []
        tool.disabled_rules = set()
        tool.enabled_rules_only = True
        tool.enabled_rules = {"OTHER"}
        assert tool.check(TEXT) == []


class Stub(BaseHTTPRequestHandler):
    """Answers as a LanguageTool server would, and notes what it was sent."""

    seen: ClassVar[list[dict[str, Any]]] = []
    matches: ClassVar[list[dict[str, Any]]] = []

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["content-length"])).decode()
        self.seen.append(parse_qs(body))
        self._send(
            {
                "software": {"name": "LanguageTool", "version": "6.6", "apiVersion": 1},
                "language": {"name": "English (US)", "code": "en-US"},
                "matches": self.matches,
            }
        )

    def do_GET(self) -> None:
        self._send([{"name": "German", "code": "de", "longCode": "de-DE"}])

    def _send(self, answer: object) -> None:
        data = json.dumps(answer).encode()
        self.send_response(200)
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.fixture
def stub() -> Iterator[str]:
    server = HTTPServer(("127.0.0.1", 0), Stub)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    Stub.seen, Stub.matches = [], []
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


def _other(offset: int, rule: str) -> dict[str, Any]:
    about = {"id": rule, "description": "", "issueType": "misspelling", "category": {"id": "X"}}
    return {"message": rule, "offset": offset, "length": 2, "replacements": [], "rule": about}


def test_languagetool_merges_another_server(ask: Ask, stub: str) -> None:
    Stub.matches = [
        _other(len(TEXT) - 3, "LATE"),
        _other(0, "EARLY"),
        _other(20, "TOO_LONG_SENTENCE"),
    ]
    client = ask("pointer", languagetool=stub)
    answer = client.post("/v2/check", data={"text": TEXT, "language": "en-US"}).json()
    assert [each["rule"]["id"] for each in answer["matches"]] == [
        "EARLY",
        "PARATAXIS_TOO_LONG",
        "LATE",
    ]
    assert answer["software"]["name"] == "LanguageTool"
    assert Stub.seen == [{"text": [TEXT], "language": ["en-US"]}]
    assert client.get("/v2/languages").json()[0]["longCode"] == "de-DE"


@pytest.mark.parametrize("matches", [[{"no": "offset"}], "none"])
def test_languagetool_survives_a_server_that_is_strange_or_gone(
    ask: Ask, stub: str, matches: Any
) -> None:
    Stub.matches = matches
    for url in (stub, "http://127.0.0.1:9"):
        client = ask("pointer", languagetool=url)
        answer = client.post("/v2/check", data={"text": TEXT, "language": "en-US"}).json()
        assert [each["rule"]["id"] for each in answer["matches"]] == ["PARATAXIS_TOO_LONG"]


def test_languagetool_offsets_count_as_java_does(plain: TestClient) -> None:
    answer = plain.get("/v2/check", params={"text": TEXT, "language": "auto"}).json()
    (match,) = answer["matches"]
    units = TEXT.encode("utf-16-le")
    start, end = 2 * match["offset"], 2 * (match["offset"] + match["length"])
    assert units[start:end].decode("utf-16-le") == GOODS
    assert answer["language"]["code"] == "en-US"
    assert [each["longCode"] for each in plain.get("/v2/languages").json()][:2] == ["en", "en-US"]


def test_languagetool_leaves_markup_and_other_languages_alone(plain: TestClient) -> None:
    def found(**fields: str) -> int:
        answer = plain.post("/v2/check", data=fields)
        assert answer.status_code == 200, answer.text
        return len(answer.json()["matches"])

    first, rest = GOODS[:20], GOODS[20:]
    heading = [{"markup": "<p>", "interpretAs": "\n\n"}, {"text": GOODS}, {"markup": "</p>"}]
    inside = [{"text": first}, {"markup": "<b>"}, {"text": rest}]
    assert found(data=json.dumps({"annotation": heading}), language="en-GB") == 1
    assert found(data=json.dumps({"annotation": inside}), language="en-GB") == 0
    assert found(data=json.dumps({"text": GOODS}), language="en") == 1
    assert found(text=GOODS, language="de-DE") == 0
    assert found(text="Der Mann, der die Ware bestellt hat, zahlt. " * 5, language="auto") == 0
    assert found(text=GOODS, language="en-US", disabledCategories="PARATAXIS") == 0


@pytest.mark.parametrize(
    ("fields", "status", "detail"),
    [
        ({"language": "en"}, 422, 'Send a "text" or an annotated text as "data".'),
        ({"data": "{"}, 422, 'The field "data" is no annotated text of LanguageTool.'),
        ({"data": '{"annotation": [{}]}'}, 422, 'The field "data" is no annotated text of'),
        ({"text": "a" * 50_001}, 413, "The text has 50001 characters; at most 50000 are taken."),
        ({"text": "A.", "disabledRules": "," * 700_000}, 413, "This is too large."),
    ],
)
def test_languagetool_refuses(
    plain: TestClient, fields: dict[str, str], status: int, detail: str
) -> None:
    answer = plain.post("/v2/check", data=fields)
    assert answer.status_code == status
    assert answer.json()["detail"].startswith(detail)


class Commas(str):
    """A field that counts how often it is taken apart."""

    cuts = 0

    def split(self, *given: Any) -> list[str]:
        self.cuts += 1
        return super().split(*given)


class Places(list[tuple[int, int]]):
    """A list that counts how often it is asked."""

    asked = 0

    def __getitem__(self, place: Any) -> Any:
        self.asked += 1
        return super().__getitem__(place)


def test_languagetool_fields_and_markup_are_not_read_for_each_match() -> None:
    source = read_source(GOODS, LintFormat.TEXT)
    sentence = source.sentences[0]
    many = Source(source.text, [sentence] * 50)
    verdicts = [LintVerdict((Reason.TOO_LONG,), 28, 25)] * 50
    rules, before = Commas(",A"), Places((0, 0) for _ in range(10_000))
    found = _matches(many, verdicts, before, {"disabledRules": rules})
    assert (len(found), rules.cuts) == (50, 1)
    assert before.asked < 50 * 20
    inside = Places([(0, 0)] * 9_999 + [(sentence.start + 5, sentence.start + 6)])
    assert _matches(many, verdicts, inside, {}) == []
    assert inside.asked < 50 * 20


def test_languagetool_a_long_word_is_not_judged(plain: TestClient) -> None:
    text = f"{GOODS} {GOODS[:-1]} {'a' * (LONGEST_WORD + 1)}."
    answer = plain.post("/v2/check", data={"text": text, "language": "en"})
    assert [match["sentence"] for match in answer.json()["matches"]] == [GOODS]


def test_languagetool_address_must_be_one() -> None:
    with pytest.raises(InputError, match="is no address of a server"):
        serve_command(languagetool="localhost:8081")
