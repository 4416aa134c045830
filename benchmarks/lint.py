"""How long ``parataxis lint`` takes for 200 pages of 500 words, beside ``parataxis split``.

    python benchmarks/lint.py [FILE | FOLDER]... [--jobs 2]

Without arguments it reads the documentation and the source of this checkout. Both commands get the
same running text and the same number of processes. Times are those of the whole commands, with
their start; processor time is that of all their processes.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from parataxis.lint.commands import find_files
from parataxis.lint.readers import read_source
from parataxis.splitters.settings import word_count

ROOT = Path(__file__).parents[1]
PAGES, WORDS_OF_A_PAGE = 200, 500


class Duration(NamedTuple):
    """The time of a command on the wall, and that of the processor, in seconds."""

    wall: float
    processor: float


def measured(*arguments: object) -> Duration:
    before, start = os.times(), time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-m", "parataxis", *map(str, arguments)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
    )
    if done.returncode not in (0, 1):
        raise SystemExit(done.stderr)
    wall, after = time.perf_counter() - start, os.times()
    spent = after.children_user - before.children_user
    return Duration(wall, spent + after.children_system - before.children_system)


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("inputs", nargs="*", default=[str(ROOT / "docs"), str(ROOT / "src")])
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args(arguments)
    files = find_files(options.inputs, [])
    sources = [read_source(file.read(), file.form, file.name) for file in files]
    sentences = [each.text for source in sources for each in source.sentences]
    words = sum(map(word_count, sentences))
    pages = words / WORDS_OF_A_PAGE
    print(f"{len(files)} files, {len(sentences):,} sentences, {words:,} words ({pages:.0f} pages)")
    with tempfile.TemporaryDirectory() as folder:
        text = Path(folder) / "sentences.txt"
        text.write_text("".join(f"{each}\n" for each in sentences), encoding="utf-8")
        cache = ("--cache", Path(folder) / "cache", "--jobs", options.jobs)
        split = ("--input", "lines", "--jobs", options.jobs, "--output", Path(folder) / "out.txt")
        first = measured("lint", *options.inputs, *cache)
        second = measured("lint", *options.inputs, *cache)
        whole = measured("split", text, *split)
    print(f"seconds for {PAGES} pages   wall  processor")
    for name, found in (("lint", first), ("lint again", second), ("split", whole)):
        wall, processor = (PAGES / pages * each for each in found)
        print(f"{name:20}{wall:11.1f}{processor:11.1f}")
    print(f"lint takes {first.processor / whole.processor:.2f} of the processor time of split")


if __name__ == "__main__":
    main()
