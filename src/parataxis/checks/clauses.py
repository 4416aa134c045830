"""Simple sentences that are no sentences: without a finite verb, or a subordinate clause alone."""

from collections.abc import Sequence

from parataxis.checks import lexicon
from parataxis.rewrite.forms import key
from parataxis.rewrite.record import Finding, Kind
from parataxis.syntax.analysis import Analysis, Word

__all__ = ["clause_findings", "is_fragment", "lacks_verb"]

_FINITE_TAGS = frozenset(("VBZ", "VBD", "VBP", "MD"))
_RELATIVES = frozenset(("which", "who", "whom", "whose"))
_CLAUSES = frozenset(("advcl", "acl", "ccomp", "csubj", "xcomp", "parataxis"))


def clause_findings(source: Analysis, simple: Sequence[Analysis]) -> list[Finding]:
    """Sentences without a finite verb and subordinate clauses that stand alone.

    What the source does itself (a heading, a recital) is no fault of the rewrite.
    """
    findings = []
    has_verb, is_whole = not lacks_verb(source), not is_fragment(source)
    for index, analysis in enumerate(simple):
        if has_verb and lacks_verb(analysis):
            message = f"The sentence '{analysis.text}' has no verb that could stand alone."
            findings.append(_finding(Kind.NO_VERB, index, analysis, message))
        elif is_whole and is_fragment(analysis):
            message = f"The sentence '{analysis.text}' is a part of a sentence that stands alone."
            findings.append(_finding(Kind.FRAGMENT, index, analysis, message))
    return findings


def lacks_verb(analysis: Analysis) -> bool:
    """Whether no word is a finite verb."""
    return bool(len(analysis)) and not any(_is_finite(analysis, word) for word in analysis)


def is_fragment(analysis: Analysis) -> bool:
    """Whether the whole sentence is a clause that begins with a subordinator or a relative."""
    words = [word for word in analysis if word.upos != "PUNCT"]
    if not words or analysis.text.rstrip(" \"'”’)").endswith("?"):
        return False
    opener = words[1] if words[0].upos == "CCONJ" and len(words) > 1 else words[0]
    word = key(opener.text)
    if word in _RELATIVES:
        return opener.head == analysis.root.index or _governs_alone(analysis, opener)
    if word in lexicon.SUBORDINATORS and opener.relation in ("mark", "advmod"):
        return opener.head == analysis.root.index and not _has_other_clause(analysis, opener)
    return False


def _governs_alone(analysis: Analysis, opener: Word) -> bool:
    """Whether a relative word deeper in the tree ("Whose wife ...") is still in the main clause."""
    head = opener.head
    while head != analysis.root.index:
        if analysis[head].relation in _CLAUSES:
            return False
        head = analysis[head].head
    return True


def _has_other_clause(analysis: Analysis, opener: Word) -> bool:
    """Whether a second clause could be the main one, as in "When he came, she left"."""
    subjects = [word for word in analysis if word.relation in ("nsubj", "expl")]
    root = analysis.root.index
    return any(word.head != root and _is_main_like(analysis, word.head) for word in subjects)


def _is_main_like(analysis: Analysis, index: int) -> bool:
    head = analysis[index]
    return head.head == analysis.root.index and head.relation in ("parataxis", "ccomp", "conj")


def _is_finite(analysis: Analysis, word: Word) -> bool:
    if word.xpos in _FINITE_TAGS or word.feats.get("VerbForm") == "Fin":
        return True
    if word.xpos == "VB" and word.index == analysis.root.index:  # an imperative has no "to"
        return not analysis.children(word.index, "mark")
    return key(word.text) in lexicon.FINITE_FORMS


def _finding(kind: Kind, index: int, analysis: Analysis, message: str) -> Finding:
    text = analysis.text
    return Finding(kind=kind, words=text, sentence=index, start=0, end=len(text), message=message)
