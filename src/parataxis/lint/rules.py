"""The rules: which sentences are hard to read, why, and how they could be split."""

import re
from collections import OrderedDict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property

from parataxis.api import LARGEST_BATCH, Splitter
from parataxis.errors import InputError
from parataxis.rewrite.record import Level, Rewrite
from parataxis.splitters.settings import word_count
from parataxis.syntax.analysis import ROOT, Analysis, Word


class Reason(StrEnum):
    """Why a sentence is reported."""

    TOO_LONG = "too-long"
    SEVERAL_IDEAS = "several-ideas"
    NESTED_CLAUSES = "nested-clauses"
    FAR_CONDITION = "far-condition"


SUMMARIES = {
    Reason.TOO_LONG: "The sentence has more words than the limit.",
    Reason.SEVERAL_IDEAS: "The sentence states several ideas, which can stand by themselves.",
    Reason.NESTED_CLAUSES: "A clause interrupts another one, or is nested two clauses deep.",
    Reason.FAR_CONDITION: "A condition is far from its consequence.",
}


@dataclass(frozen=True)
class RuleSet:
    """The most words of a sentence, and of an instruction if that differs; the reasons that are
    enough for a report. The others are only given in addition to one of these."""

    max_words: int
    enough: frozenset[Reason]
    instruction_words: int | None = None


class RuleSetName(StrEnum):
    """The names of the rule sets."""

    PLAIN = "plain"
    STE100 = "ste100"
    WCAG = "wcag"


_USUAL = frozenset([Reason.TOO_LONG, Reason.SEVERAL_IDEAS])
RULE_SETS: Mapping[RuleSetName, RuleSet] = {
    RuleSetName.PLAIN: RuleSet(25, _USUAL),
    RuleSetName.STE100: RuleSet(25, _USUAL, instruction_words=20),
    RuleSetName.WCAG: RuleSet(25, _USUAL | {Reason.NESTED_CLAUSES}),
}
"""The rule sets; docs/lint.md has their sources."""


MIN_WORDS = 15
"""Nobody is glad to be told to split "Both work offline, and nothing is stored."; the level
``light`` leaves main clauses together up to this length, too."""


@dataclass(frozen=True)
class LintSettings:
    """``rules``: the name of a rule set. ``max_words``: the most words of a sentence, in place of
    the limits of the rule set. ``confidence``: the lowest confidence of a split that shows that a
    sentence has several ideas. ``min_words``: the fewest words of a sentence that is reported
    though it is not too long. ``keep_phrases``: terms that no rewrite may tear apart."""

    rules: RuleSetName = RuleSetName.PLAIN
    max_words: int | None = None
    confidence: float = 0.8
    min_words: int = MIN_WORDS
    keep_phrases: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.rules not in list(RuleSetName):
            known = ", ".join(RuleSetName)
            raise InputError(f'There is no rule set "{self.rules}"; there are: {known}.')
        object.__setattr__(self, "rules", RuleSetName(self.rules))
        if not 0 <= self.confidence <= 1:
            raise InputError(f"The confidence must be from 0 to 1, not {self.confidence}.")
        if self.max_words is not None and self.max_words < 1:
            raise InputError(f"The limit must be at least one word, not {self.max_words}.")

    @property
    def rule_set(self) -> RuleSet:
        return RULE_SETS[self.rules]

    def limit(self, *, is_instruction: bool) -> int:
        """The most words of a sentence."""
        if self.max_words is not None:
            return self.max_words
        own = self.rule_set.instruction_words
        return own if is_instruction and own is not None else self.rule_set.max_words


@dataclass(frozen=True)
class LintVerdict:
    """Why a sentence is reported, its words and their limit, and its rewrite if there is one."""

    reasons: tuple[Reason, ...]
    words: int
    limit: int
    rewrite: Rewrite | None = None

    @property
    def is_sure(self) -> bool:
        """Whether the strict mode takes the rewrite too."""
        from parataxis.splitters.pointer.choose import SURE  # slow, and `--help` does without

        found = self.rewrite
        return found is not None and not found.findings and (found.confidence or 0) >= SURE


SUGGESTED = 0.5
"""The lowest confidence of a suggestion: one that is more likely wrong than right helps nobody."""

BEAM = 2
"""Of 256 sentences of up to 25 words, a beam of 2 finds the same 76 with a confidence of 0.8 as one
of 4; of 90 longer ones it rewrites 57 instead of 59, in two thirds of the time."""

_TWO_INSTRUCTIONS = 4
"""The fewest words in which two instructions can stand."""
_REMEMBERED = 4096


@dataclass
class Judge:
    """Judges sentences, in batches; a verdict is None for a sentence that is not reported. It
    remembers the last ones."""

    settings: LintSettings = field(default_factory=LintSettings)
    _known: "OrderedDict[str, LintVerdict | None]" = field(
        default_factory=OrderedDict, init=False, repr=False, compare=False
    )

    def __reduce__(self) -> tuple[object, ...]:
        return Judge, (self.settings,)

    def __call__(self, sentences: Sequence[str]) -> list[LintVerdict | None]:
        wanted = [each for each in dict.fromkeys(sentences) if each not in self._known]
        found = dict(zip(wanted, self._judge(wanted), strict=True))
        verdicts = [found[each] if each in found else self._known[each] for each in sentences]
        self._known |= found
        while len(self._known) > max(_REMEMBERED, len(sentences)):
            self._known.popitem(last=False)
        return verdicts

    def may_report(self, sentence: str) -> bool:
        """Whether a sentence is long enough to be judged."""
        words = word_count(sentence)
        fewest = self.settings.min_words
        if self.settings.rule_set.instruction_words is not None:
            fewest = min(fewest, _TWO_INSTRUCTIONS)
        return words >= fewest or words > self.settings.limit(is_instruction=True)

    def _judge(self, sentences: Sequence[str]) -> list[LintVerdict | None]:
        rules, settings = self.settings.rule_set, self.settings
        counts = {i: word_count(s) for i, s in enumerate(sentences) if self.may_report(s)}
        needs_trees = rules.instruction_words is not None or rules.enough > _USUAL
        trees = self._analyses(sentences, list(counts) if needs_trees else [])
        orders = [
            i for i, tree in trees.items() if rules.instruction_words and is_instruction(tree)
        ]
        several = [i for i in orders if has_several_instructions(trees[i])]
        limits = {i: settings.limit(is_instruction=i in orders) for i in counts}
        long = [i for i, words in counts.items() if words > limits[i]]
        wanted = [i for i in counts if counts[i] >= settings.min_words or i in (*long, *several)]
        rewrites = self._rewrites(sentences, wanted, several)
        sure = [i for i, each in rewrites.items() if (each.confidence or 0) >= settings.confidence]
        reasons: dict[int, list[Reason]] = {
            i: [Reason.TOO_LONG] * (i in long) + [Reason.SEVERAL_IDEAS] * (i in (*several, *sure))
            for i in wanted
        }
        if not needs_trees:  # they are only needed to explain
            trees = self._analyses(sentences, [i for i in wanted if reasons[i]])
        for i in trees.keys() & reasons.keys():
            for reason, applies in _STRUCTURES.items():
                if (reasons[i] or reason in rules.enough) and applies(trees[i]):
                    reasons[i].append(reason)
        return [
            LintVerdict(tuple(reasons[i]), counts[i], limits[i], rewrites.get(i))
            if reasons.get(i)
            else None
            for i in range(len(sentences))
        ]

    def _rewrites(
        self, sentences: Sequence[str], places: Sequence[int], instructions: Sequence[int]
    ) -> dict[int, Rewrite]:
        """The splits of the sentences at these places. Several instructions are split even where a
        plain text would join them."""
        splits: dict[int, Rewrite] = {}
        for level, own in ((Level.PLAIN, places), (Level.ATOMIC, instructions)):
            left = [i for i in own if i not in splits]
            if not left:  # to make a splitter takes time, too
                continue
            splitter = Splitter(
                check=True,
                confidence=SUGGESTED,
                beam=BEAM,
                level=level,
                keep_phrases=self.settings.keep_phrases,
            )
            made = splitter.pipe([sentences[i] for i in left], first=LARGEST_BATCH)
            splits |= {i: each for i, each in zip(left, made, strict=True) if each.is_split}
        return splits

    @staticmethod
    def _analyses(sentences: Sequence[str], places: Sequence[int]) -> dict[int, Analysis]:
        """The analyses of the sentences at these places that are not too long for one."""
        if not places:
            return {}
        from parataxis.syntax.analyser import load_trees

        found = load_trees().pipe(sentences[i] for i in places)
        return {
            i: tree
            for i, tree in zip(places, found, strict=True)
            if isinstance(tree, Analysis) and tree.words
        }


@dataclass
class StrictRewriter:
    """Rewrites sentences in strict mode, for ``--fix``."""

    settings: LintSettings

    def __call__(self, sentences: Sequence[str]) -> list[Rewrite]:
        return list(self._splitter.pipe(sentences, first=LARGEST_BATCH))

    def in_text(self, rewrite: Rewrite, following: str) -> Rewrite:
        """The rewrite, or another one that leaves the following sentence clear."""
        return self._splitter.in_context([rewrite], [following])[0]

    def __reduce__(self) -> tuple[object, ...]:
        return StrictRewriter, (self.settings,)

    @cached_property
    def _splitter(self) -> Splitter:
        return Splitter(strict=True, keep_phrases=self.settings.keep_phrases)


def is_instruction(analysis: Analysis) -> bool:
    """Whether the main verb is an imperative."""
    return _is_imperative(analysis, analysis.root)


_SIMULTANEOUS = re.compile(r"\b(?:at the same time|simultaneously)\b", re.IGNORECASE)


def has_several_instructions(analysis: Analysis) -> bool:
    """Whether another imperative is joined to the main verb, and is not said to be obeyed at the
    same time (ASD-STE100, rule 5.2)."""
    if _SIMULTANEOUS.search(analysis.text):
        return False
    return any(
        _is_imperative(analysis, each) for each in analysis.children(analysis.root.index, "conj")
    )


def _is_imperative(analysis: Analysis, word: Word) -> bool:
    verbs = [word, *analysis.children(word.index, "aux", "cop")]
    has_subject = bool(analysis.children(word.index, "nsubj", "csubj", "expl"))
    return not has_subject and any(each.feats.get("Mood") == "Imp" for each in verbs)


_CLAUSES = frozenset(["acl", "acl:relcl", "advcl", "advcl:relcl", "ccomp", "csubj"])
_SHORTEST_INTERRUPTION = 6
"""Words of a clause between a subject and its verb that interrupts them: "the man who called" does
not."""


def has_nested_clauses(analysis: Analysis) -> bool:
    """Whether a finite clause separates a subject from its verb, or there is a finite clause in one
    in another, below the main clause."""
    clauses = [word for word in analysis if word.deprel in _CLAUSES and _is_finite(analysis, word)]
    for word in clauses:
        above = _clause_above(analysis, word)
        first, last = analysis.span(word.index)
        subjects = [each.index for each in analysis.children(above.index, "nsubj", "csubj")]
        long = last - first + 1 >= _SHORTEST_INTERRUPTION
        if long and any(subject < first and last < above.index for subject in subjects):
            return True
    return any(_depth(analysis, word) > 2 for word in clauses)


def _is_finite(analysis: Analysis, word: Word) -> bool:
    verbs = [word, *analysis.children(word.index, "aux", "cop")]
    return any(each.feats.get("VerbForm") == "Fin" for each in verbs)


def _clause_above(analysis: Analysis, word: Word) -> Word:
    """The head of the clause that a clause belongs to."""
    for above in _above(analysis, word):
        if above.deprel in _CLAUSES or above.relation in ("root", "conj", "parataxis"):
            return above
    return analysis.root


def _above(analysis: Analysis, word: Word) -> Iterator[Word]:
    while word.head != ROOT:
        word = analysis[word.head]
        yield word


def _depth(analysis: Analysis, word: Word) -> int:
    """How many finite clauses a clause is in, with itself."""
    chain = [word, *_above(analysis, word)]
    return sum(each.deprel in _CLAUSES and _is_finite(analysis, each) for each in chain)


_CONDITIONS = frozenset(["if", "unless", "when", "whenever", "where", "provided", "once"])
FAR = 15
"""Words between the verb of a condition and the verb of its consequence that are too many."""


def has_far_condition(analysis: Analysis) -> bool:
    """Whether many words stand between a condition and its consequence."""
    for word in analysis:
        if word.relation != "advcl" or abs(word.head - word.index) <= FAR:
            continue
        first, _ = analysis.span(word.index)
        if analysis[first].text.lower() in _CONDITIONS:
            return True
    return False


_STRUCTURES = {
    Reason.NESTED_CLAUSES: has_nested_clauses,
    Reason.FAR_CONDITION: has_far_condition,
}
