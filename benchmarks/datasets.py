"""Creates the test set of the 2019 report, and a WebSplit for training without its triples.

    parataxis corpus build-websplit release_v2-xml.tar.xz --to websplit-v1.0:DIR/websplit --tokens
    python benchmarks/datasets.py --data DATA --output DIR

DATA holds ``report2019/``. The program writes to DIR: ``test.jsonl`` (the report's sources with the
references that our WebSplit has for them), ``report-websplit.jsonl`` and ``report-wikisplit.jsonl``
(the outputs of tables 6 and 7), and the parts of DIR/websplit. With ``--known CORPUS`` it also
writes folders ``known`` and ``new`` with the same three files, for the sources that do and do not
share a triple with that corpus. docs/datasets.md describes how they are used.
"""

import argparse
import random
import re
import sys
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path

from parataxis.evaluate.corpora.example import Example
from parataxis.evaluate.corpora.formats import Jsonl
from parataxis.evaluate.corpora.registry import parse_corpus
from parataxis.evaluate.corpora.sentences import cut_line
from parataxis.evaluate.corpora.websplit import WebSplit10, write_parts
from parataxis.lab.rdf_split import tied_groups
from parataxis.rewrite.jsonl import to_json
from parataxis.rewrite.record import Rewrite
from parataxis.text.files import ReadReport, write_files
from parataxis.text.tokens import plain_brackets

_VALIDATION = 0.05
"""The share of the sentences in the validation part."""
_OTHER = re.compile(r"\W+")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True, help="folder with report2019/")
    parser.add_argument("--output", type=Path, required=True, help="folder with websplit/")
    parser.add_argument("--known", metavar="CORPUS", help="a corpus with triples")
    options = parser.parse_args()
    report, websplit = options.data / "report2019", options.output / "websplit"

    examples = list(parse_corpus(f"websplit-v1.0:{websplit}").read(ReadReport()))
    known = {_letters(example.source): example for example in examples}
    sources = _lines(report / "sources2.txt")
    found = {
        number: replace(known[_letters(source)], source=source, id=f"report:{number}")
        for number, source in enumerate(sources, start=1)
        if _letters(source) in known
    }
    outputs = {name: _lines(report / f"pred_{name}2.txt") for name in ("websplit", "wikisplit")}
    _write(options.output, found, outputs)
    if options.known:
        corpus = parse_corpus(options.known).read(ReadReport())
        known_triples = frozenset().union(*(example.triples for example in corpus))
        for name, is_known in (("known", True), ("new", False)):
            some = {n: e for n, e in found.items() if bool(e.triples & known_triples) == is_known}
            _write(options.output / name, some, outputs)
            sys.stdout.write(f"{len(some)} of them are {name}.\n")

    parts = _parts(examples, found.values())
    write_parts(websplit / WebSplit10.parts_file, parts)
    sizes = ", ".join(f"{len(ids):,} {name}" for name, ids in parts.items())
    sys.stdout.write(f"{len(found)} of {len(sources)} sources are in WebSplit. Parts: {sizes}.\n")


def _write(folder: Path, test: Mapping[int, Example], outputs: Mapping[str, list[str]]) -> None:
    """A test set, and the report's outputs on it."""
    folder.mkdir(parents=True, exist_ok=True)
    Jsonl().write(test.values(), (folder / "test.jsonl",))
    for name, lines in outputs.items():
        with write_files([folder / f"report-{name}.jsonl"]) as (write,):
            for number, example in test.items():
                rewrite = Rewrite(
                    source=example.source,
                    simple=cut_line(lines[number - 1], marked=True),
                    splitter=name,
                    id=example.id,
                )
                write(to_json(rewrite))


def _parts(examples: list[Example], test: Iterable[Example]) -> dict[str, list[str]]:
    """Drop sentences with a triple of the test set, use whole groups connected by triples for
    validation, and the rest for training."""
    sources = {_letters(example.source) for example in test}
    taken = frozenset().union(*(e.triples for e in examples if _letters(e.source) in sources))
    left = [example for example in examples if not example.triples & taken]
    groups = tied_groups([example.triples for example in left])
    random.Random(0).shuffle(groups)
    validation: set[int] = set()
    for group in groups:
        if len(validation) + len(group) <= _VALIDATION * len(left):
            validation.update(group)
    return {
        "TRAIN": [each.id for place, each in enumerate(left) if place not in validation],
        "VALIDATION": [left[place].id for place in sorted(validation)],
        "TEST": [each.id for each in examples if _letters(each.source) in sources],
    }


def _letters(text: str) -> str:
    """The letters and digits of a sentence: tokenisers disagree about the rest."""
    return _OTHER.sub("", plain_brackets(text)).lower()


def _lines(path: Path) -> list[str]:
    return path.read_text(encoding="utf-8").splitlines()


if __name__ == "__main__":
    main()
