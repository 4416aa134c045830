"""Both languages, complete and used; and pages that anybody can use."""

import re
from html.parser import HTMLParser
from importlib.resources import files
from pathlib import Path
from string import Formatter
from typing import Any

import pytest

from parataxis.studies.pages.site import LANGUAGES, NOTICES
from parataxis.studies.study import Role
from parataxis.studies.yaml_files import texts_of

PACKAGE = Path(str(files("parataxis.studies.pages")))
CATALOGUE = texts_of("parataxis.studies.pages", "interface.yaml")


def test_interface_every_text_is_there_in_every_language() -> None:
    for key, texts in CATALOGUE.items():
        assert set(texts) == set(LANGUAGES), key
        assert all(text.strip() for text in texts.values()), key
        places = {frozenset(name for _, name, _, _ in Formatter().parse(t)) for t in texts.values()}
        assert len(places) == 1, key


def test_interface_every_text_that_is_asked_for_exists_and_none_is_left_over() -> None:
    sources = [*PACKAGE.glob("*.py"), *PACKAGE.glob("templates/*.html")]
    text = "\n".join(path.read_text(encoding="utf-8") for path in sources)
    asked = set(re.findall(r"""\b(?:t|texts)\(\s*["']([a-z0-9-]+)["']\s*[,)]""", text))
    assert asked <= set(CATALOGUE)
    named = set(re.findall(r"""["']([a-z][a-z0-9-]*)["']""", text))
    families = ("notice-", "status-", "phase-", "role-", "state-", "effort-", "submitted-flag-")
    families += ("work-", "purpose-", "expected-")
    left = {
        key
        for key in set(CATALOGUE) - named
        if not key.startswith(families) and key.removesuffix("-text") not in named
    }
    assert left == set()
    assert {f"notice-{key}" for key in NOTICES} <= set(CATALOGUE)


@pytest.mark.parametrize(
    ("asked", "expected"),
    [("es-MX,es;q=0.9", "es"), ("fr,en;q=0.5", "en"), ("fr", "en"), ("", "en")],
)
def test_interface_the_browser_says_which_language(serve: Any, asked: str, expected: str) -> None:
    visitor = serve().visitor(headers={"accept-language": asked})
    assert f'<html lang="{expected}"' in visitor.get("/").text


def test_interface_the_language_can_be_changed_and_stays(serve: Any) -> None:
    served = serve()
    _, visitor = served.person()
    visitor.get("/task")
    task = visitor.path
    visitor.get(f"/language/es?back={task}")
    assert visitor.path == task
    assert "Enviar" in visitor.page.text
    assert "La reescritura tiene sentido." in visitor.page.text
    assert "Responda a esta pregunta" in visitor.post(task).text
    visitor.get("/language/xx?back=/instructions")
    assert "Instrucciones" in visitor.page.text


@pytest.mark.parametrize("back", ["//evil.example", "https://evil.example", "/\\evil", "x"])
def test_interface_the_language_switch_leads_to_no_other_site(serve: Any, back: str) -> None:
    client = serve().visitor(follow_redirects=False).client
    answer = client.get("/language/es", params={"back": back})
    assert answer.headers["location"] == "/"


class Outline(HTMLParser):
    """What matters about a page for people who do not see it."""

    def __init__(self) -> None:
        super().__init__()
        self.ids: list[str] = []
        self.labels: set[str] = set()
        self.fields: list[dict[str, str | None]] = []
        self.headings: list[str] = []
        self.inside: list[str] = []
        self.described: list[str] = []
        self.faults: list[str] = []
        self.legends = self.fieldsets = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        if given.get("id"):
            self.ids.append(str(given["id"]))
        for name in given:
            if name.startswith("on") or name == "style":
                self.faults.append(f"{tag} {name}")
        self.described += str(given.get("aria-describedby") or "").split()
        self.described += str(given.get("aria-labelledby") or "").split()
        if tag == "label":
            self.labels.add(str(given.get("for")))
        if tag in ("input", "textarea", "select") and given.get("type") != "hidden":
            self.fields.append({**given, "in_label": "yes" if "label" in self.inside else None})
        if re.fullmatch("h[1-6]", tag):
            self.headings.append(tag)
        self.legends += tag == "legend"
        self.fieldsets += tag == "fieldset"
        if tag == "script" and not given.get("src"):
            self.faults.append("inline script")
        if tag not in ("input", "meta", "link", "br", "img"):
            self.inside.append(tag)

    def handle_endtag(self, tag: str) -> None:
        while self.inside and self.inside.pop() != tag:
            pass


def check_page(text: str) -> None:
    page = Outline()
    page.feed(text)
    assert page.faults == []
    assert len(set(page.ids)) == len(page.ids)
    assert page.headings.count("h1") == 1
    assert page.headings[0] == "h1"
    assert page.legends == page.fieldsets
    assert set(page.described) <= set(page.ids)
    for field in page.fields:
        named = field["in_label"] or field.get("id") in page.labels or field.get("aria-labelledby")
        assert named, field
    assert '<a class="skip" href="#main">' in text
    assert re.search(r'<html lang="(en|es)"', text)
    assert not re.search(r"""(?:src|href)=["'](?:https?:)?//(?!panel\.example|127\.)""", text)


@pytest.mark.parametrize("rubric", ["six-criteria", "concise", "gms", "plain-language"])
def test_interface_pages_of_people_have_labels_and_an_outline(serve: Any, rubric: str) -> None:
    served = serve(
        rubric=rubric,
        consent="Yes?",
        background=[
            {"id": "a", "text": "A", "required": True},
            {"id": "b", "text": "B", "kind": "yes-no"},
        ],
        write={"sources": "sources.txt"},
    )
    for role in (Role.WRITER, Role.RATER):
        _, visitor = served.person(role)
        check_page(visitor.page.text)
        check_page(visitor.post("/consent").text)
        check_page(visitor.post("/consent", agree="yes").text)
        check_page(visitor.post("/background").text)
        check_page(visitor.send("/background", {"b-0": "x"}).text)
        check_page(visitor.get("/task").text)
        check_page(visitor.post(visitor.path).text)
        check_page(visitor.get("/mine").text)
        check_page(visitor.get("/nowhere").text)
    served.store.pause()
    check_page(visitor.get("/status").text)


def test_interface_pages_of_the_organiser_have_labels_and_an_outline(serve: Any) -> None:
    served = serve(write={"sources": "sources.txt"})
    person, _ = served.person(name="Ann")
    check_page(served.visitor().get("/organiser/login").text)
    organiser = served.organiser()
    for path in ("", "/people", f"/people/{person}", "/items", "/items/1"):
        check_page(organiser.get(f"/organiser{path}").text)


def contrast(one: str, other: str) -> float:
    """As the WCAG define it."""

    def light(colour: str) -> float:
        parts = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
        linear = [p / 12.92 if p <= 0.03928 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    high, low = sorted((light(one), light(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_interface_colours_have_enough_contrast(theme: str) -> None:
    css = (PACKAGE.parents[1] / "web" / "static" / "look.css").read_text(encoding="utf-8")
    pairs = re.findall(r"--([a-z-]+): light-dark\((#[0-9a-f]{6}), (#[0-9a-f]{6})\);", css)
    colours = {name: light if theme == "light" else dark for name, light, dark in pairs}
    for ground in ("paper", "card", "sunk"):
        for ink in ("ink", "soft", "accent", "bad", "good"):
            assert contrast(colours[ink], colours[ground]) >= 4.5, (ink, ground)
        assert contrast(colours["edge"], colours[ground]) >= 3, ground
    for ink, ground in (
        ("accent-ink", "accent"),
        ("accent", "accent-wash"),
        ("ink", "accent-wash"),
        ("warm", "warm-wash"),
        ("bad", "bad-wash"),
        ("ink", "bad-wash"),
        ("warm", "card"),
    ):
        assert contrast(colours[ink], colours[ground]) >= 4.5, (ink, ground)
