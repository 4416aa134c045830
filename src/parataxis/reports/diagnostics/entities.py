"""The entities of a corpus: those of its triples, or the names in its sources."""

from collections.abc import Iterable, Iterator, Sequence

from parataxis.corpora.contents import entities
from parataxis.corpora.example import Example
from parataxis.corpora.sentences import on_one_line
from parataxis.syntax.analysis import Analysis
from parataxis.text.tokens import tokenize

__all__ = ["Span", "find_entity", "names", "plain_name", "source_names", "triple_entities"]

Span = tuple[int, int]
"""The first word, and the one behind the last."""


def plain_name(entity: str) -> str:
    """An entity of a knowledge base as a text has it.

    >>> plain_name("Alan_Shepard"), plain_name('"HOK SVE"')
    ('Alan Shepard', 'HOK SVE')
    """
    return on_one_line(entity.strip().strip('"').replace("_", " "))


def triple_entities(examples: Iterable[Example]) -> list[str]:
    """The subjects and objects of all triples, each once and in the order of the examples, where a
    word of them has a capital; what has none is mostly a number ("42 m")."""
    found: dict[str, None] = {}
    for example in examples:
        found |= dict.fromkeys(sorted(map(plain_name, entities(example.triples))))
    return [name for name in found if any(word[:1].isupper() for word in name.split())]


def names(analysis: Analysis) -> list[str]:
    """The names in a sentence: runs of proper nouns, in order."""
    found: list[list[int]] = []
    for word in analysis:
        if not word.xpos.startswith("NNP"):  # UD calls the "New" of "New York" an adjective
            continue
        if found and found[-1][-1] == word.index - 1:
            found[-1].append(word.index)
        else:
            found.append([word.index])
    return [analysis.phrase(run[0], run[-1]) for run in found]


def source_names(sources: Iterable[str]) -> Iterator[list[str]]:
    """The names in each source, as the analyser finds them."""
    from parataxis.syntax.analyser import load_trees  # slow, and triples do without

    for analysis in load_trees().pipe(sources):
        yield names(analysis) if isinstance(analysis, Analysis) else []


def find_entity(words: Sequence[str], known: Iterable[str]) -> Span | None:
    """The words of the entity that a sentence names first; of two that begin there, the longer.

    >>> find_entity("The 3Arena in North Wall , Dublin".split(), ["North Wall, Dublin", "Dublin"])
    (3, 7)
    """
    lower = [word.lower() for word in words]
    best: Span | None = None
    for entity in known:
        wanted = [token.text.lower() for token in tokenize(entity)]
        for start in range(len(lower) - len(wanted) + 1 if wanted else 0):
            if lower[start : start + len(wanted)] == wanted:
                found = start, start + len(wanted)
                if best is None or (found[0], -found[1]) < (best[0], -best[1]):
                    best = found
                break
    return best
