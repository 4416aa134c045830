"""Details that now belong to another word are found, and what was only moved is not."""

import pytest

from parataxis.checks import Checker


@pytest.mark.parametrize(
    ("source", "simple", "message"),
    [
        (
            "So Claus resolved to make many dolls, and to dress them in bright clothing.",
            [
                "So Claus resolved to make many bright dolls.",
                "He resolved to dress them in clothing.",
            ],
            "Does 'bright' belong to 'dolls'? In the source it stands before 'clothing'.",
        ),
        (
            "The skeleton has many functions, including support, mobility, protection of internal "
            "organs, and mineral storage.",
            [
                "The skeleton has many functions.",
                "These functions include support, mobility of internal organs, protection, and "
                "mineral storage.",
            ],
            "Does 'of internal organs' belong to 'mobility'? "
            "In the source it stands after 'protection'.",
        ),
        (
            "Although the policy formulated by reformers ended the assault on Indian life, it "
            "enhanced efforts to destroy Native cultures.",
            [
                "The policy ended the assault on Indian life formulated by reformers.",
                "However, it enhanced efforts to destroy Native cultures.",
            ],
            "Does 'formulated' belong to 'life'? In the source it stands after 'policy'.",
        ),
        (
            "As the plane approached Athens, all communication abruptly ceased, and the plane "
            "never issued a distress signal.",
            [
                "All communication abruptly ceased.",
                "As it approached Athens, the plane never issued a distress signal.",
            ],
            "Does 'As the plane approached' belong to 'issued'? "
            "In the source it belongs to 'ceased'.",
        ),
        (
            "Without waiting for breakfast, Tom ran to the bush where Ann was singing a song.",
            [
                "Tom ran to the bush.",
                "There, without waiting for breakfast, Ann was singing a song.",
            ],
            "Does 'Without waiting' belong to 'singing'? In the source it belongs to 'ran'.",
        ),
        (
            "The plan shall state the scope of the program and include a budget.",
            [
                "The plan shall state the scope of the program.",
                "The program shall also include a budget.",
            ],
            "Is it the program or the plan that shall also include a budget? "
            "The source does not say this of the program.",
        ),
        (
            "Riots erupted in Bulumkuttu, near Maidaguri, and in Kaduna, to where many adherents "
            "had moved after 1980.",
            [
                "Riots erupted in Bulumkuttu, near Maidaguri, and in Kaduna.",
                "Many adherents had moved to Maidaguri after 1980.",
            ],
            "Is 'Maidaguri' right with 'moved'? The source does not say this of it.",
        ),
        (
            "I was too young to have any inkling of their scheme; but suddenly a suspicion broke "
            "upon me.",
            [
                "I was too young to have any inkling of their scheme.",
                "But suddenly a suspicion broke upon them.",
            ],
            "Is it 'them' or 'me'? The source has 'me'.",
        ),
        (
            "You agree that these Terms and your use of the Software are governed by this law.",
            [
                "You agree that these Terms are governed by this law.",
                "Our use of the Software is governed by this law.",
            ],
            "Is it 'Our' or 'your'? The source has 'your'.",
        ),
        (
            "Two men stood on the bridge and seemed to be cautiously advancing down the path.",
            [
                "Two men stood cautiously on the bridge.",
                "They seemed to be advancing down the path.",
            ],
            "Does 'cautiously' belong to 'stood'? In the source it stands before 'advancing'.",
        ),
        (
            "Although the price may be close to the estimate (as in the case of tin), the dealers "
            "may send a wrong warning.",
            [
                "The price may be close to the estimate.",
                "However, the dealers may send a wrong warning (as in the case of tin).",
            ],
            "Does the bracket belong to 'warning'? In the source it stands after 'estimate'.",
        ),
        (
            "On the same day, Ann Lee, the United Nations envoy for Chad, resigned.",
            ["Ann Lee resigned.", "On the same day, Lee was the United Nations envoy for Chad."],
            "Does 'On the same day' belong to 'envoy'? In the source it belongs to 'resigned'.",
        ),
    ],
)
def test_wrong_attachments_are_found(
    checker: Checker, source: str, simple: list[str], message: str
) -> None:
    assert [finding.message for finding in checker(source, simple)] == [message]


@pytest.mark.parametrize(
    ("source", "simple"),
    [
        (
            "The actress left her jewels to the nation and her parrot, to which she had taught a "
            "whole act, to her understudy.",
            [
                "The actress left her jewels to the nation and her parrot to her understudy.",
                "She had taught the parrot a whole act.",
            ],
        ),
        (
            "The first defendant is the driver of the van, the second its owner.",
            ["The first defendant is the driver of the van.", "The second defendant is its owner."],
        ),
        (
            "Nitrogen fixed by the alders, estimated at 85 kg a year, enriches the soil.",
            ["The alders fix nitrogen, estimated at 85 kg a year.", "It enriches the soil."],
        ),
        (
            "From there he was deployed to Gallipoli in May 1915, where he contracted dysentery.",
            [
                "From there he was deployed to Gallipoli in May 1915.",
                "At Gallipoli he contracted dysentery.",
            ],
        ),
        (
            "Perhaps you are more relaxed with your family, making jokes and doing silly things.",
            [
                "Perhaps you are more relaxed with your family.",
                "Perhaps you make jokes and do silly things with them.",
            ],
        ),
        (
            "The roof and the walls of the house were painted and repaired.",
            [
                "The roof of the house was painted and repaired.",
                "The walls were painted and repaired.",
            ],
        ),
        (
            'The fees shall be set by a firm chosen from the best firms in Chad (the "Auditor").',
            [
                'The fees shall be set by a firm (the "Auditor").',
                "The Auditor shall be chosen from the best firms in Chad.",
            ],
        ),
        (
            "The pumps which it bought in 2021, at a high price, were delivered without valves.",
            [
                "The pumps were delivered without valves.",
                "It bought the pumps in 2021 at a high price.",
            ],
        ),
        (
            "The sonar requires accurate off-set and other information that was entered late.",
            ["The sonar requires accurate off-set.", "Accurate information was entered late."],
        ),
        (
            "Two men slowly crossed the bridge and went home.",
            ["Two men crossed the bridge slowly.", "They went home."],
        ),
    ],
)
def test_moved_words_may_stay_with_their_head(
    checker: Checker, source: str, simple: list[str]
) -> None:
    assert checker(source, simple) == []


BROKEN = [
    ("The dam would hold, however much rain the winter might bring.",
     ["The dam would hold.", "However, much rain the winter might bring."],
     ("lost", "Do the words of 'however much' stand together? In the source they do.")),
    ("The clerk shall send the papers in sufficient time before the meeting to enable the members"
     " to read them.",
     ["The clerk shall send the papers in sufficient time before the meeting.",
      "This is to enable the members to read them."],
     ("lost", "Do the words of 'sufficient time before the meeting to' stand together? In"
              " the source they do.")),
    ("An officer may, on production of a permit if so required, enter the house and inspect it.",
     ["An officer may, on production of a permit if so required, enter the house.",
      "If so required, the officer may, on production of a permit if so required, inspect it."],
     ("repeated", "Is this said twice ('if so required')?")),
    ("Teams can decide how they share the work, whether one person does it or all do.",
     ["Teams can decide how they share the work.",
      "This is whether one person does it or all do."],
     ("new", "Can 'This is' stand before 'whether'? The source has no such words.")),
    ("No trains stop in the town, because of this fact many people do not even know that it"
     " exists!",
     ["No trains stop in the town.",
      "This is because of this fact, many people do not even know that it exists!"],
     ("new", "Can 'This is' stand before 'because'? The source has no such words.")),
]  # fmt: skip

WHOLE = [
    ("However, much rain fell, and the dam broke.",
     ["However, much rain fell.", "The dam broke."]),
    ("The impression was so unclear that, however much he tried, nothing came, and he left.",
     ["However, the impression was so unclear that, however much he tried, nothing came.",
      "He left."]),
    ("The clerk has sufficient staff, and he works to help the members.",
     ["The clerk has sufficient staff.", "He works to help the members."]),
    # A noun is said again.
    ("The members of an affiliated group (within the meaning of the Act) shall pay.",
     ["The members of an affiliated group shall pay.",
      "Such an affiliated group is an affiliated group within the meaning of the Act."]),
    ("The road was closed because of the snow.",
     ["The road was closed.", "This was because of the snow."]),
]  # fmt: skip


@pytest.mark.parametrize(("source", "simple", "expected"), BROKEN)
def test_phrases_that_are_broken_are_found(
    checker: Checker, source: str, simple: list[str], expected: tuple[str, str]
) -> None:
    found = [(each.kind.value, each.message) for each in checker(source, simple)]
    assert expected in found


@pytest.mark.parametrize(("source", "simple"), WHOLE)
def test_phrases_that_are_whole_are_left(checker: Checker, source: str, simple: list[str]) -> None:
    assert checker(source, simple) == []
