"""Inserted pronouns that a reader cannot resolve, or that give a gender the source does not.

Only two certain cases are reported. A pronoun that stands for the noun of a relative or
participle clause misleads where the sentence before has another subject that it fits: readers
take a pronoun at the head of a sentence for the last subject. And "he" or "she" is a guess where
the source has no word and no name that could tell.
"""

from collections.abc import Sequence

from parataxis.checks import lexicon
from parataxis.checks.clauses import FINITE_TAGS, RELATIVES
from parataxis.checks.findings import Origins
from parataxis.checks.relations import NOMINAL, follows
from parataxis.checks.units import FactUnit, Side
from parataxis.rewrite.forms import is_known, is_plural, key
from parataxis.rewrite.record import Finding, FindingKind, Origin, OutputToken
from parataxis.syntax.analysis import Analysis, Word
from parataxis.text import english

_SUBJECT_RELATIVES = english.RELATIVES - {"whom", "whose"}
_HE, _SHE = english.PRONOUN_FORMS["he"], english.PRONOUN_FORMS["she"]
_GENDERS = (
    (_HE, _HE | lexicon.MASCULINE, "man"),
    (_SHE, _SHE | lexicon.FEMININE, "woman"),
)
"""The forms of a pronoun, the words that tell its gender, and whom it stands for."""


def guessed_genders(source: Side, simple: Side) -> list[Finding]:
    """The first "he" or "she" of a rewrite whose source names no one and gives no gender."""
    findings = []
    for forms, telling, noun in _GENDERS:
        if simple.keys.isdisjoint(forms) or _gives_gender(source, telling):
            continue
        index, unit = _first(forms, simple.sentences)
        message = f"'{unit.text}' says that this is a {noun}, but the source does not say so."
        findings.append(_finding(index, unit.text, unit.start, message))
    return findings


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
                    f"'{pronoun.text}' could mean '{_phrase(before, rival)}' "
                    f"or '{_phrase(before, mention)}'."
                )
                findings.append(_finding(index, pronoun.text, pronoun.start, message))
    return findings


def _first(forms: frozenset[str], sentences: Sequence[Sequence[FactUnit]]) -> tuple[int, FactUnit]:
    return next(
        (index, unit)
        for index, sentence in enumerate(sentences)
        for unit in sentence
        if unit.key in forms
    )


def _gives_gender(source: Side, telling: frozenset[str]) -> bool:
    """Whether a word of the source tells the gender; a name that is no dictionary word may."""
    return not source.keys.isdisjoint(telling) or any(
        unit.key.endswith(lexicon.GENDERED_ENDINGS)
        or (unit.is_fact and unit.text[0].isupper() and not is_known(unit.key))
        for unit in source.units
    )


def _is_copied(pronoun: Word, sentence: Analysis, origins: Origins) -> bool:
    """Whether the pronoun stands before the same word in the source."""
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
    if noun.upos not in ("NOUN", "PROPN"):
        return None
    if verb.deprel == "acl:relcl":
        subjects = {key(word.text) for word in source.children(verb.index, "nsubj")}
        return noun if subjects & _SUBJECT_RELATIVES else None
    return None if key(pronoun.text) in ("he", "she") else noun


def _mention(meant: Word, before: Analysis, origins: Origins) -> Word | None:
    """The word of the sentence before that came from the noun that is meant."""
    for word in before:
        came_from = origins.any(word)
        if came_from is not None and came_from.index == meant.index:
            return word
    return None


def _rival(pronoun: Word, mention: Word, before: Analysis) -> Word | None:
    """The subject of the sentence before, where the pronoun fits it but does not mean it."""
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
        return subject.upos == "NOUN" and not _is_person(subject)
    return pronoun == "they" or subject.upos == mention.upos == "PROPN"


def _is_person(noun: Word) -> bool:
    word = key(noun.text)
    return word in lexicon.PERSONS or word.endswith(lexicon.PERSON_ENDINGS)


def _phrase(analysis: Analysis, noun: Word) -> str:
    """A noun with what stands before it: "the German director"."""
    before = [analysis[index] for index in analysis.subtree(noun.index) if index <= noun.index]
    inside = (word.index for word in before if word.relation not in ("case", "punct"))
    # A parser may call the noun itself a preposition or a mark.
    return analysis.phrase(next(inside, noun.index), noun.index)


def _finding(index: int, words: str, start: int, message: str) -> Finding:
    return Finding(
        kind=FindingKind.AMBIGUOUS_PRONOUN,
        words=words,
        sentence=index,
        start=start,
        end=start + len(words),
        message=message,
    )


# Which simple sentences of a rewrite an analyser must read for the checks to be sure.
#
# Analysing is most of what a check costs. Where it is known from which source word each word came,
# most simple sentences can be passed without it: they hold a verb that is finite in the source, and
# nothing that a fragment, a bare verb or an ambiguous pronoun needs; and no noun has
# come to another place than it had.

_CONJUNCTIONS = english.COORDINATORS | {"plus"}
_COPIED = Origin.COPIED  # to look up a member of an enumeration for each word takes long
_NEAR = 4  # words of a noun phrase up to its noun: "the old stone bridge"
_BEFORE_INFINITIVES = lexicon.MODALS | frozenset(("to", "do", "does", "did", "let", "lets"))


def doubtful(source: Analysis, sentences: Sequence[Sequence[OutputToken]]) -> set[int]:
    """The indices of the sentences whose analysis could lead to a finding."""
    words = source.by_start
    found = set()
    for index, tokens in enumerate(sentences):
        keys = [key(token.text) for token in tokens]
        spans = [token.source for token in tokens]
        came_from = [words.get(span[0]) if span else None for span in spans]
        copied = [
            word if token.origin is _COPIED else None
            for token, word in zip(tokens, came_from, strict=True)
        ]
        if index and _may_be_ambiguous(keys, came_from):
            found |= {index - 1, index}
        elif _may_be_no_sentence(keys, copied) or _has_moved_noun(source, came_from, copied):
            found.add(index)
    return found


def _may_be_no_sentence(keys: Sequence[str], copied: Sequence[Word | None]) -> bool:
    if "that" in keys or not RELATIVES.isdisjoint(keys):
        return True
    if not english.SUBORDINATORS.isdisjoint(keys) and _opener(keys) in english.SUBORDINATORS:
        return True
    tags = [None if word is None else word.xpos for word in copied]
    if lexicon.FINITE_FORMS.isdisjoint(keys) and FINITE_TAGS.isdisjoint(tags):
        return True
    return "VB" in tags and _has_bare_verb(keys, tags)


def _opener(keys: Sequence[str]) -> str | None:
    """The first word, or the one behind a conjunction at the head of the sentence."""
    spoken = (word for word in keys if any(map(str.isalnum, word)))
    first = next(spoken, None)
    return next(spoken, None) if first in _CONJUNCTIONS else first


def _has_bare_verb(keys: Sequence[str], tags: Sequence[str | None]) -> bool:
    """Whether an infinitive stands before everything that could govern one."""
    for spelling, tag in zip(keys, tags, strict=True):
        if spelling in _BEFORE_INFINITIVES:
            return False
        if tag == "VB" and spelling not in lexicon.UNCHANGING_VERBS:
            return True
    return False


def _has_moved_noun(
    source: Analysis, came_from: Sequence[Word | None], copied: Sequence[Word | None]
) -> bool:
    """Whether a noun stands before other words than in the source, or in a pronoun's place."""
    last = len(came_from) - 1
    while last > 0 and ((word := came_from[last]) is None or word.upos == "PUNCT"):
        last -= 1
    # The right one is a copy: not "are" that became "is".
    for place, (left, right) in enumerate(zip(came_from[:last], copied[1:], strict=False), start=1):
        if left is None or (right is not None and right.index == left.index + 1):
            continue
        if right is not None and _is_unmoved(source, left, right):
            continue
        if left.upos in NOMINAL:
            return True
        if left.index + 1 < len(source) and source[left.index + 1].upos == "PRON":
            nearby = came_from[place : place + _NEAR]
            if any(word is not None and word.upos in NOMINAL for word in nearby):
                return True
    return False


def _is_unmoved(source: Analysis, left: Word, right: Word) -> bool:
    """Whether only what stands between marks, or ", who", is between two words of the source."""
    if follows(source, left, right):
        return True
    between = source.words[left.index + 1 : right.index]
    return bool(between) and all(
        word.upos == "PUNCT" or key(word.text) in RELATIVES for word in between
    )


def _may_be_ambiguous(keys: Sequence[str], came_from: Sequence[Word | None]) -> bool:
    return not english.THIRD_PERSON.isdisjoint(keys) and any(
        word is not None and word.relation == "acl" for word in came_from
    )
