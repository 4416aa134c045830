"""Readers and writers: what each format reads, what it rejects and where, and that what is
written can be read again."""

import gzip
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from parataxis.errors import InputError
from parataxis.evaluate.corpora.example import Example, Triple
from parataxis.evaluate.corpora.registry import FORMATS
from parataxis.text.files import Malformed, ReadReport

Files = dict[str, str | bytes]
Simple = tuple[tuple[str, ...], ...]


def put(folder: Path, files: Files) -> tuple[Path, ...]:
    for name, text in files.items():
        (folder / name).write_bytes(text if isinstance(text, bytes) else text.encode())
    return tuple(folder / name for name in files)


def read(name: str, paths: tuple[Path, ...]) -> tuple[list[Example], list[Malformed]]:
    told: list[Malformed] = []
    report = ReadReport(tell=told.append)
    examples = list(FORMATS.load(name).read(paths, report))
    assert report.malformed == len(told)
    return examples, told


READ: list[tuple[str, Files, list[tuple[str, Simple]]]] = [
    (
        "wikisplit",
        {"a.tsv": "It rained , so Bo 's dog left .\tIt rained . <::::> Bo 's dog left .\n"},
        [("It rained , so Bo 's dog left .", (("It rained .", "Bo 's dog left ."),))],
    ),
    (
        "bisect",
        {
            "a.src": "It rained and we left .\nWe came .\n",
            "a.dst": "It rained . <SEP> We left .\nWe came .\n",
        },
        [
            ("It rained and we left .", (("It rained .", "We left ."),)),
            ("We came .", (("We came .",),)),
        ],
    ),
    (  # the training file has two stops at the end
        "minwiki",
        {
            "a.complex": "Mr. Lee of St. Gall came and he left.\n",
            "a.simple": "Mr. Lee of St. Gall came . He left ..\n",
        },
        [("Mr. Lee of St. Gall came and he left.", (("Mr. Lee of St. Gall came .", "He left ."),))],
    ),
    (  # the test file has the stop of each complex sentence on the next line
        "minwiki",
        {
            "a.complex": "It rained and we left\n.\nWe sat and sang\n.\n",
            "a.simple": "It rained . We left .\nWe sat . We sang .",
        },
        [
            ("It rained and we left.", (("It rained .", "We left ."),)),
            ("We sat and sang.", (("We sat .", "We sang ."),)),
        ],
    ),
    (
        "desse",
        {
            "a.complex": "Dr. Lee asked why, and we left.",
            "a.simple": "Dr. Lee asked: why? We left.",
        },
        [("Dr. Lee asked why, and we left.", (("Dr. Lee asked: why?", "We left."),))],
    ),
    (
        "hsplit",
        {
            "source.txt": 'Ann\'s "Evita", a film, won.\n',
            "ref1.txt": "Ann &apos;s &quot; Evita &quot; won . it is a film .\n",
            "ref2.txt": "Ann &apos;s &quot; Evita &quot; , a film , won\n",
            "ref3.txt": "she said : “ it won . ” it is a film .\n",
        },
        [
            (
                'Ann\'s "Evita", a film, won.',
                (
                    ('Ann \'s " Evita " won .', "it is a film ."),
                    ('Ann \'s " Evita " , a film , won',),
                    ("she said : “ it won . ”", "it is a film ."),
                ),
            )
        ],
    ),
    (
        "parallel",
        {
            "source.txt": "It rained, so we left.\r\n",
            "a.txt": "It rained. We left.\r\n",
            "b.txt": "It rained . <SEP> We left .\r\n",
            "c.txt": "It rained. So did <::::> we.\r\n",
        },
        [
            (
                "It rained, so we left.",
                (
                    ("It rained.", "We left."),
                    ("It rained .", "We left ."),
                    ("It rained. So did", "we."),
                ),
            )
        ],
    ),
    ("parallel", {"s.txt": "It rained.\nWe left.\n"}, [("It rained.", ()), ("We left.", ())]),
    (
        "wiki-bm",
        {
            "a.tsv": "complex\tsimple\n"
            '"""Evita"", a film, won."\t"""Evita"" won. It is a film."\n'
            '"""Evita"", a film, won."\t"A film won.\nIt was ""Evita""."\n'
            "It rained.\tIt rained.\n"
        },
        [
            (
                '"Evita", a film, won.',
                (('"Evita" won.', "It is a film."), ("A film won.", 'It was "Evita".')),
            ),
            ("It rained.", (("It rained.",),)),
        ],
    ),
    (  # columns are found by their names
        "cont-bm",
        {"a.tsv": "id\tSimple\tComplex\n7\tIt rained. We left.\tIt rained, so we left.\n"},
        [("It rained, so we left.", (("It rained.", "We left."),))],
    ),
    (  # without a header, the first row is one like the others
        "cont-bm",
        {"a.tsv": "It rained, so we left.\tIt rained. We left.\n"},
        [("It rained, so we left.", (("It rained.", "We left."),))],
    ),
    (
        "jsonl",
        {
            "a.jsonl": '{"source": "A and B.", "simple": ["A.", "B."], "splitter": "x"}\n\n'
            '{"complex": "A and B.", "simple": ["A and B."]}\n'
            '{"id": 7, "source": "C."}\n'
        },
        [("A and B.", (("A.", "B."), ("A and B.",))), ("C.", ())],
    ),
]


@pytest.mark.parametrize(("name", "files", "expected"), READ)
def test_formats_read(
    name: str, files: Files, expected: list[tuple[str, Simple]], tmp_path: Path
) -> None:
    examples, told = read(name, put(tmp_path, files))
    assert [(each.source, each.references) for each in examples] == expected
    assert told == []


REJECTED: list[tuple[str, Files, str, int, str]] = [
    ("wikisplit", {"a.tsv": "A.\tA.\nno tab\n"}, "a.tsv", 2, "there is no tab"),
    ("wikisplit", {"a.tsv": "A.\tA.\n\tB.\n"}, "a.tsv", 2, "the source is blank"),
    ("wikisplit", {"a.tsv": "A.\tA.\n\n"}, "a.tsv", 2, "the source is blank"),
    ("wikisplit", {"a.tsv": "A.\tA.\nB.\t <::::> \n"}, "a.tsv", 2, "there is no simple sentence"),
    ("wikisplit", {"a.tsv": "B.\tB.\tB.\nA.\tA.\n"}, "a.tsv", 1, "there are more than two columns"),
    ("wikisplit", {"a.tsv": b"A.\tA.\nB\xff.\tB.\n"}, "a.tsv", 2, "the line is not UTF-8"),
    (
        "bisect",
        {"a.src": "A.\nB.\n", "a.dst": "A.\n"},
        "a.src",
        2,
        "an aligned file has no such line",
    ),
    (
        "bisect",
        {"a.src": "A.\n", "a.dst": "A.\nB.\n"},
        "a.dst",
        2,
        "an aligned file has no such line",
    ),
    ("bisect", {"a.src": "\nA.\n", "a.dst": "B.\nA.\n"}, "a.src", 1, "the source is blank"),
    ("bisect", {"a.src": "B.\nA.\n", "a.dst": "\nA.\n"}, "a.dst", 1, "there is no simple sentence"),
    (  # the other rows stay aligned
        "bisect",
        {"a.src": "B.\nA.\n", "a.dst": b"\xff\nA.\n"},
        "a.dst",
        1,
        "the line is not UTF-8",
    ),
    (
        "minwiki",
        {"a.complex": "A\n.\n\n.\n", "a.simple": "A .\nB .\n"},
        "a.complex",
        3,
        "the source is blank",
    ),
    (
        "hsplit",
        {"s.txt": "A.\nB.\n", "1.txt": "A .\nB .\n", "2.txt": "A .\n\n"},
        "2.txt",
        2,
        "there is no simple sentence",
    ),
    (
        "wiki-bm",
        {"a.tsv": 'complex\tsimple\n"B.\tB.\nA.\tA.\n'},
        "a.tsv",
        2,
        "a quotation mark is not closed, or stands inside a quoted cell",
    ),
    (
        "wiki-bm",
        {"a.tsv": 'complex\tsimple\n"B" b.\tB.\nA.\tA.\n'},
        "a.tsv",
        2,
        "a quotation mark is not closed, or stands inside a quoted cell",
    ),
    (
        "wiki-bm",
        {"a.tsv": "complex\tsimple\nA.\tA.\nB.\n"},
        "a.tsv",
        3,
        "the number of columns is wrong",
    ),
    ("cont-bm", {"a.tsv": "complex\tsimple\nA.\tA.\n \tB.\n"}, "a.tsv", 3, "the source is blank"),
    (
        "jsonl",
        {"a.jsonl": '{"source": "A.", "simple": ["A."]}\n{"source": \n'},
        "a.jsonl",
        2,
        "this is not a line of JSON",
    ),
    (
        "jsonl",
        {"a.jsonl": '{"source": "A.", "simple": ["A."]}\n{"source": "B.", "simple": "B."}\n'},
        "a.jsonl",
        2,
        '"simple" must be a list of sentences',
    ),
    (
        "jsonl",
        {"a.jsonl": '{"source": "A.", "simple": ["A."]}\n{"simple": ["B."]}\n'},
        "a.jsonl",
        2,
        'there is neither "source" nor "complex"',
    ),
    (
        "jsonl",
        {"a.jsonl": '{"source": "A.", "simple": ["A."]}\n{"source": "B\\ud800"}\n'},
        "a.jsonl",
        2,
        "there is half a character, or too much nesting",
    ),
    (
        "jsonl",
        {"a.jsonl": '{"source": "A.", "simple": ["A."]}\n{"source": "B.", "triples": [["b"]]}\n'},
        "a.jsonl",
        2,
        "a triple must be a list of three strings",
    ),
    (
        "jsonl",
        {"a.jsonl": '{"source": "A.", "simple": ["A."]}\n{"source": "B.", "triples": ["abc"]}\n'},
        "a.jsonl",
        2,
        "a triple must be a list of three strings",
    ),
    (
        "jsonl",
        {"a.jsonl": '{"source": "A.", "simple": ["A."]}\n{"source": "B.", "triples": {}}\n'},
        "a.jsonl",
        2,
        "triples must be a list",
    ),
    (
        "websplit-v0.1",
        {"a.complex": "A.\nB.\n", "a.simple": "A .\n. .\n"},
        "a.simple",
        2,
        "there is no simple sentence",
    ),
]


@pytest.mark.parametrize(("name", "files", "file", "line", "reason"), REJECTED)
def test_formats_reject_with_file_and_line_and_read_on(
    name: str, files: Files, file: str, line: int, reason: str, tmp_path: Path
) -> None:
    paths = put(tmp_path, files)
    examples, told = read(name, paths)
    assert told == [Malformed(str(tmp_path / file), line, reason)]
    assert [each.source.rstrip(".") for each in examples] == ["A"]
    with pytest.raises(InputError, match=f"line {line}: "):
        list(FORMATS.load(name).read(paths, ReadReport(strict=True)))


def test_formats_count_each_line_that_has_no_partner(tmp_path: Path) -> None:
    paths = put(tmp_path, {"a.src": "A.\nB.\nC.\nD.\n", "a.dst": "A.\n"})
    report = ReadReport()
    assert len(list(FORMATS.load("bisect").read(paths, report))) == 1
    assert (report.lines, report.malformed) == (4, 3)


def test_formats_open_quote_takes_no_other_row_with_it(tmp_path: Path) -> None:
    rows = "".join(f"A{n}.\tB{n}.\n" for n in range(60))
    examples, told = read("wiki-bm", put(tmp_path, {"a.tsv": f'complex\tsimple\n"X.\tY.\n{rows}'}))
    assert [each.line for each in told] == [2]
    assert len(examples) == 60


def test_formats_ids_are_file_and_line(tmp_path: Path) -> None:
    (path,) = put(tmp_path, {"a.tsv": "bad\nA.\tA.\n"})
    examples, _ = read("wikisplit", (path,))
    assert [each.id for each in examples] == [f"{path}:2"]


def test_formats_cut_lines_at_line_feeds_only(tmp_path: Path) -> None:
    paths = put(tmp_path, {"a.src": "A\u2028 b.\nB.\n", "a.dst": "A\x85 b.\nB.\n"})
    assert len(read("bisect", paths)[0]) == 2


@pytest.mark.parametrize(("name", "paths"), [("bisect", 1), ("wikisplit", 2), ("jsonl", 0)])
def test_formats_say_how_many_files_they_have(name: str, paths: int, tmp_path: Path) -> None:
    files = tuple(tmp_path / str(n) for n in range(paths))
    with pytest.raises(InputError, match=f"The format {name} has"):
        list(FORMATS.load(name).read(files, ReadReport()))


def test_formats_tell_a_missing_file(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"no\.tsv cannot be read"):
        read("wikisplit", (tmp_path / "no.tsv",))


EXAMPLES = [
    Example("It rained, so we left.", (("It rained.", "We left."),), "1"),
    Example('He said "no" & left.', (('He said "no".', "He left?"),), "2"),
    Example("Bo left.", (("Bo left.",),), "3"),
]
WRITTEN = [
    ("wikisplit", ["a.tsv"]),
    ("wikisplit", ["a.tsv.gz"]),
    ("bisect", ["a.src", "a.dst"]),
    ("bisect", ["a.src.gz", "a.dst.gz"]),
    ("desse", ["a.complex", "a.simple"]),
    ("hsplit", ["s.txt", "r.txt"]),
    ("parallel", ["s.txt", "r.txt"]),
    ("wiki-bm", ["a.tsv"]),
    ("cont-bm", ["a.tsv"]),
    ("jsonl", ["a.jsonl"]),
    ("jsonl", ["a.jsonl.gz"]),
]


@pytest.mark.parametrize(("name", "files"), WRITTEN)
def test_formats_read_what_they_wrote(name: str, files: list[str], tmp_path: Path) -> None:
    paths = tuple(tmp_path / file for file in files)
    assert FORMATS.load(name).write(iter(EXAMPLES), paths) == len(EXAMPLES)
    examples, told = read(name, paths)
    assert [(each.source, each.references) for each in examples] == [
        (each.source, each.references) for each in EXAMPLES
    ]
    assert told == []
    assert {path.name for path in tmp_path.iterdir()} == set(files)
    for path in paths:
        assert (path.read_bytes()[:2] == b"\x1f\x8b") == (path.suffix == ".gz")


def test_formats_minwiki_puts_each_final_mark_apart(tmp_path: Path) -> None:
    paths = tmp_path / "a.complex", tmp_path / "a.simple"
    assert FORMATS.load("minwiki").write(EXAMPLES, paths) == 3
    assert paths[1].read_text() == 'It rained . We left .\nHe said "no" . He left ?\nBo left .\n'
    assert [len(each.references[0]) for each in read("minwiki", paths)[0]] == [2, 2, 1]


SEVERAL = [
    Example("Ann sat, and Bo left.", (("Ann sat.", "Bo left."), ("Bo left.", "Ann sat.")), "1"),
    Example("It rained.", (("It rained.",),), "2"),
]


@pytest.mark.parametrize("name", ["wiki-bm", "jsonl"])
def test_formats_keep_several_references(name: str, tmp_path: Path) -> None:
    path = tmp_path / "a"
    FORMATS.load(name).write(SEVERAL, (path,))
    examples, _ = read(name, (path,))
    assert [each.references for each in examples] == [each.references for each in SEVERAL]


@pytest.mark.parametrize(("name", "files"), [("wikisplit", 1), ("bisect", 2)])
def test_formats_write_a_line_for_each_reference(name: str, files: int, tmp_path: Path) -> None:
    paths = tuple(tmp_path / str(n) for n in range(files))
    FORMATS.load(name).write(SEVERAL, paths)
    sources = [each.source for each in read(name, paths)[0]]
    assert sources == ["Ann sat, and Bo left."] * 2 + ["It rained."]


def test_formats_jsonl_keeps_triples_and_ids(tmp_path: Path) -> None:
    oslo, ghent = Triple("Oslo", "in", "Norway"), Triple("Ghent", "in", "Belgium")
    example = Example(
        "Oslo is in Norway and Ghent is in Belgium.",
        (("Oslo is in Norway.", "Ghent is in Belgium."),),
        "own",
        triples=frozenset([oslo, ghent]),
        reference_triples=((frozenset([oslo]), frozenset([ghent])),),
    )
    path = tmp_path / "a.jsonl"
    FORMATS.load("jsonl").write([example], (path,))
    assert read("jsonl", (path,))[0] == [example]


@pytest.mark.parametrize(
    ("name", "files", "example", "complaint"),
    [
        ("wikisplit", 1, Example("A.", (), "7"), "7 has no reference"),
        ("bisect", 2, Example("A.", (("A <SEP> b.",),), "7"), "has the mark <SEP> inside"),
        ("parallel", 3, Example("A.", (("A.",),), "7"), "7 has 1 references, but there are 2"),
        ("minwiki", 2, Example("A.", (("A . B .",),), "7"), "cannot tell the simple sentences"),
    ],
)
def test_formats_refuse_what_they_cannot_hold_and_leave_nothing(
    name: str, files: int, example: Example, complaint: str, tmp_path: Path
) -> None:
    good = Example("B.", (("B.",),) * max(1, files - 1), "1")
    with pytest.raises(InputError, match=complaint):
        FORMATS.load(name).write([good, example], tuple(tmp_path / str(n) for n in range(files)))
    assert list(tmp_path.iterdir()) == []


def test_formats_read_gzip_whatever_the_name(tmp_path: Path) -> None:
    path = tmp_path / "a.tsv"
    path.write_bytes(gzip.compress(b"A.\tA.\n"))
    assert len(read("wikisplit", (path,))[0]) == 1


def test_formats_tell_a_broken_gzip_file(tmp_path: Path) -> None:
    path = tmp_path / "a.tsv.gz"
    path.write_bytes(gzip.compress(b"A.\tA.\n" * 1000)[:40])
    with pytest.raises(InputError, match="broken gzip"):
        read("wikisplit", (path,))


_SENTENCE = st.text(st.sampled_from("Ab. ,<>\"'\t\n?é"), min_size=1).filter(
    lambda text: any(map(str.isalpha, text)) and "<SEP>" not in text
)


@given(st.lists(st.tuples(_SENTENCE, st.lists(_SENTENCE, min_size=1, max_size=3)), min_size=1))
def test_formats_parallel_gives_back_any_sentences(
    tmp_path_factory: pytest.TempPathFactory, pairs: list[tuple[str, list[str]]]
) -> None:
    folder = tmp_path_factory.mktemp("parallel")
    paths = folder / "s", folder / "r"
    examples = [Example(source, (tuple(simple),), "") for source, simple in pairs]
    FORMATS.load("parallel").write(examples, paths)
    found, told = read("parallel", paths)
    assert told == []
    assert [(each.source, each.references[0]) for each in found] == [
        (" ".join(source.split()), tuple(" ".join(each.split()) for each in simple))
        for source, simple in pairs
    ]
