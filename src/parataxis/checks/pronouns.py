"""Ambiguous pronouns, and pronouns that state a gender which the source does not give.

Only two certain cases are reported. A pronoun that stands for the noun of a relative or participle
clause is ambiguous if it fits another subject of the previous sentence, because readers resolve a
pronoun at the start of a sentence to the last subject. "He" or "she" is a guess if the source has
no word and no name that tells the gender.
"""

from collections.abc import Sequence
from itertools import pairwise

from parataxis.checks import lexicon
from parataxis.checks.findings import Origins, finding, finding_at, noun_phrase
from parataxis.checks.relations import NOMINAL
from parataxis.checks.units import FactUnit, Side
from parataxis.rewrite.forms import is_known, is_plural, key
from parataxis.rewrite.record import Finding, FindingKind
from parataxis.syntax.analysis import Analysis, Word
from parataxis.text import english
from parataxis.text.english import words

_KIND = FindingKind.AMBIGUOUS_PRONOUN
_RELATION = FindingKind.RELATION
_SUBJECT_RELATIVES = english.RELATIVES - {"whom", "whose"}
_HE, _SHE = english.PRONOUN_FORMS["he"], english.PRONOUN_FORMS["she"]
_GENDERS = (
    (_HE, _HE | lexicon.MASCULINE, "man"),
    (_SHE, _SHE | lexicon.FEMININE, "woman"),
)
"""The forms of a pronoun, the words that tell its gender, and the noun for the message."""


def guessed_genders(source: Side, simple: Side) -> list[Finding]:
    """The first "he" or "she" of a rewrite whose source has no name and no gender."""
    findings = []
    for forms, telling, noun in _GENDERS:
        if simple.keys.isdisjoint(forms):
            continue
        other = _other_gender(source, telling)
        if other is None and _gives_gender(source, telling):
            continue
        index, unit = next(
            (index, unit)
            for index, sentence in enumerate(simple.sentences)
            for unit in sentence
            if unit.key in forms
        )
        message = f"'{unit.text}' says that this is a {noun}, but the source does not say so."
        kind = _KIND
        if other is not None:
            kind = FindingKind.NEW
            message = f"Is it '{unit.text}' or '{other.text}'? The source has '{other.text}'."
        findings.append(finding(kind, unit.text, message, start=unit.start, sentence=index))
    return findings


def _other_gender(source: Side, telling: frozenset[str]) -> FactUnit | None:
    """A pronoun of the source that tells the other gender of the only person who is named."""
    if not source.keys.isdisjoint(telling) or source.keys.isdisjoint(_HE | _SHE):
        return None
    names = [
        unit.is_fact and unit.text[0].isupper() and unit.key not in lexicon.DATE_WORDS
        for unit in source.units
    ]
    if sum(here and not before for before, here in pairwise([False, *names])) > 1:
        return None
    return next(unit for unit in source.units if unit.key in _HE | _SHE)


def ambiguous_pronouns(
    source: Analysis, simple: Sequence[Analysis | None], origins: Sequence[Origins]
) -> list[Finding]:
    """Inserted subject pronouns that fit the last subject, but stand for another noun."""
    findings = []
    for index in range(1, len(simple)):
        sentence, before = simple[index], simple[index - 1]
        if not sentence or not before:  # without an analysis, or without words
            continue
        for pronoun in sentence.children(sentence.root.index, "nsubj"):
            if key(pronoun.text) not in english.THIRD_PERSON or _is_copied(
                pronoun, sentence, origins[index]
            ):
                continue
            meant = _antecedent(source, pronoun, sentence, origins[index])
            mention = meant and _mention(meant, before, origins[index - 1])
            rival = mention and _rival(pronoun, mention, before)
            if mention and rival:
                message = (
                    f"Does '{pronoun.text}' mean '{noun_phrase(before, rival)}' "
                    f"or '{noun_phrase(before, mention)}'? A reader cannot tell."
                )
                findings.append(finding_at(_KIND, pronoun, message, index))
    return findings


_NUMBERS = {"it": False, "they": True, "he": False, "she": False}
_GROUPS = words(
    "team board committee company council court crew party staff family band group police army"
    " government press public audience crowd people majority number couple pair none half rest"
    " either neither each everyone anyone person"
)
"""Nouns of either number."""
_FIRMS = words(
    "lender borrower tenant landlord employer customer owner manager member partner agent client"
    " host"
)
"""Nouns that name a firm or a program as often as a person."""


def misfit_pronouns(source: Analysis, origins: Sequence[Origins]) -> list[Finding]:
    """Inserted subject pronouns that do not fit the subject which the source gives their verb."""
    findings = []
    for index, origin in enumerate(origins):
        pairs = origin.spoken()
        for place, (token, came_from) in enumerate(pairs[:5]):
            number = _NUMBERS.get(key(token.text))
            is_copied = came_from is not None and key(came_from.text) == key(token.text)
            if number is None:
                continue
            verb = next((word for _, word in pairs[place + 1 : place + 4] if word), None)
            subject = verb and _which(source, verb, token.text)
            if is_copied and subject is None:
                continue
            subjects = [subject] if subject else _shared_subjects(source, verb) if verb else []
            spelling = key(token.text)
            if not subjects or any(_may_be(source, s, spelling, plural=number) for s in subjects):
                break
            phrase = noun_phrase(source, subjects[0])
            message = f"Does '{token.text}' stand for '{phrase}'? It does not fit."
            findings.append(finding_at(_RELATION, token, message, index))
            break
    return findings


_PERSONS = [
    {form for pronoun in person for form in english.PRONOUN_FORMS[pronoun]}
    for person in (("i", "we"), ("you",), english.THIRD_PERSON)
]
"""The pronouns of the first, the second and the third person."""
_POSSESSIVES = words("my our your his its their")


def exchanged_persons(source: Analysis, origins: Sequence[Origins]) -> list[Finding]:
    """Pronouns of another person than the one that the source has beside the same word: "our use"
    for "your use"."""
    findings = []
    for index, origin in enumerate(origins):
        pairs = origin.spoken()
        for place, (token, came_from) in enumerate(pairs):
            person = _person(token.text)
            if person is None or (came_from is not None and key(came_from.text) == key(token.text)):
                continue
            after = pairs[place + 1][1] if place + 1 < len(pairs) else None
            before = pairs[place - 1][1] if place else None
            beside = [source[after.index - 1]] if after is not None and after.index else []
            if before is not None and before.index + 1 < len(source):
                beside.append(source[before.index + 1])
            for other in beside:
                meant = _person(other.text) if other.upos == "PRON" else None
                is_alike = (key(token.text) in _POSSESSIVES) == (key(other.text) in _POSSESSIVES)
                if meant is not None and meant != person and is_alike:
                    message = f"Is it '{token.text}' or '{other.text}'? The source has "
                    found = finding_at(_RELATION, token, f"{message}'{other.text}'.", index)
                    findings.append(found)
                    break
    return findings


def _person(text: str) -> int | None:
    return next((place for place, forms in enumerate(_PERSONS) if key(text) in forms), None)


def _shared_subjects(source: Analysis, verb: Word) -> list[Word]:
    """The noun that is the subject of a verb and of the one that it is joined to. In a clause
    within another one, the verb may be joined to the outer verb, so the nouns that are subjects of
    outer verbs follow."""
    if verb.relation in ("aux", "cop"):
        verb = source[verb.head]
    if verb.relation != "conj" or source.children(verb.index, "nsubj", "csubj", "expl"):
        return []
    verb = source[verb.head]
    subjects = source.children(verb.index, "nsubj")[:1]
    if not subjects or subjects[0].upos not in NOMINAL:
        return []
    while verb.head >= 0:
        verb = source[verb.head]
        outer = source.children(verb.index, "nsubj")[:1]
        subjects += [each for each in outer if each.upos in NOMINAL]
    return subjects


def _which(source: Analysis, verb: Word, pronoun: str) -> Word | None:
    """The "which" right before a verb that is its subject, if the pronoun is "he"; a ship may be
    "she"."""
    before = source[verb.index - 1] if verb.index else verb
    is_subject = key(before.text) == "which" and before.relation == "nsubj"
    return before if is_subject and key(pronoun) == "he" else None


def _may_be(source: Analysis, subject: Word, pronoun: str, *, plural: bool) -> bool:
    """Whether a pronoun can stand for a subject."""
    spelling = key(subject.text)
    if spelling == "which":
        return False
    joined = [w for w in source.children(subject.index, "conj") if w.index > subject.index]
    if subject.upos == "PROPN" and not joined:
        return True
    if spelling in _GROUPS or spelling.removesuffix("s") in _GROUPS:
        return True
    if any(key(cc.text) != "and" for w in joined for cc in source.children(w.index, "cc")):
        return True
    verbs = [source[subject.head], *source.children(subject.head, "aux", "cop")]
    is_one = any(verb.xpos == "VBZ" or key(verb.text) == "was" for verb in verbs)
    if is_one and joined:  # "The firm and its owner has": the source itself does not agree
        return True
    is_many = not is_one and (bool(joined) or is_plural(source, subject.index))
    if is_many != plural:
        # "They" may stand for one person whose gender is not known.
        return not is_many and is_person(subject)
    return pronoun != "it" or spelling not in lexicon.PERSONS - _FIRMS


def _gives_gender(source: Side, telling: frozenset[str]) -> bool:
    """Whether a word of the source tells the gender, or may: a name not in the dictionary."""
    return not source.keys.isdisjoint(telling) or any(
        lexicon.has_gendered_ending(unit.key)
        or (unit.is_fact and unit.text[0].isupper() and not is_known(unit.key))
        for unit in source.units
    )


def _is_copied(pronoun: Word, sentence: Analysis, origins: Origins) -> bool:
    """Whether the pronoun comes before the same word as in the source."""
    copied = origins.copied(pronoun)
    if copied is None or pronoun.index + 1 >= len(sentence):
        return False
    following = origins.any(sentence[pronoun.index + 1])
    return following is not None and following.index == copied.index + 1


def _antecedent(
    source: Analysis, pronoun: Word, sentence: Analysis, origins: Origins
) -> Word | None:
    """The source noun whose relative or participle clause became this sentence."""
    verb = origins.any(sentence[pronoun.head])
    if verb is None or verb.relation != "acl":
        return None
    noun = source[verb.head]
    if noun.upos not in NOMINAL:
        return None
    if verb.deprel == "acl:relcl":
        subjects = {key(word.text) for word in source.children(verb.index, "nsubj")}
        return noun if subjects & _SUBJECT_RELATIVES else None
    return None if key(pronoun.text) in ("he", "she") else noun


def _mention(meant: Word, before: Analysis, origins: Origins) -> Word | None:
    """The word of the previous sentence that came from the noun that is meant."""
    for word in before:
        came_from = origins.any(word)
        if came_from is not None and came_from.index == meant.index:
            return word
    return None


def _rival(pronoun: Word, mention: Word, before: Analysis) -> Word | None:
    """The subject of the previous sentence, if the pronoun fits it but does not mean it."""
    root = before.root.index
    subject = next(iter(before.children(root, "nsubj")), None)
    if subject is None or subject.upos == "PRON" or before.children(root, "cop"):
        return None  # "Ann is a painter. She ...": both nouns are one person
    if mention.index in before.subtree(subject.index):
        return None
    numbers = {is_plural(before, subject.index), is_plural(before, mention.index)}
    return subject if _fits(key(pronoun.text), numbers, subject, mention) else None


def _fits(pronoun: str, plural: set[bool], subject: Word, mention: Word) -> bool:
    if plural != {pronoun == "they"}:
        return False
    if pronoun == "it":
        return subject.upos == "NOUN" and not is_person(subject)
    return pronoun == "they" or subject.upos == mention.upos == "PROPN"


def is_person(noun: Word) -> bool:
    """Whether a noun is known to denote a person or a group of persons."""
    word = key(noun.text)
    return word in lexicon.PERSONS or word.endswith(lexicon.PERSON_ENDINGS)
