"""``parataxis lint`` as a command: files, exit codes, fixes, baseline, cache and settings.

Most tests use a judge without models, which reports the sentences that have a semicolon.
"""

import json
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import docx
import pytest

from parataxis.lint import commands
from parataxis.lint.cache import FOLDER, LintCache
from parataxis.lint.rules import LintSettings, LintVerdict, Reason
from parataxis.rewrite.align import align
from parataxis.rewrite.record import Rewrite

Run = Callable[..., Any]

BAD, GOOD = "Ann came; Bob left.", "Ann came. Bob left."
DOUBTFUL = "Perhaps Ann came; perhaps Bob left."
UNFIXED = "Not Ann came; not Bob left."


def rewritten(sentence: str, confidence: float) -> Rewrite:
    halves = [half.strip().rstrip(".") for half in sentence.split(";")]
    simple = tuple(f"{half[:1].upper()}{half[1:]}." for half in halves)
    return Rewrite(
        source=sentence,
        simple=simple,
        splitter="semicolon",
        provenance=align(sentence, simple),
        findings=(),
        confidence=confidence,
    )


class SemicolonJudge:
    """Reports sentences with a semicolon; it is not sure of those with "perhaps" or "not"."""

    asked: list[str]

    def __init__(self, settings: LintSettings) -> None:
        self.settings = settings

    def may_report(self, sentence: str) -> bool:
        return bool(sentence)

    def __call__(self, sentences: Sequence[str]) -> list[LintVerdict | None]:
        self.asked.extend(sentences)
        return [self._verdict(sentence) for sentence in sentences]

    def _verdict(self, sentence: str) -> LintVerdict | None:
        if ";" not in sentence:
            return None
        confidence = 0.6 if sentence.startswith(("Perhaps", "Not")) else 0.95
        limit = self.settings.max_words or 25
        return LintVerdict((Reason.SEVERAL_IDEAS,), 4, limit, rewritten(sentence, confidence))


class StrictSemicolon:
    """In strict mode, a sentence with "perhaps" is split, but not one with "not"."""

    def __init__(self, settings: LintSettings) -> None:
        self.settings = settings

    def __call__(self, sentences: Sequence[str]) -> list[Rewrite]:
        return [
            Rewrite(source=each, simple=(each,), splitter="semicolon")
            if each.startswith("Not")
            else rewritten(each, 0.9)
            for each in sentences
        ]

    def in_text(self, rewrite: Rewrite, following: str) -> Rewrite:
        """A sentence before "They" stays whole."""
        simple = (rewrite.source,) if following.startswith("They") else rewrite.simple
        return Rewrite(source=rewrite.source, simple=simple, splitter="semicolon")


@pytest.fixture(autouse=True)
def asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What the judge was asked, in an empty folder."""
    monkeypatch.chdir(tmp_path)
    SemicolonJudge.asked = []
    monkeypatch.setattr(commands, "load_judge", SemicolonJudge)
    monkeypatch.setattr(commands, "StrictRewriter", StrictSemicolon)
    return SemicolonJudge.asked


def write(name: str, text: str) -> Path:
    path = Path(name)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode())
    return path


def test_lint_reports_findings_in_files_and_folders(run: Run) -> None:
    write("docs/a.md", f"# Head\n\nIt rained. {BAD}\n")
    write("docs/deep/b.rst", f"{BAD}\n")
    write("docs/.hidden/c.md", f"{BAD}\n")
    write("docs/node_modules/d.md", f"{BAD}\n")
    write("docs/e.pdf", f"{BAD}\n")
    done = run("lint", "docs")
    assert done.code == 1
    assert done.out == (
        "docs/a.md:3:12: Several ideas in one sentence.\n"
        f"    {BAD}\n"
        f"  → {GOOD} (confidence 0.95)\n"
        "docs/deep/b.rst:1:1: Several ideas in one sentence.\n"
        f"    {BAD}\n"
        f"  → {GOOD} (confidence 0.95)\n"
        "2 findings in 2 of 2 files; --fix can rewrite 1 of them.\n"
    )
    assert done.err == ""


def test_lint_exits_with_0_if_there_are_no_findings(run: Run) -> None:
    write("a.txt", GOOD)
    assert run("lint", "a.txt") == (0, "1 file, no findings.\n", "")


def test_lint_reads_standard_input(run: Run) -> None:
    assert run("lint", "-", stdin=BAD).out.startswith("standard input:1:1: ")
    assert run("lint", "-", "--input", "python", stdin=f"x = 1  # {BAD}").out.startswith(
        "standard input:1:10: "
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nothing.md"], "There is no file nothing.md."),
        (["a.pdf"], "a.pdf is of no known format; name it with --input, or give files that end"),
        (["a.md", "--rules", "odd"], "Invalid value for '--rules'"),
        (["a.md", "--update-baseline"], "--update-baseline needs the file that it writes"),
        (["a.md", "--fix", "--diff"], "--fix cannot be combined with --diff"),
        (["a.md", "--baseline", "a.md"], "a.md is no baseline; write one with --update-baseline."),
        (["bad.md"], "bad.md: byte 1 is not UTF-8"),
    ],
)
def test_lint_exits_with_2_for_bad_input(run: Run, arguments: Sequence[str], message: str) -> None:
    write("a.md", BAD)
    write("a.pdf", BAD)
    Path("bad.md").write_bytes(b"\xff\xfe")
    done = run("lint", *arguments)
    assert done.code == 2
    assert done.err.startswith(f"parataxis: {message}")
    assert done.err.count("\n") == 1


def test_lint_reports_the_rest_if_a_file_cannot_be_read(run: Run) -> None:
    Path("bad.md").write_bytes(b"\xff\xfe")
    write("good.md", BAD)
    done = run("lint", ".")
    assert done.code == 2
    assert done.out.startswith("good.md:1:1: ")
    assert "1 finding in 1 of 1 file" in done.out
    assert done.err.startswith("parataxis: bad.md: byte 1 is not UTF-8")


def test_lint_exits_with_70_for_a_bug(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise KeyError("lost key")

    write("a.md", BAD)
    monkeypatch.setattr(commands, "load_judge", fail)
    done = run("lint", "a.md")
    assert done.code == 70
    assert done.err.startswith("parataxis: This is a bug (KeyError: 'lost key')")


def test_lint_excludes_by_pattern(run: Run) -> None:
    for name in ("a.md", "CHANGELOG.md", "old/b.md", "deep/old/c.md"):
        write(name, BAD)
    done = run("lint", ".", "--exclude", "CHANGELOG.md", "--exclude", "old/")
    assert [line for line in done.out.splitlines() if ".md:" in line] == [
        "a.md:1:1: Several ideas in one sentence."
    ]
    named = run("lint", "deep/old/c.md", "--exclude", "old")  # as pre-commit names files
    assert named.out == "0 files, no findings.\n"


def test_lint_writes_findings_to_a_file(run: Run) -> None:
    write("a.md", BAD)
    assert run("lint", "a.md", "--format", "json", "-o", "found.json").out == ""
    assert json.loads(Path("found.json").read_text())["findings"][0]["path"] == "a.md"


def test_diff_shows_what_fix_would_write(run: Run) -> None:
    write("a.md", f"# Head\n\nIt rained. **{BAD}**\n")
    write("b.rst", BAD)
    done = run("lint", ".", "--diff")
    assert done.code == 1
    assert done.out.splitlines() == [
        "--- a/a.md",
        "+++ b/a.md",
        "@@ -1,3 +1,3 @@",
        " # Head",
        " ",
        f"-It rained. **{BAD}**",
        f"+It rained. **{GOOD}**",
    ]
    assert BAD in Path("a.md").read_text()


def test_fix_writes_what_is_sure_and_reports_the_rest(run: Run) -> None:
    write("a.md", f"**Ann** came; Bob left. {DOUBTFUL} {UNFIXED}\r\n")
    write("b.html", f"<p>{BAD}</p>")
    write("c.txt", f"\ufeff{BAD}\n")
    write("d.rst", BAD)
    write("e.py", f"# {BAD}\n")
    document = docx.Document()
    document.add_paragraph(BAD)
    document.save("f.docx")
    done = run("lint", ".", "--fix")
    assert Path("a.md").read_bytes().decode() == (
        f"**Ann** came. Bob left. Perhaps Ann came. Perhaps Bob left. {UNFIXED}\r\n"
    )
    assert Path("b.html").read_text() == f"<p>{GOOD}</p>"
    assert Path("c.txt").read_text() == f"\ufeff{GOOD}\n"
    assert Path("d.rst").read_text() == BAD
    assert Path("e.py").read_text() == f"# {BAD}\n"
    assert [each.text for each in docx.Document("f.docx").paragraphs] == [GOOD]
    assert done.code == 1
    assert [line for line in done.out.splitlines() if ": " in line] == [
        "a.md:1:61: Several ideas in one sentence.",
        "d.rst:1:1: Several ideas in one sentence.",
        "e.py:1:3: Several ideas in one sentence.",
    ]
    assert done.err == "parataxis: Rewrote 5 sentences in 4 files.\n"
    again = run("lint", ".", "--fix")
    assert (again.code, again.err) == (1, "")


def test_fix_keeps_the_next_sentence_clear(run: Run) -> None:
    write("a.md", f"{BAD} They came back. {BAD} It rained. {BAD}\n\nThey slept.")
    write("b.txt", f"{BAD}\r\nThey came back.")
    assert "Rewrote 2 sentences in 1 file" in run("lint", ".", "--fix").err
    fixed = f"{BAD} They came back. {GOOD} It rained. {GOOD}\n\nThey slept."
    assert Path("a.md").read_text() == fixed


def test_fix_exits_with_0_if_nothing_is_left(run: Run) -> None:
    write("a.md", BAD)
    assert run("lint", "a.md", "--fix").code == 0
    assert Path("a.md").read_text() == GOOD


def test_fix_leaves_code_and_what_is_switched_off(run: Run) -> None:
    text = f"<!-- parataxis: off -->\n{BAD}\n\n<!-- parataxis: on -->\n\n    {BAD}\n\n> {BAD}\n"
    write("a.md", text)
    assert run("lint", "a.md", "--fix") == (0, "1 file, no findings.\n", "")
    assert Path("a.md").read_text() == text


def test_baseline_accepts_what_is_there(run: Run) -> None:
    write("docs/a.md", f"{BAD} {DOUBTFUL}\n")
    done = run("lint", "docs", "--baseline", "docs/base.json", "--update-baseline")
    assert (done.code, done.err) == (0, "parataxis: docs/base.json accepts 2 findings.\n")
    assert run("lint", "docs", "--baseline", "docs/base.json").code == 0
    write("docs/a.md", f"New; line.\n\n{BAD} {BAD}\n")
    done = run("lint", "docs", "--baseline", "docs/base.json")
    assert done.code == 1
    assert [line for line in done.out.splitlines() if ": " in line] == [
        "docs/a.md:1:1: Several ideas in one sentence.",
        "docs/a.md:3:21: Several ideas in one sentence.",
    ]


def test_baseline_is_not_fixed(run: Run) -> None:
    write("a.md", BAD)
    run("lint", "a.md", "--baseline", "base.json", "--update-baseline")
    assert run("lint", "a.md", "--baseline", "base.json", "--fix").code == 0
    assert Path("a.md").read_text() == BAD


def test_update_of_a_baseline_keeps_other_files(run: Run) -> None:
    write("a.md", BAD)
    write("b.md", BAD)
    run("lint", "a.md", "b.md", "--baseline", "base.json", "--update-baseline")
    write("a.md", GOOD)
    run("lint", "a.md", "--baseline", "base.json", "--update-baseline")
    assert list(json.loads(Path("base.json").read_text())["accepted"]) == ["b.md"]


def test_a_second_run_reads_only_what_changed(
    run: Run, asked: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    write("a.md", f"{BAD} It rained.\n")
    write("b.md", f"{DOUBTFUL}\n")
    first = run("lint", ".")
    assert sorted(asked) == sorted([BAD, "It rained.", DOUBTFUL])
    asked.clear()
    read: list[str] = []
    real = commands.read_source

    def reading(data: bytes, form: Any, name: str) -> Any:
        read.append(name)
        return real(data, form, name)

    monkeypatch.setattr(commands, "read_source", reading)
    assert run("lint", ".") == first
    assert (asked, read) == ([], [])
    write("a.md", f"{BAD} It rained. It snowed.\n")
    assert run("lint", ".").out == first.out
    assert (asked, read) == (["It snowed."], ["a.md"])


def test_the_cache_knows_settings_and_can_be_left_out(run: Run, asked: list[str]) -> None:
    write("a.md", BAD)
    run("lint", "a.md", "--no-cache")
    assert not Path(FOLDER).exists()
    run("lint", "a.md")
    assert (Path(FOLDER) / ".gitignore").read_text() == "*\n"
    asked.clear()
    run("lint", "a.md", "--max-words", "3")
    assert asked == [BAD]


def test_a_damaged_cache_is_made_again(run: Run) -> None:
    write("a.md", BAD)
    first = run("lint", "a.md")
    for path in Path(FOLDER).glob("*.sqlite"):
        path.write_bytes(b"no database" * 100)
    assert run("lint", "a.md") == first
    assert LintCache(Path(FOLDER), LintSettings()).known_file(Path("a.md"))


def test_a_cache_that_cannot_be_written_is_done_without(run: Run) -> None:
    write("a.md", BAD)
    write("file", "")
    assert run("lint", "a.md", "--cache", "file").code == 1


def test_settings_come_from_pyproject(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    write("pyproject.toml", '[tool.parataxis.lint]\nexclude = ["old"]\nformat = "json"\n')
    write("docs/a.md", BAD)
    write("docs/old/b.md", BAD)
    monkeypatch.chdir("docs")
    assert [each["path"] for each in json.loads(run("lint", ".").out)["findings"]] == ["a.md"]
    assert run("lint", ".", "--format", "text").out.startswith("a.md:1:1: ")


def test_settings_in_their_own_file_come_first(run: Run) -> None:
    write("pyproject.toml", '[tool.parataxis.lint]\nformat = "json"\n')
    write(".parataxis.toml", '[lint]\nformat = "github"\nbaseline = "base.json"\n')
    write("a.md", BAD)
    assert run("lint", "a.md").out.startswith("::warning ")
    run("lint", "a.md", "--update-baseline")
    assert Path("base.json").exists()
    assert run("lint", "a.md").code == 0


def test_settings_of_split_come_from_the_same_file(run: Run) -> None:
    write(".parataxis.toml", '[split]\nsplitter = "semicolon"\n')
    assert run("split", BAD).out == f"{GOOD}\n"
    assert run("split", BAD, "--splitter", "source").out == f"{BAD}\n"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[lint", "{path} is not TOML: "),
        ("[lnit]", '{path}: "lnit" is no table of settings; there are: lint, split.'),
        ("[lint]\nmax-wrods = 3", '{path}: "lint" has no setting "max-wrods"; it has: baseline, '),
        ("[lint]\nfix = true", '{path}: "lint" has no setting "fix"; it has: baseline, '),
        ('[lint]\nmax-words = "many"', "{path}: Invalid value for '--max-words'"),
    ],
)
def test_settings_that_are_wrong_are_named(run: Run, text: str, message: str) -> None:
    path = write(".parataxis.toml", text).resolve()
    write("a.md", BAD)
    done = run("lint", "a.md")
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith(f"parataxis: {message.format(path=path)}")
    assert done.err.count("\n") == 1


def test_settings_are_looked_for_up_to_the_repository(run: Run) -> None:
    write(".parataxis.toml", '[lint]\nformat = "github"\n')
    Path("inner/.git").mkdir(parents=True)
    write("inner/a.md", BAD)
    os.chdir("inner")  # the fixture restores the folder
    assert run("lint", "a.md").out.startswith("a.md:1:1: ")
