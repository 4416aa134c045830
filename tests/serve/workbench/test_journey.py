"""What a writer does with the page, with a mouse and with keys alone."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import docx
import pytest
from lxml import etree

MILL = "The mill, which was built in 1811, burnt down."
FERRY = "Ann lives in Oslo, and Bo lives in Rome."
SHORT = "It rained."
FUSE = "A fuse blew, and the alarm failed to sound."
HARD = "It was very hard, but it was forced on him."
TEXT = f"{MILL}  {SHORT}\n\n* {FERRY}\n"
MILL_SPLIT = ["The mill burnt down.", "The mill was built in 1811."]
FERRY_SPLIT = ["Ann lives in Oslo.", "Bo lives in Rome."]
WORD = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"


def test_journey_of_a_first_visit(writer: Callable[..., Any], picture: Any) -> None:
    ann = writer()
    picture(ann.page, "start")
    ann.page.get_by_role("button", name="Show me an example").click()
    ann.wait()
    assert ann.page.locator("#summary").inner_text() == "3 of 4 sentences changed"
    assert ann.simple(0)[3] == "The Seller is a company registered in Norway."
    ann.row(0).locator(".simple > li").nth(3).hover()
    assert ann.lit() == "the Seller a company registered in Norway"
    assert ann.row(0).locator(".simple > li").nth(3).locator("ins").all_inner_texts() == ["is"]
    assert "apposition" in ann.row(0).locator(".simple > li").nth(3).inner_text()
    assert "relative clause" in ann.row(0).locator(".simple > li").nth(2).inner_text()
    assert ann.row(0).locator("s").all_inner_texts() == ["which", "and"]
    changed = ann.row(2).locator(".inflected")
    assert changed.inner_text() == "left"
    assert changed.get_attribute("data-was") == "leaving"
    ann.page.locator("#readability").get_by_text("Longest sentence: 28 →").wait_for()
    picture(ann.page, "result")
    ann.page.locator(".pattern", has_text="relative clause").first.hover()
    assert ann.lit() == "which the Buyer ordered in May"
    ann.page.mouse.move(0, 0)
    assert ann.lit() == ""


def test_journey_of_decisions(writer: Callable[..., Any], tmp_path: Path) -> None:
    ann = writer()
    ann.split(TEXT)
    assert [ann.simple(n) for n in range(3)] == [MILL_SPLIT, [SHORT], FERRY_SPLIT]
    assert ann.row(2).locator(".source").get_attribute("data-lead") == "*"
    ann.act(0, "Accept")
    ann.act(2, "Reject")
    assert ann.page.locator("#summary").inner_text() == (
        "2 of 3 sentences changed · 1 accepted, 1 rejected"
    )
    assert "The source stays as it is." in ann.row(2).inner_text()
    line = "(word) => getComputedStyle(word).textDecorationLine"
    assert ann.row(2).locator(".source s").evaluate(line) == "none", "no word is left out then"
    expected = f"{' '.join(MILL_SPLIT)}  {SHORT}\n\n* {FERRY}\n"
    assert ann.download("txt", tmp_path).read_text() == expected
    assert ann.download("md", tmp_path).read_text() == expected
    page = ann.download("html", tmp_path).read_text()
    assert "<p>The mill burnt down. The mill was built in 1811.  It rained.</p>" in page
    records = [
        json.loads(line) for line in ann.download("jsonl", tmp_path).read_text().splitlines()
    ]
    assert [record["simple"] for record in records] == [MILL_SPLIT, [SHORT], [FERRY]]
    assert records[0]["provenance"][0][0] == {
        "text": "The",
        "start": 0,
        "end": 3,
        "origin": "copied",
        "source": [0, 3],
    }
    assert all(None not in record.values() for record in records)
    ann.page.get_by_role("button", name="Download", exact=True).click()
    note = ann.page.locator("#download-note").inner_text()
    assert note == ("1 change will be in it: 1 accepted. 1 rejected change will be left out.")
    ann.page.keyboard.press("Escape")
    for expected_rejects in (1, 0, 0):
        assert ann.page.locator("[data-decision=rejected]").count() == expected_rejects
        ann.page.get_by_role("button", name="Undo").click(force=True)
    assert ann.page.get_by_role("button", name="Undo").is_disabled()
    for _ in range(2):
        ann.page.get_by_role("button", name="Redo").click()
    assert ann.page.locator("[data-decision=rejected]").count() == 1
    ann.act(2, "Reset")
    ann.page.get_by_role("button", name="Reject all").click()
    assert ann.page.locator("#summary").inner_text() == (
        "2 of 3 sentences changed · 1 accepted, 1 rejected"
    )
    ann.page.get_by_role("button", name="Undo").click()
    ann.page.get_by_role("button", name="Accept all").click()
    assert ann.page.locator("[data-decision=accepted]").count() == 2


def test_journey_of_copying(writer: Callable[..., Any]) -> None:
    ann = writer(permissions=["clipboard-read", "clipboard-write"])
    ann.split(MILL)
    ann.page.get_by_role("button", name="Copy", exact=True).click()
    ann.hears("Copied. 1 change is in it: 1 undecided.")
    assert ann.page.evaluate("navigator.clipboard.readText()") == " ".join(MILL_SPLIT)


def test_journey_with_buttons_alone(writer: Callable[..., Any], server: Any) -> None:
    ann = writer(permissions=["clipboard-read", "clipboard-write"])
    ann.page.get_by_label("Splitter", exact=True).select_option("pointer")
    ann.page.get_by_label("Skip doubtful splits").check()
    with ann.page.expect_request("**/split/stream") as asked:
        ann.split(f"{FUSE}  {SHORT}\n\n* {HARD}\n", "pointer")
    assert asked.value.post_data_json["strict"] is True
    for name, label in (
        ("Next", "Sentence 1,"),
        ("Next", "Sentence 3,"),
        ("Previous", "Sentence 1,"),
    ):
        ann.page.get_by_role("button", name=f"{name} change").click()
        assert ann.page.evaluate("document.activeElement.ariaLabel").startswith(label)
    before = ann.simple(0)
    ann.act(0, "Edit")
    ann.page.get_by_label("Your rewrite").fill("The mill burnt.")
    ann.page.get_by_role("button", name="Leave as it was").click()
    assert ann.simple(0) == before
    ann.page.get_by_role("button", name="Share").click()
    ann.page.get_by_role("button", name="Copy the link").click()
    ann.page.locator("#share-done", has_text="Copied").wait_for()
    assert ann.page.evaluate("navigator.clipboard.readText()").startswith(f"{server.url}#")
    ann.page.get_by_role("button", name="Close").locator("visible=true").click()
    assert not ann.page.locator("#share-panel").is_visible()


def test_journey_with_keys_alone(writer: Callable[..., Any], picture: Any) -> None:
    ann = writer()
    keys = ann.page.keyboard
    focus = "document.activeElement.getAttribute('aria-label') ?? document.activeElement.innerText"
    keys.press("Tab")
    assert ann.page.evaluate(focus) == "Skip to the content"
    keys.press("Enter")
    keys.press("Tab")
    assert ann.page.evaluate("document.activeElement.id") == "text"
    ann.choose("rules")
    ann.page.locator("#text").focus()
    keys.insert_text(TEXT)
    keys.press("Control+Enter")
    ann.wait()
    assert ann.page.evaluate(focus) == "Pasted text"  # the heading of the result
    for _ in range(40):
        keys.press("Tab")
        if ann.page.evaluate("document.activeElement.localName") == "article":
            break
    assert ann.page.evaluate(focus) == "Sentence 1, split into 2, undecided"
    keys.press("a")
    assert ann.page.evaluate(focus) == "Sentence 1, split into 2, accepted"
    keys.press("Tab")
    assert ann.lit() == "The mill burnt down ."
    keys.press("s")
    ann.hears("No splitter finds anything more to split in this sentence.")
    keys.press("j")
    assert ann.page.evaluate(focus) == "Sentence 3, split into 2, undecided"
    keys.press("ArrowUp")
    assert ann.page.evaluate(focus) == "Sentence 2, unchanged"
    keys.press("End")
    keys.press("r")
    assert ann.page.evaluate(focus) == "Sentence 3, split into 2, rejected"
    keys.press("Control+z")
    assert ann.page.evaluate(focus) == "Sentence 3, split into 2, undecided"
    keys.press("Control+Shift+z")
    assert ann.page.evaluate(focus) == "Sentence 3, split into 2, rejected"
    keys.press("k")
    keys.press("e")
    keys.press("Control+a")
    keys.insert_text("The mill burnt down.\nIt was built in 1911.")
    ann.page.get_by_text("The number '1811' is missing.").wait_for()
    ann.page.get_by_text("The number '1911' is not in the source.").wait_for()
    picture(ann.page, "editing")
    keys.press("Escape")
    assert ann.page.evaluate(focus) == "Sentence 1, split into 2, accepted"
    keys.press("e")
    keys.press("Control+a")
    keys.insert_text("The mill burnt down.\nIt was built in 1811.")
    keys.press("Control+Enter")
    ann.row(0).locator(".chip", has_text="Edited").wait_for()
    assert ann.page.evaluate(focus) == "Sentence 1, split into 2, edited, accepted"
    assert ann.simple(0) == ["The mill burnt down.", "It was built in 1811."]
    assert ann.row(0).locator("ins").all_inner_texts() == ["It"]
    keys.press("x")
    assert ann.simple(0) == MILL_SPLIT
    keys.press("Control+z")
    assert ann.simple(0) == ["The mill burnt down.", "It was built in 1811."]


def test_journey_of_editing_with_the_checks_at_hand(writer: Callable[..., Any]) -> None:
    ann = writer()
    ann.split(TEXT)
    ann.row(1).hover()
    ann.act(1, "Edit")
    field = ann.page.get_by_label("Your rewrite")
    field.fill("")
    ann.page.get_by_text("A rewrite needs at least one sentence.").wait_for()
    ann.page.get_by_role("button", name="Keep").click()
    assert field.is_visible()
    field.fill("It rained.\nIt snowed.")
    finding = ann.row(1).locator(".finding")
    finding.wait_for()
    assert finding.inner_text() == "Added The word 'snowed' is not in the source."
    ann.page.get_by_role("button", name="Accept all").click()
    assert field.input_value() == "It rained.\nIt snowed.", "what is being typed stays"
    ann.keep()
    assert ann.simple(1) == ["It rained.", "It snowed."]
    ann.row(1).locator(".finding").hover()
    assert ann.row(1).locator(".simple .lit").all_inner_texts() == ["snowed"]
    ann.page.get_by_role("radio", name="Findings").check()
    assert ann.page.locator("#feed article:visible").count() == 1
    ann.page.get_by_role("radio", name="Changes").check()
    assert ann.page.locator("#feed article:visible").count() == 3
    ann.page.get_by_role("button", name="New text").click()
    assert ann.page.get_by_label("Your text").input_value() == TEXT
    ann.page.get_by_role("button", name="Back to the result").click()
    assert ann.simple(1) == ["It rained.", "It snowed."]


SLOW_CHECKS = """() => {
  const ask = window.fetch;
  window.fetch = (address, options) => !String(address).includes("check") ? ask(address, options)
    : new Promise((done, fail) => {
        setTimeout(() => ask(address, options).then(done, fail), 1000);
        options?.signal?.addEventListener("abort", () => fail(new DOMException("", "AbortError")));
      });
}"""


def test_journey_of_keeping_an_edit_before_its_checks_have_come(writer: Callable[..., Any]) -> None:
    ann = writer()
    ann.split(MILL)
    ann.page.evaluate(SLOW_CHECKS)
    ann.act(0, "Edit")
    ann.page.get_by_label("Your rewrite").fill("The mill burnt.")
    ann.keep()
    assert ann.simple(0) == ["The mill burnt."]


def test_journey_of_splitting_further(writer: Callable[..., Any]) -> None:
    ann = writer()
    ann.split(MILL)
    ann.act(0, "Edit")
    ann.page.get_by_label("Your rewrite").fill(MILL + "\nIt burnt.")
    ann.keep()
    ann.act(0, "Split sentence 1 further")
    ann.row(0).locator(".chip", has_text="Split further").wait_for()
    assert ann.simple(0) == [*MILL_SPLIT, "It burnt."]
    ann.row(0).locator(".simple .words").nth(1).hover()
    assert ann.lit() == "The mill was built in 1811 ."
    ann.act(0, "Split sentence 2 further")
    ann.hears("No splitter finds anything more to split in this sentence.")
    ann.act(0, "Reset")
    assert ann.simple(0) == MILL_SPLIT


def test_journey_of_splitting_further_by_another_splitter(writer: Callable[..., Any]) -> None:
    ann = writer()
    text = "Ann sold the mill in May, and Bo, tired of the noise, left the town in June."
    ann.split(text, "pointer")
    assert ann.simple(0)[1] == "Bo, tired of the noise, left the town in June."
    ann.act(0, "Split sentence 2 further")
    ann.hears("Split further by rules.")
    assert ann.simple(0)[1:3] == ["Bo left the town in June.", "Bo was tired of the noise."]


def test_journey_of_choosing_how_far_to_split(writer: Callable[..., Any]) -> None:
    text = "Marie Curie, a Polish physicist, died in 1934, and her daughter won a prize in 1935."
    ann = writer()
    ann.page.get_by_label("Splitter", exact=True).select_option("pointer")
    ann.page.get_by_label("Split", exact=True).select_option("atomic")
    ann.split(text, "pointer")
    assert "Marie Curie was a Polish physicist." in ann.simple(0)
    bob = writer()
    bob.page.get_by_label("Splitter", exact=True).select_option("pointer")
    bob.page.get_by_label("Limit").first.fill("5")
    bob.page.get_by_label("Keep to the limit").check()
    bob.split(text, "pointer")
    assert "Still over the limit of 5 words" in bob.row(0).inner_text()
    bob.page.get_by_role("button", name="New text").click()
    bob.page.get_by_label("Splitter", exact=True).select_option("rules")
    level = bob.page.get_by_label("Split", exact=True)
    assert level.input_value() == "plain"
    assert level.locator("option:disabled").count() == 2


def _word_file(path: Path) -> Path:
    document = docx.Document()
    paragraph = document.add_paragraph()
    paragraph.add_run("The mill").bold = True
    paragraph.add_run(", which was built in 1811, burnt down. It rained.")
    document.add_paragraph(FERRY, style="List Bullet")
    document.save(str(path))
    return path


def test_journey_of_a_word_document(writer: Callable[..., Any], tmp_path: Path) -> None:
    ann = writer()
    ann.open(_word_file(tmp_path / "contract.docx"))
    assert ann.page.get_by_role("heading", level=1).inner_text() == "contract.docx"
    assert ann.simple(0) == MILL_SPLIT
    ann.act(2, "Reject")
    path = ann.download("docx", tmp_path)
    assert path.name == "contract-simple.docx"
    first, second = docx.Document(str(path)).paragraphs
    kinds = [etree.QName(each).localname for each in first._p]
    assert {"ins", "del"} <= set(kinds)
    assert first.runs[0].bold
    said = "".join(text.text for text in first._p.iter(f"{WORD}t"))
    assert said == "The mill burnt down. The mill was built in 1811. It rained."
    assert second.text == FERRY
    assert second.style.name == "List Bullet"
    authors = {each.get(f"{WORD}author") for each in first._p.iter(f"{WORD}ins")}
    assert authors == {"Parataxis (rules)"}


def test_journey_from_a_text_to_a_word_document(writer: Callable[..., Any], tmp_path: Path) -> None:
    ann = writer()
    ann.split(f"A heading\n\n{MILL} It\nrained 🌧.\n{FERRY}")
    assert ann.page.locator("#summary").inner_text().startswith("2 of 4")
    paragraphs = docx.Document(str(ann.download("docx", tmp_path))).paragraphs
    said = ["".join(text.text for text in each._p.iter(f"{WORD}t")) for each in paragraphs]
    assert said == ["A heading", f"{' '.join(MILL_SPLIT)} It rained 🌧.", " ".join(FERRY_SPLIT)]
    deleted = [text.text for each in paragraphs for text in each._p.iter(f"{WORD}delText")]
    assert any("which" in text for text in deleted)


@pytest.mark.parametrize(
    ("name", "source", "expected"),
    [
        ("a.md", f"# Title\n\n**The mill**{MILL[8:]}\n", "# Title\n\n**The mill** burnt down. "),
        ("a.html", f"<p><b>The mill</b>{MILL[8:]}</p>", "<p><b>The mill</b> burnt down. "),
        ("a.txt", MILL, "The mill burnt down. The mill was"),
    ],
)
def test_journey_of_other_documents(
    writer: Callable[..., Any], tmp_path: Path, name: str, source: str, expected: str
) -> None:
    path = tmp_path / name
    path.write_text(source)
    ann = writer()
    ann.choose("rules")
    ann.page.evaluate(
        """([name, text]) => {
            const carried = new DataTransfer();
            carried.items.add(new File([text], name));
            for (const kind of ["dragenter", "dragover", "drop"]) {
                const options = { dataTransfer: carried, bubbles: true, cancelable: true };
                document.body.dispatchEvent(new DragEvent(kind, options));
            }
        }""",
        [name, source],
    )
    ann.wait()
    (tmp_path / "out").mkdir()
    result = ann.download(name.split(".")[1], tmp_path / "out")
    assert result.name == f"a-simple.{name.split('.')[1]}"
    assert result.read_text().startswith(expected)


def test_journey_tells_what_was_left_alone(writer: Callable[..., Any], tmp_path: Path) -> None:
    path = tmp_path / "a.html"
    path.write_text(f"<p>{MILL}</p><p>The inn, which was <img src=x> old, burnt down.</p>")
    ann = writer()
    ann.open(path)
    counted = "1 of 2 sentences changed · 1 cannot be written"  # the service says so a little later
    ann.page.locator("#summary", has_text=counted).wait_for()
    assert "<img src=x>" in ann.download("html", tmp_path).read_text()
    ann.hears("a-simple.html is downloaded.")
    assert "it is not counted: the sentence has a picture" in ann.row(1).inner_text()


def test_journey_of_a_shared_link(
    writer: Callable[..., Any], device: Any, server: Any, tmp_path: Path
) -> None:
    ann = writer()
    ann.split(f"First 🌧, then 😀.\n\n{TEXT}")
    ann.act(3, "Reject")
    ann.act(1, "Edit")
    ann.page.get_by_label("Your rewrite").fill("The 😀 mill burnt.\nIt was built in 1811.")
    ann.keep()
    ann.page.get_by_role("button", name="Share").click()
    ann.page.locator("#share-panel[open]").wait_for()
    link = ann.page.get_by_label("Link", exact=True).input_value()
    assert link.startswith(f"{server.url}#")

    fresh = device().new_page()
    sent: list[str] = []
    fresh.on("request", lambda request: sent.append(request.method))
    fresh.goto(link)
    fresh.locator("article.dressed").first.wait_for()
    fresh.get_by_text("This result came with the link.").wait_for()
    bo = type(ann)(fresh)
    assert bo.page.locator("#summary").inner_text() == ann.page.locator("#summary").inner_text()
    for number in range(4):
        drawn = "(article) => article.querySelector('.rewrite-cell').innerHTML"
        shown = [
            re.sub(' tabindex="[^"]+"', "", each.row(number).evaluate(drawn)) for each in (ann, bo)
        ]
        assert shown[0] == shown[1]
    measured = "document.querySelector('#readability svg').getAttribute('aria-label')"
    assert bo.page.evaluate(measured) == ann.page.evaluate(measured)
    fresh.wait_for_timeout(700)  # longer than the page waits before it asks for readability
    assert set(sent) == {"GET"}, "opening a link sends no text"
    result = bo.download("txt", tmp_path).read_text()
    assert result.startswith("First 🌧, then 😀.\n\nThe 😀 mill burnt. It was built in 1811.  It")
    bo.act(1, "Reset")
    assert bo.simple(1) == MILL_SPLIT


def test_journey_of_a_comparison(writer: Callable[..., Any], picture: Any) -> None:
    ann = writer()
    ann.page.get_by_role("button", name="Show me an example").click()
    ann.wait()
    before = ann.simple(0)
    ann.page.get_by_role("button", name="Compare").click()
    boxes = [ann.page.get_by_role("checkbox", name=name) for name in ("pointer", "rules")]
    for box in boxes:
        assert box.is_checked()
        box.uncheck()
    ann.page.locator("#compare-run").click()
    ann.page.get_by_text("Choose two to four splitters.").wait_for()
    for box in boxes:
        box.check()
    ann.page.locator("#compare-run").click()
    table = ann.page.locator("#compare-summary table")
    table.wait_for()
    rows = [row.split("\t") for row in table.inner_text().splitlines()]
    assert [row[:3] for row in rows[-2:]] == [["pointer", "3", "12"], ["rules", "3", "8"]]
    picture(ann.page, "compare")
    first = ann.page.locator("#compare-feed article").first
    taken = first.get_by_role("group", name="rules")
    sentences = taken.locator(".words").all_inner_texts()
    assert sentences[1:] == [
        "The Seller shall repay the price.",
        "The Seller is a company registered in Norway.",
    ]
    taken.locator(".words").nth(2).hover()
    assert ann.lit() == "the Seller a company registered in Norway"
    assert ann.page.locator("#compare-feed article:visible").count() == 4
    ann.page.get_by_label("Only where they differ").check()
    assert ann.page.locator("#compare-feed article:visible").count() == 3
    taken.get_by_role("button", name="Use this").click()
    ann.page.get_by_role("button", name="Back to the result").click()
    ann.row(0).scroll_into_view_if_needed()  # what was never on the screen has no text
    assert ann.simple(0) == sentences
    ann.page.get_by_role("button", name="Undo").click()
    assert ann.simple(0) == before
