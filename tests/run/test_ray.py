"""The class for Ray Data, given batches as Ray gives them; on a cluster it is tried in
tests/run/test_cluster.py."""

import json
from typing import Any

import numpy as np
import pytest

from parataxis import Rewrite
from parataxis.errors import InputError
from parataxis.run.ray import RaySplitter

pa = pytest.importorskip("pyarrow", reason="needs the extra [scale]")


@pytest.fixture(scope="module")
def splitter() -> RaySplitter:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PARATAXIS_THREADS", "1")
        return RaySplitter("text", provenance=True)


TEXTS = ["Ann came in May, and Bob left in June.", None, " ", "It rained.\n"]
SIMPLE = [["Ann came in May.", "Bob left in June."], [], [], ["It rained."]]
ERRORS = [None, 'there is nothing in the column "text"', 'the column "text" is empty', None]


def check(simple: list[Any], rewrites: list[Any], errors: list[Any]) -> None:
    assert simple == SIMPLE
    assert errors == ERRORS
    assert [line is None for line in rewrites] == [error is not None for error in errors]
    first = Rewrite.model_validate_json(rewrites[0])
    assert (first.source, list(first.simple), first.splitter) == (TEXTS[0], SIMPLE[0], "pointer")
    assert first.provenance


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string(), pa.dictionary("int32", "string")])
def test_ray_splitter_adds_columns_to_an_arrow_table(splitter: RaySplitter, kind: Any) -> None:
    table = pa.table({"id": [1, 2, 3, 4], "text": pa.chunked_array([pa.array(TEXTS, kind)])})
    made = splitter(table)
    assert made.column_names == ["id", "text", "simple", "rewrite", "error"]
    assert made.select(["id", "text"]).equals(table)
    assert made.schema.field("simple").type == pa.list_(pa.string())
    check(*(made[name].to_pylist() for name in ("simple", "rewrite", "error")))


def test_ray_splitter_adds_columns_to_a_dict_of_arrays(splitter: RaySplitter) -> None:
    batch = {"text": np.array(TEXTS, object), "id": np.arange(4)}
    made = splitter(batch)
    assert list(made) == ["text", "id", "simple", "rewrite", "error"]
    check(*(list(made[name]) for name in ("simple", "rewrite", "error")))
    alike = splitter({"text": np.array(["It rained.", "Ann left."])})
    assert alike["simple"].shape == (2,)


def test_ray_splitter_passes_through_what_is_not_text(splitter: RaySplitter) -> None:
    bad = pa.array([b"\xff\xfe", b"It rained."]).view(pa.string())
    made = splitter(pa.table({"text": bad}))
    assert made["error"].to_pylist() == ["the bytes are not UTF-8 text", None]
    assert made["simple"].to_pylist() == [[], ["It rained."]]
    none = splitter(pa.table({"text": [None]}))
    assert none["simple"].to_pylist() == [[]]
    assert none.schema.field("simple").type == pa.list_(pa.string())


@pytest.mark.parametrize(
    ("batch", "complaint"),
    [
        ({"other": np.array(["It rained."])}, 'The dataset has no column "text"'),
        ({"text": np.array(["a"]), "simple": np.array([1])}, 'has a column "simple" already'),
        ({"text": np.array([5])}, "5 is no text"),
        (pa.table({"text": [5]}), "A column of int64 was given, not one of text"),
        ([{"text": "It rained."}], "Ask for batches of Arrow or numpy"),
    ],
)
def test_ray_splitter_refuses_what_is_no_column_of_sentences(
    splitter: RaySplitter, batch: Any, complaint: str
) -> None:
    with pytest.raises(InputError, match=complaint):
        splitter(batch)


def test_ray_splitter_takes_the_options_of_a_splitter() -> None:
    strict = RaySplitter("text", splitter="rules", strict=True)
    made = strict(pa.table({"text": ["Ann came in May, and Bob left in June."]}))
    assert json.loads(made["rewrite"][0].as_py())["splitter"] == "rules"
    with pytest.raises(InputError, match='Only the splitter "pointer" runs on a GPU'):
        RaySplitter("text", splitter="rules", device="cuda")
    with pytest.raises(InputError, match="Jobs are processes beside a device"):
        RaySplitter("text", jobs=2)
    with pytest.raises(InputError, match="at least one job, not 0"):
        RaySplitter("text", device="cuda", jobs=0)


@pytest.mark.parametrize(
    ("cell", "simple"),
    [
        ("text", ["Ann came; Bob left.", "It rained."]),
        ("sentence", ["Ann came; Bob left. It rained."]),
    ],
)
def test_ray_splitter_cuts_a_cell_into_sentences(cell: str, simple: list[str]) -> None:
    text = "Ann came; Bob left. It rained."
    splitter = RaySplitter("text", splitter="source", cell=cell)
    made = splitter(pa.table({"text": [text]}))
    assert made["simple"].to_pylist() == [simple]
    assert json.loads(made["rewrite"][0].as_py())["source"] == text


def test_ray_splitter_leaves_provenance_out_unless_asked() -> None:
    made = RaySplitter("text", splitter="source")({"text": np.array(TEXTS[:1], object)})
    assert json.loads(made["rewrite"][0]) == {
        "source": TEXTS[0],
        "simple": TEXTS[:1],
        "splitter": "source",
    }
