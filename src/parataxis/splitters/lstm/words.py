"""The words of a model and their numbers; a word outside the vocabulary has a number of its own
within its source, so that it can be copied."""

from collections.abc import Iterable, Sequence
from functools import cached_property
from pathlib import Path

from parataxis.errors import ParataxisError
from parataxis.text.tokens import tokenize

__all__ = ["END", "MARKS", "PAD", "SPLIT", "START", "UNKNOWN", "Vocabulary", "words_of"]

MARKS = ("<pad>", "<unk>", "<s>", "</s>", "<split>")
"""What is no word: their numbers come first. "<split>" stands between two simple sentences."""
PAD, UNKNOWN, START, END, SPLIT = range(len(MARKS))


def words_of(text: str) -> list[str]:
    """The words of a text, as the models read them.

    >>> words_of("Ann left."), words_of("Ann left .")
    (['Ann', 'left', '.'], ['Ann', 'left', '.'])
    """
    return [token.text for token in tokenize(text)]


class Vocabulary:
    """The words that a model can write of its own accord, and their numbers."""

    def __init__(self, words: Iterable[str]) -> None:
        self.words = (*MARKS, *words)

    def __len__(self) -> int:
        return len(self.words)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Vocabulary) and self.words == other.words

    __hash__ = None  # type: ignore[assignment]

    @cached_property
    def numbers(self) -> dict[str, int]:
        """The number of each word."""
        return {word: number for number, word in enumerate(self.words)}

    def read(self, words: Sequence[str]) -> list[int]:
        """The numbers of a source's words; those outside the vocabulary are counted on from it.

        >>> Vocabulary(["left"]).read(["Ann", "left", "Ben", "Ann"])
        [6, 5, 7, 6]
        """
        others = {word: None for word in words if word not in self.numbers}
        own = {word: len(self) + place for place, word in enumerate(others)}
        return [self.numbers.get(word, own.get(word, UNKNOWN)) for word in words]

    def spell(self, numbers: Iterable[int], source: Sequence[str]) -> list[str]:
        """The words that numbers stand for, given the words of their source.

        >>> Vocabulary(["left"]).spell([7, 5], ["Ann", "left", "Ben", "Ann"])
        ['Ben', 'left']
        """
        others = list({word: None for word in source if word not in self.numbers})
        return [
            self.words[number] if number < len(self) else others[number - len(self)]
            for number in numbers
        ]

    def write(self, path: Path) -> None:
        """Write the words, one on each line."""
        text = "".join(f"{word}\n" for word in self.words[len(MARKS) :])
        path.write_text(text, encoding="utf-8", newline="\n")

    @classmethod
    def load(cls, path: Path) -> "Vocabulary":
        """Read what :meth:`write` wrote."""
        try:
            return cls(path.read_text(encoding="utf-8").split("\n")[:-1])
        except (OSError, UnicodeDecodeError) as error:
            raise ParataxisError(f"{path} cannot be read as a list of words.") from error
