"""Simple sentences that are no sentences: without a main verb, or a subordinate clause alone.

A parser is easily wrong about a short sentence ("The score burned in 1874"), so the analysis of
the source is asked too: what was a participle there and was copied is still one here.
"""

from collections.abc import Iterator, Sequence

from parataxis.checks import lexicon
from parataxis.checks.findings import Origins, whole
from parataxis.rewrite.forms import is_verb_form, key
from parataxis.rewrite.record import Finding, FindingKind
from parataxis.syntax.analysis import Analysis, Word
from parataxis.text import english

FINITE_TAGS = frozenset(("VBZ", "VBD", "VBP", "MD"))
_NOMINAL = frozenset(("NOUN", "PROPN", "PRON", "NUM"))
RELATIVES = english.RELATIVES - {"that"}
_SINGULAR_PRONOUNS = english.THIRD_PERSON - {"they"} | {"this"}
_CLAUSES = frozenset(("advcl", "acl", "ccomp", "csubj", "parataxis"))


def clause_findings(
    source: Analysis, simple: Sequence[Analysis | None], origins: Sequence[Origins]
) -> list[Finding]:
    """Sentences without a main verb and subordinate clauses that stand alone.

    A sentence without an analysis is passed over. What the source does itself (a heading, a
    recital) is no fault of the rewrite.
    """
    findings = []
    for index, (analysis, origin) in enumerate(zip(simple, origins, strict=True)):
        if analysis is None:
            continue
        # The source is asked last: most simple sentences have no fault.
        if lacks_verb(analysis, origin) and not lacks_verb(source):
            message = f"The sentence '{analysis.text}' has no main verb."
            findings.append(whole(FindingKind.NO_VERB, index, analysis.text, message))
        elif (bare := bare_verb(analysis, origin)) and not lacks_verb(source):
            message = f"In the sentence '{analysis.text}' the verb '{bare.text}' has lost its \
auxiliary."
            findings.append(whole(FindingKind.NO_VERB, index, analysis.text, message))
        elif is_fragment(analysis) and not is_fragment(source):
            message = f"'{analysis.text}' is only a part of a sentence: its main clause is missing."
            findings.append(whole(FindingKind.FRAGMENT, index, analysis.text, message))
    return findings


def lacks_verb(analysis: Analysis, origins: Origins | None = None) -> bool:
    """Whether the main clause has no finite verb."""
    if not len(analysis):
        return False
    finite = (word for word in analysis if _is_finite(analysis, word, origins))
    first = next(finite, None)
    if first is not None:
        return _may_be_only_noun(analysis) and _is_noun_with_relative(analysis, [first, *finite])
    # A parser that found a subject has seen a clause, whatever it called the verb.
    if _subjects(analysis, analysis.root):
        return _was_participle(analysis, analysis.root, origins)
    return not _may_be_verb(analysis, analysis.root)


def bare_verb(analysis: Analysis, origins: Origins) -> Word | None:
    """The main verb, where it is an infinitive of the source ("may charge and **terminate**")
    that has lost its "may" or "to" on the way to a singular subject: "The Landlord terminate it".
    """
    if not len(analysis):
        return None
    verb = analysis.root
    copied = origins.copied(verb)
    if copied is None or copied.xpos != "VB" or verb.upos != "VERB":
        return None
    if key(verb.text) in lexicon.UNCHANGING_VERBS or analysis.children(
        verb.index, "aux", "cop", "mark"
    ):
        return None
    subjects = _subjects(analysis, verb)
    return verb if len(subjects) == 1 and _is_third_singular(analysis, subjects[0]) else None


def is_fragment(analysis: Analysis) -> bool:
    """Whether the whole sentence is a clause that begins with a subordinator or a relative."""
    opener = _opener(analysis)
    word = key(opener.text) if opener else ""
    if opener is None or (word not in RELATIVES and word not in english.SUBORDINATORS):
        return False
    if analysis.text.rstrip(" \"'”’)").endswith("?"):
        return False
    if any(up.relation in _CLAUSES for up in _upwards(analysis, opener)):
        return False
    if word in RELATIVES:
        return _is_one_clause(analysis)
    if opener.head == analysis.root.index and opener.relation in ("mark", "advmod"):
        return not _has_second_clause(analysis)
    if opener.index == analysis.root.index:  # "When the war ended.", as a free relative
        return bool(analysis.children(opener.index, "advcl", "acl"))
    # "Whilst at the same time he taught": the parser may take the subordinator for a preposition.
    return (
        word in lexicon.NEVER_PREPOSITIONS
        and key(_text_after(analysis, opener)) != "of"
        and not any(w.text == "," for w in analysis)
    )


def _opener(analysis: Analysis) -> Word | None:
    """The first word of a sentence of two or more, or the one behind a conjunction there."""
    spoken = (word for word in analysis if word.upos != "PUNCT")
    first, second = next(spoken, None), next(spoken, None)
    if first is None or second is None:
        return None
    return second if first.upos == "CCONJ" else first


def _is_finite(analysis: Analysis, word: Word, origins: Origins | None) -> bool:
    if key(word.text) in lexicon.FINITE_FORMS or word.xpos == "MD":
        return True
    if _was_participle(analysis, word, origins):
        return False
    if word.xpos in FINITE_TAGS or word.feats.get("VerbForm") == "Fin":
        return True
    if word.xpos == "VB" and word.index == analysis.root.index:  # an imperative has no "to"
        return not analysis.children(word.index, "mark")
    if origins is None:
        return False
    # A form that a rewrite has changed is the finite one: "racing" became "races".
    if origins.inflected(word) and word.xpos != "VBG" and is_verb_form(key(word.text)):
        return True
    copied = origins.copied(word)
    return copied is not None and copied.xpos in FINITE_TAGS


def _was_participle(analysis: Analysis, word: Word, origins: Origins | None) -> bool:
    """Whether a word is a participle that modified a noun of the source, copied with its context.

    With other neighbours it may have become the verb: "children named it", from "named".
    """
    copied = origins.copied(word) if origins else None
    if origins is None or copied is None or copied.deprel != "acl":
        return False
    if copied.xpos not in ("VBN", "VBG"):
        return False
    steps = [step for step in (-1, 1) if 0 <= word.index + step < len(analysis)]
    neighbours = [origins.copied(analysis[word.index + step]) for step in steps]
    places = [neighbour.index for neighbour in neighbours if neighbour is not None]
    return places == [copied.index + step for step in steps]


def _may_be_only_noun(analysis: Analysis) -> bool:
    return analysis.root.upos in _NOMINAL and not _subjects(analysis, analysis.root)


def _is_noun_with_relative(analysis: Analysis, finite: Sequence[Word]) -> bool:
    """Whether the sentence is a noun and its relative clause: "The house which was built"."""
    clauses = {_clause_head(analysis, word).index for word in finite}
    if len(clauses) > 1:  # one of them may be the main clause after all
        return False
    clause = analysis[clauses.pop()]
    inside = analysis.subtree(clause.index)
    ends = inside[-1] >= max(w.index for w in analysis if w.upos != "PUNCT")
    has_relative = any(key(analysis[i].text) in RELATIVES | {"that"} for i in inside)
    hangs_on_noun = clause.relation == "acl" and clause.head == analysis.root.index
    return hangs_on_noun and ends and has_relative


def _clause_head(analysis: Analysis, word: Word) -> Word:
    return analysis[word.head] if word.relation in ("aux", "cop") and word.head >= 0 else word


def _subjects(analysis: Analysis, word: Word) -> list[Word]:
    return analysis.children(word.index, "nsubj", "csubj", "expl")


def _is_third_singular(analysis: Analysis, subject: Word) -> bool:
    if subject.upos == "PRON":
        return key(subject.text) in _SINGULAR_PRONOUNS
    return subject.xpos in ("NN", "NNP") and not analysis.children(subject.index, "conj")


def _is_one_clause(analysis: Analysis) -> bool:
    """Whether there is no second verb: "Which documents are needed shall be decided" has one."""
    finite = [_clause_head(analysis, word) for word in analysis if word.xpos in FINITE_TAGS]
    return len({head.index for head in finite if head.relation not in _CLAUSES | {"conj"}}) <= 1


def _text_after(analysis: Analysis, word: Word) -> str:
    return analysis[word.index + 1].text if word.index + 1 < len(analysis) else ""


def _upwards(analysis: Analysis, word: Word) -> Iterator[Word]:
    """A word and those that govern it, without the root."""
    while word.head >= 0:
        yield word
        word = analysis[word.head]


def _has_second_clause(analysis: Analysis) -> bool:
    """Whether another clause could be the main one, as in "When he came, she left"."""
    return any(word.text == "," for word in analysis) and any(
        word.relation in ("parataxis", "ccomp", "conj", "advcl")
        and _subjects(analysis, word)
        and not analysis.children(word.index, "cc", "mark")
        for word in analysis
    )


def _may_be_verb(analysis: Analysis, root: Word) -> bool:
    """Whether a noun at the root behaves like a verb: "The sloop races daily"."""
    if not analysis.children(root.index, "advmod", "obl", "obj", "ccomp"):
        return False
    return root.upos == "NOUN" and is_verb_form(key(root.text))


# Particles that a rewrite loses: "put off" is something else than "put".


def lost_particles(
    source: Analysis, simple: Sequence[str], origins: Sequence[Origins]
) -> list[Finding]:
    """The particles of verbs that are nowhere in the rewrite though their verb is."""
    particles = [word for word in source if word.deprel == "compound:prt"]
    if not particles:
        return []
    used = {word.index for origin in origins for word in origin.used()}
    written = {key(word) for sentence in simple for word in sentence.split()}
    return [
        Finding(
            kind=FindingKind.LOST,
            words=word.text,
            start=word.start,
            end=word.end,
            message=f"The word '{word.text}' is missing.",
        )
        for word in particles
        if word.index not in used
        and word.head in used
        and not any(other.startswith(key(word.text)) for other in written)
    ]
