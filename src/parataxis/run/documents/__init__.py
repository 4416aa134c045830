"""Documents with formatting: Word, Markdown and HTML, rewritten with their formatting kept; PDF,
OpenDocument and RTF are only read."""

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import PurePath
from typing import NamedTuple

from parataxis.api import Splitter
from parataxis.errors import InputError
from parataxis.rewrite.record import Rewrite
from parataxis.run.documents.plan import Plan, Range, make_plan
from parataxis.text.segments import Span, places_of

_MOVES = "a link, a note, a field or the like that would have to move"
"""Why a sentence without a plan is left alone."""


@dataclass(frozen=True)
class Sentence:
    """A sentence at ``start`` to ``end`` of the characters of its paragraph. ``text`` is the
    sentence on one line, as a splitter gets it. ``whole``, ``pinned``, ``partly`` and ``verbatim``
    are those of :func:`make_plan`. ``obstacle`` is the reason why the sentence cannot be changed,
    if there is one."""

    text: str
    start: int
    end: int
    whole: Sequence[Range] = ()
    pinned: Sequence[int] = ()
    partly: Sequence[Range] = ()
    verbatim: Sequence[Range] = ()
    obstacle: str = ""


class Surrounding(StrEnum):
    """What a paragraph can be in that is not running text of the writer."""

    TABLE = "table"
    QUOTATION = "quotation"


class Paragraph(NamedTuple):
    """The text of a paragraph as a reader sees it, and its sentences. ``surroundings`` says what it
    is in."""

    text: str
    sentences: Sequence[Sentence]
    surroundings: frozenset[Surrounding] = frozenset()


class Change(NamedTuple):
    """A sentence that is rewritten: the number of its paragraph, its plan, and who made it."""

    paragraph: int
    sentence: Sentence
    plan: Plan
    splitter: str


@dataclass
class DocumentReport:
    """How many sentences a document has, how many were split, and how many were left alone although
    the splitter had split them, by the reason."""

    sentences: int = 0
    split: int = 0
    left_alone: Counter[str] = field(default_factory=Counter)

    def note(self) -> str:
        """A sentence about those left alone, or "" if there are none.

        >>> DocumentReport(left_alone=Counter({"a tab": 2, "a picture": 1})).note()
        '3 sentences that could be split were left alone: 2 have a tab, 1 has a picture.'
        """
        total = self.left_alone.total()
        if not total:
            return ""
        reasons = ", ".join(
            f"{count} {'has' if count == 1 else 'have'} {reason}"
            for reason, count in self.left_alone.most_common()
        )
        plural, were = ("", "was") if total == 1 else ("s", "were")
        return f"{total} sentence{plural} that could be split {were} left alone: {reasons}."


class FormattedDocument(ABC):
    """A document: its paragraphs with their sentences, and the same document with rewrites."""

    def __init__(self, paragraphs: Sequence[Paragraph]) -> None:
        self.paragraphs = paragraphs

    @property
    def sentences(self) -> list[str]:
        """The sentences, in order, as a splitter gets them."""
        return [sentence.text for each in self.paragraphs for sentence in each.sentences]

    @property
    def following(self) -> list[str]:
        """For each sentence the next one of its paragraph; the empty text after the last one."""
        inside = (each.sentences for each in self.paragraphs if each.sentences)
        return [text for own in inside for text in (*(each.text for each in own[1:]), "")]

    @abstractmethod
    def rewritten(
        self, rewrites: Sequence[Rewrite], *, tracked: bool = False
    ) -> tuple[bytes, DocumentReport]:
        """The document with the rewrites of all its sentences, and the report on them. Raises
        InputError if changes are to be tracked in a document that cannot track them."""

    def changes(self, rewrites: Sequence[Rewrite], report: DocumentReport) -> list[Change]:
        """The changes that the rewrites make; the report counts the sentences left alone."""
        planned = self.planned(rewrites)
        report.sentences = len(planned)
        report.left_alone.update(each for each in planned if isinstance(each, str))
        return [each for each in planned if isinstance(each, Change)]

    def planned(self, rewrites: Sequence[Rewrite]) -> list[Change | str | None]:
        """For each sentence its change, why the rewrite cannot be written, or None if there is
        nothing to change."""
        places = [(n, each) for n, own in enumerate(self.paragraphs) for each in own.sentences]
        found: list[Change | str | None] = []
        for (number, sentence), rewrite in zip(places, rewrites, strict=True):
            if not rewrite.is_split:
                found.append(None)
                continue
            plan = None
            if not sentence.obstacle:
                span = Span(sentence.start, sentence.end, sentence.text)
                plan = make_plan(
                    rewrite,
                    places=places_of(self.paragraphs[number].text, span),
                    whole=sentence.whole,
                    pinned=sentence.pinned,
                    partly=sentence.partly,
                    verbatim=sentence.verbatim,
                )
            if plan is None:
                found.append(sentence.obstacle or _MOVES)
            else:
                found.append(Change(number, sentence, plan, rewrite.splitter))
        return found


class DocumentFormat(StrEnum):
    """The formats of documents."""

    WORD = "Word"
    MARKDOWN = "Markdown"
    HTML = "HTML"
    PDF = "PDF"
    ODT = "OpenDocument"
    RTF = "RTF"

    @property
    def is_written(self) -> bool:
        """Whether such a document can be written, not only read."""
        return self in (self.WORD, self.MARKDOWN, self.HTML)


_SUFFIXES = {
    ".docx": DocumentFormat.WORD,
    ".md": DocumentFormat.MARKDOWN,
    ".markdown": DocumentFormat.MARKDOWN,
    ".html": DocumentFormat.HTML,
    ".htm": DocumentFormat.HTML,
    ".pdf": DocumentFormat.PDF,
    ".odt": DocumentFormat.ODT,
    ".rtf": DocumentFormat.RTF,
}


def document_format(path: PurePath | str) -> DocumentFormat | None:
    """The format of a document by its suffix.

    >>> document_format("contract.DOCX"), document_format("contract.txt")
    (<DocumentFormat.WORD: 'Word'>, None)
    """
    return _SUFFIXES.get(PurePath(path).suffix.lower())


def open_document(data: bytes, name: str) -> FormattedDocument:
    """Read the document in the bytes of the file ``name``, whose suffix gives the format. Raises
    InputError, with the name, for bytes that are not in that format."""
    match form := document_format(name):
        case DocumentFormat.WORD:
            from parataxis.run.documents.docx import DocxDocument

            return DocxDocument(data, name)
        case DocumentFormat.MARKDOWN:
            from parataxis.run.documents.markdown import MarkdownDocument

            return MarkdownDocument(decode(data, name))
        case DocumentFormat.HTML:
            from parataxis.run.documents.html import HtmlDocument

            return HtmlDocument(decode(data, name))
        case None:
            raise InputError(f"{name} is no document of a known format, by its suffix.")
    from parataxis.run.documents.imported import ImportedDocument

    return ImportedDocument(data, name, form)


def split_document(
    data: bytes, name: str, *, splitter: Splitter | None = None, tracked: bool = False
) -> tuple[bytes, DocumentReport]:
    """Split the sentences of the file ``name`` with these bytes; ``tracked`` makes each split a
    tracked change of a Word document. A PDF, OpenDocument or RTF file becomes a Word document.

    >>> split_document(b"*Ann* came.", "letter.md", splitter=Splitter("source"))[0]
    b'*Ann* came.'
    """
    document = open_document(data, name)
    splitter = splitter or Splitter()
    rewrites = splitter.in_context(list(splitter.pipe(document.sentences)), document.following)
    return document.rewritten(rewrites, tracked=tracked)


def decode(data: bytes, name: str) -> str:
    """Decode the bytes of the file ``name``; raises InputError if they are not UTF-8."""
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        raise InputError(
            f"{name}: byte {error.start + 1} is not UTF-8, so this is not text or has to be saved "
            "as UTF-8 first."
        ) from error
