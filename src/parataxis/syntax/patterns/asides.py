"""Where an aside ends: the comma that closes it, even where the parser went past it."""

from parataxis.syntax.patterns.lexicon import COORDINATORS, WH_WORDS
from parataxis.syntax.patterns.phrases import Phrase, SentenceView

__all__ = ["FINITE", "PRESENT", "close_aside"]

PRESENT = frozenset(["VBZ", "VBP"])
"""Forms with which a main clause surely goes on."""

FINITE = PRESENT | {"VBD", "VBN"}
"""The same where no participle is expected: past tenses and participles look alike, and taggers mix
them up, so that after a participle "and restored in 1950" may well go on with the aside."""


def close_aside(view: SentenceView, phrase: Phrase, forms: frozenset[str]) -> Phrase:
    """Where an aside that a comma opened ends, if the parser went past the comma that closes it:
    "Otto, who had inherited the farm, and planted ..."; "Otto, known as the Bold, to guard ..."."""
    for comma in range(phrase.first + 1, phrase.last - 1):
        if view.words[comma].text == "," and _resumes(view, comma + 1, forms):
            return view.trim(phrase.first, comma - 1)
    return phrase


def _resumes(view: SentenceView, index: int, forms: frozenset[str]) -> bool:
    """Whether the main clause goes on at ``index``: with "to", or with "and" and a finite verb
    that has no subject and is not the last of a list."""
    word = view.words[index]
    if word.upos == "PART" and view.lower[index] == "to":
        return True
    if word.deprel != "cc" or view.lower[index] not in COORDINATORS:
        return False
    verb = view.words[word.head]
    if verb.deprel != "conj" or view.has_child(verb, "nsubj", "csubj"):
        return False
    if len([c for c in view.analysis.children(verb.head, "conj") if c.index <= verb.index]) > 1:
        return False
    auxiliaries = view.analysis.children(verb.index, "aux", "cop")
    finite = bool(auxiliaries) or (verb.upos == "VERB" and verb.xpos in forms)
    return finite and not WH_WORDS & set(view.lower[index : verb.index])
