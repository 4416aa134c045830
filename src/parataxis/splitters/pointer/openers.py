"""What is said again.

What opens a source and governs all its clauses is repeated where a clause has left it: "In 1847 he
invented A and took B abroad" becomes "In 1847 he invented A. In 1847, he took B abroad." A
condition is not repeated but taken up by "In that case,". A noun or name stands in place of "he" or
"she" where the gender would be a guess: "The toddler had run away. The toddler was found."
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import takewhile

from parataxis.checks.lexicon import FEMININE, MASCULINE, has_gendered_ending
from parataxis.rewrite.compose import Copy, Insert, Part
from parataxis.rewrite.forms import key
from parataxis.syntax.analysis import Analysis, Word
from parataxis.text.english import MONTHS, PRONOUN_FORMS, WEEKDAYS, words

_CONDITIONS = words("if should provided")
_SETTINGS = words(
    "according during except for in notwithstanding on pursuant subject throughout under unless"
    " until within"
)
_TURNS = words(
    "addition conclusion contrast example fact general instance other particular response short"
    " turn"
)
"""Second words of phrases that link a sentence to the text before it: "in addition"."""
_LONGEST = 9
"""The longest phrase that is repeated, in words."""
_OWN_TIME = words(
    "again afterwards ago always currently eventually finally immediately instead later never now"
    " soon still subsequently then there thereafter today once"
)
_YEAR = re.compile(r"1\d{3}|20\d\d")
_PERIODS = MONTHS.union(
    WEEKDAYS,
    words("day week month year decade century time period moment hour morning afternoon evening"),
    words("night spring summer autumn winter"),
)
_LINKS = words("however therefore also consequently accordingly")
"""Inserted words that may stand before an opening phrase."""


@dataclass(frozen=True, slots=True)
class Opener:
    """A phrase at the start of a source, and the clauses that it governs."""

    head: int
    main: int
    clauses: frozenset[int]
    again: tuple[Part, ...]
    """What stands for it in another sentence, with a comma."""


def with_openers(
    analysis: Analysis, sentences: Sequence[tuple[Part, ...]]
) -> list[tuple[Part, ...]]:
    """The sentences with the opening phrase in each that has lost it."""
    opener = analysis.once(_find) if len(sentences) > 1 else None
    if opener is None:
        return list(sentences)
    places = [{part.word for part in each if not isinstance(part, Insert)} for each in sentences]
    if not any({opener.head, opener.main} <= words_of for words_of in places):
        return list(sentences)
    opened = []
    is_near = False  # "in that case" can only refer to the sentence before
    for each, own in zip(sentences, places, strict=True):
        is_lost = bool(opener.clauses & own) and own.isdisjoint({opener.head, opener.main})
        may_refer = is_near or isinstance(opener.again[0], Copy)
        opened.append(_opened(each, opener.again) if is_lost and may_refer else each)
        is_near = opener.head in own or (is_lost and is_near)
    return opened


def _opened(sentence: tuple[Part, ...], again: tuple[Part, ...]) -> tuple[Part, ...]:
    comma = Insert(",")
    if isinstance(sentence[0], Insert) and comma in sentence[:5]:
        place = sentence.index(comma) + 1
        link = [part.text for part in sentence[: place - 1] if isinstance(part, Insert)]
        return sentence[:place] + again + sentence[place:] if _LINKS.issuperset(link) else sentence
    first = sentence[0].text if isinstance(sentence[0], Insert) else ""
    return sentence if first in _OWN_TIME | {"this", "in", "at"} else again + sentence


def _find(analysis: Analysis) -> Opener | None:
    main = next((word for word in analysis if word.relation == "root"), None)
    if main is None or analysis.text.rstrip("\"'”’) ").endswith("?"):
        return None
    for head in analysis.children(main.index, "obl", "advcl"):
        subtree = analysis.subtree(head.index)
        phrase = [place for place in subtree if analysis[place].upos != "PUNCT"]
        if not phrase or phrase[0] != analysis.opener or phrase[-1] == len(analysis) - 1:
            continue  # it does not open the sentence
        start, end = phrase[0], phrase[-1] + 1
        behind = end + (analysis[end].text == ",")
        if behind != _subject(analysis, main):
            continue
        again = _again(analysis, main, range(start, end))
        clauses = frozenset(
            clause.index
            for clause in analysis.children(main.index, "conj")
            if _shares_time(analysis, main, clause)
        )
        return Opener(head.index, main.index, clauses, again) if again and clauses else None
    return None


def _subject(analysis: Analysis, verb: Word) -> int:
    """Where the clause of a verb begins behind its opening phrases."""
    found = analysis.children(verb.index, "nsubj", "csubj", "expl", "aux", "cop")
    starts = [analysis.subtree(word.index)[0] for word in found]
    return min([*starts, verb.index])


def _again(analysis: Analysis, main: Word, phrase: range) -> tuple[Part, ...]:
    texts = [key(analysis[place].text) for place in phrase]
    if texts[0] in _CONDITIONS:
        is_duty = any(key(word.text) == "shall" for word in analysis)
        return tuple(map(Insert, ("in", "that", "event" if is_duty else "case", ",")))
    is_turn = len(texts) > 1 and texts[1] in _TURNS
    if texts[0] not in _SETTINGS or is_turn or len(phrase) > _LONGEST:
        return ()
    return (*map(Copy, phrase), Insert(","))


def _shares_time(analysis: Analysis, main: Word, clause: Word) -> bool:
    """Whether a later clause has the tense of the first, and no time or place of its own."""
    if clause.upos not in ("VERB", "AUX", "ADJ"):
        return False
    own = analysis.children(clause.index)
    has_own = any(
        key(word.text) in _OWN_TIME
        or (word.relation in ("obl", "advcl") and word.index < _subject(analysis, clause))
        or (word.relation == "obl" and _is_time(analysis, word))
        for word in own
    )
    return not has_own and _tense(analysis, clause) in ("", _tense(analysis, main))


def _is_time(analysis: Analysis, noun: Word) -> bool:
    return key(noun.text).removesuffix("s") in _PERIODS or any(
        _YEAR.fullmatch(analysis[place].text) for place in analysis.subtree(noun.index)
    )


def _tense(analysis: Analysis, verb: Word) -> str:
    """The tag of the finite word of a clause; "" if it is shared with another clause."""
    first = next((word for word in analysis.children(verb.index, "aux", "cop")), verb)
    tag = "VBZ" if first.xpos == "VBP" else first.xpos
    return tag if tag in ("VBD", "VBZ", "MD") else ""


_TELLING = {"he": PRONOUN_FORMS["he"] | MASCULINE, "she": PRONOUN_FORMS["she"] | FEMININE}
"""The words that tell the gender of a pronoun."""
_LONGEST_NAME = 3
"""The longest name that is repeated, in words."""
_QUOTES = "\"'“‘`"
_LATEST = 4
"""The last place at which a pronoun is taken for the subject of its sentence."""


def without_guess(analysis: Analysis, sentence: tuple[Part, ...]) -> tuple[Part, ...]:
    """The sentence with a noun or name in place of a subject pronoun whose gender is a guess.

    Raters fault 70 of 81 such guesses, also where a first name would tell.
    """
    for place, part in enumerate(sentence[:_LATEST]):
        if isinstance(part, Insert) and part.text in _TELLING:
            rest = [each.word for each in sentence[place + 1 :] if not isinstance(each, Insert)]
            if not rest or part.text in analysis.once(_told):
                return sentence
            noun = _meant(analysis, analysis[rest[0]])
            if noun is None or analysis.children(noun.index, "conj"):
                return sentence
            meant = _named(analysis, noun)
            return (*sentence[:place], *meant, *sentence[place + 1 :]) if meant else sentence
    return sentence


def _named(analysis: Analysis, noun: Word) -> tuple[Part, ...]:
    """How a person is mentioned again: "the toddler", a name, or the last word of a long one;
    nothing for a plural, or a name with an addition ("Jane \"Jessie\" Pride")."""
    if noun.upos == "NOUN":
        return (Insert("the"), Copy(noun.index)) if noun.xpos == "NN" else ()
    own = analysis.children(noun.index, "flat", "compound")
    first = min([noun.index, *(word.index for word in own)])
    name = list(takewhile(lambda word: word.xpos == "NNP", analysis.words[first:]))
    follows = next(iter(analysis.words[first + len(name) :]), None)
    if noun not in name or (follows is not None and follows.text in _QUOTES):
        return ()
    return tuple(Copy(word.index) for word in (name if len(name) <= _LONGEST_NAME else name[-1:]))


def _told(analysis: Analysis) -> frozenset[str]:
    """The pronouns whose gender a word of the source tells."""
    keys = {key(word.text) for word in analysis}
    has_ending = any(map(has_gendered_ending, keys))
    return frozenset(name for name, forms in _TELLING.items() if has_ending or forms & keys)


def _meant(analysis: Analysis, word: Word) -> Word | None:
    """The noun that the clause of a word is about in the source."""
    if word.relation in ("aux", "cop", "advmod", "det", "amod", "compound") and word.head >= 0:
        word = analysis[word.head]
    for _ in range(3):
        subject = next(iter(analysis.children(word.index, "nsubj")), None)
        if subject is not None and subject.upos in ("NOUN", "PROPN"):
            return subject
        if word.head < 0:
            return None
        head = analysis[word.head]
        if word.relation in ("acl", "appos") and head.upos in ("NOUN", "PROPN"):
            # Of "Yuki is a skater who competed", the subject is meant.
            subject = next(iter(analysis.children(head.index, "nsubj")), None)
            return head if subject is None else subject
        if word.relation not in ("conj", "advcl"):
            return None
        word = head
    return None
