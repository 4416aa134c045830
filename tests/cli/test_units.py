"""Units and their batches: how many at a time, and one line for a record."""

import io
import sys
from collections.abc import Sequence

import pytest

from parataxis.rewrite.record import Rewrite, SourceLine
from parataxis.run import reading
from parataxis.run.files import DataFile, DataFormat, find_inputs, given_text
from parataxis.run.reading import Share, read_batches
from parataxis.run.units import CellKind, Columns, Layout, Unit
from parataxis.text.documents import Document

BATCH, BATCH_UNITS = 32, 8 * 32


def unit(sentences: int) -> Unit:
    return Unit([SourceLine("x:1", "It rained.")] * sentences, Layout(Document("", ())), 1)


def sizes(
    counts: Sequence[int], monkeypatch: pytest.MonkeyPatch, *, ready: bool = True
) -> list[int]:
    def units(file: DataFile, columns: Columns, place: int, share: Share, **_: object) -> object:
        share.is_ready = lambda: ready
        return map(unit, counts)

    monkeypatch.setattr(reading, "read_units", units)
    batches = read_batches([given_text("It rained.", DataFormat.TEXT)], sentences=BATCH)
    return [len(batch.units) for batch in batches]


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
def test_units_batches_are_bounded(
    counts: list[int], expected: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert sizes(counts, monkeypatch) == expected


def test_units_batches_do_not_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    assert sizes([1, 0, 1], monkeypatch, ready=False) == [1, 1, 1]


@pytest.mark.parametrize("kind", [DataFormat.LINES, DataFormat.TEXT])
def test_units_of_a_stream_with_many_blank_lines(
    kind: DataFormat, monkeypatch: pytest.MonkeyPatch
) -> None:
    # One look at all that has arrived for each line would take minutes here.
    text = "One.\n" + "\n" * 100_000 + "Two.\n" + "---\n\n" * 2_000
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text.encode())))
    batches = read_batches(find_inputs(["-"], kind), sentences=BATCH)
    found = [batch.units for batch in batches]
    assert max(map(len, found)) <= BATCH_UNITS
    sources = [sentence.source for batch in found for each in batch for sentence in each.sentences]
    assert [source for source in sources if source != "---"] == ["One.", "Two."]


@pytest.mark.parametrize("kind", [DataFormat.JSONL, DataFormat.TSV, DataFormat.LINES])
def test_units_write_one_line_for_a_record(kind: DataFormat) -> None:
    sentence = "Ann sang,\u00a0and Bob left."
    line = {DataFormat.JSONL: '{"source": "Ann sang,\\r\\n\\u00a0and\\n\\n Bob left."}'}
    file = given_text(line.get(kind, sentence), kind)
    (batch,) = read_batches([file], Columns(cell=CellKind.SENTENCE), sentences=BATCH)
    (found,) = batch.units
    source = found.sentences[0].source
    split = Rewrite(source=source, simple=["Ann\nsang.", "Bob\r\n  left. "], splitter="mine")
    assert found.rebuild([split]) == "Ann sang. Bob left.\n"
    whole = Rewrite(source=source, simple=[source], splitter="mine")
    expected = "Ann sang, and Bob left." if kind is DataFormat.JSONL else sentence
    assert found.rebuild([whole]) == f"{expected}\n"
