"""Compare sentence segmenters on treebanks, contracts and our own hard cases; score our tokens.

    python benchmarks/segmentation.py DATA [--part dev] [--errors SYSTEM]

DATA is the folder that holds ``ud/`` and ``contracts/``. Every system reads the same documents in
the same run. A sentence end counts as found if it is after the same visible character, so
systems that trim or change whitespace are not penalised; the end of a document is not counted.
``--sets growth`` shows how our time grows with the length of adversarial text.
"""

import argparse
import gzip
import itertools
import re
import textwrap
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from importlib import import_module, metadata
from pathlib import Path

from parataxis.lab.analyser.data import gold_sentences
from parataxis.text.segments import sentence_spans
from parataxis.text.tokens import tokenize

HOSTILE = [
    "a",
    "a-",
    "1,",
    "a.b@",
    "http://",
    "n't",
    "[",
    "😀",
    ".",
    "a. ",
    "`a",
    "](",
    "[1]",
    "> ",
]
"""Units that, repeated, may cause backtracking in a pattern or a rule."""

CASES = Path(__file__).parents[1] / "tests" / "text" / "segmentation_cases.txt"

System = Callable[[str], list[str]]


@dataclass(frozen=True)
class Document:
    """A text and its sentences, in order; the text between them belongs to no sentence."""

    text: str
    ends: frozenset[int]

    @classmethod
    def of(cls, parts: Iterable[tuple[str, bool]]) -> "Document":
        """Build a document from (text, is this a sentence?) pairs."""
        text, ends, position = "", set(), 0
        for part, is_sentence in parts:
            text += part
            position += _visible(part)
            if is_sentence:
                ends.add(position)
        return cls(text, frozenset(ends - {position}))


def _visible(text: str) -> int:
    return len("".join(text.split()))


def treebank_documents(data: Path, treebank: str, part: str, width: int) -> Iterator[Document]:
    """Treebank documents: a space between sentences, a blank line between paragraphs.

    ``width`` > 0 wraps every paragraph at that many columns.
    """
    sentences = gold_sentences(data, treebank, part)
    for _, group in itertools.groupby(sentences, key=lambda sentence: sentence.document):
        parts: list[tuple[str, bool]] = []
        for sentence in group:
            if parts:
                parts.append(("\n\n" if sentence.starts_paragraph else " ", False))
            parts.append((sentence.analysis.text, True))
        document = Document.of(parts)
        yield Document(_wrap(document.text, width), document.ends) if width else document


def _wrap(text: str, width: int) -> str:
    return "\n\n".join(
        textwrap.fill(paragraph, width, break_long_words=False, break_on_hyphens=False)
        for paragraph in text.split("\n\n")
    )


def contract_documents(data: Path) -> Iterator[Document]:
    """Contract sentences, five to a paragraph, twenty to a document."""
    with gzip.open(data / "contracts" / "sentences.txt.gz", "rt", encoding="utf-8") as lines:
        sentences = [line.strip() for line in lines if line.strip()]
    for start in range(0, len(sentences), 20):
        parts: list[tuple[str, bool]] = []
        for index, sentence in enumerate(sentences[start : start + 20]):
            if index:
                parts.append((" " if index % 5 else "\n\n", False))
            parts.append((sentence, True))
        yield Document.of(parts)


def case_documents(categories: str) -> Iterator[Document]:
    """Our own hard cases (the head of the file describes its format)."""
    text = CASES.read_text(encoding="utf-8").replace("␍", "\r")
    for case in text.split("\n=== ")[1:]:
        title, _, body = case.partition("\n")
        if re.match(categories, title):
            pieces = re.split("([⟦⟧])", body)
            inside = itertools.accumulate(
                pieces, lambda now, p: {"⟦": 1, "⟧": 0}.get(p, now), initial=0
            )
            parts = [
                (p, bool(now)) for p, now in zip(pieces, inside, strict=False) if p not in "⟦⟧"
            ]
            yield Document.of(parts)


def systems() -> dict[str, System]:
    """Parataxis and every other segmenter that is installed, with its version."""
    found: dict[str, System] = {"parataxis": _parataxis}
    for name, make in (
        ("pysbd", lambda m: m.Segmenter(language="en", clean=False).segment),
        ("syntok", _syntok),
        ("blingfire", lambda m: lambda text: m.text_to_sentences(text).split("\n")),
        ("sentencex", lambda m: lambda text: list(m.segment("en", text))),
    ):
        module = "syntok.segmenter" if name == "syntok" else name
        try:
            found[f"{name} {metadata.version(name)}"] = make(import_module(module))
        except ImportError:
            print(f"{name} is not installed and is left out")
    return found


def _parataxis(text: str) -> list[str]:
    return [text[span.start : span.end] for span in sentence_spans(text)]


def _syntok(module: object) -> System:
    def segment(text: str) -> list[str]:
        sentences = itertools.chain.from_iterable(module.analyze(text))  # type: ignore[attr-defined]
        return ["".join(t.spacing + t.value for t in sentence) for sentence in sentences]

    return segment


def ends_of(text: str, sentences: Iterable[str]) -> set[int]:
    """The number of visible characters before each sentence end."""
    visible = "".join(text.split())
    position, ends = 0, set()
    for sentence in sentences:
        part = "".join(sentence.split())
        if not part:
            continue
        found = visible.find(part, position)
        # A system that changes characters is followed by length, or it would lose its place.
        position = (found if found >= 0 else position) + len(part)
        ends.add(position)
    return ends - {len(visible)}


@dataclass
class Score:
    """Sentence ends: right, found and wanted, and the seconds it took."""

    right: int = 0
    found: int = 0
    wanted: int = 0
    seconds: float = 0.0

    @property
    def f1(self) -> float:
        return 200 * self.right / max(1, self.found + self.wanted)

    @property
    def precision(self) -> float:
        return 100 * self.right / max(1, self.found)

    @property
    def recall(self) -> float:
        return 100 * self.right / max(1, self.wanted)


def measure(system: System, documents: list[Document], *, show: bool) -> Score:
    score = Score()
    for document in documents:
        start = time.perf_counter()
        sentences = system(document.text)
        score.seconds += time.perf_counter() - start
        ends = ends_of(document.text, sentences)
        score.right += len(ends & document.ends)
        score.found += len(ends)
        score.wanted += len(document.ends)
        if show:
            _show(document, ends)
    return score


def _show(document: Document, ends: set[int]) -> None:
    positions = [match.end() for match in re.finditer(r"\S", document.text)]
    for end in sorted(ends ^ document.ends):
        place = positions[end - 1]
        kind = "EXTRA " if end in ends else "MISSED"
        before = document.text[max(0, place - 50) : place]
        print(kind, repr(before), "|", repr(document.text[place : place + 40]))


def token_scores(data: Path, part: str) -> None:
    """Token F1 by character offsets, sentence by sentence, and the speed of the tokenizer."""
    print("\n### tokens\n\n| treebank | precision | recall | F1 | MB/s |\n|---|---|---|---|---|")
    for treebank in ("ewt", "gum"):
        analyses = [sentence.analysis for sentence in gold_sentences(data, treebank, part)]
        start = time.perf_counter()
        found = [tokenize(analysis.text) for analysis in analyses]
        score = Score(seconds=time.perf_counter() - start)
        for analysis, tokens in zip(analyses, found, strict=True):
            wanted = {(word.start, word.end) for word in analysis.words}
            spans = {(token.start, token.end) for token in tokens}
            score.right += len(spans & wanted)
            score.found += len(spans)
            score.wanted += len(wanted)
        speed = sum(len(analysis.text) for analysis in analyses) / score.seconds / 1e6
        figures = f"{score.precision:.2f} | {score.recall:.2f} | {score.f1:.2f}"
        print(f"| {treebank} {part} | {figures} | {speed:.1f} |")


def growth() -> None:
    """How much longer ten times as much adversarial text takes: about 10 if time is linear."""
    print("\n### growth: time for 200,000 characters, relative to 20,000\n")
    print("| unit | sentences | tokens |\n|---|---|---|")
    for unit in HOSTILE:
        ratios = [f"{_ratio(function, unit):.0f}" for function in (sentence_spans, tokenize)]
        print(f"| `` {unit} `` | {' | '.join(ratios)} |")


def _ratio(function: Callable[[str], object], unit: str) -> float:
    seconds = []
    for length in (20_000, 200_000):
        text = unit * (length // len(unit))
        start = time.perf_counter()
        function(text)
        seconds.append(time.perf_counter() - start)
    return seconds[1] / seconds[0]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data", type=Path)
    parser.add_argument("--part", default="dev", help="treebank part: train, dev or test")
    parser.add_argument("--errors", help="also print every wrong end of this system")
    parser.add_argument("--sets", default="", help="only the sets whose name starts so")
    options = parser.parse_args()

    sets = {
        "ewt": lambda: treebank_documents(options.data, "ewt", options.part, 0),
        "gum": lambda: treebank_documents(options.data, "gum", options.part, 0),
        "gum wrapped at 72": lambda: treebank_documents(options.data, "gum", options.part, 72),
        "contracts": lambda: contract_documents(options.data),
        "cases: prose, contract": lambda: case_documents("prose|contract"),
        "cases: layout, markdown": lambda: case_documents("layout|markdown"),
    }
    for name, read in sets.items():
        if not name.startswith(options.sets):
            continue
        documents = list(read())
        wanted = sum(len(document.ends) for document in documents)
        size = sum(len(document.text) for document in documents)
        print(f"\n### {name}: {len(documents)} documents, {wanted} ends, {size:,} characters\n")
        print("| system | precision | recall | F1 | time, relative |\n|---|---|---|---|---|")
        base = 0.0
        for system_name, system in systems().items():
            chosen = options.errors is not None and system_name.startswith(options.errors)
            score = measure(system, documents, show=chosen)
            base = base or score.seconds
            figures = f"{score.precision:.1f} | {score.recall:.1f} | {score.f1:.1f}"
            print(f"| {system_name} | {figures} | {score.seconds / base:.2f} |")
    if "tokens".startswith(options.sets):
        token_scores(options.data, options.part)
    if "growth".startswith(options.sets):
        growth()


if __name__ == "__main__":
    main()
