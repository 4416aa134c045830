"""Conditions, attributions and alternatives govern what they governed in the source."""

import pytest

from parataxis.checks import Checker


@pytest.mark.parametrize(
    ("source", "simple", "messages"),
    [
        (
            "The Tenant may repair the roof or replace the pump.",
            ["The Tenant may repair the roof and replace the pump."],
            ["Is it 'and' or 'or' after 'roof'? The source has 'or'."],
        ),
        (
            "The Tenant may repair the roof or may replace the pump.",
            ["The Tenant may repair the roof.", "The Tenant may also replace the pump."],
            ["Do both hold, or one of them? The source has 'or' before 'replace', not 'also'."],
        ),
        (
            "The police said that the driver was drunk and that he had fled.",
            ["The police said that the driver was drunk.", "He had fled."],
            ["Is this a fact ('fled')? In the source somebody only says so ('said')."],
        ),
        (
            "If the pump fails, the alarm sounds and the gates close.",
            ["If the pump fails, the alarm sounds.", "The gates close."],
            [
                "Does this always hold ('close')? "
                "In the source it depends on a condition ('If ... fails')."
            ],
        ),
        (
            "The alarm sounds if the pump fails, and if it rains the gates close.",
            ["The alarm sounds and the pump fails.", "If it rains, if so, the gates close."],
            ["Is this a fact ('fails')? In the source it is a condition ('if')."],
        ),
        (
            "Members may vote if they apply in writing and pay the fee that is due.",
            [
                "Members may vote if they apply in writing.",
                "They may also pay the fee that is due.",
            ],
            ["Is this a fact ('pay')? In the source it is a condition ('if')."],
        ),
        (
            "Prices fell in May and rose in June, the bank believes.",
            ["The bank believes that prices fell in May.", "They rose in June."],
            ["Is this a fact ('rose')? In the source somebody only says so ('believes')."],
        ),
        (
            "Rumours that the bank had failed reached London.",
            ["The bank had failed.", "These rumours reached London."],
            ["Is this a fact ('failed')? In the source somebody only says so ('Rumours')."],
        ),
        (
            "When the lights went out, the pianist kept playing.",
            ["The lights went out.", "The pianist kept playing."],
            ["When or why? The link 'When' before 'went' is missing."],
        ),
        (
            "When the mayor raised the tax, Ann wrote to tell him that the town was poor.",
            ["The mayor raised the tax.", "Ann wrote to tell him that the town was poor."],
            ["When or why? The link 'When' before 'raised' is missing."],
        ),
        (
            "The Tenant may paint the walls and may keep a dog, provided the Landlord agrees.",
            [
                "The Tenant may paint the walls.",
                "The Tenant may also keep a dog, provided the Landlord agrees.",
            ],
            [
                "Does this always hold ('paint')? "
                "In the source it depends on a condition ('provided ... agrees')."
            ],
        ),
        (
            "The licence is restored if the owner warns you, this is the first time, and you stop.",
            [
                "The licence is restored if the owner warns you.",
                "This is the first time.",
                "In that case, you stop.",
            ],
            [
                "Is this a fact ('time')? In the source it is a condition ('if').",
                "Is this a fact ('stop')? In the source it is a condition ('if').",
            ],
        ),
        (
            "The installer copies the old settings before it removes version 3, unless you start it"
            " with the --clean option, in which case both the settings and the plug-ins are deleted"
            " and cannot be restored.",
            [
                "The installer copies the old settings before it removes version 3, unless you"
                " start it with the --clean option.",
                "In that case both the settings and the plug-ins are deleted and cannot be"
                " restored.",
            ],
            [],
        ),
        (
            "Children get 5 drops a day, while adults get 20 drops unless their hearts are weak.",
            ["Children get 5 drops a day unless their hearts are weak.", "Adults get 20 drops."],
            ["Does 'weak' belong to 'get'? In the source it stands after 'get'."],
        ),
        (
            "The police believe that the driver fell asleep, causing the crash.",
            ["The police believe that the driver fell asleep.", "This caused the crash."],
            ["Is this a fact ('caused')? In the source somebody only says so ('believe')."],
        ),
        (
            "Unless the parties agree otherwise, the case is heard in Oslo and its end is final.",
            [
                "Unless the parties agree otherwise, the case is heard in Oslo.",
                "In that event, its end is final.",
            ],
            ["In which case ('final')? In the source it holds unless something happens ('agree')."],
        ),
        (
            "My client claims that the fence, which you built in 2019, stands on her land.",
            ["My client claims that the fence stands on her land.", "You built it in 2019."],
            ["Is this a fact ('built')? In the source somebody only says so ('claims')."],
        ),
        (
            "The guests have complained about the noise, and that the soup is cold.",
            ["The guests have complained about the noise.", "The soup is cold."],
            ["Is this a fact ('cold')? In the source somebody only says so ('complained')."],
        ),
    ],
)
def test_scope_that_is_lost_is_found(
    checker: Checker, source: str, simple: list[str], messages: list[str]
) -> None:
    assert [finding.message for finding in checker(source, simple)] == messages


@pytest.mark.parametrize(
    ("source", "simple"),
    [
        (
            "The Tenant may repair the roof or replace the pump.",
            ["The Tenant may repair the roof.", "Alternatively, it may replace the pump."],
        ),
        (
            "The Tenant shall not paint the roof or move the pump.",
            ["The Tenant shall not paint the roof.", "The Tenant shall also not move the pump."],
        ),
        (
            "The police said that the driver was drunk and that he had fled.",
            ["The police said that the driver was drunk.", "They also said that he had fled."],
        ),
        (
            "If the pump fails, the alarm sounds and the gates close.",
            ["If the pump fails, the alarm sounds.", "In that case, the gates also close."],
        ),
        (
            "Except for the tools, Ann agrees to buy all goods.",
            ["Ann agrees to buy all goods.", "However, this does not apply to the tools."],
        ),
    ],
)
def test_scope_in_other_words_is_kept(checker: Checker, source: str, simple: list[str]) -> None:
    assert checker(source, simple) == []
