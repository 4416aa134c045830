"""The parsers and triple extractors that are compared; they give words by character offsets."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Generic, NamedTuple, TypeVar

from parataxis.errors import InputError, needs
from parataxis.syntax.analysis import ROOT, Analysis

if TYPE_CHECKING:
    from spacy.language import Language
    from spacy.tokens import Doc, Token


Span = tuple[int, int]
"""Where a word starts and ends in its text."""


ROLES = frozenset(("nsubj", "csubj", "obj", "iobj", "obl", "ccomp", "xcomp"))
"""Relations between a predicate and an argument. Those between clauses are what splitting
changes."""


class DependencyPair(NamedTuple):
    """A predicate, its argument and their relation, in the labels of Universal Dependencies."""

    predicate: Span
    role: str
    argument: Span


class ExtractedTriple(NamedTuple):
    """Where the words of a subject, verb and object stand."""

    subject: tuple[Span, ...]
    verb: tuple[Span, ...]
    object: tuple[Span, ...]


Found = TypeVar("Found")


class TextReader(NamedTuple, Generic[Found]):
    """A parser, which finds dependency pairs, or an extractor, which finds triples. ``pipe`` gives
    what is found in each text; None where it cannot be read."""

    name: str
    pipe: Callable[[Sequence[str]], Iterable[Sequence[Found] | None]]


def load_parser(name: str) -> TextReader[DependencyPair]:
    """The parser "analyser" (ours) or "spacy:MODEL"."""
    kind, _, model = name.partition(":")
    if name == "analyser":
        return TextReader(name, _analyser_pairs)
    if kind == "spacy" and model:
        nlp = load_pipeline(model)
        return TextReader(name, lambda texts: (list(pairs(doc)) for doc in nlp.pipe(texts)))
    raise InputError(f'There is no parser "{name}"; write "analyser" or "spacy:MODEL".')


def load_extractor(name: str) -> TextReader[ExtractedTriple]:
    """The extractor "textacy:MODEL", on the parser of a spaCy pipeline for English."""
    kind, _, model = name.partition(":")
    if kind != "textacy" or not model:
        raise InputError(f'There is no extractor "{name}"; write "textacy:MODEL".')
    with needs("Triples need textacy", "downstream"):
        from textacy.extract.triples import subject_verb_object_triples
    nlp = load_pipeline(model)

    def extract(texts: Sequence[str]) -> Iterator[list[ExtractedTriple]]:
        for doc in nlp.pipe(texts):
            yield [
                ExtractedTriple(*(tuple(map(_span, part)) for part in found))
                for found in subject_verb_object_triples(doc)
            ]

    return TextReader(name, extract)


def _analyser_pairs(texts: Sequence[str]) -> Iterator[list[DependencyPair] | None]:
    # Imported here because a list of all commands needs no models.
    from parataxis.syntax.analyser import load_analyser

    for found in load_analyser().pipe(texts):
        if not isinstance(found, Analysis):
            yield None
            continue
        words = [(word, found[word.head]) for word in found if word.head != ROOT]
        yield [
            DependencyPair((head.start, head.end), word.relation, (word.start, word.end))
            for word, head in words
            if word.relation in ROLES
        ]


_BE = frozenset(
    ("be", "is", "am", "are", "was", "were", "been", "being", "'s", "’s", "'re", "’re", "'m", "’m")
)
_ROLES = {
    "nsubj": "nsubj",
    "nsubjpass": "nsubj",
    "csubj": "csubj",
    "csubjpass": "csubj",
    "dobj": "obj",
    "dative": "iobj",
    "npadvmod": "obl",
    "ccomp": "ccomp",
    "xcomp": "xcomp",
    "attr": "xcomp",
    "acomp": "xcomp",
    "oprd": "xcomp",
}
_CLAUSES = ("csubj", "ccomp", "xcomp")
_PREPOSITIONS = ("prep", "agent", "dative")
_HEADS = ("VERB", "AUX", "ADJ")


def pairs(doc: "Doc") -> Iterator[DependencyPair]:
    """The predicates and arguments of a document.

    spaCy's pipelines for English use the labels of ClearNLP, in which a preposition governs its
    noun and a form of "be" its complement. In UD the noun depends on the predicate, and the
    complement is the predicate.
    """
    for token in doc:
        predicate = _predicate(token.head)
        if token.dep_ in _PREPOSITIONS and token.pos_ != "PRON":
            noun = _noun(token)
            # With a noun as its head the phrase is part of a longer one.
            if noun is not None and noun != predicate and token.head.pos_ in _HEADS:
                yield DependencyPair(_span(predicate), "obl", _span(noun))
                continue
        role = _ROLES.get(token.dep_)
        if role is None or (role == "obl" and token.head.pos_ not in _HEADS):
            continue
        if token.dep_ == "attr" and _is_existential(token.head):
            yield DependencyPair(_span(token.head), "nsubj", _span(token))
        elif token != predicate:
            argument = _predicate(token) if role in _CLAUSES else token
            yield DependencyPair(_span(predicate), role, _span(argument))


def _predicate(token: "Token") -> "Token":
    """What UD calls the predicate of a clause whose head this is in ClearNLP."""
    if token.lower_ not in _BE or token.pos_ != "AUX" or _is_existential(token):
        return token
    for child in token.children:
        if child.dep_ in ("attr", "acomp"):
            return child
    for child in token.rights:  # "She is in Rome", "she is here"
        noun = _noun(child) if child.dep_ == "prep" else None
        if noun is not None:
            return noun
        if child.dep_ == "advmod" and child.n_rights == 0 and child.lower_ != "not":
            return child
    return token


def _is_existential(token: "Token") -> bool:
    """Whether it is the verb of "there is"."""
    return any(child.dep_ == "expl" and child.lower_ == "there" for child in token.children)


def _noun(preposition: "Token") -> "Token | None":
    return next((child for child in preposition.children if child.dep_ == "pobj"), None)


def _span(token: "Token") -> Span:
    return token.idx, token.idx + len(token)


def load_pipeline(model: str) -> "Language":
    """The pipeline of that name, which must have a parser; what else it finds is left out."""
    with needs("This needs spaCy", "spacy"):
        import spacy
    try:
        nlp = spacy.load(model, exclude=["ner"])
    except OSError as error:
        raise InputError(
            f'spaCy has no pipeline "{model}"; install one, such as en_core_web_sm.'
        ) from error
    if not nlp.has_pipe("parser"):
        raise InputError(f'The pipeline "{model}" of spaCy has no parser; name one that has.')
    return nlp
