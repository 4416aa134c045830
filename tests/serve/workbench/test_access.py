"""Every view, looked at as it is drawn: for people who see little or nothing, use no mouse, or hold
a phone."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

LOOK = (Path(__file__).parents[2] / "look.js").read_text(encoding="utf-8")
SORTS = ["unnamed", "groups", "landmarks", "headings", "page", "small"]
TEXT = (
    "The mill, which was built in 1811, burnt down. It rained.\n\n"
    "Ann lives in Oslo, and Bo lives in Rome."
)
PHONES = ({"width": 320, "height": 640}, {"width": 360, "height": 740})
DESK = {"width": 1280, "height": 900}


def _views(ann: Any) -> Iterator[str]:
    """Takes a writer from view to view, and says where that is."""
    page = ann.page
    page.locator("#splitter option").first.wait_for(state="attached")
    yield "start"
    page.get_by_role("button", name="Split", exact=True).click()
    page.locator("#problem").wait_for()
    yield "start with a problem"
    ann.split(TEXT)
    page.locator("#readability").get_by_text("Longest sentence").wait_for()
    ann.act(2, "Reject")
    ann.row(0).locator(".words").first.hover()
    yield "result"
    ann.act(0, "Edit")
    page.get_by_label("Your rewrite").fill("The mill burnt in 1911.")
    ann.row(0).locator(".finding").first.wait_for()
    yield "editor"
    ann.keep()
    ann.row(0).locator(".finding").first.hover()
    yield "result with findings"
    for name, panel in (("Download", "download"), ("Share", "share"), ("Keys", "keys")):
        page.get_by_role("button", name=name, exact=True).click()
        page.locator(f"#{panel}-panel[open]").wait_for()
        yield name
        page.keyboard.press("Escape")
    page.get_by_role("button", name="Compare").click()
    page.locator("[value=pointer]").and_(page.get_by_role("checkbox")).uncheck()
    page.locator("[value=source]").and_(page.get_by_role("checkbox")).check()
    page.locator("#compare-run").click()
    page.locator("#compare-summary table").wait_for()
    yield "comparison"


def test_access_of_every_view(writer: Callable[..., Any]) -> None:
    ann = writer()
    faults: list[str] = []
    for where in _views(ann):
        found = ann.page.evaluate(f"((look) => {SORTS}.map((sort) => look[sort]()))({LOOK})")
        for sort, each in zip(SORTS, found, strict=True):
            faults += [f"{where}, {sort}: {fault}" for fault in each]
        for scheme in ("dark", "light"):
            ann.page.emulate_media(color_scheme=scheme)
            found = ann.page.evaluate(f"{LOOK}.pale()")
            faults += [f"{where}, {scheme}: {each}" for each in found]
        for phone in PHONES:
            ann.page.set_viewport_size(phone)
            faults += [f"{where}, too wide: {each}" for each in ann.page.evaluate(f"{LOOK}.wide()")]
        ann.page.set_viewport_size(DESK)
    assert not faults, "\n".join(faults)


def test_access_the_focus_is_seen_and_goes_in_order(writer: Callable[..., Any]) -> None:
    ann = writer()
    ann.split(TEXT)
    ann.page.locator("#title").focus()
    places: list[int] = []
    names: list[str] = []
    for _ in range(60):
        ann.page.keyboard.press("Tab")
        found = ann.page.evaluate(f"{LOOK}.focus()")
        if found is None:
            break
        place, name, is_seen = found
        assert is_seen, name
        places.append(place)
        names.append(name)
    assert places == sorted(places), names
    assert sum("article" in name for name in names) == 1, "one sentence is in the tab order"
    assert any("further" in name for name in names)


def test_access_screen_readers_are_not_flooded(writer: Callable[..., Any], server: Any) -> None:
    ann = writer()
    ann.page.evaluate(
        """() => {
            window.heard = [];
            const tell = document.getElementById("announcer");
            const hear = () => window.heard.push(tell.textContent);
            new MutationObserver(hear).observe(tell, { childList: true });
        }"""
    )
    server.trouble.pause = 0.01
    ann.split("It rained. " * 40, splitter="source")
    assert ann.page.evaluate("window.heard") == ["Splitting.", "Done. 0 of 40 sentences changed."]
    feed = ann.page.locator("#feed")
    assert feed.get_attribute("aria-busy") == "false"
    assert feed.get_attribute("role") == "feed"


def test_access_marks_do_not_hang_on_colour(writer: Callable[..., Any]) -> None:
    ann = writer()
    ann.page.get_by_role("button", name="Show me an example").click()
    ann.wait()
    ann.row(2).locator(".words").nth(2).hover()
    style = "(one, name) => getComputedStyle(one)[name]"
    lines = {
        "ins": ("underline", "dotted"),
        ".inflected": ("underline", "solid"),
        "s": ("line-through", "solid"),
    }
    for selector, expected in lines.items():
        one = ann.row(2).locator(selector).first
        drawn = [one.evaluate(style, f"textDecoration{part}") for part in ("Line", "Style")]
        assert tuple(drawn) == expected, selector
    assert ann.row(2).locator(".source .lit").first.evaluate(style, "boxShadow") != "none"


def test_access_on_a_phone(writer: Callable[..., Any], picture: Any) -> None:
    ann = writer(
        viewport={"width": 360, "height": 740},
        has_touch=True,
        is_mobile=True,
        device_scale_factor=2,
    )
    ann.page.get_by_role("button", name="Show me an example").tap()
    ann.wait()
    ann.page.locator("#readability").get_by_text("Longest sentence").wait_for()
    ann.row(0).locator(".words").nth(3).tap()
    assert "Norway" in ann.lit()
    picture(ann.page, "phone")
    ann.row(0).get_by_role("button", name="Accept", exact=True).tap()
    assert ann.row(0).get_attribute("data-decision") == "accepted"
    assert ann.page.evaluate("document.documentElement.scrollWidth") == 360
    ann.page.get_by_role("button", name="Keys").tap()
    panel = ann.page.locator("#keys-panel")
    assert panel.evaluate("(one) => one.scrollHeight > one.clientHeight && one.scrollTop === 0")


def test_access_on_paper(writer: Callable[..., Any]) -> None:
    ann = writer()
    ann.split(TEXT)
    ann.page.emulate_media(media="print")
    assert ann.row(0).is_visible()
    for each in (".bar", ".tools", ".view-tools", ".row-actions >> nth=0"):
        assert ann.page.locator(each).is_hidden(), each


def test_access_dark_and_still(writer: Callable[..., Any], picture: Any) -> None:
    ann = writer(color_scheme="dark")
    ann.split(TEXT)
    ann.row(0).locator(".words").first.hover()
    picture(ann.page, "dark")
    ground = "getComputedStyle(document.body).backgroundColor"
    dark = ann.page.evaluate(ground)
    moving = "getComputedStyle(document.querySelector('.act')).transitionDuration"
    assert ann.page.evaluate(moving) == "0s", "nothing moves where motion is to be reduced"
    ann.page.get_by_role("button", name="Light or dark").click()
    assert ann.page.evaluate(ground) != dark
