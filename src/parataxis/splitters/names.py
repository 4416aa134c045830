"""Names in place of pronouns across the sentences of a paragraph, only where nothing else fits.

"Ann Reed was a chemist. She died in 1934." has one person. As soon as a sentence has anybody else
who could be meant, pronouns stay until a sentence names its subject again.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from parataxis.checks import lexicon
from parataxis.rewrite.forms import key, lemmas
from parataxis.syntax.analysis import Analysis, Word
from parataxis.text.english import words

GENDERS = {form: forms for forms in (words("he his"), words("she her")) for form in forms}
"""The pronouns of each gender that can open a sentence."""
_AT_A_PLACE = words("in at on during since near until")
"""Prepositions before the name of a place or a time. Others may come before a person."""
_LIVES = words("bear die marry graduate")
"""Verbs, by lemma, whose subject is a person."""


@dataclass(frozen=True)
class NamedPerson:
    """The only person that the sentences are about: name, place in the document, pronouns."""

    name: str
    start: int
    end: int
    pronouns: frozenset[str] | None = None


def opening_pronoun(tree: Analysis) -> Word | None:
    """The "he", "she", "his" or "her" that opens a sentence, as its subject or in it."""
    if tree.opener is None:
        return None
    word = tree[tree.opener]
    if key(word.text) not in GENDERS or word.relation not in ("nsubj", "nmod"):
        return None
    subject = word if word.relation == "nsubj" else tree[word.head]
    is_subject = subject.relation == "nsubj" and tree.root.index in (subject.head, subject.index)
    return word if is_subject else None


def meant(person: NamedPerson | None, pronoun: Word) -> bool:
    """Whether a pronoun that opens a sentence can only be this person."""
    if person is None:
        return False
    return person.pronouns is None or key(pronoun.text) in person.pronouns


def after(tree: Analysis, places: list[int], person: NamedPerson | None) -> NamedPerson | None:
    """The person that a pronoun in the next sentence must mean, if there is only one."""
    subject = next(iter(tree.children(tree.root.index, "nsubj")), None)
    if subject is None or tree.children(subject.index, "conj"):
        return None
    if next(_others(tree, subject), None):
        return None
    pronoun = opening_pronoun(tree)
    if pronoun is not None:
        known = meant(person, pronoun)
        pronouns = GENDERS[key(pronoun.text)]
        return replace(person, pronouns=pronouns) if person and known else None
    if subject.upos != "PROPN" or subject.xpos != "NNP" or not _is_person(tree):
        return None
    own = sorted(_name(tree, subject))
    first, last = tree[own[0]], tree[own[-1]]
    if last.index - first.index >= len(own):  # not in one piece
        return None
    name = tree.text[first.start : last.end]
    return NamedPerson(name, places[first.start], places[last.end - 1] + 1, _gender(tree))


def _name(tree: Analysis, head: Word) -> Iterator[int]:
    """The words of a name: "Ann", "Reed"; "Dr.", "Ann", "Reed"."""
    yield head.index
    for part in tree.children(head.index, "flat", "compound"):
        if part.upos == "PROPN":
            yield from _name(tree, part)


def _others(tree: Analysis, subject: Word) -> Iterator[Word]:
    """Everybody else in a sentence who could be meant by the next pronoun."""
    for word in tree:
        is_part = word.relation in ("flat", "compound") and tree[word.head].upos == "PROPN"
        if word.index == subject.index or is_part or word.index == tree.root.index:
            continue
        if (
            (word.upos == "PROPN" and not _is_place(tree, word))
            or (
                word.upos == "NOUN"
                and _names_person(word)
                and word.relation not in ("conj", "appos")
            )
            or (word.upos == "PRON" and key(word.text) in ("him", "them", "who", "they"))
        ):
            yield word


def _is_place(tree: Analysis, word: Word) -> bool:
    """Whether a name is that of a place or a time: "in Leeds", "on Monday", "Leeds, England"."""
    while word.relation in ("appos", "conj", "flat", "compound", "nmod") and not _case(tree, word):
        word = tree[word.head]
    return _case(tree, word) in _AT_A_PLACE or key(word.text) in lexicon.DATE_WORDS


def _case(tree: Analysis, word: Word) -> str:
    return next((key(each.text) for each in tree.children(word.index, "case")), "")


def _names_person(word: Word) -> bool:
    forms = lemmas(key(word.text))
    return bool(forms & lexicon.PERSONS) or any(
        form.endswith((*lexicon.PERSON_ENDINGS, "er", "ess")) for form in forms
    )


def _is_person(tree: Analysis) -> bool:
    """Whether the sentence says so: its subject is an actor, or was born."""
    root = tree.root
    if root.upos == "NOUN" and tree.children(root.index, "cop"):
        return _names_person(root)
    return bool(lemmas(key(root.text)) & _LIVES)


def _gender(tree: Analysis) -> frozenset[str] | None:
    forms = lemmas(key(tree.root.text))
    if forms & lexicon.FEMININE or any(form.endswith(("ess", "woman")) for form in forms):
        return GENDERS["she"]
    is_man = forms & lexicon.MASCULINE or any(form.endswith("man") for form in forms)
    return GENDERS["he"] if is_man else None
