"""Whatever is not replaced in a document comes back byte for byte."""

import io
from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from parataxis.text import documents
from parataxis.text.documents import Document, read_blocks, read_document

CONTRACT = (
    "# Agreement\r\n\r\n"
    "1. Acme, Inc., which is based in the U.S., shall pay.\r\n"
    "2.  The Seller shall  wait.\r\n\r\n"
    "| Fee. | $5. |\r\n|---|---|\r\n\r\n"
    "```\nno. sentence.\n```\n"
)

PIECES = r"""
    Mr. He went . ! ? … " ” ) [1] 😀 U.S. p.m. é ` ``` ~~~ | |---| - 1. (a) # > ===
"""
ANY_TEXT = st.text(max_size=120) | st.lists(
    st.sampled_from([*PIECES.split(), " ", "\n", "\n\n", "\r\n", "\r", "\u2028", "\x0b"]),
    max_size=40,
).map("".join)


def test_documents_replace_one_sentence() -> None:
    document = read_document(CONTRACT)
    assert [sentence.text for sentence in document.sentences] == [
        "Agreement",
        "Acme, Inc., which is based in the U.S., shall pay.",
        "The Seller shall wait.",
    ]
    rebuilt = document.rebuild({1: ["Acme, Inc. shall pay.", "Acme, Inc. is based in the U.S."]})
    assert rebuilt == CONTRACT.replace(
        "Acme, Inc., which is based in the U.S., shall pay.",
        "Acme, Inc. shall pay. Acme, Inc. is based in the U.S.",
    )


def test_documents_replace_by_function() -> None:
    document = read_document("- Ann left.\n\n> Bob  stayed.\n")
    assert document.rebuild(lambda sentence: [sentence.text]) == document.text
    assert document.rebuild(lambda sentence: ["It", sentence.text.upper()]) == (
        "- It ANN LEFT.\n\n> It BOB STAYED.\n"
    )


def test_documents_replacement_is_wrapped_like_its_source() -> None:
    text = (
        "> > The committee, which met on Monday in\r\n"
        "> > the town hall, elected Peter. He was\r\n"
        "> > glad.\r\n"
    )
    document = read_document(text)
    rebuilt = document.rebuild(
        {0: ["The committee elected Peter.", "The committee met on Monday in the town hall."]}
    )
    assert rebuilt == (
        "> > The committee elected Peter. The\r\n"
        "> > committee met on Monday in the town\r\n"
        "> > hall. He was\r\n"
        "> > glad.\r\n"
    )


def test_documents_replacement_never_breaks_a_line_at_a_no_break_space() -> None:
    text = "The fee, which was set under §\u00a05, is\n10\u00a0000\u00a0EUR."
    rebuilt = read_document(text).rebuild(
        {0: ["The fee is 10\u00a0000\u00a0EUR.", "The fee was set under §\u00a05."]}
    )
    assert rebuilt == ("The fee is 10\u00a0000\u00a0EUR. The fee was\nset under §\u00a05.")


def test_documents_wrapped_line_never_starts_with_a_list_marker() -> None:
    text = (
        "The old house on the hill, which had\nbeen sold for - or so we heard - ten pounds, fell."
    )
    rebuilt = read_document(text).rebuild({0: ["The old house on the hill, it was - fell", "- x"]})
    assert rebuilt == "The old house on the hill, it was - fell - x"


def test_documents_refuse_to_drop_a_sentence() -> None:
    with pytest.raises(ValueError, match="Sentence 0 is replaced by nothing"):
        read_document("Ann left.").rebuild({0: []})


@given(ANY_TEXT)
@settings(max_examples=300)
def test_documents_come_back_exactly(text: str) -> None:
    document = read_document(text)
    assert document.rebuild({}) == text
    assert document.rebuild(lambda sentence: [sentence.text]) == text


@given(ANY_TEXT, st.data())
@settings(max_examples=200)
def test_documents_keep_all_but_the_replaced(text: str, data: st.DataObject) -> None:
    document = read_document(text)
    if not document.sentences:
        return
    index = data.draw(st.integers(0, len(document.sentences) - 1))
    span = document.sentences[index]
    rebuilt = document.rebuild({index: ["One.", "Two."]})
    assert rebuilt.startswith(text[: span.start])
    assert rebuilt.endswith(text[span.end :])
    middle = rebuilt[span.start : len(rebuilt) - len(text) + span.end]
    assert middle.replace(">", " ").split() == ["One.", "Two."]


def shifted(blocks: list[Document]) -> list[tuple[int, int, str]]:
    spans, offset = [], 0
    for block in blocks:
        spans += [(offset + s.start, offset + s.end, s.text) for s in block.sentences]
        offset += len(block.text)
    return spans


@given(ANY_TEXT)
@settings(max_examples=300)
def test_documents_blocks_are_the_document(text: str) -> None:
    blocks = list(read_blocks(io.StringIO(text, newline="")))
    assert "".join(block.text for block in blocks) == text
    whole = read_document(text)
    assert shifted(blocks) == [(s.start, s.end, s.text) for s in whole.sentences]


@given(ANY_TEXT, st.integers(1, 20))
@settings(max_examples=200)
def test_documents_blocks_have_a_limit(text: str, limit: int) -> None:
    blocks = list(read_blocks(io.StringIO(text, newline=""), limit=limit))
    assert "".join(block.text for block in blocks) == text
    assert all(block.text for block in blocks)
    assert all(len(block.text) <= 2 * limit for block in blocks)


def test_documents_blocks_come_one_by_one() -> None:
    def lines() -> Iterator[str]:
        yield from ["One is\n", "here.\n", "\n"]
        raise RuntimeError("the second block was read before the first was given")

    blocks = read_blocks(lines())
    assert next(blocks).text == "One is\nhere.\n\n"


def test_documents_long_paragraph_is_cut_after_a_sentence() -> None:
    text = "Mr. Lee went home at noon. " * 40
    blocks = list(read_blocks([text], limit=200))
    assert len(blocks) > 4
    assert {s.text for block in blocks for s in block.sentences} == {"Mr. Lee went home at noon."}


def test_documents_code_over_the_limit_stays_code() -> None:
    text = "Run it.\n\n```\n" + "x = 1. Y is it.\n\n" * 30 + "```\n\nIt ran.\n"
    blocks = list(read_blocks(io.StringIO(text), limit=100))
    assert "".join(block.text for block in blocks) == text
    assert [s.text for block in blocks for s in block.sentences] == ["Run it.", "It ran."]


def test_documents_of_many_signatures_compare_each_sentence_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    looked: list[int] = []
    found = documents.bisect_right
    monkeypatch.setattr(documents, "bisect_right", lambda *a: looked.append(0) or found(*a))
    read = read_document("Regards,\nAnn\n\nBob left.\n\n" * 500)
    assert [span.text for span in read.sentences] == ["Bob left."] * 500
    assert len(looked) <= 1500
