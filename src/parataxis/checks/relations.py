"""Relations that a rewrite changes.

A noun becomes the subject, the object or the place of what the source says of another noun; a
participle changes its voice; a subject and its verb do not agree; a relative word has lost its
noun; a number or a name stands beside the words of another one. Pronouns are not judged here, nor
is anything that was copied together with its predicate.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from itertools import pairwise

from parataxis.checks import lexicon
from parataxis.checks.findings import Origins, Pair, finding_at, that_noun, verb_phrase
from parataxis.rewrite.forms import is_plural, key, lemmas
from parataxis.rewrite.record import Finding, FindingKind
from parataxis.syntax.analysis import Analysis, Word
from parataxis.text import english
from parataxis.text.english import BEFORE_NAME, words
from parataxis.text.tokens import has_word

NOMINAL = frozenset(("NOUN", "PROPN"))
_NAMING = NOMINAL | {"PRON"}

PLACES = frozenset(("nsubj", "obj", "obl", "nmod"))
"""The relations of nouns to what they belong to that are compared."""

NUMBERS = {"is": False, "was": False, "has": False, "are": True, "were": True, "have": True}
"""Whether a verb form is plural."""

UNCERTAIN_NUMBER = words(
    "number majority minority rest half third quarter lot percent percentage proportion part pair"
    " couple group range variety team staff police people family government committee crew band"
    " club board data media audience public army company council management party parliament"
    " series means species anyone everyone someone person jury firm bank cattle livestock remainder"
)
"""Nouns that take a singular or a plural verb, or leave the number to what follows them. They save
4 of 1,648 development references from a false alarm."""

_STAND_INS = words("one ones")  # without them, 2 of 1,648 references raise a false alarm
_PARTITIVES = words(
    "number majority minority rest half part portion lot most some many all both each one two three"
    " four five six seven eight nine ten several few none any neither either group pair couple"
    " series set variety range kind type sort form piece member percent total amount"
)
"""Nouns and quantifiers before "of which". Without them, one rewrite of the 2,102 development
sources gets a wrong noun."""
_QUOTES = frozenset('"“„«')
_SINGULAR = english.ARTICLES | words("this that each every such")
_NO_NOUN = frozenset(("VERB", "AUX", "ADJ", "ADV"))
_SAME = frozenset(("appos", "flat", "compound", "list", "goeswith", "conj", "parataxis", "dep"))
_SHARING = frozenset(("conj", "advcl", "xcomp", "ccomp", "parataxis", "acl", "appos"))
_SHARING_SUBJECTS = frozenset(("xcomp", "advcl", "conj"))
_SUBJECTS = ("nsubj", "csubj", "expl")
_DESCRIBING = ("nmod", "amod", "conj", "nummod", "acl")
_WHERE = words("in at to")
_REACH = 4  # words from a noun to its relative word: "the tower, from the top of which"


def is_noun(word: Word) -> bool:
    """Whether a word names something by itself, unlike a pronoun."""
    return word.upos in NOMINAL and key(word.text) not in _STAND_INS


def follows(source: Analysis, left: Word, right: Word) -> bool:
    """Whether a word comes right after another, not counting what is between two marks."""
    if right.index == left.index + 1:
        return True
    between = source.words[left.index + 1 : right.index]
    return len(between) > 1 and between[0].upos == between[-1].upos == "PUNCT"


def place_of(analysis: Analysis, word: Word) -> str | None:
    """The place of a word beside its head: "nsubj", "obj", or the preposition before it."""
    relation = word.relation
    if relation in ("nsubj", "obj"):
        return relation
    if relation in ("obl", "nmod"):
        return " ".join(key(each.text) for each in analysis.children(word.index, "case")) or None
    return None


class Referents:
    """Which nouns of a source a predicate can be about, and which nouns a pronoun can stand for.

    Parsers often attach clauses to the wrong noun. So every noun that a clause could be attached
    to is allowed, and so is what the semantic roles allow: the answer is "forbidden" only where it
    is certain.
    """

    def __init__(self, source: Analysis) -> None:
        self.source = source

    def forbids(self, noun: Word, predicate: Word) -> bool:
        """Whether a noun cannot be the subject of a predicate, or of another of the same form."""
        form = key(predicate.text)
        return all(self._forbids(noun, word) for word in self.source if key(word.text) == form)

    def replaces_wrongly(self, noun: Word, head: Word, place: str) -> bool:
        """Whether the source has a pronoun in this place that cannot mean the noun."""
        if self._is_agent(noun, head):
            return False
        children = self.source.children(head.index)
        where = next((w for w in children if key(w.text) == "where"), None)
        if where and place in _WHERE and noun.upos == "PROPN" and noun not in children:
            return self._cannot_be_where(where, noun)
        there = [w for w in children if place_of(self.source, w) == place]
        return len(there) == 1 and self._cannot_mean(there[0], noun)

    def is_done_to(self, noun: Word, predicate: Word) -> bool:
        """Whether an active verb may have a noun as its object: "he cut the rope", "he cut it"."""
        if self.source.children(predicate.index, "nsubj:pass", "aux:pass"):
            return False
        objects = self.source.children(predicate.index, "obj", "iobj")
        if not all(map(is_noun, objects)):
            return True
        if predicate.deprel == "acl:relcl":  # "the rope (that) he cut"
            objects += self._nouns_before(predicate, min(self.source.subtree(predicate.index)))
        return self._is_among(noun, objects)

    def others(self, predicate: Word) -> list[Word]:
        """The nouns that the source says a predicate of."""
        allowed, _ = self._subjects(predicate)
        # A pronoun is the subject itself; nouns are what a clause could be attached to.
        return sorted((word for word in allowed if word.upos in _NAMING), key=is_noun)

    def _forbids(self, noun: Word, predicate: Word) -> bool:
        allowed, is_sure = self._subjects(predicate)
        if not allowed:
            return False
        if not all(is_noun(word) or self._comes_later(noun, word) for word in allowed):
            return False
        if self._is_among(noun, allowed) or self._is_defined(noun):
            return False
        if self._is_agent(noun, predicate):
            return False
        return is_sure or not self._has_argument(predicate, noun)

    def _is_agent(self, noun: Word, predicate: Word) -> bool:
        """Whether a noun does what the passive tells: "told by the **club**"."""
        return noun.head == predicate.index and place_of(self.source, noun) == "by"

    def _cannot_be_where(self, where: Word, noun: Word) -> bool:
        """Whether "where" cannot stand for a name: "in Oslo, near Moss, where she was born"."""
        clause = self._relative_clause(where)
        nouns = self._nouns_before(clause, where.index) if clause else []
        # "sent to Oslo in May, where"
        nouns += [each for word in nouns for each in self.source.children(word.head, "obl")]
        return bool(nouns) and not (self._is_among(noun, nouns) or self._is_defined(noun))

    def _cannot_mean(self, pronoun: Word, noun: Word) -> bool:
        text = key(pronoun.text)
        if key(self.source[pronoun.head].text) in _PARTITIVES and text in ("which", "whom"):
            # "Seven teams entered the cup, six of which": the noun is plural.
            return noun.xpos == "NN" and key(noun.text) not in UNCERTAIN_NUMBER
        if text in ("which", "whom", "who"):
            clause = self._relative_clause(pronoun)
            nouns = self._nouns_before(clause, pronoun.index) if clause else []
            return bool(nouns) and not (self._is_among(noun, nouns) or self._is_defined(noun))
        if text not in ("it", "they", "them") or key(noun.text) in UNCERTAIN_NUMBER:
            return False
        named = [self.source[place] for place in self._members(noun)]
        numbers = {is_plural(self.source, word.index) for word in named}
        if text == "it":
            return numbers == {True}
        is_one = len({key(word.text) for word in named}) == 1  # no "Ann and Bob"
        return numbers == {False} and is_one and noun.xpos == "NN"

    def _subjects(self, predicate: Word) -> tuple[list[Word], bool]:
        """The possible subjects of a predicate, and whether the number of the verb decided."""
        own = self.source.children(predicate.index, *_SUBJECTS)
        if not own:
            return list(self._shared(predicate)), False
        relative = next((word for word in own if key(word.text) in english.RELATIVES), None)
        if relative is None:
            return own if all(map(is_noun, own)) else [], False
        found = self._nouns_before(predicate, relative.index)
        verb = next(iter(self.source.children(predicate.index, "aux", "cop")), predicate)
        plural = NUMBERS.get(key(verb.text))
        fitting = [n for n in found if plural is None or is_plural(self.source, n.index) == plural]
        return fitting or found, 0 < len(fitting) < len(found)

    def _shared(self, predicate: Word) -> Iterator[Word]:
        """The possible subjects of a predicate without a subject of its own."""
        tree = self.source
        if predicate.relation not in _SHARING or self._is_aside(predicate):
            return
        joined = self._joined_subject(predicate)
        if joined is not None:
            yield joined
            return
        yield from self._nouns_before(predicate, min(tree.subtree(predicate.index)))
        word = predicate
        while word.head >= 0:
            word = tree[word.head]
            own = tree.children(word.index, *_SUBJECTS)
            yield from tree.children(word.index, "obj", "iobj", "obl:agent")
            if any(key(each.text) in english.RELATIVES for each in own) or word.relation == "acl":
                yield from self._nouns_before(word, min(tree.subtree(word.index)))
            nouns = [each for each in own if key(each.text) not in english.RELATIVES]
            before = [each for each in nouns if each.index < predicate.index]
            # "Its decline, caused by the war, and the power of the army": the power was not.
            yield from before if before and predicate.deprel == "acl" else nouns

    def _joined_subject(self, predicate: Word) -> Word | None:
        """The subject of the only verb before a verb that is joined to it: "The plan states the
        aims of the program and includes a budget"."""
        if predicate.relation != "conj" or predicate.upos != "VERB":
            return None
        first = self.source[predicate.head]
        subjects = self.source.children(first.index, "nsubj")
        is_alike = first.xpos == predicate.xpos and first.upos == "VERB"
        if not is_alike or len(subjects) != 1 or not is_noun(subjects[0]):
            return None
        before = self.source.words[: predicate.index]
        others = [w for w in before if w.upos == "VERB" and w.index != first.index]
        is_sure = all(
            (w.relation in ("conj", "advcl") and w.head == first.index) or w.relation == "amod"
            for w in others
        )
        return subjects[0] if is_sure else None

    def _is_aside(self, predicate: Word) -> bool:
        """Whether this is "as described in", which can be about anything, or "on the way"."""
        marks = self.source.children(predicate.index, "mark")
        return any(key(mark.text) in ("as", "than") for mark in marks) or bool(
            self.source.children(predicate.index, "case")
        )

    def _nouns_before(self, clause: Word, start: int) -> list[Word]:
        """The nouns that a clause after a noun may be about: the one it is attached to, the one
        right before it, and those that these describe ("the list of the members, which")."""
        tree = self.source
        while clause.relation == "conj" and clause.head >= 0:
            clause = tree[clause.head]
        starts = [start]
        if clause.relation == "acl":
            if not is_noun(tree[clause.head]):  # "the elder, whom": the noun is not there
                return []
            starts.append(min(tree.subtree(clause.index)))
        stems = [
            next((word for word in reversed(tree.words[:place]) if is_noun(word)), None)
            for place in starts
        ]
        if clause.head >= 0:
            stems.append(tree[clause.head])
        found: dict[int, Word] = {}
        for stem in stems:
            noun = stem
            while noun is not None and noun.index not in found:
                found[noun.index] = noun
                if noun.relation == "obl":  # "harm to the Company which": an object before it
                    objects = tree.children(noun.head, "obj")
                    found |= {each.index: each for each in objects if each.index < noun.index}
                noun = self._noun_above(noun)
        return [word for word in found.values() if is_noun(word)]

    def _noun_above(self, noun: Word) -> Word | None:
        """The noun that a noun helps to describe."""
        if noun.head < 0:
            return None
        head = self.source[noun.head]
        if noun.relation in ("nmod", "conj", "appos", "compound", "flat"):
            return head
        if noun.relation in ("obj", "obl", "nsubj") and head.relation == "acl":
            return self.source[head.head]
        return None

    def _relative_clause(self, pronoun: Word) -> Word | None:
        """The clause in which a relative pronoun stands for a noun before it, if there is one."""
        word = pronoun
        while word.head >= 0 and word.relation != "acl":
            if word.relation in ("ccomp", "csubj", "advcl"):
                return None
            word = self.source[word.head]
        return word if word.deprel == "acl:relcl" else None

    def _comes_later(self, noun: Word, pronoun: Word) -> bool:
        """Whether a noun first occurs after a pronoun of the main clause, which then does not mean
        it: "Elected by her team, she wore the armband until the federation took it"."""
        return (
            key(pronoun.text) in english.THIRD_PERSON
            and pronoun.head == self.source.root.index
            and pronoun.index < min(self._members(noun))
        )

    def _is_defined(self, noun: Word) -> bool:
        """Whether a noun is a term that the source defines: (the "Company")."""
        return any(
            place and self.source[place - 1].text in _QUOTES for place in self._members(noun)
        )

    def _has_argument(self, predicate: Word, noun: Word) -> bool:
        """Whether a noun is the head of an argument in the semantic roles of a predicate."""
        return any(
            argument.first <= noun.index <= argument.last
            and not argument.first <= noun.head <= argument.last
            for frame in self.source.frames
            if frame.predicate == predicate.index
            for argument in frame.arguments
        )

    def are_same(self, one: Word, other: Word) -> bool:
        """Whether two nouns name the same thing, or one a part of the other."""
        return self._groups[one.index] == self._groups[other.index]

    def _is_among(self, noun: Word, others: Iterable[Word]) -> bool:
        """Whether a noun names the same thing as one of the others, or a part of it."""
        places = {other.index for other in others}
        return noun.index in places or not places.isdisjoint(self._members(noun))

    def _members(self, noun: Word) -> list[int]:
        group = self._groups[noun.index]
        return [place for place, other in enumerate(self._groups) if other == group]

    @cached_property
    def _groups(self) -> list[int]:
        """For each word, the group of words that name the same thing or parts of it."""
        groups = list(range(len(self.source)))

        def find(place: int) -> int:
            while groups[place] != place:
                place = groups[place]
            return place

        first: dict[str, int] = {}
        for word in self.source:
            if word.upos in NOMINAL:
                groups[find(word.index)] = find(first.setdefault(key(word.text), word.index))
            if self._is_same_as_head(word):
                groups[find(word.index)] = find(word.head)
        return [find(place) for place in range(len(groups))]

    def _is_same_as_head(self, word: Word) -> bool:
        if word.head < 0:
            return False
        head, relation = self.source[word.head], word.relation
        may_be_same = relation in _SAME or word.deprel in ("nmod:desc", "nsubj")
        if may_be_same and word.upos in NOMINAL and head.upos in NOMINAL:
            return True
        return relation == "nmod" and key(head.text) in _PARTITIVES


def relation_findings(
    source: Analysis, simple: Sequence[Analysis | None], origins: Sequence[Origins]
) -> list[Finding]:
    """The wrong relations in a rewrite; sentences without an analysis are skipped."""
    referents = Referents(source)
    # "Ann scrubbed the pots, Bob the floor" needs its verb twice, each time with its own subject.
    counts = Counter(word.index for origin in origins for word in origin.used())
    return [
        finding_at(FindingKind.RELATION, word, message, index)
        for index, (sentence, origin) in enumerate(zip(simple, origins, strict=True))
        if sentence
        for word, message in _Sentence(sentence, origin, referents, counts).faults()
    ]


class _Sentence:
    def __init__(
        self,
        sentence: Analysis,
        origins: Origins,
        referents: Referents,
        counts: Counter[int],
    ) -> None:
        self._tree, self._origins, self._referents = sentence, origins, referents
        self._counts = counts

    def faults(self) -> Iterator[tuple[Word, str]]:
        """The words at fault, each at most once, with a message for the writer."""
        for word in self._tree:
            message = self._fault(word)
            if message is not None:
                yield word, message

    def _fault(self, word: Word) -> str | None:
        if self._has_lost_noun(word):
            return f"What does '{word.text}' stand for? It has lost the noun before it."
        if word.relation not in PLACES or word.head < 0:
            return None
        head = self._tree[word.head]
        if word.relation == "nsubj":
            verbs = self._tree.children(head.index, "aux", "cop")
            verb = next((each for each in verbs if each.index > word.index), head)
            if self._disagrees(word, head, verb) and not self._is_run(word, verb):
                return f"'{word.text}' and '{verb.text}' do not agree in number."
            if self._was_passive(head):
                return (
                    f"Does '{word.text}' do this ('{head.text}')? In the source it is done to it."
                )
        return self._question(word, head) if self._is_wrong(word, head) else None

    def _question(self, noun: Word, head: Word) -> str:
        """What an editor is asked about a noun that does not belong to its predicate."""
        named = that_noun(self._tree, noun)
        predicate = self._origins.any(head)
        others = self._referents.others(predicate) if predicate is not None else []
        other = next((each for each in others if key(each.text) != key(noun.text)), None)
        if other is None or noun.relation != "nsubj":
            return f"Is '{named}' right with '{head.text}'? The source does not say this of it."
        meant = that_noun(self._referents.source, other)
        said = verb_phrase(self._tree, head, without=other)
        return f"Is it {named} or {meant} that {said}? The source does not say this of {named}."

    def _is_wrong(self, noun: Word, head: Word) -> bool:
        came_from, predicate = self._origins.copied(noun), self._origins.any(head)
        if came_from is None or predicate is None or not (is_noun(noun) and is_noun(came_from)):
            return False
        if self._is_run(noun, head) or self._counts[predicate.index] > 1:
            return False
        if noun.deprel == "nsubj:pass" and self._referents.is_done_to(came_from, predicate):
            return False
        place = place_of(self._tree, noun)
        if place is not None and self._referents.replaces_wrongly(came_from, predicate, place):
            return True
        if place == "nsubj":
            marks = [key(mark.text) for mark in self._tree.children(head.index, "mark")]
            if "to" in marks or self._is_longer_name(came_from, predicate):
                return False
            return self._referents.forbids(came_from, predicate)
        return place == "obj" and self._is_own_subject(noun, head)

    def _is_longer_name(self, noun: Word, predicate: Word) -> bool:
        """Whether the source names the subject of a predicate by a part of the noun's name: "the
        primary" is "the primary node", and "Oro" is "Mount Oro"."""
        source = self._referents.source
        parts = source.children(noun.index, "compound", "amod", "flat")
        if noun.relation in ("compound", "flat"):
            parts.append(source[noun.head])
        names = {key(part.text) for part in parts}
        return any(key(other.text) in names for other in self._referents.others(predicate))

    def _is_run(self, first: Word, last: Word) -> bool:
        """Whether nothing between two words has changed except what was between marks."""
        start, end = sorted((first.index, last.index))
        source = self._referents.source
        sources = map(self._origins.any, self._tree.words[start : end + 1])
        return all(
            left is not None and right is not None and follows(source, left, right)
            for left, right in pairwise(sources)
        )

    def _is_own_subject(self, noun: Word, head: Word) -> bool:
        """Whether the object of a verb is its subject too: "The Client shall pay the Client"."""
        if self._tree.children(noun.index, *_DESCRIBING):
            return False
        subjects = self._tree.children(head.index, "nsubj")
        while not subjects and head.relation in _SHARING_SUBJECTS and head.head >= 0:
            head = self._tree[head.head]
            subjects = self._tree.children(head.index, "nsubj")
        return any(key(subject.text) == key(noun.text) for subject in subjects)

    def _disagrees(self, noun: Word, head: Word, verb: Word) -> bool:
        """Whether the numbers of a subject and of its verb are both certain and differ."""
        plural = NUMBERS.get(key(verb.text))
        if plural is None or key(noun.text) in UNCERTAIN_NUMBER or noun.text[0].isupper():
            return False
        if self._tree.children(noun.index, "conj", "nummod", "appos", "flat"):
            return False
        if not plural:
            return noun.xpos == "NNS"
        determiners = {key(word.text) for word in self._tree.children(noun.index, "det")}
        marks = {key(word.text) for word in self._tree.children(head.index, "mark")}
        # "If this money were not collected" is right.
        return noun.xpos == "NN" and bool(determiners & _SINGULAR) and not marks & {"if", "though"}

    def _was_passive(self, head: Word) -> bool:
        """Whether a participle that said what was done to a noun now says what the noun did."""
        before = self._origins.any(head)
        if before is None or before.deprel != "acl" or before.xpos != "VBN":
            return False
        if lexicon.OF_THEMSELVES & lemmas(key(head.text)):
            return False
        if head.upos != "VERB" or head.xpos not in ("VBD", "VBN") or head.relation != "root":
            return False
        return not self._tree.children(head.index, "aux", "cop", "obj", "ccomp", "xcomp")

    def _has_lost_noun(self, word: Word) -> bool:
        """Whether a relative word now follows a verb, an adjective or an adverb, not its noun."""
        before = (
            self._origins.copied(word) if key(word.text) in english.RELATIVES - {"that"} else None
        )
        if before is None:
            return False
        left = reversed(self._tree.words[: word.index])
        previous = next((each for each in left if each.upos not in ("ADP", "PUNCT")), None)
        if previous is None or previous.upos not in _NO_NOUN:
            return False
        came_from = self._origins.any(previous)
        return came_from is None or not before.index - _REACH <= came_from.index < before.index


_LINKS = lexicon.FUNCTION_WORDS | lexicon.MODALS
_WIDEST_LINK = 3  # words from a number to what it belongs to: "$5 for the adults"
_LARGE = words("hundred thousand million billion")
_PARTS = words("one first second two")  # "one team" may be said of "two teams"


def neighbour_findings(source: Analysis, origins: Sequence[Origins]) -> list[Finding]:
    """Numbers in the place of other numbers, and names in the place of other names."""
    sentences = [each.spoken() for each in origins]
    written = Counter(key(token.text) for pairs in sentences for token, _ in pairs)
    neighbours = _Neighbours(source, written)
    findings = []
    for index, pairs in enumerate(sentences):
        for at, (token, word) in enumerate(pairs):
            other = neighbours.exchanged(word, pairs, at) if word is not None else None
            if other is not None:
                message = (
                    f"Is it '{token.text}' or '{other.text}'? The source has '{other.text}' here."
                )
                findings.append(finding_at(FindingKind.RELATION, token, message, index))
    return findings


class _Neighbours:
    """The words beside each number and each name of a source."""

    def __init__(self, source: Analysis, written: Counter[str]) -> None:
        self._source, self._written = source, written
        self._words = [word for word in source if has_word(word.text)]
        self._places: dict[str, list[int]] = {}
        for place, word in enumerate(self._words):
            self._places.setdefault(key(word.text), []).append(place)
        # Words behind several numbers are passed over: "5 grams twice", "20 grams once".
        counted = Counter(
            key(unit.text)
            for number, unit in pairwise(self._words)
            if _is_number(number) and (not _is_number(unit) or key(unit.text) in _LARGE)
        )
        self._units = {unit for unit, count in counted.items() if count > 1}

    def exchanged(self, word: Word, pairs: Sequence[Pair], at: int) -> Word | None:
        """The number or name whose place a word of a simple sentence has taken."""
        is_number = _is_number(word)
        is_same_sort = _is_number if is_number else _is_name
        if not is_same_sort(word) or key(word.text) in _PARTS:
            return None
        if at and self._are_related(word, pairs[at - 1][1]):
            return None  # the first word stands for the whole name
        last = at
        while last + 1 < len(pairs) and self._are_related(word, pairs[last + 1][1]):
            last += 1
        own = {key(token.text) for token, _ in pairs[at : last + 1]}
        beside = [*self._beside(pairs, last, 1), *self._beside(pairs, at, -1)]
        if any(key(other.text) in own for other, _ in beside):
            return None
        # "Ann, a friend of Bob, sang": no mark may be between a name and its neighbour.
        others = [other for other, near in beside if is_same_sort(other) and (near or is_number)]
        if any(self._are_related(word, other) for other in others):
            return None
        before = {key(token.text) for token, _ in pairs[max(0, at - _WIDEST_LINK) : at]}
        return next((other for other in others if self._cases(other) <= before), None)

    def _cases(self, name: Word) -> set[str]:
        """The prepositions of a name: "a doctor at Kew said" does not have Kew say it."""
        return {key(word.text) for word in self._source.children(name.index, "case")} - {"'s"}

    def _beside(self, pairs: Sequence[Pair], at: int, step: int) -> Iterator[tuple[Word, bool]]:
        """What the source has beside the next content word to one side, wherever it has that word,
        and whether no mark is between them."""
        links: list[str] = []
        after = pairs[at + 1 :] if step > 0 else pairs[:at][::-1]
        for token, word in after[:_WIDEST_LINK]:
            if key(token.text) in _LINKS or (step > 0 and key(token.text) in self._units):
                links.append(key(token.text))
                continue
            places = self._places.get(key(token.text), ())
            # What is said again may be said of something else: "and then to Kennedy".
            is_repeated = self._written[key(token.text)] > len(places)
            if word is not None and not _is_number(word) and not is_repeated:
                for place in places:
                    yield from self._before(place, links, step)
            return

    def _before(self, place: int, links: Sequence[str], step: int) -> Iterator[tuple[Word, bool]]:
        """The word on the other side of the links, seen from a place."""
        for link in (*reversed(links), None):
            place -= step
            if not 0 <= place < len(self._words):
                return
            found = self._words[place]
            if link is None:
                yield found, abs(found.index - self._words[place + step].index) == 1
            elif key(found.text) != link:
                return

    def _are_related(self, word: Word, other: Word | None) -> bool:
        """Whether both are parts of one name or of one list: "Ann and Bob"."""
        if other is None or not (_is_name(word) and _is_name(other)):
            return False
        return _phrase(self._source, word) == _phrase(self._source, other)


def _phrase(tree: Analysis, word: Word) -> Word:
    """The head of the phrase or the list that a name is part of."""
    while word.relation in ("flat", "compound", "conj", "appos") and word.head >= 0:
        word = tree[word.head]
    return word


def _is_number(word: Word) -> bool:
    return any(map(str.isdigit, word.text)) or key(word.text) in lexicon.NUMBERS


def _is_name(word: Word) -> bool:
    is_title = word.text.rstrip(".") in BEFORE_NAME
    return word.upos in NOMINAL and word.text[0].isupper() and word.index > 0 and not is_title
