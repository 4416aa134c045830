"""What the pointer and the verifier make of sentences together: exact rewrites, in any batch."""

import pytest

from parataxis.splitters.pointer import PointerSplitter

# Sentences of our own that 0.1 got wrong: it left two duties together, a reason with a statement, a
# fact behind "who", two actions before "which", or took the wrong noun for "it".
RANKED = [
    (
        "Each member of the Council shall be a resident of the county and shall serve a term of"
        " four years.",
        (
            "Each member of the Council shall be a resident of the county.",
            "Each member of the Council shall serve a term of four years.",
        ),
    ),
    (
        "The tool works for wood as well as for metal, and it can be used even by people with no"
        " training in carpentry, as the marks that appear on the scale are easy to read.",
        (
            "The tool works for wood as well as for metal.",
            "It can be used even by people with no training in carpentry.",
            "This is because the marks that appear on the scale are easy to read.",
        ),
    ),
    (
        "The scheme is made up of a diverse group of retired engineers from around the county who"
        " serve as partners to the teachers already working within the schools.",
        (
            "The scheme is made up of a diverse group of retired engineers from around the county.",
            "These engineers serve as partners to the teachers already working within the schools.",
        ),
    ),
    (
        "The Contractor shall commence the Works within fourteen days after the Engineer has issued"
        " the notice to proceed and shall complete them within 240 days, failing which liquidated"
        " damages of US$2,000 per day shall be payable.",
        (
            "The Contractor shall commence the Works within fourteen days after the Engineer has"
            " issued the notice to proceed.",
            "The Contractor shall complete the Works within 240 days.",
            "Failing this, liquidated damages of US$2,000 per day shall be payable.",
        ),
    ),
    (
        "The Bank may at any time vary the interest rate applicable to the Account, but where the"
        " variation is to the disadvantage of the Account Holder, it shall not take effect until"
        " two months after the Account Holder has been notified.",
        (
            "The Bank may at any time vary the interest rate applicable to the Account.",
            "However, where the variation is to the disadvantage of the Account Holder, it shall"
            " not take effect until two months after the Account Holder has been notified.",
        ),
    ),
    (
        "The train is powered by hydrogen, emits nothing but water and can travel 1,000 km without"
        " refuelling, which makes it ideal for lines that have not been electrified, such as the"
        " one between Cuxhaven and Buxtehude.",
        (
            "The train is powered by hydrogen.",
            "It emits nothing but water.",
            "It can travel 1,000 km without refuelling.",
            "This makes it ideal for lines that have not been electrified, such as the one between"
            " Cuxhaven and Buxtehude.",
        ),
    ),
    (
        "Keep this certificate in a safe place, as you will need to show it if you make a claim,"
        " sell the vehicle or take it abroad.",
        (
            "Keep this certificate in a safe place.",
            "This is because you will need to show it if you make a claim, sell the vehicle or take"
            " it abroad.",
        ),
    ),
]


# Sentences whose trailing participle lost its modal in 0.1.
MODAL = [
    (
        "The dam could burst, flooding three villages.",
        ("The dam could burst.", "This could flood three villages."),
    ),
    (
        "The law might pass in May, making it illegal to sell fireworks.",
        ("The law might pass in May.", "This might make it illegal to sell fireworks."),
    ),
    (
        "The bridge may collapse at any time, blocking the only road to the village.",
        ("The bridge may collapse at any time.", "This may block the only road to the village."),
    ),
    (
        "The new tax will take effect in July, raising prices for everyone.",
        ("The new tax will take effect in July.", "This will raise prices for everyone."),
    ),
    (
        "The patch can break old plugins, causing the editor to crash.",
        ("The patch can break old plugins.", "This can cause the editor to crash."),
    ),
]


@pytest.fixture(scope="module")
def splitter() -> PointerSplitter:
    return PointerSplitter()


@pytest.mark.parametrize(("source", "simple"), [*RANKED, *MODAL])
def test_ranked_rewrite(splitter: PointerSplitter, source: str, simple: tuple[str, ...]) -> None:
    assert splitter(source).simple == simple


def test_ranked_rewrites_are_the_same_in_any_batch(splitter: PointerSplitter) -> None:
    sources = [source for source, _ in RANKED] + ["It rained.", "Ann, a poet, died in May."]
    alone = [splitter(source).model_dump_json() for source in sources]
    together = [rewrite.model_dump_json() for rewrite in splitter.pipe(sources * 3)]
    assert together == alone * 3
    assert [each.model_dump_json() for each in splitter.pipe(reversed(sources))] == alone[::-1]
