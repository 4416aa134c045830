"""The released files of WebSplit: read, written, and what is wrong in them."""

import json
import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from parataxis.errors import InputError
from parataxis.evaluate.corpora.example import Example, Triple
from parataxis.evaluate.corpora.registry import FORMATS as REGISTERED
from parataxis.evaluate.corpora.registry import parse_corpus
from parataxis.evaluate.corpora.webnlg import read_webnlg
from parataxis.evaluate.corpora.websplit import (
    TEXT_FILE,
    WebSplit,
    WebSplit01,
    WebSplit10,
    benchmark_format,
    read_parts,
    write_parts,
)
from parataxis.lab.websplit import build, verbalisations
from parataxis.text.files import Malformed, ReadReport

BUILT = Triple("Vell_Tower", "architect", "Ada_Vell")
BORN = Triple("Ada_Vell", "birthPlace", "Morrow")
BOTH = frozenset({BUILT, BORN})

EXAMPLE = Example(
    source="Ada Vell , born in Morrow , designed Vell Tower .",
    references=(
        ("Ada Vell designed Vell Tower .", "Ada Vell was born in Morrow ."),
        ("Ada Vell is from Morrow .", "She designed Vell Tower ."),
    ),
    id="COMPLEX-7",
    triples=BOTH,
    reference_triples=((frozenset({BUILT}), frozenset({BORN})), (BOTH, BOTH)),
)

TEXT = """\
COMPLEX-7
Ada Vell , born in Morrow , designed Vell Tower .

COMPLEX-7:MR-1
category=Unknown eid=Id1 size=2

COMPLEX-7:MR-1:SIMPLE-1
Ada Vell designed Vell Tower .
Ada Vell was born in Morrow .

COMPLEX-7:MR-1:SIMPLE-1:SPTYPE-1-1:MR-1
category=Unknown eid=Id2 size=1
Ada Vell designed Vell Tower .
category=Unknown eid=Id3 size=1
Ada Vell was born in Morrow .

COMPLEX-7:MR-1:SIMPLE-2
Ada Vell is from Morrow .
She designed Vell Tower .

COMPLEX-7:MR-1:SIMPLE-2:SPTYPE-NONE:MR-1
category=Unknown eid=Id1 size=2
Ada Vell is from Morrow .
She designed Vell Tower .

"""

FORMATS = [WebSplit01(), WebSplit10()]


def read(form: WebSplit, *paths: Path) -> tuple[list[Example], list[str]]:
    told: list[Malformed] = []
    report = ReadReport(tell=told.append)
    return list(form.read(paths, report)), [f"{each.line}: {each.reason}" for each in told]


@pytest.mark.parametrize("form", FORMATS)
def test_benchmark_is_registered(form: WebSplit) -> None:
    assert type(REGISTERED.load(form.name)) is type(form)


@pytest.mark.parametrize("form", FORMATS)
def test_benchmark_writes_the_released_layout_and_reads_it(form: WebSplit, tmp_path: Path) -> None:
    folder = tmp_path / "deep" / "benchmark"
    assert form.write([EXAMPLE], (folder,)) == 1
    assert _without_names((folder / TEXT_FILE).read_text(encoding="utf-8")) == _without_names(TEXT)
    assert len(list((folder / form.triples_folder).rglob("*.xml"))) == 2  # one for each size
    assert read(form, folder) == ([EXAMPLE], [])


def _without_names(text: str) -> str:
    """Which set has which number does not matter."""
    return re.sub(r"Id\d", "Id", text)


def test_benchmark_built_corpus_keeps_triples_and_names(webnlg: Path, tmp_path: Path) -> None:
    known = verbalisations(read_webnlg(webnlg))
    built = list(build(known))
    assert WebSplit10().write_benchmark(built, tmp_path / "out", known.names) == 3
    assert read(WebSplit10(), tmp_path / "out") == (built, [])
    text = (tmp_path / "out" / TEXT_FILE).read_text(encoding="utf-8")
    assert "COMPLEX-1:MR-1\ncategory=Building eid=Id1 size=2\n" in text
    assert "SPTYPE-1-2:MR-1\n" in text


@pytest.mark.parametrize("form", FORMATS)
def test_benchmark_part_of_a_folder(form: WebSplit, tmp_path: Path) -> None:
    examples = [
        Example(f"A {number} and B {number} .", ((f"A {number} .", f"B {number} ."),), "x")
        for number in range(1, 4)
    ]
    form.write(examples, (tmp_path,))
    with pytest.raises(InputError, match="which sentence is in which part"):
        read(form, tmp_path / "test")
    parts = {"TRAIN": [1], "VALIDATION": [2], "TEST": [3]}
    (tmp_path / form.parts_file).write_text(json.dumps(parts), encoding="utf-8")
    for name, number in (("train", 1), ("validation", 2), ("dev", 2), ("test", 3)):
        found, _ = read(form, tmp_path / name)
        assert [each.id for each in found] == [f"COMPLEX-{number}"]


def test_benchmark_text_file_alone_has_no_triples(tmp_path: Path) -> None:
    path = tmp_path / "full.txt"
    path.write_text(TEXT, encoding="utf-8")
    (found,), told = read(WebSplit10(), path)
    assert found.references == EXAMPLE.references
    assert found.triples == frozenset()
    assert told == []


def test_benchmark_of_the_other_version_is_told(tmp_path: Path) -> None:
    WebSplit10().write([EXAMPLE], (tmp_path,))
    with pytest.raises(InputError, match=r"has the format websplit-v1\.0, not websplit-v0\.1"):
        read(WebSplit01(), tmp_path)


@pytest.mark.parametrize("form", FORMATS)
def test_benchmark_format_is_told_by_its_files(form: WebSplit, tmp_path: Path) -> None:
    form.write([EXAMPLE], (tmp_path / "a",))
    assert benchmark_format(tmp_path / "a") == form.name
    assert benchmark_format(tmp_path / "a" / "test") == form.name
    assert benchmark_format(tmp_path) is None
    assert parse_corpus(str(tmp_path / "a" / "dev")).format == form.name
    alone = tmp_path / "b" / TEXT_FILE
    alone.parent.mkdir()
    alone.write_text(TEXT, encoding="utf-8")
    assert benchmark_format(alone.parent) is None
    for each in FORMATS:
        (alone.parent / each.triples_folder).mkdir()
    assert benchmark_format(alone.parent) is None


def test_benchmark_sentence_of_two_sets_has_the_triples_of_both(tmp_path: Path) -> None:
    other = Triple("Ada_Vell", "home", "Morrow")
    parts = (frozenset({BUILT}), frozenset({other}))
    wide = Example(
        EXAMPLE.source,
        (*EXAMPLE.references, ("She built it .", "She lives there .")),
        "COMPLEX-7",
        BOTH | {other},
        (*EXAMPLE.reference_triples, parts),
    )
    WebSplit10().write([wide], (tmp_path,))
    assert "COMPLEX-7:MR-2:SIMPLE-1" in (tmp_path / TEXT_FILE).read_text(encoding="utf-8")
    assert read(WebSplit10(), tmp_path) == ([wide], [])


def test_benchmark_pair_of_parallel_files(tmp_path: Path) -> None:
    (tmp_path / "train.complex").write_text("A and B .\nA and B .\n\nC .\n", encoding="utf-8")
    (tmp_path / "train.simple").write_text("A . B .\nB . A .\nD .\n", encoding="utf-8")
    paths = tmp_path / "train.complex", tmp_path / "train.simple"
    found, told = read(WebSplit01(), *paths)
    assert [each.references for each in found] == [(("A .", "B ."),), (("B .", "A ."),)]
    assert [line.split(":")[0] for line in told] == ["3", "4"]
    assert read(WebSplit01(), paths[0]) == (found, told)


@pytest.mark.parametrize(
    ("old", "new", "complaint"),
    [
        ("COMPLEX-7\n", "COMPLICATED\n", "1: a block must begin"),
        ("COMPLEX-7\nAda", "COMPLEX-7\nAn\nAda", "1: a complex sentence must stand alone"),
        ("COMPLEX-7:MR-1\n", "COMPLEX-8:MR-1\n", "4: this block belongs to another"),
        ("MR-1\ncategory=Unknown eid=Id1 size=2\n", "MR-1\nsize=2\n", "4: a triple set must be"),
        ("COMPLEX-7:MR-1\n", "COMPLEX-7:MR-3\n", "7: the triple set of this block has not"),
        ("SIMPLE-2:SPTYPE", "SIMPLE-3:SPTYPE", "21: the simple sentences of this block have not"),
        ("Id2 size=1\nAda", "Id2 size=1\nBea", "11: the simple sentences differ"),
        (
            "SIMPLE-2\nAda Vell is from Morrow .\nShe designed Vell Tower .\n",
            "SIMPLE-2\n",
            "17: there",
        ),
    ],
)
def test_benchmark_malformed_block_is_told_with_its_line(
    tmp_path: Path, old: str, new: str, complaint: str
) -> None:
    path = tmp_path / "full.txt"
    path.write_text(TEXT.replace(old, new, 1), encoding="utf-8")
    _, told = read(WebSplit10(), path)
    assert told[0].startswith(complaint)
    with pytest.raises(InputError, match=f"line {complaint.split(':')[0]}"):
        list(WebSplit10().read((path,), ReadReport(strict=True)))


def test_benchmark_line_that_is_not_utf8_is_told(tmp_path: Path) -> None:
    path = tmp_path / "full.txt"
    path.write_bytes(TEXT.encode().replace(b"from", b"fr\xf6m", 1))
    _, told = read(WebSplit10(), path)
    assert told[0] == "18: the line is not UTF-8"


def test_benchmark_unknown_set_is_told_once(tmp_path: Path) -> None:
    WebSplit10().write([EXAMPLE], (tmp_path,))
    path = tmp_path / TEXT_FILE
    text = re.sub(r"Id\d size=2", "Id99 size=2", path.read_text(encoding="utf-8"))
    path.write_text(text, encoding="utf-8")
    (found,), told = read(WebSplit10(), tmp_path)
    assert told == ["4: no file of triples has category=Unknown eid=Id99 size=2"]
    assert found.references == EXAMPLE.references


def test_benchmark_refuses_what_it_cannot_read_or_write(tmp_path: Path) -> None:
    form = WebSplit10()
    with pytest.raises(InputError, match="is no WebSplit benchmark"):
        read(form, tmp_path)
    with pytest.raises(InputError, match="written to one folder"):
        form.write([EXAMPLE], (tmp_path / "a", tmp_path / "b"))
    with pytest.raises(InputError, match="a sentence is empty"):
        form.write([Example("A .", (("B .", " "),), "1")], (tmp_path / "a",))
    assert not (tmp_path / "a" / TEXT_FILE).exists()
    form.write([EXAMPLE], (tmp_path / "a",))
    for other in FORMATS:
        with pytest.raises(InputError, match="holds a benchmark already"):
            other.write([EXAMPLE], (tmp_path / "a",))
    assert read(form, tmp_path / "a") == ([EXAMPLE], [])


def test_benchmark_parts_are_numbers_where_ids_are(tmp_path: Path) -> None:
    path = tmp_path / "parts.json"
    parts = {"TRAIN": ["COMPLEX-3", "a:1"], "VALIDATION": [], "TEST": ["COMPLEX-4"]}
    write_parts(path, parts)
    assert json.loads(path.read_text(encoding="utf-8"))["TRAIN"] == [3, "a:1"]
    assert read_parts(path) == parts


@pytest.mark.parametrize("text", ["[]", "{}", '{"TRAIN": 1}', '{"TRAIN": [null]}', "nothing"])
def test_benchmark_broken_parts_are_told(tmp_path: Path, text: str) -> None:
    path = tmp_path / "parts.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match="must be a JSON object"):
        read_parts(path)


WORDS = st.text(alphabet='abcé &<"|=:-', min_size=1).map(str.strip).filter(bool)
SENTENCES = WORDS.map(lambda text: f"The {' '.join(text.split())} .")
NAMES = st.text(alphabet="abcé&<\"'", min_size=1)


@st.composite
def corpora(draw: st.DrawFn) -> list[Example]:
    examples = []
    sources = draw(st.lists(SENTENCES, unique=True, max_size=4))
    for number, source in enumerate(sources, start=1):
        facts = [frozenset({Triple(draw(NAMES), draw(NAMES), str(place))}) for place in range(3)]
        references = draw(
            st.lists(
                st.lists(SENTENCES, min_size=2, max_size=3).map(tuple), unique=True, min_size=1
            )
        )
        triples = tuple(tuple(facts[: len(reference)]) for reference in references)
        union = frozenset().union(*(part for parts in triples for part in parts))
        examples.append(Example(source, tuple(references), f"COMPLEX-{number}", union, triples))
    return examples


@given(corpora())
@settings(max_examples=40)
def test_benchmark_round_trip(
    tmp_path_factory: pytest.TempPathFactory, made: list[Example]
) -> None:
    folder = tmp_path_factory.mktemp("benchmark") / "made"
    WebSplit10().write(made, (folder,))
    found, told = read(WebSplit10(), folder)
    assert told == []
    assert [_sorted(each) for each in found] == [_sorted(each) for each in made]


def _sorted(example: Example) -> tuple[object, ...]:
    """References of one set stand together in the file, so their order may change."""
    pairs = sorted(
        (reference, [sorted(part) for part in parts])
        for reference, parts in zip(example.references, example.reference_triples, strict=True)
    )
    return example.source, example.id, example.triples, pairs
