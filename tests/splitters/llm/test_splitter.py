"""The splitter as a whole: a scripted language model, the real checks, the real pointer."""

import json
import logging
from collections.abc import Callable, Sequence
from http.server import BaseHTTPRequestHandler
from typing import Any

import pytest

import parataxis
from parataxis.errors import InputError
from parataxis.rewrite.jsonl import to_json
from parataxis.rewrite.record import Rewrite
from parataxis.splitters.llm import LlmSplitter, endpoint
from parataxis.splitters.llm.settings import VARIABLES, LlmSettings
from parataxis.splitters.pointer import PointerSplitter
from parataxis.splitters.pointer.choose import BLOCKING
from parataxis.splitters.registry import (
    AdjustableSplitter,
    ReportingSplitter,
    SentenceSplitter,
)
from parataxis.splitters.settings import SplitSettings

pytest.importorskip("httpx2", reason="needs the extra [llm]")

Handler = BaseHTTPRequestHandler
Serve = Callable[[Callable[[Any, Handler], None]], Any]
Tools = dict[str, Any]

KEY = "sk-very-secret-0123456789"

MILL = "The mill, which was not built in 1850, burned down."
BRIDGE = "The bridge, built by Anna Berg in 1891, crosses the river."
PLAN = "The committee approved the plan, but the mayor may veto it."
RAIN = "It rained."

GOOD: dict[str, Sequence[str]] = {
    MILL: ["The mill burned down.", "The mill was not built in 1850."],
    BRIDGE: ["The bridge crosses the river.", "The bridge was built by Anna Berg in 1891."],
    PLAN: ["The committee approved the plan.", "However, the mayor may veto the plan."],
    RAIN: [RAIN],
}
NO_NUMBER = ["The mill burned down.", "It was not built."]
NO_NEGATION = ["The mill burned down.", "It was built in 1850."]
NEW_NAME = ["The mill burned down.", "The mill was not built by Ann Lee in 1850."]
TWO_FAULTS = ["The mill burned down.", "It was built."]
THREE_FAULTS = ["The mill burned down.", "Ann Lee built it."]


@pytest.fixture(autouse=True)
def no_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(endpoint, "FIRST_WAIT", 0.001)


@pytest.fixture(scope="session")
def pointer() -> PointerSplitter:
    return PointerSplitter()


@pytest.fixture
def splitter(pointer: PointerSplitter) -> Callable[..., LlmSplitter]:
    def make(fake: Any, **more: Any) -> LlmSplitter:
        settings = LlmSettings(
            url=f"{fake.url}/chat/completions", model="small", key=KEY, timeout=5.0
        )
        return LlmSplitter(settings.model_copy(update=more), pointer)

    return make


@pytest.fixture
def scripted(serve: Serve, tools: Tools) -> Callable[..., Any]:
    """An endpoint that answers with the next rewrite of its script for each sentence; the last one
    is repeated."""

    def start(scripts: dict[str, list[Sequence[str]]]) -> Any:
        times: dict[str, int] = {}

        def respond(got: Any, handler: Handler) -> None:
            answers = []
            for sentence in got.sentences:
                time = times[sentence] = times.get(sentence, -1) + 1
                answers.append(scripts[sentence][min(time, len(scripts[sentence]) - 1)])
            tools["send"](handler, tools["completion"](tools["rewrites"](*answers)))

        return serve(respond)

    return start


def told(rewrite: Rewrite) -> tuple[Sequence[str], str | None, str]:
    """What a record tells: the sentences, the note, and who wrote them."""
    assert rewrite.splitter == "llm"
    return list(rewrite.simple), rewrite.note, (rewrite.model_extra or {})["written_by"]


def test_splitter_is_one() -> None:
    for kind in (SentenceSplitter, AdjustableSplitter, ReportingSplitter):
        assert isinstance(LlmSplitter(), kind)


def test_splitter_is_made_without_settings_or_network(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)
    splitter = parataxis.Splitter("llm")
    assert (splitter.name, splitter.tracks_costs, splitter.report()) == ("llm", True, None)
    with pytest.raises(
        InputError, match=r'The splitter "llm" is not configured: set PARATAXIS_LLM'
    ):
        splitter(RAIN)


def test_splitter_reads_the_environment(
    scripted: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    fake = scripted({MILL: [GOOD[MILL]]})
    monkeypatch.setenv("PARATAXIS_LLM_URL", fake.url)
    monkeypatch.setenv("PARATAXIS_LLM_MODEL", "tiny")
    monkeypatch.setenv("PARATAXIS_LLM_KEY", KEY)
    result = parataxis.split(MILL, splitter="llm")
    assert str(result) == " ".join(GOOD[MILL])
    assert told(result.rewrites[0]) == (GOOD[MILL], None, "tiny")
    assert fake.requests[0].headers["Authorization"] == f"Bearer {KEY}"


def test_splitter_takes_good_rewrites_several_to_a_call(
    scripted: Callable[..., Any], splitter: Callable[..., LlmSplitter]
) -> None:
    fake = scripted({source: [simple] for source, simple in GOOD.items()})
    llm = splitter(fake, sentences=3)
    sources = [MILL, BRIDGE, PLAN, RAIN, MILL]
    rewrites = list(llm.pipe(sources))
    assert [rewrite.source for rewrite in rewrites] == sources
    assert [told(rewrite) for rewrite in rewrites] == [
        (list(GOOD[source]), None, "small") for source in sources
    ]
    assert all(rewrite.findings == () for rewrite in rewrites)
    assert [got.sentences for got in fake.requests] == [[MILL, BRIDGE, PLAN], [RAIN]]
    assert llm.report() == (
        "llm made 2 calls (200 tokens in, 100 out); of 5 sentences the language model split 4 and "
        "left 1 whole, and the pointer model wrote 0."
    )


def test_splitter_gives_provenance_by_alignment(
    scripted: Callable[..., Any], splitter: Callable[..., LlmSplitter]
) -> None:
    rewrite = splitter(scripted({BRIDGE: [GOOD[BRIDGE]]}))(BRIDGE)
    assert rewrite.provenance is not None
    origins = [(token.text, token.origin.value) for token in rewrite.provenance[1]]
    assert origins[:4] == [
        ("The", "copied"),
        ("bridge", "copied"),
        ("was", "inserted"),
        ("built", "copied"),
    ]


@pytest.mark.parametrize(
    ("bad", "fault"),
    [
        (NO_NUMBER, "the number '1850' is missing"),
        (NO_NEGATION, "the negation 'not' is missing"),
        (NEW_NAME, "the name 'Ann Lee' is not in the source"),
    ],
)
def test_splitter_sends_faults_back_and_takes_the_repair(
    scripted: Callable[..., Any],
    splitter: Callable[..., LlmSplitter],
    bad: Sequence[str],
    fault: str,
) -> None:
    fake = scripted({MILL: [bad, GOOD[MILL]]})
    llm = splitter(fake)
    assert told(llm(MILL)) == (
        GOOD[MILL],
        f"This is not the language model's first rewrite: in that one, {fault}.",
        "small",
    )
    assert len(fake.requests) == 2
    (sent_back,) = fake.requests[1].faults
    assert fault[4:] in sent_back
    assert json.loads(fake.requests[1].body["messages"][-2]["content"]) == {
        "rewrites": [{"id": 1, "simple": list(bad)}]
    }


@pytest.mark.parametrize(
    ("script", "calls", "fault"),
    [
        # never repaired: the second is no better than the first, so there is no third
        ([NO_NUMBER], 2, "the number '1850' is missing"),
        # a repair that is worse
        ([NO_NUMBER, THREE_FAULTS, GOOD[MILL]], 2, "the number '1850' is missing"),
        # another fault is no better
        ([NO_NUMBER, NO_NEGATION, GOOD[MILL]], 2, "the number '1850' is missing"),
        # giving up is no repair
        ([NO_NUMBER, [MILL], GOOD[MILL]], 2, "the number '1850' is missing"),
        # better, but not good, and there are no more calls
        ([TWO_FAULTS, NO_NUMBER, NO_NUMBER], 3, "the number '1850' is missing"),
    ],
)
def test_splitter_falls_back_on_the_pointer(
    scripted: Callable[..., Any],
    splitter: Callable[..., LlmSplitter],
    pointer: PointerSplitter,
    script: list[Sequence[str]],
    calls: int,
    fault: str,
) -> None:
    fake = scripted({MILL: script})
    llm = splitter(fake)
    simple, note, writer = told(llm(MILL))
    assert simple == list(pointer(MILL).simple)
    assert len(simple) == 2
    assert (note, writer) == (
        f"The pointer model wrote this because in the language model's rewrite, {fault}.",
        "pointer",
    )
    assert len(fake.requests) == calls
    assert "1 faulted by the checks" in (llm.report() or "")


@pytest.mark.parametrize("calls", [1, 2, 4])
def test_splitter_makes_no_more_calls_than_allowed(
    scripted: Callable[..., Any], splitter: Callable[..., LlmSplitter], calls: int
) -> None:
    worse = ["The mill burned down.", "Ann Lee, Bob Ray and Carl Poe built it in Oslo."]
    fake = scripted({MILL: [worse, THREE_FAULTS, TWO_FAULTS, NO_NUMBER]})
    assert told(splitter(fake, calls=calls)(MILL))[2] == "pointer"
    assert len(fake.requests) == calls


def test_splitter_takes_the_best_where_its_faults_do_not_rule_it_out(
    scripted: Callable[..., Any], splitter: Callable[..., LlmSplitter]
) -> None:
    fragment = ["The mill burned down.", "Which was not built in 1850."]
    fake = scripted({MILL: [fragment, NO_NUMBER]})
    rewrite = splitter(fake)(MILL)
    assert told(rewrite) == (fragment, None, "small")
    assert rewrite.findings
    assert not {finding.kind for finding in rewrite.findings} & BLOCKING
    assert len(fake.requests) == 2


def test_splitter_strict_takes_nothing_with_a_finding(
    scripted: Callable[..., Any], splitter: Callable[..., LlmSplitter]
) -> None:
    fragment = ["The mill burned down.", "Which was not built in 1850."]
    llm = splitter(scripted({MILL: [fragment]})).adjusted(SplitSettings(strict=True))
    simple, note, writer = told(llm(MILL))
    assert simple != fragment
    assert writer == "pointer"
    assert (note or "").startswith("The pointer model wrote this because in the language model's")


def test_splitter_shares_its_books_with_the_strict_one(
    scripted: Callable[..., Any], splitter: Callable[..., LlmSplitter]
) -> None:
    llm = splitter(scripted({source: [simple] for source, simple in GOOD.items()}))
    for each in (
        llm,
        llm.adjusted(SplitSettings(strict=True)),
        llm.adjusted(SplitSettings(beam=1)),
    ):
        assert told(each(PLAN))[2] == "small"
    assert (llm.report() or "").startswith("llm made 3 calls (300 tokens in, 150 out); of 3 ")


def answer_badly(ids: Sequence[int]) -> Callable[[Any, Tools], str]:
    def answer(got: Any, tools: Tools) -> str:
        entries = [
            {"id": number, "simple": list(GOOD[got.sentences[number - 1]])} for number in ids
        ]
        return json.dumps({"rewrites": entries})

    return answer


@pytest.mark.parametrize(
    ("ids", "again"),
    [
        ([1, 2], [PLAN]),  # one is missing
        ([1, 2, 2, 3], [BRIDGE]),  # one is there twice
        ([2, 1, 3], [MILL, BRIDGE]),  # two have changed places
        ([], [MILL, BRIDGE, PLAN]),
    ],
)
def test_splitter_asks_again_alone_for_what_is_missing_doubled_or_out_of_order(
    serve: Serve,
    tools: Tools,
    splitter: Callable[..., LlmSplitter],
    ids: Sequence[int],
    again: Sequence[str],
) -> None:
    def respond(got: Any, handler: Handler) -> None:
        chosen = ids if len(got.sentences) == 3 else [1]
        tools["send"](handler, tools["completion"](answer_badly(chosen)(got, tools)))

    fake = serve(respond)
    rewrites = list(splitter(fake, concurrent=1).pipe([MILL, BRIDGE, PLAN]))
    assert [told(rewrite) for rewrite in rewrites] == [
        (list(GOOD[source]), None, "small") for source in (MILL, BRIDGE, PLAN)
    ]
    assert [got.sentences for got in fake.requests[1:]] == [[source] for source in again]


def test_splitter_notices_rewrites_of_another_sentence(
    serve: Serve, tools: Tools, splitter: Callable[..., LlmSplitter]
) -> None:
    def respond(got: Any, handler: Handler) -> None:
        answers = [GOOD[sentence] for sentence in got.sentences][::-1]  # under the wrong numbers
        tools["send"](handler, tools["completion"](tools["rewrites"](*answers)))

    rewrites = list(splitter(serve(respond)).pipe([MILL, PLAN]))
    assert [told(rewrite)[0] for rewrite in rewrites] == [GOOD[MILL], GOOD[PLAN]]
    assert all("first rewrite" in (told(rewrite)[1] or "") for rewrite in rewrites)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("I'm sorry, I can't do that.", "the language model's answer cannot be read"),
        ("{'rewrites': [{'id': 1}]}", "the language model's answer cannot be read"),
        (
            '{"rewrites": [{"id": 1, "simple": ["The mill',
            "the language model's answer cannot be read",
        ),
        ("", "the language model's answer is empty"),
        (f"The key is {KEY}", "the answer holds the key of the endpoint"),
    ],
)
def test_splitter_falls_back_where_nothing_can_be_read(
    serve: Serve,
    tools: Tools,
    splitter: Callable[..., LlmSplitter],
    pointer: PointerSplitter,
    text: str,
    reason: str,
) -> None:
    fake = serve(lambda _, handler: tools["send"](handler, tools["completion"](text)))
    assert told(splitter(fake)(MILL)) == (
        list(pointer(MILL).simple),
        f"The pointer model wrote this because {reason}.",
        "pointer",
    )
    assert len(fake.requests) == 3
    assert "cannot be read" in fake.requests[1].body["messages"][-1]["content"]


def test_splitter_notes_stay_short(
    scripted: Callable[..., Any], splitter: Callable[..., LlmSplitter]
) -> None:
    fake = scripted({MILL: [["Ann sang.", "Bob Ray paid 7 dogs.", "Carl Poe did not dance."]]})
    assert told(splitter(fake, calls=1)(MILL))[1] == (
        "The pointer model wrote this because in the language model's rewrite, the word 'mill' is "
        "missing; the wording 'built in 1850, burned' is missing; the wording 'Ann sang' is not in "
        "the source; and 3 more."
    )


def test_splitter_does_not_insist_where_the_model_declines(
    serve: Serve, tools: Tools, splitter: Callable[..., LlmSplitter]
) -> None:
    def respond(got: Any, handler: Handler) -> None:
        if MILL in got.sentences:
            tools["send"](handler, tools["completion"](None, refusal="No."))
        else:
            answers = [GOOD[sentence] for sentence in got.sentences]
            tools["send"](handler, tools["completion"](tools["rewrites"](*answers)))

    fake = serve(respond)
    mill, plan = splitter(fake, concurrent=1).pipe([MILL, PLAN])
    reason = "The pointer model wrote this because the language model declined to rewrite it."
    assert told(mill)[1:] == (reason, "pointer")
    assert told(plan) == (GOOD[PLAN], None, "small")
    assert [got.sentences for got in fake.requests] == [[MILL, PLAN], [MILL], [PLAN]]


def test_splitter_asks_alone_where_a_request_is_turned_down(
    serve: Serve, tools: Tools, splitter: Callable[..., LlmSplitter]
) -> None:
    message = json.dumps({"error": {"message": "Too long."}}).encode()

    def respond(got: Any, handler: Handler) -> None:
        if MILL in got.sentences:
            tools["send"](handler, message, 400)
        else:
            answers = [GOOD[sentence] for sentence in got.sentences]
            tools["send"](handler, tools["completion"](tools["rewrites"](*answers)))

    fake = serve(respond)
    mill, plan = splitter(fake, concurrent=1).pipe([MILL, PLAN])
    assert told(mill)[1:] == (
        "The pointer model wrote this because the endpoint turned the request down (status 400: "
        '"Too long.").',
        "pointer",
    )
    assert told(plan) == (GOOD[PLAN], None, "small")
    assert [got.sentences for got in fake.requests] == [[MILL, PLAN], [MILL], [PLAN]]


def test_splitter_refuses_a_rewrite_without_end(
    serve: Serve, tools: Tools, splitter: Callable[..., LlmSplitter]
) -> None:
    rambling = tools["rewrites"](["The mill burned down."] * 500)
    fake = serve(lambda _, handler: tools["send"](handler, tools["completion"](rambling)))
    assert told(splitter(fake, calls=1)(MILL))[1] == (
        "The pointer model wrote this because the language model's rewrite is far too long."
    )


def broken(handler: Handler) -> None:
    handler.send_response(200)
    handler.send_header("Content-Length", "1000")
    handler.end_headers()
    handler.wfile.write(b'{"choices"')


@pytest.mark.parametrize(
    ("status", "content", "reason"),
    [
        (429, b"", "the endpoint takes no more requests for now (status 429)"),
        (503, b"", "the endpoint failed (status 503)"),
        (400, b"", "the endpoint turned the request down (status 400)"),
        (200, b"<html>", "the endpoint's answer is not JSON"),
        (200, b'{"choices": []}', "the endpoint's answer has no choices"),
        (200, None, "the endpoint broke off its answer"),
    ],
)
def test_splitter_falls_back_where_the_endpoint_fails(
    serve: Serve,
    tools: Tools,
    splitter: Callable[..., LlmSplitter],
    pointer: PointerSplitter,
    status: int,
    content: bytes | None,
    reason: str,
) -> None:
    def respond(_: Any, handler: Handler) -> None:
        broken(handler) if content is None else tools["send"](handler, content, status)

    sources = [MILL, PLAN, RAIN]
    rewrites = list(splitter(serve(respond), calls=1).pipe(sources))
    assert [told(rewrite) for rewrite in rewrites] == [
        (list(pointer(source).simple), f"The pointer model wrote this because {reason}.", "pointer")
        for source in sources
    ]


def test_splitter_stops_where_the_key_is_refused(
    serve: Serve, tools: Tools, splitter: Callable[..., LlmSplitter]
) -> None:
    fake = serve(lambda _, handler: tools["send"](handler, b"", 401))
    with pytest.raises(
        InputError, match=r"refuses the key \(status 401\); check PARATAXIS_LLM_KEY"
    ):
        splitter(fake)(MILL)


def test_splitter_stays_within_its_budget(
    scripted: Callable[..., Any], splitter: Callable[..., LlmSplitter]
) -> None:
    fake = scripted({source: [simple] for source, simple in GOOD.items()})
    assert told(splitter(fake)(PLAN))[2] == "small"
    (got,) = fake.requests
    most = int(got.headers["Content-Length"]) + got.body["max_tokens"]
    # Each call costs 150; after two of them the third could pass this.
    budget = most + 200
    llm = splitter(
        fake, sentences=1, concurrent=1, budget=budget / 1e6, price_in=1.0, price_out=1.0
    )
    mill, bridge, plan = llm.pipe([MILL, BRIDGE, PLAN])
    assert [told(mill)[2], told(bridge)[2]] == ["small", "small"]
    assert told(plan) == (
        ["The committee approved the plan.", "However, the mayor may veto it."],
        "The pointer model wrote this because the next call could pass the budget.",
        "pointer",
    )
    assert [got.sentences for got in fake.requests[1:]] == [[MILL], [BRIDGE]]
    assert llm.report() == (
        f"llm made 2 calls (200 tokens in, 100 out) at a cost of 0.0003 of a budget of "
        f"{budget / 1e6:g}; of 3 sentences the language model split 2 and left 0 whole, and the "
        "pointer model wrote 1 (1 beyond the budget)."
    )


def test_splitter_sends_nothing_that_cannot_be_checked(
    scripted: Callable[..., Any], splitter: Callable[..., LlmSplitter]
) -> None:
    fake = scripted({})
    long, marks = "The dog barked and " * 80 + "left.", "* * *"
    rewrites = list(splitter(fake).pipe([long, marks]))
    assert [rewrite.simple for rewrite in rewrites] == [(long,), (marks,)]
    assert (rewrites[0].note or "").startswith("Left whole because it has 321 words")
    assert told(rewrites[1])[1:] == (None, "pointer")
    assert fake.requests == []


def test_splitter_never_tells_the_key(
    serve: Serve,
    tools: Tools,
    splitter: Callable[..., LlmSplitter],
    caplog: pytest.LogCaptureFixture,
) -> None:
    escaped = "".join(f"\\u{ord(letter):04x}" for letter in KEY)
    leaks = [
        KEY,
        tools["rewrites"](["The mill burned down.", f"It was not built in 1850 by {KEY}."]),
        tools["rewrites"](["The mill burned down.", "KEY was not built in 1850."]).replace(
            "KEY", escaped
        ),
    ]

    caplog.set_level(logging.DEBUG)
    for leak in leaks:
        fake = serve(
            lambda _, handler, leak=leak: tools["send"](handler, tools["completion"](leak))
        )
        llm = splitter(fake, calls=1)
        rewrite = llm(MILL)
        assert (rewrite.note or "").endswith("the answer holds the key of the endpoint.")
        told_all = to_json(rewrite) + (llm.report() or "") + caplog.text
        assert KEY.casefold() not in told_all.casefold()


def test_splitter_records_travel_as_json(
    scripted: Callable[..., Any], splitter: Callable[..., LlmSplitter]
) -> None:
    record = json.loads(to_json(splitter(scripted({MILL: [GOOD[MILL]]}))(MILL)))
    assert (record["splitter"], record["written_by"]) == ("llm", "small")
    assert record["findings"] == []
