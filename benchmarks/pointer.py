"""How fast the pointer splitter is, beside T5-base and T5-small in the same run.

    python benchmarks/pointer.py [SENTENCES] [--count 96] [--slow-count 8] [--rounds 3]

SENTENCES is a JSONL file of rewrites ("complex" and "simple") or a text file with one sentence a
line; without it a few built-in sentences are used. The T5 models have random weights, since speed
does not depend on them, and are made to write as many word pieces as the reference has, or as our
own rewrite where there is no reference. Needs torch, transformers and ctranslate2; see
benchmarks/README.md.
"""

import argparse
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import ctranslate2
import onnxruntime
import torch
import transformers
from ctranslate2.converters import TransformersConverter
from rich.console import Console
from rich.table import Table
from tokenizers import Tokenizer, models

from parataxis.api import Splitter
from parataxis.checks import Checker
from parataxis.splitters.pointer import PointerSplitter
from parataxis.splitters.pointer.features import Features, read_source
from parataxis.splitters.pointer.model import OnnxDecoder, load_decoder, open_decoder
from parataxis.splitters.pointer.search import search
from parataxis.syntax.analyser import Analyser
from parataxis.syntax.labels import read_labels
from parataxis.syntax.onnx import SHIPPED, THREADS_VARIABLE, OnnxModel
from parataxis.syntax.wordpieces import load_word_pieces
from parataxis.text.tokens import tokenize

BATCH = 32
BEAMS = (4, 1)

# The shapes that the hub's "t5-base" and "t5-small" have.
T5_BASE = {"d_model": 768, "d_ff": 3072, "num_layers": 12, "num_heads": 12, "d_kv": 64}
T5_SMALL = {"d_model": 512, "d_ff": 2048, "num_layers": 6, "num_heads": 8, "d_kv": 64}
VOCABULARY = 32128

SENTENCES = (
    "The bridge, which was built in 1932 by a Danish firm, carries four lanes of traffic.",
    "Maria Lopez, a chemist from Oslo, won the award and gave the money to her old school.",
    "The committee met on Tuesday and approved the budget, but the mayor refused to sign it.",
    "If the Tenant fails to pay the rent by the fifth day of the month, the Landlord may charge a "
    "late fee, and the Tenant shall pay it together with the rent of the following month.",
    "The company said that it would close its plant in Leeds, where 400 people work, because "
    "demand had fallen by a third since the war began.",
    "Although the road was closed, several drivers tried to cross the flooded field.",
    "He was born in Lyon, grew up in Geneva and studied law at the University of Basel.",
    "The minister, who had promised to resign, stayed in office until the report, which had been "
    "delayed twice, was published in March.",
)

FIRST_REWRITE = """
import sys
from pathlib import Path
from parataxis.cli.main import main
try:
    main(["split", "--splitter", "pointer", "Ann, who left early, missed the last train."])
except SystemExit:
    pass
status = Path("/proc/self/status")  # the other ways to ask count the parent's memory too
lines = status.read_text().splitlines() if status.exists() else []
print(*(line.split()[1] for line in lines if line.startswith("VmHWM:")), file=sys.stderr)
"""


@dataclass(frozen=True)
class Item:
    """A sentence, and how many word pieces a T5 model reads and writes for it."""

    text: str
    source: Features
    pieces_in: int
    pieces_out: int


Runs = tuple[Callable[[Item], object], Callable[[Sequence[Item]], object]]


@dataclass
class System:
    """One system with one beam. ``start`` gives two functions that run it, on one sentence and on
    many; the best of several rounds counts, since other work on the machine only slows one down."""

    name: str
    beam: int
    items: Sequence[Item]
    start: Callable[[], Runs]

    def __post_init__(self) -> None:
        self.seconds = [float("inf")] * len(self.items)
        self.seconds_of_all = float("inf")

    def measure(self) -> None:
        """Run one round, after calls to warm up."""
        print(f"{self.name}, beam {self.beam} ...", file=sys.stderr, flush=True)
        one, _ = self.start()
        one(WARM_UP)
        for place, item in enumerate(self.items):
            taken = seconds(lambda item=item: one(item))  # type: ignore[misc]
            self.seconds[place] = min(self.seconds[place], taken)
        _, many = self.start()
        many([WARM_UP] * 2)
        self.seconds_of_all = min(self.seconds_of_all, seconds(lambda: many(self.items)))

    @property
    def alone(self) -> float:
        """Sentences a second, one at a time."""
        return len(self.items) / sum(self.seconds)

    @property
    def batched(self) -> float:
        """Sentences a second, in batches."""
        return len(self.items) / self.seconds_of_all

    def quantile(self, share: float) -> float:
        """The milliseconds that this share of the sentences stays under."""
        return 1000 * statistics.quantiles(self.seconds, n=100)[round(100 * share) - 1]


def read_pairs(path: Path | None) -> list[tuple[str, str | None]]:
    """Sentences with their references, where there are any."""
    if path is None:
        return [(sentence, None) for sentence in SENTENCES]
    lines = path.read_text(encoding="utf-8").splitlines()
    if path.suffix != ".jsonl":
        return [(line, None) for line in lines if line.strip()]
    records = [json.loads(line) for line in lines]
    return [(record["complex"], " ".join(record["simple"])) for record in records]


def prepare(
    pairs: Sequence[tuple[str, str | None]], splitter: Splitter | None = None
) -> list[Item]:
    """Count word pieces, with the end mark that a T5 model reads and writes."""
    items = []
    for text, reference in pairs:
        written = reference or (" ".join(splitter(text).simple) if splitter else text)
        source = read_source([token.text for token in tokenize(text)])
        (target,) = load_word_pieces()([[token.text for token in tokenize(written)]])
        # Without the marks that our encoder puts at both ends.
        items.append(Item(text, source, len(source.pieces.ids) - 1, len(target.ids) - 1))
    return items


WARM_UP = prepare([(SENTENCES[0], SENTENCES[0])])[0]


def spread(items: Sequence[Item], count: int) -> list[Item]:
    """So many items, of all lengths alike."""
    if count >= len(items):
        return list(items)
    ordered = sorted(items, key=lambda item: item.pieces_out)
    return [ordered[int((place + 0.5) * len(items) / count)] for place in range(count)]


def batches(items: Sequence[Item], size: int) -> list[list[Item]]:
    """Batches of similar length, longest first."""
    ordered = sorted(items, key=lambda item: -item.pieces_out)
    return [ordered[start : start + size] for start in range(0, len(ordered), size)]


def seconds(run: Callable[[], object]) -> float:
    """How long a call takes."""
    start = time.perf_counter()
    run()
    return time.perf_counter() - start


def our_model(decoder: OnnxDecoder, items: Sequence[Item], beam: int, threads: int) -> System:
    """The network and the search, without analysis and checks."""

    def many(some: Sequence[Item]) -> None:
        size = min(BATCH, -(-len(some) // threads))
        with ThreadPoolExecutor(threads) as pool:
            for _ in pool.map(
                lambda batch: search(decoder, [item.source for item in batch], beam=beam),
                batches(some, size),
            ):
                pass

    def one(item: Item) -> None:
        search(decoder, [item.source], beam=beam)

    return System("pointer, model only", beam, items, lambda: (one, many))


def our_splitter(decoder: OnnxDecoder, items: Sequence[Item], beam: int) -> System:
    """Everything that a user waits for: analysis, search, checks."""

    def start() -> Runs:
        # A new analyser, since it remembers what it has analysed.
        labels = read_labels(SHIPPED / "analyser.json")
        analyser = Analyser(OnnxModel(SHIPPED / "analyser.onnx"), labels)
        splitter = Splitter(PointerSplitter(analyser, decoder, Checker(analyser), beam=beam))
        return (
            lambda item: splitter(item.text),
            lambda some: list(splitter.pipe(item.text for item in some)),
        )

    return System("pointer, whole splitter", beam, items, start)


def t5(shape: dict[str, int]) -> transformers.T5ForConditionalGeneration:
    """A T5 model with random weights."""
    config = transformers.T5Config(
        vocab_size=VOCABULARY, decoder_start_token_id=0, **shape, num_decoder_layers=None
    )
    return transformers.T5ForConditionalGeneration(config).eval()


def with_transformers(items: Sequence[Item], beam: int) -> System:
    """T5-base as it comes from a hub."""
    model = t5(T5_BASE)

    def run(batch: Sequence[Item]) -> None:
        longest = max(item.pieces_in for item in batch)
        mask = torch.tensor([[n < item.pieces_in for n in range(longest)] for item in batch]).long()
        # A batch ends together; the mean length is kinder to it than its longest.
        length = round(statistics.mean(item.pieces_out for item in batch))
        with torch.inference_mode():
            model.generate(
                torch.randint(3, 30000, mask.shape) * mask,
                attention_mask=mask,
                num_beams=beam,
                do_sample=False,
                min_new_tokens=length,
                max_new_tokens=length,
            )

    def many(some: Sequence[Item]) -> None:
        for batch in batches(some, BATCH):
            run(batch)

    return System("T5-base, transformers", beam, items, lambda: (lambda item: run([item]), many))


def convert_t5_small(folder: Path) -> Path:
    """T5-small as CTranslate2 runs it, in int8."""
    source, target = folder / "t5-small", folder / "converted"
    t5(T5_SMALL).save_pretrained(source)
    words = ["<pad>", "</s>", "<unk>", *(f"piece{n}" for n in range(3, VOCABULARY))]
    vocabulary = {word: number for number, word in enumerate(words)}
    transformers.PreTrainedTokenizerFast(
        tokenizer_object=Tokenizer(models.WordLevel(vocabulary, unk_token="<unk>")),
        pad_token="<pad>",
        eos_token="</s>",
        unk_token="<unk>",
    ).save_pretrained(source)
    TransformersConverter(str(source)).convert(str(target), quantization="int8")
    return target


def with_ctranslate2(folder: Path, items: Sequence[Item], beam: int, threads: int) -> System:
    """T5-small under CTranslate2: the threads share one sentence, or take batches of their own."""
    options: dict[str, Any] = {"device": "cpu", "compute_type": "int8"}
    shared = ctranslate2.Translator(str(folder), intra_threads=threads, **options)
    apart = ctranslate2.Translator(str(folder), inter_threads=threads, intra_threads=1, **options)

    def run(translator: ctranslate2.Translator, batch: Sequence[Item]) -> None:
        length = round(statistics.mean(item.pieces_out for item in batch))
        translator.translate_batch(
            [[*(f"piece{n + 7}" for n in range(item.pieces_in - 1)), "</s>"] for item in batch],
            beam_size=beam,
            min_decoding_length=length,
            max_decoding_length=length,
        )

    def many(some: Sequence[Item]) -> None:
        size = min(BATCH, -(-len(some) // threads))
        with ThreadPoolExecutor(threads) as pool:
            for _ in pool.map(lambda batch: run(apart, batch), batches(some, size)):
                pass

    return System(
        "T5-small, CTranslate2 int8", beam, items, lambda: (lambda item: run(shared, [item]), many)
    )


def first_rewrite() -> tuple[float, float]:
    """Seconds from process start to the end of a process with one rewrite, and its megabytes."""
    best, memory = float("inf"), 0.0
    for _ in range(3):
        start = time.perf_counter()
        ended = subprocess.run(
            [sys.executable, "-c", FIRST_REWRITE], check=True, capture_output=True, text=True
        )
        best = min(best, time.perf_counter() - start)
        memory = max([memory, *(int(size) / 1024 for size in ended.stderr.split()[-1:])])
    return best, memory


def table_of(systems: Iterable[System]) -> Table:
    """All measurements, with the ratio of our model to each of the same beam."""
    table = Table(
        "system", "beam", "alone: sent./s", "p50 ms", "p95 ms", "ratio", "batches: sent./s", "ratio"
    )
    ours: dict[int, System] = {}
    for result in systems:
        own = ours.setdefault(result.beam, result)
        table.add_row(
            result.name,
            str(result.beam),
            f"{result.alone:.2f}",
            f"{result.quantile(0.5):.0f}",
            f"{result.quantile(0.95):.0f}",
            f"{own.alone / result.alone:.1f}",
            f"{result.batched:.2f}",
            f"{own.batched / result.batched:.1f}",
        )
    return table


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("sentences", type=Path, nargs="?")
    parser.add_argument("--count", type=int, default=96, help="sentences, of all lengths")
    parser.add_argument("--slow-count", type=int, default=8, help="sentences for T5-base")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--model", type=Path, help="a bundle other than the shipped one")
    options = parser.parse_args()
    os.environ[THREADS_VARIABLE] = str(options.threads)
    torch.set_num_threads(options.threads)
    transformers.logging.set_verbosity_error()

    decoder = open_decoder(options.model) if options.model else load_decoder()
    splitter = Splitter(PointerSplitter(decoder=decoder))
    items = spread(prepare(read_pairs(options.sentences), splitter), options.count)
    few = spread(items, options.slow_count)
    with tempfile.TemporaryDirectory() as folder:
        small = convert_t5_small(Path(folder))
        systems = [our_model(decoder, items, beam, options.threads) for beam in BEAMS]
        systems += [our_splitter(decoder, items, beam) for beam in BEAMS]
        systems += [with_ctranslate2(small, items, beam, options.threads) for beam in BEAMS]
    systems.append(with_transformers(few, BEAMS[0]))
    for _ in range(options.rounds):
        for system in systems:
            system.measure()

    console = Console(file=sys.stdout, width=110)
    console.print(
        f"{len(items)} sentences ({len(few)} for T5-base), "
        f"{statistics.mean(len(item.source) for item in items):.1f} words, "
        f"{statistics.mean(item.pieces_in for item in items):.1f} word pieces in, "
        f"{statistics.mean(item.pieces_out for item in items):.1f} out; {options.threads} threads, "
        f"{platform.machine()}, onnxruntime {onnxruntime.__version__}, torch {torch.__version__}, "
        f"transformers {transformers.__version__}, CTranslate2 {ctranslate2.__version__}"
    )
    console.print(table_of(systems))
    start, memory = first_rewrite()
    console.print(f"first rewrite {start:.2f} s after process start, {memory:.0f} MB resident")


if __name__ == "__main__":
    main()
