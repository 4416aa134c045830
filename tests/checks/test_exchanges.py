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
        (
            "The core was lifted into place in May, after which the spikes were attached.",
            ["The core was lifted into place in May.", "Before that, the spikes were attached."],
            ["What came first: 'lifted' or 'attached'? In the source it is 'lifted'."],
        ),
        (
            "After the guard had locked the gate, the visitors sang.",
            ["The guard had locked the gate.", "Before that, the visitors sang."],
            ["What came first: 'locked' or 'sang'? In the source it is 'locked'."],
        ),
        (
            "The visitors sang before the guard locked the gate.",
            ["The guard locked the gate.", "After that, the visitors sang."],
            ["What came first: 'sang' or 'locked'? In the source it is 'sang'."],
        ),
        (
            "Following the war, Ann returned to Oslo, sold her house by auction and became a nun.",
            [
                "Following the war, Ann became a nun.",
                "She then returned to Oslo.",
                "She sold her house by auction.",
            ],
            ["What came first? The source tells 'returned' before 'became'."],
        ),
        (
            "When the valve opens, the pressure falls and the bell rings.",
            ["When the pressure falls, the valve opens.", "The bell rings."],
            ["'When' what: 'falls' or 'opens'? In the source it is 'opens'."],
        ),
        (
            "Prior to the arrival of the railway, the town lived on salt, which was dear.",
            ["After the arrival of the railway, the town lived on salt.", "Salt was dear."],
            ["Is it 'After' or 'prior to' here? The source has 'prior to'."],
        ),
        (
            "He was helped by the other two, who knew the town.",
            ["He helped the other two.", "The two knew the town."],
            ["Does 'He' do this ('helped')? In the source it is done to it."],
        ),
        (
            "He once more came back to Margaret, who was crying.",
            ["Margaret once more came back to him.", "Margaret was crying."],
            ["Is it Margaret or 'He' that came? In the source it is 'He'."],
        ),
        (
            "The library has a collection of old books and a hall.",
            ["The library has a collection of old books.", "The collection has a hall."],
            [
                "Is it the collection or the library that has a hall? "
                "In the source it is the library."
            ],
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
        (
            "The core was lifted into place in May, after which the spikes were attached.",
            ["The core was lifted into place in May.", "After that, the spikes were attached."],
        ),
        (
            "After the guard had locked the gate, the visitors sang.",
            ["The visitors sang.", "Before that, the guard had locked the gate."],
        ),
        (
            "She published nothing until his death, after which she wrote six novels.",
            ["She published nothing until his death.", "After his death, she wrote six novels."],
        ),
        (
            "The clerk was helped by Bob, who knew the town.",
            ["Bob helped the clerk.", "Bob knew the town."],
        ),
        (
            "An order may include rules, including rules on fees.",
            ["An order may include rules.", "Such rules may include rules on fees."],
        ),
    ],
)
def test_exchanges_are_not_seen_in_what_is_rephrased(
    checker: Checker, source: str, simple: list[str]
) -> None:
    assert [finding.message for finding in checker(source, simple)] == []
