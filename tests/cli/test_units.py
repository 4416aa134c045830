"""Units and their batches: how many at a time, and one line for a record."""

import io
import sys
from collections.abc import Sequence

import pytest

from parataxis.rewrite.jsonl import SourceLine
from parataxis.rewrite.record import Rewrite
from parataxis.run.streams import BATCH, BATCH_UNITS, InputFormat, Unit, batches, read_units
from parataxis.text.inputs import Input


def unit(sentences: int) -> Unit:
    return Unit([SourceLine("x:1", "It rained.")] * sentences, lambda _: "", 1)


def sizes(counts: Sequence[int], *, ready: bool = True) -> list[int]:
    return [len(batch) for batch in batches(map(unit, counts), lambda: ready)]


@pytest.mark.parametrize(
    ("counts", "expected"),
    [
        ([1] * (2 * BATCH + 3), [BATCH, BATCH, 3]),
        ([BATCH + 5, 1], [1, 1]),
        ([0] * (2 * BATCH_UNITS + 3), [BATCH_UNITS, BATCH_UNITS, 3]),
        ([1, *[0] * BATCH_UNITS, 1], [BATCH_UNITS, 2]),
        ([BATCH - 1, 0, 0, 1, 1], [4, 1]),
    ],
)
def test_units_batches_are_bounded(counts: list[int], expected: list[int]) -> None:
    assert sizes(counts) == expected


def test_units_batches_do_not_wait() -> None:
    assert sizes([1, 0, 1], ready=False) == [1, 1, 1]


@pytest.mark.parametrize("kind", [InputFormat.LINES, InputFormat.TEXT])
def test_units_of_a_stream_with_many_blank_lines(
    kind: InputFormat, monkeypatch: pytest.MonkeyPatch
) -> None:
    # One look at all that has arrived for each line would take minutes here.
    text = "One.\n" + "\n" * 100_000 + "Two.\n" + "---\n\n" * 2_000
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text.encode())))
    found = list(read_units(Input("stdin"), kind))
    assert max(map(len, found)) <= BATCH_UNITS
    sources = [sentence.source for batch in found for each in batch for sentence in each.sentences]
    assert [source for source in sources if source != "---"] == ["One.", "Two."]


@pytest.mark.parametrize("kind", [InputFormat.JSONL, InputFormat.TSV, InputFormat.LINES])
def test_units_write_one_line_for_a_record(kind: InputFormat) -> None:
    sentence = "Ann sang,\u00a0and Bob left."
    line = {InputFormat.JSONL: '{"source": "Ann sang,\\r\\n\\u00a0and\\n\\n Bob left."}'}
    text = f"{line.get(kind, sentence)}\n"
    ((found,),) = read_units(Input("text", text=text, size=len(text)), kind)
    source = found.sentences[0].source
    split = Rewrite(source=source, simple=["Ann\nsang.", "Bob\r\n  left. "], splitter="mine")
    assert found.rebuild([split]) == "Ann sang. Bob left.\n"
    whole = Rewrite(source=source, simple=[source], splitter="mine")
    expected = "Ann sang, and Bob left." if kind is InputFormat.JSONL else sentence
    assert found.rebuild([whole]) == f"{expected}\n"
