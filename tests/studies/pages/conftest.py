"""A small study on a server, and people who visit it."""

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("fastapi", reason="needs the extra [study]")
pytest.importorskip("httpx2", reason="needs httpx2, which [dev] has")

from fastapi.testclient import TestClient

from parataxis.studies.items import read_items
from parataxis.studies.pages.app import make_app
from parataxis.studies.pages.keys import Secrets, Signing, StudySettings, hash_password
from parataxis.studies.rubric import load_rubric
from parataxis.studies.store import Store
from parataxis.studies.study import Role, load_study

PASSWORD = "correct horse battery"
HASH = hash_password(PASSWORD)
KEY = "k" * 48

NASTY = '<script>alert("x")</script> & <img src=x onerror=alert(1)>'

ITEMS = [
    {"source": "The mill, built in 1811, burnt down.", "simple": ["It was built in 1811.", "It."]},
    {"source": f"Odile, {NASTY}, lost it.", "simple": ["Odile lost it.", f"It is {NASTY}."]},
    {"source": "Bo sings.", "simple": ["Bo sings."]},
]
SOURCES = ["The ferry, which had left Arden at noon, ran aground.", "Ann, a nurse, paints."]
TRAINING = {
    "id": "train",
    "source": "Al, who left, is back.",
    "simple": ["Al left.", "Al is back."],
    "splitter": "x",
    "expected": {"sensical": 5, "misses": False},
    "feedback": {"en": "All is well.", "es": "Todo va bien."},
}
TEST = {
    "id": "test",
    "source": "Cy, who left, sings.",
    "simple": ["Cy sings."],
    "splitter": "x",
    "expected": {"misses": True},
}


class Visitor:
    """A browser without scripts: it keeps cookies, and sends the token of the page it sees."""

    def __init__(self, client: TestClient) -> None:
        self.client = client
        self.page: Any = None

    def get(self, path: str) -> Any:
        self.page = self.client.get(path)
        return self.page

    def post(self, path: str | None = None, **fields: str) -> Any:
        named = {name.replace("_", "-"): value for name, value in fields.items()}
        return self.send(path or self.path, named)

    def send(self, path: str, fields: dict[str, str]) -> Any:
        hidden = dict(re.findall(r'<input type="hidden" name="(\w+)" value="([^"]*)"', self.text))
        self.page = self.client.post(path, data={**hidden, **fields})
        return self.page

    @property
    def text(self) -> str:
        assert self.page is not None
        return self.page.text

    @property
    def path(self) -> str:
        assert self.page is not None
        return self.page.url.path

    @property
    def csrf(self) -> str:
        found = re.search(r'name="csrf" value="([^"]*)"', self.text)
        assert found, "the page has no form"
        return found[1]

    def api(self, method: str, path: str, body: Any = None, token: str | None = None) -> Any:
        headers = {} if token is None else {"x-csrf-token": token}
        return self.client.request(method, f"/api{path}", json=body, headers=headers)

    @property
    def token(self) -> str:
        return str(self.api("GET", "/session").json()["csrf"])


class Served:
    """A study that is served."""

    def __init__(self, folder: Path, settings: dict[str, Any], study: dict[str, Any]) -> None:
        write_study(folder, study)
        self.study = load_study(folder / "study.yaml")
        self.rubric = load_rubric(self.study.rubric)
        self.store = Store.open(str(folder / "study.db"))
        self.store.create(self.study, read_items(self.study))
        secrets = settings.pop("secrets", Secrets(key=KEY, password_hash=HASH))
        self.settings = StudySettings(secrets, **settings)
        self.signing = Signing(self.settings)
        self.app = make_app(self.store, self.study, self.rubric, self.settings)

    def visitor(self, **options: Any) -> Visitor:
        return Visitor(TestClient(self.app, raise_server_exceptions=False, **options))

    def person(self, role: Role = Role.RATER, name: str | None = None) -> tuple[str, Visitor]:
        """Somebody who has come by their link."""
        (person,) = self.store.invite([name] if name else 1, role)
        visitor = self.visitor()
        visitor.get(f"/join/{self.token_of(person.id)}")
        return person.id, visitor

    def token_of(self, person: str) -> str:
        return self.signing.link(person).rpartition("/")[2]

    def organiser(self) -> Visitor:
        visitor = self.visitor()
        visitor.get("/organiser/login")
        visitor.post(password=PASSWORD)
        return visitor


def write_study(folder: Path, study: dict[str, Any]) -> None:
    lines = [{**each, "id": f"i{n}", "splitter": "rules"} for n, each in enumerate(ITEMS)]
    (folder / "items.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    (folder / "sources.txt").write_text("\n".join(SOURCES))
    (folder / "training.jsonl").write_text(json.dumps(TRAINING))
    (folder / "test.jsonl").write_text(json.dumps(TEST))
    described = {"name": "Pilot", "rubric": "six-criteria", "items": "items.jsonl"} | study
    (folder / "study.yaml").write_text(json.dumps(described))  # JSON is YAML


Serve = Callable[..., Served]


@pytest.fixture
def serve(tmp_path: Path) -> Iterator[Serve]:
    """Serves a study: its settings by keyword, of the server as a dictionary ``server``."""
    made: list[Served] = []

    def make(server: dict[str, Any] | None = None, **study: Any) -> Served:
        made.append(Served(tmp_path, server or {}, study))
        return made[-1]

    yield make
    for each in made:
        each.store.close()
