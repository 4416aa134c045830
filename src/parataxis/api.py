"""Splitting from Python: :func:`split` or :func:`claims` for a text, :class:`Splitter` for many."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property, partial
from itertools import islice
from typing import TYPE_CHECKING, Unpack

from parataxis.errors import InputError, ParataxisError, TooLongError
from parataxis.rewrite.compose import left_whole
from parataxis.rewrite.record import Level, Rewrite, complaints
from parataxis.splitters.registry import (
    ProposingSplitter,
    ReportingSplitter,
    SentenceSplitter,
    adjusted,
    load_splitter,
)
from parataxis.splitters.settings import SettingOptions, SplitSettings, broken_phrase
from parataxis.text.documents import Document, read_document

if TYPE_CHECKING:
    from parataxis.splitters.claims import Claim

__all__ = [
    "BATCH",
    "DEFAULT_SPLITTER",
    "DocumentRewrite",
    "Splitter",
    "claims",
    "split",
    "with_findings",
]

DEFAULT_SPLITTER = "pointer"
"""The splitter that is used if none is named."""

BATCH = 32
"""Sentences in the first batch: enough to be efficient, few enough for quick first results."""
LARGEST_BATCH = 256
"""Sentences in the largest batch; each batch is twice as large as the one before."""

_COMPARABLE = 0.1
"""Alternatives whose confidence is a smaller share of that of the surest one are not offered."""
_HOPELESS = 0.01
"""Nor are those with a lower confidence."""

_MARKUP = re.compile(r"\]\(|</?[A-Za-z][^<>]*>|(?<!`)`[^`]+`(?!`)")
_MARKUP_NOTE = "Left whole because it holds a link, code or a tag, which a split could tear apart."


def split(
    text: str,
    *,
    splitter: str | SentenceSplitter = DEFAULT_SPLITTER,
    **options: Unpack[SettingOptions],
) -> "DocumentRewrite":
    """Split the sentences of a text; everything between them is kept unchanged.

    See :class:`Splitter` for the options.

    >>> result = split("Ann came, and Bob left.  It rained.", splitter="source")
    >>> str(result)
    'Ann came, and Bob left.  It rained.'
    >>> result.simple
    ['Ann came, and Bob left.', 'It rained.']
    """
    return Splitter(splitter, **options).split(text)


def claims(
    text: str,
    *,
    splitter: str | SentenceSplitter = DEFAULT_SPLITTER,
    names: bool = False,
    **options: Unpack[SettingOptions],
) -> "list[Claim]":
    """The claims of a text: what it says, one thing at a time, at the level "atomic".

    With ``names``, a name replaces a pronoun that opens a sentence, where only one person of the
    paragraph can be meant. See :class:`Splitter` for the other options, and docs/claims.md for what
    a claim carries.
    """
    options.setdefault("level", Level.ATOMIC)
    return Splitter(splitter, **options).claims(text, names=names)


@dataclass(frozen=True)
class DocumentRewrite:
    """A text and the rewrite of each of its sentences, in order."""

    document: Document
    rewrites: Sequence[Rewrite]

    @cached_property
    def text(self) -> str:
        """The text with its sentences split; everything else is unchanged."""
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

    def _repr_html_(self) -> str:
        """How a notebook shows the rewrites of a text."""
        from parataxis.rewrite.render import notebook_view

        return notebook_view(self.rewrites)


class Splitter:
    """Splits many sentences or texts; its models are loaded once, on first use.

    ``splitter`` is the name of an installed splitter, or a splitter object. With ``check``, each
    rewrite carries the findings of the checks. With ``strict``, no rewrite with a finding is
    returned: an adjustable splitter chooses another one, and as a last resort the source stays
    whole, with the reason in ``note``. ``beam`` is the number of hypotheses of an adjustable
    splitter, from 1 to 8. ``level`` says how far to split: "light", "plain" or "atomic".
    ``confidence`` is the lowest confidence of a split, from 0 to 1. With ``max_words``, simple
    sentences that have more words are split further; ``note`` names those that are still too long.
    ``keep_phrases`` are terms that no rewrite may tear apart or change, or the path of a file with
    one on each line.

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
        **options: Unpack[SettingOptions],
    ) -> None:
        loaded = load_splitter(splitter) if isinstance(splitter, str) else splitter
        self.settings = SplitSettings.given(**options)
        self._splitter = adjusted(loaded, self.settings)
        self.check = check or self.settings.strict
        self._given = splitter
        self._shorten = None
        if self.settings.max_words is not None:
            # Imported here because it needs the checks.
            from parataxis.splitters.shorten import Shortener, further_splitters

            steps = [partial(_rewritten, each) for each in further_splitters(loaded, self.settings)]
            self._shorten = Shortener(self.settings, steps, _checked)

    def __reduce__(self) -> tuple[object, ...]:
        """Pickle the options only; the models are loaded again in the other process."""
        return partial(Splitter, self._given, check=self.check, **asdict(self.settings)), ()

    @property
    def name(self) -> str:
        """The name of the splitter."""
        return self._splitter.name

    @property
    def tracks_costs(self) -> bool:
        """Whether the splitter tracks its costs, so that all work must be done in one process."""
        return isinstance(self._splitter, ReportingSplitter)

    def report(self) -> str | None:
        """What was done and spent, in one sentence, if the splitter tracks its costs."""
        return self._splitter.report() if isinstance(self._splitter, ReportingSplitter) else None

    def __call__(self, sentence: str) -> Rewrite:
        """Rewrite one sentence."""
        return next(self.pipe([sentence]))

    def pipe(self, sentences: Iterable[str], *, first: int = BATCH) -> Iterator[Rewrite]:
        """Rewrite many sentences, in order; none is lost.

        A sentence that is too long for the splitter, or that holds a link, code or a tag, comes
        back whole, with a note. ``first`` is the size of the first batch.
        """
        for batch in _growing(sentences, first):
            for sentence in batch:
                if not sentence.strip():
                    raise InputError("A sentence is empty; leave empty sentences out.")
                _require_text(sentence)
            rewrites: Iterable[Rewrite] = self._batch(batch)
            if self.check:
                rewrites = _checked(rewrites)
            if self.settings.strict:
                rewrites = map(self._strict, rewrites)
            yield from map(self._shorten.noted, rewrites) if self._shorten else rewrites

    def alternatives(self, sentence: str, *, most: int = 5) -> list[Rewrite]:
        """Other rewrites of a sentence, also of one that is left whole: those that the search found
        at each level and those of the rules, with findings. The ones without a finding come first,
        then the surest."""
        _require_text(sentence)
        if not sentence.strip() or _MARKUP.search(sentence):
            return []
        levels = sorted(Level, key=lambda each: each is not self.settings.level)
        found = self._proposed(sentence, levels)
        surest = max((each.confidence or 0.0 for each in found), default=0.0)
        least = max(_HOPELESS, surest * _COMPARABLE)
        good = [each for each in found if (each.confidence or 0.0) >= least]
        known = {each.simple for each in found}
        by_rules = self._unbroken(_rewritten(load_splitter("rules"), [sentence]))
        good += [each for each in _checked(by_rules) if each.is_split and each.simple not in known]
        good.sort(key=lambda each: (bool(each.findings), -(each.confidence or 0.0)))
        return good[:most]

    def _proposed(self, sentence: str, levels: Iterable[Level]) -> list[Rewrite]:
        """The rewrites that a search finds at some levels."""
        given = load_splitter(self._given) if isinstance(self._given, str) else self._given
        proposing = given if isinstance(given, ProposingSplitter) else load_splitter("pointer")
        found: dict[tuple[str, ...], Rewrite] = {}
        for level in levels:
            settings = replace(self.settings, level=level, strict=False, confidence=None)
            splitter = adjusted(proposing, settings)
            if isinstance(splitter, ProposingSplitter):
                for each in splitter.alternatives(sentence):
                    found.setdefault(each.simple, each)
        return self._unbroken(found.values())

    def _unbroken(self, rewrites: Iterable[Rewrite]) -> list[Rewrite]:
        """Those of the rewrites that keep all phrases to keep."""
        keep = self.settings.keep_phrases
        return [e for e in rewrites if broken_phrase(keep, e.source, e.simple) is None]

    def split(self, text: str) -> DocumentRewrite:
        """Split the sentences of a text; everything between them is kept unchanged.

        >>> print(Splitter("source").split("1. Ann came.\\n2. Bob left."))
        1. Ann came.
        2. Bob left.
        """
        if not text.strip():
            raise InputError("The text is empty; give at least one sentence.")
        _require_text(text)
        document = read_document(text)
        rewrites = list(self.pipe(span.text for span in document.sentences))
        return DocumentRewrite(document, tuple(self.in_context(rewrites, document.following)))

    def in_context(self, rewrites: Sequence[Rewrite], following: Sequence[str]) -> list[Rewrite]:
        """The rewrites of sentences that stand in a text, given the sentence that follows each of
        them in its paragraph (the empty text if none does). A rewrite that ends with a detail which
        the next sentence would then seem to mean is replaced by another one or by the source, and
        the note says so. :meth:`split` does this itself.

        Claims stand alone, and ``max_words`` comes first, so with these nothing is changed; nor are
        the rewrites of a splitter that cannot propose others.
        """
        if len(rewrites) != len(following):
            raise InputError(
                f"There are {len(rewrites)} rewrites and {len(following)} following sentences; "
                "give one for each."
            )
        for text in following:
            _require_text(text)
        is_text = self.settings.level is not Level.ATOMIC and self.settings.max_words is None
        if not is_text or not isinstance(self._splitter, ProposingSplitter):
            return list(rewrites)
        # Imported here because it needs the analyser.
        from parataxis.splitters.context import LEAST, clear_before
        from parataxis.splitters.pointer.choose import SURE

        least = self.settings.confidence
        if least is None:
            least = SURE if self.settings.strict else 0.0
        least = max(least, LEAST)

        def others(sentence: str) -> list[Rewrite]:
            found = self._proposed(sentence, dict.fromkeys([self.settings.level, Level.LIGHT]))
            return [e for e in found if not e.findings and (e.confidence or 0.0) >= least]

        pairs = zip(following, rewrites, strict=True)
        return [clear_before(text, rewrite, others) for text, rewrite in pairs]

    def claims(self, text: str, *, names: bool = False) -> "list[Claim]":
        """The claims of a text, if the level is "atomic"; at another level, its simple sentences
        with the same fields. No claim has lost a condition, a speaker or the like: the sentence
        would stay whole.

        >>> [claim.text for claim in Splitter("source").claims("Ann came. Bob left.")]
        ['Ann came.', 'Bob left.']
        """
        # Imported here because it needs the analyser.
        from parataxis.splitters.claims import ClaimDocument, find_claims

        result = self.split(text)
        spans = result.document.sentences
        ids = [str(number) for number in range(1, len(spans) + 1)]
        return find_claims([ClaimDocument(text, spans, result.rewrites, ids)], names=names)[0]

    def _batch(self, sentences: Sequence[str]) -> list[Rewrite]:
        plain = _rewritten(self._splitter, [each for each in sentences if not _MARKUP.search(each)])
        plain = [self._kept(rewrite) for rewrite in plain]
        rest = iter(self._shorten(plain) if self._shorten else plain)
        return [
            left_whole(text, splitter=self.name, note=_MARKUP_NOTE)
            if _MARKUP.search(text)
            else next(rest)
            for text in sentences
        ]

    def _kept(self, rewrite: Rewrite) -> Rewrite:
        """The rewrite, or the source if the rewrite breaks a phrase to keep."""
        phrase = broken_phrase(self.settings.keep_phrases, rewrite.source, rewrite.simple)
        if phrase is None:
            return rewrite
        note = f'Left whole because the rewrite breaks the phrase "{phrase}".'
        whole = left_whole(rewrite.source, splitter=self.name, note=note)
        return whole.model_copy(update={"findings": () if rewrite.findings is not None else None})

    def _strict(self, rewrite: Rewrite) -> Rewrite:
        """The rewrite if it has no findings, else the source with the reason."""
        if not rewrite.findings:
            return rewrite
        note = f"Left whole because the checks fault the rewrite: {complaints(rewrite.findings)}."
        whole = left_whole(rewrite.source, splitter=self.name, note=note)
        return whole.model_copy(update={"findings": ()})


def _growing(sentences: Iterable[str], size: int) -> Iterator[list[str]]:
    """Batches of doubling size."""
    stream = iter(sentences)
    while batch := list(islice(stream, size)):
        yield batch
        size = min(2 * size, LARGEST_BATCH)


def with_findings(rewrites: Iterable[Rewrite]) -> Iterator[Rewrite]:
    """The same rewrites, in order, each with the findings of the checks and of the verifier.

    >>> rewrite = Rewrite(source="He may not go.", simple=["He may go."], splitter="mine")
    >>> [finding.message for finding in next(with_findings([rewrite])).findings]
    ["The negation 'not' is missing."]
    """
    # Imported here because a splitter without checks does not need them.
    from parataxis.checks import Checker
    from parataxis.splitters.pointer.surprise import load_second_opinion
    from parataxis.syntax.analyser import load_trees

    checker = Checker(load_trees(), load_second_opinion())
    stream = iter(rewrites)
    while batch := list(islice(stream, BATCH)):
        pairs = [(rewrite.source, rewrite.simple) for rewrite in batch]
        all_findings = checker.pipe(pairs, [rewrite.provenance for rewrite in batch])
        for rewrite, findings in zip(batch, all_findings, strict=True):
            yield rewrite.model_copy(update={"findings": tuple(findings)})


def _checked(rewrites: Iterable[Rewrite]) -> Iterator[Rewrite]:
    """The same rewrites with findings; those that have findings already are not checked again."""
    listed = list(rewrites)
    found = with_findings(rewrite for rewrite in listed if rewrite.findings is None)
    return (next(found) if rewrite.findings is None else rewrite for rewrite in listed)


def _rewritten(splitter: SentenceSplitter, sentences: Sequence[str]) -> list[Rewrite]:
    """The rewrite of each sentence; one that is too long for the splitter stays whole."""
    try:
        rewrites = list(splitter.pipe(sentences))
    except TooLongError as error:
        if len(sentences) == 1:
            return [left_whole(sentences[0], splitter=splitter.name, note=str(error))]
        return [rewrite for sentence in sentences for rewrite in _rewritten(splitter, [sentence])]
    # Anyone can write a splitter, and one that loses a sentence would corrupt the text.
    if [rewrite.source for rewrite in rewrites] != list(sentences):
        raise ParataxisError(
            f'The splitter "{splitter.name}" did not return one rewrite for each sentence, in '
            "order and with the sentence as its source; correct or update it."
        )
    return rewrites


def _require_text(text: str) -> None:
    """Refuse a lone surrogate (half a character), which JSON and Python allow but no file can
    hold."""
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise InputError(
            f"Character {error.start + 1} of the text is a lone surrogate (half a character); "
            "leave it out."
        ) from error
