"""Claims: the simple sentences at the level ``atomic``, each with its place in the document, what
it is said under, and its links to the claims around it."""

from collections.abc import Iterator, Sequence
from enum import StrEnum
from typing import NamedTuple

from pydantic import BaseModel, ConfigDict

from parataxis.checks import lexicon
from parataxis.checks.scope import (
    Governor,
    ScopeKind,
    SourcedSentence,
    governors,
    lost_scope,
    text_of,
)
from parataxis.errors import TooLongError
from parataxis.rewrite.align import align
from parataxis.rewrite.compose import left_whole
from parataxis.rewrite.forms import key
from parataxis.rewrite.record import OutputToken, Rewrite, complaints
from parataxis.splitters.names import GENDERS, NamedPerson, after, meant, opening_pronoun
from parataxis.syntax.analysis import Analysis, Word
from parataxis.text import english
from parataxis.text.english import phrases, words
from parataxis.text.segments import Span, places_of
from parataxis.text.tokens import tokenize


class LinkKind(StrEnum):
    """How a claim is linked to another: the other one is its cause, its condition, and so on."""

    CAUSE = "cause"
    CONDITION = "condition"
    CONTRAST = "contrast"
    TIME = "time"
    ATTRIBUTION = "attribution"
    RESTATEMENT = "restatement"


class _ClaimPart(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")


class ClaimScope(_ClaimPart):
    """What a claim is said under, and the words of the claim that say so."""

    kind: ScopeKind
    words: str


class ClaimLink(_ClaimPart):
    """A link to another claim, by its id: the claim ``to`` is the cause (``kind``) of this one.
    ``words`` are the words of the text that say so."""

    kind: LinkKind
    to: str
    words: str


class Claim(_ClaimPart):
    """A sentence that says one thing that can be true or false.

    ``source`` is the sentence that it comes from, at ``start`` to ``end`` of the document.
    ``spans`` are the stretches of the document that its words come from.
    """

    id: str
    text: str
    document: str | None = None
    source: str
    start: int
    end: int
    spans: tuple[tuple[int, int], ...]
    context: tuple[tuple[int, int], ...] = ()
    """The places of words that come from another sentence: the name that replaces a pronoun."""
    scope: tuple[ClaimScope, ...] = ()
    links: tuple[ClaimLink, ...] = ()
    confidence: float | None = None
    """How likely all claims of the source sentence are without fault; None if it was left whole."""
    note: str | None = None
    splitter: str

    @property
    def is_stated(self) -> bool:
        """Whether the text states the claim as a fact: not under a condition, as somebody's word,
        as a question, a wish or a possibility. What is stated may be a denial."""
        return all(each.kind is ScopeKind.DENIAL for each in self.scope)


class ClaimDocument(NamedTuple):
    """The rewrites of the sentences of a document, or of a part of one that begins at the character
    ``start``. ``ids`` are those of the sentences, ``name`` that of the document."""

    text: str
    spans: Sequence[Span]
    rewrites: Sequence[Rewrite]
    ids: Sequence[str]
    name: str | None = None
    start: int = 0


def find_claims(documents: Sequence[ClaimDocument], *, names: bool = False) -> list[list[Claim]]:
    """The claims of each document. A rewrite in which a claim has lost what governs it is replaced
    by its source. With ``names``, a name replaces a pronoun that opens a sentence, where only one
    person can be meant."""
    from parataxis.syntax.analyser import load_trees  # the records alone need no model

    sources = (rewrite.source for document in documents for rewrite in document.rewrites)
    trees = load_trees().pipe(sources)
    return [_document_claims(document, trees, names=names) for document in documents]


def _document_claims(
    document: ClaimDocument, trees: Iterator[Analysis | TooLongError], *, names: bool
) -> list[Claim]:
    found: list[Claim] = []
    last: list[Claim] = []
    person: NamedPerson | None = None
    end = 0
    for span, rewrite, own in zip(document.spans, document.rewrites, document.ids, strict=True):
        tree = next(trees)
        places = [document.start + place for place in places_of(document.text, span)]
        guarded = _guarded(rewrite, tree if isinstance(tree, Analysis) else None)
        claims = _sentence_claims(guarded, tree, places, own, document.name)
        if last and (link := _link_back(claims[0], last)):
            main = _main(guarded, tree) if isinstance(tree, Analysis) else 0
            links = (*claims[main].links, link)
            claims[main] = claims[main].model_copy(update={"links": links})
        if names:
            if "\n\n" in document.text[end : span.start] or not isinstance(tree, Analysis):
                person = None
            if isinstance(tree, Analysis):
                following = after(tree, places, person)
                if person is not None:
                    claims = _named(claims, guarded, tree, person, is_alone=following is not None)
                person = following
            end = span.end
        found += claims
        last = claims
    return found


def _named(
    claims: list[Claim], rewrite: Rewrite, tree: Analysis, person: NamedPerson, *, is_alone: bool
) -> list[Claim]:
    """The claims with the name of a person for the pronoun that opens their source, and if nobody
    else is in it, for the same pronoun that opens a claim."""
    pronoun = opening_pronoun(tree)
    if pronoun is None or not meant(person, pronoun):
        return claims
    same = GENDERS[key(pronoun.text)]
    provenance = rewrite.provenance or align(rewrite.source, rewrite.simple)

    def is_meant(token: OutputToken) -> bool:
        is_pronoun = is_alone and key(token.text) in same
        return is_pronoun or token.source == (pronoun.start, pronoun.end)

    return [
        _with_name(claim, tokens[0], person) if tokens and is_meant(tokens[0]) else claim
        for claim, tokens in zip(claims, provenance, strict=True)
    ]


def _with_name(claim: Claim, token: OutputToken, person: NamedPerson) -> Claim:
    ending = "'s" if key(token.text) in ("his", "her") else ""
    text = f"{claim.text[: token.start]}{person.name}{ending}{claim.text[token.end :]}"
    return claim.model_copy(update={"text": text, "context": ((person.start, person.end),)})


def _sentence_claims(
    rewrite: Rewrite,
    found: Analysis | TooLongError,
    places: Sequence[int],
    own: str,
    document: str | None,
) -> list[Claim]:
    tree = found if isinstance(found, Analysis) else None
    provenance = rewrite.provenance or align(rewrite.source, rewrite.simple)
    ids = [f"{own}#{number}" for number in range(1, len(rewrite.simple) + 1)]
    sentences = [SourcedSentence(tree, tokens) for tokens in provenance] if tree else []
    links: dict[int, list[ClaimLink]] = {}
    for one, other, kind, marker in _links(tree, sentences) if tree else ():
        links.setdefault(one, []).append(ClaimLink(kind=kind, to=ids[other], words=marker))
    claims = []
    for number, text in enumerate(rewrite.simple):
        spans = sorted({token.source for token in provenance[number] if token.source})
        claims.append(
            Claim(
                id=ids[number],
                text=text,
                document=document,
                source=rewrite.source,
                start=places[0],
                end=places[-1],
                spans=tuple(_joined(spans, rewrite.source, places)),
                scope=tuple(_scope(text, tree, sentences[number])) if tree else (),
                links=tuple(links.get(number, ())),
                confidence=rewrite.confidence,
                note=rewrite.note,
                splitter=rewrite.splitter,
            )
        )
    return claims


def _main(rewrite: Rewrite, tree: Analysis) -> int:
    """The index of the claim that has the main predicate of its source."""
    provenance = rewrite.provenance or align(rewrite.source, rewrite.simple)
    for number, tokens in enumerate(provenance):
        if any(token.source and token.source[0] == tree.root.start for token in tokens):
            return number
    return 0


def _guarded(rewrite: Rewrite, tree: Analysis | None) -> Rewrite:
    """The rewrite; or its source, where a claim would be taken for a fact that is none."""
    if not rewrite.is_split:
        return rewrite
    if tree is None:
        note = "Left whole because it is too long to be analysed."
    else:
        provenance = rewrite.provenance or align(rewrite.source, rewrite.simple)
        lost = lost_scope(tree, provenance)
        if not lost:
            return rewrite
        note = f"Left whole because of a claim that would be wrong by itself: {complaints(lost)}."
    return left_whole(rewrite.source, splitter=rewrite.splitter, note=note)


def _joined(
    spans: Sequence[tuple[int, int]], source: str, places: Sequence[int]
) -> Iterator[tuple[int, int]]:
    """Places in the document; words with only white space between them are one stretch."""
    run: tuple[int, int] | None = None
    for start, end in spans:
        if run and not source[run[1] : start].strip():
            run = run[0], max(run[1], end)
            continue
        if run:
            yield places[run[0]], places[run[1] - 1] + 1
        run = start, end
    if run:
        yield places[run[0]], places[run[1] - 1] + 1


_DENIALS = english.NEGATIONS - {"without"}
_QUOTED = {'"': '"', "“": "”", "«": "»", "``": "''"}


def _scope(text: str, tree: Analysis, sentence: SourcedSentence) -> Iterator[ClaimScope]:
    """What a claim is said under. A sentence that is all in quotation marks is somebody's word."""
    seen = set()
    for governor in governors(tree):
        if not governor.governed & sentence.places.keys():
            continue
        said = _said(governor, text, sentence)
        if said and (governor.kind, said) not in seen:
            seen.add((governor.kind, said))
            yield ClaimScope(kind=governor.kind, words=said)
    if not any(tree[place].upos in ("VERB", "AUX") for place in sentence.places) and all(
        token.source for token in sentence.tokens
    ):
        yield ClaimScope(kind=ScopeKind.FRAGMENT, words=text)
    kinds = {kind for kind, _ in seen}
    denials = [token.text for token in sentence.tokens if key(token.text) in _DENIALS]
    if denials and ScopeKind.DENIAL not in kinds:
        yield ClaimScope(kind=ScopeKind.DENIAL, words=denials[0])
    tokens = [token.text for token in tokenize(text)]
    if len(tokens) > 2 and _QUOTED.get(tokens[0]) in tokens[-2:] and tokens.count(tokens[0]) < 3:
        yield ClaimScope(kind=ScopeKind.ATTRIBUTION, words=text)


def _said(governor: Governor, text: str, sentence: SourcedSentence) -> str:
    if governor.kind is ScopeKind.QUESTION:
        return "?" if sentence.is_question else ""
    if governor.kind is ScopeKind.CONDITION and len(governor.words) == 1:
        return ""  # the marker alone, inside the condition
    said = text_of(sentence, text, governor.words)
    if said or governor.kind is ScopeKind.ALTERNATIVE:
        return said
    signs = (token.text for token in sentence.tokens if key(token.text) in governor.signs)
    return next(signs, "")


_CAUSES = words("because since as so therefore thus hence")
_CONTRASTS = words("but yet although though while whilst whereas however nevertheless")
_TIMES = words("after before until till when whenever while whilst once as since then")
_RESTATES = words("i.e. namely viz. ie")


def _kind(marker: Word, child: Word) -> LinkKind | None:
    """The kind of link that a marker makes; of "since", "as" and "while" only what is certain."""
    form = key(marker.text)
    if form in ("as", "since", "while", "whilst"):
        return LinkKind.TIME if child.feats.get("VerbForm") == "Ger" else None
    for kind, forms in (
        (LinkKind.CONDITION, lexicon.CONDITIONS),
        (LinkKind.CAUSE, _CAUSES),
        (LinkKind.CONTRAST, _CONTRASTS),
        (LinkKind.TIME, _TIMES),
        (LinkKind.RESTATEMENT, _RESTATES),
    ):
        if form in forms:
            return kind
    return None


def _links(
    tree: Analysis, sentences: Sequence[SourcedSentence]
) -> Iterator[tuple[int, int, LinkKind, str]]:
    """The links between the claims of one sentence: which claim, which other one, kind, marker."""
    for child in tree:
        if child.relation not in ("advcl", "conj", "parataxis", "appos"):
            continue
        markers = tree.children(child.index, "mark", "cc", "advmod")
        if child.relation != "advcl":  # not "and when was it named?"
            markers = [each for each in markers if key(each.text) not in english.SUBORDINATORS]
        kinds = ((_kind(marker, child), marker) for marker in markers)
        kind, marker = next(((k, m) for k, m in kinds if k), (None, None))
        if kind is None or marker is None:
            continue
        parts = _parts(tree, child.head)
        here = [n for n, each in enumerate(sentences) if child.index in each.places]
        there = [
            n
            for n, each in enumerate(sentences)
            if parts & each.places.keys() and child.index not in each.places
        ]
        if not here or not there:
            continue
        if child.relation == "advcl":  # the clause is the cause, the time, ...
            yield from ((one, here[0], kind, marker.text) for one in there)
        else:  # what comes after "so" or "but" follows from, or contrasts with, what comes before
            alone = [n for n in here if tree[child.head].index not in sentences[n].places]
            yield from ((one, there[-1], kind, marker.text) for one in alone[:1])


def _parts(tree: Analysis, head: int) -> set[int]:
    """A predicate and those coordinated with it that share its subject."""
    others = tree.children(head, "conj")
    return {head, *(o.index for o in others if not tree.children(o.index, "nsubj"))}


_OPENERS = {
    LinkKind.CONTRAST: phrases(
        "however / but / yet / nevertheless / nonetheless / conversely / in contrast / by contrast"
        " / on the other hand / on the contrary / instead"
    ),
    LinkKind.CAUSE: phrases(
        "therefore / thus / hence / consequently / accordingly / as a result / for this reason"
        " / as a consequence / because of this"
    ),
    LinkKind.TIME: phrases(
        "then / afterwards / subsequently / thereafter / meanwhile / after that / before that"
        " / at the same time / later"
    ),
    LinkKind.RESTATEMENT: phrases("in other words / that is / namely / to put it simply"),
    LinkKind.CONDITION: phrases("otherwise / in that case / in this case / if so / if not"),
}
"""Words that open a sentence and link it to the one before."""


def _link_back(claim: Claim, last: Sequence[Claim]) -> ClaimLink | None:
    """The link of the first claim of a sentence to the sentence before."""
    first = tuple(token.text for token in tokenize(claim.source)[:5])
    folded = tuple(map(str.casefold, first))
    for kind, openers in _OPENERS.items():
        for opener in openers:
            if folded[: len(opener)] == opener:
                said = " ".join(first[: len(opener)])
                return ClaimLink(kind=kind, to=last[-1].id, words=said)
    if any(each.words == claim.text for each in claim.scope):  # it is all in quotation marks
        speaker = [c for c in last if any(s.kind is ScopeKind.ATTRIBUTION for s in c.scope)]
        if speaker:
            return ClaimLink(kind=LinkKind.ATTRIBUTION, to=speaker[-1].id, words=first[0])
    return None
