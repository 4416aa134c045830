import pytest

from parataxis.rewrite.record import Origin
from parataxis.splitters.pointer.long import cut_long
from parataxis.splitters.pointer.splitter import PointerSplitter
from parataxis.splitters.settings import SplitSettings
from parataxis.syntax.analyser import load_analyser

STOCK = " ".join(f"barrels of type {number}," for number in range(30))
LONG = (
    f"The Supplier shall store {STOCK} and all tools; the Buyer shall inspect the goods, which are "
    f"kept in Oslo, within ten days; and the Carrier shall insure {STOCK} and the ship."
)


@pytest.mark.parametrize(
    ("sentence", "starts"),
    [
        (
            "The bank opens at nine; the post office opens at ten; and the library stays closed.",
            ["The bank", "The post", "The library"],
        ),
        ("The tenant shall pay the rent; or the landlord may end the lease.", ["The tenant"]),
        ("The fee is due in May; provided that the goods have arrived.", ["The fee"]),
        ("The parties are (a) the Seller; (b) the Buyer; and (c) the Bank.", ["The parties"]),
        ("If it rains, the match ends; the tickets stay valid.", ["If it"]),
        ("He said (he was angry; she was not) that it rained.", ["He said"]),
        ("She likes tea; strong coffee; and milk.", ["She likes"]),
    ],
)
def test_long_is_cut_between_full_clauses_only(sentence: str, starts: list[str]) -> None:
    parts = cut_long(sentence, load_analyser().pipe)
    assert [text[: len(start)] for (_, text), start in zip(parts, starts, strict=True)] == starts


def test_long_sentence_is_cut_and_its_parts_are_rewritten() -> None:
    rewrite = PointerSplitter()(LONG)
    assert len(rewrite.simple) >= 3
    assert rewrite.simple[0] == f"The Supplier shall store {STOCK} and all tools."
    assert "The goods are kept in Oslo." in rewrite.simple
    assert rewrite.note == "Cut at semicolons first, because it is very long."
    for simple, tokens in zip(rewrite.simple, rewrite.provenance or (), strict=True):
        for token in tokens:
            if token.origin is Origin.COPIED and token.source is not None:
                start, end = token.source
                assert LONG[start:end].casefold() == token.text.casefold(), simple


def test_long_sentence_stays_whole_in_strict_mode() -> None:
    strict = PointerSplitter().adjusted(SplitSettings(strict=True))(LONG)
    assert strict.simple == (LONG,)
    assert (strict.note or "").startswith("Left whole because it has")
