"""Find the occurrences of the seven patterns in a dependency tree.

One rule per pattern, each a function from a word to the phrase that it governs, or None. What is
inside a phrase that cannot be asserted on its own (a condition, reported speech, a restrictive
clause) is left alone unless it is itself set off; docs/patterns.md gives the reasons.
"""

from collections.abc import Callable

from parataxis.syntax.analysis import ROOT, Analysis, Word
from parataxis.syntax.patterns.adv import adverbial
from parataxis.syntax.patterns.appos import apposition
from parataxis.syntax.patterns.conj import conjunction
from parataxis.syntax.patterns.inf import infinitive
from parataxis.syntax.patterns.kinds import Occurrence, Pattern
from parataxis.syntax.patterns.lexicon import LINKING_PREPOSITIONS, SET_OFF_PREPOSITIONS
from parataxis.syntax.patterns.part import participle
from parataxis.syntax.patterns.phrases import Found, SentenceView
from parataxis.syntax.patterns.prep import linked_phrase, set_off_phrase
from parataxis.syntax.patterns.rc import relative_clause

__all__ = ["find_patterns"]

_Rule = Callable[[SentenceView, Word], Found | None]

_STATED_BY_PREPOSITION = LINKING_PREPOSITIONS | SET_OFF_PREPOSITIONS
_CLAUSES = frozenset(["advcl", "acl", "ccomp", "csubj"])


def find_patterns(analysis: Analysis) -> list[Occurrence]:
    """Every place at which the sentence could be split, in order; an outer phrase comes before
    the ones inside it."""
    view = SentenceView(analysis)
    accepted: dict[int, Found] = {}
    for word in _top_down(analysis):
        found = next((f for rule in _RULES if (f := rule(view, word))), None)
        if found and (found.free or not _in_island(view, word, accepted)):
            accepted[word.index] = found
    kept = {h: f for h, f in accepted.items() if not _follows_aside(view, f, accepted)}
    occurrences = [_occurrence(analysis, head, found) for head, found in kept.items()]
    return sorted(occurrences, key=lambda o: (o.first, -o.last))


def _follows_aside(view: SentenceView, found: Found, accepted: dict[int, Found]) -> bool:
    """Whether the comma before a prepositional phrase only closes the aside before it:
    "Prince Albert, the king's youngest son, in the summer of 1907"."""
    if found.pattern != Pattern.PREP or view.starts_with(found.phrase, _STATED_BY_PREPOSITION):
        return False
    ends = {view.words[f.phrase.last].index for f in accepted.values() if f.free}
    return found.phrase.first - 2 in ends


def _occurrence(analysis: Analysis, head: int, found: Found) -> Occurrence:
    first, last = found.phrase.first, found.phrase.last
    start, end = analysis[first].start, analysis[last].end
    return Occurrence(found.pattern, first, last, head, start, end)


def _top_down(analysis: Analysis) -> list[Word]:
    """The words with every governor before its dependents."""
    if not analysis.words:
        return []
    order = [analysis.root]
    for word in order:
        order.extend(analysis.children(word.index))
    return order


def _in_island(view: SentenceView, word: Word, accepted: dict[int, Found]) -> bool:
    """Whether a clause above the word cannot be asserted on its own."""
    head = word.head
    if word.deprel == "conj" and "that" in view.mark(word):
        head = view.words[head].head  # "agrees that ... and that ...": two things agreed on
    while head != ROOT:
        above = view.words[head]
        # "it is possible to ...": only a subject that comes first is more than a predicate's part
        extraposed = above.relation == "csubj" and head > above.head
        if above.relation in _CLAUSES and head not in accepted and not extraposed:
            return True
        head = above.head
    return False


_RULES: tuple[_Rule, ...] = (
    relative_clause,
    infinitive,
    conjunction,
    linked_phrase,
    adverbial,
    participle,
    apposition,
    set_off_phrase,
)
