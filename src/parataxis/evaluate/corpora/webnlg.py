"""WebNLG as it was released: XML files of triple sets, each with texts that express them."""

import tarfile
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, NamedTuple

from parataxis.errors import InputError
from parataxis.evaluate.corpora.example import Triple

_SEPARATOR = " | "


GOOD = "good"
"""The comment of a text that passed WebNLG's own check; others are "toFix" and "bad"."""


class SetName(NamedTuple):
    """WebNLG's name of a triple set: "category=City eid=Id106 size=2"."""

    category: str
    eid: str
    size: int

    def __str__(self) -> str:
        return f"category={self.category} eid={self.eid} size={self.size}"


class Entry(NamedTuple):
    """A triple set, in the order of its file, and the texts that express it.

    ``left_out`` counts the texts that are not marked as good.
    """

    name: SetName
    triples: tuple[Triple, ...]
    texts: tuple[str, ...] = ()
    left_out: int = 0


def read_webnlg(path: Path) -> Iterator[Entry]:
    """The entries of an XML file, of all in a folder, or of all in a tar archive.

    They are ordered by the names of the files, so that a folder and its archive read the same.
    """
    if path.is_dir():
        files = sorted(path.rglob("*.xml"), key=lambda file: file.relative_to(path).as_posix())
        for file in files:
            with file.open("rb") as stream:
                yield from _entries(stream, str(file))
        if not files:
            raise InputError(f"{path} has no XML files; name the folder or archive of WebNLG.")
    elif not path.is_file():
        raise InputError(f"{path} is neither a file nor a folder.")
    elif tarfile.is_tarfile(path):
        yield from _archived(path)
    else:
        with path.open("rb") as stream:
            yield from _entries(stream, str(path))


def _archived(path: Path) -> Iterator[Entry]:
    # A compressed archive can only be read forwards, so the entries wait here to be sorted.
    found: dict[str, list[Entry]] = {}
    with tarfile.open(path, "r|*") as archive:
        for member in archive:
            stream = archive.extractfile(member) if member.name.endswith(".xml") else None
            if stream is not None:
                found[member.name] = list(_entries(stream, f"{path}:{member.name}"))  # type: ignore[arg-type]
    if not found:
        raise InputError(f"{path} has no XML files; name the folder or archive of WebNLG.")
    for name in sorted(found):
        yield from found[name]


def _entries(stream: BinaryIO, name: str) -> Iterator[Entry]:
    try:
        root = ElementTree.parse(stream).getroot()
    except ElementTree.ParseError as error:
        raise InputError(f"{name} is not an XML file of WebNLG ({error}).") from error
    for number, element in enumerate(root.iter("entry"), start=1):
        try:
            yield _entry(element)
        except (KeyError, ValueError) as error:
            raise InputError(
                f"{name}, entry {number}: it needs a category, an eid and triples of three parts."
            ) from error


def _entry(element: ElementTree.Element) -> Entry:
    triples = tuple(_triple(found.text or "") for found in element.iter("mtriple"))
    texts = [(found.get("comment", GOOD), found.text or "") for found in element.iter("lex")]
    good = tuple(" ".join(text.split()) for comment, text in texts if comment == GOOD)
    return Entry(
        SetName(element.attrib["category"], element.attrib["eid"], len(triples)),
        triples,
        tuple(text for text in good if text),
        len(texts) - len(good),
    )


def _triple(text: str) -> Triple:
    subject, relation, object_ = (part.strip() for part in text.strip().split(_SEPARATOR))
    return Triple(subject, relation, object_)
