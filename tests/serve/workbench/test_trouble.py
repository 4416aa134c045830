"""What can go wrong: cancelled and broken work, refusals, hostile texts, very long ones."""

import base64
import json
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

from parataxis.api import Splitter
from parataxis.serve.service import ServiceSettings

from .conftest import Server, Writer

MILL = "The mill, which was built in 1811, burnt down."
MILL_SPLIT = ["The mill burnt down.", "The mill was built in 1811."]
HTML = '<img src=x onerror="document.title=1"><b>bold</b>'
BAD_LINK = "This link does not hold a result, or a part of it was cut off."


def test_trouble_cancelled_work_is_kept_and_goes_on(
    writer: Callable[..., Any], server: Any, tmp_path: Path, picture: Any
) -> None:
    ann = writer()
    text = "\n\n".join(f"{MILL} It 🌧 rained {n} times." for n in range(20))
    server.trouble.pause = 0.04
    ann.split(text, wait=False)
    ann.row(5).wait_for(state="attached")
    picture(ann.page, "streaming")
    ann.act(0, "Accept")  # while the rest is being made
    ann.page.get_by_role("button", name="Cancel").click()
    note = ann.page.locator("#interrupted-text")
    note.wait_for()
    assert "sentences are done, and kept." in note.inner_text()
    done = ann.page.locator("#feed article").count()
    assert 6 <= done < 40
    assert ann.download("txt", tmp_path).read_text().endswith("19 times.")
    server.trouble.pause = 0
    ann.page.get_by_role("button", name="Continue").click()
    ann.wait()
    whole = ann.download("txt", tmp_path).read_text()
    assert whole == text.replace(MILL, " ".join(MILL_SPLIT))
    assert ann.row(0).get_attribute("data-decision") == "accepted"
    assert not note.is_visible()


def test_trouble_lost_connection_keeps_what_was_done(
    writer: Callable[..., Any], server: Any, device: Any, tmp_path: Path
) -> None:
    ann = writer()
    server.trouble.cut_after = 6
    ann.split(" ".join([MILL] * 12), wait=False)
    note = ann.page.locator("#interrupted-text")
    note.wait_for()
    done = ann.page.locator("#feed article").count()
    assert 1 <= done < 6  # the browser may drop the last lines before the cut
    assert note.inner_text() == (
        f"The connection was lost. {done} of 12 sentences are done, and kept."
    )
    ann.act(0, "Reject")
    ann.page.get_by_role("button", name="Continue").click()
    ann.wait()
    assert ann.page.locator("#summary").inner_text() == "12 of 12 sentences changed · 1 rejected"
    expected = [" ".join(MILL_SPLIT)] * 12
    expected[0] = MILL
    assert ann.download("txt", tmp_path).read_text() == " ".join(expected)
    device.forgive("INCOMPLETE_CHUNKED_ENCODING")


def test_trouble_only_the_end_of_a_stream_is_lost(
    writer: Callable[..., Any], server: Any, device: Any
) -> None:
    ann = writer()
    server.trouble.pause = 0.05  # so that the browser has read what came before the cut
    server.trouble.cut_after = 3
    ann.split(f"{MILL} It rained. ", wait=False)
    ann.page.get_by_role("button", name="Continue").click()
    ann.wait()
    assert ann.page.locator("#summary").inner_text() == "1 of 2 sentences changed"
    device.forgive("INCOMPLETE_CHUNKED_ENCODING")


def test_trouble_unreachable_server(writer: Callable[..., Any], device: Any) -> None:
    ann = writer()
    ann.split(MILL)
    ann.page.route("**/v1/**", lambda route: route.abort())
    ann.act(0, "Edit")
    field = ann.page.get_by_label("Your rewrite")
    field.fill("The mill burnt.")
    ann.row(0).get_by_text("The server cannot be reached.").wait_for()
    ann.page.get_by_role("button", name="Keep").click()
    assert field.input_value() == "The mill burnt."
    ann.page.unroute("**/v1/**")
    ann.keep()
    ann.row(0).locator(".chip", has_text="Edited").wait_for()
    ann.page.route("**/v1/**", lambda route: route.abort())
    ann.page.get_by_role("button", name="New text").click()
    ann.page.get_by_role("button", name="Split", exact=True).click()
    problem = ann.page.locator("#problem")
    problem.wait_for()
    assert problem.inner_text().startswith("The server cannot be reached.")
    assert ann.page.get_by_label("Your text").input_value() == MILL
    device.forgive("ERR_FAILED")


def test_trouble_refusals_are_told_in_a_sentence(
    device: Any, server: Any, tmp_path: Path, picture: Any
) -> None:
    small = type(server)(ServiceSettings(splitters=("source",), characters=60, per_minute=3))
    try:
        page = device(viewport={"width": 1280, "height": 760}, reduced_motion="reduce").new_page()
        page.goto(small.url)
        problem = page.locator("#problem")
        page.get_by_role("button", name="Split", exact=True).click()
        assert problem.inner_text().startswith("There is no text yet.")
        page.get_by_label("Your text").fill("Far too long. " * 20)
        page.get_by_role("button", name="Split", exact=True).click()
        page.locator("#problem", has_text="60").wait_for()
        assert page.get_by_label("Your text").input_value().startswith("Far too long.")
        picture(page, "problem")
        page.locator("#file").set_input_files(
            {"name": f"{HTML}.xls", "mimeType": "application/pdf", "buffer": b"%PDF"}
        )
        assert problem.inner_text().startswith(f"{HTML}.xls is no text, Markdown, HTML, Word")
        page.locator("#file").set_input_files(
            {"name": "broken.docx", "mimeType": "application/zip", "buffer": b"no zip"}
        )
        page.locator("#problem", has_text="broken.docx").wait_for()
        page.get_by_label("Your text").fill("It rained.")
        answered = page.locator("#problem:visible, #feed article.dressed").first
        for _ in range(2):
            page.get_by_role("button", name="Split", exact=True).click()
            answered.wait_for()
            # A result that was refused goes back to the text by itself.
            if not problem.is_visible():
                page.get_by_role("button", name="New text").click()
        assert "try again in" in problem.inner_text().lower()
        page.close()
        device.forgive("status of 4")
    finally:
        small.close()


def test_trouble_markup_is_only_ever_text(
    writer: Callable[..., Any], server: Any, device: Any, tmp_path: Path
) -> None:
    ann = writer()
    source = f"The mill, which was built in 1811, burnt {HTML} down. {MILL}"
    path = tmp_path / "<img src=x onerror=alert(1)>.txt"
    path.write_text(source)
    ann.open(path)
    assert ann.page.get_by_role("heading", level=1).inner_text() == path.name
    ann.act(1, "Edit")
    ann.page.get_by_label("Your rewrite").fill(f"{HTML} burnt down.\nThe mill was built in 1811.")
    ann.row(1).locator(".finding").first.wait_for()
    ann.keep()
    assert ann.simple(1)[0] == f"{HTML} burnt down."
    ann.page.get_by_role("button", name="Download", exact=True).click()
    assert path.name not in ann.page.locator("#download-list").inner_html()
    ann.page.keyboard.press("Escape")
    page = ann.download("html", tmp_path).read_text()
    assert "<img" not in page.partition("</head>")[2]
    ann.page.get_by_role("button", name="Share").click()
    ann.page.locator("#share-panel[open]").wait_for()
    link = ann.page.get_by_label("Link", exact=True).input_value()
    fresh = device().new_page()
    fresh.goto(link)
    fresh.locator("article.dressed").first.wait_for()
    for each in (ann.page, fresh):
        assert each.locator("img, #result b:not(.findings b)").count() == 0
        assert HTML in each.locator("#feed").inner_text()
        assert each.title() == f"{path.name} · Parataxis"


def _fragment(data: Any) -> str:
    """What a link to a result ends in."""
    text = data if isinstance(data, bytes) else json.dumps(data).encode()
    squeezed = zlib.compress(text, wbits=-15)
    return "#result=" + base64.urlsafe_b64encode(squeezed).decode().rstrip("=")


GOOD: dict[str, Any] = {
    "v": 1,
    "name": "A",
    "splitter": "rules",
    "text": "It rained.",
    "total": 1,
    "readability": None,
    "rows": [[0, 10, 0, ["It rained.", ["It rained."], "rules", 0, [], [], [], [], "", -1], 0]],
}
VERSION = GOOD["rows"][0][3]


BAD_FRAGMENTS = [
    "#result=",
    "#result=%%%",
    "#result=AAAA",
    _fragment(GOOD)[:-6],
    _fragment(b"\xff\xfe"),
    _fragment([]),
    _fragment({"v": 1}),
    _fragment({**GOOD, "v": 2}),
    _fragment({**GOOD, "text": ["It rained."]}),
    _fragment({**GOOD, "rows": [[0, 99, 0, VERSION, 0]]}),
    _fragment({**GOOD, "rows": [[0, 10, "x", VERSION, 0]]}),
    _fragment({**GOOD, "rows": [[0, 10, 0, VERSION, 0], [5, 10, 0, VERSION, 0]]}),
    _fragment({**GOOD, "rows": [[0, 10, 0, [VERSION[0], [""], *VERSION[2:]], 0]]}),
    _fragment({**GOOD, "rows": [[0, 10, 0, [*VERSION[:4], [[-1, 2, 0, 0, 2]], *VERSION[5:]], 0]]}),
    _fragment({**GOOD, "readability": [{"grade": "high"}]}),
    _fragment(b" " * 30_000_000),
]


def test_trouble_bad_links_give_one_sentence(writer: Callable[..., Any]) -> None:
    ann = writer()
    problem = ann.page.locator("#problem")
    for fragment in BAD_FRAGMENTS:
        ann.page.evaluate("(fragment) => { location.hash = fragment; }", fragment)
        problem.wait_for()
        assert problem.inner_text().startswith(BAD_LINK), fragment[:80]
        assert ann.page.get_by_label("Your text").is_visible()
        ann.page.evaluate("document.getElementById('problem').hidden = true")


def test_trouble_a_good_link_opens(writer: Callable[..., Any]) -> None:
    ann = writer()
    ann.page.evaluate("(fragment) => { location.hash = fragment; }", _fragment(GOOD))
    ann.row(0).wait_for()
    assert ann.page.locator("#summary").inner_text() == "0 of 1 sentence changed"


def _stream(sentences: int) -> tuple[str, list[bytes]]:
    """A long text, and what a service would send for it, in chunks."""
    rewrite = Splitter("rules", check=True)(MILL).model_dump(mode="json")
    text, lines = "", [{"type": "start", "sentences": sentences}]
    for index in range(sentences):
        source = MILL if index % 2 else f"Sentence {index} stays."
        made = rewrite if index % 2 else {**rewrite, "source": source, "simple": [source]}
        made = made if index % 2 else {**made, "provenance": None}
        place = {"start": len(text), "end": len(text) + len(source)}
        patterns = [{"pattern": "rc", "name": "relative clause", "start": 10, "end": 33}]
        about = {"rewrite": made, "patterns": patterns, "splits": [[], ["rc"]]}
        lines.append({"type": "split", "index": index, **place, **about})
        text += source + (" " if index % 9 else "\n\n")
    lines.append({"type": "end", "text": None})
    sent = [json.dumps(line).encode() + b"\n" for line in lines]
    return text, [b"".join(sent[place : place + 40]) for place in range(0, len(sent), 40)]


def test_trouble_two_thousand_sentences_stay_smooth(
    writer: Callable[..., Any], server: Any, device: Any
) -> None:
    ann = writer()
    text, server.trouble.instead = _stream(2000)
    server.trouble.pause = 0.02
    ann.page.get_by_label("Your text").fill(text)
    ann.page.evaluate(
        """() => {
            window.seen = { added: 0, long: 0 };
            new MutationObserver((records) => {
                for (const record of records) window.seen.added += record.addedNodes.length;
            }).observe(document.getElementById("feed"), { childList: true, subtree: true });
            new PerformanceObserver((list) => {
                const tasks = list.getEntries().map((task) => task.duration);
                window.seen.long = Math.max(window.seen.long, ...tasks);
            }).observe({ type: "longtask" });
        }"""
    )
    ann.page.get_by_role("button", name="Split", exact=True).click()
    ann.row(100).wait_for(state="attached")
    ann.act(1, "Accept")  # the page can be used meanwhile
    ann.wait()
    assert ann.page.locator("#summary").inner_text() == (
        "1,000 of 2,000 sentences changed · 1 accepted"
    )
    seen = ann.page.evaluate("window.seen")
    assert seen["added"] < 2000 + 4000, "rows far from the window are not drawn in detail"
    assert seen["long"] < 1000
    assert ann.page.evaluate("document.querySelectorAll('#feed *').length") < 2000 * 8
    ann.row(1).focus()
    ann.page.keyboard.press("End")
    last = ann.row(1999)
    assert last.evaluate("(article) => document.activeElement === article")
    assert last.get_by_role("button", name="Accept").is_visible()
    ann.page.get_by_role("button", name="Accept all").click()
    assert ann.page.locator("[data-decision=accepted]").count() == 1000
    ann.page.get_by_role("button", name="Undo").click()
    assert ann.page.locator("[data-decision=accepted]").count() == 1
    ann.page.get_by_role("radio", name="Changes").check()
    assert ann.page.locator("#feed article:visible").count() == 1000
    ann.page.get_by_role("button", name="Share").click()
    ann.page.locator("#share-problem").wait_for()
    assert "too long for a link" in ann.page.locator("#share-problem").inner_text()


def test_trouble_a_server_with_a_token(device: Any) -> None:
    token = "a-token-of-24-characters"
    server = Server(ServiceSettings(splitters=("source",), token=token))
    try:
        ann = Writer(device().new_page())
        ann.page.goto(server.url)
        panel = ann.page.get_by_role("dialog", name="Token")
        panel.get_by_label("Token").fill("a wrong one")
        panel.get_by_role("button", name="Use it").click()
        panel.get_by_text("That was not the token.").wait_for()
        panel.get_by_label("Token").fill(token)
        panel.get_by_label("Token").press("Enter")
        ann.split(MILL, "source")
        assert ann.simple(0) == [MILL]
        ann.page.reload()
        ann.page.locator("#splitter option").first.wait_for(state="attached")  # it is still known
        assert not panel.is_visible()
    finally:
        server.close()
    device.forgive("401")
