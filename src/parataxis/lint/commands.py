"""``parataxis lint``: its options, the files that it reads, and the run that they ask for."""

import difflib
import json
import os
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatch
from pathlib import Path
from typing import Annotated, NamedTuple, TypeVar

import typer

from parataxis.cli.options import Count, OptionalCount, documented
from parataxis.cli.terminal import Output, Progress, open_output, warn
from parataxis.errors import InputError, ParataxisError, system_errors
from parataxis.lint import LintFinding, findings_of, load_judge
from parataxis.lint.cache import FOLDER, LintCache
from parataxis.lint.output import LintOutput, Located, fingerprint, written
from parataxis.lint.readers import SUFFIXES, LintFormat, Source, format_of, read_source
from parataxis.lint.rules import MIN_WORDS, LintSettings, LintVerdict, RuleSetName, StrictRewriter
from parataxis.report import counted
from parataxis.run.pipeline import WARM_UP
from parataxis.run.pool import in_order
from parataxis.splitters.settings import SplitSettings
from parataxis.syntax.onnx import cores
from parataxis.text.files import write_whole
from parataxis.text.inputs import STDIN, require_piped_input

T = TypeVar("T")

FINDINGS, BAD_INPUT = 1, 2
"""The exit codes if there are findings, and if a file could not be read."""

_BATCH = 128  # sentences that a process judges at a time
_WORTH_A_PROCESS = 100  # sentences for which another process is worth its start
_LARGEST = {LintFormat.WORD: 256 << 20}
_LARGEST_TEXT = 8 << 20
_NEVER_READ = frozenset(["node_modules", "__pycache__", "site-packages", "build", "dist", "venv"])


class _File(NamedTuple):
    """A file; ``name`` is how it is shown, with slashes."""

    path: Path
    form: LintFormat
    name: str

    @property
    def is_stream(self) -> bool:
        return str(self.path) == STDIN

    def read(self) -> bytes:
        if self.is_stream:
            return sys.stdin.buffer.read()
        with system_errors(f"{self.name} cannot be read"):
            most = _LARGEST.get(self.form, _LARGEST_TEXT)
            if self.path.stat().st_size > most:
                raise InputError(f"{self.name} is too large: at most {most >> 20} MB are read.")
            return self.path.read_bytes()


def find_files(
    arguments: Sequence[str], exclude: Sequence[str], form: LintFormat | None = None
) -> list[_File]:
    """The files that are named or in folders that are named, without those that match one of the
    patterns. Raises InputError for one that is not there or whose format is not known."""
    found: dict[Path, _File] = {}
    for argument in arguments:
        path = Path(argument)
        if argument == STDIN:
            require_piped_input()
            found[path] = _File(path, form or LintFormat.TEXT, "standard input")
        elif path.is_dir():
            for each in sorted(_files_in(path, exclude)):
                kind = format_of(each)
                if kind and (form is None or kind is form):
                    found.setdefault(each.resolve(), _File(each, kind, _shown(each)))
        elif not path.exists():
            raise InputError(f"There is no file {argument}.")
        else:
            kind = form or format_of(path)
            if kind is None:
                known = ", ".join(SUFFIXES)
                raise InputError(
                    f"{argument} is of no known format; name it with --input, or give files that "
                    f"end in {known}."
                )
            if not _is_excluded(path, exclude):
                found.setdefault(path.resolve(), _File(path, kind, _shown(path)))
    return list(found.values())


def _files_in(folder: Path, exclude: Sequence[str]) -> Iterator[Path]:
    for place, folders, names in os.walk(folder):
        here = Path(place)
        folders[:] = [
            name
            for name in folders
            if name not in _NEVER_READ
            and not name.startswith(".")
            and not _is_excluded(here / name, exclude)
        ]
        yield from (here / name for name in names if not _is_excluded(here / name, exclude))


def _is_excluded(path: Path, patterns: Sequence[str]) -> bool:
    """Whether a pattern matches the file or a folder that it is in."""
    shown = f"/{_shown(path)}/"
    return any(fnmatch(shown, f"*/{pattern.strip('/')}/*") for pattern in patterns)


def _shown(path: Path) -> str:
    """A path as it is shown: from the working folder if it is in there, with slashes."""
    here = Path.cwd()
    whole = Path(os.path.abspath(path))  # noqa: PTH100  # resolve() would follow links
    return (whole.relative_to(here) if whole.is_relative_to(here) else path).as_posix()


class Baseline:
    """Findings that are accepted: how often each sentence of a file may be found. The paths in the
    file are relative to its folder."""

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self._accepted: dict[str, Counter[str]] = {}
        if path is not None and path.exists():
            with system_errors(f"{path} cannot be read"):
                text = path.read_text(encoding="utf-8")
            try:
                accepted = json.loads(text)["accepted"]
                self._accepted = {str(name): Counter(own) for name, own in accepted.items()}
            except (ValueError, TypeError, KeyError, AttributeError) as error:
                raise InputError(
                    f"{path} is no baseline; write one with --update-baseline."
                ) from error

    def rest(self, file: _File, findings: Sequence[LintFinding]) -> list[LintFinding]:
        """The findings that are not accepted."""
        left = Counter(self._accepted.get(self._name(file), {}))
        kept = []
        for finding in findings:
            key = fingerprint("", finding.sentence)
            if left[key] > 0:
                left[key] -= 1
            else:
                kept.append(finding)
        return kept

    def update(self, found: Mapping[_File, Sequence[LintFinding]]) -> None:
        """Accept all findings in these files; what was accepted in others stays."""
        for file, findings in found.items():
            self._accepted.pop(self._name(file), None)
            if findings:
                keys = Counter(fingerprint("", each.sentence) for each in findings)
                self._accepted[self._name(file)] = keys
        accepted = {name: dict(sorted(own.items())) for name, own in sorted(self._accepted.items())}
        text = json.dumps({"version": 1, "accepted": accepted}, indent=1)
        if self._path is not None:
            write_whole(self._path, f"{text}\n".encode())

    def _name(self, file: _File) -> str:
        if self._path is None:
            return file.name
        return Path(os.path.relpath(file.path, self._path.parent)).as_posix()


@dataclass
class _Run:
    """What the files of a run contain. Files that have not changed are not read."""

    settings: LintSettings
    cache: LintCache
    jobs: int | None
    found: dict[_File, list[LintFinding]] = field(default_factory=dict)
    sources: dict[_File, Source] = field(default_factory=dict)
    verdicts: dict[str, LintVerdict | None] = field(default_factory=dict)
    problems: list[ParataxisError] = field(default_factory=list)

    def __call__(self, files: Sequence[_File], out: Output, *, read_all: bool = False) -> None:
        """Find the findings in the files."""
        for file in files:
            known = None if read_all or file.is_stream else self.cache.known_file(file.path)
            if known is not None:
                self.found[file] = known
                continue
            try:
                self.sources[file] = read_source(file.read(), file.form, file.name)
            except ParataxisError as error:
                self.problems.append(error)
        judge = load_judge(self.settings)
        texts = dict.fromkeys(
            each.text for source in self.sources.values() for each in source.sentences
        )
        wanted = [text for text in texts if judge.may_report(text)]
        self.verdicts |= self.cache.known_sentences(wanted)
        new = [text for text in wanted if text not in self.verdicts]
        for batch, verdicts in self._in_batches(new, judge, out):
            made = dict(zip(batch, verdicts, strict=True))
            self.verdicts |= made
            self.cache.add_sentences(made)
        for file, source in self.sources.items():
            verdicts = [self.verdicts.get(each.text) for each in source.sentences]
            self.found[file] = findings_of(source, verdicts)
            if not file.is_stream:
                self.cache.add_file(file.path, self.found[file])

    def _in_batches(
        self, texts: Sequence[str], work: Callable[[Sequence[str]], list[T]], out: Output
    ) -> Iterator[tuple[list[str], list[T]]]:
        """Work on sentences in processes: the long ones first, those of a length together."""
        ordered = sorted(texts, key=len, reverse=True)
        batches = [ordered[start : start + _BATCH] for start in range(0, len(ordered), _BATCH)]
        jobs = min(self.jobs or cores(), max(1, len(ordered) // _WORTH_A_PROCESS))
        with Progress(sum(map(len, ordered)), out) as progress:
            for batch, results in in_order(
                batches, work, sent=list, jobs=jobs, threads=1, prepare=lambda: work([WARM_UP])
            ):
                yield batch, results
                progress.advance(sum(map(len, batch)), len(batch))

    def fixed(self, out: Output) -> Iterator[tuple[_File, bytes, int]]:
        """The files that change if what the strict mode is sure of is written into them, and how
        many sentences do."""
        doubtful = {
            source.sentences[each.number].text
            for file, source in self.sources.items()
            for each in self.found[file]
            if not each.is_sure and source.is_written
        }
        strict = StrictRewriter(self.settings)
        sure = {
            text: rewrite
            for batch, rewrites in self._in_batches(list(doubtful), strict, out)
            for text, rewrite in zip(batch, rewrites, strict=True)
            if rewrite.is_split
        }
        for file, source in self.sources.items():
            rewrites = {}
            for each in self.found[file]:
                text = source.sentences[each.number].text
                found = each.rewrite if each.is_sure else sure.get(text)
                if found and (following := source.following(each.number)):
                    found = strict.in_text(found, following)
                if found and found.is_split:
                    rewrites[each.number] = found
            writable = source.writable(rewrites)
            rewrites = {number: each for number, each in rewrites.items() if number in writable}
            if rewrites:
                yield file, source.rewritten(rewrites), len(rewrites)


@documented
def lint(
    inputs: list[str],
    rules: RuleSetName = RuleSetName.PLAIN,
    max_words: OptionalCount = None,
    confidence: Annotated[float, typer.Option(min=0, max=1)] = 0.8,
    min_words: Count = MIN_WORDS,
    keep_phrases: Path | None = None,
    format_: LintOutput = LintOutput.TEXT,
    output: Path | None = None,
    fix: bool = False,
    diff: bool = False,
    baseline: Path | None = None,
    update_baseline: bool = False,
    exclude: list[str] | None = None,
    input_: LintFormat | None = None,
    jobs: OptionalCount = None,
    cache: Path = Path(FOLDER),
    no_cache: bool = False,
) -> None:
    """Report sentences that are hard to read, with a rewrite of each.

    A sentence is reported that has too many words, or that can be split so well that it has
    several ideas. Code, links, tables, quotations, front matter and headings are left out, and
    whatever is between comments with parataxis: off and parataxis: on.

    The exit code is 0 if there are no findings, 1 if there are some, 2 if something could not be
    read, and 70 if Parataxis has a bug.

    Options:
    FILES | FOLDERS | -: Files, folders, or - for standard input. Text, Markdown, HTML, Word,
        reStructuredText, AsciiDoc, and the comments and docstrings of Python.
    --rules, -r: The rule set. plain: at most 25 words and one idea. ste100: like ASD-STE100, with
        at most 20 words and one instruction in an instruction. wcag: also no nested clauses.
    --max-words, -w N: The most words of a sentence. Default: that of the rule set.
    --confidence X: A sentence that is not too long is reported if it can be split with at least
        this confidence, from 0 to 1.
    --min-words N: Report no sentence with fewer words, unless that is too long.
    --keep-phrases FILE: Terms that no rewrite may tear apart or change, one on each line.
    --format, -f: How findings are written: text to read, json, sarif, annotations for github,
        checkstyle, or codeclimate for GitLab.
    --output, -o FILE: Write the findings to this file, not to standard output.
    --fix: Write the rewrites that strict mode is sure of into the files: text, Markdown, HTML and
        Word. What is left is reported.
    --diff: Show what --fix would write, and write nothing.
    --baseline FILE: Do not report what this file accepts.
    --update-baseline: Accept all findings: write them to the baseline.
    --exclude PATTERN: Leave out files and folders that match, such as "CHANGELOG.md" or "*/old";
        can be repeated.
    --input, -i: The format of all inputs. Default: by the suffix; standard input is text.
    --jobs, -j N: How many processes to use. Default: one for each core if there is enough to do.
    --cache FOLDER: Where to keep what was found, so that the next run only reads what changed.
    --no-cache: Read everything, and keep nothing.
    """
    if update_baseline and baseline is None:
        raise InputError("--update-baseline needs the file that it writes; add --baseline FILE.")
    if fix and (diff or update_baseline):
        raise InputError("--fix cannot be combined with --diff or --update-baseline.")
    files = find_files(inputs, exclude or [], input_)
    kept = SplitSettings.given(keep_phrases=keep_phrases or ()).keep_phrases
    settings = LintSettings(rules, max_words, confidence, min_words, kept)
    accepted = Baseline(baseline)
    run = _Run(settings, LintCache(None if no_cache else cache, settings), jobs)
    with open_output(output) as out:
        run(files, out, read_all=fix or diff)
        if update_baseline:
            accepted.update(run.found)
            warn(f"{baseline} accepts {counted(sum(map(len, run.found.values())), 'finding')}.")
        run.found = {file: accepted.rest(file, own) for file, own in run.found.items()}
        if fix:
            _fix(run, out)
            run.found = {file: accepted.rest(file, own) for file, own in run.found.items()}
        found = [Located(file.name, each) for file in files for each in run.found.get(file, ())]
        if diff:
            for file, data, _ in run.fixed(out):
                out.write(_diff(file, run.sources[file], read_source(data, file.form, file.name)))
        else:
            out.write(written(found, len(run.found), format_))
    run.cache.close()
    for problem in run.problems:
        warn(str(problem))
    if run.problems or found:
        raise typer.Exit(BAD_INPUT if run.problems else FINDINGS)


def _fix(run: _Run, out: Output) -> None:
    """Write what is sure into the files, each of them whole or not at all, and look again at those
    that changed."""
    changed, count = [], 0
    for file, data, sentences in run.fixed(out):
        if file.is_stream:
            raise InputError("Standard input cannot be changed; see what would with --diff.")
        write_whole(file.path, data)
        changed.append(file)
        count += sentences
    if changed:
        run.sources.clear()
        run(changed, out)
        warn(f"Rewrote {counted(count, 'sentence')} in {counted(len(changed), 'file')}.")


def _diff(file: _File, old: Source, new: Source) -> str:
    lines = difflib.unified_diff(old.lines, new.lines, f"a/{file.name}", f"b/{file.name}")
    return "".join(
        line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines
    )
