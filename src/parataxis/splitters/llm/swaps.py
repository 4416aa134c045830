"""Words that have changed places: who did it became to whom it was done; the year of one thing
became that of another. A model that copies in order hardly ever does that, so the checks do not
look for it; a language model may."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence, Set
from itertools import combinations, pairwise

from parataxis.checks.origins import Origins
from parataxis.rewrite.forms import key
from parataxis.rewrite.record import Finding, Kind, OutputToken
from parataxis.splitters.pointer.actions import closed_word
from parataxis.syntax.analysis import Analysis, Word
from parataxis.text.tokens import Token, has_word, tokenize

__all__ = ["swapped_neighbours", "swapped_parts"]


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
        kind=Kind.RELATION,
        words=word.text,
        sentence=index,
        start=word.start,
        end=word.end,
        message=message,
    )
