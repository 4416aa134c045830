"""The actions of the pointer model, and a source sentence as the model reads it.

At each step the model copies a source word, inflects the word that it has just copied, writes a
closed word, ends the sentence or ends the rewrite. An action is a number: first the control
actions, then the forms, then the closed words; ``COPY + i`` copies source word ``i``. No other word
has an action, so a content word that is not in the source cannot appear.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from parataxis.checks.verifier import OPENING
from parataxis.rewrite.forms import key
from parataxis.rewrite.record import Level
from parataxis.syntax.wordpieces import Pieces, load_word_pieces
from parataxis.text.english import words

START, NEXT, END, WHOLE = range(4)
"""Control actions: before the first action, next sentence, end of the rewrite, leave whole."""

FORM_NAMES = ("VBZ", "VBD", "VBN", "VB", "VBG", "NNS", "NN")
"""Forms of verbs and nouns, by their Penn Treebank names."""
FORMS = 4
"""The first form."""

CLOSED_WORDS = tuple(
    sorted(
        words(
            # marks
            ", . : ; ( ) \" '"
            # determiners and pronouns
            " a an the this that these those such same another other others own i me my we us our"
            " you your he him his himself she her hers herself it its itself they them their"
            " themselves who whom whose which what there here each both either neither one ones"
            " all any some former latter"
            # be, have, do, and what goes with them
            " be am is are was were been being have has had having do does did done doing not n't"
            " 's shall may must will would should could can"
            # prepositions
            " of in on at by for with to from into onto upon as about between among through during"
            " over within than like under against without since until after before including"
            " despite unlike according due regarding"
            # conjunctions and links
            " and or but nor so yet because although though while whereas when where whether if"
            " unless except once only even rather too also however moreover furthermore meanwhile"
            " nevertheless otherwise alternatively likewise similarly subsequently accordingly"
            " consequently afterwards thereafter then later now still again therefore thus hence"
            " instead further similar notwithstanding foregoing following respectively both why how"
            # the nouns, adjectives and verbs of links: "In that event,", "This applies only if"
            " time event case result reason contrast addition purpose example exception extent"
            " manner way place moment point turn year day obligation situation fact"
            " apply applies applied happen happens happened occur occurs occurred"
            " made called named known referred include includes included no"
        )
    )
)
"""The words that may be written without a source: function words, links, punctuation."""

CLOSED = FORMS + len(FORM_NAMES)
"""The first closed word."""
COPY = CLOSED + len(CLOSED_WORDS)
"""The first source word."""

_NUMBER = {word: CLOSED + place for place, word in enumerate(CLOSED_WORDS)}


def closed_word(key: str) -> int | None:
    """The action that writes a closed word; None for other words.

    >>> closed_word("however") == CLOSED + CLOSED_WORDS.index("however"), closed_word("tiger")
    (True, None)
    """
    return _NUMBER.get(key)


NO_TWIN = -1
"""In :attr:`Features.twins`: the source word is not a closed word."""


@dataclass(frozen=True, slots=True)
class Features:
    """One source sentence. ``same`` is for each word the index of the first word with the same
    spelling, and ``twins`` the action that writes the same word as a closed word."""

    pieces: Pieces
    same: Sequence[int]
    twins: Sequence[int]

    def __len__(self) -> int:
        return len(self.same)


def read_source(words: Sequence[str], level: Level = Level.PLAIN) -> Features:
    """The features of a sentence, given its words and the level of its rewrite.

    >>> read_source(["The", "cat", "and", "the", "dog"]).same
    [0, 1, 2, 0, 4]
    """
    keys = [key(word) for word in words]
    first: dict[str, int] = {}
    closed = map(closed_word, keys)
    pieces = load_word_pieces()([words])[0]
    if level in OPENING:
        pieces = replace(pieces, ids=[OPENING[level], *pieces.ids[1:]])
    return Features(
        pieces,
        [first.setdefault(spelling, place) for place, spelling in enumerate(keys)],
        [NO_TWIN if action is None else action for action in closed],
    )
