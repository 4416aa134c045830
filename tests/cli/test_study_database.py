"""`parataxis study create`, `password`, `invite`, `serve` and `export`: a study in its database."""

import json
import socket
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("fastapi", reason="needs the extra [study]")
pytest.importorskip("sqlalchemy", reason="needs the extra [study]")

from parataxis.cli.main import main
from parataxis.studies.store import Store

ITEMS = [
    {"id": f"i{n}", "source": f"Town {n}, a city, is old.", "splitter": "rules"}
    | {"simple": [f"Town {n} is a city.", "It is old."]}
    for n in range(3)
]
ANSWERS = {
    "sensical": 5,
    "grammatical": 5,
    "misses": False,
    "adds": False,
    "wrong-split": False,
    "split-further": False,
}


@pytest.fixture
def pilot(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("PARATAXIS_STUDY_KEY", "PARATAXIS_STUDY_PASSWORD_HASH"):
        monkeypatch.delenv(name, raising=False)
    lines = "".join(json.dumps(item) + "\n" for item in ITEMS)
    (tmp_path / "items.jsonl").write_text(lines)
    path = tmp_path / "pilot.yaml"
    path.write_text("rubric: six-criteria\nitems: items.jsonl\nrate: {raters: 2}\n")
    return path


def test_study_create_invite_export_report(
    pilot: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["study", "create", str(pilot)]) == 0
    assert capsys.readouterr().out == 'The study "pilot" is ready: 6 to rate.\n'
    assert main(["study", "invite", str(pilot), "2", "--url", "https://s.example/x/"]) == 0
    header, *rows = [line.split("\t") for line in capsys.readouterr().out.splitlines()]
    assert header == ["id", "name", "role", "link"]
    assert len(rows) == 2
    assert rows[0][3].startswith(f"https://s.example/x/join/{rows[0][0]}.")
    with Store.open(str(tmp_path / "pilot.db")) as store:
        for person, *_ in rows:
            while (task := store.next_task(person)) is not None:
                store.submit(person, task.slot, ANSWERS, 3.0)
    out = tmp_path / "out"
    assert main(["study", "export", str(pilot), "-o", str(out)]) == 0
    assert "3 in items.jsonl, 6 in ratings.jsonl, 0 in experts.jsonl" in capsys.readouterr().out
    files = ["-i", str(out / "items.jsonl"), "-r", str(out / "ratings.jsonl")]
    assert main(["study", "report", *files]) == 0
    assert "rules" in capsys.readouterr().out


def test_study_create_with_other_items_and_another_database(
    pilot: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other = tmp_path / "other.jsonl"
    other.write_text(json.dumps(ITEMS[0]))
    database = str(tmp_path / "elsewhere.db")
    assert main(["study", "create", str(pilot), "-i", str(other), "-d", database]) == 0
    assert "2 to rate" in capsys.readouterr().out
    with Store.open(database) as store:
        assert len(store.export_items()) == 1
    assert main(["study", "create", str(pilot), "-d", database]) == 2
    assert "holds a study already" in capsys.readouterr().err
    with Store.open(database) as store:
        assert store.study.items == other  # what is refused changes nothing


def test_study_invite_by_names(
    pilot: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    main(["study", "create", str(pilot)])
    names = tmp_path / "names.txt"
    names.write_text("Bo\n\n=Cy\n")
    capsys.readouterr()
    given = ["-n", "Ann", "--names", str(names), "-r", "expert"]
    assert main(["study", "invite", str(pilot), *given]) == 0
    rows = [line.split("\t") for line in capsys.readouterr().out.splitlines()[1:]]
    assert [(row[1], row[2]) for row in rows] == [(n, "expert") for n in ("Ann", "Bo", "'=Cy")]


def test_study_invite_takes_the_address_of_the_study_and_tells_who_is_missing(
    pilot: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (pilot.parent / "sources.txt").write_text("Ann, who left, is back.\n")
    more = "url: https://s.example\nwrite: {sources: sources.txt, writers: 3}\n"
    pilot.write_text(pilot.read_text() + more)
    main(["study", "create", str(pilot)])
    capsys.readouterr()
    assert main(["study", "invite", str(pilot), "2", "-r", "writer"]) == 0
    told = capsys.readouterr()
    assert "\thttps://s.example/join/" in told.out
    assert told.err == "parataxis: Each source needs 3 writers; 2 can do it so far.\n"
    assert main(["study", "invite", str(pilot), "1", "-r", "both"]) == 0
    assert (
        capsys.readouterr().err == "parataxis: Each rewrite needs 2 raters; 0 can do it so far.\n"
    )
    assert main(["study", "invite", str(pilot), "2", "--url", "http://other.example"]) == 0
    told = capsys.readouterr()
    assert "\thttp://other.example/join/" in told.out
    assert told.err == ""


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["invite", "STUDY", "2"], "There is no database"),
        (["export", "STUDY"], "There is no database"),
        (["create", "STUDY.missing"], "cannot be read"),
        (["create", "STUDY", "--items", "missing.jsonl"], "missing.jsonl"),
    ],
)
def test_study_commands_tell_what_is_missing(
    pilot: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], message: str
) -> None:
    assert main(["study", *(part.replace("STUDY", str(pilot)) for part in arguments)]) == 2
    assert message in capsys.readouterr().err
    assert not pilot.with_suffix(".db").exists() or "items" in str(arguments)


def test_study_invite_wants_a_number_or_names(
    pilot: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    main(["study", "create", str(pilot)])
    assert main(["study", "invite", str(pilot)]) == 2
    assert main(["study", "invite", str(pilot), "2", "-n", "Ann"]) == 2
    assert "how many people to invite, or their names" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("expected", "message"),
    [({"sense": 5}, "does not ask"), ({"sensical": 7}, "is no answer"), ({"misses": 1}, "1")],
)
def test_study_create_refuses_known_answers_that_nobody_can_give(
    pilot: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    expected: Any,
    message: str,
) -> None:
    (tmp_path / "test.jsonl").write_text(json.dumps({**ITEMS[0], "id": "t", "expected": expected}))
    pilot.write_text(pilot.read_text() + "qualification: {test: test.jsonl}\n")
    assert main(["study", "create", str(pilot)]) == 2
    assert message in capsys.readouterr().err


def test_study_password_is_kept_as_a_hash(
    pilot: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    import io
    import sys

    monkeypatch.setattr(sys, "stdin", io.StringIO("a long password\n"))
    assert main(["study", "password", str(pilot), "--stdin"]) == 0
    kept = pilot.with_suffix(".secrets").read_text()
    assert "argon2" in kept
    assert "a long password" not in kept
    monkeypatch.setattr(sys, "stdin", io.StringIO("short\n"))
    assert main(["study", "password", str(pilot), "--stdin"]) == 2
    assert "10 characters" in capsys.readouterr().err


def test_study_serve_makes_what_is_missing_and_takes_over_changes(
    pilot: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    import uvicorn

    seen: list[dict[str, Any]] = []
    monkeypatch.setattr(uvicorn, "run", lambda app, **options: seen.append({"app": app} | options))
    address = ["--port", "8123", "--url", "https://s.example/pilot", "--proxy", "10.0.0.0/8"]
    assert main(["study", "serve", str(pilot), *address]) == 0
    told = capsys.readouterr().err
    assert "https://s.example/pilot/organiser" in told
    assert "password is " in told
    assert seen[0]["port"] == 8123
    assert seen[0]["access_log"] is False
    assert seen[0]["root_path"] == "/pilot"
    assert seen[0]["forwarded_allow_ips"] == ["127.0.0.1", "::1", "10.0.0.0/8"]
    pilot.write_text(pilot.read_text() + "instructions: Read.\n")
    assert main(["study", "serve", str(pilot), "--port", "8123"]) == 0
    assert "password" not in capsys.readouterr().err
    with Store.open(str(pilot.with_suffix(".db"))) as store:
        assert store.study.instructions == "Read."
        assert len(store.export_items()) == 3


@pytest.mark.parametrize("command", ["serve", "invite", "export"])
@pytest.mark.parametrize(
    ("file", "before", "after", "message"),
    [
        ("pilot.yaml", "raters: 2", "raters: 3", '"rate.raters" was "2" when'),
        ("pilot.yaml", "six-criteria", "gms", 'The rubric "gms" is not the one'),
        ("pilot.yaml", "rate:", "consent: Yes?\nrate:", '"consent" was unset'),
        ("items.jsonl", "Town 2", "Town 9", 'The file of "items" is not the one'),
    ],
)
def test_study_a_change_after_creation_is_refused_and_not_ignored(
    pilot: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    command: str,
    file: str,
    before: str,
    after: str,
    message: str,
) -> None:
    import uvicorn

    monkeypatch.setattr(uvicorn, "run", lambda *_, **__: None)
    assert main(["study", "create", str(pilot)]) == 0
    path = pilot.parent / file
    text = path.read_text()
    path.write_text(text.replace(before, after))
    given = ["study", command, str(pilot)]
    given += {"serve": ["--port", "8124"], "invite": ["2"]}.get(command, ["-o", "out"])
    monkeypatch.chdir(pilot.parent)
    assert main(given) == 2
    told = capsys.readouterr().err
    assert message in told
    assert "put it back, or create a new study" in told
    path.write_text(text)
    assert main(given) == 0


def test_study_moves_to_another_folder(pilot: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main(["study", "create", str(pilot)])
    moved = pilot.parent / "moved"
    moved.mkdir()
    for path in [*pilot.parent.glob("pilot.*"), pilot.parent / "items.jsonl"]:
        path.rename(moved / path.name)
    assert main(["study", "export", str(moved / "pilot.yaml"), "-o", str(moved / "out")]) == 0
    (moved / "items.jsonl").unlink()  # the database has them
    assert main(["study", "export", str(moved / "pilot.yaml"), "-o", str(moved / "out")]) == 0


def test_study_a_rubric_called_like_an_installed_one_is_refused(
    pilot: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rubric = "name: x\ntitle: X\nquestions:\n- {id: good, kind: yes-no, text: Good}\n"
    (pilot.parent / "gms.yaml").write_text(rubric)
    pilot.write_text(pilot.read_text().replace("six-criteria", "gms.yaml"))
    assert main(["study", "create", str(pilot)]) == 2
    told = capsys.readouterr().err
    assert 'is not the installed rubric "gms"; give the file another name' in told


def test_study_serve_tells_that_a_port_is_taken_before_it_makes_anything(
    pilot: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        assert main(["study", "serve", str(pilot), "--port", port]) == 2
    assert f"Nothing can be served at 127.0.0.1, port {port}: " in capsys.readouterr().err
    assert not list(pilot.parent.glob("*.secrets"))
