"""Details that a rewrite attaches to another word: an adjective before another noun, a phrase after
another noun, a date, a place or a clause with another verb. And phrases that it breaks: divided
between sentences, repeated within one, or after a "This is" that cannot precede them.

Parsers often attach a phrase to the wrong word. So a finding needs more than the tree: the phrase
stands beside its head in the source, with no other verb between them, and the rewrite tells head
and phrase apart, each of them once.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise, takewhile

from parataxis.checks.clauses import WH_RELATIVES
from parataxis.checks.findings import Origins, Pair, finding_at
from parataxis.checks.relations import NOMINAL, Referents
from parataxis.rewrite.forms import key
from parataxis.rewrite.record import Finding, FindingKind
from parataxis.syntax.analysis import Analysis, Word
from parataxis.text import english
from parataxis.text.english import words
from parataxis.text.tokens import has_word

_KIND = FindingKind.RELATION
_BREAKS = frozenset(("ADP", "VERB", "AUX", "PUNCT", "CCONJ", "SCONJ", "PRON", "PART"))
_NAMED_TOGETHER = frozenset(("appos", "flat", "compound"))
_TAKEN_UP = words(
    "then there this that these those such so here thereby therefore thus meanwhile time result it"
    " both also same otherwise case doing"
)
"""Words that can take up a phrase of another sentence."""
_ORDINALS = words("first second third fourth last next other same former latter own")
"""Words that can stand without their noun: "the first defendant is the driver, the second ..."."""
_PASSING = words("instance example fact particular addition")
_OPEN_MARKS = words("to whether that")
_QUOTES = frozenset(('"', "“", "”", "``", "''", "'", "‘", "’"))
_APOSTROPHES = frozenset(("'", "’", "'s", "’s"))


def attachment_findings(
    source: Analysis, simple: Sequence[Analysis | None], origins: Sequence[Origins]
) -> list[Finding]:
    """The details that a rewrite attaches to another word than the source."""
    rewrite = _Rewrite(source, simple, origins)
    return [
        *_moved_modifiers(rewrite),
        *_moved_after_nouns(rewrite),
        *_moved_to_verbs(rewrite),
        *_moved_adverbs(rewrite),
        *_moved_brackets(rewrite),
    ]


class _Rewrite:
    """A rewrite, and where each word of its source is used."""

    def __init__(
        self, source: Analysis, simple: Sequence[Analysis | None], origins: Sequence[Origins]
    ) -> None:
        self.source, self.trees, self.origins = source, simple, origins
        self.referents = Referents(source)
        self.pairs = [origin.pairs() for origin in origins]
        self.added = [
            {key(token.text) for token, word in pairs if word is None} for pairs in self.pairs
        ]
        self._uses: dict[int, list[tuple[int, int]]] = {}
        for index, pairs in enumerate(self.pairs):
            for place, (_, word) in enumerate(pairs):
                if word is not None:
                    self._uses.setdefault(word.index, []).append((index, place))
        self.written = Counter(key(token.text) for pairs in self.pairs for token, _ in pairs)
        self.told = Counter(key(word.text) for word in source)

    def only_use(self, word: Word) -> tuple[int, int] | None:
        """The sentence that has a word of the source, and its place there, if it is used once."""
        uses = self._uses.get(word.index, ())
        return uses[0] if len(uses) == 1 else None

    def is_once(self, word: Word) -> bool:
        """Whether the source and the rewrite have a spelling once each."""
        return self.told[key(word.text)] == self.written[key(word.text)] == 1


def _moved_modifiers(rewrite: _Rewrite) -> Iterator[Finding]:
    """Adjectives and nouns before another noun: "big dolls in clothes" for "dolls in big
    clothes"."""
    source = rewrite.source
    for index, (tree, origin) in enumerate(zip(rewrite.trees, rewrite.origins, strict=True)):
        for modifier in tree or ():
            before = origin.copied(modifier)
            if tree is None or before is None or modifier.relation not in ("amod", "compound"):
                continue
            if before.relation != modifier.relation or modifier.head < modifier.index:
                continue
            if _is_hyphenated(source, before):
                continue
            noun, other = source[before.head], origin.any(tree[modifier.head])
            if other is None or not {noun.upos, other.upos} <= NOMINAL:
                continue
            is_fixed = key(before.text) not in _ORDINALS and rewrite.is_once(before)
            if noun.index < before.index or not is_fixed:
                continue
            if key(noun.text) == key(other.text) or rewrite.referents.are_same(noun, other):
                continue
            between = source.words[before.index : other.index]
            is_one_phrase = between and not any(
                word.upos in _BREAKS and word.text not in _APOSTROPHES for word in between
            )
            if is_one_phrase or rewrite.only_use(noun) is None:
                continue
            message = f"Does '{modifier.text}' belong to '{tree[modifier.head].text}'? "
            message += f"In the source it stands before '{noun.text}'."
            yield finding_at(_KIND, modifier, message, index)


def _is_hyphenated(source: Analysis, word: Word) -> bool:
    """Whether a word is a part of a compound such as "easy-to-use", whose tree is uncertain."""
    beside = source.words[max(word.index - 1, 0) : word.index + 2]
    return any(other.text == "-" and other.start in (word.end, word.start - 1) for other in beside)


def _moved_after_nouns(rewrite: _Rewrite) -> Iterator[Finding]:
    """Phrases with "of" and participles that now stand right after another noun."""
    source = rewrite.source
    for head in source:
        noun = source[head.head]
        cases = [key(word.text) for word in source.children(head.index, "case")]
        is_of = head.relation == "nmod" and cases == ["of"]
        is_participle = head.deprel == "acl" and head.xpos in ("VBN", "VBG")
        if not (is_of or is_participle) or noun.upos != "NOUN":
            continue
        first = source[source.subtree(head.index)[0]]
        use, start = rewrite.only_use(noun), rewrite.only_use(first)
        is_beside = first.index == noun.index + 1 and has_word(first.text)
        if not is_beside or use is None or start is None or not start[1]:
            continue
        index, place = start
        phrase = source.words[first.index : head.index + 1]
        pairs = rewrite.pairs[index]
        other = pairs[place - 1][1]
        if not _is_copy(pairs[place:], phrase) or other is None or other.upos not in NOMINAL:
            continue
        if other.index == noun.index or key(other.text) == key(noun.text):
            continue
        if _are_named_together(noun, other) or _may_share(source, noun, other):
            continue
        after = source.words[other.index + 1 : other.index + 3]  # "the receipt **of which**"
        tree = rewrite.trees[index]
        here = tree.by_start.get(pairs[place + len(phrase) - 1][0].start) if tree else None
        is_kept = here is not None and here.relation == head.relation
        if not is_kept or any(key(word.text) in english.RELATIVES for word in after):
            continue
        words_there = source.phrase(first.index, head.index)
        message = f"Does '{words_there}' belong to '{other.text}'? "
        message += f"In the source it stands after '{noun.text}'."
        yield finding_at(_KIND, pairs[place][0], message, index)


def _is_copy(pairs: Sequence[Pair], phrase: Sequence[Word]) -> bool:
    """Whether a sentence goes on with the words of a phrase."""
    here = [word.index for _, word in pairs[: len(phrase)] if word is not None]
    return here == [word.index for word in phrase]


def _are_named_together(noun: Word, other: Word) -> bool:
    return any(
        word.relation in _NAMED_TOGETHER and word.head == head.index
        for word, head in ((noun, other), (other, noun))
    )


def _may_share(source: Analysis, noun: Word, other: Word) -> bool:
    """Whether what follows a noun may belong to another one that is joined to it: "the roof and the
    walls of the house"."""
    first = source[noun.head] if noun.relation == "conj" else noun
    group = [first, *source.children(first.index, "conj")]
    return other in group and noun == group[-1]


def _moved_to_verbs(rewrite: _Rewrite) -> Iterator[Finding]:
    """Phrases and clauses that stand in a sentence with another verb, while their own verb is told
    without them."""
    source = rewrite.source
    for head in source:
        phrase = _phrase(source, head)
        verb = _own_verb(source, head, phrase) if phrase else None
        place = rewrite.only_use(head)
        there = rewrite.only_use(verb) if verb is not None else None
        if verb is None or place is None or there is None or place[0] == there[0]:
            continue
        index, tree = place[0], rewrite.trees[place[0]]
        other = rewrite.origins[index].any(tree.root) if tree else None
        if tree is None or other is None or key(other.text) == key(verb.text):
            continue
        if other.upos != "VERB" and not tree.children(tree.root.index, "cop"):
            continue
        if other.index in source.subtree(head.index) or _may_govern(source, other, verb, phrase):
            continue
        opener = rewrite.only_use(phrase[0])
        if opener is None or opener[0] != index or _TAKEN_UP & rewrite.added[there[0]]:
            continue
        if _is_beside_own(rewrite, head, phrase, index):
            continue
        said = source.phrase(phrase[0].index, head.index)
        token = rewrite.pairs[index][opener[1]][0]
        message = f"Does '{said}' belong to '{other.text}'? In the source it belongs to "
        yield finding_at(_KIND, token, f"{message}'{verb.text}'.", index)


def _moved_adverbs(rewrite: _Rewrite) -> Iterator[Finding]:
    """Adverbs that stand beside another verb: "He cautiously stood" for "He stood and cautiously
    went"."""
    source = rewrite.source
    for adverb in source:
        if adverb.relation != "advmod" or not key(adverb.text).endswith("ly"):
            continue
        verb, use = source[adverb.head], rewrite.only_use(adverb)
        there = rewrite.only_use(verb)
        is_beside = verb.upos == "VERB" and verb.index == adverb.index + 1
        if not is_beside or use is None or there is None or not rewrite.is_once(adverb):
            continue
        index, place = use
        pairs = rewrite.pairs[index]
        beside = [pair[1] for pair in (*pairs[max(0, place - 1) : place], *pairs[place + 1 :][:1])]
        other = next((word for word in beside if word is not None and word.upos == "VERB"), None)
        if there[0] == index or other is None or key(other.text) == key(verb.text):
            continue
        token = pairs[place][0]
        message = f"Does '{token.text}' belong to '{other.text}'? In the source it stands before "
        yield finding_at(_KIND, token, f"{message}'{verb.text}'.", index)


def _moved_brackets(rewrite: _Rewrite) -> Iterator[Finding]:
    """Brackets that stand after another word, while their own word is told without them."""
    source = rewrite.source
    for bracket, first in pairwise(source):
        if bracket.text != "(" or not bracket.index or not has_word(first.text):
            continue
        if _is_definition(source, bracket):
            continue
        own = source[bracket.index - 1]
        use, there = rewrite.only_use(first), rewrite.only_use(own)
        if own.upos not in NOMINAL or use is None or there is None or use[0] == there[0]:
            continue
        index, place = use
        pairs = rewrite.pairs[index]
        if place < 2 or pairs[place - 1][0].text != "(":
            continue
        other = pairs[place - 2][1]
        if other is None or other.upos not in NOMINAL or rewrite.referents.are_same(own, other):
            continue
        message = f"Does the bracket belong to '{other.text}'? In the source it stands after "
        yield finding_at(_KIND, pairs[place - 1][0], f"{message}'{own.text}'.", index)


def _is_definition(source: Analysis, bracket: Word) -> bool:
    """Whether a bracket only names what is before it: (the "Fund"), (Licensor)."""
    inside = list(takewhile(lambda word: word.text != ")", source.words[bracket.index + 1 :]))
    return len(inside) < 2 or any(word.upos == "PUNCT" and word.text in _QUOTES for word in inside)


def _phrase(source: Analysis, head: Word) -> list[Word]:
    """The words of a phrase with a preposition or of a clause with a conjunction, without marks."""
    if head.relation not in ("obl", "nmod", "advcl"):
        return []
    found = [source[place] for place in source.subtree(head.index)]
    found = [word for word in found if has_word(word.text)]
    if not found or found[0].relation not in ("case", "mark"):
        return []
    noun = source[found[0].head]  # "including the **minister** Ann Lee"
    if noun.index != head.index and (noun.head, noun.deprel) != (head.index, "nmod:desc"):
        return []
    spoken = {key(word.text) for word in found}
    if key(head.text) in _PASSING or key(found[0].text) in _OPEN_MARKS or spoken & WH_RELATIVES:
        return []
    return found


def _may_govern(source: Analysis, other: Word, verb: Word, phrase: Sequence[Word]) -> bool:
    """Whether a phrase behind a verb may belong to another one before it: to the verb of the
    clause outside ("gave the cup, which he had won, to Ann"), or to any behind a comma. A phrase
    between two verbs may belong to either, unless "and" or "but" tells them apart."""
    if phrase[0].index < verb.index:
        between = source.words[other.index : phrase[0].index]
        return bool(between) and not any(w.upos == "CCONJ" for w in between)
    is_apart = source[phrase[0].index - 1].upos == "PUNCT"
    return verb.index in source.subtree(other.index) or (is_apart and other.index < phrase[0].index)


def _own_verb(source: Analysis, head: Word, phrase: Sequence[Word]) -> Word | None:
    """The verb that a phrase belongs to, if no other one is nearer."""
    verb = source[head.head]
    while verb.upos in NOMINAL and verb.head >= 0 and verb.index < head.index:
        verb = source[verb.head]
    if verb.upos != "VERB":
        return None
    is_before = phrase[-1].index < verb.index
    start, end = (phrase[-1].index, verb.index) if is_before else (verb.index, phrase[0].index)
    between = source.words[start + 1 : end]
    return None if any(w.upos == "VERB" and w.relation != "amod" for w in between) else verb


def _is_beside_own(rewrite: _Rewrite, head: Word, phrase: Sequence[Word], index: int) -> bool:
    """Whether a phrase stands with the word before it in the source, or with its noun."""
    used = {word.index for _, word in rewrite.pairs[index] if word is not None}
    before = [w for w in rewrite.source.words[: phrase[0].index] if has_word(w.text)]
    own = {head.head, *(word.index for word in before[-1:])}
    return bool(own & used)


def phrase_findings(source: Analysis, origins: Sequence[Origins]) -> list[Finding]:
    """Phrases that are divided between sentences, repeated in one, or wrongly after "This is"."""
    sentences = [origin.spoken() for origin in origins]
    findings = [
        found
        for index, pairs in enumerate(sentences)
        for found in (*_repeated_phrases(pairs, index), *_wrong_openers(source, pairs, index))
    ]
    torn = [pair for pair in source.once(_measures) if _are_torn(*pair, sentences)]
    torn += [pair for pair in source.once(_degrees) if _are_apart(*pair, origins)]
    for first, last in torn:
        phrase = source.phrase(first.index, last.index)
        message = f"Do the words of '{phrase}' stand together? In the source they do."
        findings.append(finding_at(FindingKind.LOST, first, message))
    return findings


_MEASURES = words("sufficient sufficiently")
_LONGEST_MEASURE = 14
"""Words from "sufficient" to what it is sufficient for."""


def _measures(source: Analysis) -> list[tuple[Word, Word]]:
    """What something is sufficient for: "in **sufficient** time **to** enable"."""
    return [
        (measure, to)
        for measure in source
        if key(measure.text) in _MEASURES
        for to in source.words[measure.index + 1 : measure.index + _LONGEST_MEASURE]
        if to.xpos == "TO" and source[to.head].xpos == "VB"
        if not any(word.text in ",;." for word in source.words[measure.index : to.index])
    ]


def _are_torn(first: Word, last: Word, sentences: Sequence[Sequence[Pair]]) -> bool:
    """Whether both words are told, but never in one sentence."""
    told = [[word for _, word in pairs if word is not None] for pairs in sentences]
    has_both = all(any(word in each for each in told) for word in (first, last))
    return has_both and not any(first in each and last in each for each in told)


_DEGREES = words("much many little few")


def _degrees(source: Analysis) -> list[tuple[Word, Word]]:
    """ "However much" inside a sentence: a degree, not a contrast."""
    return [
        (word, after)
        for word, after in pairwise(source)
        if word.index and key(word.text) == "however" and key(after.text) in _DEGREES
    ]


def _are_apart(first: Word, last: Word, origins: Sequence[Origins]) -> bool:
    """Whether no sentence has two words one right after the other."""
    texts = [[key(token.text) for token, _ in origin.pairs()] for origin in origins]
    return not any((key(first.text), key(last.text)) in pairwise(each) for each in texts)


_LINKING = words("is are was were include includes included mean means")


def _repeated_phrases(pairs: Sequence[Pair], index: int) -> Iterator[Finding]:
    """Three words of the source in a row that stand twice in a sentence: "If so required, he may,
    if so required, enter". "Such a large group is a large group within the Act" may do so."""
    said: set[tuple[int, ...]] = set()
    for place, (token, word) in enumerate(pairs[:-3]):
        run = tuple(other.index for _, other in pairs[place : place + 3] if other is not None)
        if word is None or run != tuple(range(word.index, word.index + 3)):
            continue
        if run in said:
            phrase = " ".join(each.text for each, _ in pairs[place : place + 3])
            message = f"Is this said twice ('{phrase}')?"
            yield finding_at(FindingKind.REPEATED, token, message, index)
            return
        if key(pairs[place + 3][0].text) not in _LINKING:
            said.add(run)


_OPENERS = (["this", "is"], ["this", "was"], ["it", "is"])


def _wrong_openers(source: Analysis, pairs: Sequence[Pair], index: int) -> Iterator[Finding]:
    """An inserted "This is" before "whether", or before a phrase that opens a clause: "This is
    because of this fact, many do not know it"."""
    if len(pairs) < 4 or [key(token.text) for token, _ in pairs[:2]] not in _OPENERS:
        return
    verb, first = pairs[1][1], pairs[2][1]
    if first is None or (verb is not None and verb.index + 1 == first.index):
        return
    if key(first.text) == "whether" or _opens_clause(source, first, pairs):
        said = f"{pairs[0][0].text} {pairs[1][0].text}"
        message = f"Can '{said}' stand before '{first.text}'? The source has no such words."
        yield finding_at(FindingKind.NEW, pairs[0][0], message, index)


def _opens_clause(source: Analysis, preposition: Word, pairs: Sequence[Pair]) -> bool:
    """Whether a preposition opens a phrase whose verb, with its subject, comes behind it."""
    if preposition.upos not in ("ADP", "SCONJ") or preposition.relation not in ("case", "mark"):
        return False
    head = source[preposition.head]
    verb = source[head.head]
    is_opener = head.relation in ("obl", "advcl") and verb.index > head.index
    has_verb = any(word == verb for _, word in pairs)
    return is_opener and has_verb and bool(source.children(verb.index, "nsubj", "expl"))
