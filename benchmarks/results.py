"""Writes docs/results.md: every system with available outputs, on HSplit and BiSECT.

    python benchmarks/results.py DATA > docs/results.md

DATA is the folder with ``hsplit/``, ``bisect/`` and ``ratings/``. Our splitters are run; the
outputs of the others are those published with BiSECT (Kim et al. 2021).
"""

import argparse
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from parataxis.api import Splitter
from parataxis.evaluate.compare import Comparison, System, compare
from parataxis.evaluate.compare_report import parts_table, scores_table
from parataxis.evaluate.corpora.example import Example
from parataxis.evaluate.corpora.registry import Corpus
from parataxis.evaluate.correlate import correlate
from parataxis.evaluate.judgements import Judged, read_judgements
from parataxis.evaluate.metrics.protocol import Metric
from parataxis.evaluate.metrics.registry import load_metric
from parataxis.evaluate.outputs import read_examples, read_output, read_system
from parataxis.evaluate.resample import Resampler
from parataxis.lab.metric import FittingData, agreement, family, held_out
from parataxis.report import Report, ReportFormat, Table

PUBLISHED = {
    "DisSim": "dissim",
    "COPY512 (WikiSplit)": "copy512_wiki",
    "COPY512 (BiSECT)": "copy512_bisect",
    "transformer (WikiSplit)": "transformer_wiki",
    "transformer (BiSECT)": "transformer_bisect",
    "BiSECT's model": "our_model_bisect_wiki",
}
OURS = {"rules": "rules", "**pointer**": "pointer"}
METRICS = (
    "bleu-lc",
    "sari",
    "sari-xu",
    "sari-hub",
    "exact-match",
    "fkgl",
    "sentences-per-source",
    "tokens-per-sentence",
    "compression",
    "additions",
    "deletions",
    "unsplit",
    "facts",
    "patterns",
    "learned",
    "verified",
)
CRITERIA = ("grammaticality", "meaning", "simplicity", "structural_simplicity")
CORRELATED = (
    "bleu-sentence",
    "bleu-narayan",
    "sari",
    "sari-xu",
    "sari-hub",
    "fkgl",
    "sentences-per-source",
    "tokens-per-sentence-macro",
    "compression",
    "copied",
    "additions",
    "deletions",
    "unchanged",
    "facts",
    "patterns",
    "verified",
)

HEAD = """\
# Results

<!-- Made by `python benchmarks/results.py DATA > docs/results.md`; do not edit. -->

The splitters of Parataxis compared with the published systems whose outputs are public, by every
automatic metric. Read [metrics](metrics.md) first: no automatic metric can tell whether a rewrite
is right. The ratings of the pointer by blind raters are in its [card](pointer.md).
"""
HSPLIT = """
## HSplit

359 sentences of Wikipedia with four rewrites by people (Sulem et al. 2018). SOURCE is a copy of the
sources; REFERENCE is each human rewrite against the other three, so it is compared with fewer
references than the systems are. An asterisk marks the best system if it differs from the second
with p < .05 (approximate randomisation, 1,000 trials).

"""
PARTS = """
The percentage of patterns of each kind that were split:

"""
LEARNED = """
The ratings that the learned metric predicts: grammaticality and meaning from 1 to 5,
simplicity and structural simplicity, compared with the source, from -2 to 2. It was fitted to
judgements of other systems on 70 of these sentences:

"""
BISECT = """
## BiSECT

583 sentences with one reference each. The references come from aligned translations and often
differ in meaning from the source, so a system that keeps the meaning loses points here.

"""
JUDGED = """
## Agreement with human judgements

Spearman's coefficient between each metric and the human judgements of 1,750 outputs of 25 systems
on 70 sentences of HSplit (Sulem et al. 2018). A dagger marks coefficients that are not significant
at .05, by bootstrap over the 70 sentences. If lower is better, as for FKGL, a negative coefficient
is agreement. The learned metric was fitted to these judgements, so each of its rows holds out
systems (or families of systems, or sources) and predicts them from the others only; it has a
prediction for each criterion.

"""


def main() -> None:
    """Write the page to standard output."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    data: Path = parser.parse_args().data
    for part in page(data):
        sys.stdout.write(part)


def page(data: Path) -> Iterator[str]:
    """The page, piece by piece."""
    folder = data / "hsplit"
    files = ["source.txt", *(f"ref{k}.txt" for k in range(1, 5))]
    corpus = Corpus("hsplit", tuple(folder / name for name in files))
    hsplit = comparison(f"hsplit:{','.join(map(str, corpus.paths))}", folder, METRICS)
    yield HEAD + HSPLIT + markdown(scores_table(hsplit).upright())
    yield PARTS + parts(hsplit, "patterns") + LEARNED + parts(hsplit, "learned")
    folder = data / "bisect"
    files = [str(folder / "test.src"), str(folder / "test.dst")]
    bisect = comparison(f"bisect:{','.join(files)}", folder, METRICS)
    yield BISECT + markdown(scores_table(bisect).upright())
    yield JUDGED + correlations(data / "ratings" / "structural_simplicity.csv", hsplit.examples)
    yield "\n## Signatures\n\n" + "".join(f"- `{each.signature}`\n" for each in hsplit.metrics)


def comparison(references: str, folder: Path, names: Sequence[str]) -> Comparison:
    """All systems on one evaluation set."""
    published = [
        read_output(folder / "outputs" / f"{file}.txt", name) for name, file in PUBLISHED.items()
    ]
    examples = read_examples(None, [references], published)
    systems = [read_system(output, examples) for output in published]
    systems += [ours(name, splitter, examples) for name, splitter in OURS.items()]
    return compare(examples, systems, [load_metric(name) for name in names], Resampler())


def ours(name: str, splitter: str, examples: Sequence[Example]) -> System:
    """One of our splitters on the original sources."""
    rewrites = Splitter(splitter).pipe([example.source for example in examples])
    return System(name, tuple(rewrite.simple for rewrite in rewrites))


def correlations(path: Path, examples: Sequence[Example]) -> str:
    """The correlation of every metric with every criterion, over all rewrites."""
    metrics: list[Metric] = [load_metric(name) for name in CORRELATED]
    judged = read_judgements(path, CRITERIA, examples=examples)
    rows: dict[str, list[str]] = {}
    for each in correlate(judged, metrics):
        mark = "" if each.is_significant else "†"
        rows.setdefault(each.metric, [each.metric]).append(f"{each.value:.3f}{mark}")
    material = FittingData.of(judged)
    parts: dict[str, Callable[[Judged], str]] = {
        "systems": lambda each: each.system,
        "families": family,
        "sources": lambda each: each.item.source,
    }
    for name, part in parts.items():
        found = agreement(material, held_out(material, part))
        label = f"learned, {name} held out"
        rows[label] = [label, *(f"{found[criterion].value:.3f}" for criterion in CRITERIA)]
    return markdown(Table(["metric", *CRITERIA], list(rows.values())))


def parts(found: Comparison, name: str) -> str:
    """The parts of one metric."""
    metric = next(each for each in found.metrics if each.name == name)
    table = parts_table(found, metric)
    return markdown(Table(["system", *table.header[1:]], table.rows))


def markdown(table: Table) -> str:
    """A table in Markdown."""
    return Report("", [table], bare=True).render(ReportFormat.MARKDOWN)


if __name__ == "__main__":
    main()
