"""The rule-based splitter: runs the three processes on an analysis and composes the result."""

from collections.abc import Callable, Iterable, Iterator, Sequence, Set
from itertools import tee

from parataxis.errors import TooLongError
from parataxis.rewrite.compose import Insert, Part, compose, copies
from parataxis.rewrite.inflect import FORMS_OF_BE
from parataxis.rewrite.record import OutputToken, Rewrite
from parataxis.splitters.rules.conjunction import split_conjunction
from parataxis.splitters.rules.insertion import split_insertion
from parataxis.splitters.rules.roles import RELATIVE_WORDS
from parataxis.splitters.rules.wh import split_wh
from parataxis.splitters.source import left_whole
from parataxis.syntax.analyser import Analyser, load_analyser
from parataxis.syntax.analysis import Analysis, Word

__all__ = ["RulesSplitter", "split_by_rules"]

_Process = Callable[[Analysis, Sequence[Part]], Iterator[tuple[list[Part], list[Part]]]]

_NAME = "rules"
_DROPPED = RELATIVE_WORDS | {"and", ",", ";", ":", ".", "-", "--", "–", "—"}
_BRACKETS = frozenset("()[]")
_PROCESSES: tuple[_Process, ...] = (split_wh, split_conjunction, split_insertion)


class RulesSplitter:
    """The rule-based splitter of Zhang et al. (2020), appendix A: at most three splits.

    >>> RulesSplitter()("Ann wrote a book, and Ben read it.").simple
    ('Ann wrote a book.', 'Ben read it.')
    """

    name = _NAME
    summary = "The rule-based baseline of Zhang et al. (2020): relative clauses, and, insertions."

    def __init__(self, analyser: Analyser | None = None) -> None:
        self._analyser = analyser

    def __call__(self, sentence: str) -> Rewrite:
        """Rewrite one sentence."""
        return next(self.pipe([sentence]))

    def pipe(self, sentences: Iterable[str]) -> Iterator[Rewrite]:
        """Rewrite many sentences, in order; several are analysed at once."""
        analyser = self._analyser or load_analyser()
        originals, to_analyse = tee(sentences)
        for sentence, analysis in zip(originals, analyser.pipe(to_analyse), strict=True):
            if isinstance(analysis, TooLongError):
                yield left_whole(sentence, splitter=self.name, note=str(analysis))
            else:
                yield split_by_rules(analysis)


def split_by_rules(analysis: Analysis) -> Rewrite:
    """Run each process once, in the paper's order, on an analysed sentence."""
    sentences: list[list[Part]] = [copies(range(len(analysis)))]
    for process in _PROCESSES:
        sentences = _once(process, analysis, sentences)
    if len(sentences) == 1:
        return left_whole(analysis.text, splitter=_NAME, note="None of the rules applies.")
    composed = [compose(analysis, sentence) for sentence in sentences]
    return Rewrite(
        source=analysis.text,
        simple=tuple(text for text, _ in composed),
        splitter=_NAME,
        provenance=tuple(tokens for _, tokens in composed),
    )


def _once(process: _Process, analysis: Analysis, sentences: list[list[Part]]) -> list[list[Part]]:
    """Let a process make the first of its splits that gives two sentences and loses nothing."""
    verbs = {(word.start, word.end) for word in analysis if word.upos in ("VERB", "AUX")}
    dropped = _DROPPED | _BRACKETS if process is split_insertion else _DROPPED
    for place, sentence in enumerate(sentences):
        for halves in process(analysis, sentence):
            tokens = [compose(analysis, half)[1] for half in halves]
            if all(_has_verb(half, verbs) for half in tokens) and all(
                word.text.lower() in dropped for word in _lost(analysis, sentence, tokens)
            ):
                return [*sentences[:place], *halves, *sentences[place + 1 :]]
    return sentences


def _has_verb(tokens: Sequence[OutputToken], verbs: Set[tuple[int, int]]) -> bool:
    return any(
        token.text in FORMS_OF_BE if token.source is None else token.source in verbs
        for token in tokens
    )


def _lost(
    analysis: Analysis, sentence: Sequence[Part], halves: Sequence[Sequence[OutputToken]]
) -> Iterator[Word]:
    """The words of a sentence that stand in neither half."""
    kept = {token.source for half in halves for token in half}
    words = (analysis[part.word] for part in sentence if not isinstance(part, Insert))
    return (word for word in words if (word.start, word.end) not in kept)
