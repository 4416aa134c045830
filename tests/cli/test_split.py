"""``parataxis split``: formats, kinds of input, strictness, order, interruption."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from parataxis.rewrite.jsonl import read_rewrites

Run = Callable[..., Any]

LETTER = """\
# A letter

1. Ann came; Bob left.
2. It rained.

> Tom sang all day; Eve slept
> in the old barn.\tAll danced.
"""
SPLIT_LETTER = """\
# A letter

1. Ann came. Bob left.
2. It rained.

> Tom sang all day. Eve slept
> in the old barn.\tAll danced.
"""


@pytest.fixture
def letter(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    path = Path("letter.md")
    path.write_text(LETTER, encoding="utf-8")
    return path


def write(name: str, text: str) -> str:
    Path(name).write_text(text, encoding="utf-8", newline="")
    return name


def split(run: Run, *arguments: object, stdin: str | bytes = b"") -> str:
    done = run("split", "--splitter", "semicolon", *arguments, stdin=stdin)
    assert (done.code, done.err) == (0, "")
    return str(done.out)


def test_split_a_text(run: Run) -> None:
    assert split(run, "Ann came; Bob left. It rained.") == "Ann came. Bob left. It rained.\n"


def test_split_a_document_changes_nothing_else(run: Run, letter: Path) -> None:
    assert split(run, letter) == SPLIT_LETTER


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
@pytest.mark.parametrize("stop", ["", "\n"])
def test_split_keeps_line_ends_and_byte_order_marks(
    run: Run, letter: Path, end: str, mark: str, stop: str
) -> None:
    before, after = (
        mark + (text.strip() + stop).replace("\n", end) for text in (LETTER, SPLIT_LETTER)
    )
    name = write("other.md", before)
    split(run, name, "-o", "out.md")
    assert Path("out.md").read_bytes().decode() == after
    assert split(run, "-", stdin=before) == after


def test_split_several_files_and_standard_input(run: Run, letter: Path) -> None:
    assert split(run, letter, "-", stdin="Ann came; Bob left.") == (
        SPLIT_LETTER + "Ann came. Bob left."
    )


def test_split_reads_what_is_piped_in(run: Run) -> None:
    assert split(run, stdin="Ann came; Bob left.\n") == "Ann came. Bob left.\n"


def test_split_as_jsonl(run: Run, letter: Path) -> None:
    lines = split(run, letter, "-f", "jsonl").splitlines()
    rewrites = list(read_rewrites(lines, "out"))
    assert [(rewrite.id, rewrite.simple) for rewrite in rewrites] == [
        ("letter.md:1:3", ("A letter",)),
        ("letter.md:3:4", ("Ann came.", "Bob left.")),
        ("letter.md:4:4", ("It rained.",)),
        ("letter.md:6:3", ("Tom sang all day.", "Eve slept in the old barn.")),
        ("letter.md:7:20", ("All danced.",)),
    ]
    assert {rewrite.splitter for rewrite in rewrites} == {"semicolon"}


def test_split_as_json_is_one_array_of_the_same_records(run: Run, letter: Path) -> None:
    lines = split(run, letter, "-f", "jsonl").splitlines()
    assert json.loads(split(run, letter, "-f", "json")) == [json.loads(line) for line in lines]


def test_split_as_diff(run: Run, letter: Path) -> None:
    assert split(run, letter, "-f", "diff") == (
        "  A letter\n"
        "@@ letter.md:3:4 @@\n- Ann came; Bob left.\n+ Ann came.\n+ Bob left.\n"
        "  It rained.\n"
        "@@ letter.md:6:3 @@\n- Tom sang all day; Eve slept in the old barn.\n"
        "+ Tom sang all day.\n+ Eve slept in the old barn.\n"
        "  All danced.\n"
    )


def test_split_as_diff_in_colour(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert "\x1b[" in run("split", "-s", "semicolon", "-f", "diff", "Ann came; Bob left.").out
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b[" not in run("split", "-s", "semicolon", "-f", "diff", "Ann came; Bob left.").out


def test_split_as_html_is_a_whole_page(run: Run, letter: Path) -> None:
    html = split(run, letter, "-f", "html")
    assert html.startswith("<!doctype html>")
    assert html.endswith("</html>\n")
    assert "<title>letter.md</title>" in html
    assert html.count("<article") == 5


def test_split_explains(run: Run) -> None:
    shown = split(run, "--explain", "The mill, which was built in 1850, burned down; she left.")
    source, pattern = shown.splitlines()[1:3]
    assert source == "  The mill, which was built in 1850, burned down; she left."
    assert pattern.startswith("    rc    relative clause: which was built")
    assert "  → The mill, which was built in 1850, burned down.\n  → She left.\n" in shown


def test_split_explains_in_json(run: Run) -> None:
    (record,) = json.loads(
        split(
            run,
            "--explain",
            "-f",
            "json",
            "The mill, which was built in 1850, burned down; she left.",
        )
    )
    assert record["findings"] == []
    assert [found["pattern"] for found in record["patterns"]][:1] == ["rc"]


def test_split_strict_leaves_a_faulty_rewrite(run: Run) -> None:
    source = "Ann did not sing."
    assert run("split", "-s", "forgetful", source).out == "Ann did sing.\n"
    assert run("split", "-s", "forgetful", source, "--strict").out == f"{source}\n"
    (record,) = json.loads(run("split", "-s", "forgetful", source, "--strict", "-f", "json").out)
    assert (record["simple"], record["splitter"], record["findings"]) == ([source], "forgetful", [])
    assert record["note"] == (
        "Left whole because the checks fault the rewrite: the negation 'not' is missing."
    )


def test_split_refuses_a_beam_where_there_is_none(run: Run) -> None:
    result = run("split", "-s", "semicolon", "Ann came; Bob left.", "--beam", "2")
    assert (result.code, result.out) == (2, "")
    assert 'The splitter "semicolon" follows no beam' in result.err


@pytest.mark.parametrize("beam", ["0", "9", "many"])
def test_split_refuses_a_wrong_beam(run: Run, beam: str) -> None:
    result = run("split", "Ann came; Bob left.", "--beam", beam)
    assert (result.code, result.out) == (2, "")
    assert "--beam" in result.err


LEASE = "If the tenant fails to pay, the landlord may end the lease and keep the deposit."


def test_split_at_a_level(run: Run) -> None:
    assert run("split", "--level", "light", LEASE).out == f"{LEASE}\n"
    assert run("split", "--level", "atomic", LEASE).out == (
        "If the tenant fails to pay, the landlord may end the lease. "
        "If the tenant fails to pay, the landlord may keep the deposit.\n"
    )


def test_split_counts_what_is_still_too_long(run: Run, letter: Path) -> None:
    letter.write_text(f"{LEASE}\n\nIt rained.\n", encoding="utf-8")
    done = run("split", "--max-words", "10", "letter.md", "--input", "text")
    assert done.out.count("If the tenant fails to pay") == 2
    assert "Still over 10 words: 2 sentences." in done.err
    done = run("split", "--max-words", "10", "letter.md", "-o", "out.jsonl")
    assert "Still over 10 words: 2 sentences." in done.err
    with Path("out.jsonl").open(encoding="utf-8") as lines:
        first, second = read_rewrites(lines, "out.jsonl")
    assert first.note == "Still over the limit of 10 words: sentence 1 (12), sentence 2 (12)."
    assert second.note is None
    done = run("split", "--max-words", "10", "letter.md", "-o", "out.md")
    assert "Still over 10 words: 2 sentences." in done.err
    assert "Still" not in run("split", "--max-words", "12", "letter.md").err


def test_split_refuses_a_level_where_there_is_none(run: Run) -> None:
    done = run("split", "-s", "rules", "--level", "atomic", LEASE)
    assert (done.code, done.out) == (2, "")
    assert 'The splitter "rules" has no levels; leave the level out or choose' in done.err


def test_split_lines_stay_aligned(run: Run, letter: Path) -> None:
    text = "Ann came; Bob left.\n\n  Mr. Hill sang. Eve slept.\r\nOne; two"
    name = write("lines.txt", text)
    expected = "Ann came. Bob left.\n\n  Mr. Hill sang. Eve slept.\r\nOne. Two."
    assert split(run, name, "--input", "lines") == expected
    records = split(run, name, "--input", "lines", "-f", "jsonl").splitlines()
    assert [json.loads(record)["id"] for record in records] == [
        "lines.txt:1",
        "lines.txt:3",
        "lines.txt:4",
    ]


def test_split_tsv_reads_the_first_column(run: Run, letter: Path) -> None:
    name = write(
        "wiki.tsv",
        "complex\tsimple\n"
        "Ann came; Bob left.\tAnn came.\n"
        "Ann came; Bob left.\tBob left.\n"
        '"He said ""no""; she left."\tx\n'
        '"No," he said.\tx\n',
    )
    assert split(run, name) == ('Ann came. Bob left.\nHe said "no". She left.\n"No," he said.\n')


def test_split_jsonl_reads_sources_and_keeps_ids(run: Run, letter: Path) -> None:
    name = write(
        "in.jsonl",
        '{"complex": "Ann came; Bob left.", "simple": ["x"], "id": "a1"}\n\n'
        '{"source": "It rained."}\n',
    )
    records = [json.loads(line) for line in split(run, name, "-f", "jsonl").splitlines()]
    assert [(record["id"], record["simple"]) for record in records] == [
        ("a1", ["Ann came.", "Bob left."]),
        ("in.jsonl:3", ["It rained."]),
    ]
    assert split(run, name) == "Ann came. Bob left.\nIt rained.\n"


def test_split_output_pipes_into_split(run: Run, letter: Path) -> None:
    first = split(run, letter, "-f", "jsonl")
    assert split(run, "-", "--input", "jsonl", "-f", "jsonl", stdin=first) == first


def test_split_leaves_a_sentence_that_is_too_long(run: Run) -> None:
    long = "Ann came; " + "and then " * 30 + "Bob left."
    (record, short) = json.loads(split(run, f"{long} One; two.", "-f", "json"))
    assert (record["simple"], record["note"]) == ([long], "The sentence is too long.")
    assert short["simple"] == ["One.", "Two."]


def test_split_copies_a_document_without_sentences(run: Run, letter: Path) -> None:
    name = write("rule.md", "-----\n\n```\nx = 1; y = 2\n```\n")
    assert split(run, name) == "-----\n\n```\nx = 1; y = 2\n```\n"
    assert json.loads(split(run, name, "-f", "json")) == []


def test_split_many_blocks_come_in_order(run: Run, letter: Path) -> None:
    text = "".join(f"Ann ate {n} plums; Bob left.\n\n" for n in range(100))
    assert split(run, write("many.txt", text)) == text.replace("; Bob", ". Bob")


BAD_INPUT = {
    "missing": (["missing.txt"], "There is no file missing.txt."),
    "folder": (["nothing"], "nothing is a folder without data files."),
    "binary": (["binary.bin"], "binary.bin is a binary file, not text."),
    "empty file": (["empty.txt"], "empty.txt is empty."),
    "empty text": ([""], "The text is empty; give at least one sentence."),
    "blank text": ([" \n"], "The text is empty; give at least one sentence."),
    "empty input": (["-"], "stdin is empty."),
    "second file": (["letter.md", "empty.txt"], "empty.txt is empty."),
    "not JSON": (
        ["bad.jsonl", "--on-error", "stop"],
        "bad.jsonl, line 2: this is not a line of JSON.",
    ),
    "surrogate": (
        ["half.jsonl", "--on-error", "stop"],
        "half.jsonl, line 1: the record has a lone surrogate",
    ),
    "splitter": (["letter.md", "-s", "rulse"], 'There is no splitter "rulse"; installed: '),
    "format": (["letter.md", "-f", "xml"], "Invalid value for '--format'"),
    "option": (["letter.md", "--fast"], "No such option: --fast"),
    "jobs": (["letter.md", "-j", "0"], "Invalid value for '--jobs'"),
    "itself": (
        ["letter.md", "-o", "letter.md"],
        "letter.md is also an input; write the output to another file.",
    ),
    "unwritable": (["letter.md", "-o", "no/out.txt"], "no/out.txt cannot be written: "),
}


@pytest.mark.parametrize(("arguments", "message"), BAD_INPUT.values(), ids=BAD_INPUT)
@pytest.mark.parametrize("output", [(), ("-o", "out.txt")], ids=["stdout", "file"])
def test_split_answers_bad_input_in_one_sentence(
    run: Run, letter: Path, arguments: list[str], message: str, output: tuple[str, ...]
) -> None:
    Path("binary.bin").write_bytes(b"\x89PNG\0\0")
    Path("nothing").mkdir()
    write("empty.txt", "")
    write("bad.jsonl", '{"source": "Ann came; Bob left."}\n{\n')
    write("half.jsonl", r'{"source": "Ann came\ud800; Bob left."}')
    done = run("split", *output, *arguments)
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith(f"parataxis: {message}")
    assert done.err.count("\n") == 1
    assert not Path("out.txt").exists()
    assert letter.read_text(encoding="utf-8") == LETTER


def test_split_of_a_text_keeps_the_next_sentence_clear(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    castle = (
        "The Castle of Orveld stands above the River Minn and was begun around 1190 by Count "
        "Ruprecht, whose widow completed the western tower."
    )
    clear = (
        "The Castle of Orveld stands above the River Minn. It was begun around 1190 by Count "
        "Ruprecht, whose widow completed the western tower."
    )
    text, after = f"{castle} It passed to the bishops.", "It passed to the bishops."
    assert run("split", text).out == f"{clear} {after}\n"
    assert run("split", write("a.txt", text)).out.rstrip("\n") == f"{clear} {after}"
    assert run("split", write("a.md", text)).out.rstrip("\n") == f"{clear} {after}"
    assert run("split", "a.md", "-o", "c.md").code == 0
    assert Path("c.md").read_text(encoding="utf-8") == f"{clear} {after}"
    # Neither the next paragraph nor a line of its own goes on with the text.
    write("d.txt", f"{castle}\n\n{after}\n")
    assert "Count Ruprecht. His widow completed the western tower." in run("split", "d.txt").out
    lines = run("split", "--input", "lines", write("b.txt", f"{castle}\n{after}\n")).out
    assert "Count Ruprecht. His widow completed the western tower." in lines
