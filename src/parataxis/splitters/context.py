"""Keeps the next sentence of a text clear: what it refers back to must not change.

"The storm hit the town, which has 3,000 inhabitants. It raged all night." must not become "The
storm hit the town. The town has 3,000 inhabitants. It raged all night." Where the rewrite of a
sentence would end with a detail about something else, another rewrite is taken, or none. This is
for running text only: a sentence by itself has no next one.
"""

import re
from collections.abc import Callable, Sequence
from typing import NamedTuple

from parataxis.checks import lexicon
from parataxis.rewrite.align import align
from parataxis.rewrite.compose import left_whole
from parataxis.rewrite.forms import is_plural, key, lemmas
from parataxis.rewrite.record import OutputToken, Rewrite
from parataxis.splitters.pointer.splitter import LONGEST
from parataxis.splitters.settings import word_count
from parataxis.syntax.analyser import load_trees
from parataxis.syntax.analysis import ROOT, Analysis, Word
from parataxis.text import english
from parataxis.text.english import words
from parataxis.text.tokens import has_word

LEAST = 0.7
"""The lowest confidence of another rewrite that is taken instead."""
_WHY = '"{}" at the beginning of the next sentence would seem to mean something else'

_PRONOUNS = {
    form: pronoun
    for pronoun in english.THIRD_PERSON
    for form in english.PRONOUN_FORMS[pronoun]
    if not form.endswith(("self", "selves"))
}
"""The form of each pronoun of the third person that can be a subject."""
_POINTERS = english.DEMONSTRATIVES | {"such", "there"}
_LINKS = english.COORDINATORS | words("however also then still even instead meanwhile moreover")
"""Words that may stand before the one that refers back."""
_RESULTS = words("therefore thus hence consequently accordingly")
"""Words that link a sentence to what the one before states."""
_BEFORE_POINTER = words("in at on for of to because despite after before since as by with from")
_SELF_NAMED = words(
    "act agreement article book chapter clause contract document guide lease letter licence license"
    " notice page paper paragraph part policy report rule schedule section study subsection"
    " subparagraph version moment time period night day morning afternoon evening week month year"
    " decade century spring summer autumn winter"
)
"""Nouns that mean the text itself, or a time, after "this"."""
_BACK = "|".join(sorted({*_PRONOUNS, *_POINTERS, *_RESULTS}))
_SKIPPED = "|".join(sorted({*_LINKS, *_BEFORE_POINTER}))
_OPENER = re.compile(rf"(?:\W*(?:{_SKIPPED})\b)*\W*(?:{_BACK})\b", re.IGNORECASE)
_THINGS = words(
    "door floor harbor harbour corridor motor factor sector error mirror tractor reactor sensor"
    " colour color odour vapour manor tower humor labor"
)
"""Nouns that end like persons ("doctor")."""
_GROUPS = words(
    "board class club committee company council court crew family firm government group jury"
    " parliament party police staff team"
)
"""Nouns of several persons, for which "it" may stand."""
_MAIN = ("conj", "parataxis")
_CLAUSES = ("acl", "advcl", "appos", "ccomp", "csubj", "xcomp", *_MAIN)


class BackReference(NamedTuple):
    """What stands for something in the sentence before: a pronoun of the third person, in the form
    of a subject, or a word that points at what was stated, and the words as they are written."""

    word: str
    written: str


def reference_back(tree: Analysis, before: Analysis) -> BackReference | None:
    """How a sentence begins that refers back to the one ``before``: "it", "his brother", "this",
    "in that case", "such", "there", "therefore"."""
    spoken = [word for word in tree if has_word(word.text)]
    first = next((each for each in spoken if key(each.text) not in _LINKS), None)
    if first is None or first.relation == "expl" or first.text == "IT":  # "There is no time."
        return None
    form = key(first.text)
    if form in _PRONOUNS or form in _RESULTS or form == "such":
        return BackReference(_PRONOUNS.get(form, form), first.text)
    word = first
    if form in _BEFORE_POINTER:
        behind = spoken[spoken.index(first) + 1 :]
        word = next((each for each in behind if key(each.text) not in _BEFORE_POINTER), first)
    form = key(word.text)
    if form not in _POINTERS or word.xpos == "IN":  # "That he slept is known."
        return None
    last = word.index
    if word.relation == "det":
        # "That town" names what is meant, "that refusal" does not.
        noun = tree[word.head]
        is_named = noun.text[0].isupper() or key(noun.text) in _SELF_NAMED
        said = {lemma for other in before for lemma in lemmas(key(other.text))}
        if is_named or lemmas(key(noun.text)) & said:
            return None
        last = noun.index
    return BackReference(form, tree.phrase(first.index, last))


def clear_before(
    following: str, rewrite: Rewrite, others: Callable[[str], Sequence[Rewrite]]
) -> Rewrite:
    """The rewrite, unless it ends with a detail that the ``following`` sentence would then seem to
    mean: in that case the best of the ``others`` that does not, or the source."""
    if not rewrite.is_split or not _OPENER.match(following):
        return rewrite
    tree, next_tree = load_trees().pipe([rewrite.source, following])
    if not (isinstance(tree, Analysis) and isinstance(next_tree, Analysis)):
        return rewrite
    reference = reference_back(next_tree, tree)
    if reference is None or word_count(rewrite.source) > LONGEST:
        return rewrite
    if not _misleads(tree, rewrite, reference.word):
        return rewrite
    why = _WHY.format(reference.written)
    clear = [e for e in others(rewrite.source) if not _misleads(tree, e, reference.word)]
    if not clear:
        whole = left_whole(rewrite.source, splitter=rewrite.splitter)
        kept = {name: getattr(rewrite, name) for name in ("weights", "level", "id")}
        kept |= {"findings": None if rewrite.findings is None else ()}
        kept |= {"note": f"Left whole because {why}."}
        return whole.model_copy(update={**(rewrite.model_extra or {}), **kept})
    note = f"This is not the preferred rewrite: after that one, {why}."
    update = {**(rewrite.model_extra or {}), "level": rewrite.level, "id": rewrite.id, "note": note}
    return max(clear, key=_chance).model_copy(update=update)


def _chance(rewrite: Rewrite) -> float:
    """The chance that a rewrite is without fault and finished."""
    return (rewrite.confidence or 0.0) * (1 - (rewrite.further or 0.0))


def _misleads(tree: Analysis, rewrite: Rewrite, pronoun: str) -> bool:
    """Whether the last simple sentence is a detail about something that the pronoun would then
    seem to mean."""
    if not rewrite.is_split:
        return False
    provenance = rewrite.provenance or align(rewrite.source, rewrite.simple)
    predicate = _predicate(tree, provenance[-1])
    if predicate is None or (about := _described_noun(tree, predicate)) is None:
        return False  # a main clause, or "This left 3,000 people without light."
    if pronoun not in english.THIRD_PERSON:
        return True
    subjects, objects = _arguments(tree, "nsubj"), _arguments(tree, "obj")
    if about.index in subjects or about.head == ROOT:  # "is a town", "which has a mill"
        return False
    rivals = [about]
    if pronoun in ("he", "she"):
        # "Which" and "where" tell that the noun is nobody; a name in the detail may be somebody.
        is_thing = any(key(word.text) in ("which", "where") for word in _relatives(tree, predicate))
        names = [word for word in _copied(tree, provenance[-1]) if word.upos == "PROPN"]
        rivals = [w for w in names if w.index != about.index] + ([] if is_thing else [about])
    if not any(_may_mean(tree, each, pronoun) for each in rivals):
        return False
    # Where nothing else fits, it may well be the detail that the next sentence is about.
    meant = subjects if about.index in objects else subjects | objects
    return any(_may_mean(tree, tree[each], pronoun) for each in meant)


def _predicate(tree: Analysis, tokens: Sequence[OutputToken]) -> Word | None:
    """The predicate of the source that a simple sentence tells: the highest in the tree."""
    own = [word for word in _copied(tree, tokens) if word.upos != "PUNCT"]
    clauses = [word for word in own if word.relation in _CLAUSES or word.head == ROOT]
    return min(clauses or own, key=lambda word: len(list(tree.upwards(word))), default=None)


def _copied(tree: Analysis, tokens: Sequence[OutputToken]) -> list[Word]:
    """The words of the source that those of a simple sentence come from."""
    found = (tree.by_start.get(token.source[0]) for token in tokens if token.source)
    return [word for word in found if word is not None]


def _relatives(tree: Analysis, predicate: Word) -> list[Word]:
    """The words between a noun and the predicate of its relative clause."""
    return [tree[place] for place in tree.subtree(predicate.index) if place < predicate.index]


def _is_main(tree: Analysis, word: Word) -> bool:
    """Whether a word is the predicate of a main clause."""
    while word.relation in _MAIN and word.head != ROOT:
        word = tree[word.head]
    return word.head == ROOT


def _described_noun(tree: Analysis, predicate: Word) -> Word | None:
    """The noun that a detail describes: what a relative clause or an apposition belongs to."""
    for word in tree.upwards(predicate):
        if word.relation in ("acl", "appos", "nmod"):
            noun = tree[word.head]
            while noun.relation == "appos":
                noun = tree[noun.head]
            return noun
        if word.relation not in (*_MAIN, "ccomp", "xcomp"):
            return None
    return None


def _arguments(tree: Analysis, relation: str) -> set[int]:
    """The subjects or objects of the main clauses, and of what is reported there."""
    mains = [w.index for w in tree if _is_main(tree, tree[w.head] if w.relation == "ccomp" else w)]
    return {each.index for main in mains for each in tree.children(main, relation)}


def _may_mean(tree: Analysis, noun: Word, pronoun: str) -> bool:
    """Whether a pronoun can stand for a noun, by number, and by whether it is a person."""
    form = key(noun.text)
    if noun.upos == "PRON":
        return _PRONOUNS.get(form) == pronoun
    if is_plural(tree, noun.index) != (pronoun == "they"):
        return False
    if pronoun == "they":
        return True
    forms = {form} | lemmas(form)
    ends_so = form.endswith(lexicon.PERSON_ENDINGS) and form not in _THINGS
    is_person = ends_so or bool(forms & lexicon.PERSONS - _GROUPS)
    if pronoun == "it":  # in contracts a party is "it"
        return not is_person or (noun.text[0].isupper() and noun.index != tree.opener)
    if forms & (lexicon.MASCULINE if pronoun == "she" else lexicon.FEMININE):
        return False
    return is_person or noun.upos == "PROPN"
