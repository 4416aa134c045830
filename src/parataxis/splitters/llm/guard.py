"""Checks a language model's rewrite more closely than other rewrites.

Besides the findings of the checks it reports words that the pointer splitter could not have
written, new denials, and words that have swapped places. It looks for more of these than the checks
do, because a language model makes such errors more often than a model that copies.
"""

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

Provenance = tuple[tuple[OutputToken, ...], ...]


@dataclass(frozen=True, slots=True)
class GuardedCandidate:
    """A rewrite by a language model, with its provenance and its findings."""

    simple: tuple[str, ...]
    provenance: Provenance
    findings: tuple[Finding, ...]

    def gravity(self, blocking: Set[FindingKind]) -> tuple[int, int]:
        """How bad the rewrite is: the number of blocking findings, then of all findings."""
        return sum(each.kind in blocking for each in self.findings), len(self.findings)


class _Known(dict[str, Analysis | TooLongError]):
    """An analyser that returns ready analyses, so that the checks need not repeat them."""

    def pipe(self, sentences: Iterable[str]) -> Iterator[Analysis | TooLongError]:
        return map(self.__getitem__, sentences)


def examine(
    rewrites: Sequence[tuple[str, tuple[str, ...]]], analyser: SentenceAnalyser
) -> list[GuardedCandidate]:
    """Check rewrites, given as sources and their simple sentences, in one batch."""
    texts = {text: None for source, simple in rewrites for text in (source, *simple)}
    known = _Known(dict(zip(texts, analyser.pipe(texts), strict=True)))
    analyses = {text: each for text, each in known.items() if isinstance(each, Analysis)}
    # Without provenance the checks read every sentence, not only those with moved words: a language
    # model can go wrong anywhere.
    all_findings = Checker(known).pipe(rewrites)
    candidates = []
    for (source, simple), found in zip(rewrites, all_findings, strict=True):
        provenance = align(source, simple)
        findings = [*found, *_foreign_words(provenance, found)]
        if source in analyses:
            findings += _twisted_words(analyses[source], simple, provenance, analyses)
        # The checks report some denials and swaps too; each is reported once.
        candidates.append(GuardedCandidate(simple, provenance, tuple(dict.fromkeys(findings))))
    return candidates


def _twisted_words(
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
    allow some of these to people ("termination" for "terminate")."""
    new = [each for each in known if each.kind is FindingKind.NEW]
    for index, tokens in enumerate(provenance):
        for token in tokens:
            if token.origin is not Origin.INSERTED or closed_word(key(token.text)) is not None:
                continue
            if not any(f.sentence == index and f.start <= token.start < f.end for f in new):
                message = f"'{token.text}' is not in the source."
                yield _finding(FindingKind.NEW, token, index, message)


def _finding(
    kind: FindingKind, word: Word | Token | OutputToken, index: int, message: str
) -> Finding:
    return Finding(
        kind=kind,
        words=word.text,
        sentence=index,
        start=word.start,
        end=word.end,
        message=message,
    )


def new_denials(
    source: Analysis, sentence: Analysis, index: int, tokens: Sequence[OutputToken]
) -> Iterator[Finding]:
    """Negations of verbs that the source does not negate. The checks also compare negations verb by
    verb, but allow people more ways to phrase one."""
    origins = Origins(source, tokens)
    known = _beside(source)
    for word, places in zip(sentence, _places(sentence), strict=True):
        if key(word.text) not in NEGATIVE_ADVERBS or word.head < 0 or places & known:
            continue
        verb = origins.any(sentence[word.head])
        if verb is not None and not _is_denied(source, verb):
            message = f"The source does not deny '{verb.text}'."
            yield _finding(FindingKind.NEW, word, index, message)


def _beside(tree: Analysis) -> set[tuple[str, str]]:
    """All pairs of neighbours. A "not" with the same neighbour as in the source was copied with it,
    and its verb may be elided: "she did not"."""
    return set().union(*_places(tree))


def _places(tree: Analysis) -> list[set[tuple[str, str]]]:
    """The pairs of neighbours that each word belongs to."""
    pairs = list(pairwise(key(word.text) for word in tree))
    return [set(pairs[max(0, place - 1) : place + 1]) for place in range(len(tree))]


def _is_denied(source: Analysis, verb: Word) -> bool:
    """Whether a negative word belongs to a verb or to its governor: "refused to pay"."""
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
    """The dependents of a verb and their function words: "no reason"."""
    for child in source.children(verb.index):
        yield child
        yield from source.children(child.index, *_INSIDE)


def _is_negative(word: Word) -> bool:
    return not NEGATIVE_GROUNDS.isdisjoint(lemmas(key(word.text)))


def swapped_parts(
    source: Analysis, sentence: Analysis, index: int, tokens: Sequence[OutputToken]
) -> Iterator[Finding]:
    """Nouns that are the agent in a simple sentence and the patient in the source, or vice versa.

    The voice does not matter: "Bob was beaten by Ann" means the same as "Ann beat Bob".
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
            yield _finding(FindingKind.RELATION, word, index, message)


def _part(tree: Analysis, word: Word) -> str | None:
    """Whether a noun is the agent or the patient of its verb; None if that is not certain: a parser
    cannot tell for "the goods left there"."""
    if word.head < 0 or word.upos not in ("NOUN", "PROPN"):
        return None
    verb = tree[word.head]
    is_passive = bool(tree.children(verb.index, "aux:pass"))
    match word.relation:
        case "nsubj" if is_passive:
            return "patient"
        case "nsubj" if tree.children(verb.index, "obj", "iobj"):
            return "agent"
        case "obj" | "iobj":
            return "patient"
        case "obl" if is_passive or (verb.xpos, verb.deprel) == ("VBN", "acl"):
            cases = [key(each.text) for each in tree.children(word.index, "case")]
            return "agent" if cases == ["by"] else None
    return None


def swapped_neighbours(source: Analysis, simple: Sequence[str]) -> Iterator[Finding]:
    """Pairs of words that have exchanged the words after them: "$7 for the apples" and "$5 for the
    pears" where the source has it the other way round. Function words are skipped.

    Either both first words or both next words must be numbers or names. In the former case the next
    words must not be verbs: "Bob beat Ann" is right for "Ann, beaten by Bob".
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
        yield _finding(FindingKind.RELATION, word, index, message)


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
