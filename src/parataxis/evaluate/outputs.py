"""Reading what a comparison needs: sources, references, and the outputs of systems."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path

from parataxis.errors import InputError
from parataxis.evaluate.compare import System
from parataxis.evaluate.corpora.example import Example, gather
from parataxis.evaluate.corpora.registry import Corpus, parse_corpus
from parataxis.evaluate.corpora.sentences import cut_line, has_mark
from parataxis.text.files import STREAM, ReadReport, name_of, strict_lines


@dataclass(frozen=True, slots=True)
class SystemOutput:
    """The output of a system: records with their sources, or None and lines, each of which is
    matched with its source by its number only."""

    name: str
    path: Path
    records: Sequence[Example] | None
    lines: Sequence[str] = ()


def read_output(path: Path, name: str = "") -> SystemOutput:
    """Read an output file, plain or gzip: JSON lines by its name or if it is a pipe, or text."""
    if path != STREAM and not path.exists():
        raise InputError(f"There is no file {path}.")
    plain = Path(path.name.removesuffix(".gz"))
    name = name or ("stdin" if path == STREAM else plain.stem)
    if not _is_jsonl(path) and path.is_file():
        return SystemOutput(name, path, None, list(strict_lines(path)))
    records = list(Corpus("jsonl", (path,)).read(ReadReport(strict=True)))
    for record in records:
        if not record.references:
            raise InputError(
                f'{name_of(path)}: the record of "{shortened(record.source)}" has no "simple".'
            )
    return SystemOutput(name, path, records)


def read_examples(
    source: Path | None,
    references: Sequence[str],
    outputs: Sequence[SystemOutput] = (),
    *,
    bare: bool = False,
) -> list[Example]:
    """The sources and their references.

    With ``source``, a file of one sentence a line, the references are text files aligned with it,
    or corpora that are matched by their sources. Otherwise they are corpora that contain the
    sources; without any, the sources are those of the first output, which must then be JSON lines.
    If there are references, every source must have one; ``bare`` also accepts corpora without any.
    """
    if source is not None:
        found = _with_source(source, references)
    elif references:
        aligned = any(each.records is None for each in outputs)
        found = _of_corpora(references, aligned=aligned, bare=bare)
    elif outputs and (records := outputs[0].records) is not None:
        return [replace(example, references=()) for example in gather(records)]
    else:
        raise InputError("The sources are not known; name their file with --source.")
    without = [example for example in found if not example.references]
    if references and without and not (bare and len(without) == len(found)):
        raise InputError(f'There is no reference for "{shortened(without[0].source)}".')
    return found


def read_system(output: SystemOutput, examples: Sequence[Example]) -> System:
    """The rewrites of a system in the order of the examples: records matched by their source, or
    one line for each."""
    if output.records is not None:
        pairs = [(each.source, simple) for each in output.records for simple in each.references]
        return with_outputs(examples, output.name, pairs)
    if len(output.lines) != len(examples):
        raise InputError(
            f"{output.path} has {len(output.lines)} lines, but there are {len(examples)} sources."
        )
    marked = any(map(has_mark, output.lines))
    rewrites = tuple(cut_line(line, marked=marked) for line in output.lines)
    if () in rewrites:
        raise InputError(f"{output.path}, line {rewrites.index(()) + 1}: the rewrite is blank.")
    return System(output.name, rewrites, "marks" if marked else "segmenter")


def with_outputs(
    examples: Sequence[Example], name: str, outputs: Iterable[tuple[str, tuple[str, ...]]]
) -> System:
    """A system from its outputs, pairs of a source and a rewrite, in any order. Raises InputError
    unless every source, and no other, has one rewrite: other files were meant."""
    wanted = {example.source for example in examples}
    found: dict[str, tuple[str, ...]] = {}
    for source, simple in outputs:
        if source not in wanted:
            raise InputError(
                f'{name} rewrites "{shortened(source)}", which is not among the sources.'
            )
        if found.setdefault(source, simple) != simple:
            raise InputError(f'{name} rewrites "{shortened(source)}" in two ways.')
    for example in examples:
        if example.source not in found:
            raise InputError(f'{name} has no rewrite of "{shortened(example.source)}".')
    return System(name, tuple(found[example.source] for example in examples))


def shortened(source: str) -> str:
    """The start of a sentence, for a message."""
    return source if len(source) <= 60 else f"{source[:60]}..."


def _with_source(source: Path, references: Sequence[str]) -> list[Example]:
    named = [each for each in references if ":" in each and not Path(each).exists()]
    files = [Path(each) for each in references if each not in named]
    aligned = [path for path in files if not _is_jsonl(path)]
    corpora = [Corpus("jsonl", (path,)) for path in files if _is_jsonl(path)]
    corpora += map(parse_corpus, named)
    examples = list(_read([Corpus("parallel", (source, *aligned))]))
    known = {example.source: example.references for example in gather(_read(corpora))}
    others = [each for each in known if each not in {example.source for example in examples}]
    if others:
        raise InputError(
            f'There is a reference for "{shortened(others[0])}", which is not among the sources.'
        )
    return [
        replace(example, references=example.references + known.get(example.source, ()))
        for example in examples
    ]


def _of_corpora(references: Sequence[str], *, aligned: bool, bare: bool) -> list[Example]:
    """The examples of the corpora: one for each source, or one for each line if outputs are aligned
    with them."""
    parts = [list(_read([parse_corpus(each)])) for each in references]
    for name, part in zip(references, parts, strict=True):
        if not bare and not any(example.references for example in part):
            raise InputError(
                f"{name} has sources without references; if these are the references, name the "
                f"sources with --source, or both as parallel:SOURCES,{name}."
            )
    if not aligned:
        return gather(chain.from_iterable(parts))
    orders = [[example.source for example in part] for part in parts]
    if all(order == orders[0] for order in orders):
        return [gather(row)[0] for row in zip(*parts, strict=True)]
    return list(chain.from_iterable(parts))


def _read(corpora: Iterable[Corpus]) -> Iterable[Example]:
    """The examples; a malformed line is an error, because it would change the scores."""
    for corpus in corpora:
        for path in corpus.paths:
            if path != STREAM and not path.exists():
                raise InputError(f"There is no file {path}.")
        yield from corpus.read(ReadReport(strict=True))


def _is_jsonl(path: Path) -> bool:
    return ".jsonl" in path.suffixes
