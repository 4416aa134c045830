"""Modal verbs, negations and tenses, compared verb by verb.

"Shall" for "may" is a fault whatever else the source has, and so is a "not" that belongs to another
verb. A verb of a simple sentence is compared with every verb of the source that it can be a form
of; only what differs from all of them is reported.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from parataxis.checks import lexicon
from parataxis.checks.findings import Origins, finding_at
from parataxis.checks.links import is_example
from parataxis.rewrite.forms import key, lemmas
from parataxis.rewrite.record import Finding, FindingKind
from parataxis.syntax.analysis import Analysis, Word
from parataxis.text import english
from parataxis.text.english import words

_TENSES = {"VBD": "past", "VBZ": "present", "VBP": "present"}
_AUXILIARIES = lexicon.MODALS | words(
    "be am is are was were been being 're 'm 's 've 'd do does did done doing"
)
_CLAUSES = frozenset(("acl", "advcl", "ccomp", "csubj", "conj", "parataxis"))
_DUTIES = words("shall should")
_OPEN = words("would 'd")
_OTHER_GROUNDS = lexicon.MODAL_GROUNDS - lexicon.MODALS


@dataclass(frozen=True)
class _Verb:
    """A predicate in its sentence, with the auxiliaries that it has or shares."""

    tree: Analysis
    word: Word

    @property
    def follower(self) -> str:
        after = self.tree.words[self.word.index + 1 : self.word.index + 2]
        return key(after[0].text) if after else ""

    @cached_property
    def auxiliaries(self) -> list[Word]:
        return self.tree.children(self.word.index, "aux", "cop")

    @cached_property
    def sharing(self) -> "_Verb | None":
        """The verb whose auxiliaries this one shares: "may charge and **terminate**"."""
        word, tree = self.word, self.tree
        is_apart = self.finite is not None or tree.children(word.index, "nsubj", "mark")
        return None if word.relation != "conj" or is_apart else _Verb(tree, tree[word.head])

    @cached_property
    def trails(self) -> "_Verb | None":
        """The verb that a participle after it belongs to: "could burst, **flooding** it"."""
        word, tree = self.word, self.tree
        if word.relation != "advcl" or word.xpos != "VBG" or word.head > word.index:
            return None
        if self.auxiliaries or tree.children(word.index, "nsubj", "mark", "case"):
            return None
        return _Verb(tree, tree[word.head]) if tree[word.index - 1].text == "," else None

    @cached_property
    def is_clause(self) -> bool:
        """Whether this is a verb or a predicate with a finite form, its own or a shared one."""
        if key(self.word.text) in _AUXILIARIES or self.word.relation in ("aux", "cop"):
            return False
        return self.finite is not None or (self.sharing is not None and self.sharing.is_clause)

    @cached_property
    def finite(self) -> Word | None:
        """The verb or its auxiliary that has a tense or is a modal."""
        for word in (*self.auxiliaries, self.word):
            if word.xpos == "MD" or word.xpos in _TENSES or key(word.text) in lexicon.FINITE_FORMS:
                return word
        return None

    @cached_property
    def modal(self) -> Word | None:
        if self.finite is None:
            giver = self.sharing or self.trails
            return giver.modal if giver else None
        return self.finite if key(self.finite.text) in lexicon.MODALS else None

    @cached_property
    def tense(self) -> str | None:
        if self.finite is None:
            return self.sharing.tense if self.sharing else None
        return None if key(self.finite.text) in ("'s", "'d") else _TENSES.get(self.finite.xpos)

    @cached_property
    def negation(self) -> Word | None:
        """The "not" of the verb itself."""
        adverbs = self.tree.children(self.word.index, "advmod", "neg")
        found = next((w for w in adverbs if key(w.text) in english.NEGATIVE_ADVERBS), None)
        after = self.tree.words[found.index + 1 : found.index + 2] if found else ()
        return None if any(key(word.text) in ("only", "just") for word in after) else found

    @cached_property
    def clause_words(self) -> set[str]:
        """The words of the verb's clause and of the clauses that it is part of."""
        word, tree = self.word, self.tree
        found: set[str] = set()
        while True:
            stack = [word]
            while stack:
                top = stack.pop()
                found.add(key(top.text))
                stack += [w for w in tree.children(top.index) if w.relation not in _CLAUSES]
            is_apart = word.relation in ("conj", "parataxis") and _Verb(tree, word).finite
            if word.head < 0 or word.deprel == "acl:relcl" or is_apart:
                return found
            word = tree[word.head]

    def has_same_shape(self, other: "_Verb") -> bool:
        """Whether both verbs are finite themselves, or both have the same finite auxiliary."""
        mine, theirs = self.finite, other.finite
        if mine is None or theirs is None or (mine is self.word) != (theirs is other.word):
            return False
        return mine is self.word or _has_form(mine, [theirs])


def predicate_findings(
    source: Analysis, simple: Sequence[Analysis | None], origins: Sequence[Origins]
) -> list[Finding]:
    """Modal verbs, negations and tenses that a verb has lost, gained or exchanged."""
    findings = {}
    uses = Counter(word.index for origin in origins for word in origin.used())
    for index, (tree, origin) in enumerate(zip(simple, origins, strict=True)):
        for word in tree or ():
            verb, came_from = _Verb(tree or source, word), origin.any(word)
            if came_from is None or not verb.is_clause:
                continue
            # A verb that is said again may be said otherwise: "but not one who".
            is_repeated = uses[came_from.index] > 1
            for found in _faults(verb, _forms(source, word), index, is_repeated=is_repeated):
                findings[found.sentence, found.start] = found
        for found in _unknown_modals(source, tree, index):
            findings.setdefault((index, found.start), found)
    return list(findings.values())


def _forms(source: Analysis, word: Word) -> list[_Verb]:
    """The words of the source that a word can be a form of."""
    text = key(word.text)
    known = lemmas(text)
    return [
        _Verb(source, other)
        for other in source
        if key(other.text) == text or not known.isdisjoint(lemmas(key(other.text)))
    ]


def _faults(
    verb: _Verb, forms: Sequence[_Verb], index: int, *, is_repeated: bool
) -> Iterator[Finding]:
    """What is wrong with a verb of a simple sentence, given the same verb in the source."""
    if not forms:  # an inflection that the dictionary does not know
        return
    text, modal, finite, written = verb.word.text, verb.modal, verb.finite, _keys(verb.tree)
    # Of several forms in the source, those before the same word are meant.
    before = [each for each in forms if each.follower == verb.follower] or forms
    modals = [each.modal for each in before if each.modal]
    if modal and modals and len(modals) == len(before):
        is_shared = any(each.finite is None for each in before)
        known = _modals(forms[0].tree) if is_shared else modals
        if not is_repeated and not _has_form(modal, known):
            yield _new(modal, index, modals[0], f" before '{text}'")
    elif not modal and verb.tense and all(each.modal for each in forms):
        allowed = _OTHER_GROUNDS.union(*(lemmas(key(each.text)) for each in modals))
        if not allowed & written:
            message = f"The modal verb '{modals[0].text}' is missing before '{text}'."
            yield finding_at(FindingKind.LOST, modals[0], message)
    elif finite and not modal and all(map(verb.has_same_shape, before)):
        old = before[0].finite
        same = old and (key(old.text) in written or verb.tense in {each.tense for each in before})
        if old and not same:
            yield _new(finite, index, old)
    negations = [each.negation for each in forms if each.negation]
    denying = lexicon.NEGATIVE_GROUNDS
    if verb.negation:
        if not is_repeated and not any(denying & each.clause_words for each in before):
            message = f"Is '{text}' denied? The source does not deny it."
            yield finding_at(FindingKind.NEW, verb.negation, message, index)
    elif negations and len(negations) == len(forms) and not denying & written:
        message = f"The negation '{negations[0].text}' of '{text}' is missing."
        yield finding_at(FindingKind.LOST, negations[0], message)


def _unknown_modals(source: Analysis, tree: Analysis | None, index: int) -> Iterator[Finding]:
    """Modal verbs that the source does not have, though it has others and no word for them."""
    known = _modals(source)
    if not known or tree is None or _OTHER_GROUNDS & _keys(source) or is_example(tree.text):
        return
    for modal in _modals(tree):
        if key(modal.text) not in _OPEN and not _has_form(modal, known):
            yield _new(modal, index, known[0])


def _new(word: Word, index: int, old: Word, where: str = "") -> Finding:
    message = f"Is it '{word.text}' or '{old.text}'{where}? The source has '{old.text}'."
    return finding_at(FindingKind.NEW, word, message, index)


def _keys(tree: Analysis) -> set[str]:
    return {key(word.text) for word in tree}


def _modals(tree: Analysis) -> list[Word]:
    return [word for word in tree if word.xpos == "MD"]


def _has_form(word: Word, others: Iterable[Word]) -> bool:
    text = key(word.text)
    if text in _DUTIES:  # "shall" is an order, "should" is advice
        return any(key(other.text) == text for other in others)
    known = lemmas(text)
    return any(not known.isdisjoint(lemmas(key(other.text))) for other in others)
