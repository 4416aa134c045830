"""Words that changed places or were exchanged are found, and what is only rephrased is not."""

import pytest

from parataxis.checks import Checker


@pytest.mark.parametrize(
    ("source", "simple", "messages"),
    [
        (
            "The mill was closed in 1984 after a fire killed two men.",
            ["The mill was closed in 1984 before a fire killed two men."],
            ["Is it 'before' or 'after' here? The source has 'after'."],
        ),
        (
            "The bell rings if the door opens, and the light goes out.",
            ["The bell rings unless the door opens.", "The light goes out."],
            ["Is it 'unless' or 'if' here? The source has 'if'."],
        ),
        (
            "The tenant gave the keys to the agent, who lost them.",
            ["The agent gave the keys to the tenant.", "The agent lost them."],
            [
                "Is it the agent or the tenant that gave the keys? "
                "The source does not say this of the agent."
            ],
        ),
        (
            "The Landlord, who lives in Bath, shall give the Tenant notice.",
            ["The Tenant shall give the Landlord notice.", "The Landlord lives in Bath."],
            [
                "Is it the Tenant or the Landlord that shall give? "
                "The source does not say this of the Tenant.",
                "Is it 'Landlord' or 'Tenant'? The source has 'Tenant' here.",
            ],
        ),
        (
            "The cook tasted the soup, added salt, and sent the plate out.",
            ["The cook sent the plate out.", "Then the cook tasted the soup and added salt."],
            ["What came first? The source tells 'tasted' before 'sent'."],
        ),
        (
            "The bridge was designed in Oslo and first opened in 1957, in Riga.",
            ["The bridge was designed in Oslo in 1957.", "It first opened in Riga."],
            ["What happened then ('1957'): 'opened' or 'designed'? In the source it is 'opened'."],
        ),
        (
            "The tunnel leads from the upper lake to the lower lake.",
            ["The tunnel leads from the lower lake to the upper lake."],
            ["Have 'upper' and 'lower' changed places? In the source it is the other way round."],
        ),
        (
            "Children get 5 grams twice a day, while adults get 20 grams once a day.",
            ["Children get 5 grams once a day.", "Adults get 20 grams twice a day."],
            ["Have 'twice' and 'once' changed places? In the source it is the other way round."],
        ),
    ],
)
def test_exchanges_are_found(
    checker: Checker, source: str, simple: list[str], messages: list[str]
) -> None:
    assert [finding.message for finding in checker(source, simple)] == messages


@pytest.mark.parametrize(
    ("source", "simple"),
    [
        (
            "The mill was closed after a fire, and the men who had survived left before winter.",
            ["The mill was closed after a fire.", "The men who had survived left before winter."],
        ),
        (
            "Ann, defeated by Bob in 1891, gave the cup to Carl.",
            ["Bob defeated Ann in 1891.", "Ann gave the cup to Carl."],
        ),
        (
            "The cook, who then sent the plate out, had tasted the soup before.",
            ["The cook had tasted the soup before.", "Then the cook sent the plate out."],
        ),
        (
            "Children get 5 grams twice a day, while adults get 20 grams once a day.",
            ["Adults get 20 grams once a day.", "Children get 5 grams twice a day."],
        ),
        (
            "In 1957 the bridge was designed in Oslo and opened in Riga.",
            ["In 1957 the bridge was designed in Oslo.", "It was opened in Riga in 1957."],
        ),
    ],
)
def test_exchanges_are_not_seen_in_what_is_rephrased(
    checker: Checker, source: str, simple: list[str]
) -> None:
    assert [finding.message for finding in checker(source, simple)] == []
