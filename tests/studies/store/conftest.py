"""A study in either engine. PostgreSQL is a real server that the tests start for themselves."""

import os
import pwd
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from sqlalchemy import create_engine, func, select, text

from parataxis.rewrite.record import Rewrite
from parataxis.studies.items import Item
from parataxis.studies.records import Purpose
from parataxis.studies.store import Store
from parataxis.studies.store.tables import item, slot
from parataxis.studies.study import Rate, Study, Write


class Clock:
    """A clock that is put forward and back by hand."""

    def __init__(self) -> None:
        self.time = datetime(2026, 3, 1, 12, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.time

    def move(self, **by: float) -> None:
        self.time += timedelta(**by)


@pytest.fixture
def clock() -> Clock:
    return Clock()


def _programs() -> Path | None:
    """The newest PostgreSQL that Debian has installed, or that is on the path."""
    found = sorted(
        Path("/usr/lib/postgresql").glob("*/bin/initdb"),
        key=lambda path: float(path.parts[-3]),
    )
    on_path = shutil.which("initdb")
    if found:
        return found[-1].parent
    return Path(on_path).parent if on_path else None


def _somebody() -> dict[str, object]:
    """PostgreSQL does not run as root; whoever else there is may run it."""
    if os.geteuid() != 0:
        return {}
    names = {entry.pw_name for entry in pwd.getpwall()}
    name = "postgres" if "postgres" in names else "nobody"
    entry = pwd.getpwnam(name)
    return {"user": entry.pw_uid, "group": entry.pw_gid, "extra_groups": []}


@pytest.fixture(scope="session")
def postgresql() -> Iterator[str]:
    """The address of a server without its database; it lives as long as the tests."""
    programs = _programs()
    if programs is None:
        pytest.skip("needs PostgreSQL (Debian's package postgresql)")
    folder = Path(tempfile.mkdtemp(prefix="parataxis-pg-"))  # a socket's path must be short
    somebody = _somebody()
    if somebody:
        os.chown(folder, int(str(somebody["user"])), int(str(somebody["group"])))
    data = folder / "data"
    subprocess.run(
        [programs / "initdb", "-D", data, "-U", "test", "-A", "trust", "-E", "UTF8", "--no-sync"],
        check=True,
        capture_output=True,
        cwd=folder,
        **somebody,  # type: ignore[call-overload]
    )
    server = subprocess.Popen(
        [
            programs / "postgres",
            "-D",
            data,
            "-k",
            folder,
            *("-c", "listen_addresses=", "-c", "fsync=off", "-c", "max_connections=200"),
        ],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        cwd=folder,
        **somebody,  # type: ignore[call-overload]
    )
    try:
        _wait_for(f"postgresql+psycopg://test@/postgres?host={folder}")
        yield f"postgresql://test@/{{name}}?host={folder}"
    finally:
        server.terminate()
        server.wait(30)
        shutil.rmtree(folder, ignore_errors=True)


def _wait_for(url: str) -> None:
    engine = create_engine(url)
    for _ in range(100):
        try:
            with engine.connect():
                break
        except Exception:
            time.sleep(0.1)
    engine.dispose()


_made = iter(range(1_000_000))


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """The address of an empty database of either engine."""
    if request.param == "sqlite":
        yield str(tmp_path / "study.db")
        return
    server = request.getfixturevalue("postgresql").replace("postgresql:", "postgresql+psycopg:")
    name = f"study_{next(_made)}"
    engine = create_engine(server.format(name="postgres"), isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        connection.execute(text(f"CREATE DATABASE {name}"))
    yield request.getfixturevalue("postgresql").format(name=name)
    with engine.connect() as connection:
        connection.execute(text(f"DROP DATABASE {name} WITH (FORCE)"))
    engine.dispose()


@pytest.fixture
def store(url: str, clock: Clock) -> Iterator[Store]:
    with Store.open(url, clock=clock) as opened:
        yield opened


def _sources(count: int) -> list[Item]:
    return [Item(f"source-{n}", f"Ann, who is {n}, paints.") for n in range(count)]


def _rewrites(count: int, prefix: str = "rewrite") -> list[Item]:
    return [
        Item(
            f"{prefix}-{n}",
            f"Bob, who is {n}, sings.",
            Rewrite(
                source=f"Bob, who is {n}, sings.",
                simple=(f"Bob is {n}.", "Bob sings."),
                splitter="rules",
            ),
        )
        for n in range(count)
    ]


def _controls(purpose: Purpose, count: int, **expected: object) -> list[Item]:
    return [
        Item(each.id, each.source, each.rewrite, purpose, expected, f"About {each.id}.")  # type: ignore[arg-type]
        for each in _rewrites(count, purpose)
    ]


class Make:
    """Items, and studies with them."""

    sources = staticmethod(_sources)
    rewrites = staticmethod(_rewrites)
    controls = staticmethod(_controls)

    @staticmethod
    def study(*, writers: int = 0, raters: int = 2, **settings: object) -> Study:
        write = Write(sources=Path("sources.txt"), writers=writers) if writers else None
        return Study(rubric="gms", write=write, rate=Rate(raters=raters), **settings)  # type: ignore[arg-type]


@pytest.fixture
def make() -> type[Make]:
    return Make


Check = Callable[[Store], None]


@pytest.fixture
def sound() -> Check:
    """Looks at the tables themselves: what must be true at every moment."""

    def check(store: Store) -> None:
        study = store.study
        wanted = {"rate": study.raters_of_items, "write": study.write.writers if study.write else 0}
        rows = store._database.read(
            lambda connection: connection.execute(
                select(slot, item.c.withdrawn, item.c.writer_id.label("by"))
                .join(item, item.c.id == slot.c.item_id)
                .where(slot.c.purpose == Purpose.ITEM)
            ).all()
        )
        counts: dict[tuple[int, str], int] = {}
        for row in rows:
            counted = row.state in ("open", "leased", "done")
            if row.withdrawn:
                assert not counted, row
            if counted:
                key = row.item_id, row.kind
                counts[key] = counts.get(key, 0) + 1
            assert row.person_id is None or row.person_id != row.by, row
            assert (row.person_id is None) == (row.state == "open"), row
            assert row.state not in ("done", "surplus") or row.answer_id, row
            assert row.state not in ("open", "leased", "lapsed") or not row.answer_id, row
        items = store._database.read(
            lambda connection: connection.execute(
                select(item).where(item.c.purpose == Purpose.ITEM, item.c.withdrawn.is_(False))
            ).all()
        )
        flags = {entry["slot"] for entry in store.export_history() if "flag" in entry["answers"]}
        wrote = [row.id for row in rows if row.kind == "write" and row.state == "done"]
        codes = {row.id: row.code for row in rows}
        given = [row for row in rows if row.person_id is not None]
        assert len({row.code for row in given} - {None}) == len(given)
        if study.keeps_apart:
            for kind, other in (("write", "rate"), ("rate", "write")):
                mine = {(r.person_id, r.source_hash) for r in given if r.kind == kind}
                assert not mine & {(r.person_id, r.source_hash) for r in given if r.kind == other}
        assert sorted(each.slot_id for each in items if each.slot_id) == sorted(
            id_ for id_ in wrote if codes[id_] not in flags
        )
        for each in items:
            number = study.raters_of_rewrites if each.writer_id else wanted[each.kind]
            assert counts.pop((each.id, each.kind)) == number, each
        assert not counts
        given = [(row.item_id, row.person_id) for row in rows if row.person_id is not None]
        assert len(given) == len(set(given))
        lost = store._database.read(
            lambda connection: connection.execute(
                select(func.count()).where(slot.c.state == "open", slot.c.draft.is_not(None))
            ).scalar()
        )
        assert lost == 0

    return check
