"""Reading what a comparison is made from: sources, references, and the outputs of systems."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from parataxis.corpora.choose import Corpus, parse_corpus
from parataxis.corpora.example import Example, gather
from parataxis.corpora.files import read_lines
from parataxis.corpora.protocol import Report
from parataxis.corpora.sentences import SEP, WIKISPLIT_MARK, at_mark, by_segmenter
from parataxis.errors import InputError
from parataxis.reports.compare import System, with_outputs
from parataxis.text.brackets import plain_brackets

__all__ = ["read_examples", "read_system"]

Output = tuple[str, Path]
"""The name of a system, and the file of its rewrites."""


def read_examples(
    source: Path | None, references: Sequence[str], outputs: Sequence[Output] = ()
) -> list[Example]:
    """The sources and their references, from whatever was given.

    With ``source``, a file of one sentence a line, the references are text files aligned with it,
    or JSON lines that are matched by their source. Without it, the references are corpora, named
    as everywhere (``hsplit:source.txt,ref1.txt,ref2.txt``), which bring their sources. Without
    references, the sources are those of the first output, which must then be JSON lines.
    """
    if source is not None:
        return _with_source(source, references)
    if references:
        found = list(_read([parse_corpus(each) for each in references]))
        # Aligned outputs need the sources as they stand; all others can be matched by source.
        return found if any(not _is_jsonl(path) for _, path in outputs) else gather(found)
    if outputs and _is_jsonl(outputs[0][1]):
        found = gather(_jsonl(outputs[0][1]))
        return [replace(example, references=()) for example in found]
    raise InputError("The sources are not known; name their file with --source.")


def read_system(output: Output, examples: Sequence[Example]) -> System:
    """The rewrites of a system: JSON lines matched by their source, or text with the rewrite of
    one source a line, in which brackets may be written as "-LRB-"."""
    name, path = output
    if _is_jsonl(path):
        pairs = ((each.source, each.references[0]) for each in _jsonl(path))
        return with_outputs(examples, name, pairs)
    lines = [line for _, line in read_lines(path, Report(strict=True))]
    if len(lines) != len(examples):
        raise InputError(f"{path} has {len(lines)} lines, but there are {len(examples)} sources.")
    return System(name, tuple(_rewrites(path, lines)))


def _rewrites(path: Path, lines: Sequence[str]) -> Iterator[tuple[str, ...]]:
    """The sentences of each line. Where a mark parts sentences anywhere in a file, a line without
    it is one sentence; in a file without marks the segmenter decides."""
    marks = [mark for mark in (SEP, WIKISPLIT_MARK) if any(mark in line for line in lines)]
    for number, line in enumerate(lines, start=1):
        text = plain_brackets(line)
        simple = at_mark(text, marks[0]) if marks else by_segmenter(text)
        if not simple:
            raise InputError(f"{path}, line {number}: the rewrite is blank.")
        yield simple


def _with_source(source: Path, references: Sequence[str]) -> list[Example]:
    paths = [Path(each) for each in references]
    aligned = [path for path in paths if not _is_jsonl(path)]
    matched = gather(example for path in paths if _is_jsonl(path) for example in _jsonl(path))
    known = {example.source: example.references for example in matched}
    return [
        replace(example, references=example.references + known.get(example.source, ()))
        for example in _read([Corpus("parallel", (source, *aligned))])
    ]


def _jsonl(path: Path) -> Sequence[Example]:
    found = list(_read([Corpus("jsonl", (path,))]))
    for example in found:
        if not example.references:
            raise InputError(f'{example.id}: the record has no "simple".')
    return found


def _read(corpora: Iterable[Corpus]) -> Iterable[Example]:
    """The examples; a malformed line is an error, since a score would be of something else."""
    for corpus in corpora:
        for path in corpus.paths:
            if not path.exists():
                raise InputError(f"There is no file {path}.")
        yield from corpus.read(Report(strict=True))


def _is_jsonl(path: Path) -> bool:
    return ".jsonl" in path.suffixes
