"""Parataxis as a component of a spaCy pipeline: ``nlp.add_pipe("parataxis")``.

spaCy imports this module through an entry point whenever a pipeline is made, so it imports nothing
heavy, and the models are loaded with the first document.
"""

from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import islice
from typing import TYPE_CHECKING, Unpack, cast

from spacy.language import Language
from spacy.tokens import Doc, Span

from parataxis.errors import ParataxisError

if TYPE_CHECKING:
    from parataxis.rewrite.record import Rewrite
    from parataxis.splitters.settings import SettingOptions

__all__ = ["GROUP", "RewriteComponent", "make_component"]

GROUP = "rewrites"
"""The key in ``doc.spans`` of the sentences that have a rewrite."""

BATCH = 64
"""Documents per batch, unless spaCy passes another number."""


class RewriteComponent:
    """Gives each sentence of a document its rewrite; tokens and annotations are unchanged.

    The sentences are those of the pipeline if it sets any (by a parser or sentencizer), else ours.
    ``doc._.rewrites`` is the list of rewrites, ``doc.spans["rewrites"]`` their sentences, and
    ``span._.rewrite`` the rewrite of such a sentence. They are stored as JSON
    (``span._.rewrite_json``), so they survive ``to_bytes``, pickling and ``DocBin``.
    """

    def __init__(
        self,
        *,
        splitter: str = "pointer",
        check: bool = False,
        **options: "Unpack[SettingOptions]",
    ) -> None:
        from parataxis.api import Splitter

        self.splitter = Splitter(splitter, check=check, **options)

    def __call__(self, doc: Doc) -> Doc:
        """Rewrite the sentences of one document."""
        self._rewrite([doc])
        return doc

    def pipe(self, stream: Iterable[Doc], *, batch_size: int = BATCH) -> Iterator[Doc]:
        """Rewrite the sentences of many documents, in batches across documents."""
        docs = iter(stream)
        while batch := list(islice(docs, batch_size)):
            self._rewrite(batch)
            yield from batch

    def _rewrite(self, docs: Sequence[Doc]) -> None:
        from parataxis.rewrite.jsonl import to_json
        from parataxis.text.documents import Document
        from parataxis.text.segments import Span as TextSpan

        found = [_sentences(doc) for doc in docs]
        rewrites = self.splitter.pipe(source for each in found for _, source in each)
        for doc, sentences in zip(docs, found, strict=True):
            spans = (TextSpan(s.start_char, s.end_char, text) for s, text in sentences)
            following = Document(doc.text, tuple(spans)).following
            made = self.splitter.in_context([next(rewrites) for _ in sentences], following)
            for (span, _), rewrite in zip(sentences, made, strict=True):
                span._.rewrite_json = to_json(rewrite)
            doc.spans[GROUP] = [span for span, _ in sentences]


@Language.factory(
    "parataxis",
    assigns=["doc._.rewrites", "span._.rewrite", "span._.rewrite_json"],
    default_config={
        "splitter": "pointer",
        "check": False,
        "strict": False,
        "beam": None,
        "level": "plain",
        "confidence": None,
        "max_words": None,
    },
)
def make_component(
    nlp: Language,
    name: str,
    splitter: str,
    check: bool,
    strict: bool,
    beam: int | None,
    level: str,
    confidence: float | None,
    max_words: int | None,
) -> RewriteComponent:
    """Make the component from the configuration of the pipeline."""
    _require_own_extensions()
    return RewriteComponent(
        splitter=splitter,
        check=check,
        strict=strict,
        beam=beam,
        level=level,
        confidence=confidence,
        max_words=max_words,
    )


def _sentences(doc: Doc) -> list[tuple[Span, str]]:
    """The sentences of a document that are not empty, and the text of each on one line."""
    from parataxis.text.segments import on_one_line, sentence_spans

    if doc.has_annotation("SENT_START"):
        texts = [(span, on_one_line(span.text.strip())) for span in doc.sents]
        return [(span, text) for span, text in texts if text]
    found: list[tuple[Span, str]] = []
    for sentence in sentence_spans(doc.text):
        # Expanded, it is never None: every visible character belongs to a token.
        span = cast(Span, doc.char_span(sentence.start, sentence.end, alignment_mode="expand"))
        if found and span.start < found[-1][0].end:
            # One token holds the end of a sentence and the start of the next, so they are joined.
            span = doc[found.pop()[0].start : span.end]
            found.append((span, on_one_line(span.text)))
        else:
            found.append((span, sentence.text))
    return found


@lru_cache(maxsize=4096)
def _read(line: str) -> "Rewrite":
    from parataxis.rewrite.record import Rewrite

    return Rewrite.model_validate_json(line)


def _rewrite(span: Span) -> "Rewrite | None":
    line = span._.rewrite_json
    return None if line is None else _read(line)


def _rewrites(doc: Doc) -> "list[Rewrite]":
    # A document from a pipeline without this component has no such group.
    found = map(_rewrite, doc.spans[GROUP]) if GROUP in doc.spans else ()
    return [rewrite for rewrite in found if rewrite is not None]


def _add_extensions() -> None:
    """Add our attributes unless others have the same names: an error here would break every
    pipeline, even without the component."""
    if not Span.has_extension("rewrite_json"):
        Span.set_extension("rewrite_json", default=None)
    if not Span.has_extension("rewrite"):
        Span.set_extension("rewrite", getter=_rewrite)
    if not Doc.has_extension("rewrites"):
        Doc.set_extension("rewrites", getter=_rewrites)


def _require_own_extensions() -> None:
    _add_extensions()  # somebody may have removed them
    for owner, name, getter in ((Span, "rewrite", _rewrite), (Doc, "rewrites", _rewrites)):
        if owner.get_extension(name)[2] is not getter:
            raise ParataxisError(
                f'There is another extension "{name}" of spaCy\'s {owner.__name__}; rename it to '
                'use the component "parataxis".'
            )


_add_extensions()
