"""A column of a frame: index, other columns and missing values stay; cells hold any text."""

from pathlib import Path

import pytest

from parataxis.errors import InputError
from parataxis.integrations.pandas import split_column

pandas = pytest.importorskip("pandas")

MILL = "The mill, which was built in 1850, burned down."


@pytest.mark.parametrize("dtype", [None, object, "string"])
def test_pandas_splits_a_column(dtype: object) -> None:
    texts = pandas.Series(
        [f"{MILL}\nIt rained.", None, " ", "Ann left."], index=list("xxyz"), dtype=dtype
    )
    frame = pandas.DataFrame({"text": texts, "n": [1, 2, 3, 4]})
    result = split_column(frame, "text", records=True)
    assert list(frame.columns) == ["text", "n"]
    assert list(result.index) == list("xxyz")
    pandas.testing.assert_frame_equal(result[["text", "n"]], frame)
    assert result["text_simple"].fillna("missing").tolist() == [
        "The mill burned down. It was built in 1850.\nIt rained.",
        "missing",
        " ",
        "Ann left.",
    ]
    sentences = ["The mill burned down.", "It was built in 1850.", "It rained."]
    assert result["text_sentences"].tolist() == [sentences, None, [], ["Ann left."]]
    rewrites = result["text_rewrites"].tolist()
    assert [None if each is None else [r.source for r in each] for each in rewrites] == [
        [MILL, "It rained."],
        None,
        [],
        ["Ann left."],
    ]


def test_pandas_splits_categories_and_empty_frames() -> None:
    frame = pandas.DataFrame({"text": pandas.Categorical([MILL, MILL, None])})
    result = split_column(frame, "text")
    assert result["text_simple"].tolist()[:2] == ["The mill burned down. It was built in 1850."] * 2
    assert result["text_simple"].isna().tolist() == [False, False, True]
    assert split_column(frame[:0], "text").shape == (0, 3)


def test_pandas_options_are_those_of_a_splitter() -> None:
    frame = pandas.DataFrame({"text": [MILL]})
    options = {"splitter": "rules", "check": True, "records": True}
    (rewrites,) = frame.pipe(split_column, "text", **options)["text_rewrites"]
    assert rewrites[0].splitter == "rules"
    assert rewrites[0].findings is not None


@pytest.mark.parametrize(
    ("frame", "complaint"),
    [
        ({"n": [1]}, 'no column "text"'),
        ({"text": ["A."], "text_simple": ["A."]}, '"text_simple" already'),
        ({"text": ["A.", 7.5]}, "Row 2 holds 7.5, which is no text"),
    ],
)
def test_pandas_says_what_is_wrong_with_a_frame(
    frame: dict[str, list[object]], complaint: str
) -> None:
    with pytest.raises(InputError, match=complaint):
        split_column(pandas.DataFrame(frame), "text", splitter="source")


def test_pandas_refuses_a_column_that_is_there_twice() -> None:
    frame = pandas.DataFrame([["A.", "B."]], columns=["text", "text"])
    with pytest.raises(InputError, match='2 columns "text"'):
        split_column(frame, "text")


def test_pandas_takes_a_cell_for_a_sentence_on_request() -> None:
    frame = pandas.DataFrame({"text": ["It rained. Ann left.", " ", None]})
    text, sentence = (
        split_column(frame, "text", splitter="source", cell=cell)["text_sentences"].tolist()
        for cell in ("text", "sentence")
    )
    assert text == [["It rained.", "Ann left."], [], None]
    assert sentence == [["It rained. Ann left."], [], None]


def test_pandas_gives_a_row_for_each_sentence_on_request() -> None:
    frame = pandas.DataFrame({"text": [f"{MILL} It rained.", None, " "], "n": [1, 2, 3]})
    result = split_column(frame, "text", rows="sentence", records=True)
    assert result["n"].tolist() == [1, 1, 2, 3]
    assert list(result.index) == [0, 0, 1, 2]
    assert result["text_source"].fillna("none").tolist() == [MILL, "It rained.", "none", "none"]
    assert result["text_simple"][0].tolist() == [
        "The mill burned down. It was built in 1850.",
        "It rained.",
    ]
    assert result["text_sentences"][0].tolist()[1] == ["It rained."]
    assert [len(each) for each in result["text_rewrites"][0]] == [1, 1]
    for wrong in ({"rows": "claim"}, {"cell": "word"}):
        with pytest.raises(InputError, match='"sentence"'):
            split_column(frame, "text", **wrong)


def test_pandas_result_can_be_saved(tmp_path: Path) -> None:
    frame = pandas.DataFrame({"text": [f"{MILL} It rained.", None]})
    split_column(frame, "text").to_parquet(tmp_path / "out.parquet")
    saved = pandas.read_parquet(tmp_path / "out.parquet")
    assert list(saved.columns) == ["text", "text_simple", "text_sentences"]
    assert list(saved["text_sentences"][0])[2] == "It rained."
