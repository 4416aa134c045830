"""Splitting from Python: :func:`split` for one text, :class:`Splitter` for many."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice

from parataxis.errors import InputError, ParataxisError, TooLongError
from parataxis.rewrite.compose import left_whole
from parataxis.rewrite.record import Rewrite
from parataxis.rewrite.render import complaints
from parataxis.splitters.registry import (
    AdjustableSplitter,
    ReportingSplitter,
    SentenceSplitter,
    load_splitter,
)
from parataxis.text.documents import Document, read_document

__all__ = ["BATCH", "DEFAULT_SPLITTER", "DocumentRewrite", "Splitter", "split", "with_findings"]

DEFAULT_SPLITTER = "pointer"
"""The splitter that is used where none is named."""

BATCH = 32
"""Sentences handed to a splitter at first: many enough to batch, few enough to answer soon."""
LARGEST_BATCH = 256
"""Sentences handed to it later; each batch is twice as large as the last up to this."""


_MARKUP = re.compile(r"\]\(|</?[A-Za-z][^<>]*>|(?<!`)`[^`]+`(?!`)")
_MARKUP_NOTE = "Left whole because it holds a link, code or a tag, which a split could tear apart."


def split(
    text: str,
    *,
    splitter: str | SentenceSplitter = DEFAULT_SPLITTER,
    strict: bool = False,
    beam: int | None = None,
) -> "DocumentRewrite":
    """Split the sentences of a text; everything between them comes back as it was.

    ``strict`` and ``beam`` are those of :class:`Splitter`.

    >>> result = split("Ann came, and Bob left.  It rained.", splitter="source")
    >>> str(result)
    'Ann came, and Bob left.  It rained.'
    >>> result.simple
    ['Ann came, and Bob left.', 'It rained.']
    """
    return Splitter(splitter, strict=strict, beam=beam).split(text)


@dataclass(frozen=True)
class DocumentRewrite:
    """A text and the rewrite of each of its sentences, in order."""

    document: Document
    rewrites: Sequence[Rewrite]

    @cached_property
    def text(self) -> str:
        """The whole text with its sentences split; all else is exactly as it was."""
        return self.document.rebuild(
            {
                index: list(rewrite.simple)
                for index, rewrite in enumerate(self.rewrites)
                if rewrite.is_split
            }
        )

    @property
    def simple(self) -> list[str]:
        """The simple sentences of all rewrites."""
        return [sentence for rewrite in self.rewrites for sentence in rewrite.simple]

    def __str__(self) -> str:
        return self.text


class Splitter:
    """Splits many sentences or texts; the models behind it are loaded once, on first use.

    ``splitter`` is the name of an installed splitter or an object that is one. With ``check``,
    each rewrite carries the findings of the checks. With ``strict``, which checks too, no rewrite
    with a finding is given out: a splitter that searches takes another one, and in the last resort
    the source stays whole, and its ``note`` says why. ``beam`` is how many hypotheses a splitter
    that searches follows, from 1 to 8.

    >>> splitter = Splitter("source")
    >>> splitter("It rained.").simple
    ('It rained.',)
    >>> [rewrite.is_split for rewrite in splitter.pipe(["It rained.", "Ann left."])]
    [False, False]
    """

    def __init__(
        self,
        splitter: str | SentenceSplitter = DEFAULT_SPLITTER,
        *,
        check: bool = False,
        strict: bool = False,
        beam: int | None = None,
    ) -> None:
        loaded = load_splitter(splitter) if isinstance(splitter, str) else splitter
        self._splitter = _adjusted(loaded, strict=strict, beam=beam)
        self.check = check or strict
        self.strict = strict
        self._given = splitter, beam

    def __reduce__(self) -> tuple[object, ...]:
        """How to make it again in another process: its models are loaded there, not sent."""
        splitter, beam = self._given
        return _made, (splitter, self.check, self.strict, beam)

    @property
    def name(self) -> str:
        """The name of the splitter."""
        return self._splitter.name

    @property
    def keeps_books(self) -> bool:
        """Whether the splitter tells what it costs; then all work is done in one process."""
        return isinstance(self._splitter, ReportingSplitter)

    def report(self) -> str | None:
        """What was done and spent, in one sentence, where the splitter keeps books; else None."""
        return self._splitter.report() if isinstance(self._splitter, ReportingSplitter) else None

    def __call__(self, sentence: str) -> Rewrite:
        """Rewrite one sentence."""
        return next(self.pipe([sentence]))

    def pipe(self, sentences: Iterable[str], *, first: int = BATCH) -> Iterator[Rewrite]:
        """Rewrite many sentences, in order; none is lost.

        A sentence that is too long for the splitter, or that holds a link, code or a tag, comes
        back whole, with a note. ``first`` is how many sentences are handed to the splitter at
        first: more where nobody waits for the first answer.
        """
        for batch in _growing(sentences, first):
            for sentence in batch:
                if not sentence.strip():
                    raise InputError("A sentence is empty; leave empty sentences out.")
                _require_text(sentence)
            rewrites: Iterable[Rewrite] = self._batch(batch)
            if self.check:
                rewrites = _checked(rewrites)
            yield from map(self._strict, rewrites) if self.strict else rewrites

    def split(self, text: str) -> DocumentRewrite:
        """Split the sentences of a text; everything between them comes back as it was.

        >>> print(Splitter("source").split("1. Ann came.\\n2. Bob left."))
        1. Ann came.
        2. Bob left.
        """
        if not text.strip():
            raise InputError("The text is empty; give at least one sentence.")
        _require_text(text)
        document = read_document(text)
        sentences = [span.text for span in document.sentences]
        return DocumentRewrite(document, tuple(self.pipe(sentences)))

    def _batch(self, sentences: Sequence[str]) -> list[Rewrite]:
        plain = iter(self._plain([text for text in sentences if not _MARKUP.search(text)]))
        return [
            left_whole(text, splitter=self.name, note=_MARKUP_NOTE)
            if _MARKUP.search(text)
            else next(plain)
            for text in sentences
        ]

    def _plain(self, sentences: Sequence[str]) -> list[Rewrite]:
        try:
            rewrites = list(self._splitter.pipe(sentences))
        except TooLongError:
            return [self._one(sentence) for sentence in sentences]
        return self._in_order(sentences, rewrites)

    def _one(self, sentence: str) -> Rewrite:
        try:
            rewrite = self._splitter(sentence)
        except TooLongError as error:
            return left_whole(sentence, splitter=self.name, note=str(error))
        return self._in_order([sentence], [rewrite])[0]

    def _in_order(self, sentences: Sequence[str], rewrites: list[Rewrite]) -> list[Rewrite]:
        """The rewrites, if they are those of the sentences: anyone can write a splitter, and one
        that loses or moves a sentence would corrupt the text."""
        if [rewrite.source for rewrite in rewrites] != list(sentences):
            raise ParataxisError(
                f'The splitter "{self.name}" did not return one rewrite for each sentence, in '
                "order and with the sentence as its source; correct or update it."
            )
        return rewrites

    def _strict(self, rewrite: Rewrite) -> Rewrite:
        """The rewrite where the checks find nothing in it, else the source with the reason."""
        if not rewrite.findings:
            return rewrite
        note = f"Left whole because the checks fault the rewrite: {complaints(rewrite.findings)}."
        whole = left_whole(rewrite.source, splitter=self.name, note=note)
        return whole.model_copy(update={"findings": ()})


def _growing(sentences: Iterable[str], size: int) -> Iterator[list[str]]:
    """Batches of sentences, the first ones smaller."""
    stream = iter(sentences)
    while batch := list(islice(stream, size)):
        yield batch
        size = min(2 * size, LARGEST_BATCH)


def with_findings(rewrites: Iterable[Rewrite]) -> Iterator[Rewrite]:
    """The same rewrites, in order, each with what the checks find in it.

    >>> rewrite = Rewrite(source="He may not go.", simple=["He may go."], splitter="mine")
    >>> [finding.message for finding in next(with_findings([rewrite])).findings]
    ["The negation 'not' is missing."]
    """
    # Imported here because the plain path needs neither the checks nor, perhaps, the analyser.
    from parataxis.checks import Checker
    from parataxis.syntax.analyser import load_trees

    checker = Checker(load_trees())
    stream = iter(rewrites)
    while batch := list(islice(stream, BATCH)):
        pairs = [(rewrite.source, rewrite.simple) for rewrite in batch]
        all_findings = checker.pipe(pairs, [rewrite.provenance for rewrite in batch])
        for rewrite, findings in zip(batch, all_findings, strict=True):
            yield rewrite.model_copy(update={"findings": tuple(findings)})


def _checked(rewrites: Iterable[Rewrite]) -> Iterator[Rewrite]:
    """The same rewrites with their findings; those that come with them are not checked again."""
    listed = list(rewrites)
    found = with_findings(rewrite for rewrite in listed if rewrite.findings is None)
    return (next(found) if rewrite.findings is None else rewrite for rewrite in listed)


def _made(
    splitter: str | SentenceSplitter, check: bool, strict: bool, beam: int | None
) -> Splitter:
    return Splitter(splitter, check=check, strict=strict, beam=beam)


def _adjusted(splitter: SentenceSplitter, *, strict: bool, beam: int | None) -> SentenceSplitter:
    if isinstance(splitter, AdjustableSplitter):
        return (
            splitter.adjusted(beam=beam, strict=strict) if strict or beam is not None else splitter
        )
    if beam is not None:
        raise InputError(
            f'The splitter "{splitter.name}" follows no beam; leave the beam out or choose another '
            "splitter."
        )
    return splitter


def _require_text(text: str) -> None:
    """Refuse a lone surrogate, half a character that JSON and Python can hold but no file can."""
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise InputError(
            f"Character {error.start + 1} of the text is a lone surrogate (half a character); "
            "leave it out."
        ) from error
