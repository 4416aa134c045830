"""Claims against the atomic facts that people wrote for FActScore (Min et al. 2023).

People split each sentence of a language model's biographies into atomic facts, by revising those
that a language model had proposed. Claims and facts are matched one to one; a pair counts by the F1
of its content words. Both have the words of the sentence, so words are enough.
"""

import argparse
import gzip
import json
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from scipy.optimize import linear_sum_assignment

from parataxis import Splitter
from parataxis.checks.verifier import load_verifier
from parataxis.rewrite.forms import key, lemmas
from parataxis.syntax.analyser import load_trees
from parataxis.syntax.analysis import Analysis
from parataxis.syntax.patterns import find_patterns
from parataxis.text import english
from parataxis.text.tokens import has_word, tokenize

PER_SYSTEM = 183
"""The file has the same people three times: for ChatGPT, InstructGPT and PerplexityAI."""
SAME = 0.8
"""The F1 of the content words from which a claim and a fact count as the same."""
DOUBTFUL = 0.5
"""The probability of a fault from which the verifier's verdict counts as one."""
_EMPTY = english.ARTICLES | english.BE | {"be", "been", "has", "have", "had", "that", ".", "also"}
_PRONOUNS = {
    form for name in english.THIRD_PERSON for form in english.PRONOUN_FORMS[name]
} | english.DEMONSTRATIVES - {"that"}

Facts = list[tuple[str, list[str], list[str]]]
"""Each sentence with the facts that people wrote and those that they revised."""


def read_facts(path: Path, system: int, limit: int | None) -> Facts:
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        records = [json.loads(line) for line in lines]
    found = []
    for record in records[system * PER_SYSTEM : (system + 1) * PER_SYSTEM]:
        for each in record["annotations"] or ():
            human, model = (
                [fact["text"] for fact in each.get(f"{who}-atomic-facts") or ()]
                for who in ("human", "model")
            )
            if human and each["text"].strip():
                found.append((each["text"].strip(), human, model))
    return found[:limit]


def content(text: str) -> Counter[str]:
    words = [key(token.text) for token in tokenize(text) if has_word(token.text)]
    return Counter(min(lemmas(word)) for word in words if word not in _EMPTY)


def similarity(one: Counter[str], other: Counter[str]) -> float:
    shared = (one & other).total()
    return 2 * shared / ((one.total() + other.total()) or 1)


def matched(claims: Sequence[str], facts: Sequence[str]) -> tuple[float, int]:
    """The sum of the similarities of the best one-to-one matching, and the number of the same."""
    ours, theirs = list(map(content, claims)), list(map(content, facts))
    table = np.array([[similarity(one, other) for other in theirs] for one in ours])
    rows, columns = linear_sum_assignment(-table)
    values = table[rows, columns]
    return float(values.sum()), int((values >= SAME).sum())


def is_atomic(analysis: Any) -> bool:
    """Whether a claim has none of the seven patterns at which a sentence can be split."""
    return isinstance(analysis, Analysis) and not find_patterns(analysis)


def is_self_contained(claim: str) -> bool:
    return not any(key(token.text) in _PRONOUNS for token in tokenize(claim))


def measure(facts: Facts, claims: Sequence[Sequence[str]]) -> dict[str, float]:
    soft = same = ours = theirs = 0.0
    for (_, human, _), own in zip(facts, claims, strict=True):
        value, count = matched(own, human)
        soft, same = soft + value, same + count
        ours, theirs = ours + len(own), theirs + len(human)
    every = [claim for own in claims for claim in own]
    return {
        "claims per sentence": ours / len(facts),
        "precision": 100 * same / ours,
        "recall": 100 * same / theirs,
        "F1": 200 * same / (ours + theirs),
        "word F1": 200 * soft / (ours + theirs),
        "atomic": 100 * sum(map(is_atomic, load_trees().pipe(every))) / ours,
        "self-contained": 100 * sum(map(is_self_contained, every)) / ours,
        "doubtful": 100 * _doubtful(facts, claims) / ours,
    }


def _doubtful(facts: Facts, claims: Sequence[Sequence[str]]) -> int:
    """The claims in which the verifier expects a fault."""
    verifier = load_verifier()
    return sum(
        int((verifier(sentence, [list(own)])[0].faults[:, -1] > DOUBTFUL).sum())
        for (sentence, _, _), own in zip(facts, claims, strict=True)
        if list(own) != [sentence]
    )


def systems(facts: Facts) -> Iterator[tuple[str, Callable[[], list[list[str]]]]]:
    sentences = [sentence for sentence, _, _ in facts]

    def claims(splitter: Splitter) -> list[list[str]]:
        return [[claim.text for claim in splitter.claims(each)] for each in sentences]

    yield "people", lambda: [human for _, human, _ in facts]
    yield "InstructGPT, before people revised it", lambda: [m or [s] for s, _, m in facts]
    yield "the sentence itself", lambda: [[each] for each in sentences]
    yield "rules", lambda: claims(Splitter("rules"))
    yield "level plain", lambda: claims(Splitter("pointer"))
    yield "claims (level atomic)", lambda: claims(Splitter("pointer", level="atomic"))


def embedded(texts: Sequence[str]) -> np.ndarray:
    """The texts as unit vectors of all-MiniLM-L6-v2: the mean of the vectors of the word pieces."""
    import torch

    from parataxis.lab.encoder import encoder_folder, load_encoder
    from parataxis.syntax.wordpieces import load_word_pieces

    torch.set_num_threads(1)
    encoder = load_encoder(encoder_folder()).eval()
    pieces = load_word_pieces()([[token.text for token in tokenize(text)] for text in texts])
    vectors = np.zeros((len(texts), encoder.size.width), dtype=np.float32)
    order = sorted(range(len(texts)), key=lambda place: len(pieces[place].ids))
    for start in range(0, len(order), 64):
        batch = order[start : start + 64]
        width = max(len(pieces[place].ids) for place in batch)
        ids = torch.zeros(len(batch), width, dtype=torch.long)
        mask = torch.zeros(len(batch), width)
        for row, place in enumerate(batch):
            own = pieces[place].ids
            ids[row, : len(own)] = torch.tensor(list(own))
            mask[row, : len(own)] = 1
        with torch.no_grad():
            last = encoder(ids, torch.zeros_like(ids), mask)[-1]
        vectors[batch] = ((last * mask[..., None]).sum(1) / mask.sum(1, keepdim=True)).numpy()
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def retrieve(facts: Facts) -> None:
    """Look facts up by their meaning: how often the sentence of a fact is the first parent found,
    or among the first five."""
    sentences = [sentence for sentence, _, _ in facts]
    asked = [(place, fact) for place, (_, human, _) in enumerate(facts) for fact in human]
    # A fact about "he" could be any sentence's; one with a name has a right answer.
    asked = [(place, fact) for place, fact in asked if is_self_contained(fact)]
    queries = embedded([fact for _, fact in asked])
    wanted = np.array([place for place, _ in asked])
    print(f"{len(asked)} facts looked up among {len(sentences)} sentences\n")
    print("| index of | entries | first | among five |\n|---|--:|--:|--:|")
    for name, make in systems(facts):
        if name not in ("the sentence itself", "level plain", "claims (level atomic)"):
            continue
        units = make()
        parents = np.array([place for place, own in enumerate(units) for _ in own])
        index = embedded([text for own in units for text in own])
        scores = np.full((len(asked), len(sentences)), -1.0, dtype=np.float32)
        for place in range(len(index)):  # the score of a parent is that of its best entry
            parent = parents[place]
            scores[:, parent] = np.maximum(scores[:, parent], queries @ index[place])
        own = scores[np.arange(len(asked)), wanted]
        rank = (scores > own[:, None]).sum(1)
        first, five = (100 * float((rank < limit).mean()) for limit in (1, 5))
        print(f"| {name} | {len(index)} | {first:.1f} | {five:.1f} |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("facts", type=Path, help="FActScore's atomic_facts.jsonl.gz")
    parser.add_argument("--system", type=int, default=1, choices=range(3))
    parser.add_argument("--limit", type=int, help="only the first sentences")
    parser.add_argument("--retrieval", action="store_true", help="look facts up; needs [train]")
    options = parser.parse_args()
    facts = read_facts(options.facts, options.system, options.limit)
    print(f"{len(facts)} sentences, {sum(len(human) for _, human, _ in facts)} facts\n")
    if options.retrieval:
        retrieve(facts)
        return
    heading = None
    for name, make in systems(facts):
        start = time.process_time()
        claims = make()
        seconds = time.process_time() - start
        figures = measure(facts, claims)
        if heading is None:
            heading = ["system", *figures, "claims per second of a core"]
            print(f"| {' | '.join(heading)} |\n|---|{'--:|' * (len(heading) - 1)}")
        is_made = name not in ("people", "the sentence itself") and "GPT" not in name
        rate = f"{sum(map(len, claims)) / seconds:.0f}" if is_made else ""
        row = [name, *(f"{value:.1f}" for value in figures.values()), rate]
        print(f"| {' | '.join(row)} |", flush=True)


if __name__ == "__main__":
    main()
