"""The installed corpus formats, found through entry points of the group ``parataxis.corpora``."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from parataxis.errors import InputError
from parataxis.evaluate.corpora.example import CorpusFormat, Example
from parataxis.evaluate.corpora.websplit import benchmark_format
from parataxis.plugins import Registry
from parataxis.text.files import ReadReport

FORMATS: Registry[CorpusFormat] = Registry(
    "parataxis.corpora",
    "corpus format",
    CorpusFormat,  # type: ignore[type-abstract]
    "name, summary, read and write",
)

_NAMED = re.compile(r"([a-z][\w.-]+):(.+)", re.DOTALL)


@dataclass(frozen=True)
class Corpus:
    """The files of a corpus and the name of their format. On the command line it is one word,
    ``FORMAT:FILE,FILE``, or only the files if their names identify the format."""

    format: str
    paths: tuple[Path, ...]

    @property
    def label(self) -> str:
        """A short name: that of the first file, with its folder.

        >>> Corpus("bisect", (Path("data/bisect/test.src"), Path("data/bisect/test.dst"))).label
        'bisect/test'
        """
        first = self.paths[0]
        if str(first) == "-":
            return "stdin"
        stem = _plain(first).stem or str(first)
        return f"{first.parent.name}/{stem}" if first.parent.name else stem

    def read(self, report: ReadReport) -> Iterator[Example]:
        return FORMATS.load(self.format).read(self.paths, report)


def parse_corpus(text: str) -> Corpus:
    """The corpus that a word names.

    >>> parse_corpus("minwiki:a.complex,a.simple").format, parse_corpus("b.jsonl").format
    ('minwiki', 'jsonl')
    """
    named = _NAMED.fullmatch(text)
    if named and not Path(text).exists():
        return Corpus(FORMATS.load(named[1]).name, _paths(named[2]))
    paths = _paths(text)
    found = guess_format(paths)
    if found is None:
        raise InputError(
            f'The file names do not tell the format of "{text}"; write FORMAT:{text} '
            "with one that `parataxis corpus formats` lists."
        )
    return Corpus(found, paths)


def _paths(text: str) -> tuple[Path, ...]:
    if Path(text).exists():  # a comma may be part of a file's name
        return (Path(text),)
    paths = tuple(Path(part) for part in text.split(",") if part)
    if not paths:
        raise InputError("There is no file in the name of the corpus.")
    return paths


def guess_format(paths: Sequence[Path]) -> str | None:
    """The format that the names of the files identify without doubt, or None. A WebSplit folder is
    identified by the files in it.

    >>> guess_format([Path("test.src.gz"), Path("test.dst.gz")])
    'bisect'
    >>> guess_format([Path("train.complex"), Path("train.simple")]) is None  # or desse
    True
    """
    if len(paths) == 1 and (found := benchmark_format(paths[0])):
        return found
    suffixes = " ".join(_plain(path).suffix.lower() for path in paths)
    if suffixes in _BY_SUFFIX:
        return _BY_SUFFIX[suffixes]
    names = "/".join(part.lower() for path in paths for part in path.parts[-2:])
    hints = _BY_NAME.get(suffixes, {"hsplit": "hsplit"} if len(paths) > 1 else {})
    hinted = {name for hint, name in hints.items() if hint in names}
    return hinted.pop() if len(hinted) == 1 else None


_BY_SUFFIX = {".jsonl": "jsonl", ".txt": "parallel", ".src .dst": "bisect"}
_BY_NAME = {
    ".tsv": {
        "wikisplit": "wikisplit",
        "wiki-split": "wikisplit",
        "wiki-benchmark": "wiki-bm",
        "wiki-bm": "wiki-bm",
        "contract-benchmark": "cont-bm",
        "cont-bm": "cont-bm",
    },
    ".complex .simple": {"minwiki": "minwiki", "matchvp": "minwiki", "desse": "desse"},
}
"""The names of released files and their folders, by the suffixes of the files."""


def _plain(path: Path) -> Path:
    return path.with_suffix("") if path.suffix == ".gz" else path
