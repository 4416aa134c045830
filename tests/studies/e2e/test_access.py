"""Every page, looked at as it is drawn: for people who see little or nothing, use no mouse, or hold
a phone."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from parataxis.studies.study import Role

LOOK = (Path(__file__).parents[2] / "look.js").read_text(encoding="utf-8")
PASSWORD = "correct horse battery"
PHONE = {"width": 320, "height": 640}  # WCAG 2.1, 1.4.10
DESK = {"width": 1280, "height": 900}
GOOD = {"sensical": 5, "grammatical": 5, "misses": False, "adds": False}
GOOD |= {"wrong-split": False, "split-further": False}


def _study(serve: Any, rubric: str = "six-criteria") -> Any:
    return serve(
        rubric=rubric,
        items="items.jsonl",
        write={"sources": "sources.txt", "writers": 1},
        rate={"raters": 2},
        consent={"en": "Do you\n\nagree?", "es": "¿Acepta?"},
        background=[
            {"id": "a", "text": "Is English your first language?", "kind": "yes-no"},
            {"id": "b", "text": "How old are you?", "kind": "number", "required": True},
            {"id": "c", "text": "Your field?", "kind": "choice", "choices": {"x": "X", "y": "Y"}},
        ],
        qualification={"training": "training.jsonl"} if rubric == "six-criteria" else None,
        panel={"completion_code": "C0DE", "completion_url": "https://panel.example/"},
    )


def _pages_of_people(site: Any, page: Any) -> Iterator[str]:
    """Takes a tab from page to page, and says where it is."""
    page.goto(site.url)
    yield "landing"
    _, link = site.invite(Role.WRITER)
    page.goto(link)
    yield "consent"
    page.get_by_test_id("agree").check()
    page.get_by_test_id("continue").click()
    page.get_by_test_id("continue").click()
    page.locator(".problem").wait_for()
    yield "background with a problem"
    page.locator("[name=b-1]").fill("41")
    page.get_by_test_id("continue").click()
    page.wait_for_url("**/instructions")
    yield "instructions"
    page.get_by_test_id("begin").click()
    page.get_by_test_id("rewrite").fill("The ferry sank.")
    page.get_by_test_id("help-sentences").wait_for()
    page.get_by_test_id("submit").click()
    page.locator("#rewrite-problem").wait_for()
    yield "writing with help and a problem"


def _pages_of_raters(site: Any, page: Any) -> Iterator[str]:
    page.goto(f"{site.url}/panel?PROLIFIC_PID=p")
    person = site.store.people()[-1].id
    site.store.consent(person, "en")
    site.store.save_background(person, {"a": None, "b": 41, "c": None})
    page.goto(f"{site.url}/instructions")
    for each in page.locator("details summary").all()[:2]:
        each.click()
    yield "instructions with examples"
    page.goto(f"{site.url}/task")
    page.locator(".number, .choice").first.click()
    page.get_by_test_id("submit").click()
    page.get_by_test_id("errors").wait_for()
    page.locator("details summary").first.click()
    yield "rating with problems and examples"
    page.get_by_test_id("keys").click()
    page.get_by_test_id("keys-panel").wait_for()
    yield "the keys"
    page.keyboard.press("Escape")
    if site.study.qualification:
        slot = site.store.next_task(person).slot
        site.store.submit(person, slot, {**GOOD, "sensical": 1})
        page.goto(f"{site.url}/task/{slot}/feedback")
        yield "feedback"
        while (task := site.store.next_task(person)) is not None:
            site.store.submit(person, task.slot, GOOD, 20)
        page.goto(f"{site.url}/status")
        page.get_by_test_id("completion-code").wait_for()
        yield "all done"
        page.goto(f"{site.url}/mine")
        yield "what was submitted"
    page.goto(f"{site.url}/nowhere")
    yield "nothing here"


def _pages_of_organisers(site: Any, page: Any) -> Iterator[str]:
    for name in ("Ann", "Bo", "Cy, who has a very long name for somebody in a small table"):
        person, _ = site.invite(name=name)
        site.store.consent(person, "en")
        site.store.save_background(person, {"a": True, "b": 41, "c": None})
        while (task := site.store.next_task(person)) is not None:
            site.store.submit(person, task.slot, GOOD, 20)
    page.goto(f"{site.url}/organiser/login")
    page.get_by_test_id("password").fill("wrong")
    page.get_by_test_id("login").click()
    page.locator("#login-problem").wait_for()
    yield "login with a problem"
    page.get_by_test_id("password").fill(PASSWORD)
    page.get_by_test_id("login").click()
    page.get_by_test_id("agreement").wait_for()
    yield "dashboard"
    page.get_by_test_id("nav-people").click()
    page.get_by_test_id("invite-open").click()
    page.get_by_test_id("invite-names").wait_for()
    yield "people"
    page.get_by_role("link", name="Ann", exact=True).click()
    page.get_by_test_id("exclude").click()
    page.get_by_test_id("exclude-sure").wait_for()
    yield "asking before excluding"
    page.get_by_test_id("cancel").click()
    page.get_by_test_id("exclude").wait_for()
    yield "person"
    page.get_by_test_id("nav-items").click()
    page.get_by_test_id("items").wait_for()
    yield "items"
    page.goto(f"{site.url}/organiser/items/3")
    page.locator("[data-testid^=reject-]").first.click()
    page.locator("[data-testid^=reject-sure-]").first.wait_for()
    yield "item"


@pytest.mark.parametrize(
    ("rubric", "visit", "refusals"),
    [
        ("six-criteria", _pages_of_people, ["status of 422"]),
        ("six-criteria", _pages_of_raters, ["status of 422", "status of 404"]),
        ("concise", _pages_of_raters, ["status of 422", "status of 404"]),
        ("six-criteria", _pages_of_organisers, ["status of 401"]),
    ],
)
def test_access_of_every_page(
    serve: Any, device: Any, rubric: str, visit: Any, refusals: list[str]
) -> None:
    site = _study(serve, rubric)
    page = device(viewport=DESK).new_page()
    faults: list[str] = []
    for where in visit(site, page):
        for sort in ("unnamed", "groups", "landmarks", "headings", "page", "small"):
            faults += [f"{where}, {sort}: {each}" for each in page.evaluate(f"{LOOK}.{sort}()")]
        for scheme in ("dark", "light"):
            page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
            found = page.evaluate(f"{LOOK}.pale()")
            faults += [f"{where}, {scheme}: {each}" for each in found]
        page.set_viewport_size(PHONE)
        faults += [f"{where}, too wide: {each}" for each in page.evaluate(f"{LOOK}.wide()")]
        page.set_viewport_size(DESK)
    device.forgive(*refusals)
    assert faults == []


@pytest.mark.parametrize("visit", [_pages_of_people, _pages_of_raters, _pages_of_organisers])
def test_access_spanish_pages_fit_a_phone(serve: Any, device: Any, visit: Any) -> None:
    site = _study(serve)
    page = device(viewport={"width": 390, "height": 844}, locale="es", has_touch=True).new_page()
    faults = []
    for where in visit(site, page):
        assert page.locator("html").get_attribute("lang") == "es", where
        faults += [f"{where}: {each}" for each in page.evaluate(f"{LOOK}.wide()")]
    device.forgive("status of")
    assert faults == []


def _at_work(serve: Any, page: Any) -> Any:
    site = serve(items="items.jsonl")
    person, link = site.invite()
    page.goto(link)
    page.goto(f"{site.url}/task")
    return site, person


def test_access_sliders_answer_by_keyboard(serve: Any, device: Any) -> None:
    page = device(viewport=DESK, reduced_motion="reduce").new_page()
    _at_work(serve, page)
    slider = page.get_by_role("slider", name="The rewrite makes sense.")
    chosen = page.locator("[name=q-sensical]:checked")
    assert slider.get_attribute("aria-valuetext") == "no answer yet"
    assert chosen.count() == 0
    slider.focus()
    for key, expected in (
        *(("ArrowRight", "0"), ("ArrowRight", "1"), ("ArrowUp", "2"), ("ArrowLeft", "1")),
        *(("End", "5"), ("Home", "0"), ("4", "4")),
    ):
        page.keyboard.press(key)
        assert chosen.input_value() == expected, key
    page.locator("[name=q-sensical][value='5']").check(force=True)
    assert slider.input_value() == "5"
    assert slider.get_attribute("aria-valuetext") == "5strongly agree"


def test_access_sliders_answer_by_touch_and_the_pair_stays_in_sight(
    serve: Any, device: Any
) -> None:
    page = device(viewport={"width": 390, "height": 844}, has_touch=True).new_page()
    site, person = _at_work(serve, page)
    for name, share, expected in (("sensical", 0.5, ("2", "3")), ("grammatical", 0.02, ("0",))):
        slider = page.get_by_test_id(f"range-{name}")
        slider.evaluate("(one) => one.scrollIntoView({block: 'center'})")
        box = slider.bounding_box()
        assert box["height"] >= 44
        page.touchscreen.tap(box["x"] + share * box["width"], box["y"] + box["height"] / 2)
        assert page.locator(f"[name=q-{name}]:checked").input_value() in expected
    last = page.locator("[data-question=split-further]")
    last.scroll_into_view_if_needed()
    pair, question = page.locator(".pair-column").bounding_box(), last.bounding_box()
    assert pair["y"] == pytest.approx(0, abs=1)
    assert pair["height"] <= 0.45 * 844
    assert question["y"] + question["height"] > pair["height"]
    page.get_by_text("Saved").wait_for()
    draft = site.store.next_task(person).draft
    assert draft["grammatical"] == 0


def test_access_the_focus_is_seen_wherever_it_goes(serve: Any, device: Any) -> None:
    site = _study(serve)
    page = device(viewport=DESK, reduced_motion="reduce").new_page()
    faults: list[str] = []
    for visit in (_pages_of_people, _pages_of_raters, _pages_of_organisers):
        for where in visit(site, page):
            seen = set()
            for _ in range(60):
                page.keyboard.press("Tab")
                found = page.evaluate(f"{LOOK}.focus()")
                if found is None:  # past the last, outside of the page
                    continue
                place, name, is_seen = found
                if place in seen:
                    break
                seen.add(place)
                faults += [] if is_seen else [f"{where}: {name}"]
            assert len(seen) > 1, where
    device.forgive("status of")
    assert faults == []


def test_access_the_theme_can_be_chosen_and_stays(serve: Any, device: Any) -> None:
    site = _study(serve)
    page = device(color_scheme="light").new_page()
    page.goto(site.url)
    ground = "() => getComputedStyle(document.body).backgroundColor"
    light = page.evaluate(ground)
    page.get_by_test_id("theme").click()
    dark = page.evaluate(ground)
    assert dark != light
    page.reload()
    assert page.evaluate(ground) == dark
    page.get_by_test_id("theme").click()
    assert page.evaluate(ground) == light


FAULTY = """
<html lang="de"><title> </title><style>
  :focus { outline: none } .wide { width: 3000px } button { width: 10px; height: 10px }
  .pale { color: #888; background: #fff } .inner { background: rgba(0, 0, 0, .5) }
</style><body><header></header><nav></nav>
<main><h2>Second</h2><h4>Fourth</h4><p class="pale">Pale</p><p class="inner pale">Fine</p>
<input type="text" aria-describedby="nothing"><button></button><fieldset></fieldset>
<div class="wide">Wide</div><table><tr><td>1</td></tr></table></main><p>Outside</p></body></html>
"""


def test_access_faults_would_be_found(device: Any) -> None:
    page = device(viewport=DESK).new_page()
    page.set_content(FAULTY)
    found = {
        sort: page.evaluate(f"{LOOK}.{sort}()")
        for sort in ("unnamed", "groups", "landmarks", "headings", "page", "small", "pale", "wide")
    }
    assert [each.split(">")[0] for each in found["unnamed"]] == ["<input.", "<button."]
    assert len(found["groups"]) == 1
    assert found["landmarks"][-1].endswith("Outside")
    assert found["headings"] == ["levels 2,4"]
    assert found["page"][:2] == ["no title", "no language"]
    assert found["page"][-1] == "a table without headers"
    assert [each.split(">")[0] for each in found["small"]] == ["<input.", "<button."]
    assert [each.split()[-1] for each in found["pale"]] == ["Pale", "Fine"]
    assert found["wide"] == ["<div.wide> Wide"]
    page.keyboard.press("Tab")
    assert page.evaluate(f"{LOOK}.focus()")[2] is False
