"""The page as a file: what it may load, and that its parts fit together."""

import re
from html.parser import HTMLParser
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient

from parataxis.serve.app import make_app
from parataxis.serve.routes import page_router
from parataxis.serve.service import ServiceSettings

PACKAGE = Path(str(files("parataxis.serve")))
PAGE = (PACKAGE / "page.html").read_text(encoding="utf-8")
SCRIPTS = sorted((PACKAGE / "static").glob("*.js"))


@pytest.fixture
def visitor() -> TestClient:
    app = FastAPI()
    app.include_router(page_router)
    return TestClient(app, "http://localhost")


def test_page_and_its_files_are_served(visitor: TestClient) -> None:
    answer = visitor.get("/")
    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    named = re.findall(r'(?:href|src)="(static/[^"]+)"', answer.text)
    assert len(named) == 5
    for name in named:
        file = visitor.get(f"/{name}")
        assert file.status_code == 200, name
        assert file.headers["cache-control"] == "no-cache"
    assert visitor.get("/static/main.js").headers["content-type"].startswith("text/javascript")
    assert visitor.head("/").status_code == 200


@pytest.mark.parametrize("path", ["nothing.js", "../page.html", "%2e%2e/routes.py", "", "."])
def test_page_gives_out_no_other_files(visitor: TestClient, path: str) -> None:
    assert visitor.get(f"/static/{path}").status_code in (404, 405)


def test_page_can_be_left_out() -> None:
    assert (
        TestClient(make_app(ServiceSettings(page=False)), "http://localhost").get("/").status_code
        == 404
    )


def test_page_has_a_strict_policy() -> None:
    headers = TestClient(make_app(ServiceSettings()), "http://localhost").get("/").headers
    policy = dict(
        part.strip().split(" ", 1) for part in headers["content-security-policy"].split(";")
    )
    assert policy["default-src"] == "'none'"
    for kind in ("script", "style", "img", "connect"):
        assert policy[f"{kind}-src"] == "'self'"
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["referrer-policy"] == "no-referrer"


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.inline: list[str] = []
        self.ids: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, Any]]) -> None:
        given = dict(attrs)
        if tag == "style" or (tag == "script" and "src" not in given):
            self.inline.append(tag)
        self.inline += [name for name in given if name == "style" or name.startswith("on")]
        self.ids += [given["id"]] if "id" in given else []


def test_page_has_no_inline_script_or_style() -> None:
    reader = _Reader()
    reader.feed(PAGE)
    assert reader.inline == []
    assert len(reader.ids) == len(set(reader.ids))


def test_page_has_what_its_scripts_look_for() -> None:
    reader = _Reader()
    reader.feed(PAGE)
    for script in SCRIPTS:
        text = script.read_text(encoding="utf-8")
        wanted = set(re.findall(r'\b(?:byId|copyOf)\("([^"]+)"\)', text))
        assert wanted <= set(reader.ids), script.name
        for icon in re.findall(r'\bicon\("([a-z]+)"\)', text):
            assert f"i-{icon}" in reader.ids
    assert set(re.findall(r'href="#(i-[a-z]+)"', PAGE)) <= set(reader.ids)


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.name)
def test_page_scripts_are_modules_that_never_make_markup(script: Path) -> None:
    text = script.read_text(encoding="utf-8")
    for name in re.findall(r'from "(.+)";', text):
        assert (script.parent / name).exists(), name
    for word in ("innerHTML", "outerHTML =", "insertAdjacentHTML", "document.write", "eval("):
        assert word not in text
    addresses = set(re.findall(r"https?://[\w.]+", text))
    names = {"http://www.w3.org", "http://schemas.openxmlformats.org"}  # of XML, never fetched
    assert addresses <= names
