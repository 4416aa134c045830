"""A tiny WebNLG of invented facts."""

from pathlib import Path

import pytest

from parataxis.evaluate.corpora.example import Triple

BORN = Triple("Ada_Vell", "birthPlace", "Morrow")
BUILT = Triple("Vell_Tower", "architect", "Ada_Vell")
LED = Triple("Morrow", "leader", "Bo_Lind")
FLOORS = Triple("Vell_Tower", "floorCount", "9")
FED = Triple("Plum_cake", "country", "Ossia")
SWEET = Triple("Plum_cake", "ingredient", "Plum")

ENTRIES: dict[str, list[tuple[str, tuple[Triple, ...], list[str]]]] = {
    "1triples/1triples_Building.xml": [
        ("Building", (BUILT,), ["Ada Vell designed Vell Tower.", "Vell Tower is by Ada Vell."]),
        ("Building", (BORN,), ["Ada Vell was born in Morrow."]),
        ("Building", (FLOORS,), ["Vell Tower has 9 floors.", "It rose. It has 9 floors."]),
    ],
    "1triples/1triples_Food.xml": [
        ("Food", (FED,), ["Plum cake comes from Ossia."]),
        ("Food", (SWEET,), ["Plum cake contains plums."]),
    ],
    "2triples/2triples_Building.xml": [
        (
            "Building",
            (BUILT, BORN),
            [
                "Ada Vell, born in Morrow, designed Vell Tower.",
                "Ada Vell was born in Morrow. She designed Vell Tower.",
            ],
        ),
        ("Building", (BORN, LED), ["Ada Vell was born in Morrow, which Bo Lind leads."]),
    ],
    "2triples/2triples_Food.xml": [
        ("Food", (FED, SWEET), ["Plum cake, from Ossia, contains plums."]),
    ],
    "3triples/3triples_Building.xml": [
        (
            "Building",
            (BUILT, FLOORS, BORN),
            ["Vell Tower, by Ada Vell of Morrow, has 9 floors."],
        ),
    ],
}


def entry(category: str, number: int, triples: tuple[Triple, ...], texts: list[str]) -> str:
    """An entry as WebNLG writes it."""
    rows = "".join(f"<mtriple>{' | '.join(each)}</mtriple>" for each in triples)
    lex = "".join(f'<lex comment="good" lid="Id1">{text}</lex>' for text in texts)
    return (
        f'<entry category="{category}" eid="Id{number}" size="{len(triples)}">'
        f"<originaltripleset><otriple>a | b | c</otriple></originaltripleset>"
        f"<modifiedtripleset>{rows}</modifiedtripleset>{lex}"
        '<lex comment="toFix" lid="Id9">Broken is this text.</lex></entry>'
    )


@pytest.fixture
def webnlg(tmp_path: Path) -> Path:
    """The folder of its XML files."""
    folder = tmp_path / "webnlg"
    for name, entries in ENTRIES.items():
        path = folder / "train" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        body = "".join(entry(*each[:1], n, *each[1:]) for n, each in enumerate(entries, start=1))
        path.write_text(f"<benchmark><entries>{body}</entries></benchmark>", encoding="utf-8")
    return folder
