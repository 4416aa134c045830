"""Corpora named in a word."""

from pathlib import Path

import pytest

from parataxis.errors import InputError, ParataxisError
from parataxis.evaluate.corpora.registry import (
    FORMATS,
    Corpus,
    guess_format,
    parse_corpus,
)


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (["rewrites/dev.jsonl"], "jsonl"),
        (["rewrites/dev.jsonl.gz"], "jsonl"),
        (["wikisplit/tune.tsv"], "wikisplit"),
        (["wiki-split/test.tsv"], "wikisplit"),
        (["benchmarks/wiki-benchmark.tsv"], "wiki-bm"),
        (["contract-benchmark.tsv"], "cont-bm"),
        (["data.tsv"], None),
        (["test.src", "test.dst"], "bisect"),
        (["test.dst", "test.src"], None),
        (["MinWiki/matchvp_train.complex", "MinWiki/matchvp_train.simple"], "minwiki"),
        (["desse/test.complex", "desse/test.simple"], "desse"),
        (["train.complex", "train.simple"], None),
        (["hsplit/source.txt", "hsplit/ref1.txt", "hsplit/ref2.txt"], "hsplit"),
        (["source.txt", "ref1.txt"], None),
        (["sentences.txt.gz"], "parallel"),
        (["-"], None),
    ],
)
def test_choose_guesses_only_what_names_tell(names: list[str], expected: str | None) -> None:
    assert guess_format([Path(name) for name in names]) == expected


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("minwiki:a.c,a.s", Corpus("minwiki", (Path("a.c"), Path("a.s")))),
        ("wiki-bm:-", Corpus("wiki-bm", (Path("-"),))),
        ("b/a.jsonl", Corpus("jsonl", (Path("b/a.jsonl"),))),
    ],
)
def test_choose_parses_format_and_files(word: str, expected: Corpus) -> None:
    assert parse_corpus(word) == expected


def test_choose_takes_a_name_that_exists_as_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a,b.jsonl").touch()
    assert parse_corpus("a,b.jsonl").paths == (Path("a,b.jsonl"),)


def test_choose_asks_for_a_format_where_names_do_not_tell() -> None:
    with pytest.raises(InputError, match=r"write FORMAT:a\.tsv"):
        parse_corpus("a.tsv")


def test_choose_knows_the_installed_formats_only() -> None:
    with pytest.raises(ParataxisError, match='did you mean "wikisplit"'):
        parse_corpus("wikisplt:a.tsv")


@pytest.mark.parametrize(
    ("path", "label"),
    [("data/bisect/test.src", "bisect/test"), ("a.tsv.gz", "a"), ("-", "stdin")],
)
def test_choose_labels_are_short(path: str, label: str) -> None:
    assert Corpus("any", (Path(path),)).label == label


def test_registry_formats_name_themselves() -> None:
    for name in FORMATS.names():
        assert FORMATS.load(name).name == name
    assert all(each.summary and each.problem is None for each in FORMATS.available())
