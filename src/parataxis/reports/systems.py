"""Reading what a comparison is made from: sources, references, and the outputs of systems."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from parataxis.corpora.example import Example, gather
from parataxis.corpora.files import read_lines
from parataxis.corpora.protocol import Report
from parataxis.corpora.registry import load_format
from parataxis.errors import InputError
from parataxis.reports.compare import System, with_outputs

__all__ = ["read_examples", "read_system"]


def read_examples(
    source: Path | None,
    references: Sequence[Path],
    corpus: str | None,
    outputs: Sequence[Path],
) -> list[Example]:
    """The sources and their references, from whatever was given.

    With ``source``, a file of one sentence a line, references are files aligned with it, or JSON
    lines that are matched by their source. Without it, the references bring their sources: JSON
    lines, or the files of a corpus in the format ``corpus``. Without references, the sources are
    those of the first of the outputs, which must then be JSON lines.
    """
    report = Report(strict=True)
    if corpus is not None:
        files = (source, *references) if source else tuple(references)
        found = list(load_format(corpus).read(files, report))
        return found if source else gather(found)
    if source is not None:
        return _with_source(source, references, report)
    records = list(references) or list(outputs[:1])
    if not records or not all(map(_is_jsonl, records)):
        raise InputError(
            "The sources are not known; name their file with --source, or the format of the "
            "references with --corpus."
        )
    found = gather(example for path in records for example in _jsonl(path, report))
    return found if references else [replace(example, references=()) for example in found]


def read_system(name: str, path: Path, examples: Sequence[Example], source: Path | None) -> System:
    """The rewrites of a system: JSON lines matched by their source, or text aligned with it."""
    report = Report(strict=True)
    if _is_jsonl(path):
        found = _jsonl(path, report)
        return with_outputs(examples, name, ((each.source, each.references[0]) for each in found))
    if source is None:
        raise InputError(f"{path} is no JSON lines, so --source must name the file of its sources.")
    count = sum(1 for _ in read_lines(path, report))
    if count != len(examples):
        raise InputError(f"{path} has {count} lines, but there are {len(examples)} sources.")
    lines = list(load_format("parallel").read((source, path), report))
    return System(name, tuple(each.references[0] for each in lines))


def _with_source(source: Path, references: Sequence[Path], report: Report) -> list[Example]:
    aligned = tuple(path for path in references if not _is_jsonl(path))
    examples = list(load_format("parallel").read((source, *aligned), report))
    matched = gather(
        example for path in references if _is_jsonl(path) for example in _jsonl(path, report)
    )
    known = {example.source: example.references for example in matched}
    return [
        replace(example, references=example.references + known.get(example.source, ()))
        for example in examples
    ]


def _jsonl(path: Path, report: Report) -> Sequence[Example]:
    found = list(load_format("jsonl").read((path,), report))
    for example in found:
        if not example.references:
            raise InputError(f'{example.id}: the record has no "simple".')
    return found


def _is_jsonl(path: Path) -> bool:
    return ".jsonl" in path.suffixes
