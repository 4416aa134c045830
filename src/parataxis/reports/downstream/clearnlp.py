"""spaCy's English trees in the terms of Universal Dependencies: predicates and arguments only.

spaCy's pipelines for English use the labels of ClearNLP, in which a preposition governs its noun
and a form of "be" its complement. In UD the noun depends on the predicate, and the complement is
the predicate.
"""

from collections.abc import Iterator

from spacy.tokens import Doc, Token

from parataxis.reports.downstream.parsers import Pair, Span

__all__ = ["pairs"]

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


def pairs(doc: Doc) -> list[Pair]:
    """The predicates and arguments of a document."""
    return list(_pairs(doc))


def _pairs(doc: Doc) -> Iterator[Pair]:
    for token in doc:
        predicate = _predicate(token.head)
        if token.dep_ in _PREPOSITIONS and token.pos_ != "PRON":
            noun = _noun(token)
            # With a noun as its head the phrase is part of a longer one.
            if noun is not None and noun != predicate and token.head.pos_ in _HEADS:
                yield Pair(_span(predicate), "obl", _span(noun))
                continue
        role = _ROLES.get(token.dep_)
        if role is None or (role == "obl" and token.head.pos_ not in _HEADS):
            continue
        if token.dep_ == "attr" and _is_existential(token.head):
            yield Pair(_span(token.head), "nsubj", _span(token))
        elif token != predicate:
            argument = _predicate(token) if role in _CLAUSES else token
            yield Pair(_span(predicate), role, _span(argument))


_HEADS = frozenset(("VERB", "AUX", "ADJ"))


def _predicate(token: Token) -> Token:
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


def _is_existential(token: Token) -> bool:
    """Whether it is the verb of "there is"."""
    return any(child.dep_ == "expl" and child.lower_ == "there" for child in token.children)


def _noun(preposition: Token) -> Token | None:
    return next((child for child in preposition.children if child.dep_ == "pobj"), None)


def _span(token: Token) -> Span:
    return token.idx, token.idx + len(token)
