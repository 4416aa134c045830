"""``parataxis split`` for a file with formatting: the whole document in, the whole document out."""

import os
from collections.abc import Sequence
from pathlib import Path

from parataxis.cli.inputs import STDIN
from parataxis.cli.terminal import Output, Progress, require_other_file, warn
from parataxis.cli.units import Unit, batches
from parataxis.cli.work import Task, run
from parataxis.corpora.files import write_whole
from parataxis.documents import Kind, kind_of, open_document
from parataxis.errors import InputError
from parataxis.rewrite.jsonl import SourceLine

__all__ = ["find_document", "split_file"]

_LARGEST = {Kind.WORD: 256 << 20, Kind.MARKDOWN: 8 << 20, Kind.HTML: 8 << 20}
"""Bytes of a file that is read as a whole; text, character by character, takes some hundred times
as much memory."""


def find_document(
    arguments: Sequence[str], output: Path | None, *, tracked: bool, plain: bool
) -> Path | None:
    """The file, where the arguments ask for a document of the same kind as it.

    ``plain`` says that other options ask for something else. Raises InputError where a Word
    document is mixed with anything else.
    """
    named = [argument for argument in arguments if kind_of(argument)]
    # os.path.isfile, unlike pathlib, answers for any string, however long.
    files = [Path(argument) for argument in named if os.path.isfile(argument)]  # noqa: PTH113
    if len(files) < len(named):
        return None  # which is told where the inputs are looked for
    word = next((file for file in files if kind_of(file) is Kind.WORD), None)
    made = kind_of(output) if output else None
    if word is None and tracked:
        raise InputError("Only a Word document (.docx) can have tracked changes.")
    if word is None and made is Kind.WORD:
        raise InputError(f"Only a Word document can be written as {output}; give one to read.")
    if word and (made is not Kind.WORD or plain):
        raise InputError(
            f"{word} is a Word document; write it to one with -o FILE.docx, without --format, "
            "--explain and --input."
        )
    if word and len(arguments) > 1:
        raise InputError(f"{word} is a Word document; split it alone.")
    is_same = len(arguments) == len(files) == 1 and made is kind_of(files[0])
    return files[0] if is_same and not plain and str(output) != STDIN else None


def split_file(path: Path, output: Path, task: Task, *, jobs: int, tracked: bool) -> None:
    """Split the sentences of a document; the output appears whole or not at all. Says on standard
    error how many sentences had to be left alone."""
    require_other_file(output, path)
    limit = _LARGEST[kind_of(path) or Kind.WORD]
    if path.stat().st_size > limit:
        raise InputError(f"{path} is too large: such a document has at most {limit >> 20} MB.")
    document = open_document(path.read_bytes(), str(path))
    sentences = document.sentences
    task.load()
    units = (_unit(f"{path}:{n}", text) for n, text in enumerate(sentences, start=1))
    rewrites = []
    with Progress(sum(len(text.encode()) for text in sentences), Output(output)) as progress:
        for unit, explained in run(batches(units, lambda: True), task, jobs=jobs):
            rewrites += [result.rewrite for result in explained]
            progress.advance(unit.size, len(unit.sentences))
    data, report = document.rewritten(rewrites, tracked=tracked)
    write_whole(output, data)
    if note := report.note():
        warn(note)


def _unit(name: str, text: str) -> Unit:
    return Unit([SourceLine(name, text)], lambda rewrites: "", len(text.encode()))
