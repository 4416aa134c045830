"""Tests the guarantees of a splitter on real sentences: nothing invented, nothing lost, correct
provenance, the same result in every batch.

    python benchmarks/guarantees.py FILE... [--splitter NAME] [--strict] [--show N]

FILE holds a sentence on each line, or JSON lines with the field ``source`` or ``complex``. The
rules are implemented independently of the checks that the splitter itself uses.
"""

import argparse
import json
import re
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

from rich.console import Console
from rich.table import Table

from parataxis import Rewrite, Splitter
from parataxis.checks.lexicon import MODALS
from parataxis.rewrite.forms import key, lemmas
from parataxis.rewrite.record import Origin
from parataxis.splitters.pointer.actions import CLOSED_WORDS
from parataxis.text.english import NEGATIONS
from parataxis.text.tokens import tokenize

QUOTATION = re.compile(r"“([^“”]+)”|\"([^\"]+)\"")
WORD = re.compile(r"[^\W_]+")
RULES = ("new word", "lost number", "lost name", "lost negation", "lost modal", "lost quotation",
         "provenance", "depends on the batch")  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("files", nargs="+", type=Path, metavar="FILE")
    parser.add_argument("--splitter", default="pointer")
    parser.add_argument("--strict", action="store_true")
    parser.add_argument("--limit", type=int, default=None, metavar="N", help="sentences of a file")
    parser.add_argument("--again", type=int, default=1000, metavar="N",
                        help="sentences that are split again (default: 1000)")  # fmt: skip
    parser.add_argument("--show", type=int, default=0, metavar="N", help="violations of each rule")
    options = parser.parse_args()
    sources = list(
        dict.fromkeys(s for path in options.files for s in list(_read(path))[: options.limit])
    )
    splitter = Splitter(options.splitter, strict=options.strict)
    next(splitter.pipe(["It rained."]))
    start = time.perf_counter()
    rewrites = list(splitter.pipe(sources))
    seconds = time.perf_counter() - start
    report = Report(options.show)
    for rewrite in rewrites:
        report.add(rewrite)
    report.again(splitter, rewrites, options.again)
    report.print(options.splitter, len(sources) / seconds)


def _read(path: Path) -> Iterator[str]:
    with path.open(encoding="utf-8") as lines:
        for line in lines:
            if line.startswith("{"):
                record = json.loads(line)
                yield record.get("source") or record["complex"]
            elif line.strip():
                yield line.strip()


@dataclass
class Report:
    """Counts of violations, with the first examples of each."""

    show: int
    rewrites: list[Rewrite] = field(default_factory=list)
    violations: Counter[str] = field(default_factory=Counter)
    examples: dict[str, list[str]] = field(default_factory=dict)

    def add(self, rewrite: Rewrite) -> None:
        """Test one rewrite with all rules but the last."""
        self.rewrites.append(rewrite)
        for rule, what in _violations(rewrite):
            self._count(rule, f"{what!r}: {rewrite.source}\n    -> {' | '.join(rewrite.simple)}")

    def again(self, splitter: Splitter, rewrites: Sequence[Rewrite], count: int) -> None:
        """Split some sentences again, one by one and in another order."""
        sample = Random(1).sample(list(rewrites), min(count, len(rewrites)))
        alone = [splitter(rewrite.source) for rewrite in sample[: len(sample) // 4]]
        mixed = list(splitter.pipe(rewrite.source for rewrite in sample))
        for before, after in [*zip(sample, alone, strict=False), *zip(sample, mixed, strict=True)]:
            if before != after:
                self._count(
                    "depends on the batch",
                    f"{before.source}\n    {before.simple}\n    {after.simple}",
                )

    def _count(self, rule: str, example: str) -> None:
        self.violations[rule] += 1
        self.examples.setdefault(rule, []).append(example)

    def print(self, name: str, speed: float) -> None:
        """Print the table, the shares and the examples."""
        console = Console(width=110, soft_wrap=True)
        table = Table(title=f"{name}: {len(self.rewrites)} sentences")
        table.add_column("rule")
        table.add_column("violations", justify="right")
        table.add_column("%", justify="right")
        for rule in RULES:
            count = self.violations[rule]
            table.add_row(rule, str(count), f"{100 * count / len(self.rewrites):.2f}")
        console.print(table)
        for title, count in (
            ("split", sum(rewrite.is_split for rewrite in self.rewrites)),
            ("fallback to the source", sum(_fell_back(rewrite) for rewrite in self.rewrites)),
            ("another than the likeliest", sum(_is_other(rewrite) for rewrite in self.rewrites)),
            ("with a finding", sum(bool(rewrite.findings) for rewrite in self.rewrites)),
        ):
            console.print(f"{title}: {count} ({100 * count / len(self.rewrites):.1f} %)")
        console.print(f"{speed:.1f} sentences a second")
        for rule, examples in self.examples.items():
            for example in examples[: self.show]:
                console.print(f"\n{rule}: {example}", markup=False)


def _fell_back(rewrite: Rewrite) -> bool:
    return not rewrite.is_split and (rewrite.note or "").startswith("Left whole because the checks")


def _is_other(rewrite: Rewrite) -> bool:
    return (rewrite.note or "").startswith("This is not the likeliest")


def _violations(rewrite: Rewrite) -> Iterator[tuple[str, str]]:
    if not rewrite.is_split:
        return
    yield from _new_words(rewrite)
    yield from _lost(rewrite)
    yield from _wrong_provenance(rewrite)


def _words(text: str) -> list[str]:
    """The words of a text in lower case, separated at hyphens and full stops."""
    return [piece for token in tokenize(text) for piece in _pieces(token.text)]


def _pieces(token: str) -> list[str]:
    return [key(token)] if "'" in key(token) else WORD.findall(key(token))


def _new_words(rewrite: Rewrite) -> Iterator[tuple[str, str]]:
    """Words that are neither closed, nor in the source, nor a form of one of its words."""
    known = set(_words(rewrite.source)) | set(CLOSED_WORDS)
    forms = None
    for word in (word for simple in rewrite.simple for word in _words(simple)):
        if word in known or not any(map(str.isalnum, word)):
            continue
        forms = forms or {lemma for other in known for lemma in lemmas(other)}
        if forms.isdisjoint(lemmas(word)):
            yield "new word", word


def _lost(rewrite: Rewrite) -> Iterator[tuple[str, str]]:
    before, after = _words(rewrite.source), _words(" ".join(rewrite.simple))
    counts = Counter(after)
    for word, count in Counter(before).items():
        if any(map(str.isdigit, word)) and counts[word] < count and not _is_marker(word, rewrite):
            yield "lost number", word
    for name in _names(rewrite.source):
        if name not in counts and not set(after) & _other_forms(name):
            yield "lost name", name
    for rule, kind in (("lost negation", NEGATIONS), ("lost modal", MODALS)):
        needed = [word for word in before if word in kind]
        if sum(counts[word] for word in kind) < len(needed):
            yield rule, " ".join(needed)
    quoted = Counter(word for simple in rewrite.simple for q in _quotations(simple) for word in q)
    for quotation in _quotations(rewrite.source):
        if Counter(quotation) - quoted:
            yield "lost quotation", " ".join(quotation)


def _is_marker(word: str, rewrite: Rewrite) -> bool:
    """Whether a number is only a list marker: "(2)", "2)"."""
    return f"{word})" in rewrite.source


def _names(source: str) -> Iterator[str]:
    """Capitalised words that are not at the start of the source and are not function words."""
    for token in tokenize(source)[1:]:
        if token.text[0].isupper() and len(token.text) > 1:
            yield from (word for word in _pieces(token.text) if word not in CLOSED_WORDS)


def _other_forms(name: str) -> frozenset[str]:
    return lemmas(name) | {name.removesuffix("s"), f"{name}s"}


def _quotations(text: str) -> Iterator[list[str]]:
    for match in QUOTATION.finditer(text):
        yield WORD.findall(key(match[1] or match[2]))


def _wrong_provenance(rewrite: Rewrite) -> Iterator[tuple[str, str]]:
    if rewrite.provenance is None:
        yield "provenance", "there is none"
        return
    for simple, tokens in zip(rewrite.simple, rewrite.provenance, strict=True):
        covered = "".join(token.text for token in tokens)
        if covered != "".join(simple.split()):
            yield "provenance", f"{covered} for {simple}"
        for token in tokens:
            if token.source is None:
                if token.origin is not Origin.INSERTED:
                    yield "provenance", token.text
                continue
            word = key(rewrite.source[slice(*token.source)])
            written = key(token.text)
            is_copy = word.strip("_") == written.strip("_")
            if is_copy != (token.origin is Origin.COPIED) or (
                not is_copy and lemmas(word).isdisjoint(lemmas(written))
            ):
                yield "provenance", f"{token.text} from {word}"


if __name__ == "__main__":
    main()
