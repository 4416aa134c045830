"""The application on a full disk and with clocks that jump: people are told, nothing is lost."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from sqlalchemy import event

from parataxis.studies.study import Role

GOOD = {"sensical": 5, "grammatical": 5, "misses": False, "adds": False}
GOOD |= {"wrong-split": False, "split-further": False}
WRITE = {"sources": "sources.txt", "writers": 1}


def test_faults_a_full_disk_is_told_and_loses_nothing(serve: Any) -> None:
    served = serve(write=WRITE, items=None)
    _, visitor = served.person(Role.WRITER)
    token = visitor.token
    slot = visitor.api("GET", "/tasks/next").json()["slot"]
    room = [0]  # pages of the file that are left; the text below needs some

    @event.listens_for(served.store._database._engine, "checkout")
    def limit(connection: Any, *_: object) -> None:
        pages = connection.execute("PRAGMA page_count").fetchone()[0]
        connection.execute(f"PRAGMA max_page_count={pages + room[0]}").fetchone()

    long = " ".join(f"The ferry number {n} left at noon." for n in range(250))
    body = {"answers": {"rewrite": long}, "seconds": 3}
    refused = visitor.api("POST", f"/tasks/{slot}/submission", body, token)
    assert refused.status_code == 503
    assert refused.headers["retry-after"] == "5"
    assert visitor.api("PUT", f"/tasks/{slot}/draft", body, token).status_code == 503
    visitor.get(f"/task/{slot}")
    shown = visitor.post(rewrite=long)
    assert shown.status_code == 503
    assert "cannot keep anything right now" in shown.text
    assert served.store.export_history() == []
    room[0] = 1000
    assert visitor.api("POST", f"/tasks/{slot}/submission", body, token).status_code == 200
    assert visitor.api("POST", f"/tasks/{slot}/submission", body, token).status_code == 200
    (entry,) = served.store.export_history()
    assert entry["answers"]["rewrite"] == long


@pytest.mark.parametrize("jump", [timedelta(hours=3), timedelta(days=4000), timedelta(days=-4000)])
def test_faults_clocks_that_jump_lose_nothing(serve: Any, jump: timedelta) -> None:
    served = serve(rate={"raters": 1})
    now = [datetime.now(UTC)]
    served.store._clock = lambda: now[0]
    _, ann = served.person()
    _, bob = served.person()
    tokens = {ann: ann.token, bob: bob.token}
    slots = {who: who.api("GET", "/tasks/next").json()["slot"] for who in (ann, bob)}
    draft = {"answers": {"sensical": 2}}
    ann.api("PUT", f"/tasks/{slots[ann]}/draft", draft, tokens[ann])
    now[0] += jump
    # In the meantime Bob does all that there is, also what Ann held where her time is over.
    while (task := bob.api("GET", "/tasks/next").json()) is not None:
        path = f"/tasks/{task['slot']}/submission"
        assert bob.api("POST", path, {"answers": GOOD}, tokens[bob]).status_code == 200
    now[0] -= jump / 2
    kept = ann.api("GET", f"/tasks/{slots[ann]}").json()
    assert kept["draft"] == {"sensical": 2}
    answers = {"answers": {**GOOD, "sensical": 1}}
    done = ann.api("POST", f"/tasks/{slots[ann]}/submission", answers, tokens[ann])
    assert done.status_code == 200
    assert ("notice=late" in done.json()["next"]) == (jump > timedelta(0))
    ratings = served.store.export_ratings()
    assert len(ratings) == len({rating.item for rating in ratings}) == 3
    assert len(served.store.export_history()) == 3 + (jump > timedelta(0))
