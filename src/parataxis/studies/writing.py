"""What a writer typed: its sentences, and whether it shows the least effort that a study asks."""

from enum import StrEnum

from parataxis.corpora.sentences import by_segmenter, on_one_line

__all__ = ["Effort", "effort", "sentences_of"]


class Effort(StrEnum):
    """Why a text is not taken for a rewrite."""

    EMPTY = "empty"
    SAME = "same"
    """It is the source."""
    TOO_FEW = "too-few"
    """It has fewer sentences than the study asks for."""


def sentences_of(text: str) -> tuple[str, ...]:
    """The simple sentences of a text: its lines where it has several, else what the segmenter
    finds.

    >>> sentences_of("Dr. Lee left. He is back!"), sentences_of("One, e.g. this.\\n\\nTwo.")
    (('Dr. Lee left.', 'He is back!'), ('One, e.g. this.', 'Two.'))
    """
    lines = [on_one_line(line) for line in text.splitlines() if line.strip()]
    return tuple(lines) if len(lines) > 1 else by_segmenter(text)


def effort(source: str, text: str, sentences: int) -> Effort | None:
    """What is wrong with a rewrite at first sight, or None.

    >>> effort("Ann, who left, is back.", "Ann is back.", 2)
    <Effort.TOO_FEW: 'too-few'>
    """
    found = sentences_of(text)
    if not found:
        return Effort.EMPTY
    if on_one_line(text) == on_one_line(source):
        return Effort.SAME
    return Effort.TOO_FEW if len(found) < sentences else None
