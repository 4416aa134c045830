"""WebNLG as it was released: XML files of triple sets, each with texts that express them."""

import tarfile
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from parataxis.errors import InputError
from parataxis.evaluate.corpora.example import Triple

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
    """A triple set, in the order of its file, the texts that express it, and the number of those
    that are not marked as good."""

    name: SetName
    triples: tuple[Triple, ...]
    texts: tuple[str, ...] = ()
    left_out: int = 0


def read_webnlg(path: Path) -> Iterator[Entry]:
    """The entries of an XML file, of all in a folder, or of all in a tar archive, ordered by the
    names of the files, so that a folder and its archive read the same."""
    for name, data in _files(path):
        try:
            root = ElementTree.fromstring(data)
        except ElementTree.ParseError as error:
            raise InputError(f"{name} is not an XML file of WebNLG ({error}).") from error
        for number, element in enumerate(root.iter("entry"), start=1):
            try:
                yield _entry(element)
            except (KeyError, TypeError) as error:
                raise InputError(
                    f"{name}, entry {number}: it needs a category, an eid and triples of three "
                    "parts."
                ) from error


def _files(path: Path) -> Iterator[tuple[str, bytes]]:
    found: Iterator[tuple[str, bytes]]
    if path.is_dir():
        files = sorted(path.rglob("*.xml"), key=lambda file: file.relative_to(path).as_posix())
        found = ((str(file), file.read_bytes()) for file in files)
    elif not path.is_file():
        raise InputError(f"{path} is neither a file nor a folder.")
    elif tarfile.is_tarfile(path):
        with tarfile.open(path, "r|*") as archive:  # if compressed, it can only be read forwards
            members = (each for each in archive if each.name.endswith(".xml"))
            streams = ((each.name, archive.extractfile(each)) for each in members)
            held = {f"{path}:{name}": stream.read() for name, stream in streams if stream}
        found = iter(sorted(held.items()))
    else:
        found = iter([(str(path), path.read_bytes())])
    first = next(found, None)
    if first is None:
        raise InputError(f"{path} has no XML files; name the folder or archive of WebNLG.")
    yield first
    yield from found


def _entry(element: ElementTree.Element) -> Entry:
    written = ((found.text or "").strip().split(" | ") for found in element.iter("mtriple"))
    triples = tuple(Triple(*(part.strip() for part in parts)) for parts in written)
    texts = [(found.get("comment", GOOD), found.text or "") for found in element.iter("lex")]
    good = tuple(" ".join(text.split()) for comment, text in texts if comment == GOOD)
    return Entry(
        SetName(element.attrib["category"], element.attrib["eid"], len(triples)),
        triples,
        tuple(text for text in good if text),
        len(texts) - len(good),
    )
