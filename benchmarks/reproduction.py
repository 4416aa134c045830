"""Writes docs/reproduction.md: every table and figure of the papers, beside what Parataxis finds.

    python benchmarks/reproduction.py --data DATA --work DIR > docs/reproduction.md

DATA is the folder with ``webnlg/``, ``report2019/``, ``hsplit/``, ``bisect/``, ``ratings/``,
``wikisplit/`` and ``contracts/``. WebSplit is built in DIR, and used again by the next run. What
needs hours on a GPU is not run: those numbers are recorded in ``recorded.toml`` with the page that
says how they were measured.
"""

import argparse
import contextlib
import gzip
import io
import json
import random
import subprocess
import sys
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from parataxis.api import Splitter
from parataxis.cli.main import main as parataxis
from parataxis.evaluate.corpora.example import Example
from parataxis.evaluate.corpora.registry import parse_corpus
from parataxis.evaluate.corpora.sentences import cut_line
from parataxis.evaluate.metrics.protocol import ScoredItem, score, score_all
from parataxis.evaluate.metrics.registry import load_metric
from parataxis.report import Report, ReportFormat, Table
from parataxis.studies.agreement import Bucket, Posterior
from parataxis.syntax.analyser import load_analyser
from parataxis.syntax.analysis import Analysis
from parataxis.syntax.patterns import Pattern, find_patterns
from parataxis.text.files import ReadReport
from parataxis.text.tokens import tokenize

RECORDED = tomllib.loads(Path(__file__).with_name("recorded.toml").read_text(encoding="utf-8"))
SIX = ("Astronaut", "Building", "Monument", "SportsTeam", "University", "WrittenWork")
PEERS = {
    "DisSim": "dissim",
    "COPY512 (WikiSplit)": "copy512_wiki",
    "COPY512 (BiSECT)": "copy512_bisect",
    "transformer (WikiSplit)": "transformer_wiki",
    "transformer (BiSECT)": "transformer_bisect",
    "BiSECT's model": "our_model_bisect_wiki",
}
SAMPLES = 20
"""How many samples of 100 sources the patterns are counted in."""


class Page:
    """The inputs of the page, and what several of its sections share."""

    def __init__(self, data: Path, work: Path) -> None:
        self.data, self.work = data, work
        self.websplit, self.six = work / "websplit", work / "six"
        for folder, categories in ((self.websplit, ()), (self.six, SIX)):
            if not folder.exists():
                named = [word for name in categories for word in ("--category", name)]
                archive = data / "webnlg" / "release_v2-xml.tar.xz"
                target = f"websplit-v1.0:{folder}"
                run("corpus", "build-websplit", archive, "--to", target, "--tokens", *named)
        if not (work / "test.jsonl").exists():
            program = Path(__file__).with_name("datasets.py")
            command = [sys.executable, program, "--data", data, "--output", work]
            subprocess.run(command, check=True, stdout=sys.stderr)
        self.test = read(f"jsonl:{work / 'test.jsonl'}")
        """The sources of the 2019 report with the references of our WebSplit."""
        self.report = {
            name: read(f"jsonl:{work / f'report-{name}.jsonl'}")
            for name in ("websplit", "wikisplit")
        }
        self.hsplit = read(f"hsplit:{','.join(map(str, self.hsplit_files()))}")

    def hsplit_files(self) -> list[Path]:
        """The sources of HSplit and its four references."""
        names = ["source.txt", *(f"ref{k}.txt" for k in range(1, 5))]
        return [self.data / "hsplit" / name for name in names]

    def sections(self) -> Iterator[str]:
        """The page, piece by piece."""
        yield RECORDED["texts"]["head"]
        yield "\n## Zhang et al. (2020)\n"
        for each in (self.patterns, self.sizes, self.rules, self.ratings, self.bounds):
            yield "\n" + each()
        yield "\n## The 2019 report\n"
        for each in (self.training_sets, self.report_scores):
            yield "\n" + each()
        yield "\n" + RECORDED["texts"]["report_ratings"]
        yield "\n## Aharoni and Goldberg (2018)\n"
        for each in (self.leaks, self.models, self.figures):
            yield "\n" + each()
        yield "\n## Peers of today\n"
        yield "\n" + self.peers()

    def patterns(self) -> str:
        """Table 1."""
        wiki = read(f"wikisplit:{self.data / 'wikisplit' / 'validation.tsv'}")
        plain = [
            each.source for each in wiki if all(c.isalnum() or c in " ,." for c in each.source)
        ]
        with gzip.open(
            self.data / "contracts" / "sentences.txt.gz", "rt", encoding="utf-8"
        ) as file:
            contracts = file.read().splitlines()
        columns = {
            "WebSplit": [each.source for each in self.test],
            "WikiSplit": random.Random(1).sample(plain, 500),
            "contracts": random.Random(1).sample(contracts, 500),
        }
        found = {name: pattern_counts(sources) for name, sources in columns.items()}
        paper = RECORDED["zhang_table_1"]
        rows = []
        for pattern in [*map(str, Pattern), "patterns/sent"]:
            cells = [
                cell
                for k, name in enumerate(found)
                for cell in (str(paper[pattern][k]), found[name][pattern])
            ]
            rows.append([pattern, *cells])
        names = ["WebSplit", "here", "Wiki-BM", "here: WikiSplit", "Cont-BM", "here: contracts"]
        return section("table_1", markdown(["in 100 sources", *names], rows))

    def sizes(self) -> str:
        """Table 2."""
        rows = []
        for name, examples in (("WebSplit", self.test), ("HSplit", self.hsplit)):
            references = [each for example in examples for each in example.references]
            words = sum(len(tokenize(each.source)) for each in examples)
            sentences = sum(map(len, references))
            paper = RECORDED["zhang_table_2"].get(name, [""] * 4)
            here = (
                *(f"{len(examples):,}", f"{len(references):,}"),
                *(f"{words / len(examples):.1f}", f"{sentences / len(references):.1f}"),
            )
            rows += [[f"{name}, paper", *map(str, paper)]] * (name == "WebSplit")
            rows.append([f"{name}, here", *here])
        for name in ("Wiki-BM", "Cont-BM"):
            rows.append([f"{name}, paper", *map(str, RECORDED["zhang_table_2"][name])])
        header = ["", "# complex", "# simple", "# toks/complex", "# sents/simple"]
        return section("table_2", markdown(header, rows))

    def rules(self) -> str:
        """Section 3.2, and the BLEU of table 3."""
        rules = Splitter("rules").pipe(example.source for example in self.test)
        written = {
            "rule-based": [rewrite.simple for rewrite in rules],
            "neural, trained on WikiSplit": outputs(self.report["wikisplit"]),
            "SOURCE": [(example.source,) for example in self.test],
        }
        paper = {"rule-based": "61.3", "neural, trained on WikiSplit": "56.0"}
        rows = [
            [name, paper.get(name, ""), scores(["bleu"], self.test, simple)[0]]
            for name, simple in written.items()
        ]
        return section("section_3_2", markdown(["BLEU on WebSplit", "paper", "here"], rows))

    def ratings(self) -> str:
        """Tables 3 and 4: what people say, and how far BLEU agrees with them."""
        card = markdown(["", "raters", "*correct*"], RECORDED["zhang_table_3"]["rows"])
        references = f"hsplit:{','.join(map(str, self.hsplit_files()))}"
        ratings = self.data / "ratings" / "structural_simplicity.csv"
        chosen = [word for name in CRITERIA for word in ("--criterion", name)]
        found = run(
            *("correlate", ratings, "-r", references, "-m", "bleu-sentence", *chosen, "-f", "json")
        )
        cells = [
            f"{each['value']:.3f}{'' if each['p_value'] < 0.05 else '†'}"
            for each in found["correlations"]
        ]
        table = markdown(
            ["sentence BLEU and", *CRITERIA], [["1,750 outputs of 25 systems", *cells]]
        )
        paper = markdown(*RECORDED["zhang_table_4"].values())
        return section("table_3", card) + "\n" + section("table_4", f"{paper}\n{table}")

    def bounds(self) -> str:
        """Figure 1 and the bounds of section 6; the budget."""
        rows = []
        for yes in (16, 15, 14):
            share = Posterior(Bucket(3, 3), yes, 16 - yes).at_least()
            rows.append(
                [f"3 of 3 raters; expert {yes} of 16", "more than about 80 %", f"> {share:.0%}"]
            )
        for yes in (0, 1):
            share = Posterior(Bucket(0, 3), yes, 16 - yes).at_most()
            rows.append(
                [f"0 of 3 raters; expert {yes} of 16", "less than about 10 %", f"< {share:.0%}"]
            )
        table = markdown(["*correct* by", "paper, 90 %", "here"], rows)
        return section("figure_1", table) + "\n" + RECORDED["texts"]["budget"]

    def training_sets(self) -> str:
        """Table 4 of the 2019 report."""
        wiki = [
            example
            for part in ("tune", "validation")
            for example in read(f"wikisplit:{self.data / 'wikisplit' / f'{part}.tsv'}")
        ]
        rows = []
        examples = parse_corpus(f"websplit-v1.0:{self.websplit}").read(ReadReport())
        for name, found in (("WebSplit", examples), ("WikiSplit", wiki)):
            counts = part_counts(found)
            rows.append(
                [name, *RECORDED["report_table_4"][name], *(f"{each:,}" for each in counts)]
            )
        header = [
            "",
            "C, paper",
            "unique",
            "S', paper",
            "unique",
            "C, here",
            "unique",
            "S', here",
            "unique",
        ]
        return section("report_table_4", markdown(header, rows))

    def report_scores(self) -> str:
        """Table 6 of the 2019 report."""
        names = ["bleu", "fkgl-2019", "sentences-per-source", "tokens-per-sentence-2019", "sari"]
        rows = []
        for name, paper in RECORDED["report_table_6"].items():
            here = scores(names, self.test, outputs(self.report[name.lower()]))
            rows += [[f"{name}, paper", *paper], [f"{name}, here", *here]]
        rows.append(["SOURCE, here", *scores(names, self.test, [(e.source,) for e in self.test])])
        header = ["trained on", "BLEU", "FKGL", "#S/C", "#T/S", "SARI"]
        return section("report_table_6", markdown(header, rows))

    def leaks(self) -> str:
        """Tables 1 and 4 of Aharoni and Goldberg: the split by chance, and that by triples."""
        text = ""
        for table, by in (("table_1", "chance"), ("table_4", "triples")):
            parts = self.work / f"{by}.json"
            found = run(
                *(
                    "corpus",
                    "split",
                    f"websplit-v1.0:{self.six}",
                    "--by",
                    by,
                    "-o",
                    parts,
                    "-f",
                    "json",
                )
            )
            rows = []
            for part in ("train", "validation", "test"):
                paper = RECORDED[f"aharoni_{table}"][part]
                for side in ("complex", "simple"):
                    counts = [f"{found[part][key]:,}" for key in (side, f"{side}_unique")]
                    rows.append([f"{part} {side} sentences", *paper[side], *counts])
            for part in ("validation", "test"):
                for each in found[part]["in_training"]:
                    paper = RECORDED[f"aharoni_{table}"][part].get(each["kind"])
                    if paper:
                        rows.append([f"{part} {each['kind']} in train", *paper, *shares(each)])
            header = ["", "paper", "unique", "here", "unique"]
            text += section(f"aharoni_{table}", markdown(header, rows)) + "\n"
        return text

    def models(self) -> str:
        """Tables 2, 3, 5, 6 and 7: models that were trained on a GPU."""
        text = ""
        for name in (
            "aharoni_table_2",
            "aharoni_table_3",
            "aharoni_table_5",
            "aharoni_table_6",
            "aharoni_table_7",
        ):
            table = RECORDED[name]
            text += section(name, markdown(table["header"], table["rows"])) + "\n"
        return text

    def figures(self) -> str:
        """Figures 1 and 2, by the small models of the examples."""
        here = Path(__file__).parents[1]
        sentence = RECORDED["figure"]["sentence"]
        for splitter, name in (("seq2seq", "figure-1"), ("copynet", "figure-2")):
            folder = self.work / name
            model = here / "examples" / "memorisation" / splitter
            run(
                "diagnose",
                "attention",
                "-s",
                f"{splitter}:{model}",
                "-o",
                folder,
                sentence,
                "-f",
                "json",
            )
            picture = (folder / "attention-1.png").read_bytes()
            (here / "docs" / "images" / f"attention-{splitter}.png").write_bytes(picture)
        return RECORDED["texts"]["figures"]

    def peers(self) -> str:
        """HSplit by the measures of WikiSplit++."""
        written = {"SOURCE": [(example.source,) for example in self.hsplit]}
        for name, file in PEERS.items():
            path = self.data / "hsplit" / "outputs" / f"{file}.txt"
            lines = path.read_text(encoding="utf-8").splitlines()
            written[name] = [cut_line(line, marked=True) for line in lines]
        for name in ("rules", "pointer"):
            rewrites = Splitter(name).pipe(example.source for example in self.hsplit)
            written[name] = [rewrite.simple for rewrite in rewrites]
        written["REFERENCE 1"] = [example.references[0] for example in self.hsplit]
        names = ["sentences-per-source", "bleu-lc", "sari-hub", "verified"]
        rows = []
        for name, simple in written.items():
            pool = self.hsplit
            if name.startswith("REFERENCE"):
                pool = [Example(e.source, e.references[1:], e.id) for e in self.hsplit]
            count, bleu, sari, verified = scores(names, pool, simple)
            rows.append([name, count, bleu, swapped_sari(pool, simple), sari, verified])
        rows += RECORDED["peers"]["rows"]
        header = [
            "HSplit",
            "#S/C",
            "BLEU",
            "SARI, its evaluator",
            "SARI, arguments in order",
            "verified",
        ]
        return section("peers", markdown(header, rows))


CRITERIA = ("grammaticality", "meaning", "simplicity", "structural_simplicity")


def pattern_counts(sources: Sequence[str]) -> dict[str, str]:
    """How many of 100 sources show each pattern, and the lowest and highest in samples of 100."""
    analyses = load_analyser().pipe(sources)
    found = [
        {str(each.pattern) for each in find_patterns(analysis)}
        for analysis in analyses
        if isinstance(analysis, Analysis)
    ]
    chance = random.Random(1)
    samples = [chance.sample(found, 100) for _ in range(SAMPLES)]
    cells = {}
    for pattern in map(str, Pattern):
        counts = [sum(pattern in each for each in sample) for sample in samples]
        mean = 100 * sum(pattern in each for each in found) / len(found)
        cells[pattern] = f"{mean:.0f} ({min(counts)} to {max(counts)})"
    return cells | {"patterns/sent": f"{sum(map(len, found)) / len(found):.2f}"}


def part_counts(examples: Iterable[Example]) -> tuple[int, int, int, int]:
    """Complex sentences, once for each reference, and simple ones; all, and the different ones."""
    complex_, simple = 0, 0
    sources: set[str] = set()
    sentences: set[str] = set()
    for example in examples:
        complex_ += len(example.references)
        sources.add(example.source)
        for reference in example.references:
            simple += len(reference)
            sentences.update(reference)
    return complex_, len(sources), simple, len(sentences)


def scores(
    names: Sequence[str], examples: Sequence[Example], written: Sequence[Sequence[str]]
) -> list[str]:
    """The scores of the rewrites of a corpus."""
    items = [
        ScoredItem(example.source, tuple(simple), example.references)
        for example, simple in zip(examples, written, strict=True)
    ]
    found = score_all([load_metric(name) for name in names], items)
    return [f"{each.value:.2f}" for each in found]


def swapped_sari(examples: Sequence[Example], written: Sequence[Sequence[str]]) -> str:
    """SARI as the evaluator of WikiSplit++ calls it: with the output in the place of the source."""
    items = [
        ScoredItem(" ".join(simple), (example.source,), example.references)
        for example, simple in zip(examples, written, strict=True)
    ]
    return f"{score(load_metric('sari-hub'), items).value:.2f}"


def outputs(examples: Sequence[Example]) -> list[tuple[str, ...]]:
    """The rewrites in a file of JSON lines."""
    return [example.references[0] for example in examples]


def shares(counts: Mapping[str, Any]) -> list[str]:
    """What share of a part is in training: of all, and of the different ones."""
    cells = []
    for key in ("", "unique_"):
        whole = counts[f"{key}total"]
        cells.append(f"{100 * counts[f'{key}found'] / whole:.2f} %" if whole else "")
    return cells


def read(corpus: str) -> list[Example]:
    """The examples of a corpus."""
    return list(parse_corpus(corpus).read(ReadReport(strict=True)))


def run(*arguments: object) -> Any:
    """Run a command, and read the JSON that it prints, if it does."""
    words = list(map(str, arguments))
    print("$ parataxis", " ".join(words), file=sys.stderr, flush=True)
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        code = parataxis(words)
    if code:
        raise SystemExit(code)
    return json.loads(out.getvalue()) if words[-1] == "json" else None


def section(name: str, table: str) -> str:
    """A table with its heading, what is to be said about it, and the command."""
    text = RECORDED["sections"][name]
    command = (
        f"\n    {text['command'].strip().replace(chr(10), chr(10) + '    ')}\n"
        if "command" in text
        else ""
    )
    return f"### {text['title']}\n\n{table}\n{text['text'].strip()}\n{command}"


def markdown(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table in Markdown."""
    table = Table(list(header), [list(map(str, row)) for row in rows])
    return Report("", [table], bare=True).render(ReportFormat.MARKDOWN)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--work", type=Path, required=True, help="a folder for what is built")
    options = parser.parse_args()
    for part in Page(options.data, options.work).sections():
        sys.stdout.write(part)
