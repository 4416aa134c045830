"""An endpoint that misbehaves in every way that was thought of."""

import gzip
import threading
import time
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler
from typing import Any

import pytest

from parataxis.errors import InputError, ParataxisError
from parataxis.splitters.llm import endpoint as module
from parataxis.splitters.llm.endpoint import Call, Endpoint, Failure, Reply
from parataxis.splitters.llm.ledger import Ledger, LlmOutcome
from parataxis.splitters.llm.prompt import request
from parataxis.splitters.llm.settings import LlmSettings

pytest.importorskip("httpx2", reason="needs the extra [llm]")

Handler = BaseHTTPRequestHandler
Serve = Callable[[Callable[[Any, Handler], None]], Any]
Tools = dict[str, Any]

KEY = "sk-very-secret-0123456789"


class Line:
    """An endpoint whose waits are noted and not waited for, and whose clock can be set."""

    def __init__(self, url: str, **more: Any) -> None:
        given = {"model": "small", "key": KEY, "timeout": 5.0, **more}
        self.settings = LlmSettings(url=f"{url}/chat/completions", **given)
        self.ledger = Ledger(self.settings)
        self.waits: list[float] = []
        self.now = 0.0
        self.endpoint = Endpoint(
            self.settings, self.ledger, sleep=self._sleep, clock=lambda: self.now
        )

    async def _sleep(self, seconds: float) -> None:
        self.waits.append(seconds)

    def ask(self, *sentences: str) -> list[Reply]:
        with self.endpoint.line() as ask:
            return ask([Call(request([sentence]), 300) for sentence in sentences])


def test_endpoint_sends_key_model_and_limits(serve: Serve, tools: Tools) -> None:
    fake = serve(lambda _, handler: tools["send"](handler, tools["completion"]("Yes.")))
    line = Line(fake.url, options={"seed": 7})
    assert line.ask("It rained.") == ["Yes."]
    (got,) = fake.requests
    assert got.path == "/v1/chat/completions"
    assert got.headers["Authorization"] == f"Bearer {KEY}"
    assert got.headers["Accept-Encoding"] == "identity"
    assert {name: got.body[name] for name in got.body if name != "messages"} == {
        "model": "small",
        "temperature": 0.0,
        "max_tokens": 300,
        "stream": False,
        "seed": 7,
    }
    assert got.sentences == ["It rained."]
    assert (line.ledger.calls, line.ledger.tokens) == (1, (100, 50))


def test_endpoint_without_a_key_sends_none(serve: Serve, tools: Tools) -> None:
    fake = serve(lambda _, handler: tools["send"](handler, tools["completion"]("Yes.")))
    assert Line(fake.url, key=None).ask("It rained.") == ["Yes."]
    assert "Authorization" not in fake.requests[0].headers


def test_endpoint_answers_several_at_once_in_order(serve: Serve, tools: Tools) -> None:
    together = threading.Barrier(3)

    def respond(got: Any, handler: Handler) -> None:
        if got.number:  # the first goes alone; the others wait for each other
            together.wait(5)
            time.sleep(0.02 * (4 - got.number))
        tools["send"](handler, tools["completion"](got.sentences[0]))

    line = Line(serve(respond).url, concurrent=3)
    names = [f"Sentence {n}." for n in range(4)]
    assert line.ask(*names) == names


def test_endpoint_makes_no_more_calls_at_once_than_allowed(serve: Serve, tools: Tools) -> None:
    lock, under_way, most = threading.Lock(), 0, 0

    def respond(_: Any, handler: Handler) -> None:
        nonlocal under_way, most
        with lock:
            under_way += 1
            most = max(most, under_way)
        time.sleep(0.02)
        with lock:
            under_way -= 1
        tools["send"](handler, tools["completion"]("Yes."))

    Line(serve(respond).url, concurrent=2).ask(*map(str, range(8)))
    assert most == 2


@pytest.mark.parametrize(
    ("status", "headers", "waits"),
    [
        (429, {"Retry_After": 7}, [7.0, 7.0]),
        (429, {}, [0.5, 1.0]),
        (500, {}, [0.5, 1.0]),
        (503, {"Retry_After": 60}, [60.0, 60.0]),
        (529, {"Retry_After": "nonsense"}, [0.5, 1.0]),
    ],
)
def test_endpoint_is_asked_again_after_a_wait(
    serve: Serve, tools: Tools, status: int, headers: dict[str, object], waits: list[float]
) -> None:
    def respond(got: Any, handler: Handler) -> None:
        if got.number < 2:
            tools["send"](handler, b"", status, **headers)
        else:
            tools["send"](handler, tools["completion"]("Yes."))

    line = Line(serve(respond).url)
    assert line.ask("It rained.") == ["Yes."]
    assert line.waits == waits
    assert line.ledger.calls == 1


@pytest.mark.parametrize(
    ("status", "headers", "reason", "requests"),
    [
        (429, {}, "the endpoint takes no more requests for now (status 429)", 3),
        (500, {}, "the endpoint failed (status 500)", 3),
        (429, {"Retry_After": 3600}, "the endpoint asks to wait for 3600 seconds", 1),
        (400, {}, "the endpoint turned the request down (status 400)", 1),
        (418, {}, "the endpoint turned the request down (status 418)", 1),
    ],
)
def test_endpoint_that_goes_on_refusing_is_left(
    serve: Serve,
    tools: Tools,
    status: int,
    headers: dict[str, object],
    reason: str,
    requests: int,
) -> None:
    fake = serve(lambda _, handler: tools["send"](handler, b"{}", status, **headers))
    line = Line(fake.url)
    outcome = LlmOutcome.TURNED_DOWN if status in (400, 418) else LlmOutcome.UNANSWERED
    assert line.ask("It rained.") == [Failure(reason, outcome)]
    assert len(fake.requests) == requests
    assert line.ledger.calls == 0


def drip(handler: Handler) -> None:
    """A byte now and then, for ever."""
    handler.send_response(200)
    handler.end_headers()
    for _ in range(100):
        handler.wfile.write(b" ")
        handler.wfile.flush()
        time.sleep(0.05)


def hang(handler: Handler) -> None:
    time.sleep(1)


@pytest.mark.parametrize("behave", [drip, hang])
def test_endpoint_must_answer_in_time(serve: Serve, behave: Callable[[Handler], None]) -> None:
    line = Line(serve(lambda _, handler: behave(handler)).url, timeout=0.2)
    started = time.monotonic()
    assert line.ask("It rained.") == [Failure("the endpoint did not answer within 0.2 s")]
    assert time.monotonic() - started < 1.0
    # It may have been at work, and want its money.
    assert line.ledger.calls == 1
    assert line.ledger.tokens.written == 300


def half(handler: Handler) -> None:
    handler.send_response(200)
    handler.send_header("Content-Length", "1000")
    handler.end_headers()
    handler.wfile.write(b'{"choices": [{"mess')


def silence(handler: Handler) -> None:
    handler.close_connection = True
    handler.connection.close()


def nonsense(handler: Handler) -> None:
    handler.wfile.write(b"this is not HTTP\r\n\r\n")


@pytest.mark.parametrize("behave", [half, silence, nonsense])
def test_endpoint_that_breaks_off_says_so(serve: Serve, behave: Callable[[Handler], None]) -> None:
    line = Line(serve(lambda _, handler: behave(handler)).url)
    assert line.ask("It rained.") == [Failure("the endpoint broke off its answer")]


def test_endpoint_that_never_ends_is_cut_off(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "LARGEST", 5000)
    sent = 0

    def respond(_: Any, handler: Handler) -> None:
        nonlocal sent
        handler.send_response(200)
        handler.end_headers()
        while sent < 100_000_000:
            handler.wfile.write(b" " * 1000)
            sent += 1000

    line = Line(serve(respond).url)
    assert line.ask("It rained.") == [Failure("the endpoint's answer is longer than 5,000 bytes")]
    assert sent < 100_000_000


def test_endpoint_that_sends_a_gzip_bomb(
    serve: Serve, tools: Tools, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A megabyte that would be a gigabyte is never unpacked."""
    monkeypatch.setattr("zlib.decompressobj", lambda *_: pytest.fail("it was unpacked"))
    bomb = gzip.compress(b" " * 100_000_000 + tools["completion"]("{}"), compresslevel=1)
    line = Line(serve(lambda _, h: tools["send"](h, bomb, Content_Encoding="gzip")).url)
    assert line.ask("It rained.") == [Failure("the endpoint's answer is not JSON")]


def test_endpoint_that_tells_more_tokens_than_a_number_holds(serve: Serve, tools: Tools) -> None:
    reply = tools["completion"]("Yes.", used=(10**4000, 10**4000))
    line = Line(serve(lambda _, h: tools["send"](h, reply)).url, price_in=1.0, price_out=1.0)
    assert line.ask("It rained.") == ["Yes."]
    assert 0 < line.ledger.spent < 1


def test_endpoint_that_is_not_there_cannot_be_reached() -> None:
    line = Line("http://127.0.0.1:9/v1")
    assert line.ask("It rained.") == [Failure("the endpoint cannot be reached")]
    assert line.waits == [0.5, 1.0]


@pytest.mark.parametrize(
    ("status", "words"),
    [
        (401, "refuses the key (status 401)"),
        (403, "refuses the key (status 403)"),
        (402, "requires payment"),
        (404, "has no such address or model"),
        (307, "redirects to another address"),
    ],
)
def test_endpoint_that_refuses_from_the_start_ends_the_work(
    serve: Serve, tools: Tools, status: int, words: str
) -> None:
    elsewhere = serve(lambda _, handler: tools["send"](handler, tools["completion"]("Yes.")))
    message = f'{{"error": {{"message": "Wrong key: {KEY}"}}}}'.encode()
    fake = serve(lambda _, handler: tools["send"](handler, message, status, Location=elsewhere.url))
    with pytest.raises(InputError) as caught:
        Line(fake.url).ask("It rained.", "It snowed.")
    assert words in str(caught.value)
    assert KEY not in str(caught.value)
    assert caught.value.__cause__ is None
    assert len(fake.requests) == 1  # told once, not once for each sentence
    assert elsewhere.requests == []  # and the key went nowhere else


def test_endpoint_that_refuses_later_has_only_failed(serve: Serve, tools: Tools) -> None:
    def respond(got: Any, handler: Handler) -> None:
        if got.number == 1:
            tools["send"](handler, b"", 403)
        else:
            tools["send"](handler, tools["completion"]("Yes."))

    line = Line(serve(respond).url, concurrent=1)
    assert line.ask("One.", "Two.", "Three.") == [
        "Yes.",
        Failure("the endpoint turned the request down (status 403)", LlmOutcome.TURNED_DOWN),
        "Yes.",
    ]


def test_endpoint_that_fails_again_and_again_is_left_alone_for_a_while(
    serve: Serve, tools: Tools
) -> None:
    is_well = False

    def respond(_: Any, handler: Handler) -> None:
        tools["send"](handler, tools["completion"]("Yes.") if is_well else b"<html>")

    fake = serve(respond)
    line = Line(fake.url)
    bad = Failure("the endpoint's answer is not JSON")
    alone = Failure("the endpoint failed 3 times in a row and is left alone")
    assert line.ask("1", "2", "3", "4", "5") == [bad, bad, bad, alone, alone]
    assert len(fake.requests) == 3
    is_well = True
    line.now += module.PAUSE - 1
    assert line.ask("6") == [alone]
    line.now += 2
    assert line.ask("7") == ["Yes."]


def test_endpoint_makes_no_call_that_could_pass_the_budget(serve: Serve, tools: Tools) -> None:
    fake = serve(lambda _, handler: tools["send"](handler, tools["completion"]("Yes.")))
    # Each call has about 3,000 bytes and 300 tokens at most: about 0.0063 at these prices. It costs
    # 100 tokens in and 50 out: 0.00065.
    line = Line(fake.url, budget=0.008, price_in=1.0, price_out=11.0)
    replies = line.ask("One.", "Two.", "Three.", "Four.", "Five.", "Six.")
    over = Failure("the next call could pass the budget", LlmOutcome.OVER_BUDGET)
    answered = replies.count("Yes.")
    assert 1 <= answered < 6
    assert replies == ["Yes."] * answered + [over] * (6 - answered)
    assert len(fake.requests) == line.ledger.calls == answered
    assert line.ledger.spent <= 0.008
    most = len(str(fake.requests[0].body)) * 1.0 / 1e6 + 300 * 11.0 / 1e6
    assert line.ledger.spent + most > 0.008 - 0.001  # the next one could really have passed it


def test_endpoint_that_tells_no_tokens_is_booked_at_the_most(serve: Serve, tools: Tools) -> None:
    content = b'{"choices": [{"message": {"content": "Yes."}}]}'
    line = Line(serve(lambda _, handler: tools["send"](handler, content)).url)
    assert line.ask("It rained.") == ["Yes."]
    assert line.ledger.tokens.written == 300
    assert line.ledger.tokens.read > 1000


def test_endpoint_works_where_a_loop_is_running(serve: Serve, tools: Tools) -> None:
    import asyncio

    fake = serve(lambda _, handler: tools["send"](handler, tools["completion"]("Yes.")))

    async def in_a_notebook() -> list[Reply]:
        return Line(fake.url).ask("It rained.")

    assert asyncio.run(in_a_notebook()) == ["Yes."]


def test_endpoint_names_the_extra_that_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    monkeypatch.setitem(sys.modules, "httpx2", None)
    with pytest.raises(ParataxisError, match=r"pip install 'parataxis\[llm\]'"):
        Line("http://localhost/v1").ask("It rained.")
