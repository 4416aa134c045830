"""The API keeps to its description, whatever is sent to it (schemathesis makes it up)."""

from typing import Any

import pytest

pytest.importorskip("schemathesis", reason="needs schemathesis")

import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from schemathesis.checks import CHECKS, load_all_checks

from parataxis.studies.study import Role

load_all_checks()
# The session is a cookie and a header; requests without them are in test_security.py.
LEFT_OUT = ("ignored_auth", "unsupported_method", "missing_required_header")
CHECKED = [check for check in CHECKS.get_all() if check.__name__ not in LEFT_OUT]


@pytest.mark.slow
@pytest.mark.parametrize("role", [Role.WRITER, Role.RATER])
def test_schema_the_api_keeps_to_its_description(serve: Any, role: Role) -> None:
    many = {"requests_per_minute": 100_000}
    served = serve(server=many, write={"sources": "sources.txt"}, rubric="concise")
    person, visitor = served.person(role)
    slot = served.store.next_task(person).slot
    headers = {
        "x-csrf-token": visitor.token,
        "cookie": f"parataxis_person={visitor.client.cookies['parataxis_person']}",
    }
    schema = schemathesis.openapi.from_asgi("/api/openapi.json", served.app)
    for result in schema.get_all_operations():
        operation = result.ok()

        @given(case=operation.as_strategy(), own=st.booleans())
        @settings(
            max_examples=15,
            deadline=None,
            phases=[Phase.generate],
            suppress_health_check=list(HealthCheck),
            database=None,
        )
        def try_one(case: Any, own: bool) -> None:
            if own and "slot" in (case.path_parameters or {}):
                case.path_parameters["slot"] = slot
            answer = case.call(headers=headers)
            checks = CHECKED
            if case.operation.path.endswith("/submission"):  # what fits, only the rubric can say
                checks = [c for c in checks if c.__name__ != "positive_data_acceptance"]
            case.validate_response(answer, checks=checks)

        try_one()
