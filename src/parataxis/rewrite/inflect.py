"""Forms of "to be" that agree with a subject of the source and follow its tense."""

from collections.abc import Iterator

from parataxis.syntax.analysis import ROOT, Analysis, Word

__all__ = ["FORMS_OF_BE", "be", "is_past", "is_plural"]

FORMS_OF_BE = frozenset(["am", "are", "is", "was", "were"])
"""What :func:`be` gives."""

_PLURAL_PRONOUNS = frozenset(["we", "you", "they", "these", "those", "both", "us", "them"])


def be(analysis: Analysis, subject: int, clause: int) -> str:
    """The form of "to be" for a subject, in the tense of the clause that word ``clause`` is in."""
    past = is_past(analysis, clause)
    if is_plural(analysis, subject):
        return "were" if past else "are"
    if analysis[subject].text == "I" and not past:
        return "am"
    return "was" if past else "is"


def is_plural(analysis: Analysis, index: int) -> bool:
    """Whether a noun phrase, given by its head, takes a plural verb."""
    word = analysis[index]
    if word.text.lower() in _PLURAL_PRONOUNS or word.xpos in ("NNS", "NNPS"):
        return True
    if word.upos == "NUM" and word.text.isalpha() and word.text.lower() != "one":
        return True  # "nine of them", but not the "31" of "October 31"
    return any(
        joined.text.lower() in ("and", "&")
        for conjunct in analysis.children(index, "conj")
        for joined in analysis.children(conjunct.index, "cc")
    )


def is_past(analysis: Analysis, index: int) -> bool:
    """Whether the nearest finite verb at or above a word is in the past tense."""
    while index != ROOT:
        for verb in _verbs(analysis, index):
            if verb.feats.get("VerbForm") == "Fin":
                return verb.feats.get("Tense") == "Past"
        index = analysis[index].head
    return False


def _verbs(analysis: Analysis, index: int) -> Iterator[Word]:
    yield from analysis.children(index, "aux", "cop")
    yield analysis[index]
