"""Incomplete simple sentences: no main verb, only a subordinate clause, or a lost particle.

Parsers often get short sentences wrong ("The score burned in 1874"), so the analysis of the source
is used as well: a participle of the source that was copied is still a participle.
"""

from collections.abc import Iterator, Sequence

from parataxis.checks import lexicon
from parataxis.checks.findings import Origins, finding, finding_at
from parataxis.rewrite.forms import is_verb_form, key, lemmas
from parataxis.rewrite.record import Finding, FindingKind
from parataxis.syntax.analysis import Analysis, Word
from parataxis.text import english

FINITE_TAGS = frozenset(("VBZ", "VBD", "VBP", "MD"))
_NOMINAL = frozenset(("NOUN", "PROPN", "PRON", "NUM"))
WH_RELATIVES = english.RELATIVES - {"that"}
_SINGULAR_PRONOUNS = english.THIRD_PERSON - {"they"} | {"this"}
_BEFORE_BEEN = frozenset(("have", "has", "had", "having", "'ve", "’ve", "'d", "’d", "'s", "’s"))
_CLAUSES = frozenset(("advcl", "acl", "ccomp", "csubj", "parataxis"))


def clause_findings(
    source: Analysis, simple: Sequence[Analysis | None], origins: Sequence[Origins]
) -> list[Finding]:
    """Sentences without a main verb, and subordinate clauses on their own.

    Sentences without an analysis are skipped. A fault that the source has too (a heading, a
    recital) is not reported.
    """
    findings = []
    for index, (analysis, origin) in enumerate(zip(simple, origins, strict=True)):
        if analysis is None:
            continue
        # The source is checked last, because most simple sentences have no fault.
        if _lacks_verb(analysis, origin) and not _lacks_verb(source):
            message = f"The sentence '{analysis.text}' has no main verb."
            findings.append(finding(FindingKind.NO_VERB, analysis.text, message, sentence=index))
        elif (bare := _bare_verb(analysis, origin)) and not _lacks_verb(source):
            message = (
                f"Is a word such as 'may' or 'to' missing before '{bare.text}'? It had one in the"
                " source."
            )
            findings.append(finding(FindingKind.NO_VERB, analysis.text, message, sentence=index))
        elif is_fragment(analysis) and not is_fragment(source):
            message = f"'{analysis.text}' is only a part of a sentence: its main clause is missing."
            findings.append(finding(FindingKind.FRAGMENT, analysis.text, message, sentence=index))
    return findings


def _lacks_verb(analysis: Analysis, origins: Origins | None = None) -> bool:
    """Whether the main clause has no finite verb."""
    if not len(analysis):
        return False
    keys = {key(word.text) for word in analysis}
    if "been" in keys and keys.isdisjoint(_BEFORE_BEEN):
        return True
    finite = (word for word in analysis if _is_finite(analysis, word, origins))
    first = next(finite, None)
    if first is not None:
        return _may_be_only_noun(analysis) and _is_noun_with_relative(analysis, [first, *finite])
    # Where the parser found a subject there is a clause, whatever tag the verb has.
    if _subjects(analysis, analysis.root):
        return _was_participle(analysis, analysis.root, origins)
    return not _may_be_verb(analysis, analysis.root)


def is_incomplete(analysis: Analysis) -> bool:
    """Whether a source is a noun with its attributes and no sentence: each finite verb is in a
    clause that hangs on something else."""
    if not _may_be_only_noun(analysis) or is_verb_form(key(analysis.root.text)):
        return False
    return all(
        any(up.relation in ("acl", "advcl", "ccomp") for up in _upwards(analysis, word))
        and analysis[word.index - 1].text != ","  # the main verb behind an inserted clause
        for word in analysis
        if _is_finite(analysis, word, None)
    )


def _bare_verb(analysis: Analysis, origins: Origins) -> Word | None:
    """The main verb, if it is an infinitive of the source ("may charge and **terminate**") that
    now follows a singular subject without its "may" or "to": "The Landlord terminate it"."""
    if not len(analysis):
        return None
    verb = analysis.root
    copied = origins.copied(verb)
    if copied is None or copied.xpos != "VB" or verb.upos != "VERB":
        return None
    if len(lemmas(key(verb.text))) > 1:  # the parser took "waives" for an infinitive
        return None
    has_auxiliary = analysis.children(verb.index, "aux", "cop", "mark")
    if has_auxiliary or key(verb.text) in lexicon.UNCHANGING_VERBS:
        return None
    subjects = _subjects(analysis, verb)
    return verb if len(subjects) == 1 and _is_third_singular(analysis, subjects[0]) else None


def is_fragment(analysis: Analysis) -> bool:
    """Whether the whole sentence is one clause that begins with a subordinator or a relative."""
    opener = _opener(analysis)
    word = key(opener.text) if opener else ""
    if opener is None or (word not in WH_RELATIVES and word not in english.SUBORDINATORS):
        return False
    if analysis.text.rstrip(" \"'”’)").endswith("?"):
        return False
    if any(up.relation in _CLAUSES for up in _upwards(analysis, opener)):
        return False
    if word in WH_RELATIVES:
        return _is_one_clause(analysis)
    if opener.head == analysis.root.index and opener.relation in ("mark", "advmod"):
        return not _has_second_clause(analysis)
    if opener.index == analysis.root.index:  # "When the war ended.", as a free relative
        return bool(analysis.children(opener.index, "advcl", "acl"))
    # "Whilst at the same time he taught": the parser may tag the subordinator as a preposition.
    return (
        word in lexicon.NEVER_PREPOSITIONS
        and [key(after.text) for after in analysis.words[opener.index + 1 :][:1]] != ["of"]
        and not any(w.text == "," for w in analysis)
    )


def _opener(analysis: Analysis) -> Word | None:
    """The first word of a sentence of two or more, or the word after an initial conjunction."""
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
    # A form that the rewrite has changed is finite: "racing" became "races".
    if origins.inflected(word) and word.xpos != "VBG" and is_verb_form(key(word.text)):
        return True
    copied = origins.copied(word)
    return copied is not None and copied.xpos in FINITE_TAGS


def _was_participle(analysis: Analysis, word: Word, origins: Origins | None) -> bool:
    """Whether a word is a participle that modified a noun of the source and has kept its
    neighbours. With other neighbours it may be the verb now: "children named it"."""
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
    root = analysis.root
    return root.upos in _NOMINAL and not (
        _subjects(analysis, root) or analysis.children(root.index, "cop")
    )


def _is_noun_with_relative(analysis: Analysis, finite: Sequence[Word]) -> bool:
    """Whether the sentence is a noun and its relative clause: "The house which was built"."""
    clauses = {_clause_head(analysis, word).index for word in finite}
    if len(clauses) > 1:  # one of them may be the main clause after all
        return False
    clause = analysis[clauses.pop()]
    inside = analysis.subtree(clause.index)
    ends = inside[-1] >= max(w.index for w in analysis if w.upos != "PUNCT")
    has_relative = any(key(analysis[i].text) in english.RELATIVES for i in inside)
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
    """Whether there is no second finite verb: "Which documents are needed shall be decided" has
    one."""
    finite = [_clause_head(analysis, word) for word in analysis if word.xpos in FINITE_TAGS]
    return len({head.index for head in finite if head.relation not in _CLAUSES | {"conj"}}) <= 1


def _upwards(analysis: Analysis, word: Word) -> Iterator[Word]:
    """A word and its governors, without the root."""
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


def lost_particles(
    source: Analysis, simple: Sequence[str], origins: Sequence[Origins]
) -> list[Finding]:
    """Particles of verbs that the rewrite has lost though it has the verb: "put" for "put off"."""
    particles = [word for word in source if word.deprel == "compound:prt"]
    if not particles:
        return []
    used = {word.index for origin in origins for word in origin.used()}
    written = {key(word) for sentence in simple for word in sentence.split()}
    return [
        finding_at(FindingKind.LOST, word, f"The word '{word.text}' is missing.")
        for word in particles
        if word.index not in used
        and word.head in used
        and not any(other.startswith(key(word.text)) for other in written)
    ]
