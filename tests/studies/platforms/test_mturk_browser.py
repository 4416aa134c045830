"""The page for Mechanical Turk in a real browser: what is asked, and what is sent."""

import html
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

import pytest

pytest.importorskip("yaml", reason="needs the extra [study]")

from parataxis.studies.platforms import PLATFORMS
from parataxis.studies.platforms.files import Design
from parataxis.studies.rubric import load_rubric
from parataxis.studies.study import ItemKind

sync_api = pytest.importorskip("playwright.sync_api", reason="needs playwright")
CHROMIUM = Path("/usr/bin/chromium")


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    if not CHROMIUM.exists():
        pytest.skip("needs Chromium")
    with sync_api.sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=str(CHROMIUM), args=["--no-sandbox"])
        yield running
        running.close()


def _open(browser: Any, tmp_path: Path, identical: str, assignment: str) -> tuple[Any, list[str]]:
    design = Design(load_rubric("concise"), ItemKind.RATE)
    page = PLATFORMS["mturk"].files(design, [])["task.html"]
    texts = {"item": "x1", "source": "A <b>.", "rewrite": "B.", "identical": identical}
    for name, text in texts.items():
        page = page.replace("${" + name + "}", html.escape(text))
    (tmp_path / "task.html").write_text(page, encoding="utf-8")
    tab = browser.new_page()
    sent: list[str] = []

    def take(route: Any) -> None:
        sent.append(f"{route.request.url}?{route.request.post_data}")
        route.fulfill(body="thanks")

    tab.route("https://turk.example/**", take)
    place = f"assignmentId={assignment}&turkSubmitTo=https%3A%2F%2Fturk.example"
    tab.goto(f"file://{tmp_path}/task.html?{place}")
    return tab, sent


def _visible(tab: Any) -> list[str]:
    script = "all => all.filter(one => !one.hidden).map(one => one.dataset.question)"
    found: list[str] = tab.locator("[data-question]").evaluate_all(script)
    return found


def test_mturk_page_by_keyboard(browser: Any, tmp_path: Path) -> None:
    tab, sent = _open(browser, tmp_path, "no", "A1")
    asked = ["simplification", "meaning", "fluency", "concerning", "overall", "needed", "comments"]
    assert _visible(tab) == asked
    assert tab.locator(".text").first.inner_text() == "A <b>."
    tab.locator("[name=q_simplification]").first.focus()
    tab.keyboard.press("2")
    for name in ("meaning", "fluency"):
        tab.locator(f"[name=q_{name}]").first.focus()
        tab.keyboard.press("3")
    tab.locator("[name=q_concerning]").first.focus()
    tab.keyboard.press("ArrowDown")  # no
    tab.locator("[name=q_overall]").first.focus()
    tab.keyboard.press("ArrowUp")  # from the first to the last: reject
    assert "severity" in _visible(tab)
    assert "edited" not in _visible(tab)
    tab.locator("[name=q_needed]").first.focus()
    tab.keyboard.press("Space")
    tab.keyboard.press("Tab")
    tab.get_by_role("button").click()
    assert sent == []  # how severe it is was not said
    tab.locator("[name=q_severity]").first.focus()
    tab.keyboard.press("3")
    tab.locator("[name=q_corrected]").fill("C.")
    tab.get_by_role("button").press("Enter")
    tab.wait_for_url("https://turk.example/**")
    where, _, body = sent[0].partition("?")
    assert where == "https://turk.example/mturk/externalSubmit"
    given = {name: values[0] for name, values in parse_qs(body).items()}
    assert given == {
        "assignmentId": "A1",
        "item": "x1",
        "q_simplification": "2",
        "q_meaning": "3",
        "q_fluency": "3",
        "q_concerning": "no",
        "q_overall": "reject",
        "q_severity": "3",
        "q_corrected": "C.",
        "q_needed": "yes",
    }
    tab.close()


def test_mturk_page_of_an_identical_pair(browser: Any, tmp_path: Path) -> None:
    tab, _ = _open(browser, tmp_path, "yes", "A1")
    assert _visible(tab) == ["simplification", "concerning", "needed", "comments"]
    tab.close()


def test_mturk_page_in_preview(browser: Any, tmp_path: Path) -> None:
    tab, _ = _open(browser, tmp_path, "no", "ASSIGNMENT_ID_NOT_AVAILABLE")
    assert tab.get_by_role("button").is_disabled()
    assert tab.get_by_role("status").is_visible()
    tab.close()
