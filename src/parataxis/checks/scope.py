"""What governs the predicates of a sentence: conditions, speakers, questions, denials, modal verbs
and alternatives. A claim that has lost its governor would be taken for a fact.

:mod:`parataxis.checks.links` finds what any rewrite must not lose. Here nothing may be left to the
sentence before: at the level ``atomic`` each simple sentence must keep all that governs it.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from parataxis.checks import lexicon
from parataxis.checks.findings import Origins, finding_at
from parataxis.rewrite.forms import key, lemmas
from parataxis.rewrite.record import Finding, FindingKind, OutputToken
from parataxis.syntax.analysis import ROOT, Analysis, Word
from parataxis.text import english
from parataxis.text.english import words


class ScopeKind(StrEnum):
    """What a claim is said under."""

    CONDITION = "condition"
    ATTRIBUTION = "attribution"
    QUESTION = "question"
    WISH = "wish"
    DENIAL = "denial"
    MODAL = "modal"
    ALTERNATIVE = "alternative"
    FRAGMENT = "fragment"
    """No predicate at all: a heading, a title."""


_SAYING = lexicon.SAYING | words(
    "add tell ask reply explain note promise propose speculate imply indicate feel consider accuse"
    " rumour"
)
_WISHING = words("wish hope want desire long pray dream")
_HEDGES = words(
    "allegedly reportedly apparently supposedly probably possibly perhaps maybe likely presumably"
    " purportedly seemingly potentially arguably"
)
_CONDITIONS = words("if unless provided providing except should assuming suppose supposing lest")
_WHEN = words("when whenever while whilst once until till where wherever upon after before")
"""Words that open a condition unless the main clause tells what happened once: "When a token
expires, the server shall reject it"."""
_CONTRAST = words("while whilst")
"""Words that open a contrast unless the main clause has a modal verb: "While the view is fine, the
rooms are small"."""
_CORRELATIVE = words("only just merely simply solely")
"""What follows "not" where nothing is denied: "not only A but B"."""
_SHOW_CONDITION = _CONDITIONS | _WHEN | words("otherwise case event condition whether")
_MODALS = lexicon.MODALS | words("cannot able need needs required allowed permitted 'd")


@dataclass(frozen=True)
class Governor:
    """What governs the predicates ``governed``: the words ``words``, all by their index.

    A simple sentence with a governed word keeps the governor if it has the words ``needed``, or one
    of the words ``signs``, by its spelling.
    """

    kind: ScopeKind
    words: tuple[int, ...]
    governed: frozenset[int]
    needed: frozenset[int]
    signs: frozenset[str] = frozenset()

    def is_kept(self, sentence: "SourcedSentence") -> bool:
        return self.needed <= sentence.places.keys() or not self.signs.isdisjoint(sentence.keys)


class SourcedSentence:
    """A simple sentence, and where in the source its words come from."""

    def __init__(self, source: Analysis, tokens: Sequence[OutputToken]) -> None:
        pairs = Origins(source, tokens).pairs()
        self.tokens = tokens
        self.keys = {key(token.text) for token in tokens}
        self.places = {word.index: token for token, word in reversed(pairs) if word is not None}

    @property
    def is_question(self) -> bool:
        return any("?" in token.text for token in self.tokens[-3:])


def lost_scope(source: Analysis, provenance: Sequence[Sequence[OutputToken]]) -> list[Finding]:
    """Each simple sentence that states what the source says only under a condition, as somebody's
    word, as a question, a denial, a possibility or one of several alternatives."""
    found = []
    for number, tokens in enumerate(provenance):
        sentence = SourcedSentence(source, tokens)
        for governor in governors(source):
            uses = sorted(governor.governed & sentence.places.keys())
            if not uses:
                continue
            if governor.kind is ScopeKind.QUESTION:
                is_kept = sentence.is_question
            else:
                is_kept = governor.is_kept(sentence)
            if not is_kept:
                token = sentence.places[uses[0]]
                lost = source.phrase(governor.words[0], governor.words[-1]).rstrip(" ,;")
                message = f"'{token.text}' has lost the {governor.kind} that governs it ('{lost}')."
                found.append(finding_at(FindingKind.NEW, token, message, number))
    return found


def governors(source: Analysis) -> Sequence[Governor]:
    """Everything in a sentence that governs one of its predicates."""
    return source.once(_governors)


def _governors(source: Analysis) -> list[Governor]:
    return [
        governor
        for word in source
        for find in (_condition, _speaker, _source_named, _hedge, _denial, _modal, _alternative)
        for governor in find(source, word)
    ] + list(_question(source))


def _predicates(source: Analysis, index: int) -> Iterator[int]:
    """A predicate with those that are coordinated with it or follow from it (participles)."""
    yield index
    for child in source.children(index, "conj", "advcl"):
        is_own = child.relation == "advcl" and source.children(child.index, "mark", "advmod")
        conditions = source.children(child.index, "advcl")
        if not is_own and not any(_marker(source, each) for each in conditions):
            yield from _predicates(source, child.index)


def _marker(source: Analysis, clause: Word) -> Word | None:
    """The word that makes an adverbial clause a condition."""
    found = [*source.children(clause.index, "mark", "advmod", "aux")]
    first = source[min(source.subtree(clause.index))]
    openers = [word for word in found if word.index < clause.index]
    opener = next((w for w in [*openers, first] if key(w.text) in _CONDITIONS | _WHEN), None)
    if opener is not None and key(source[max(opener.index - 1, 0)].text) == "as":
        return None  # "as if it rained" is a comparison
    if opener is None or key(opener.text) in _CONDITIONS:
        return opener
    main = source[clause.head]
    is_aside = clause.index > main.index and source[max(opener.index - 1, 0)].text == ","
    is_contrast = key(opener.text) in _CONTRAST and not _has_modal(source, main)
    return None if is_aside or is_contrast or _is_told(source, main) else opener


def _has_modal(source: Analysis, main: Word) -> bool:
    verbs = [main, *source.children(main.index, "aux", "cop")]
    return any(key(verb.text) in _MODALS for verb in verbs)


def _is_told(source: Analysis, main: Word) -> bool:
    """Whether a predicate tells what happened, in the past tense."""
    if _has_modal(source, main):
        return False
    verbs = [main, *source.children(main.index, "aux", "cop")]
    finite = next((verb for verb in verbs if verb.feats.get("VerbForm") == "Fin"), None)
    return finite is not None and finite.feats.get("Tense") == "Past"


def _condition(source: Analysis, clause: Word) -> Iterator[Governor]:
    if clause.relation != "advcl" or clause.head == ROOT:
        return
    marker = _marker(source, clause)
    if marker is None:
        return
    main = clause.head
    if clause.index > main:  # at the end it may belong to all verbs that share a subject
        while source[main].relation == "conj" and not source.children(main, "nsubj"):
            main = source[main].head
    inside = set(source.subtree(clause.index))
    governed = frozenset({*_predicates(source, main), *_predicates(source, clause.head)}) - inside
    if clause.index > clause.head:  # "A holds if B, and C holds"
        after = [index for index in governed if index > clause.index]
        own = (each for each in after if source.children(each, "nsubj", "expl"))
        governed -= {index for each in own for index in _predicates(source, each)}
    all_words = tuple(sorted(inside | {marker.index}))
    yield Governor(ScopeKind.CONDITION, all_words, governed, frozenset([clause.index]))
    itself, needed = frozenset([clause.index]), frozenset([marker.index])
    yield Governor(ScopeKind.CONDITION, (marker.index,), itself, needed, _SHOW_CONDITION)


def _speaker(source: Analysis, clause: Word) -> Iterator[Governor]:
    """Reported clauses: "Ann said that ...", "..., Ann said"."""
    if clause.relation == "ccomp" and clause.head != ROOT:
        saying = source[clause.head]
    else:
        others = source.children(clause.index, "parataxis")
        spoken = [w for w in others if lemmas(key(w.text)) & _SAYING and w.upos == "VERB"]
        if not spoken or not source.children(spoken[0].index, "nsubj"):
            return
        saying = spoken[0]
    forms = lemmas(key(saying.text))
    if not forms & (_SAYING | _WISHING):
        return
    kind = ScopeKind.WISH if forms & _WISHING else ScopeKind.ATTRIBUTION
    governed = frozenset(_predicates(source, clause.index)) - {saying.index}
    marks = {word.index for word in source.children(clause.index, "mark")}
    own = {saying.index, *marks}
    subjects = source.children(saying.index, "nsubj")
    if not subjects and saying.relation in ("conj", "xcomp"):
        subjects = source.children(saying.head, "nsubj")
    parts = ("aux", "obj", "iobj", "advmod", "obl", "compound")
    for part in (*subjects, *source.children(saying.index, *parts)):
        own.update(source.subtree(part.index))
    yield Governor(kind, tuple(sorted(own)), governed, frozenset([saying.index]))


def _source_named(source: Analysis, word: Word) -> Iterator[Governor]:
    """ "According to the report, ..." and "in Ann's view"."""
    if word.relation not in ("obl", "nmod") or word.head == ROOT:
        return
    cases = {key(each.text) for each in source.children(word.index, "case", "amod", "fixed")}
    is_view = key(word.text) in ("view", "opinion", "words") and "in" in cases
    if "according" not in cases and not (is_view and source.children(word.index, "nmod:poss")):
        return
    governed = frozenset(_predicates(source, word.head))
    words_ = tuple(source.subtree(word.index))
    yield Governor(ScopeKind.ATTRIBUTION, words_, governed, frozenset([word.index]))


def _hedge(source: Analysis, word: Word) -> Iterator[Governor]:
    if key(word.text) not in _HEDGES or word.head == ROOT or word.relation != "advmod":
        return
    is_before = word.index < word.head
    governed = frozenset(_predicates(source, word.head) if is_before else [word.head])
    yield Governor(ScopeKind.MODAL, (word.index,), governed, frozenset([word.index]), _HEDGES)


def _denial(source: Analysis, word: Word) -> Iterator[Governor]:
    if key(word.text) not in english.NEGATIVE_ADVERBS or word.head == ROOT:
        return
    if key(source[min(word.index + 1, len(source) - 1)].text) in _CORRELATIVE:
        return
    yield from _shared(source, word, ScopeKind.DENIAL, lexicon.NEGATIVE_GROUNDS)


def _modal(source: Analysis, word: Word) -> Iterator[Governor]:
    if key(word.text) not in _MODALS or word.relation != "aux" or key(word.text) == "'d":
        return
    yield from _shared(source, word, ScopeKind.MODAL, _MODALS | _HEDGES)


def _shared(
    source: Analysis, word: Word, kind: ScopeKind, signs: frozenset[str]
) -> Iterator[Governor]:
    """What a negation or a modal verb governs: its verb, and those that share the auxiliary."""
    governed = {word.head}
    for other in source.children(word.head, "conj"):
        is_own = source.children(other.index, "aux", "nsubj", "cop")
        if not is_own and other.xpos == "VB" and source[word.head].xpos == "VB":
            governed.add(other.index)
    for other in source.children(word.head, "advcl"):
        if other.xpos == "VBG" and not source.children(other.index, "mark", "aux"):
            governed.add(other.index)
    if source[word.head].upos in ("VERB", "AUX") or source.children(word.head, "cop"):
        yield Governor(kind, (word.index,), frozenset(governed), frozenset([word.index]), signs)


def _alternative(source: Analysis, word: Word) -> Iterator[Governor]:
    """No alternative is stated alone, unless all are denied."""
    if key(word.text) != "or" or word.relation != "cc":
        return
    last = source[word.head]
    if last.relation != "conj":
        return
    # "A, B or C, and D": what comes later is none of the alternatives.
    joined = (each.index for each in source.children(last.head, "conj"))
    group = {last.head, *(index for index in joined if index <= last.index)}
    needed = frozenset([word.index])
    signs = english.NEGATIONS | {"or"}
    yield Governor(ScopeKind.ALTERNATIVE, (word.index,), frozenset(group), needed, signs)


def _question(source: Analysis) -> Iterator[Governor]:
    marks = [word.index for word in source.words[-3:] if "?" in word.text]
    if marks and source.root.upos != "PUNCT":
        governed = frozenset(_predicates(source, source.root.index))
        yield Governor(ScopeKind.QUESTION, tuple(marks), governed, frozenset(marks))


def text_of(sentence: SourcedSentence, text: str, places: Iterable[int]) -> str:
    """The words of a simple sentence that come from these places of the source."""
    wanted = {sentence.places[place].start for place in places if place in sentence.places}
    pieces: list[tuple[int, int]] = []
    was_wanted = False
    for token in sentence.tokens:
        is_wanted = token.start in wanted
        if is_wanted and was_wanted:
            pieces[-1] = pieces[-1][0], token.end
        elif is_wanted:
            pieces.append((token.start, token.end))
        was_wanted = is_wanted
    return " ... ".join(text[start:end].strip(" ,;:") for start, end in pieces)
