"""SPLIT-SEQ2SEQ of Narayan et al. (2017): cut the triples of a source into parts, and write a
sentence for each part. It reads the triples, not the sentence.

The partition is the most frequent one in training for the same relations. Relations that never
occurred together are cut, in tree order, into parts of the most frequent sizes.
"""

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path

from parataxis.errors import InputError, ParataxisError
from parataxis.evaluate.corpora.example import Triple
from parataxis.lab.lstm.search import BEAM, search, words_of
from parataxis.lab.lstm.splitter import TRIPLES, Written, compose, open_model, written
from parataxis.lab.websplit import depth_first
from parataxis.rewrite.record import Rewrite
from parataxis.text.tokens import tokenize

PARTITIONS = "partitions.json"
_NAME = "split-seq2seq"


Part = tuple[Triple, ...]


def in_tree_order(triples: Iterable[tuple[str, str, str]]) -> tuple[Triple, ...]:
    """Triples from the root of their tree on, depth first; children by their names.

    >>> [fact.relation for fact in in_tree_order(
    ...     [("Ghent", "country", "Belgium"), ("Ann", "home", "Ghent"), ("Ann", "age", "9")])]
    ['age', 'home', 'country']
    """
    return depth_first(sorted(Triple(*triple) for triple in triples))


def linearised(part: Iterable[tuple[str, str, str]]) -> str:
    """A part as the model reads it: names as words, relations as they are.

    >>> linearised([("Ada_Vell", "birthPlace", "Morrow")])
    'Ada Vell birthPlace Morrow'
    """
    facts = in_tree_order(part)
    return " ".join(f"{f.subject} {f.relation} {f.object}" for f in facts).replace("_", " ")


class Partitions:
    """How often training cuts triples with certain relations in a certain way."""

    def __init__(self) -> None:
        self._cuts: dict[str, Counter[str]] = defaultdict(Counter)
        self._sizes: dict[int, Counter[str]] = defaultdict(Counter)

    def add(self, parts: Sequence[Iterable[tuple[str, str, str]]]) -> None:
        relations = [sorted(triple[1] for triple in part) for part in parts]
        together = sorted(relation for part in relations for relation in part)
        self._cuts[_key(together)][_key(relations)] += 1
        self._sizes[len(together)][_key([len(part) for part in relations])] += 1

    def cut(self, triples: Iterable[tuple[str, str, str]]) -> list[Part]:
        facts = in_tree_order(triples)
        seen = self._cuts.get(_key(sorted(fact.relation for fact in facts)))
        if seen:
            return _by_relations(facts, json.loads(_most_common(seen)))
        sizes = self._sizes.get(len(facts))
        wanted = json.loads(_most_common(sizes)) if sizes else [1] * len(facts)
        parts = []
        for size in wanted:
            parts.append(facts[:size])
            facts = facts[size:]
        return parts

    def write(self, path: Path) -> None:
        stored = {"cuts": self._cuts, "sizes": {str(n): each for n, each in self._sizes.items()}}
        path.write_text(json.dumps(stored, ensure_ascii=False) + "\n", encoding="utf-8")

    @classmethod
    def load(cls, path: Path) -> "Partitions":
        try:
            stored = json.loads(path.read_text(encoding="utf-8"))
            found = cls()
            for key, cuts in stored["cuts"].items():
                found._cuts[key] = Counter(cuts)
            for number, sizes in stored["sizes"].items():
                found._sizes[int(number)] = Counter(sizes)
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise ParataxisError(f"{path} cannot be read; train the model again.") from error
        return found


class TriplesSplitter:
    """The model of a folder that ``train seq2seq --config split-seq2seq`` made."""

    name = _NAME

    def __init__(self, folder: Path, *, beam: int = BEAM) -> None:
        self._model = open_model(folder)
        if self._model.description.reads != TRIPLES:
            raise ParataxisError(f"The model in {folder} reads sentences, not triples.")
        self._partitions = Partitions.load(folder / PARTITIONS)
        self.beam = beam

    def rewrite(self, sentence: str, triples: Iterable[tuple[str, str, str]]) -> Rewrite:
        """Say the triples of a sentence in simple sentences."""
        parts = self._partitions.cut(triples)
        if not parts:
            raise InputError(f'"{sentence}" has no triples, and {_NAME} reads nothing else.')
        words = [words_of(linearised(part)) for part in parts]
        vocabulary = self._model.vocabulary
        found = search(
            self._model.decoder, [vocabulary.read(each) for each in words], beam=self.beam
        )
        tokens = tokenize(sentence)
        simple = [
            # The places are those of the triples' words, which are not the sentence's.
            compose([Written(word.text, None) for word in each], sentence, tokens)[0]
            for hypotheses, part in zip(found, words, strict=True)
            for each in written(hypotheses[0], part, vocabulary)
        ]
        return Rewrite(source=sentence, simple=tuple(simple or [sentence]), splitter=self.name)


def _by_relations(facts: Sequence[Triple], relations: Sequence[Sequence[str]]) -> list[Part]:
    left = list(facts)
    parts = []
    for wanted in relations:
        part = []
        for relation in wanted:
            fact = next(fact for fact in left if fact.relation == relation)
            left.remove(fact)
            part.append(fact)
        parts.append(tuple(part))
    return parts


def _key(value: Sequence[object]) -> str:
    return json.dumps(value, ensure_ascii=False)


def _most_common(counts: Counter[str]) -> str:
    return min(counts, key=lambda key: (-counts[key], key))
