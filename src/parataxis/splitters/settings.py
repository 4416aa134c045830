"""The settings that users can give a splitter, the same in every interface, and the words of a
sentence as ``max_words`` counts them."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields, replace
from functools import lru_cache
from pathlib import Path
from typing import TypedDict, Unpack

from parataxis.errors import InputError
from parataxis.rewrite.record import Level, Rewrite
from parataxis.text.readability import spoken_words
from parataxis.text.tokens import tokenize


class SettingOptions(TypedDict, total=False):
    """The settings as keyword arguments; see :class:`SplitSettings`."""

    strict: bool
    beam: int | None
    level: str
    confidence: float | None
    max_words: int | None
    keep_phrases: Sequence[str] | Path


@dataclass(frozen=True)
class SplitSettings:
    """``strict``: take no rewrite with a finding. ``beam``: the number of hypotheses. ``level``:
    how far to split. ``confidence``: the lowest confidence of a rewrite that is taken.
    ``max_words``: split simple sentences further that have more words, where that can be done.
    ``keep_phrases``: terms that no rewrite may tear apart or change, or a file with one on each
    line.

    >>> SplitSettings.given(level="atomic", beam=2).level
    <Level.ATOMIC: 'atomic'>
    """

    strict: bool = False
    beam: int | None = None
    level: Level = Level.PLAIN
    confidence: float | None = None
    max_words: int | None = None
    keep_phrases: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "keep_phrases", _phrases(self.keep_phrases))
        if self.level not in list(Level):
            raise InputError(f'There is no level "{self.level}"; there are: {", ".join(Level)}.')
        object.__setattr__(self, "level", Level(self.level))
        if self.confidence is not None and not 0 <= self.confidence <= 1:
            raise InputError(f"The confidence must be from 0 to 1, not {self.confidence}.")
        if self.max_words is not None and self.max_words < 1:
            raise InputError(f"The limit must be at least one word, not {self.max_words}.")

    @classmethod
    def given(cls, **options: Unpack[SettingOptions]) -> "SplitSettings":
        """The settings from keyword arguments, where the level may be given by its name."""
        return cls(**options)  # type: ignore[arg-type]

    @classmethod
    def of(cls, options: object) -> "SplitSettings":
        """The settings among the attributes of an object, such as the body of a request."""
        return cls(**{field.name: getattr(options, field.name) for field in fields(cls)})

    def merged(self, other: "SplitSettings") -> "SplitSettings":
        """These settings with those of the other one that are not its defaults."""
        given = {field.name: getattr(other, field.name) for field in fields(other)}
        changed = {field.name for field in fields(other) if given[field.name] != field.default}
        return replace(self, **{name: given[name] for name in changed})


def _phrases(given: object) -> tuple[str, ...]:
    """Phrases without duplicates, from a list, or from a file with one on each line."""
    if given is None:
        return ()
    if isinstance(given, Path):
        from parataxis.text.files import ReadReport, read_lines  # only where there is a file

        lines = (line.strip() for _, line in read_lines(given, ReadReport(strict=True)))
        given = [line for line in lines if line and not line.startswith("#")]
    is_list = isinstance(given, Iterable) and not isinstance(given, str)
    found = tuple(dict.fromkeys(given)) if is_list else ()  # type: ignore[call-overload]
    if not is_list or not all(isinstance(each, str) and _phrase(each) for each in found):
        raise InputError("The phrases to keep must be a list of words or phrases, or a file.")
    return found


def broken_phrase(phrases: Sequence[str], source: str, simple: Sequence[str]) -> str | None:
    """The first phrase that stands in the source more often than in the simple sentences; capitals
    do not matter.

    >>> broken_phrase(["act of God"], "It was an act of God.", ["It was an act.", "God did it."])
    'act of God'
    """
    if not phrases or list(simple) == [source]:
        return None
    before, after = _framed(source), "\n".join(map(_framed, simple))
    framed = ((phrase, _phrase(phrase)) for phrase in phrases)
    return next((each for each, words in framed if after.count(words) < before.count(words)), None)


def _framed(text: str) -> str:
    """The words of a text, each in a frame, so that a phrase is found only as whole words."""
    return "".join("\0" + token.text.casefold() + "\1" for token in tokenize(text))


_phrase = lru_cache(1 << 12)(_framed)


def too_long(rewrite: Rewrite, limit: int) -> dict[int, int]:
    """The indices of the simple sentences with more words than the limit, and their words.

    >>> simple = ["Ann sang.", "It rained hard."]
    >>> too_long(Rewrite(source="Ann sang; it rained hard.", simple=simple, splitter=""), 2)
    {1: 3}
    """
    counts = {place: word_count(sentence) for place, sentence in enumerate(rewrite.simple)}
    return {place: words for place, words in counts.items() if words > limit}


def word_count(sentence: str) -> int:
    """The number of words of a sentence, as writers count them: "don't" and "well-known" are one.

    >>> word_count("Don't tear a well-known term – ever – apart.")
    7
    """
    return len(spoken_words(sentence))
