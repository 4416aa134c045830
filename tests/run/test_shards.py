"""Shards: whatever the input and however many there are, they have each unit once and in order, so
joining their outputs gives what one run writes."""

import gzip
import json
from pathlib import Path

import pytest

from parataxis.cli.main import main
from parataxis.errors import InputError
from parataxis.run.files import Shard, find_inputs
from parataxis.run.reading import read_units

pyarrow = pytest.importorskip("pyarrow", reason="needs the extra [scale]")
parquet = pytest.importorskip("pyarrow.parquet")

TEXTS = [f"Ann ate {n} plums{' and pears' * (n % 5)}. Bob left." for n in range(40)]


@pytest.fixture(autouse=True)
def corpus(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    folder = Path("corpus")
    (folder / "deep").mkdir(parents=True)
    rows = [json.dumps({"source": each, "n": n}) for n, each in enumerate(TEXTS)]
    rows[7] = "{"
    rows[20] = ""
    (folder / "a.jsonl").write_text("\n".join(rows))  # without a line end
    (folder / "b.csv").write_text('number,source\n1,"Ann\nsang."\n' + "2,Bob left.\n" * 30)
    (folder / "c.jsonl.gz").write_bytes(gzip.compress("\n".join(rows[:9]).encode()))
    parquet.write_table(
        pyarrow.table({"source": TEXTS, "n": range(40)}),
        folder / "deep/d.parquet",
        row_group_size=9,
    )
    (folder / "e.jsonl").touch()
    (folder / "f.txt").write_text("\n\n".join(TEXTS) + "\nIt rained.")


def split(*arguments: str) -> int:
    return main(["split", *arguments, "--splitter", "source", "--jobs", "1"])


@pytest.mark.parametrize("count", [1, 3, 40])
@pytest.mark.parametrize("form", ["text", "jsonl"])
def test_shards_joined_are_the_output_of_one_run(count: int, form: str) -> None:
    codes = [
        split("corpus", "-f", form, "-o", "out", "--shard", f"{n + 1}/{count}")
        for n in range(count)
    ]
    joined = b"".join(path.read_bytes() for path in sorted(Path().glob("out-*")))
    assert split("corpus", "-f", form, "-o", "whole") == max(codes) == 3
    assert joined == Path("whole").read_bytes()
    assert len(list(Path().glob("out-*"))) == count


@pytest.mark.parametrize("count", [3, 20])
def test_shards_of_tables_have_one_schema_and_all_rows(count: int) -> None:
    for n in range(count):
        split("corpus", "--column", "source", "-o", "out.parquet", "--shard", f"{n + 1}/{count}")
    split("corpus", "--column", "source", "-o", "whole.parquet")
    parts = [parquet.read_table(path) for path in sorted(Path().glob("out-*"))]
    assert pyarrow.concat_tables(parts) == parquet.read_table("whole.parquet")


def test_shards_share_the_files_of_a_folder() -> None:
    for n in range(3):
        assert split("corpus", "-o", "out/", "--shard", f"{n + 1}/3") in (0, 3)
        assert split("corpus", "-o", "out/", "--shard", f"{n + 1}/3", "--resume") == 0
    split("corpus", "-o", "whole/")
    made, whole = (
        {path.relative_to(folder): path.read_bytes() for path in Path(folder).rglob("*.*")}
        for folder in ("out", "whole")
    )
    assert made == whole


def test_shards_are_of_about_one_size() -> None:
    files = find_inputs(["corpus/a.jsonl"])
    counts = [
        sum(1 for file in Shard(n, 4).of(files, whole=False) for _ in read_units(file))
        for n in range(1, 5)
    ]
    assert sum(counts) == 39
    assert min(counts) >= 8


def test_shards_resume_where_they_were(monkeypatch: pytest.MonkeyPatch) -> None:
    from parataxis.run.output import FileOutput
    from parataxis.run.pipeline import SENTENCES

    Path("long.jsonl").write_text(
        "".join(f'{{"source": "Ann ate {n} plums."}}\n' for n in range(5 * SENTENCES))
    )
    arguments = ("long.jsonl", "-o", "out.jsonl", "--shard", "2/2")
    split(*arguments)
    whole = Path("out-00002-of-00002.jsonl").read_bytes()
    Path("out-00002-of-00002.jsonl").unlink()
    append = FileOutput.append

    def interrupted(self: FileOutput, *given: object) -> None:
        if self.now.sentences:
            raise KeyboardInterrupt
        append(self, *given)  # type: ignore[arg-type]

    with monkeypatch.context() as patch:
        patch.setattr(FileOutput, "append", interrupted)
        assert split(*arguments) == 130
    assert split("long.jsonl", "-o", "out.jsonl", "--shard", "1/2") == 0
    assert split(*arguments) == 2
    assert split(*arguments, "--resume") == 0
    assert Path("out-00002-of-00002.jsonl").read_bytes() == whole


@pytest.mark.parametrize("given", ["0/3", "4/3", "3", "a/b", "1/0"])
def test_shard_that_is_none_is_refused(given: str) -> None:
    with pytest.raises(InputError, match="is no shard"):
        Shard.parse(given)


def test_shards_need_a_format_and_an_input_that_can_be_cut(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert split("corpus", "-o", "out", "-f", "html", "--shard", "1/2") == 2
    assert "Shards of html cannot be joined" in capsys.readouterr().err
