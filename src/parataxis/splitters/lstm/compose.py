"""Words that a model wrote, as simple sentences of running text, with their origin."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from parataxis.rewrite.record import Origin, OutputToken
from parataxis.splitters.lstm.search import Hypothesis
from parataxis.splitters.lstm.words import SPLIT, Vocabulary
from parataxis.text.tokens import Token

__all__ = ["Written", "compose", "written"]

_HUGS_LAST = re.compile(r"[,;:.!?%)\]}”»…]+|n['’]t|['’](s|re|ve|ll|d|m)?", re.IGNORECASE)
_HUGS_NEXT = frozenset("([{“«‘$£€¥#")
_JOINS = frozenset("-–/")


@dataclass(frozen=True, slots=True)
class Written:
    """A word of the output, and the source word (by index) with the same spelling that the model
    attended to most when it wrote it, if there is one."""

    text: str
    place: int | None

    def elsewhere(self) -> "Written":
        """The same word, where the sentence to compose is not the one that it was read in."""
        return Written(self.text, None)


def written(
    hypothesis: Hypothesis, source: Sequence[str], vocabulary: Vocabulary
) -> list[list[Written]]:
    """The words of each simple sentence."""
    sentences: list[list[Written]] = [[]]
    spelled = vocabulary.spell(hypothesis.words, source)
    for number, word, attention in zip(
        hypothesis.words, spelled, hypothesis.attention, strict=True
    ):
        if number == SPLIT:
            sentences.append([])
            continue
        places = [place for place, other in enumerate(source) if other == word]
        place = max(places, key=lambda each: attention[each]) if places else None
        sentences[-1].append(Written(word, place))
    return [sentence for sentence in sentences if sentence]


def compose(
    words: Sequence[Written], source: str, tokens: Sequence[Token]
) -> tuple[str, tuple[OutputToken, ...]]:
    """A simple sentence and the origin of its words.

    Where the source has a space between any two tokens, as tokenised corpora do, so has the
    output. Else words that are neighbours in the source keep what stands between them, and the
    usual rules say where a space goes.
    """
    is_spaced = len(tokens) > 1 and all(a.end < b.start for a, b in pairwise(tokens))
    text, output, quotes = "", [], 0
    for place, word in enumerate(words):
        if place:
            last = words[place - 1]
            text += " " if is_spaced else _gap(last, word, source, tokens, quotes)
        quotes += word.text == '"'
        start = len(text)
        text += word.text
        span = None
        if word.place is not None:
            token = tokens[word.place]
            span = token.start, token.end
        origin = Origin.INSERTED if span is None else Origin.COPIED
        output.append(
            OutputToken(text=word.text, start=start, end=len(text), origin=origin, source=span)
        )
    return text, tuple(output)


def _gap(left: Written, right: Written, source: str, tokens: Sequence[Token], quotes: int) -> str:
    """What stands between two words; ``quotes`` is how many straight ones came before."""
    if left.place is not None and right.place == left.place + 1:
        return source[tokens[left.place].end : tokens[right.place].start]
    if _HUGS_LAST.fullmatch(right.text) or left.text in _HUGS_NEXT:
        return ""
    if right.text in _JOINS or left.text in _JOINS:
        return ""
    is_open = bool(quotes % 2)
    if (left.text == '"' and is_open) or (right.text == '"' and is_open):
        return ""
    return " "
