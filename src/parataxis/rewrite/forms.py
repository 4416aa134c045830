"""Inflection: which words are forms of one lemma, other forms of a word, and forms of "to be".

The dictionary (lemminflect) is slow to import, so it is loaded only when two spellings differ, and
results are cached.
"""

import re
from functools import lru_cache

from parataxis.syntax.analysis import ROOT, Analysis
from parataxis.text.english import PRONOUN_FORMS

# Closed classes that the dictionary does not have.
_PARADIGMS = (
    "be am is are was were been being 're 'm",
    "have has had having 've",
    "do does did done doing",
    "will would 'll wo",
    "can could ca",
    "may might",
    "shall should sha",
    "not n't",
    "a an",
    "who whom whose",
    "this these",
    "that those",
)
_CLOSED = {
    form: frozenset((lemma, form))
    for lemma, forms in [*PRONOUN_FORMS.items(), *((p.split()[0], p.split()) for p in _PARADIGMS)]
    for form in forms
}
_QUOTES = str.maketrans({"’": "'", "‘": "'", "`": "'", "“": '"', "”": '"'})
_CACHED = 1 << 16  # words; the number of names and misspellings in a long text has no limit
_SHORTEST = 3  # shorter words outside the paradigms have no useful inflections


@lru_cache(maxsize=_CACHED)
def key(text: str) -> str:
    """The spelling by which words are compared: lower case, straight quotation marks.

    >>> key("Don’t")
    "don't"
    """
    return text.translate(_QUOTES).casefold()


@lru_cache(maxsize=_CACHED)
def lemmas(word: str) -> frozenset[str]:
    """All lemmas that a word (as :func:`key` gives it) may have, and the word itself.

    >>> sorted(lemmas("left"))
    ['leave', 'left']
    """
    if word in _CLOSED:
        return _CLOSED[word]
    if len(word) < _SHORTEST or not word.isalpha():
        return frozenset((word,))
    from lemminflect import getAllLemmas, getAllLemmasOOV

    found = getAllLemmas(word) or getAllLemmasOOV(word, "NOUN") | getAllLemmasOOV(word, "VERB")
    return frozenset(lemma for group in found.values() for lemma in group) | {word}


@lru_cache(maxsize=_CACHED)
def is_known(word: str) -> bool:
    """Whether the word is in the dictionary; most names and misspellings are not."""
    if word in _CLOSED:
        return True
    from lemminflect import getAllLemmas

    return bool(getAllLemmas(word))


@lru_cache(maxsize=_CACHED)
def is_verb_form(word: str) -> bool:
    """Whether the dictionary has the word as a form of a verb.

    >>> is_verb_form("seats"), is_verb_form("tribes")
    (True, False)
    """
    from lemminflect import getAllLemmas

    return "VERB" in getAllLemmas(word)


_DOUBLE = re.compile(r"(.)\1")


@lru_cache(maxsize=_CACHED)
def form_of(word: str, tag: str) -> str | None:
    """The form of a verb or noun with a Penn Treebank tag, or None if there is none.

    Of two spellings, the one closer to the word is chosen: "travelling" gives "travelled".

    >>> form_of("serving", "VBD"), form_of("cities", "NN"), form_of("of", "NN")
    ('served', 'city', None)
    >>> form_of("tearing", "VBD"), form_of("travelling", "VBD"), form_of("putting", "VBD")
    ('tore', 'travelled', 'put')
    """
    from lemminflect import getAllLemmas, getInflection

    part = "VERB" if tag.startswith("V") else "NOUN"
    forms = [
        form
        for lemma in getAllLemmas(word, upos=part).get(part, ())
        for form in getInflection(lemma, tag)
    ]
    spellings = [form for form in forms if _DOUBLE.sub(r"\1", form) == _DOUBLE.sub(r"\1", forms[0])]
    return max(spellings, key=lambda form: common_start(form, word), default=None)


def common_start(one: str, other: str) -> int:
    """The length of the common prefix of two words.

    >>> common_start("serving", "serves")
    4
    """
    pairs = enumerate(zip(one, other, strict=False))
    return next((place for place, (a, b) in pairs if a != b), min(len(one), len(other)))


_PLURAL_PRONOUNS = frozenset(["we", "you", "they", "these", "those", "both", "us", "them"])


def be(analysis: Analysis, subject: int, clause: int) -> str:
    """The form of "to be" for a subject, in the tense of the clause of the word ``clause``."""
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
        for verb in (*analysis.children(index, "aux", "cop"), analysis[index]):
            if verb.feats.get("VerbForm") == "Fin":
                return verb.feats.get("Tense") == "Past"
        index = analysis[index].head
    return False
