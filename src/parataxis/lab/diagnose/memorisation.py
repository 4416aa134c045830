"""Memorisation: what a splitter writes because it was in the training set, not in the source.

A simple sentence that occurs verbatim in the training set proves little if the evaluation set
leaks, because a correct sentence may occur there too. So the sentences that count are those that
occur in training *and* state something that their source does not: they were recited. A probe is
an entity, repeated three times. It states nothing, so everything a splitter writes about it comes
from training (Aharoni and Goldberg 2018, §2, table 3).
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from parataxis.checks import Checker
from parataxis.checks.units import FactUnit, Sort, units
from parataxis.evaluate.corpora.example import Example, entities
from parataxis.evaluate.corpora.sentences import on_one_line
from parataxis.rewrite.forms import is_known
from parataxis.rewrite.record import Finding, FindingKind, Rewrite
from parataxis.syntax.analysis import Analysis
from parataxis.text.tokens import tokenize

REPEATS = 3
"""How often a probe repeats its entity."""


def probe_source(entity: str) -> str:
    """The probe of an entity.

    >>> probe_source("AFC Ajax")
    'AFC Ajax AFC Ajax AFC Ajax'
    """
    return " ".join([entity] * REPEATS)


class TrainingMemory:
    """Finds which of some sentences occur in a training set, in one pass over it.

    Spaces are ignored: they differ between running text and tokens.

    >>> memory = TrainingMemory(["It rained.", "It snowed."])
    >>> seen = Example("It rained , so we left .", (("It rained .", "We left ."),), "train:1")
    >>> [example.id for example in memory.watch([seen])]
    ['train:1']
    >>> memory.where("It rained."), memory.where("It snowed.")
    ('train:1', None)
    """

    def __init__(self, sentences: Iterable[str]) -> None:
        self._seen: dict[str, str | None] = dict.fromkeys(map(_squeezed, sentences))

    def watch(self, examples: Iterable[Example]) -> Iterator[Example]:
        """The examples of a training set, unchanged. A sentence was seen, whether as a source or
        as a simple sentence."""
        for example in examples:
            self._look(example.source, example.id)
            for reference in example.references:
                for sentence in reference:
                    self._look(sentence, example.id)
            yield example

    def _look(self, sentence: str, id_: str) -> None:
        key = _squeezed(sentence)
        if key in self._seen and self._seen[key] is None:
            self._seen[key] = id_

    def where(self, sentence: str) -> str | None:
        """The id of the first training example that has the sentence, if any has."""
        return self._seen.get(_squeezed(sentence))


def _squeezed(sentence: str) -> str:
    return "".join(sentence.split())


@dataclass(frozen=True, slots=True)
class Said:
    """A simple sentence, the words of it that its source does not have, and the id of a training
    example that has the sentence."""

    source: str
    sentence: str
    new: tuple[str, ...]
    seen: str | None

    @property
    def is_unsupported(self) -> bool:
        """Whether it states something that its source does not."""
        return bool(self.new)

    @property
    def is_recited(self) -> bool:
        """Whether it occurs in training and its source does not state it."""
        return self.is_unsupported and self.seen is not None


@dataclass(frozen=True)
class Recital:
    """The simple sentences of some sources, rewrite by rewrite."""

    rewrites: Sequence[Sequence[Said]]

    @property
    def said(self) -> list[Said]:
        """All simple sentences."""
        return [each for rewrite in self.rewrites for each in rewrite]

    @property
    def sentences(self) -> int:
        """How many simple sentences there are."""
        return sum(map(len, self.rewrites))

    @property
    def verbatim(self) -> int:
        """How many of them occur in training."""
        return sum(each.seen is not None for each in self.said)

    @property
    def unsupported(self) -> int:
        """How many state something that their source does not."""
        return sum(each.is_unsupported for each in self.said)

    @property
    def recited(self) -> int:
        """How many do both."""
        return sum(each.is_recited for each in self.said)

    @property
    def talkative(self) -> int:
        """The number of sources with an unsupported sentence."""
        return sum(any(each.is_unsupported for each in rewrite) for rewrite in self.rewrites)

    @property
    def reciting(self) -> int:
        """The number of sources with a recited sentence."""
        return sum(any(each.is_recited for each in rewrite) for rewrite in self.rewrites)

    def share(self, count: int) -> float:
        """The share of the simple sentences."""
        return count / self.sentences if self.sentences else 0.0


def examine(
    rewrites: Iterable[Rewrite], memory: TrainingMemory, *, every_word: bool = False
) -> Recital:
    """Look at every simple sentence: was it in training, and does its source support it?

    A new name or number is no rephrasing; a new word may be one ("located" for "in"), and counts
    only with ``every_word``, for probes, which state nothing that could be rephrased. What is new
    the check on words finds, which lets function words and links pass (docs/checks.md).
    """
    held = list(rewrites)
    findings = Checker().pipe((each.source, each.simple) for each in held)
    found = []
    for rewrite, about in zip(held, findings, strict=True):
        new: list[list[str]] = [[] for _ in rewrite.simple]
        for finding in about:
            if finding.kind is not FindingKind.NEW or finding.sentence is None:
                continue
            if every_word or _names_or_numbers(rewrite.simple[finding.sentence], finding):
                new[finding.sentence].append(finding.words)
        found.append(
            tuple(
                Said(rewrite.source, sentence, tuple(words), memory.where(sentence))
                for sentence, words in zip(rewrite.simple, new, strict=True)
            )
        )
    return Recital(found)


def _names_or_numbers(sentence: str, finding: Finding) -> bool:
    found = [unit for unit in units(sentence) if finding.start <= unit.start < finding.end]
    return any(unit.sort in (Sort.NAME, Sort.NUMBER) or _opens_as_name(unit) for unit in found)


def _opens_as_name(unit: FactUnit) -> bool:
    """Whether the first word of a sentence, which has a capital anyway, is most likely a name."""
    return unit.is_fact and unit.start == 0 and not is_known(unit.key)


Span = tuple[int, int]
"""The first word, and the one behind the last."""


def plain_name(entity: str) -> str:
    """An entity of a knowledge base as a text has it.

    >>> plain_name("Alan_Shepard"), plain_name('"HOK SVE"')
    ('Alan Shepard', 'HOK SVE')
    """
    return on_one_line(entity.strip().strip('"').replace("_", " "))


def triple_entities(examples: Iterable[Example]) -> list[str]:
    """The subjects and objects of all triples, each once and in the order of the examples, where a
    word of them has a capital; what has none is mostly a number ("42 m")."""
    found: dict[str, None] = {}
    for example in examples:
        found |= dict.fromkeys(sorted(map(plain_name, entities(example.triples))))
    return [name for name in found if any(word[:1].isupper() for word in name.split())]


def names(analysis: Analysis) -> list[str]:
    """The names in a sentence: runs of proper nouns, in order."""
    found: list[list[int]] = []
    for word in analysis:
        if not word.xpos.startswith("NNP"):  # UD calls the "New" of "New York" an adjective
            continue
        if found and found[-1][-1] == word.index - 1:
            found[-1].append(word.index)
        else:
            found.append([word.index])
    return [analysis.phrase(run[0], run[-1]) for run in found]


def source_names(sources: Iterable[str]) -> Iterator[list[str]]:
    """The names in each source, as the analyser finds them."""
    from parataxis.syntax.analyser import load_trees  # slow, and triples do without

    for analysis in load_trees().pipe(sources):
        yield names(analysis) if isinstance(analysis, Analysis) else []


def find_entity(words: Sequence[str], known: Iterable[str]) -> Span | None:
    """The words of the entity that a sentence names first; of two that begin there, the longer.

    >>> find_entity("The 3Arena in North Wall , Dublin".split(), ["North Wall, Dublin", "Dublin"])
    (3, 7)
    """
    lower = [word.lower() for word in words]
    best: Span | None = None
    for entity in known:
        wanted = [token.text.lower() for token in tokenize(entity)]
        for start in range(len(lower) - len(wanted) + 1 if wanted else 0):
            if lower[start : start + len(wanted)] == wanted:
                found = start, start + len(wanted)
                if best is None or (found[0], -found[1]) < (best[0], -best[1]):
                    best = found
                break
    return best
