"""``parataxis downstream``: do parsers and extractors read better after splitting?"""

from collections.abc import Sequence
from itertools import chain, islice
from pathlib import Path

from parataxis.api import DEFAULT_SPLITTER, Splitter
from parataxis.cli.options import Natural, OptionalCount, ReportFormatOption, documented
from parataxis.cli.terminal import Output, Progress
from parataxis.errors import InputError
from parataxis.evaluate.corpora.treebanks import read_treebank
from parataxis.evaluate.resample import Resampler
from parataxis.lab.downstream.effect import effect_report, effects
from parataxis.lab.downstream.parsers import load_extractor, load_parser
from parataxis.lab.downstream.score import SplitSentence
from parataxis.report import ReportFormat, counted
from parataxis.rewrite.compose import left_whole
from parataxis.rewrite.jsonl import UNKNOWN_SPLITTER, read_rewrites
from parataxis.rewrite.record import Level, Rewrite
from parataxis.text.files import strict_lines


@documented
def downstream(
    treebank: list[Path],
    parser: list[str] | None = None,
    extractor: list[str] | None = None,
    frames: Path | None = None,
    splitter: str = DEFAULT_SPLITTER,
    strict: bool = False,
    level: Level = Level.PLAIN,
    rewrites: Path | None = None,
    lengths: str = "10,20,30,40",
    limit: OptionalCount = None,
    output_format: ReportFormatOption = ReportFormat.TEXT,
    trials: Natural = 1000,
    seed: Natural = 1,
) -> None:
    """Compare what parsers find in the sentences of a treebank and in their rewrites.

    The trees of the treebank say what is right. What is found in a simple sentence is brought
    back to the words of its source. Scores are shown before and after, by the length of sentences,
    for all of them and for those that were split.

    Options:
    FILES: Treebanks in CoNLL-U; .gz is unpacked.
    --parser, -p NAME: analyser (ours; the default) or spacy:MODEL, such as spacy:en_core_web_sm;
        can be repeated.
    --extractor, -e NAME: Also triples, by textacy:MODEL, where MODEL is that of spaCy; needs
        --frames.
    --frames FILE: PropBank frames of the sentences, as JSON lines; .gz is unpacked.
    --splitter, -s NAME: Which splitter to use.
    --strict: As in `parataxis split`: only sure rewrites.
    --level: As in `parataxis split`: how far to split.
    --rewrites, -r FILE: Rewrites of the sentences by any system, as JSON lines, in place of a
        splitter; a sentence without one stays whole.
    --lengths N,N,...: The most words of each group of sentences.
    --limit, -n N: Only the first N sentences, for a trial run.
    --trials: Resampled treebanks for intervals; 0 omits them.
    --seed: The seed of the resampling.
    """
    readers = [load_parser(name) for name in parser or ["analyser"]]
    extractors = [load_extractor(name) for name in extractor or []]
    groups = _lengths(lengths)
    read = chain.from_iterable(read_treebank(file, frames) for file in treebank)
    gold = list(islice((each for each in read if each.analysis.text.strip()), limit))
    if not gold:
        raise InputError("The treebank has no sentences.")
    texts = [each.analysis.text for each in gold]
    if rewrites:
        stream = iter(_given(rewrites, texts))
    else:
        stream = Splitter(splitter, strict=strict, level=level).pipe(texts)
    out = Output()
    steps = 1 + len(readers) + len(extractors)
    with Progress(steps * len(gold), out) as progress:
        sentences = []
        for each, rewrite in zip(gold, stream, strict=True):
            sentences.append(SplitSentence(each, rewrite))
            progress.advance(1, 1)
        results = effects(
            sentences,
            readers,
            extractors,
            lengths=groups,
            resampler=Resampler(trials, seed) if trials else None,
            advance=lambda count: progress.advance(count, count),
        )
    out.write(effect_report(results, _notes(sentences)).render(output_format))


def _given(path: Path, texts: Sequence[str]) -> list[Rewrite]:
    """The rewrites in a file, in the order of the treebank."""
    known = {each.source: each for each in read_rewrites(strict_lines(path), str(path))}
    if not known.keys() & set(texts):
        raise InputError(f"No rewrite in {path} has a sentence of the treebank as its source.")
    (name, *others) = {rewrite.splitter for rewrite in known.values()}
    whole = UNKNOWN_SPLITTER if others else name
    return [known.get(text) or left_whole(text, splitter=whole) for text in texts]


def _lengths(text: str) -> list[int]:
    parts = text.split(",")
    if not all(part.strip().isdecimal() and int(part) for part in parts):
        raise InputError(f'Lengths are numbers of words, such as "10,20,30", not "{text}".')
    return [int(part) for part in parts]


def _notes(sentences: Sequence[SplitSentence]) -> list[str]:
    split = [sentence for sentence in sentences if sentence.rewrite.is_split]
    torn = sum(sentence.torn for sentence in split)
    arcs = torn + sum(len(sentence.arcs) for sentence in split)
    names = ", ".join(sorted({sentence.rewrite.splitter for sentence in sentences}))
    return [
        f"{counted(len(sentences), 'sentence')}, {len(split):,} of them split by {names}",
        f"{torn:,} of the {arcs:,} arcs of split sentences are torn: they cannot be attached after "
        "splitting",
    ]
