"""What a writer sees of a text before it is split, and how a split is chosen, reported and kept."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import docx
import pytest
from axe_playwright_python.sync_playwright import Axe

from parataxis.rewrite.jsonl import read_rewrites

GOODS = (
    "If the goods, which the Buyer ordered in May, arrive late, the Buyer may refuse them, and the "
    "Seller, a company registered in Norway, shall repay the price."
)
RENT = "The tenant pays the rent on the first day of each month."
EXAM = (
    "Students who fail the exam may repeat it in the autumn term if they apply in writing before "
    "the end of July and pay the fee that the university has set for the second attempt at it."
)
MILL = "The mill, which was built in 1811, burnt down."
FERRY = "Ann lives in Oslo, and Bo lives in Rome."
DRAFT = "localStorage.getItem('parataxis-draft')"
SIZES = {"phone": {"width": 390, "height": 844}, "desk": {"width": 1280, "height": 900}}


def _wait(page: Any, condition: str) -> None:
    """Until something is true on the page, whose policy forbids Playwright's own way to wait."""
    for _ in range(600):
        if page.evaluate(condition):
            return
        page.wait_for_timeout(25)
    raise AssertionError(f"this never became true: {condition}")


def _marks(page: Any) -> list[str]:
    return page.locator("#difficulty .level-mark").all_inner_texts()


def test_writing_colours_before_a_split(writer: Callable[..., Any], picture: Any) -> None:
    ann = writer()
    ann.page.get_by_label("Your text").fill(f"{GOODS} {RENT}\n\n{EXAM}")
    marks = ann.page.locator("#backdrop mark")
    marks.nth(1).wait_for(state="attached")
    assert marks.all_inner_texts() == [GOODS, EXAM]
    assert marks.nth(0).get_attribute("class") == "long nested"
    assert _marks(ann.page) == ["2 long", "0 very long", "1 nested"]
    ann.page.get_by_label("Limit").first.fill("20")
    assert _marks(ann.page) == ["1 long", "1 very long", "1 nested"]
    place = (
        "(one) => { const { x, y, width } = one.getBoundingClientRect(); return [x, y, width]; }"
    )
    fields = (ann.page.locator("#backdrop"), ann.page.get_by_label("Your text"))
    shapes = [each.evaluate(place) for each in fields]
    assert shapes[0] == shapes[1], "the colours lie behind the words"
    ann.page.get_by_label("Your text").fill("It rained.")
    ann.page.locator("#difficulty", has_text="1 sentence:").wait_for()
    assert marks.count() == 0


def test_writing_of_another_language_is_told(writer: Callable[..., Any]) -> None:
    ann = writer()
    notice = ann.page.locator("#language")
    ann.page.get_by_label("Your text").fill("Der Käufer zahlt den Preis für die Ware im Mai. " * 4)
    notice.wait_for()
    assert notice.inner_text().startswith("This text does not look like English.")
    ann.page.get_by_label("Your text").fill(f"{GOODS} {RENT}")
    notice.wait_for(state="hidden")


def test_writing_alternatives(writer: Callable[..., Any]) -> None:
    ann = writer()
    ann.split(GOODS, "pointer")
    first = ann.simple(0)
    sure = ann.row(0).locator(".sure").first.inner_text()
    is_low = int(re.findall(r"Confidence (\d+) %", sure)[0]) < 60
    assert sure.endswith("read it closely") == is_low
    assert ("low confidence" in ann.row(0).get_attribute("aria-label")) == is_low
    ann.act(0, "Alternatives")
    offers = ann.row(0).locator(".alternative")
    offers.first.wait_for()
    assert re.match(r"Confidence \d\d %", offers.first.locator(".sure").inner_text())
    others = [each.locator(".words").all_inner_texts() for each in offers.all()]
    assert len(others) == len({tuple(each) for each in others}) >= 3
    assert first not in others
    about = next(k for k, words in enumerate(others[0]) if "Norway" in words)
    offers.first.locator(".words").nth(about).hover()
    assert "Norway" in ann.lit()
    offers.first.get_by_role("button", name="Use alternative 1").click()
    assert ann.simple(0) == others[0]
    label = ann.row(0).get_attribute("aria-label")
    assert label.startswith(f"Sentence 1, split into {len(others[0])}, alternative, accepted")
    ann.page.get_by_role("button", name="Undo").click()
    assert ann.simple(0) == first
    ann.act(0, "Alternatives")
    offers.first.wait_for()
    ann.act(0, "Alternatives")
    assert offers.count() == 0, "a second click closes them"


def test_writing_a_sentence_left_whole_can_be_split_anyway(writer: Callable[..., Any]) -> None:
    ann = writer()
    ann.split(f"{EXAM}\n\nThe rent is due on the first day of each month.", "pointer")
    assert ann.simple(0) == [EXAM]
    ann.page.mouse.move(0, 0)
    opacity = "(one) => getComputedStyle(one).opacity"
    shown = [ann.row(i).locator(".row-actions").evaluate(opacity) for i in (0, 1)]
    assert shown == ["1", "0"], "where a sentence is too long, what to do is always shown"
    ann.act(0, "Split anyway")
    offer = ann.row(0).locator(".alternative").first
    offer.wait_for()
    assert "would leave this sentence whole" in ann.row(0).inner_text()
    assert "read it closely" in offer.inner_text()
    offer.get_by_role("button").click()
    assert len(ann.simple(0)) > 1
    ann.row(1).focus()
    ann.page.keyboard.press("o")
    ann.row(1).get_by_text("No other split was found that is worth showing.").wait_for()


def test_writing_sorted_by_risk_and_filtered_by_length(
    writer: Callable[..., Any], picture: Any
) -> None:
    ann = writer()
    ann.split(f"{MILL} {RENT} {GOODS}\n\n{EXAM}", "pointer")
    names = "(feed) => [...feed.children].map((each) => Number(each.dataset.place))"
    feed = ann.page.locator("#feed")
    assert feed.evaluate(names) == [0, 1, 2, 3]
    ann.page.get_by_label("Order", exact=True).select_option("risk")
    assert feed.evaluate(names) == [2, 0, 1, 3], "the least sure comes first, whole ones last"
    ann.page.locator("#title").focus()
    for key, label in (("j", "Sentence 3,"), ("j", "Sentence 1,"), ("k", "Sentence 3,")):
        ann.page.keyboard.press(key)
        assert ann.page.evaluate("document.activeElement.ariaLabel").startswith(label)
    ann.page.get_by_label("Order", exact=True).select_option("text")
    assert feed.evaluate(names) == [0, 1, 2, 3]
    counts = ann.page.locator(".filters small")
    assert counts.all_inner_texts() == ["4", "2", "0", "1"]
    ann.page.get_by_role("radio", name="Still too long").check()
    shown = feed.locator("article:visible")
    assert shown.count() == 1
    assert shown.locator(".hardness").inner_text() == "37 words, long"
    ann.page.get_by_role("textbox", name="Limit").or_(ann.page.get_by_label("Limit")).locator(
        "visible=true"
    ).fill("11")
    assert counts.all_inner_texts()[3] == "2"
    assert shown.count() == 2
    ann.page.get_by_role("radio", name="All").check()
    ann.act(2, "Reject")
    assert counts.all_inner_texts()[3] == "3", "a source that stays is too long again"


def test_writing_what_is_undecided_is_split_again(writer: Callable[..., Any]) -> None:
    ann = writer()
    ann.split(f"{GOODS} {MILL}", "pointer")
    ann.act(1, "Reject")
    before = ann.simple(0)
    ann.page.get_by_label("Split again").select_option("light")
    ann.hears("1 undecided sentence split again.")
    assert len(ann.simple(0)) < len(before)
    assert ann.row(1).get_attribute("data-decision") == "rejected"
    ann.page.get_by_role("button", name="Undo").click()
    assert ann.simple(0) == before


def test_writing_terms_are_kept(writer: Callable[..., Any]) -> None:
    ann = writer()
    ann.page.get_by_text("Terms to keep").click()
    ann.page.get_by_label("Terms and phrases").fill("the mill, which was built\n")
    ann.split(f"{MILL} {FERRY}", "pointer")
    assert ann.simple(0) == [MILL]
    assert 'breaks the phrase "the mill, which was built"' in ann.row(0).inner_text()
    assert len(ann.simple(1)) == 2


def test_writing_keys_work_at_once(writer: Callable[..., Any]) -> None:
    ann = writer()
    ann.page.get_by_label("Your text").fill(f"It rained. {MILL} {FERRY}")
    ann.choose("rules")
    ann.page.get_by_label("Your text").press("Control+Enter")
    ann.wait()
    ann.page.keyboard.press("a")
    assert ann.row(1).get_attribute("data-decision") == "accepted"
    ann.page.keyboard.press("j")
    ann.page.keyboard.press("r")
    assert ann.row(2).get_attribute("data-decision") == "rejected"
    ann.page.keyboard.press("k")
    ann.page.keyboard.press("e")
    assert ann.row(1).get_by_label("Your rewrite").is_visible()


def test_writing_a_draft_survives_a_reload(writer: Callable[..., Any]) -> None:
    ann = writer()
    page = ann.page
    page.get_by_label("Your text").fill("Ann came.")
    page.get_by_label("Limit").first.fill("20")
    _wait(page, f"JSON.parse({DRAFT})?.options.limit === '20'")
    page.reload()
    page.locator("#draft").wait_for()
    assert page.get_by_label("Your text").input_value() == "Ann came."
    assert page.get_by_label("Limit").first.input_value() == "20"
    page.locator("#delete-draft").click()
    assert page.get_by_label("Your text").input_value() == ""
    assert page.evaluate(DRAFT) is None
    ann.split(f"{MILL} {FERRY}")
    ann.act(0, "Accept")
    ann.act(1, "Reject")
    _wait(page, f"JSON.parse({DRAFT})?.result?.rows.every((row) => row[2] > 0)")
    page.reload()
    ann.row(1).wait_for()
    decisions = [ann.row(number).get_attribute("data-decision") for number in range(2)]
    assert decisions == ["accepted", "rejected"]
    assert "kept in this browser only" in page.locator("#shared").inner_text()
    page.get_by_role("button", name="Delete the draft").locator("visible=true").click()
    assert page.get_by_label("Your text").input_value() == ""
    assert page.evaluate(DRAFT) is None
    page.reload()
    page.locator("#splitter option").first.wait_for(state="attached")
    assert not page.locator("#draft").is_visible()


def test_writing_headings_of_word_are_shown_and_only_what_can_be_written_counts(
    writer: Callable[..., Any], tmp_path: Path
) -> None:
    document = docx.Document()
    document.add_heading("The mill", level=1)
    document.add_paragraph(MILL)
    document.add_paragraph("Ann lives in Oslo,\tand Bo lives in Rome.")
    document.add_heading("The end", level=1)
    path = tmp_path / "letter.docx"
    document.save(str(path))
    ann = writer()
    ann.open(path)
    assert ann.row(0).locator(".above").inner_text() == "The mill"
    assert ann.page.locator("#after").inner_text() == "The end"
    blocked = ann.row(1).locator(".blocked")
    blocked.wait_for()
    assert "cannot be written into the file" in blocked.inner_text()
    assert ann.page.locator("#summary").inner_text() == (
        "1 of 2 sentences changed · 1 cannot be written"
    )
    clean = docx.Document(str(ann.download("docx-clean", tmp_path)))
    assert [each.text for each in clean.paragraphs][:2] == [
        "The mill",
        "The mill burnt down. The mill was built in 1811.",
    ]
    assert "w:ins" not in clean.element.xml


def test_writing_a_protected_file_is_named_as_that(
    writer: Callable[..., Any], device: Any, tmp_path: Path
) -> None:
    path = tmp_path / "secret.docx"
    ole = bytes.fromhex("d0cf11e0a1b11ae1")
    path.write_bytes(ole + bytes(512) + "EncryptedPackage".encode("utf-16-le"))
    ann = writer()
    ann.page.locator("#file").set_input_files(path)
    problem = ann.page.locator("#problem", has_text="secret.docx")
    problem.wait_for()
    assert problem.inner_text() == ("secret.docx is protected by a password; save it without one.")
    device.forgive("status of 422")


def test_writing_a_report_is_a_line_for_training(
    writer: Callable[..., Any], tmp_path: Path
) -> None:
    ann = writer()
    ann.split(MILL)
    ann.act(0, "Report")
    page = ann.page
    page.get_by_role("button", name="Save the report").click()
    assert "correct it first" in page.locator("#report-problem").inner_text()
    page.get_by_label("Your correction").fill("The mill was built in 1811.\nIt burnt down.\n")
    with page.expect_download() as waiting:
        page.get_by_role("button", name="Save the report").click()
    path = tmp_path / waiting.value.suggested_filename
    waiting.value.save_as(path)
    record = json.loads(path.read_text())
    assert record["reported"]["simple"] == ["The mill burnt down.", "The mill was built in 1811."]
    (read,) = read_rewrites(path.read_text().splitlines(), path.name)
    assert (read.source, read.simple) == (MILL, ("The mill was built in 1811.", "It burnt down."))


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_writing_passes_the_rules_of_axe(
    writer: Callable[..., Any], picture: Any, scheme: str
) -> None:
    ann = writer(color_scheme=scheme, bypass_csp=True)
    faults = []

    def look(where: str) -> None:
        for name, size in SIZES.items():
            ann.page.set_viewport_size(size)
            if where == "alternatives" and name == "phone":
                ann.row(0).locator(".sure").first.evaluate("(one) => one.scrollIntoView()")
            if where in ("colours", "alternatives"):
                picture(ann.page, f"{where}-{name}-{scheme}")
            found = Axe().run(ann.page).response["violations"]
            faults.extend(
                f"{where}, {name}: {each['id']} {each['nodes'][0]['html']}" for each in found
            )

    ann.page.get_by_label("Your text").fill(f"{GOODS} {RENT}\n\n{EXAM}")
    ann.page.locator("#backdrop mark").first.wait_for(state="attached")
    look("colours")
    ann.split(f"{GOODS} {RENT}\n\n{EXAM}", "pointer")
    ann.page.locator("#readability").get_by_text("Longest sentence").wait_for()
    ann.act(0, "Alternatives")
    ann.row(0).locator(".alternative").first.wait_for()
    look("alternatives")
    ann.act(0, "Report")
    look("report")
    ann.page.keyboard.press("Escape")
    ann.page.get_by_role("button", name="Download", exact=True).click()
    look("download")
    assert not faults, "\n".join(faults)
