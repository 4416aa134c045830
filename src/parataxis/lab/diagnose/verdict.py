"""Whether a splitter has memorised its training set: the numbers, and a verdict in words."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import islice

from parataxis.evaluate.commands.leaks import overlap_records, overlap_table
from parataxis.evaluate.corpora.leaks import Overlaps
from parataxis.lab.diagnose.memorisation import REPEATS, Recital, Said
from parataxis.report import (
    Block,
    Heading,
    Points,
    Report,
    ReportParagraph,
    Table,
)

MUCH = 0.1
"""The share that is not an accident: of simple sentences beyond that of the references, or of
probes."""
SOME = 0.01
"""The share that is worth reporting."""
LEAKY = 0.5
"""An evaluation set with more of its simple sentences in training says little about a system."""

_SHOWN = 5


class VerdictLevel(StrEnum):
    """The verdict in a word."""

    RECITES = "recites"
    INVENTS = "invents"
    SOMETIMES = "sometimes"
    CLEAN = "clean"


@dataclass(frozen=True)
class Memorisation:
    """The findings about one system.

    ``overlaps`` are those of the evaluation set with training, and ``references`` its references;
    both are None where no evaluation set was given, as ``probes`` where nothing was probed.
    """

    system: str
    training: str
    evaluation: str | None
    predictions: Recital
    references: Recital | None = None
    probes: Recital | None = None
    overlaps: Overlaps | None = None

    @property
    def level(self) -> VerdictLevel:
        """The verdict."""
        if self._excess("recited") >= MUCH or self._probed("reciting") >= MUCH:
            return VerdictLevel.RECITES
        if self._excess("unsupported") >= MUCH or self._probed("talkative") >= MUCH:
            return VerdictLevel.INVENTS
        if self._excess("recited") >= SOME or self._probed("reciting") >= SOME:
            return VerdictLevel.SOMETIMES
        return VerdictLevel.CLEAN

    def _excess(self, count: str) -> float:
        """The share of simple sentences, beyond that of the references: what they have of it is
        rephrased, and not made up."""
        own = self.predictions.share(getattr(self.predictions, count))
        known = self.references
        return own - (known.share(getattr(known, count)) if known else 0.0)

    def _probed(self, count: str) -> float:
        if self.probes is None or not self.probes.rewrites:
            return 0.0
        return float(getattr(self.probes, count)) / len(self.probes.rewrites)

    @property
    def is_leaky(self) -> bool:
        """Whether the evaluation set has most of its simple sentences in training."""
        known = self.references
        return known is not None and known.share(known.verbatim) > LEAKY

    def headline(self) -> str:
        """The verdict in one sentence."""
        if self.level is VerdictLevel.RECITES:
            return f"{self.system} knows its training set by heart and recites it."
        if self.level is VerdictLevel.SOMETIMES:
            return f"{self.system} recites its training set now and then, but not as a rule."
        if self.level is VerdictLevel.CLEAN:
            return f"There is no sign that {self.system} recites its training set."
        if self._excess("unsupported") >= MUCH:
            return f"{self.system} says what its sources do not say, mostly in words of its own."
        return (
            f"{self.system} seldom recites its training set, but where its input says nothing it "
            "makes something up."
        )

    def sentences(self) -> list[str]:
        """The reasons, in plain words."""
        return [
            self._about_verbatim(),
            self._about_recited(),
            *self._about_probes(),
            *self._about_evaluation(),
        ]

    def _about_verbatim(self) -> str:
        own, known = self.predictions, self.references
        text = (
            f"Of its {own.sentences:,} simple sentences, {own.verbatim:,} "
            f"({_percent(own.share(own.verbatim))}) stand word for word in the training set."
        )
        if known is None:
            return text
        text += f" Of the references, {_percent(known.share(known.verbatim))} do."
        if self.is_leaky:
            text += " Here that proves little: a right sentence is mostly a training sentence too."
        return text

    def _about_recited(self) -> str:
        own, known = self.predictions, self.references
        if not own.unsupported:
            text = "None gives a name or a number that its source does not give."
        else:
            text = (
                f"{own.unsupported:,} ({_percent(own.share(own.unsupported))}) give a name or a "
                "number that their source does not give, and "
            )
            text += (
                f"{own.recited:,} of these ({_percent(own.share(own.recited))} of all) are "
                "training sentences: they were remembered, not read."
                if own.recited
                else "none of these is a training sentence."
            )
        if known is None:
            return text
        if not known.unsupported:
            return f"{text} The references give none."
        return (
            f"{text} Of the references, {_percent(known.share(known.unsupported))} give one, and "
            f"{_percent(known.share(known.recited))} do so in a training sentence; so much is "
            "rephrasing (the United States for the US)."
        )

    def _about_probes(self) -> Iterator[str]:
        probes = self.probes
        if probes is None or not probes.rewrites:
            return
        asked = len(probes.rewrites)
        text = f"Given nothing but an entity, said three times, for {asked:,} entities, it "
        if not probes.talkative:
            yield f"{text}never said anything that was not in the input."
            return
        text += (
            f"stated something {probes.talkative:,} times ({_percent(probes.talkative / asked)}), "
            f"and {probes.reciting:,} times ({_percent(probes.reciting / asked)}) with a sentence "
            "of the training set."
        )
        recited = [each for each in probes.said if each.is_recited]
        about = [each for each in recited if _entity(each) in each.sentence]
        for example in (about or recited)[:1]:
            text += f' Given "{_entity(example)}" alone it says: {example.sentence}'
        yield text

    def _about_evaluation(self) -> Iterator[str]:
        if self.is_leaky:
            yield (
                f"Since so much of {self.evaluation} is in the training set, a high score on it "
                "says little about splitting; split the corpus by its facts (`parataxis corpus "
                "split`) before systems are compared on it."
            )

    def document(self) -> Report:
        """The verdict on a page."""
        title = f"Does {self.system} know its training set by heart?"
        return Report(title, [*self._blocks()], self.record())

    def _blocks(self) -> Iterator[Block]:
        yield ReportParagraph(self.headline())
        yield Points(self.sentences())
        yield Heading("What it wrote")
        yield Table(
            ("", "sentences", "in training", "%", "unsupported", "%", "both", "%"),
            [_row(name, recital) for name, recital in self._rows()],
        )
        yield ReportParagraph(
            "In training: word for word a sentence of the training set, spaces aside. Unsupported: "
            "with a name or a number that the source does not have, or, of a probe, with any "
            "content word that it does not have."
        )
        yield from self._examples("Recited", self.predictions, recited=True)
        if self.probes is not None:
            yield from self._probe_blocks(self.probes)
        if self.overlaps is not None:
            yield Heading(f"{self.evaluation} in {self.training}")
            yield overlap_table(self.overlaps)
            yield ReportParagraph("As `parataxis corpus leaks` counts, to which spaces matter.")

    def _rows(self) -> Iterator[tuple[str, Recital]]:
        yield self.system, self.predictions
        if self.references is not None:
            yield "REFERENCE", self.references
        if self.probes is not None:
            yield "probes", self.probes

    def _probe_blocks(self, probes: Recital) -> Iterator[Block]:
        yield Heading("Probes")
        asked = len(probes.rewrites)
        counts = {
            "nothing unsupported": asked - probes.talkative,
            "something unsupported": probes.talkative,
            "a training sentence": probes.reciting,
        }
        rows = [(name, f"{n:,}", f"{100 * n / asked:.1f}") for name, n in counts.items()]
        yield Table(("what came out", "entities", "%"), rows)
        yield from self._examples("", probes, recited=probes.recited > 0)

    def _examples(self, heading: str, recital: Recital, *, recited: bool) -> Iterator[Block]:
        """The first sentences of which there is most to see, each once; table 3 of the paper."""
        shown: dict[str, Said] = {}
        for each in recital.said:
            if each.is_recited or (each.is_unsupported and not recited):
                shown.setdefault(each.sentence, each)
        rows = [
            (each.source, each.sentence, ", ".join(each.new), each.seen or "")
            for each in islice(shown.values(), _SHOWN)
        ]
        if rows:
            if heading:
                yield Heading(heading)
            yield Table(
                ("input", "it says", "not in the input", "training"), rows, names=4, passages=True
            )

    def record(self) -> dict[str, object]:
        """All of it for machines."""
        return {
            "system": self.system,
            "training": self.training,
            "evaluation": self.evaluation,
            "verdict": self.level.value,
            "sentences": [self.headline(), *self.sentences()],
            "predictions": _record(self.predictions),
            "references": _record(self.references) if self.references else None,
            "probes": self._probe_record(),
            "recited": [_said_record(each) for each in self.predictions.said if each.is_recited],
            "overlaps": overlap_records(self.overlaps) if self.overlaps else None,
        }

    def _probe_record(self) -> dict[str, object] | None:
        if self.probes is None:
            return None
        return {
            **_record(self.probes),
            "probes": len(self.probes.rewrites),
            "with_unsupported": self.probes.talkative,
            "with_training_sentence": self.probes.reciting,
            "entities": [
                {
                    "entity": _entity(rewrite[0]),
                    "simple": [each.sentence for each in rewrite],
                    "new": [list(each.new) for each in rewrite],
                    "training": [each.seen for each in rewrite],
                }
                for rewrite in self.probes.rewrites
            ],
        }


def _row(name: str, recital: Recital) -> tuple[str, ...]:
    cells = [name, f"{recital.sentences:,}"]
    for count in (recital.verbatim, recital.unsupported, recital.recited):
        cells += [f"{count:,}", f"{100 * recital.share(count):.1f}"]
    return tuple(cells)


def _record(recital: Recital) -> dict[str, object]:
    return {
        "sources": len(recital.rewrites),
        "sentences": recital.sentences,
        "in_training": recital.verbatim,
        "unsupported": recital.unsupported,
        "recited": recital.recited,
    }


def _said_record(said: Said) -> dict[str, object]:
    return {
        "source": said.source,
        "sentence": said.sentence,
        "new": list(said.new),
        "training": said.seen,
    }


def _entity(said: Said) -> str:
    """The entity of a probe: a third of it."""
    words: Sequence[str] = said.source.split(" ")
    return " ".join(words[: len(words) // REPEATS])


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"
