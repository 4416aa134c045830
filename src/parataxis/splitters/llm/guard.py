"""A "not" where the source denies nothing. The checks only ask whether a source denies anything at
all, since people put a denial in many ways; here it must belong to the same verb."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from itertools import combinations, pairwise

from parataxis.checks import Checker
from parataxis.checks.checker import SentenceAnalyser
from parataxis.checks.findings import Origins
from parataxis.checks.lexicon import NEGATIVE_GROUNDS
from parataxis.errors import TooLongError
from parataxis.rewrite.align import align
from parataxis.rewrite.forms import key, lemmas
from parataxis.rewrite.record import Finding, FindingKind, Origin, OutputToken
from parataxis.splitters.pointer.actions import closed_word
from parataxis.syntax.analysis import Analysis, Word
from parataxis.text.english import NEGATIVE_ADVERBS
from parataxis.text.tokens import Token, has_word, tokenize

_INSIDE = ("det", "advmod", "case", "cc")


def new_denials(
    source: Analysis, sentence: Analysis, index: int, tokens: Sequence[OutputToken]
) -> Iterator[Finding]:
    """The words that deny in a simple sentence what the source does not deny."""
    origins = Origins(source, tokens)
    known = _beside(source)
    for word, places in zip(sentence, _places(sentence), strict=True):
        if key(word.text) not in NEGATIVE_ADVERBS or word.head < 0 or places & known:
            continue
        verb = origins.any(sentence[word.head])
        if verb is not None and not _is_denied(source, verb):
            yield Finding(
                kind=FindingKind.NEW,
                words=word.text,
                sentence=index,
                start=word.start,
                end=word.end,
                message=f"The source does not deny '{verb.text}'.",
            )


def _beside(tree: Analysis) -> set[tuple[str, str]]:
    """All pairs of neighbours. A "not" beside a neighbour that it has in the source was copied with
    it, and what it denies may have been left to the reader: "she did not"."""
    return set().union(*_places(tree))


def _places(tree: Analysis) -> list[set[tuple[str, str]]]:
    """For each word the pairs in which it stands."""
    pairs = list(pairwise(key(word.text) for word in tree))
    return [set(pairs[max(0, place - 1) : place + 1]) for place in range(len(tree))]


def _is_denied(source: Analysis, verb: Word) -> bool:
    """Whether a negative word belongs to a verb or to what governs it: "refused to pay"."""
    while True:
        if _is_negative(verb) or any(map(_is_negative, _near(source, verb))):
            return True
        if verb.head < 0:
            return False
        head = source[verb.head]
        shares = verb.relation in ("xcomp", "acl") or (
            verb.relation == "conj" and not source.children(verb.index, "nsubj")
        )
        if not shares:
            return _is_negative(head)
        verb = head


def _near(source: Analysis, verb: Word) -> Iterator[Word]:
    """The words that belong to a verb, and the small ones that belong to them: "no reason"."""
    for child in source.children(verb.index):
        yield child
        yield from source.children(child.index, *_INSIDE)


def _is_negative(word: Word) -> bool:
    return not NEGATIVE_GROUNDS.isdisjoint(lemmas(key(word.text)))


# Words that have changed places: who did it became to whom it was done; the year of one thing
# became that of another. A model that copies in order hardly ever does that, so the checks do not
# look for it; a language model may.


def swapped_parts(
    source: Analysis, sentence: Analysis, index: int, tokens: Sequence[OutputToken]
) -> Iterator[Finding]:
    """The nouns that do in a simple sentence what is done to them in the source, or the reverse.

    The voice does not matter: "Bob was beaten by Ann" says what "Ann beat Bob" says.
    """
    origins = Origins(source, tokens)
    for word in sentence:
        part = _part(sentence, word)
        if part is None:
            continue
        head = sentence[word.head]
        noun, verb = origins.any(word), origins.any(head)
        if noun is None or verb is None or noun.head != verb.index:
            continue
        if _part(source, noun) not in (None, part):
            message = f"'{word.text}' has another part in '{head.text}' than in the source."
            yield _finding(word, index, message)


def _part(tree: Analysis, word: Word) -> str | None:
    """What a noun has to do with the verb it belongs to: it acts, or something is done to it.
    None where that is not certain: of "the goods left there" a parser knows neither."""
    if word.head < 0 or word.upos not in ("NOUN", "PROPN"):
        return None
    verb = tree[word.head]
    is_passive = bool(tree.children(verb.index, "aux:pass"))
    match word.relation:
        case "nsubj" if is_passive:
            return "done to"
        case "nsubj" if tree.children(verb.index, "obj", "iobj"):
            return "acts"
        case "obj" | "iobj":
            return "done to"
        case "obl" if is_passive or (verb.xpos, verb.deprel) == ("VBN", "acl"):
            cases = [key(each.text) for each in tree.children(word.index, "case")]
            return "acts" if cases == ["by"] else None
    return None


def swapped_neighbours(source: Analysis, simple: Sequence[str]) -> Iterator[Finding]:
    """The words that stand before each other's next word: "$7 for the apples" and "$5 for the
    pears", where it was the reverse. Function words are passed over.

    Two of the four words must be numbers or names. Where the first two are, the next ones are no
    verbs: "Bob beat Ann" for "Ann, beaten by Bob" is right.
    """
    tags = {key(word.text): word.upos for word in source}
    before, after = _next_words([source.text]), _next_words(simple)
    for one, other in combinations(sorted(before.keys() & after.keys()), 2):
        crossed = after[one] & before[other], after[other] & before[one]
        if not all(crossed) or after[one] & before[one] or after[other] & before[other]:
            continue
        first = {tags.get(one), tags.get(other)}
        following = {tags.get(word) for words in crossed for word in words}
        if not _are_facts(following) and ("VERB" in following or not _are_facts(first)):
            continue
        index, word = _place(simple, one)
        message = f"'{one}' and '{other}' have swapped what belongs to them."
        yield _finding(word, index, message)


def _are_facts(tags: Set[str | None]) -> bool:
    return tags in ({"NUM"}, {"PROPN"})


def _next_words(sentences: Iterable[str]) -> dict[str, set[str]]:
    following: dict[str, set[str]] = defaultdict(set)
    for sentence in sentences:
        words = [key(token.text) for token in tokenize(sentence)]
        for left, right in pairwise(word for word in words if _has_content(word)):
            following[left].add(right)
    return following


def _has_content(word: str) -> bool:
    return closed_word(word) is None and has_word(word)


def _place(simple: Sequence[str], word: str) -> tuple[int, Token]:
    return next(
        (index, token)
        for index, sentence in enumerate(simple)
        for token in tokenize(sentence)
        if key(token.text) == word
    )


def _finding(word: Word | Token, index: int, message: str) -> Finding:
    return Finding(
        kind=FindingKind.RELATION,
        words=word.text,
        sentence=index,
        start=word.start,
        end=word.end,
        message=message,
    )


# What is wrong with a language model's rewrite: the findings of the checks, each word that the
# pointer splitter could not have written, and words that are all there but say something else.

Provenance = tuple[tuple[OutputToken, ...], ...]


@dataclass(frozen=True, slots=True)
class GuardedCandidate:
    """A rewrite that a language model proposes, with its provenance and its findings."""

    simple: tuple[str, ...]
    provenance: Provenance
    findings: tuple[Finding, ...]

    def gravity(self, blocking: Set[FindingKind]) -> tuple[int, int]:
        """How bad it is: the findings that rule it out, then all of them."""
        return sum(each.kind in blocking for each in self.findings), len(self.findings)


class _Known(dict[str, Analysis | TooLongError]):
    """Analyses that are there already, so that the checks need not make them again."""

    def pipe(self, sentences: Iterable[str]) -> Iterator[Analysis | TooLongError]:
        return map(self.__getitem__, sentences)


def examine(
    rewrites: Sequence[tuple[str, tuple[str, ...]]], analyser: SentenceAnalyser
) -> list[GuardedCandidate]:
    """The candidates for sources and their simple sentences, in order, checked side by side."""
    texts = {text: None for source, simple in rewrites for text in (source, *simple)}
    known = _Known(dict(zip(texts, analyser.pipe(texts), strict=True)))
    analyses = {text: each for text, each in known.items() if isinstance(each, Analysis)}
    # Without provenance the checks read every sentence, not only those where words were moved: a
    # language model can go wrong anywhere.
    all_findings = Checker(known).pipe(rewrites)
    candidates = []
    for (source, simple), found in zip(rewrites, all_findings, strict=True):
        provenance = align(source, simple)
        findings = [*found, *_foreign_words(provenance, found)]
        if source in analyses:
            findings += _twists(analyses[source], simple, provenance, analyses)
        candidates.append(GuardedCandidate(simple, provenance, tuple(findings)))
    return candidates


def _twists(
    source: Analysis,
    simple: Sequence[str],
    provenance: Provenance,
    analyses: Mapping[str, Analysis],
) -> Iterator[Finding]:
    yield from swapped_neighbours(source, simple)
    for index, (sentence, tokens) in enumerate(zip(simple, provenance, strict=True)):
        if sentence in analyses:
            yield from swapped_parts(source, analyses[sentence], index, tokens)
            yield from new_denials(source, analyses[sentence], index, tokens)


def _foreign_words(provenance: Provenance, known: Sequence[Finding]) -> Iterator[Finding]:
    """Words that are neither in the source, nor forms of its words, nor closed ones. The checks
    let some of them pass, which people may use ("termination" for "terminate")."""
    places = [
        (each.sentence, each.start, each.end) for each in known if each.kind is FindingKind.NEW
    ]
    for index, tokens in enumerate(provenance):
        for token in tokens:
            if token.origin is not Origin.INSERTED or closed_word(key(token.text)) is not None:
                continue
            if not any(
                sentence == index and start <= token.start < end for sentence, start, end in places
            ):
                yield Finding(
                    kind=FindingKind.NEW,
                    words=token.text,
                    sentence=index,
                    start=token.start,
                    end=token.end,
                    message=f"'{token.text}' is not in the source.",
                )
