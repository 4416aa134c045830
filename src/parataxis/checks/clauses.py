"""Clauses and their verbs: incomplete simple sentences, and modal verbs, negations and tenses.

Parsers often get short sentences wrong ("The score burned in 1874"), so the analysis of the source
is used as well: a participle of the source that was copied is still a participle.

"Shall" for "may" is a fault whatever else the source has, and so is a "not" that belongs to another
verb. A verb of a simple sentence is compared with every verb of the source that it can be a form
of; only what differs from all of them is reported.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from parataxis.checks import lexicon
from parataxis.checks.findings import Origins, Pair, finding, finding_at
from parataxis.checks.links import is_example
from parataxis.rewrite.forms import is_verb_form, key, lemmas
from parataxis.rewrite.record import Finding, FindingKind
from parataxis.syntax.analysis import Analysis, Word
from parataxis.text import english
from parataxis.text.english import words
from parataxis.text.tokens import has_word

FINITE_TAGS = frozenset(("VBZ", "VBD", "VBP", "MD"))
_NOMINAL = frozenset(("NOUN", "PROPN", "PRON", "NUM"))
WH_RELATIVES = english.RELATIVES - {"that"}
_SINGULAR_PRONOUNS = english.THIRD_PERSON - {"they"} | {"this"}
_BEFORE_BEEN = frozenset(("have", "has", "had", "having", "'ve", "’ve", "'d", "’d", "'s", "’s"))
_CLAUSES = frozenset(("advcl", "acl", "ccomp", "csubj", "parataxis"))
_BEFORE_INFINITIVES = lexicon.MODALS | words("to do does did let")


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
        elif bare := _bare_participle(source, analysis, origin):
            message = (
                f"Is a word such as 'was' missing before '{bare.text}'? It had one in the source."
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
        any(up.relation in ("acl", "advcl", "ccomp") for up in analysis.upwards(word))
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


def _bare_participle(source: Analysis, analysis: Analysis, origins: Origins) -> Word | None:
    """The main verb, if it is a participle that shares its "was" in the source ("was held and
    **sent** to court") or has the one who does it behind it ("**followed** by a reply"), and now
    follows a subject without any "was": "He sent to court"."""
    if not len(analysis):
        return None
    verb = analysis.root
    copied = origins.copied(verb)
    if copied is None or copied.xpos != "VBN" or not _subjects(analysis, verb):
        return None
    if analysis.children(verb.index, "aux", "aux:pass", "cop", "obj", "ccomp", "xcomp"):
        return None
    shares = (
        copied.deprel == "conj"
        and source.children(copied.head, "aux:pass")
        and key(source[copied.head].text) != "born"  # "was born in Leeds and moved to York"
        and not source.children(copied.index, "nsubj", "nsubj:pass", "aux", "aux:pass", "obj")
    )
    shares = shares and not lexicon.OF_THEMSELVES & lemmas(key(verb.text))
    shares = shares and not has_no_passive(source, copied)
    after = analysis.words[verb.index + 1 : verb.index + 2]
    is_done_by = copied.deprel in ("acl", "advcl") and after and key(after[0].text) == "by"
    return verb if shares or is_done_by else None


def has_no_passive(analysis: Analysis, verb: Word) -> bool:
    """Whether a past form or participle is always active: "died", "entered into force"."""
    after = [key(word.text) for word in analysis.words[verb.index + 1 : verb.index + 3]]
    is_in_force = key(verb.text) == "entered" and after == ["into", "force"]
    return is_in_force or key(verb.text) in lexicon.NEVER_PASSIVE


def is_fragment(analysis: Analysis) -> bool:
    """Whether the whole sentence is one clause that begins with a subordinator or a relative."""
    opener = _opener(analysis)
    word = key(opener.text) if opener else ""
    if opener is None or (word not in WH_RELATIVES and word not in english.SUBORDINATORS):
        return False
    if analysis.text.rstrip(" \"'”’)").endswith("?"):
        return False
    if any(up.relation in _CLAUSES for up in analysis.upwards(opener)):
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


_INVERTED = words("so nor neither as then there here")
_SUBJECT_TAGS = frozenset(("EX", "WDT", "WP", "WRB", "VB", "VBP"))
_NEVER_SENTENCES = frozenset(("appos", "parataxis", "obj", "nmod"))


def divided_clauses(source: Analysis, origins: Sequence[Origins]) -> list[Finding]:
    """Sentences that the source shows to be none: verbs that have left their subject in another
    sentence, and nouns with a relative clause."""
    findings = []
    for index, origin in enumerate(origins):
        pairs = origin.spoken()
        verb = _verb_without_subject(pairs)
        if verb is not None:
            message = f"What is the subject of '{verb.text}'? In the source it has one."
        elif (noun := _only_noun(source, pairs)) is not None:
            message = f"Is this a sentence? In the source '{noun.text}' has no verb of its own."
        else:
            continue
        findings.append(finding_at(FindingKind.NO_VERB, pairs[0][0], message, index))
    return findings


def _verb_without_subject(pairs: Sequence[Pair]) -> Word | None:
    """A finite verb of the source that shares its subject there, and now has no word before it
    that could be one: "Crying, "Quick!" caught hold of her hand"."""
    if pairs and key(pairs[0][0].text) in _INVERTED:
        return None
    for token, word in pairs:
        if word is None or word.upos in _NOMINAL | {"DET", "AUX"} or word.xpos in _SUBJECT_TAGS:
            return None
        if word.xpos in ("VBD", "VBZ") and key(word.text) == key(token.text):
            return word if word.relation in ("conj", "ccomp") else None
    return None


def _only_noun(source: Analysis, pairs: Sequence[Pair]) -> Word | None:
    """The noun of the source whose words, with a clause in it, are all that a sentence has: "The
    double movement where progress may be negative"."""
    found = [word for _, word in pairs if word is not None]
    if not found or len(found) < len(pairs):
        return None
    own = source.words[found[0].index : found[-1].index + 1]
    if [word for word in own if has_word(word.text)] != found:
        return None
    heads = [word for word in found if not own[0].index <= word.head <= own[-1].index]
    tops = [word for word in heads if word.relation not in ("cc", "mark", "case")]
    if len(tops) != 1 or tops[0].upos not in _NOMINAL or tops[0].relation not in _NEVER_SENTENCES:
        return None
    has_clause = any(word.xpos in FINITE_TAGS for word in found)
    has_own = source.children(tops[0].index, "nsubj", "csubj", "expl", "cop", "aux")
    return tops[0] if has_clause and not has_own else None


_AIMS = frozenset(("acl", "advcl", "ccomp", "csubj"))


def asserted_infinitives(source: Analysis, origins: Sequence[Origins]) -> list[Finding]:
    """Infinitives that share a "to" in the source, and are stated as facts: "a framework to capture
    details and **communicate** goals"."""
    findings = []
    for index, origin in enumerate(origins):
        pairs = origin.spoken()
        for place, (token, word) in enumerate(pairs):
            if word is None or not _shares_to(source, word):
                continue
            before = pairs[:place]
            has_infinitive = any(other is not None and other.xpos == "VB" for _, other in before)
            may_govern = any(key(each.text) in _BEFORE_INFINITIVES for each, _ in before)
            if before and not has_infinitive and not may_govern:
                message = f"Is this a fact ('{token.text}')? In the source it depends on 'to'."
                findings.append(finding_at(FindingKind.NEW, token, message, index))
    return findings


def _shares_to(source: Analysis, verb: Word) -> bool:
    """Whether a verb is joined to an infinitive and shares its "to"."""
    if verb.xpos != "VB" or verb.upos != "VERB" or verb.relation != "conj":
        return False
    if source.children(verb.index, "mark", "aux", "nsubj") or len(lemmas(key(verb.text))) > 1:
        return False
    first = source[verb.head]
    marks = source.children(first.index, "mark")
    return first.relation in _AIMS and any(key(mark.text) == "to" for mark in marks)


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


_TENSES = {"VBD": "past", "VBZ": "present", "VBP": "present"}
_AUXILIARIES = lexicon.MODALS | words(
    "be am is are was were been being 're 'm 's 've 'd do does did done doing"
)
_PREDICATES = frozenset(("acl", "advcl", "ccomp", "csubj", "conj", "parataxis"))
_DUTIES = words("shall should")
_OPEN = words("would 'd")
_OTHER_GROUNDS = lexicon.MODAL_GROUNDS - lexicon.MODALS


@dataclass(frozen=True)
class _Verb:
    """A predicate in its sentence, with the auxiliaries that it has or shares."""

    tree: Analysis
    word: Word

    @property
    def follower(self) -> str:
        after = self.tree.words[self.word.index + 1 : self.word.index + 2]
        return key(after[0].text) if after else ""

    @cached_property
    def auxiliaries(self) -> list[Word]:
        return self.tree.children(self.word.index, "aux", "cop")

    @cached_property
    def sharing(self) -> "_Verb | None":
        """The verb whose auxiliaries this one shares: "may charge and **terminate**"."""
        word, tree = self.word, self.tree
        is_apart = self.finite is not None or tree.children(word.index, "nsubj", "mark")
        return None if word.relation != "conj" or is_apart else _Verb(tree, tree[word.head])

    @cached_property
    def trails(self) -> "_Verb | None":
        """The verb that a participle after it belongs to: "could burst, **flooding** it"."""
        word, tree = self.word, self.tree
        if word.relation != "advcl" or word.xpos != "VBG" or word.head > word.index:
            return None
        if self.auxiliaries or tree.children(word.index, "nsubj", "mark", "case"):
            return None
        return _Verb(tree, tree[word.head]) if tree[word.index - 1].text == "," else None

    @cached_property
    def is_clause(self) -> bool:
        """Whether this is a verb or a predicate with a finite form, its own or a shared one."""
        if key(self.word.text) in _AUXILIARIES or self.word.relation in ("aux", "cop"):
            return False
        return self.finite is not None or (self.sharing is not None and self.sharing.is_clause)

    @cached_property
    def finite(self) -> Word | None:
        """The verb or its auxiliary that has a tense or is a modal."""
        for word in (*self.auxiliaries, self.word):
            if word.xpos == "MD" or word.xpos in _TENSES or key(word.text) in lexicon.FINITE_FORMS:
                return word
        return None

    @cached_property
    def modal(self) -> Word | None:
        if self.finite is None:
            giver = self.sharing or self.trails
            return giver.modal if giver else None
        return self.finite if key(self.finite.text) in lexicon.MODALS else None

    @cached_property
    def tense(self) -> str | None:
        if self.finite is None:
            return self.sharing.tense if self.sharing else None
        return None if key(self.finite.text) in ("'s", "'d") else _TENSES.get(self.finite.xpos)

    @cached_property
    def negation(self) -> Word | None:
        """The "not" of the verb itself."""
        adverbs = self.tree.children(self.word.index, "advmod", "neg")
        found = next((w for w in adverbs if key(w.text) in english.NEGATIVE_ADVERBS), None)
        after = self.tree.words[found.index + 1 : found.index + 2] if found else ()
        return None if any(key(word.text) in ("only", "just") for word in after) else found

    @cached_property
    def clause_words(self) -> set[str]:
        """The words of the verb's clause and of the clauses that it is part of."""
        word, tree = self.word, self.tree
        found: set[str] = set()
        while True:
            stack = [word]
            while stack:
                top = stack.pop()
                found.add(key(top.text))
                stack += [w for w in tree.children(top.index) if w.relation not in _PREDICATES]
            is_apart = word.relation in ("conj", "parataxis") and _Verb(tree, word).finite
            if word.head < 0 or word.deprel == "acl:relcl" or is_apart:
                return found
            word = tree[word.head]

    def has_same_shape(self, other: "_Verb") -> bool:
        """Whether both verbs are finite themselves, or both have the same finite auxiliary."""
        mine, theirs = self.finite, other.finite
        if mine is None or theirs is None or (mine is self.word) != (theirs is other.word):
            return False
        return mine is self.word or _has_form(mine, [theirs])


def predicate_findings(
    source: Analysis, simple: Sequence[Analysis | None], origins: Sequence[Origins]
) -> list[Finding]:
    """Modal verbs, negations and tenses that a verb has lost, gained or exchanged."""
    findings = {}
    uses = Counter(word.index for origin in origins for word in origin.used())
    for index, (tree, origin) in enumerate(zip(simple, origins, strict=True)):
        for word in tree or ():
            verb, came_from = _Verb(tree or source, word), origin.any(word)
            if came_from is None or not verb.is_clause:
                continue
            # A verb that is said again may be said otherwise: "but not one who".
            is_repeated = uses[came_from.index] > 1
            for found in _faults(verb, _forms(source, word), index, is_repeated=is_repeated):
                findings[found.sentence, found.start] = found
        for found in _unknown_modals(source, tree, index):
            findings.setdefault((index, found.start), found)
    return list(findings.values())


def _forms(source: Analysis, word: Word) -> list[_Verb]:
    """The words of the source that a word can be a form of."""
    text = key(word.text)
    known = lemmas(text)
    return [
        _Verb(source, other)
        for other in source
        if key(other.text) == text or not known.isdisjoint(lemmas(key(other.text)))
    ]


def _faults(
    verb: _Verb, forms: Sequence[_Verb], index: int, *, is_repeated: bool
) -> Iterator[Finding]:
    """What is wrong with a verb of a simple sentence, given the same verb in the source."""
    if not forms:  # an inflection that the dictionary does not know
        return
    text, modal, finite, written = verb.word.text, verb.modal, verb.finite, _keys(verb.tree)
    # Of several forms in the source, those before the same word are meant.
    before = [each for each in forms if each.follower == verb.follower] or forms
    modals = [each.modal for each in before if each.modal]
    if modal and modals and len(modals) == len(before):
        is_shared = any(each.finite is None for each in before)
        known = _modals(forms[0].tree) if is_shared else modals
        if not is_repeated and not _has_form(modal, known):
            yield _new(modal, index, modals[0], f" before '{text}'")
    elif not modal and verb.tense and all(each.modal for each in forms):
        allowed = _OTHER_GROUNDS.union(*(lemmas(key(each.text)) for each in modals))
        if not allowed & written:
            message = f"The modal verb '{modals[0].text}' is missing before '{text}'."
            yield finding_at(FindingKind.LOST, modals[0], message)
    elif finite and not modal and all(map(verb.has_same_shape, before)):
        old = before[0].finite
        same = old and (key(old.text) in written or verb.tense in {each.tense for each in before})
        if old and not same:
            yield _new(finite, index, old)
    negations = [each.negation for each in forms if each.negation]
    denying = lexicon.NEGATIVE_GROUNDS
    if verb.negation:
        if not is_repeated and not any(denying & each.clause_words for each in before):
            message = f"Is '{text}' denied? The source does not deny it."
            yield finding_at(FindingKind.NEW, verb.negation, message, index)
    elif negations and len(negations) == len(forms) and not denying & written:
        message = f"The negation '{negations[0].text}' of '{text}' is missing."
        yield finding_at(FindingKind.LOST, negations[0], message)


def _unknown_modals(source: Analysis, tree: Analysis | None, index: int) -> Iterator[Finding]:
    """Modal verbs that the source does not have, though it has others and no word for them."""
    known = _modals(source)
    if not known or tree is None or _OTHER_GROUNDS & _keys(source) or is_example(tree.text):
        return
    for modal in _modals(tree):
        if key(modal.text) not in _OPEN and not _has_form(modal, known):
            yield _new(modal, index, known[0])


def _new(word: Word, index: int, old: Word, where: str = "") -> Finding:
    message = f"Is it '{word.text}' or '{old.text}'{where}? The source has '{old.text}'."
    return finding_at(FindingKind.NEW, word, message, index)


def _keys(tree: Analysis) -> set[str]:
    return {key(word.text) for word in tree}


def _modals(tree: Analysis) -> list[Word]:
    return [word for word in tree if word.xpos == "MD"]


def _has_form(word: Word, others: Iterable[Word]) -> bool:
    text = key(word.text)
    if text in _DUTIES:  # "shall" is an order, "should" is advice
        return any(key(other.text) == text for other in others)
    known = lemmas(text)
    return any(not known.isdisjoint(lemmas(key(other.text))) for other in others)
