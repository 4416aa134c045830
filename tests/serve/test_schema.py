"""The API keeps to its description, whatever is sent to it (schemathesis makes it up)."""

from typing import Any

import pytest
from fastapi.testclient import TestClient

pytest.importorskip("schemathesis", reason="needs schemathesis")

import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from schemathesis.checks import CHECKS, load_all_checks

from parataxis.serve.app import make_app
from parataxis.serve.service import ServiceSettings

from .conftest import Ask

load_all_checks()
LEFT_OUT = ("ignored_auth", "unsupported_method", "missing_required_header")
CHECKED = [check for check in CHECKS.get_all() if check.__name__ not in LEFT_OUT]


@pytest.mark.slow
def test_schema_the_api_keeps_to_its_description() -> None:
    settled = ServiceSettings(
        splitters=("rules", "source"), page=False, per_minute=100_000, hosts=("*",)
    )
    app = make_app(settled)
    schema = schemathesis.openapi.from_asgi("/v1/openapi.json", app)
    tried = 0
    for result in schema.get_all_operations():
        operation = result.ok()

        @given(case=operation.as_strategy())
        @settings(
            max_examples=8,
            deadline=None,
            phases=[Phase.generate],
            suppress_health_check=list(HealthCheck),
            database=None,
        )
        def try_one(case: Any) -> None:
            nonlocal tried
            tried += 1
            answer = case.call(timeout=120)
            checks = CHECKED
            # Only the service can say which splitters it has, and what is a document.
            if any(each in case.operation.path for each in ("split", "alternatives", "documents")):
                checks = [c for c in checks if c.__name__ != "positive_data_acceptance"]
            case.validate_response(answer, checks=checks)

        try_one()
    assert tried > 40


def test_schema_describes_every_path_with_examples(plain: TestClient) -> None:
    told = plain.get("/v1/openapi.json").json()
    assert sorted(told["paths"]) == [
        "/metrics",
        "/v1/alternatives",
        "/v1/analyse",
        "/v1/check",
        "/v1/difficulty",
        "/v1/documents",
        "/v1/documents/blocked",
        "/v1/documents/rewritten",
        "/v1/health",
        "/v1/readability",
        "/v1/ready",
        "/v1/split",
        "/v1/split/stream",
        "/v1/splitters",
    ]
    for path, operations in told["paths"].items():
        for operation in operations.values():
            assert operation["description"], path
            examples = operation.get("requestBody", {}).get("content", {}).get("application/json")
            if not examples:
                continue
            for name, example in examples["examples"].items():
                answer = plain.post(path, json=example["value"])
                assert answer.status_code == 200, (path, name, answer.text)


def test_schema_names_the_splitters_and_what_is_required(ask: Ask) -> None:
    app: Any = ask("rules", "source", token="a-token-of-24-characters").app
    told = app.openapi()
    for name in ("TextToSplit", "SentencesToSplit"):
        splitter = told["components"]["schemas"][name]["properties"]["splitter"]
        assert {"type": "string", "enum": ["rules", "source"]} in splitter["anyOf"]
    form = told["paths"]["/v1/documents/rewritten"]["post"]["requestBody"]["content"]
    assert form["multipart/form-data"]["schema"]["required"] == ["file", "rewrites"]
    assert told["paths"]["/v1/split"]["post"]["security"] == [{"token": []}]
    assert "security" not in told["paths"]["/v1/health"]["get"]
