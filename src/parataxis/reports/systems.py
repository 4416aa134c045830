"""Reading what a comparison is made from: sources, references, and the outputs of systems."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path

from parataxis.corpora.choose import Corpus, parse_corpus
from parataxis.corpora.example import Example, gather
from parataxis.corpora.files import STREAM, name_of, read_lines
from parataxis.corpora.protocol import Report
from parataxis.corpora.sentences import cut_line, has_mark
from parataxis.errors import InputError
from parataxis.reports.compare import System, shortened, with_outputs

__all__ = ["Output", "read_examples", "read_output", "read_system"]


@dataclass(frozen=True, slots=True)
class Output:
    """What a system wrote: records with their sources, or lines that are aligned with sources."""

    name: str
    path: Path
    records: Sequence[Example] | None
    lines: Sequence[str] = ()

    @property
    def is_aligned(self) -> bool:
        """Whether only the number of a line tells what it rewrites."""
        return self.records is None


def read_output(path: Path, name: str = "") -> Output:
    """The output in a file, plain or packed: JSON lines if its name or a pipe says so, or text."""
    if path != STREAM and not path.exists():
        raise InputError(f"There is no file {path}.")
    if _is_jsonl(path) or not path.is_file():
        return Output(name or _stem(path), path, _jsonl(path))
    lines = [line for _, line in read_lines(path, Report(strict=True))]
    return Output(name or _stem(path), path, None, lines)


def read_examples(
    source: Path | None,
    references: Sequence[str],
    outputs: Sequence[Output] = (),
    *,
    bare: bool = False,
) -> list[Example]:
    """The sources and their references, from whatever was given.

    With ``source``, a file of one sentence a line, the references are text files aligned with it,
    or corpora that are matched by their sources. Without it, the references are corpora, named as
    everywhere (``hsplit:source.txt,ref1.txt,ref2.txt``), which bring their sources. Without
    references, the sources are those of the first output, which must then be JSON lines. Where
    there are references, every source must have one. ``bare`` lets corpora have none at all.
    """
    if source is not None:
        found = _with_source(source, references)
    elif references:
        aligned = any(each.is_aligned for each in outputs)
        found = _of_corpora(references, aligned=aligned, bare=bare)
    elif outputs and (records := outputs[0].records) is not None:
        return [replace(example, references=()) for example in gather(records)]
    else:
        raise InputError("The sources are not known; name their file with --source.")
    without = [example for example in found if not example.references]
    if references and without and not (bare and len(without) == len(found)):
        raise InputError(f'There is no reference for "{shortened(without[0].source)}".')
    return found


def read_system(output: Output, examples: Sequence[Example]) -> System:
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
    rewrites = tuple(_rewrites(output, marked=marked))
    return System(output.name, rewrites, "marks" if marked else "segmenter")


def _rewrites(output: Output, *, marked: bool) -> Iterator[tuple[str, ...]]:
    for number, line in enumerate(output.lines, start=1):
        simple = cut_line(line, marked=marked)
        if not simple:
            raise InputError(f"{output.path}, line {number}: the rewrite is blank.")
        yield simple


def _with_source(source: Path, references: Sequence[str]) -> list[Example]:
    named = [each for each in references if ":" in each and not Path(each).exists()]
    files = [Path(each) for each in references if each not in named]
    aligned = [path for path in files if not _is_jsonl(path)]
    corpora = [Corpus("jsonl", (path,)) for path in files if _is_jsonl(path)]
    corpora += map(parse_corpus, named)
    examples = list(_read([Corpus("parallel", (source, *aligned))]))
    known = {example.source: example.references for example in gather(_read(corpora))}
    wanted = {example.source for example in examples}
    for other in known:
        if other not in wanted:
            raise InputError(
                f'There is a reference for "{shortened(other)}", which is not among the sources.'
            )
    return [
        replace(example, references=example.references + known.get(example.source, ()))
        for example in examples
    ]


def _of_corpora(references: Sequence[str], *, aligned: bool, bare: bool) -> list[Example]:
    """The examples of the corpora, one for each source; but where outputs are aligned with them,
    one for each line."""
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


def _jsonl(path: Path) -> Sequence[Example]:
    found = list(Corpus("jsonl", (path,)).read(Report(strict=True)))
    for example in found:
        if not example.references:
            raise InputError(
                f'{name_of(path)}: the record of "{shortened(example.source)}" has no "simple".'
            )
    return found


def _read(corpora: Iterable[Corpus]) -> Iterable[Example]:
    """The examples; a malformed line is an error, since a score would be of something else."""
    for corpus in corpora:
        for path in corpus.paths:
            if path != STREAM and not path.exists():
                raise InputError(f"There is no file {path}.")
        yield from corpus.read(Report(strict=True))


def _is_jsonl(path: Path) -> bool:
    return ".jsonl" in path.suffixes


def _stem(path: Path) -> str:
    """The name of a file without its suffix and without that of a packed one."""
    if path == STREAM:
        return "stdin"
    return Path(path.name.removesuffix(".gz")).stem or path.name
