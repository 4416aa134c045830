"""Memorisation: what a splitter writes because it was in the training set, not in the source.

A simple sentence that occurs verbatim in the training set proves little if the evaluation set
leaks, because a correct sentence may occur there too. So the sentences that count are those that
occur in training *and* state something that their source does not: they were recited. A probe is
an entity, repeated three times. It states nothing, so everything a splitter writes about it comes
from training (Aharoni and Goldberg 2018, §2, table 3).
"""

import tomllib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from enum import StrEnum
from itertools import chain, islice
from pathlib import Path

from parataxis.checks import Checker
from parataxis.checks.units import Sort, units
from parataxis.evaluate.commands.corpus import overlap_records, overlap_table
from parataxis.evaluate.corpora.example import Example, entities
from parataxis.evaluate.corpora.leaks import Overlaps
from parataxis.evaluate.corpora.sentences import on_one_line
from parataxis.report import Block, Heading, Points, Report, ReportParagraph, Table
from parataxis.rewrite.forms import is_known
from parataxis.rewrite.record import Finding, FindingKind, Rewrite
from parataxis.syntax.analysis import Analysis

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
            for sentence in (example.source, *chain.from_iterable(example.references)):
                key = _squeezed(sentence)
                if key in self._seen and self._seen[key] is None:
                    self._seen[key] = example.id
            yield example

    def where(self, sentence: str) -> str | None:
        """The id of the first training example that has the sentence, if any has."""
        return self._seen.get(_squeezed(sentence))


def _squeezed(sentence: str) -> str:
    return "".join(sentence.split())


@dataclass(frozen=True, slots=True)
class ExaminedSentence:
    """A simple sentence, the words of it that its source does not have, and the id of a training
    example that has the sentence."""

    source: str
    sentence: str
    new: tuple[str, ...]
    training: str | None

    @property
    def is_recited(self) -> bool:
        """Whether it occurs in training and its source does not state it."""
        return bool(self.new) and self.training is not None

    @property
    def entity(self) -> str:
        """The entity of a probe: a third of its source."""
        words = self.source.split(" ")
        return " ".join(words[: len(words) // REPEATS])


class SentenceTally:
    """The simple sentences of some sources, rewrite by rewrite: how many of them are in training
    (``verbatim``), state something that their source does not (``unsupported``), or do both
    (``recited``), how many sources have such sentences, and these counts in percent."""

    def __init__(self, rewrites: Sequence[Sequence[ExaminedSentence]]) -> None:
        self.rewrites = rewrites
        self.said = [each for rewrite in rewrites for each in rewrite]
        self.sources, self.sentences = len(rewrites), len(self.said)
        self.verbatim = sum(each.training is not None for each in self.said)
        self.unsupported = sum(bool(each.new) for each in self.said)
        self.recited = sum(each.is_recited for each in self.said)
        self.unsupported_sources = sum(any(each.new for each in rewrite) for rewrite in rewrites)
        self.recited_sources = sum(any(each.is_recited for each in rewrite) for rewrite in rewrites)
        self.percent = {
            count: 100 * getattr(self, count) / max(1, whole)
            for whole, counts in ((self.sentences, _OF_SENTENCES), (self.sources, _OF_SOURCES))
            for count in counts
        }

    def record(self) -> dict[str, object]:
        return {
            "sources": self.sources,
            "sentences": self.sentences,
            "in_training": self.verbatim,
            "unsupported": self.unsupported,
            "recited": self.recited,
        }


_OF_SENTENCES = ("verbatim", "unsupported", "recited")
_OF_SOURCES = ("unsupported_sources", "recited_sources")


def examine(
    rewrites: Iterable[Rewrite], memory: TrainingMemory, *, every_word: bool = False
) -> SentenceTally:
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
                ExaminedSentence(rewrite.source, sentence, tuple(words), memory.where(sentence))
                for sentence, words in zip(rewrite.simple, new, strict=True)
            )
        )
    return SentenceTally(found)


def _names_or_numbers(sentence: str, finding: Finding) -> bool:
    return any(
        unit.sort in (Sort.NAME, Sort.NUMBER)
        # The first word of a sentence has a capital anyway; an unknown one is most likely a name.
        or (unit.is_fact and unit.start == 0 and not is_known(unit.key))
        for unit in units(sentence)
        if finding.start <= unit.start < finding.end
    )


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


_LINKS = (["of"], ["of", "the"], ["de"], ["von"], ["van"])
"""What may stand between two parts of a name."""


def names(analysis: Analysis) -> list[str]:
    """The names in a sentence, in order: runs of proper nouns and of other nouns with a capital,
    also across a link ("the Bank of England"), and with the article of a title ("A Wizard of
    Mars")."""
    words = list(analysis)
    found: list[list[int]] = []
    for word in words:
        is_title = word.xpos.startswith("NN") and word.index > 0 and word.text[0].isupper()
        if not (is_title or word.xpos.startswith("NNP")):  # UD: the "New" of "New York" is ADJ
            continue
        between = [each.text for each in words[found[-1][-1] + 1 : word.index]] if found else None
        if between == [] or between in _LINKS:
            found[-1].append(word.index)
        else:
            has_article = word.index > 0 and words[word.index - 1].text in ("A", "An")
            found.append([word.index - has_article, word.index])
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
    wanted = {"".join(entity.lower().split()) for entity in known} - {""}
    longest = max(map(len, wanted), default=0)
    for start in range(len(words)):
        text, ends = "", []
        for end in range(start, len(words)):
            text += words[end].lower()
            if len(text) > longest:
                break
            if text in wanted:
                ends.append(end + 1)
        if ends:
            return start, ends[-1]
    return None


MUCH = 10.0
"""The percentage that is not an accident: of simple sentences beyond that of the references, or of
probes."""
SOME = 1.0
"""The percentage that is worth reporting."""
LEAKY = 50.0
"""An evaluation set with more of its simple sentences in training says little about a system."""

_SHOWN = 5
_TEXTS = tomllib.loads(Path(__file__).with_name("verdict.toml").read_text(encoding="utf-8"))


VerdictLevel = StrEnum("VerdictLevel", "RECITES INVENTS SOMETIMES CLEAN")
"""The verdict in a word."""


@dataclass(frozen=True)
class Memorisation:
    """The findings about one system.

    ``overlaps`` are those of the evaluation set with training, and ``references`` its references;
    both are None where no evaluation set was given, as ``probes`` where nothing was probed.
    """

    system: str
    training: str
    evaluation: str | None
    predictions: SentenceTally
    references: SentenceTally | None = None
    probes: SentenceTally | None = None
    overlaps: Overlaps | None = None

    @property
    def level(self) -> VerdictLevel:
        recited = max(self._excess("recited"), self._probed("recited_sources"))
        if recited >= MUCH:
            return VerdictLevel.RECITES
        if max(self._excess("unsupported"), self._probed("unsupported_sources")) >= MUCH:
            return VerdictLevel.INVENTS
        return VerdictLevel.SOMETIMES if recited >= SOME else VerdictLevel.CLEAN

    def _excess(self, count: str) -> float:
        """The percentage of simple sentences, beyond that of the references: what they have of it
        is rephrased, and not made up."""
        known = self.references.percent[count] if self.references else 0.0
        return self.predictions.percent[count] - known

    def _probed(self, count: str) -> float:
        return self.probes.percent[count] if self.probes else 0.0

    @property
    def is_leaky(self) -> bool:
        return self.references is not None and self.references.percent["verbatim"] > LEAKY

    def headline(self) -> str:
        is_probed = self.level is VerdictLevel.INVENTS and self._excess("unsupported") < MUCH
        return str(_TEXTS["headline"]["probes" if is_probed else self.level].format(it=self))

    def sentences(self) -> list[str]:
        own, known, probes = self.predictions, self.references, self.probes
        verbatim = ["verbatim"]
        recited = ["recited" if own.recited else "unsupported" if own.unsupported else "supported"]
        if known is not None:
            verbatim.append("known_verbatim")
            recited.append("known_unsupported" if known.unsupported else "known_supported")
        said = [each for each in probes.said if each.is_recited] if probes else []
        about = [each for each in said if each.entity in each.sentence] or said
        probed = []
        if probes is not None and probes.sources:
            probed = [
                "probed" if probes.unsupported_sources else "silent",
                *["example"][: len(about)],
            ]
        leaky = []
        if self.is_leaky:
            verbatim.append("leaky_verbatim")
            leaky.append("leaky")
        parts = {
            "it": self,
            "own": own,
            "known": known,
            "probes": probes,
            "example": about[0] if about else None,
        }
        return [
            " ".join(_TEXTS["reasons"][key].format(**parts) for key in keys)
            for keys in (verbatim, recited, probed, leaky)
            if keys
        ]

    def document(self) -> Report:
        title = f"Has {self.system} memorised its training set?"
        return Report(title, [*self._blocks()], self.record())

    def _blocks(self) -> Iterator[Block]:
        yield ReportParagraph(self.headline())
        yield Points(self.sentences())
        yield Heading("What it wrote")
        rows = {self.system: self.predictions, "REFERENCE": self.references, "probes": self.probes}
        yield Table(
            ("", "sentences", "in training", "%", "unsupported", "%", "both", "%"),
            [_row(name, tally) for name, tally in rows.items() if tally is not None],
        )
        yield ReportParagraph(_TEXTS["notes"]["columns"])
        examples = _examples(self.predictions, recited=True)
        if examples is not None:
            yield from (Heading("Reproduced"), examples)
        if self.probes is not None:
            yield from _probe_blocks(self.probes)
        if self.overlaps is not None:
            yield Heading(f"{self.evaluation} in {self.training}")
            yield overlap_table(self.overlaps)
            yield ReportParagraph(_TEXTS["notes"]["overlaps"])

    def record(self) -> dict[str, object]:
        return {
            "system": self.system,
            "training": self.training,
            "evaluation": self.evaluation,
            "verdict": self.level.value,
            "sentences": [self.headline(), *self.sentences()],
            "predictions": self.predictions.record(),
            "references": self.references.record() if self.references else None,
            "probes": _probe_record(self.probes) if self.probes else None,
            "recited": [asdict(each) for each in self.predictions.said if each.is_recited],
            "overlaps": overlap_records(self.overlaps) if self.overlaps else None,
        }


def _row(name: str, tally: SentenceTally) -> tuple[str, ...]:
    cells = [name, f"{tally.sentences:,}"]
    for count in _OF_SENTENCES:
        cells += [f"{getattr(tally, count):,}", f"{tally.percent[count]:.1f}"]
    return tuple(cells)


def _examples(tally: SentenceTally, *, recited: bool) -> Table | None:
    """The first sentences of which there is most to see, each once; table 3 of the paper."""
    shown: dict[str, ExaminedSentence] = {}
    for each in tally.said:
        if each.is_recited or (each.new and not recited):
            shown.setdefault(each.sentence, each)
    rows = [
        (each.source, each.sentence, ", ".join(each.new), each.training or "")
        for each in islice(shown.values(), _SHOWN)
    ]
    header = ("input", "it says", "not in the input", "training")
    return Table(header, rows, names=4, passages=True) if rows else None


def _probe_blocks(probes: SentenceTally) -> Iterator[Block]:
    yield Heading("Probes")
    counts = {
        "nothing unsupported": probes.sources - probes.unsupported_sources,
        "something unsupported": probes.unsupported_sources,
        "a training sentence": probes.recited_sources,
    }
    rows = [(name, f"{n:,}", f"{100 * n / probes.sources:.1f}") for name, n in counts.items()]
    yield Table(("what came out", "entities", "%"), rows)
    examples = _examples(probes, recited=probes.recited > 0)
    if examples is not None:
        yield examples


def _probe_record(probes: SentenceTally) -> dict[str, object]:
    return {
        **probes.record(),
        "probes": probes.sources,
        "with_unsupported": probes.unsupported_sources,
        "with_training_sentence": probes.recited_sources,
        "entities": [
            {
                "entity": rewrite[0].entity,
                "simple": [each.sentence for each in rewrite],
                "new": [list(each.new) for each in rewrite],
                "training": [each.training for each in rewrite],
            }
            for rewrite in probes.rewrites
        ],
    }
