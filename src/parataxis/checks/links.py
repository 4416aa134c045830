"""Lost and new negations, modal verbs, conditions, and links of cause, contrast and order.

A condition must be seen in every sentence that it governed, what somebody says is never told as a
fact, and "or" never becomes "and".

A word such as "not" occurs in many sentences, so its presence somewhere in the rewrite proves
little. A rewrite with fewer negations than its source has lost one.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise

from parataxis.checks import lexicon
from parataxis.checks.findings import Origins, finding, finding_at, lost, new
from parataxis.checks.units import FactUnit, Side, Sort
from parataxis.checks.words import has_opposite
from parataxis.rewrite.forms import key, lemmas
from parataxis.rewrite.record import Finding, FindingKind, OutputToken
from parataxis.syntax.analysis import Analysis, Word
from parataxis.text import english
from parataxis.text.english import words
from parataxis.text.tokens import has_word, tokenize

_SCOPE = 6
_PURE_CONDITIONS = frozenset(("if", "unless"))
"""Conditions that are not exceptions too: "however" cannot replace them."""
_LINKS = frozenset(lexicon.CONNECTIVES)
_COUNTED = (Sort.NEGATION, Sort.MODAL, Sort.CONDITION)


def lost_links(source: Side, simple: Side) -> list[Finding]:
    """Negations, modals and conditions that the rewrite has fewer of, and links that are gone."""
    missing = {unit.start: unit for sort in _COUNTED for unit in _missing(sort, source, simple)}
    for unit in [
        *_flipped(source, simple),
        *_unconnected(source, simple),
        *_exchanged(source, simple),
        *_lost_so(source, simple),
    ]:
        missing.setdefault(unit.start, unit)
    return [lost(source.text, [missing[start]]) for start in sorted(missing)]


def new_links(source: Side, simple: Side) -> list[Finding]:
    """Negations and modals in a rewrite whose source has nothing that could become one."""
    barred = set()
    if simple.of(Sort.NEGATION) and not _may_be_denied(source, simple):
        barred.add(Sort.NEGATION)
    if simple.of(Sort.MODAL) and source.keys.isdisjoint(lexicon.MODAL_GROUNDS):
        barred.add(Sort.MODAL)
    if not barred:
        return []
    return [
        new(index, sentence, [unit])
        for index, (sentence, units) in enumerate(zip(simple.texts, simple.sentences, strict=True))
        for unit in units
        if unit.sort in barred and not (unit.sort is Sort.MODAL and is_example(sentence))
    ]


_EXAMPLE = re.compile(r"\b(?:for example|for instance|e\.g\.)", re.IGNORECASE)


def is_example(sentence: str) -> bool:
    """Whether a sentence gives an example, which may say "can" where the source has no verb."""
    return _EXAMPLE.search(sentence) is not None


_CAUSE_OPENER = re.compile(
    r"(?:Therefore|Thus|Hence|Consequently|Accordingly|As a result|For (?:this|that) reason"
    r"|Because of (?:this|that)|This is why|So)\b(?! that\b)"
)
_CONTRAST_OPENER = re.compile(
    r"(?:However|Nevertheless|Nonetheless|Despite (?:this|that)|Even so|Yet|But|By contrast"
    r"|In contrast|Instead|On the other hand)\b"
)
_SAME_OPENER = re.compile(r"(?:Likewise|Similarly|In the same way)\b")
_BEFORE_OPENER = re.compile(r"Before (?:this|that|then)\b")
_UNTIL_OPENER = re.compile(r"Until (?:this|that|then)\b")
_EARLIER = words(
    "before after until till prior earlier ago had previously following preceding once first never"
    " already having formerly hitherto"
)
_OPPOSED = words(
    "but although though yet however despite whereas nevertheless nonetheless unlike while"
    " notwithstanding instead contrast"
)
_CAUSAL = words(
    "because therefore thus hence consequently accordingly since so due owing reason reasons result"
    " results cause caused causes"
)
_OPENERS = (
    (_CAUSE_OPENER, _CAUSAL, _OPPOSED, "Is this a consequence or a contrast"),
    (
        _CONTRAST_OPENER,
        _OPPOSED | lexicon.NEGATIVE_GROUNDS,
        _CAUSAL,
        "Is this a contrast or a consequence",
    ),
    (_SAME_OPENER, words("likewise similarly same like"), _OPPOSED, "Is this alike or different"),
    (_BEFORE_OPENER, _EARLIER, words("when while where"), "Was this before or at the same time"),
    (_UNTIL_OPENER, _EARLIER, words("since when while from"), "Was this until then or since then"),
)
"""Patterns of openers, the words that allow them, and those that exclude them."""


def opposite_links(source: Side, simple: Side) -> list[Finding]:
    """Openers that say "therefore" where the source says "but", or the other way round."""
    findings = []
    for index, text in enumerate(simple.texts):
        for pattern, allowing, excluding, question in _OPENERS:
            opener = pattern.match(text)
            if opener is None or allowing & source.keys or not excluding & source.keys:
                continue
            if any(excluding & {unit.key for unit in units} for units in simple.sentences):
                continue
            there = next(unit.text for unit in source.units if unit.key in excluding)
            message = f"{question}? The source has '{there}', not '{opener[0]}'."
            findings.append(finding(FindingKind.NEW, opener[0], message, sentence=index))
    return findings


_EXCEPTION = re.compile(
    r"\b(?:except|unless|with (?:one|an|some|few|the) exceptions?|other than"
    r"|(?:apart|aside) from)\b",
    re.I,
)
_CONTRAST = re.compile(
    r"\b(?:despite|in spite of|even though|although|nevertheless|nonetheless|even so)\b", re.I
)
_ALWAYS = re.compile(
    r"\b(?:in (?:any|all|every) (?:events?|cases?|circumstances?)|at (?:any time|all times)"
    r"|whether or not|regardless of whether)\b",
    re.I,
)
_EARLIER_OPENER = re.compile(r"(?:Before (?:this|that|then)\b|Earlier,|Previously,|Beforehand,)")
_ADDED = (
    (
        _EXCEPTION,
        words(
            "except excepting excepted exception exceptions unless save but excluding until if"
            " barring excluded exclude excludes exclusion"
        ),
        "Is there an exception ('{}')? The source has none.",
    ),
    (
        _CONTRAST,
        _OPPOSED | words("even still albeit regardless spite without"),
        "Is this a contrast ('{}')? The source has no word for one.",
    ),
    (
        _ALWAYS,
        words("always whether regardless irrespective ever whenever never"),
        "Does this hold without a condition ('{}')? The source does not say so.",
    ),
    (
        re.compile(r"\bif\b", re.I),
        lexicon.MODALS
        | words(
            "if unless whether when where provided case event whenever had were until subject"
            " except any who whoever ever than depending condition conditions"
        ),
        "Is this a condition ('{}')? The source has none.",
    ),
    (
        _EARLIER_OPENER,
        _EARLIER | words("when since"),
        "Was this earlier ('{}')? The source does not say so.",
    ),
    (
        re.compile(r"\bin fact\b", re.I),
        words("fact indeed actually really"),
        "Is this certain ('{}')? The source does not say so.",
    ),
)
"""Patterns of words that a rewrite may not add, the words of the source that allow them, and the
question to the writer."""


def added_links(source: Side, simple: Side) -> list[Finding]:
    """Exceptions and contrasts that the source does not have, and what now holds in any case."""
    findings = []
    for index, text in enumerate(simple.texts):
        for pattern, allowing, question in _ADDED:
            added = pattern.search(text)
            if added is None or allowing & source.keys or pattern.search(source.text):
                continue
            message = question.format(added[0])
            found = finding(FindingKind.NEW, added[0], message, start=added.start(), sentence=index)
            findings.append(found)
    return findings


_BECAUSE_OPENER = re.compile(r"(?:(?:This|That|It) (?:is|was) because|The reason (?:is|was))\b")
_MEANWHILE_OPENER = re.compile(
    r"(?:(?:It (?:is|was) )?[Aa]t (?:that|this|the|the same) time(?: that)?"
    r"|During (?:that|this) time|Meanwhile"
    r"|It (?:is|was) then(?: that\b| (?=(?:an?|the|this|that|his|her|its|their)\b|\d)))"
)
_UNTIL = words("until till")
_TURNED = (
    (_CAUSE_OPENER, words("because since as"), "Is this the consequence or the cause"),
    (
        _BECAUSE_OPENER,
        words("so therefore thus hence consequently"),
        "Is this the cause or the consequence",
    ),
    (_MEANWHILE_OPENER, _UNTIL, "Was this at that time, or did it end what was before"),
)
"""Patterns of openers, and the words of the source that mark the opposite."""


def turned_links(source: Side, simple: Side) -> list[Finding]:
    """Causes that are told as consequences, consequences that are told as causes, and the end of
    something ("until the war began") that is told as its time: the two words after the opener
    follow the opposite link in the source. "Then the war began" is right."""
    findings = []
    for index, text in enumerate(simple.texts):
        for pattern, opposites, question in _TURNED:
            opener = pattern.match(text)
            if opener is None or (opposites is _UNTIL and _UNTIL & simple.keys):
                continue
            begins = _words(text[opener.end() :])[:2]
            there = _words(source.text)
            for link, *following in zip(there, there[1:], there[2:], strict=False):
                if link in opposites and following == begins:
                    message = f"{question}? In the source it follows '{link}'."
                    found = finding(FindingKind.RELATION, opener[0], message, sentence=index)
                    findings.append(found)
                    break
    return findings


def _words(text: str) -> list[str]:
    return [key(token.text) for token in tokenize(text) if has_word(token.text)]


def _may_be_denied(source: Side, simple: Side) -> bool:
    """Whether a negation may come from the source, be it a prefix: "unaware" became "not aware"."""
    if not source.keys.isdisjoint(lexicon.NEGATIVE_GROUNDS):
        return True
    added = simple.keys - source.keys
    return any(has_opposite(word, added) for word in source.keys)


def _missing(sort: Sort, source: Side, simple: Side) -> list[FactUnit]:
    """The units of a sort that the rewrite lacks: those without a partner first, then the last."""
    needed = source.of(sort)
    surplus = len(needed) - len(simple.of(sort))
    if sort is Sort.CONDITION and surplus > 0:
        surplus -= _added_substitutes(source, simple)
    if surplus <= 0:
        return []
    partners = {form for forms in _following(sort, simple.units).values() for form in forms}
    following = _following(sort, source.units)
    order = sorted(needed, key=lambda unit: (bool(partners & following[unit.start]), -unit.start))
    return order[:surplus]


def _added_substitutes(source: Side, simple: Side) -> int:
    """How many words of the rewrite may stand for conditions of the source."""
    allowed = lexicon.CONDITION_SUBSTITUTES
    if {unit.key for unit in source.of(Sort.CONDITION)} <= _PURE_CONDITIONS:
        allowed -= lexicon.CONTRASTS

    def count(side: Side) -> int:
        return sum(u.sort is not Sort.CONDITION and u.key in allowed for u in side.units)

    return max(0, count(simple) - count(source))


def _following(sort: Sort, units: Sequence[FactUnit]) -> dict[int, frozenset[str]]:
    """For each unit of a sort, by its place, the lemmas of the first fact after it."""
    found: dict[int, frozenset[str]] = {}
    following: frozenset[str] = frozenset()
    for unit in reversed(units):
        if unit.sort is sort:
            found[unit.start] = following
        elif unit.is_fact:
            following = lemmas(unit.key)
    return found


def _exchanged(source: Side, simple: Side) -> list[FactUnit]:
    """Modals that the rewrite replaces by other modals of the source: "must" became "may", which
    the source has too. A modal that the source does not have was chosen on purpose."""
    if not source.of(Sort.MODAL):
        return []
    kept = {lemma for unit in simple.of(Sort.MODAL) for lemma in lemmas(unit.key)}
    gone = [unit for unit in source.of(Sort.MODAL) if kept.isdisjoint(lemmas(unit.key))]
    if not gone:
        return []
    return [] if any(unit.key not in source.keys for unit in simple.of(Sort.MODAL)) else gone


def _flipped(source: Side, simple: Side) -> list[FactUnit]:
    """Each "not" whose next word, the only one of its kind in the source, is asserted."""
    if not source.of(Sort.NEGATION):
        return []
    found = []
    for unit, following in pairwise(source.units):
        if unit.sort is not Sort.NEGATION or unit.key not in english.NEGATIVE_ADVERBS:
            continue
        if following.sort is not Sort.WORD or len(_places(following, source.units)) > 1:
            continue
        for place in _places(following, simple.units):
            before = simple.units[max(0, place - _SCOPE) : place]
            if not any(other.sort is Sort.NEGATION for other in before):
                found.append(unit)
                break
    return found


def _unconnected(source: Side, simple: Side) -> list[FactUnit]:
    """Links of the source that no word of the rewrite expresses."""
    gone = (_LINKS & source.keys) - simple.keys
    if not gone:
        return []
    before, after = source.counts(), simple.counts()
    found = []
    for unit in source.units:
        if unit.key not in gone or unit.sort is not Sort.FUNCTION:
            continue
        # "But" often occurs with another contrast ("but rather"), which is enough.
        known = Counter[str]() if unit.key == "but" else before
        if not any(after[word] > known[word] for word in lexicon.CONNECTIVES[unit.key]):
            found.append(unit)
    return found


_SO = re.compile(r", (?:and )?(so) (?!that\b|as\b|far\b|long\b|much\b|many\b|called\b|to\b)")


def _lost_so(source: Side, simple: Side) -> list[FactUnit]:
    """Each ", so" without a word for a consequence in the rewrite."""
    match = _SO.search(source.text)
    if match is None or (_CAUSAL | lexicon.CONNECTIVES["because"]) & simple.keys:
        return []
    return [unit for unit in source.units if unit.start == match.start(1)]


def _places(word: FactUnit, units: Sequence[FactUnit]) -> list[int]:
    forms = lemmas(word.key)
    return [i for i, unit in enumerate(units) if not forms.isdisjoint(lemmas(unit.key))]


_SAYING = lexicon.SAYING | words("hope instruct")
_ALLEGING = words("claim allege assert contend suspect instruct")
"""Verbs that leave open whether their content is true, with all that it contains."""
_SAYING_NOUNS = words(
    "rumour rumor claim allegation belief fear suspicion hope accusation assertion"
)
_REPORTING = (
    _SAYING
    | _SAYING_NOUNS
    | words(
        "according reportedly allegedly apparently supposedly add tell ask reply explain note view"
        " opinion statement belief allegation word"
    )
)
"""Words, by lemma, that show that a sentence reports."""
_CONDITIONS = words("if unless whenever provided except should subject")
_CONDITIONAL = _CONDITIONS | words(
    "event case then otherwise where when should until extent except so only once upon condition"
    " thereafter thereupon accordingly had were exception excepted subject whether"
)
"""Words that show that a sentence depends on a condition."""
_SUPPOSING = _CONDITIONAL | lexicon.MODALS | lexicon.NEGATIVE_GROUNDS
_IN_THAT_CASE = words("in that")
_RESTATED = words("apply applies exception exceptions obligation obligations right rights")
_ALTERNATIVES = words("or either alternatively instead otherwise whether nor neither not n't no if")


def scope_findings(source: Analysis, origins: Sequence[Origins]) -> list[Finding]:
    """Facts that were reported or conditional, and alternatives that became additions."""
    sentences = [_Sentence(index, origin) for index, origin in enumerate(origins)]
    return [
        *_additions(source, sentences),
        *_assertions(source, sentences),
        *_unconditional(source, sentences),
        *_moved(source, sentences),
        *_unconnected_clauses(source, sentences),
    ]


class _Sentence:
    """The words of a simple sentence with the source words that they come from."""

    def __init__(self, index: int, origins: Origins) -> None:
        self.index = index
        self.pairs = origins.spoken()
        self.keys = {key(token.text) for token, _ in self.pairs}
        self.places = {word.index: token for token, word in self.pairs if word is not None}

    @property
    def is_tied(self) -> bool:
        """Whether a word ties the sentence to another one."""
        opening = {key(token.text) for token, _ in self.pairs[:_FIRST]}
        return bool(self.keys & _TIES or opening & _OPENING_TIES)

    def new(self, token: OutputToken, message: str) -> Finding:
        return finding_at(FindingKind.NEW, token, message, self.index)

    def lemmas(self) -> set[str]:
        return {lemma for word in self.keys for lemma in lemmas(word)}


def _additions(source: Analysis, sentences: Sequence[_Sentence]) -> Iterator[Finding]:
    """Each "and" or "also" that joins what the source joins with "or"."""
    used = {place for sentence in sentences for place in sentence.places}
    for word in source:
        if key(word.text) != "or" or word.index in used:
            continue
        sides = _beside(source, word.index, -1), _beside(source, word.index, 1)
        other = source[word.head]
        for sentence in sentences:
            pairs = sentence.pairs
            for (left, a), (link, _), (_, b) in zip(pairs, pairs[1:], pairs[2:], strict=False):
                if key(link.text) == "and" and a and b and (a.index, b.index) == sides:
                    yield sentence.new(
                        link, f"Is it 'and' or 'or' after '{left.text}'? The source has 'or'."
                    )
            also = next((t for t, w in pairs if w is None and key(t.text) == "also"), None)
            is_alone = other.index in sentence.places and other.head not in sentence.places
            is_kept = other.relation != "conj" or _ALTERNATIVES & sentence.keys
            if also and is_alone and not is_kept:
                message = "Do both hold, or one of them? The source has 'or' before "
                message += f"'{other.text}', not '{also.text}'."
                yield sentence.new(also, message)


def _beside(source: Analysis, place: int, step: int) -> int:
    """The place of the next word to one side."""
    place += step
    while 0 < place < len(source) - 1 and source[place].upos == "PUNCT":
        place += step
    return place


def _assertions(source: Analysis, sentences: Sequence[_Sentence]) -> Iterator[Finding]:
    """Clauses that the source only reports and a simple sentence states."""
    for clause in source:
        saying = _reporting(source, clause)
        if saying is None:
            continue
        others = source.children(clause.index, "conj")
        is_last = saying.index > clause.index
        reported = [
            clause,
            *(w for w in others if is_last or source.children(w.index, "nsubj", "mark")),
            *(
                verb  # "it fell, **killing** two men"
                for verb in source.children(clause.index, "advcl")
                if verb.xpos == "VBG" and not source.children(verb.index, "aux", "mark")
            ),
        ]
        if _ALLEGING & lemmas(key(saying.text)):
            for subject in source.children(clause.index, "nsubj"):
                reported += source.children(subject.index, "acl:relcl")
        for verb in reported:
            for sentence, token in _uses(verb, sentences):
                if not _REPORTING & sentence.lemmas():
                    message = f"Is this a fact ('{token.text}')? In the source somebody only says "
                    yield sentence.new(token, f"{message}so ('{saying.text}').")


def _reporting(source: Analysis, clause: Word) -> Word | None:
    """The word that reports a clause: "**said** that it fell", "it fell, he **said**"."""
    head = source[clause.head] if clause.head >= 0 else None
    if head is not None and clause.relation == "ccomp" and _SAYING & lemmas(key(head.text)):
        return head
    if head is not None and clause.deprel == "acl" and lemmas(key(head.text)) & _SAYING_NOUNS:
        marks = source.children(clause.index, "mark")
        return head if [key(mark.text) for mark in marks] == ["that"] else None
    if head is not None and clause.relation in ("conj", "acl"):
        also = _also_reporting(source, clause, head)
        if also is not None:
            return also
    last = next((word for word in reversed(source.words) if has_word(word.text)), None)
    is_after = last is not None and last.head == clause.index and last.relation == "parataxis"
    return last if last and is_after and _SAYING & lemmas(key(last.text)) else None


def _also_reporting(source: Analysis, clause: Word, head: Word) -> Word | None:
    """The verb that reports a further clause with "that": "**complained** about the price and that
    it fell", "**said** that it had lied, that it fell"."""
    mark = next((m for m in source.children(clause.index, "mark") if key(m.text) == "that"), None)
    if mark is None:
        return None
    if clause.relation == "conj":
        return head if _SAYING & lemmas(key(head.text)) else None
    is_apart = source[mark.index - 1].upos == "PUNCT"
    while is_apart and head.head >= 0:
        outer = source[head.head]
        if head.relation == "ccomp" and _SAYING & lemmas(key(outer.text)):
            return outer
        head = outer
    return None


def _unconditional(source: Analysis, sentences: Sequence[_Sentence]) -> Iterator[Finding]:
    """Conditions that are told as facts, and clauses that have lost their condition."""
    for clause in source:
        if clause.relation not in ("advcl", "obl"):
            continue
        inside = (source[place] for place in source.subtree(clause.index))
        first = next((word for word in inside if word.upos != "PUNCT"), clause)
        opener, main = first.text, source[clause.head]
        if key(opener) not in _CONDITIONS:
            continue
        for verb in _conditions(source, clause) if clause.relation == "advcl" else ():
            for sentence, token in _uses(verb, sentences):
                is_result = verb is not clause and sentence.keys >= _IN_THAT_CASE
                # The "may" of "they may also pay" is that of the main clause.
                signs = _SUPPOSING if verb is clause else _SUPPOSING - lexicon.MODALS
                if is_result or not sentence.keys & signs:
                    message = f"Is this a fact ('{token.text}')? In the source it is a condition "
                    message += f"('{opener}')."
                    yield sentence.new(token, message)
        restated = {word for s in sentences if clause.index in s.places for word in s.keys}
        if restated & _RESTATED:
            continue
        if key(opener) == "unless" and clause.index < main.index:
            yield from _reversed(source, clause, main, sentences)
        governed = [main, *source.children(main.index, "conj")]
        if clause.index > main.index:
            governed = _before(source, clause, first, main)
        for verb in governed:
            for sentence, token in _uses(verb, sentences):
                is_seen = clause.index in sentence.places or bool(_CONDITIONAL & sentence.keys)
                if not is_seen and token.start:  # not an imperative, which may be general
                    condition = f"{opener} ... {clause.text}"
                    message = f"Does this always hold ('{token.text}')? In the source it depends "
                    message += f"on a condition ('{condition}')."
                    yield sentence.new(token, message)


def _reversed(
    source: Analysis, clause: Word, main: Word, sentences: Sequence[_Sentence]
) -> Iterator[Finding]:
    """Clauses with "In that case" that hold unless the case arises."""
    for verb in source.children(main.index, "conj"):
        for sentence, token in _uses(verb, sentences):
            first = sentence.pairs[0][0]
            opening = [key(each.text) for each, _ in sentence.pairs[:2]]
            if opening == ["in", "that"] and clause.index not in sentence.places:
                message = f"In which case ('{token.text}')? In the source it holds unless something"
                yield sentence.new(first, f"{message} happens ('{clause.text}').")


def _conditions(source: Analysis, clause: Word) -> Iterator[Word]:
    """The verbs of a condition, also those that the parser takes for clauses of their own: "if A
    happens, B happens, and C happens"."""
    yield clause
    yield from source.children(clause.index, "conj")
    for other in source.children(clause.head, "parataxis"):
        more = source.children(other.index, "conj")
        if not (more and source[clause.head].index < clause.index < other.index):
            continue
        inside = (source[place] for place in source.subtree(other.index))
        # "unless it rains, in which case we stay and wait" states a result.
        if not any(key(word.text) in english.RELATIVES for word in inside):
            yield from (other, *more)


def _before(source: Analysis, clause: Word, opener: Word, main: Word) -> list[Word]:
    """The verbs before a condition at the end that it governs: after a comma, all that share their
    subject."""
    is_last = max(source.subtree(clause.index)) >= len(source) - 2
    is_limit = key(opener.text) in ("except", "unless")  # often of the last verb only
    if is_limit or not is_last or source[opener.index - 1].text != ",":
        return []
    while main.relation == "conj" and not source.children(main.index, "nsubj"):
        main = source[main.head]
    others = source.children(main.index, "conj")
    shared = [verb for verb in others if not source.children(verb.index, "nsubj")]
    return [main, *(verb for verb in shared if verb.index < opener.index)] if shared else []


def _moved(source: Analysis, sentences: Sequence[_Sentence]) -> Iterator[Finding]:
    """Clauses that have left the verb before them for an earlier one: "Adults get 20 unless they
    are ill" became "Children get 5 unless they are ill"."""
    for clause in source:
        is_behind = clause.relation == "advcl" and clause.index > clause.head
        if not is_behind or not source.children(clause.index, "mark"):
            continue
        start = source.subtree(clause.index)[0]
        before = [verb for verb in source.once(_spine) if verb.index < start]
        here = [sentence for sentence in sentences if clause.index in sentence.places]
        if len(before) < 2 or len(here) != 1 or before[-1].index in here[0].places:
            continue
        is_elsewhere = any(before[-1].index in sentence.places for sentence in sentences)
        other = next((verb for verb in before if verb.index in here[0].places), None)
        if is_elsewhere and other is not None:
            token = here[0].places[clause.index]
            message = f"Does '{token.text}' belong to '{other.text}'? In the source it stands "
            message += f"after '{before[-1].text}'."
            yield finding_at(FindingKind.RELATION, token, message, here[0].index)


def _spine(source: Analysis) -> list[Word]:
    """The predicates that have a subject and are in no relative or reported clause."""
    found = []
    for word in source:
        upwards, is_inside = word, not source.children(word.index, "nsubj")
        while not is_inside and upwards.head >= 0:
            is_inside = upwards.relation in ("acl", "ccomp", "xcomp", "csubj")
            upwards = source[upwards.head]
        if not is_inside:
            found.append(word)
    return found


_TIED = words("when until till so")
_TIES = (
    _CONDITIONAL
    | lexicon.CONNECTIVES["after"]
    | lexicon.CONNECTIVES["because"]
    | words(
        "such time day night week month moment year years point during while whilst meanwhile as"
        " meantime till"
    )
)
"""Words that can tie a sentence to another one."""
_OPENING_TIES = words("this that these there here it both also still by")
"""Words that can do so among the first of a sentence."""
_FIRST = 4


def _unconnected_clauses(source: Analysis, sentences: Sequence[_Sentence]) -> Iterator[Finding]:
    """Clauses with "when", "until" or "so" that have become sentences without a link."""
    for clause in source:
        if clause.relation not in ("advcl", "conj", "parataxis", "ccomp"):
            continue
        main = source[clause.head]
        links = source.children(clause.index, "mark", "advmod", "cc")
        link = next((word for word in links if key(word.text) in _TIED), None)
        if link is None or not source.children(clause.index, "nsubj"):
            continue
        first, second = list(_uses(main, sentences)), list(_uses(clause, sentences))
        if not first or not second or first[0][0] is second[0][0]:
            continue
        if not any(found[0][0].is_tied for found in (first, second)):
            message = f"When or why? The link '{link.text}' before '{clause.text}' is missing."
            yield finding_at(FindingKind.LOST, link, message)


def _uses(word: Word, sentences: Sequence[_Sentence]) -> Iterator[tuple[_Sentence, OutputToken]]:
    """The only sentence that has a word of the source, and the word there. What is said twice may
    be said otherwise: "Unless the wind changed ... It seldom changed."."""
    found = [sentence for sentence in sentences if word.index in sentence.places]
    if len(found) == 1:
        yield found[0], found[0].places[word.index]
