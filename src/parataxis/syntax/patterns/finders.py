"""The rules that find the patterns: one function for each, from a word to the phrase it governs.

A rule returns None where the word governs no such phrase. docs/patterns.md gives the definitions.
"""

from parataxis.syntax.analysis import ROOT, Word
from parataxis.syntax.patterns.lexicon import (
    ADDITIVE,
    ADVERBIAL_MARKS,
    COMPLEMENT_NOUNS,
    COMPLEMENT_VERBS,
    CONDITION_MARKS,
    DEFINITE,
    GERUND_MARKS,
    LINKING_PREPOSITIONS,
    PROVISOS,
    REPORTING_STARTS,
    SET_OFF_PREPOSITIONS,
    TIME_WORDS,
    WH_WORDS,
)
from parataxis.syntax.patterns.phrases import (
    FINITE,
    PRESENT,
    FoundPhrase,
    Pattern,
    Phrase,
    SentenceView,
    close_aside,
)

_SUBORDINATE = ADVERBIAL_MARKS | CONDITION_MARKS
_NO_PARTICIPLES = REPORTING_STARTS | CONDITION_MARKS | PROVISOS
_NOT_ADJUNCTS = frozenset(
    ["root", "conj", "case", "mark", "fixed", "xcomp", "ccomp", "obj", "nsubj", "cc"]
)
_ADVERBIAL_RELATIONS = frozenset(["advcl", "obl", "advmod", "acl", "conj", "parataxis"])
_LONG_MARKS = frozenset([("in", "order", "to"), ("so", "as", "to")])


def relative_clause(view: SentenceView, word: Word) -> FoundPhrase | None:
    """A relative clause that is set off, or whose noun is new to the reader."""
    if word.head == ROOT or word.index < word.head:
        return None
    phrase = _with_quantifier(view, word)
    if word.deprel not in ("acl:relcl", "advcl:relcl") and not _looks_relative(view, word, phrase):
        return None
    opening = view.lower[phrase.first : min(phrase.first + 5, word.index + 1)]
    if view.size(phrase) < 3 or not WH_WORDS & set(opening):
        return None
    if view.is_set_off(phrase):
        return FoundPhrase(Pattern.RC, close_aside(view, phrase, FINITE), free=True)
    if word.deprel == "acl:relcl" and view.is_new(view.words[word.head]):
        return FoundPhrase(Pattern.RC, phrase)
    return None


def _with_quantifier(view: SentenceView, word: Word) -> Phrase:
    """The clause with the quantifier of "half of whom work at home". Parsers make "half" an
    apposition of the noun, and only the verb a relative clause, of the noun or of "half"."""
    phrase = view.phrase(word)
    before = view.lower[max(phrase.first - 1, 0)]
    if word.deprel != "acl:relcl" or before not in ("which", "whom"):
        return phrase
    noun = view.words[word.head]
    for quantifier in [noun, *view.analysis.children(noun.index, "appos")]:
        other = view.phrase(quantifier)
        if quantifier.deprel == "appos" and quantifier.index < phrase.first <= other.last + 1:
            return Phrase(other.first, phrase.last)
    return phrase


def _looks_relative(view: SentenceView, word: Word, phrase: Phrase) -> bool:
    """Whether the words show a relative clause that the parser calls something else: parsers often
    make "..., neither of whom may vote" or "..., whom we call the Major" a conjunct, a parataxis
    or an apposition."""
    start = view.lower[phrase.first : phrase.first + 3]
    if word.relation in ("appos", "acl", "parataxis") and start[0] in ("who", "whom", "whose"):
        return True
    quantified = start[1:] in (["of", "whom"], ["of", "which"])
    return quantified and word.relation in ("conj", "parataxis", "appos", "advcl", "ccomp")


def conjunction(view: SentenceView, word: Word) -> FoundPhrase | None:
    """A coordinated clause or verb phrase, or a clause joined by a semicolon or brackets."""
    if word.head == ROOT or word.index < word.head or not view.is_clause(word):
        return None
    phrase = _conjunct(view, word)
    if view.has_child(word, "mark") and view.starts_with(phrase, _SUBORDINATE):
        return None  # "and, when it rained, stayed at home": the parser misplaced the clause
    before = view.words[phrase.first - 1].text if phrase.first else ""
    if word.relation in ("parataxis", "conj") and before == ";":
        return FoundPhrase(Pattern.CONJ, phrase) if view.size(phrase) > 2 else None
    if word.relation == "parataxis" and _is_joined(view, word, phrase):
        return FoundPhrase(Pattern.CONJ, phrase)
    if word.relation in ("advcl", "parataxis", "conj") and _is_result(view, phrase):
        return FoundPhrase(Pattern.CONJ, phrase)
    if word.deprel != "conj" or not _joins_clauses(view, word, phrase):
        return None
    return FoundPhrase(Pattern.CONJ, phrase)


def _conjunct(view: SentenceView, word: Word) -> Phrase:
    """The conjunct up to the next one: parsers disagree on whether conjuncts nest."""
    phrase = view.phrase(word)
    nested = [c for c in view.analysis.children(word.index, "conj") if view.is_clause(c)]
    starts = [start for c in nested if (start := view.phrase(c).first) > word.index]
    return view.trim(phrase.first, min([*starts, phrase.last + 1]) - 1)


def _is_joined(view: SentenceView, word: Word, phrase: Phrase) -> bool:
    """Whether a parataxis is a joined clause: after "and", in brackets, or in the middle of
    "he came, she saw him, and they left"."""
    if joints := view.analysis.children(word.index, "cc"):
        return view.lower[joints[0].index] in ADDITIVE and view.size(phrase) > 2
    if not view.has_child(word, "nsubj"):
        return False
    if phrase.first > 0 and view.words[phrase.first - 1].text == "(":
        return view.size(phrase) > 2
    later = [c for c in view.analysis.children(word.head, "conj") if c.index > word.index]
    joined = any(view.has_child(c, "cc") and view.has_child(c, "nsubj") for c in later)
    return joined and view.is_set_off(phrase)


def _is_result(view: SentenceView, phrase: Phrase) -> bool:
    """Whether "so" coordinates: "..., so the market was held indoors", not "so that"."""
    start = view.lower[phrase.first : phrase.first + 2]
    return start[0] == "so" and start[-1] not in ("that", "as") and view.is_set_off(phrase)


def _joins_clauses(view: SentenceView, word: Word, phrase: Phrase) -> bool:
    left = view.words[word.head]
    if not view.is_clause(left) or left.relation in ("nsubj", "obj", "obl", "nmod", "amod"):
        return False
    if not _is_additive(view, word, phrase):
        return False
    own = view.size(phrase) - len(view.analysis.children(word.index, "cc"))
    if own < 2:
        return False
    if view.has_child(word, "nsubj", "csubj", "aux", "cop", "mark", "expl"):
        return True
    if view.is_negated(left) and not view.has_child(word, "cc"):
        return False  # "must not admit liability, make an offer ...": the negation reaches over
    return _predicate_size(view, left, phrase.first) > 1


def _is_additive(view: SentenceView, word: Word, phrase: Phrase) -> bool:
    """Whether the conjunction asserts both sides: "and", "but", "yet", "nor", but neither "or" nor
    "neither ... nor". The members of a list share its last conjunction."""
    if view.has_child(view.words[word.head], "cc:preconj"):
        return False
    for sibling in view.analysis.children(word.head, "conj"):
        joints = view.analysis.children(sibling.index, "cc")
        if sibling.index >= word.index and joints:
            return view.lower[joints[0].index] in ADDITIVE
    return view.lower[phrase.first] == "then"


def _predicate_size(view: SentenceView, verb: Word, end: int) -> int:
    """The number of words of a verb phrase before ``end``, without its subject, its auxiliaries
    and its conjuncts."""
    left_out: set[int] = set()
    for child in view.analysis.children(verb.index):
        fronted = child.relation == "advcl" and child.index < verb.index
        if fronted or child.relation in ("nsubj", "csubj", "aux", "conj", "mark", "cc", "punct"):
            left_out.update(view.analysis.subtree(child.index))
    return sum(i < end and i not in left_out for i in view.analysis.subtree(verb.index))


def participle(view: SentenceView, word: Word) -> FoundPhrase | None:
    """A participle or adjective phrase: a relative clause without its "to be"."""
    if word.relation not in ("acl", "advcl", "amod") or word.deprel == "acl:relcl":
        return None
    if not _is_participle(view, word) and not _is_loose_adjective(view, word):
        return None
    phrase = view.phrase(word)
    if view.size(phrase) < 2 or view.starts_with(phrase, _NO_PARTICIPLES):
        return None
    if view.is_set_off(phrase):
        return FoundPhrase(Pattern.PART, close_aside(view, phrase, PRESENT), free=True)
    if word.deprel == "acl" and word.upos == "VERB":
        return FoundPhrase(Pattern.PART, phrase) if view.is_new(view.words[word.head]) else None
    return None


def _is_participle(view: SentenceView, word: Word) -> bool:
    if word.relation == "amod" or set(view.mark(word)) - {"with"}:
        return False
    auxiliaries = view.analysis.children(word.index, "aux", "cop")
    # In "having lost" and "being tired" the first verb carries the form.
    first = auxiliaries[0] if auxiliaries else word
    form = "VBG" if view.lower[first.index] in ("having", "being") else first.xpos
    if form == "VBD":  # "the railway, opened in 1869": a past tense would have a subject
        return not auxiliaries and not view.has_child(word, "nsubj")
    return form in ("VBG", "VBN")


def _is_loose_adjective(view: SentenceView, word: Word) -> bool:
    """Whether the word heads an aside such as "popular with tourists"."""
    if word.upos != "ADJ" or view.mark(word) or view.has_child(word, "cop", "nsubj"):
        return False
    return word.index > word.head or word.relation == "advcl"


def linked_phrase(view: SentenceView, word: Word) -> FoundPhrase | None:
    """A prepositional phrase whose preposition shows that it states a second fact."""
    if word.upos in ("VERB", "AUX") or word.relation in _NOT_ADJUNCTS:
        return None
    if view.has_child(word, "cop", "nsubj"):
        return None
    phrase = _from_preposition(view, word)
    if view.size(phrase) < 4 or view.starts_with(phrase, REPORTING_STARTS):
        return None
    if view.starts_with(phrase, LINKING_PREPOSITIONS):
        return FoundPhrase(Pattern.PREP, phrase)
    if view.starts_with(phrase, SET_OFF_PREPOSITIONS) and view.is_set_off(phrase):
        return FoundPhrase(Pattern.PREP, phrase)
    return None


def _from_preposition(view: SentenceView, word: Word) -> Phrase:
    """The phrase with the first words of its preposition ("together with", "thanks to"), which
    parsers often attach to another word."""
    phrase = view.phrase(word)
    for back in (1, 2):
        longer = Phrase(phrase.first - back, phrase.last)
        if longer.first < 0 or longer.first <= word.head < phrase.first:
            break
        if len(view.starts_with(longer, LINKING_PREPOSITIONS)) > 1:
            return longer
    return phrase


def set_off_phrase(view: SentenceView, word: Word) -> FoundPhrase | None:
    """Any other prepositional phrase, if it is an aside or an afterthought."""
    if word.relation not in ("obl", "nmod") or not view.has_child(word, "case"):
        return None
    phrase = view.phrase(word)
    if word.index < word.head or view.size(phrase) < 4 or not view.is_set_off(phrase):
        return None
    starts_well = view.words[phrase.first].upos in ("ADP", "SCONJ", "ADV")
    if not starts_well or view.starts_with(phrase, REPORTING_STARTS):
        return None
    is_date = view.lower[word.index] in TIME_WORDS or word.upos == "NUM"
    if is_date and view.lower[phrase.first] not in ("after", "before"):
        return None
    return FoundPhrase(Pattern.PREP, phrase, free=word.relation == "nmod")


def adverbial(view: SentenceView, word: Word) -> FoundPhrase | None:
    """An adverbial clause or phrase of time, cause, contrast or exception; not a condition."""
    if word.relation not in _ADVERBIAL_RELATIONS or word.deprel == "acl:relcl":
        return None
    phrase = _with_soon(view, word)
    now_that = view.starts_with(phrase, {("now", "that")})
    if word.relation != "advcl" and not now_that and not view.has_child(word, "mark"):
        return None
    if word.relation == "acl" and not view.is_set_off(phrase):
        return None
    opening = _opening(view, word, phrase)
    if view.starts_with(opening, PROVISOS):
        added = opening.first > 0 and view.is_set_off(opening)
        return FoundPhrase(Pattern.ADV, phrase) if added else None
    if view.size(phrase) < 3 or view.starts_with(opening, CONDITION_MARKS):
        return None
    is_gerund = word.xpos == "VBG" and not view.has_child(word, "aux", "nsubj")
    if is_gerund and not view.starts_with(opening, GERUND_MARKS):
        introduced = view.words[phrase.first].upos in ("ADP", "SCONJ")
        if not introduced or "with" in view.mark(word) or not view.is_set_off(phrase):
            return None
        return FoundPhrase(Pattern.ADV, phrase)
    start = view.starts_with(opening, ADVERBIAL_MARKS | GERUND_MARKS)
    if not start or _compares(view, word):
        return None
    if start == ("when",) and _follows_time(view, phrase):
        return FoundPhrase(Pattern.RC, phrase, free=True)
    return FoundPhrase(Pattern.ADV, phrase)


def _opening(view: SentenceView, word: Word, phrase: Phrase) -> Phrase:
    """The phrase from its subordinator on: from "before" in "shortly before he died"."""
    marks = [m.index for m in view.analysis.children(word.index, "mark")]
    first = marks[0] if marks and phrase.first < marks[0] < word.index else phrase.first
    if any(view.words[i].upos in ("ADP", "SCONJ") for i in range(phrase.first, first)):
        first = phrase.first
    return Phrase(first, phrase.last)


def _with_soon(view: SentenceView, word: Word) -> Phrase:
    """The whole of "as soon as it rains"; treebanks attach the clause to "soon"."""
    phrase = view.phrase(word)
    if word.head != ROOT and view.lower[word.head] in ("soon", "long"):
        return view.phrase(view.words[word.head])
    return phrase


def _compares(view: SentenceView, word: Word) -> bool:
    """Whether the clause completes an adverb or adjective: "as fast as he could"."""
    governor = view.words[word.head]
    if view.lower[governor.index] == "soon":
        return False
    degrees = view.analysis.children(governor.index, "advmod")
    return any(view.lower[d.index] in ("as", "so") and d.index < word.index for d in degrees)


def _follows_time(view: SentenceView, phrase: Phrase) -> bool:
    """Whether the clause describes a time, as a relative clause does: "in 1950, when prices
    were low"."""
    before = phrase.first - 2
    if before < 0 or view.words[phrase.first - 1].text != ",":
        return False
    return view.lower[before] in TIME_WORDS or view.words[before].upos == "NUM"


def apposition(view: SentenceView, word: Word) -> FoundPhrase | None:
    """An apposition that describes its noun and does not merely name or locate it."""
    if word.relation == "nsubj":
        return _fronted_apposition(view, word)
    if word.relation not in ("appos", "acl", "advcl", "parataxis") or word.deprel == "acl:relcl":
        return None
    noun = view.words[word.head]
    if noun.relation == "nsubj" and _fronted_apposition(view, noun):
        return None
    if not _is_nominal(view, word) or view.mark(word):
        return None
    if view.has_child(word, "cop", "nsubj") or not _describes(view, word):
        return None
    phrase = _whole_apposition(view, word)
    if {"which", "whom"} & set(view.lower[phrase.first : phrase.first + 4]):
        return None  # "half of whom work at home"
    if view.size(phrase) < 2 or not view.is_set_off(phrase) or _is_definition(view, phrase):
        return None
    return FoundPhrase(Pattern.APPOS, close_aside(view, phrase, FINITE), free=True)


def _fronted_apposition(view: SentenceView, word: Word) -> FoundPhrase | None:
    """The apposition of "A gifted linguist, Moser spoke ...", where parsers make the noun the
    subject, and the name its apposition or a second subject."""
    subjects = view.analysis.children(word.head, "nsubj")
    names = [*view.analysis.children(word.index, "appos"), *(s for s in subjects if s is not word)]
    for name in names:
        phrase = view.phrase(name)
        opens = word.index < phrase.first - 1 and view.words[phrase.first - 1].text == ","
        closed = phrase.last + 1 == len(view.words) or view.is_punct(phrase.last + 1)
        if name.upos == "PROPN" and opens and not closed:
            noun = view.trim(view.phrase(word).first, phrase.first - 1)
            if noun.first == 0 and view.size(noun) > 1:
                return FoundPhrase(Pattern.APPOS, noun, free=True)
    return None


def _is_nominal(view: SentenceView, word: Word) -> bool:
    with_article = view.has_child(word, "det", "nmod:poss")
    if word.relation == "parataxis" or word.upos in ("ADJ", "NUM"):
        return with_article and word.upos != "VERB"
    return word.upos in ("NOUN", "PROPN", "PRON")


def _whole_apposition(view: SentenceView, word: Word) -> Phrase:
    """The apposition with what follows it without a comma: parsers attach "in the south" of
    "Katanga, a province in the south" to either noun."""
    phrase = view.phrase(word)
    for sibling in view.analysis.children(word.head, "nmod", "acl", "appos"):
        other = view.phrase(sibling)
        if other.first == phrase.last + 1:
            phrase = Phrase(phrase.first, other.last)
    # "Zadran, a carpet dealer from Kabul" after "its founder,": two appositions, one after another
    for nested in view.analysis.children(word.index, "appos"):
        start = view.phrase(nested)
        if word.upos == "PROPN" and word.index < start.first and view.is_set_off(start):
            phrase = view.trim(phrase.first, start.first - 1)
    return phrase


def _describes(view: SentenceView, word: Word) -> bool:
    """Whether this is neither a place in a place ("Austin, Texas") nor a date ("Friday, the twelfth
    of May")."""
    noun = view.words[word.head]
    if view.lower[noun.index] in TIME_WORDS:
        return False
    return not (noun.upos == word.upos == "PROPN" and not view.has_child(word, "det"))


def _is_definition(view: SentenceView, phrase: Phrase) -> bool:
    """Whether this is the defined term of a contract, which only names the thing: (the "Buyer")."""
    if phrase.first == 0 or view.words[phrase.first - 1].text not in ("(", "[", '"', "“"):
        return False
    return any(
        view.words[i].text in ('"', "“", "''", "``")
        for i in range(phrase.first - 1, phrase.last + 1)
    )


def infinitive(view: SentenceView, word: Word) -> FoundPhrase | None:
    """An infinitive of purpose, not one that completes a verb or a noun."""
    if word.relation not in ("advcl", "acl"):
        return None
    phrase = view.phrase(word)
    if "to" not in view.mark(word) and not view.starts_with(phrase, _LONG_MARKS):
        return None
    start = view.lower[phrase.first : phrase.first + 3]
    if "to" not in start or view.size(phrase) - start.index("to") < 4:
        return None
    if not _states_purpose(view, word, phrase):
        return None
    return FoundPhrase(Pattern.INF, phrase)


def _states_purpose(view: SentenceView, word: Word, phrase: Phrase) -> bool:
    governor = view.words[word.head]
    text = view.lower[governor.index]
    if word.relation == "acl":
        dets = {view.lower[child.index] for child in view.analysis.children(governor.index, "det")}
        known = dets & (DEFINITE - {"all"}) or view.has_child(governor, "nmod:poss")
        return not known and governor.upos == "NOUN" and text not in COMPLEMENT_NOUNS
    if word.index < governor.index:
        return True
    degree = {"too", "enough", "so"} & set(view.lower[governor.index + 1 : phrase.first])
    if governor.upos in ("ADJ", "ADV") or text.startswith(COMPLEMENT_VERBS) or degree:
        return False
    if text in ("go", "goes", "going", "gone", "went"):  # "went on to lead the team" is one verb
        return "on" not in view.lower[governor.index + 1 : governor.index + 2]
    objects = view.analysis.children(governor.index, "obj")
    takes_time = text.startswith(("take", "took")) and any(
        view.lower[o.index] in TIME_WORDS for o in objects
    )
    return not takes_time
