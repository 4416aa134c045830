"""Comparison of systems: every metric of every system, with intervals and tests."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, combinations
from pathlib import Path

import numpy as np

from parataxis.errors import InputError
from parataxis.evaluate.corpora.example import Example, gather
from parataxis.evaluate.corpora.registry import Corpus, parse_corpus
from parataxis.evaluate.corpora.sentences import cut_line, has_mark
from parataxis.evaluate.metrics.protocol import Metric, Score, ScoredItem, Statistics, statistics_of
from parataxis.evaluate.resample import Interval, Resampler, Scores
from parataxis.text.files import STREAM, ReadReport, name_of, read_lines

SOURCE, REFERENCE = "SOURCE", "REFERENCE"
"""Two rows of every comparison: the sources left as they are, and the references."""


@dataclass(frozen=True, slots=True)
class System:
    """A system and its rewrites, in the order of the examples.

    ``sentences`` says where the sentences of the rewrites come from: they were "given", or cut at
    "marks" or by the "segmenter".
    """

    name: str
    rewrites: tuple[tuple[str, ...], ...]
    sentences: str = "given"


@dataclass(frozen=True, slots=True)
class SystemScores:
    """The scores of one system; metrics that have nothing to compare with are left out. ``rows``
    holds the statistics of each rewrite, in the order of the examples."""

    name: str
    scores: Mapping[str, Score]
    intervals: Mapping[str, Interval] = field(default_factory=dict)
    rows: Mapping[str, Statistics] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Difference:
    """The difference of two scores, with its paired bootstrap interval and its p-value."""

    value: float
    interval: Interval
    p_value: float


@dataclass(frozen=True, slots=True)
class Comparison:
    """Systems and their scores. The keys of ``differences`` are a metric and two systems."""

    examples: Sequence[Example]
    metrics: Sequence[Metric]
    systems: Sequence[System]
    results: Sequence[SystemScores]
    differences: Mapping[tuple[str, str, str], Difference] = field(default_factory=dict)

    def result(self, name: str) -> SystemScores:
        """The scores of the system of that name."""
        return next(result for result in self.results if result.name == name)


def with_outputs(
    examples: Sequence[Example], name: str, outputs: Iterable[tuple[str, tuple[str, ...]]]
) -> System:
    """A system from its outputs, pairs of a source and a rewrite, in any order.

    Raises InputError if a source has no rewrite or two that differ, or if there is a rewrite of
    another source, which shows that the wrong files were given.
    """
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


def compare(
    examples: Sequence[Example],
    systems: Sequence[System],
    metrics: Sequence[Metric],
    resampler: Resampler | None = None,
    progress: Callable[[int], None] = lambda _: None,
) -> Comparison:
    """Score the systems, with the sources and the references as rows of their own.

    A resampler adds intervals, and differences between all pairs of systems. ``progress`` is called
    with the number of rewrites read since the last call.
    """
    _check(examples, systems)
    sources = System(SOURCE, tuple((example.source,) for example in examples))
    everyone = [sources, *systems]
    every_row = {
        system.name: _rows(
            _usable(examples, metrics, 1), _counted(_items(examples, system), progress)
        )
        for system in everyone
    }
    if rows := _reference_rows(examples, metrics, progress):
        every_row[REFERENCE] = rows
    drawn = {
        (name, metric.name): resampler.scores(metric, rows[metric.name])
        for name, rows in every_row.items()
        for metric in metrics
        if resampler and metric.name in rows
    }
    results = [_scored(name, metrics, rows, drawn) for name, rows in every_row.items()]
    ranked = results[1 : len(everyone)]
    differences = _differences(metrics, ranked, drawn, resampler) if resampler else {}
    return Comparison(examples, metrics, everyone, results, differences)


def _counted(items: Iterable[ScoredItem], progress: Callable[[int], None]) -> Iterator[ScoredItem]:
    for item in items:
        progress(1)
        yield item


def _check(examples: Sequence[Example], systems: Sequence[System]) -> None:
    if not examples:
        raise InputError("There are no sources to compare systems on.")
    names = [system.name for system in systems]
    for name in names:
        if names.count(name) > 1:
            raise InputError(f'Two outputs are called "{name}"; name them as NAME=FILE.')
        if name in (SOURCE, REFERENCE):
            raise InputError(f'No system can be called "{name}": every table has that row.')


def _items(examples: Sequence[Example], system: System) -> list[ScoredItem]:
    return [
        ScoredItem(example.source, simple, example.references)
        for example, simple in zip(examples, system.rewrites, strict=True)
    ]


def _rows(metrics: Sequence[Metric], items: Iterable[ScoredItem]) -> dict[str, Statistics]:
    names = [metric.name for metric in metrics]
    return dict(zip(names, statistics_of(metrics, items), strict=True))


def _usable(examples: Sequence[Example], metrics: Sequence[Metric], least: int) -> list[Metric]:
    """All metrics if every source has at least so many references, else those that need none."""
    enough = all(len(example.references) >= least for example in examples)
    return [metric for metric in metrics if enough or not metric.needs_references]


def _reference_rows(
    examples: Sequence[Example], metrics: Sequence[Metric], progress: Callable[[int], None]
) -> dict[str, Statistics]:
    """The statistics of the references themselves, averaged over those of one source.

    A metric that needs references compares each one with the others of its source, so every source
    must have two.
    """
    usable = _usable(examples, metrics, 2)
    if not usable or not all(example.references for example in examples):
        return {}
    items = [
        ScoredItem(example.source, reference, example.references[:k] + example.references[k + 1 :])
        for example in examples
        for k, reference in enumerate(example.references)
    ]
    counts = np.array([len(example.references) for example in examples])
    starts = np.cumsum(counts) - counts
    return {
        name: np.add.reduceat(rows, starts, axis=0) / counts[:, None]
        for name, rows in _rows(usable, _counted(items, progress)).items()
    }


def _scored(
    name: str,
    metrics: Sequence[Metric],
    rows: Mapping[str, Statistics],
    drawn: Mapping[tuple[str, str], Scores],
) -> SystemScores:
    known = [metric for metric in metrics if metric.name in rows]
    scores = {metric.name: metric.from_statistics(rows[metric.name].sum(0)) for metric in known}
    intervals = {
        metric.name: Interval.of(drawn[name, metric.name])
        for metric in known
        if (name, metric.name) in drawn
    }
    return SystemScores(name, scores, intervals, rows)


def _differences(
    metrics: Sequence[Metric],
    results: Sequence[SystemScores],
    drawn: Mapping[tuple[str, str], Scores],
    resampler: Resampler,
) -> dict[tuple[str, str, str], Difference]:
    return {
        (metric.name, first.name, second.name): Difference(
            first.scores[metric.name].value - second.scores[metric.name].value,
            Interval.of(drawn[first.name, metric.name] - drawn[second.name, metric.name]),
            resampler.p_value(metric, first.rows[metric.name], second.rows[metric.name]),
        )
        for metric in metrics
        for first, second in combinations(results, 2)
        if metric.name in first.rows
    }


def shortened(source: str, longest: int = 60) -> str:
    """The start of a sentence, for a message."""
    return source if len(source) <= longest else f"{source[:longest]}..."


@dataclass(frozen=True, slots=True)
class SystemOutput:
    """The output of a system: records with their sources, or lines aligned with the sources."""

    name: str
    path: Path
    records: Sequence[Example] | None
    lines: Sequence[str] = ()

    @property
    def is_aligned(self) -> bool:
        """Whether a line is matched with its source by its number only."""
        return self.records is None


def read_output(path: Path, name: str = "") -> SystemOutput:
    """Read an output file, plain or gzip: JSON lines by its name or if it is a pipe, or text."""
    if path != STREAM and not path.exists():
        raise InputError(f"There is no file {path}.")
    if _is_jsonl(path) or not path.is_file():
        return SystemOutput(name or _stem(path), path, _jsonl(path))
    lines = [line for _, line in read_lines(path, ReadReport(strict=True))]
    return SystemOutput(name or _stem(path), path, None, lines)


def read_examples(
    source: Path | None,
    references: Sequence[str],
    outputs: Sequence[SystemOutput] = (),
    *,
    bare: bool = False,
) -> list[Example]:
    """The sources and their references.

    With ``source``, a file of one sentence a line, the references are text files aligned with it,
    or corpora that are matched by their sources. Without it, the references are corpora such as
    ``hsplit:source.txt,ref1.txt,ref2.txt``, which contain the sources. Without references, the
    sources are those of the first output, which must then be JSON lines. If there are references,
    every source must have one; ``bare`` also accepts corpora without any.
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
    rewrites = tuple(_rewrites(output, marked=marked))
    return System(output.name, rewrites, "marks" if marked else "segmenter")


def _rewrites(output: SystemOutput, *, marked: bool) -> Iterator[tuple[str, ...]]:
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


def _jsonl(path: Path) -> Sequence[Example]:
    found = list(Corpus("jsonl", (path,)).read(ReadReport(strict=True)))
    for example in found:
        if not example.references:
            raise InputError(
                f'{name_of(path)}: the record of "{shortened(example.source)}" has no "simple".'
            )
    return found


def _read(corpora: Iterable[Corpus]) -> Iterable[Example]:
    """The examples; a malformed line is an error, because it would change the scores."""
    for corpus in corpora:
        for path in corpus.paths:
            if path != STREAM and not path.exists():
                raise InputError(f"There is no file {path}.")
        yield from corpus.read(ReadReport(strict=True))


def _is_jsonl(path: Path) -> bool:
    return ".jsonl" in path.suffixes


def _stem(path: Path) -> str:
    """The name of a file without its suffix and without .gz."""
    if path == STREAM:
        return "stdin"
    return Path(path.name.removesuffix(".gz")).stem or path.name
