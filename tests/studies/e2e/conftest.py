"""Studies on a real server, and people with a real browser."""

import json
import socket
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("fastapi", reason="needs the extra [study]")
pytest.importorskip("uvicorn", reason="needs the extra [study]")
pytest.importorskip("playwright", reason="needs playwright")

import uvicorn

from parataxis.studies.items import read_items
from parataxis.studies.pages.app import make_app
from parataxis.studies.pages.keys import Secrets, Signing, StudySettings, hash_password
from parataxis.studies.rubric import load_rubric
from parataxis.studies.store import Store
from parataxis.studies.study import Role, load_study

PASSWORD = "correct horse battery"
HASH = hash_password(PASSWORD)
HTML = '<b>bold</b> <img src=x onerror="document.title=1"> & "quoted"'
FILES: dict[str, list[dict[str, Any]]] = {
    "items.jsonl": [
        {"source": "The mill, built in 1811, burnt down.", "simple": ["The mill burnt down."]},
        {"source": f"Odile, {HTML}, lost it.", "simple": ["Odile lost it.", f"She is {HTML}."]},
        {"source": "Bo sings.", "simple": ["Bo sings."]},
    ],
    "training.jsonl": [
        {
            "source": "Al, who left, is back.",
            "simple": ["Al left.", "Al is back."],
            "expected": {"sensical": 5, "misses": False},
            "feedback": {"en": "All is well.", "es": "Todo va bien."},
        }
    ],
    "test.jsonl": [
        {
            "source": "Cy, who left, sings.",
            "simple": ["Cy left.", "Cy sings."],
            "expected": {"sensical": 5, "misses": False},
        }
    ],
}


class Site:
    """A study on a server of its own, at a port of its own."""

    def __init__(self, folder: Path, study: dict[str, Any]) -> None:
        for name, records in FILES.items():
            lines = [
                json.dumps({"id": f"{name}-{n}", "splitter": "rules", **each})
                for n, each in enumerate(records)
            ]
            (folder / name).write_text("\n".join(lines), encoding="utf-8")
        (folder / "sources.txt").write_text(
            "The ferry, which had left Arden at noon, ran aground.\nAnn paints.\n"
        )
        described = {"name": "Pilot", "rubric": "six-criteria", **study}
        (folder / "pilot.yaml").write_text(json.dumps(described))  # JSON is YAML
        self.folder = folder
        self.study = load_study(folder / "pilot.yaml")
        self.rubric = load_rubric(self.study.rubric)
        self.store = Store.open(str(folder / "pilot.db"))
        self.store.create(self.study, read_items(self.study))
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._socket.getsockname()[1]}"
        settings = StudySettings(Secrets(key="k" * 48, password_hash=HASH), base_url=self.url)
        self.signing = Signing(settings)
        app = make_app(self.store, self.study, self.rubric, settings)
        config = uvicorn.Config(
            app, log_level="error", access_log=False, timeout_graceful_shutdown=3
        )
        self._server = uvicorn.Server(config)
        self._thread = threading.Thread(target=self._server.run, args=([self._socket],))
        self._thread.start()

    def invite(self, role: Role = Role.RATER, name: str | None = None) -> tuple[str, str]:
        """The id and the link of somebody new."""
        (person,) = self.store.invite([name] if name else 1, role)
        return person.id, self.signing.link(person.id)

    def close(self) -> None:
        self._server.should_exit = True
        self._thread.join(20)
        self._socket.close()
        self.store.close()


@pytest.fixture
def serve(tmp_path: Path) -> Iterator[Callable[..., Site]]:
    """Serves a study, described by keywords."""
    made: list[Site] = []

    def make(**study: Any) -> Site:
        folder = tmp_path / str(len(made))
        folder.mkdir()
        made.append(Site(folder, study))
        return made[-1]

    yield make
    for site in made:
        site.close()
