"""What is wrong with a language model's rewrite: the findings of the checks, each word that the
pointer splitter could not have written, and words that are all there but say something else."""

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass

from parataxis.checks import Checker
from parataxis.checks.checker import SentenceAnalyser
from parataxis.errors import TooLongError
from parataxis.rewrite.align import align
from parataxis.rewrite.forms import key
from parataxis.rewrite.record import Finding, Kind, Origin, OutputToken
from parataxis.splitters.llm.denials import new_denials
from parataxis.splitters.llm.swaps import swapped_neighbours, swapped_parts
from parataxis.splitters.pointer.actions import closed_word
from parataxis.syntax.analysis import Analysis

__all__ = ["Candidate", "examine"]

Provenance = tuple[tuple[OutputToken, ...], ...]


@dataclass(frozen=True, slots=True)
class Candidate:
    """A rewrite that a language model proposes, with its provenance and its findings."""

    simple: tuple[str, ...]
    provenance: Provenance
    findings: tuple[Finding, ...]

    def gravity(self, blocking: Set[Kind]) -> tuple[int, int]:
        """How bad it is: the findings that rule it out, then all of them."""
        return sum(each.kind in blocking for each in self.findings), len(self.findings)


class _Known(dict[str, Analysis | TooLongError]):
    """Analyses that are there already, so that the checks need not make them again."""

    def pipe(self, sentences: Iterable[str]) -> Iterator[Analysis | TooLongError]:
        return map(self.__getitem__, sentences)


def examine(
    rewrites: Sequence[tuple[str, tuple[str, ...]]], analyser: SentenceAnalyser
) -> list[Candidate]:
    """The candidates for sources and their simple sentences, in order, checked side by side."""
    texts = {text: None for source, simple in rewrites for text in (source, *simple)}
    known = _Known(dict(zip(texts, analyser.pipe(texts), strict=True)))
    analyses = {text: each for text, each in known.items() if isinstance(each, Analysis)}
    # Without provenance the checks read every sentence, not only those where words were moved: a
    # language model can go wrong anywhere.
    all_findings = Checker(known).pipe(rewrites)
    candidates = []
    for (source, simple), found in zip(rewrites, all_findings, strict=True):
        provenance = align(source, simple)
        findings = [*found, *_foreign_words(provenance, found)]
        if source in analyses:
            findings += _twists(analyses[source], simple, provenance, analyses)
        candidates.append(Candidate(simple, provenance, tuple(findings)))
    return candidates


def _twists(
    source: Analysis,
    simple: Sequence[str],
    provenance: Provenance,
    analyses: Mapping[str, Analysis],
) -> Iterator[Finding]:
    yield from swapped_neighbours(source, simple)
    for index, (sentence, tokens) in enumerate(zip(simple, provenance, strict=True)):
        if sentence in analyses:
            yield from swapped_parts(source, analyses[sentence], index, tokens)
            yield from new_denials(source, analyses[sentence], index, tokens)


def _foreign_words(provenance: Provenance, known: Sequence[Finding]) -> Iterator[Finding]:
    """Words that are neither in the source, nor forms of its words, nor closed ones. The checks
    let some of them pass, which people may use ("termination" for "terminate")."""
    places = [(each.sentence, each.start, each.end) for each in known if each.kind is Kind.NEW]
    for index, tokens in enumerate(provenance):
        for token in tokens:
            if token.origin is not Origin.INSERTED or closed_word(key(token.text)) is not None:
                continue
            if not any(
                sentence == index and start <= token.start < end for sentence, start, end in places
            ):
                yield Finding(
                    kind=Kind.NEW,
                    words=token.text,
                    sentence=index,
                    start=token.start,
                    end=token.end,
                    message=f"'{token.text}' is not in the source.",
                )
