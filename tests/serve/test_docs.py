"""The page about the service is true: what it asks is answered as it says.

``python -m tests.web.service.test_docs`` from the folder of the project writes the real answers
into it.
"""

import json
import re
from pathlib import Path
from typing import Any

from fastapi.testclient import TestClient

PAGE = Path(__file__).parents[2] / "docs" / "service.md"


def with_real_answers(client: TestClient, text: str) -> str:
    """The page with what the service says today."""
    found = re.search(r"```json request\n(.*?)```", text, re.DOTALL)
    assert found
    request = json.loads(found[1])
    answer = client.post("/v1/split", json=request).json()
    lines = client.post("/v1/split/stream", json={**request, "patterns": False}).text.splitlines()
    shown = [line if len(line) < 120 else f"{line[:100]} ..." for line in lines]
    text = _filled(text, "answer", _short(answer))
    return _filled(text, "stream", "\n".join(shown))


def _filled(text: str, name: str, content: str) -> str:
    return re.sub(
        rf"(```json {name}\n).*?(```)", lambda m: f"{m[1]}{content}\n{m[2]}", text, flags=re.DOTALL
    )


def _short(answer: dict[str, Any]) -> str:
    """The answer on few lines, without most of the provenance."""
    (split,) = answer["rewrites"]
    (first, *_), *_ = split["rewrite"]["provenance"]
    split["rewrite"]["provenance"] = [[first, "..."], "..."]
    place = ", ".join(f'"{name}": {split[name]}' for name in ("index", "start", "end"))
    names = ("rewrite", "patterns", "splits", "words", "source_words", "nested")
    fields = [f'"{name}": {json.dumps(split[name])}' for name in names]
    inner = f"{{{place},\n   " + ",\n   ".join(fields) + "}"
    outer = [f'"{name}": {json.dumps(answer[name])}' for name in ("splitter", "text")]
    return "{" + ",\n ".join([*outer, f'"rewrites": [\n  {inner}]']) + "}"


def test_docs_answers_are_those_of_today(plain: TestClient) -> None:
    text = PAGE.read_text(encoding="utf-8")
    assert with_real_answers(plain, text) == text


def test_docs_name_every_path(plain: TestClient) -> None:
    text = PAGE.read_text(encoding="utf-8")
    for path, operations in plain.get("/v1/openapi.json").json()["paths"].items():
        for method in operations:
            assert f"`{method.upper()} {path}`" in text


if __name__ == "__main__":
    from parataxis.serve.app import make_app
    from parataxis.serve.service import ServiceSettings

    made = TestClient(make_app(ServiceSettings(page=False)), "http://localhost")
    PAGE.write_text(with_real_answers(made, PAGE.read_text(encoding="utf-8")), encoding="utf-8")
