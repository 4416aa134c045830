"""A writer and two raters take a study from invitation to gold, by mouse and by keyboard only."""

import json
import zipfile
from itertools import chain
from typing import Any

import pytest

from parataxis.rewrite.record import Rewrite
from parataxis.studies.records import Rating
from parataxis.studies.report import benchmark, perfect

PASSWORD = "correct horse battery"
STUDY: dict[str, Any] = {
    "write": {"sources": "sources.txt", "writers": 1},
    "rate": {"raters": 2},
    "qualification": {"training": "training.jsonl", "test": "test.jsonl"},
    "consent": {"en": "Do you agree?", "es": "¿Acepta?"},
    "background": [
        {"id": "native", "text": "Is English your first language?", "kind": "yes-no"},
        {"id": "age", "text": "How old are you?", "kind": "number", "required": True},
    ],
}
REWRITE = "The ferry had left Arden at noon.\nThe ferry ran aground."
QUESTIONS = ("sensical", "grammatical", "misses", "adds", "wrong-split", "split-further")


class Mouse:
    """Points and clicks; types where it has clicked."""

    def press(self, target: Any) -> None:
        target.click()

    def tick(self, target: Any) -> None:
        target.locator("xpath=ancestor::label").click()

    def write(self, target: Any, text: str) -> None:
        target.click()
        target.page.keyboard.insert_text(text)

    def pick(self, target: Any, value: str) -> None:
        target.select_option(value)

    def rate(self, page: Any) -> None:
        for question in QUESTIONS:
            value = "5" if question in QUESTIONS[:2] else "no"
            self.tick(page.locator(f"[name=q-{question}][value='{value}']"))
        self.press(page.get_by_test_id("submit"))


class Keyboard:
    """Goes from one control to the next with Tab, and never touches the mouse."""

    def _reach(self, target: Any) -> None:
        """To the control, or, among radio buttons, to its group."""
        name = target.evaluate("(one) => one.type === 'radio' ? one.name : null")
        is_there = (
            "(one, name) => one === document.activeElement"
            " || (name !== null && document.activeElement.name === name)"
        )
        for _ in range(60):
            if target.evaluate(is_there, name):
                return
            target.page.keyboard.press("Tab")
        raise AssertionError(f"the keyboard does not reach {target}")

    def press(self, target: Any) -> None:
        self._reach(target)
        target.page.keyboard.press("Enter")

    def tick(self, target: Any) -> None:
        self._reach(target)
        for _ in range(10):
            if not target.is_checked():
                is_at = target.evaluate("(one) => one === document.activeElement")
                target.page.keyboard.press("Space" if is_at else "ArrowRight")
        assert target.is_checked()

    def write(self, target: Any, text: str) -> None:
        self._reach(target)
        target.page.keyboard.insert_text(text)

    def pick(self, target: Any, value: str) -> None:
        self._reach(target)
        label = target.locator(f"option[value={value}]").inner_text()
        target.page.keyboard.type(label)
        assert target.input_value() == value

    def rate(self, page: Any) -> None:
        """With the keys of the page: a number or letter answers a question and goes to the next."""
        page.keyboard.press("?")
        panel = page.get_by_test_id("keys-panel")
        panel.wait_for()
        page.keyboard.press("Escape")
        panel.wait_for(state="hidden")
        for key in "55nnnn":
            page.keyboard.press(key)
        page.keyboard.press("Enter")  # the focus has come to the button


@pytest.mark.parametrize("hand", [Mouse(), Keyboard()], ids=["mouse", "keyboard"])
def test_journey_from_invitation_to_gold(serve: Any, device: Any, hand: Any) -> None:
    site = serve(**STUDY)
    organiser = device().new_page()
    organiser.goto(f"{site.url}/organiser")
    hand.write(organiser.get_by_test_id("password"), PASSWORD)
    hand.press(organiser.get_by_test_id("login"))
    links = _invited(organiser, hand, writer=["Wanda"], rater=["Ray", "Rita"])

    page = device().new_page()
    page.goto(links["Wanda"])
    _come_in(page, hand)
    _write_both(page, hand)

    for name in ("Ray", "Rita"):
        page = device().new_page()
        page.goto(links[name])
        _come_in(page, hand)
        _qualify(page, hand)
        assert "Wanda" not in page.content()
        assert page.get_by_test_id("simple").locator("li").all_inner_texts() == REWRITE.split("\n")
        hand.rate(page)
        page.wait_for_url("**/status")
        assert page.get_by_test_id("status").get_attribute("data-stage") == "finished"

    hand.press(organiser.get_by_test_id("nav-dashboard"))
    organiser.wait_for_url("**/organiser")
    assert organiser.get_by_test_id("phase-rate").locator(".big").inner_text() == "2 of 2 (100 %)"
    with organiser.expect_download() as found:
        hand.press(organiser.get_by_test_id("export-zip"))
    _check_gold(found.value.path())


def _invited(page: Any, hand: Any, **names: list[str]) -> dict[str, str]:
    """The links of people, as the organiser reads them."""
    page.wait_for_url("**/organiser")
    for role, people in names.items():
        hand.press(page.get_by_test_id("nav-people"))
        page.wait_for_url("**/organiser/people*")
        if not page.get_by_test_id("invite-names").is_visible():
            hand.press(page.get_by_test_id("invite-open"))
        hand.pick(page.get_by_test_id("invite-role"), role)
        hand.write(page.get_by_test_id("invite-names"), "\n".join(people))
        hand.press(page.get_by_test_id("invite"))
        page.get_by_test_id("notice").wait_for()
    links = {}
    for name in chain(*names.values()):
        hand.press(page.get_by_role("link", name=name, exact=True))
        links[name] = page.get_by_test_id("link").inner_text()
        hand.press(page.get_by_test_id("nav-people"))
        page.wait_for_url("**/organiser/people")
    return links


def _come_in(page: Any, hand: Any) -> None:
    page.wait_for_url("**/consent")
    hand.tick(page.get_by_test_id("agree"))
    hand.press(page.get_by_test_id("continue"))
    page.wait_for_url("**/background")
    hand.tick(page.locator("[name=b-0][value=no]"))
    hand.write(page.locator("[name=b-1]"), "41")
    hand.press(page.get_by_test_id("continue"))
    page.wait_for_url("**/instructions")
    hand.press(page.get_by_test_id("begin"))
    page.wait_for_url("**/task/*")


def _write_both(page: Any, hand: Any) -> None:
    """One of the sources is split, the other is simple; which comes first is drawn by chance."""
    for _ in range(2):
        here = page.url
        if "ferry" in page.get_by_test_id("source").inner_text():
            hand.write(page.get_by_test_id("rewrite"), REWRITE)
            page.get_by_text("Sentences: 2").wait_for()
            page.get_by_test_id("help-fine").wait_for()
            hand.press(page.get_by_test_id("submit"))
        else:
            hand.press(page.get_by_test_id("flag-simple"))
        page.wait_for_url(lambda url, here=here: url != here)
    assert page.get_by_test_id("done").inner_text().strip() == "Rewrites: 2."


def _qualify(page: Any, hand: Any) -> None:
    page.get_by_text("Practice 1 of 1").wait_for()
    hand.rate(page)
    page.wait_for_url("**/feedback")
    assert page.get_by_test_id("feedback").inner_text() == "All is well."
    hand.press(page.get_by_test_id("next"))
    page.get_by_text("Test 1 of 1").wait_for()
    hand.rate(page)
    page.get_by_text("You have passed the test").wait_for()


def _check_gold(path: Any) -> None:
    with zipfile.ZipFile(path) as archive:
        files = {name: archive.read(name).decode().splitlines() for name in archive.namelist()}
    rewrites = [Rewrite.model_validate_json(line) for line in files["items.jsonl"]]
    ratings = [Rating.model_validate_json(line) for line in files["ratings.jsonl"]]
    assert len({rating.rater for rating in ratings}) == 2
    gold = benchmark(perfect(rewrites, ratings, raters=2))
    (example,) = gold
    assert example.source == "The ferry, which had left Arden at noon, ran aground."
    assert example.references == (tuple(REWRITE.split("\n")),)
    (flagged,) = map(json.loads, files["flagged.jsonl"])
    assert (flagged["source"], flagged["flag"]) == ("Ann paints.", "simple")
