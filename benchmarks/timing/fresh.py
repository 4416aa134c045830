"""The cost of a new process: seconds until its first work is done, and its memory."""

import statistics
import subprocess
import sys
import time
from collections.abc import Sequence

__all__ = ["fresh"]

SENTENCE = "Ann, who left early, missed the last train."
PLAIN = """
import sys
class Hidden:  # as in a plain installation: lemminflect imports spaCy where there is one
    def find_spec(self, name, *_):
        if name.partition(".")[0] == "spacy": raise ModuleNotFoundError(name)
sys.meta_path.insert(0, Hidden())
"""
SPLIT = """
from parataxis.cli.main import main
try:
    main({arguments})
except SystemExit:
    pass
"""
MEMORY = """
import sys
from pathlib import Path
status = Path("/proc/self/status")  # the other ways to ask count the parent's memory too
lines = status.read_text().splitlines() if status.exists() else []
print(*(line.split()[1] for line in lines if line.startswith("VmHWM:")), file=sys.stderr)
"""
MANY = """
import itertools
from parataxis import Splitter
sentences = itertools.islice(itertools.cycle({sentences!r}), {count})
for _ in Splitter("pointer").pipe(f"{{text}} ({{n}})" for n, text in enumerate(sentences)): pass
"""

PROGRAMS = {
    "parataxis --version": SPLIT.format(arguments=["--version"]),
    "split, source": SPLIT.format(arguments=["split", "--splitter", "source", SENTENCE]),
    "split, rules": SPLIT.format(arguments=["split", "--splitter", "rules", SENTENCE]),
    "split, pointer": SPLIT.format(arguments=["split", "--splitter", "pointer", SENTENCE]),
    "analyser, one sentence": (
        f"from parataxis.syntax.analyser import load_analyser as a; a()({SENTENCE!r})"
    ),
}


def fresh(
    rounds: int, sentences: Sequence[str], counts: Sequence[int]
) -> dict[str, dict[str, float]]:
    """For each program the median seconds of a process, and its peak memory in MB. The last ones
    split many sentences, to show how memory grows."""
    programs = dict(PROGRAMS)
    for count in counts:
        programs[f"pointer, {count} sentences"] = MANY.format(sentences=sentences, count=count)
    found = {}
    for name, program in programs.items():
        runs = [
            _run(PLAIN + program + MEMORY) for _ in range(1 if name not in PROGRAMS else rounds)
        ]
        found[name] = {
            "seconds": statistics.median(seconds for seconds, _ in runs),
            "megabytes": max(megabytes for _, megabytes in runs),
        }
    return found


def _run(program: str) -> tuple[float, float]:
    start = time.perf_counter()
    ended = subprocess.run(
        [sys.executable, "-c", program], check=True, capture_output=True, text=True
    )
    seconds = time.perf_counter() - start
    return seconds, max([0.0, *(int(size) / 1024 for size in ended.stderr.split()[-1:])])
