"""The error analysis of Aharoni and Goldberg (2018, table 7): a sheet on which the checks mark each
simple sentence, for a person to correct, and the table that is made from it.

A simple sentence is *correct*, *unsupported* (it states something that the source does not)
or *repeated* (an earlier sentence states the same). A fact of the source that no sentence states
has a line of its own, *missing*, or *kept* if it turns out not to be missing.
"""

import csv
import io
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass
from enum import StrEnum
from html import escape
from importlib.resources import files
from string import Template

from parataxis.errors import InputError
from parataxis.evaluate.corpora.example import words
from parataxis.report import Report, Table
from parataxis.report.page import page_head
from parataxis.rewrite.record import Finding, FindingKind, Rewrite
from parataxis.syntax.analysis import Analysis
from parataxis.text.files import from_plain_cell, plain_cell

BYTE_ORDER_MARK = "\ufeff"
"""By which spreadsheets know that a file is UTF-8."""

COLUMNS = ("system", "id", "source", "n", "sentence", "checks", "mark", "why")


ErrorMark = StrEnum("ErrorMark", "CORRECT UNSUPPORTED REPEATED MISSING KEPT")
"""The mark of a simple sentence, or of a fact of the source."""


_OF_SENTENCES = (ErrorMark.CORRECT, ErrorMark.UNSUPPORTED, ErrorMark.REPEATED)
_OF_FACTS = (ErrorMark.MISSING, ErrorMark.KEPT)


@dataclass(frozen=True, slots=True)
class SheetLine:
    """A line of the sheet: a simple sentence with its number, or a fact without one.

    ``checks`` is the mark of the checks (None where a person added the line), ``mark`` the one
    that counts, and ``why`` what the checks found.
    """

    system: str
    id: str
    source: str
    number: int | None
    text: str
    checks: ErrorMark | None
    mark: ErrorMark
    why: str = ""


def marked(
    rewrite: Rewrite,
    system: str,
    references: Sequence[Sequence[str]] = (),
    analysis: Analysis | None = None,
) -> Iterator[SheetLine]:
    """The lines of a rewrite that carries its findings, marked as the metric ``facts`` counts;
    ``analysis`` is that of its source.

    References tell more than the checks can: a word that one of them has is no new fact, and
    what one of them does without, at least most of its words, is not missing.
    """
    from parataxis.evaluate.metrics.facts import label_sentences, lost_facts  # brings the analyser

    known = [{word for sentence in each for word in words(sentence)} for each in references]
    findings = [each for each in rewrite.findings or () if not _is_settled(each, known)]
    id_ = rewrite.id or ""
    labels = label_sentences(rewrite.simple, findings)
    for number, (sentence, label) in enumerate(zip(rewrite.simple, labels, strict=True)):
        why = " ".join(each.message for each in findings if each.sentence == number)
        mark = ErrorMark(label)
        yield SheetLine(system, id_, rewrite.source, number + 1, sentence, mark, mark, why)
    for fact in lost_facts(findings, analysis):
        yield SheetLine(
            system, id_, rewrite.source, None, fact, ErrorMark.MISSING, ErrorMark.MISSING
        )


def _is_settled(finding: Finding, references: Sequence[set[str]]) -> bool:
    if not references:
        return False
    wanted = set(words(finding.words))
    if finding.kind is FindingKind.NEW:
        return wanted <= set().union(*references)
    if finding.kind is FindingKind.LOST:
        return not all(2 * len(wanted & known) >= len(wanted) for known in references)
    return False


def as_sheet(lines: Iterable[SheetLine]) -> str:
    """The sheet as CSV that spreadsheets open."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\r\n")
    writer.writerow(COLUMNS)
    writer.writerows(map(plain_cell, _cells(line)) for line in lines)
    return BYTE_ORDER_MARK + out.getvalue()


def _cells(line: SheetLine) -> list[str]:
    return ["" if value is None else str(value) for value in astuple(line)]


def read_sheet(text: str, name: str) -> list[SheetLine]:
    """The lines of a sheet, however a spreadsheet has saved it: with commas, semicolons or tabs."""
    text = text.removeprefix(BYTE_ORDER_MARK)
    header = text.partition("\n")[0]
    delimiter = max(",;\t", key=header.count)
    reader = csv.DictReader(io.StringIO(text, newline=""), delimiter=delimiter)
    missing = [column for column in COLUMNS[:-1] if column not in (reader.fieldnames or ())]
    if missing:
        raise InputError(
            f'{name} has no column "{missing[0]}": it is no sheet of `parataxis diagnose errors`.'
        )
    try:
        lines = [
            _line(row, f"{name}, line {reader.line_num}")
            for row in reader
            if any(isinstance(value, str) and value for value in row.values())
        ]
    except csv.Error as error:
        raise InputError(f"{name}, line {reader.line_num}: {error}.") from error
    if not lines:
        raise InputError(f"There is no line in {name}.")
    return lines


def _line(row: Mapping[str, str | None], where: str) -> SheetLine:
    cells = {column: from_plain_cell(row.get(column) or "").strip() for column in COLUMNS}
    system, id_, source, number, text, checks, mark, why = cells.values()
    number = number.removesuffix(".0")  # some spreadsheets write whole numbers like that
    if number and not number.isdecimal():
        raise InputError(f'{where}: "{number}" is not the number of a sentence.')
    allowed = _OF_SENTENCES if number else _OF_FACTS
    for each in (mark, checks or mark):
        if each.lower() not in allowed:
            raise InputError(f'{where}: the mark must be {" or ".join(allowed)}, not "{each}".')
    return SheetLine(
        *(system, id_, source, int(number) if number else None, text),
        ErrorMark(checks.lower()) if checks else None,
        ErrorMark(mark.lower()),
        why,
    )


@dataclass(frozen=True, slots=True)
class ErrorTally:
    """A row of table 7; ``agreed`` of ``lines`` are marked as the checks marked them."""

    system: str
    sources: int
    counts: Mapping[ErrorMark, int]
    agreed: int
    lines: int

    @property
    def sentences(self) -> int:
        return sum(self.counts[mark] for mark in _OF_SENTENCES)


def tallies(lines: Iterable[SheetLine]) -> list[ErrorTally]:
    """A tally for each system, in the order in which they come."""
    by_system: dict[str, list[SheetLine]] = {}
    for line in lines:
        by_system.setdefault(line.system, []).append(line)
    return [
        ErrorTally(
            system,
            len({(line.id, line.source) for line in found}),
            Counter(line.mark for line in found),
            sum(line.mark is line.checks for line in found),
            len(found),
        )
        for system, found in by_system.items()
    ]


def error_report(found: Sequence[ErrorTally]) -> Report:
    """The table of errors. A sheet that nobody has corrected agrees with the checks anyway, so the
    last column is then left out."""
    header = ["system", "sources", "unsupported", "repeated", "correct", "missing"]
    rows = [
        [
            *(each.system, str(each.sources)),
            *(str(each.counts[mark]) for mark in (ErrorMark.UNSUPPORTED, ErrorMark.REPEATED)),
            _of(each.counts[ErrorMark.CORRECT], each.sentences),
            str(each.counts[ErrorMark.MISSING]),
        ]
        for each in found
    ]
    if any(each.agreed != each.lines for each in found):
        header.append("as the checks")
        rows = [[*row, _of(each.agreed, each.lines)] for row, each in zip(rows, found, strict=True)]
    record = [
        {
            "system": each.system,
            "sources": each.sources,
            "sentences": each.sentences,
            **{mark.value: each.counts[mark] for mark in ErrorMark if mark is not ErrorMark.KEPT},
            "lines": each.lines,
            "as_the_checks": each.agreed,
        }
        for each in found
    ]
    return Report("Errors", [Table(header, rows)], record, record, bare=True)


def _of(part: int, whole: int) -> str:
    return f"{part}/{whole} ({100 * part / whole:.0f} %)" if whole else "0"


def sheet_page(title: str, lines: Iterable[SheetLine]) -> str:
    """The sheet as a page on which a person corrects the marks and saves them as CSV.

    The page needs no other file and no network.
    """
    data = json.dumps([_cells(line) for line in lines], ensure_ascii=False)
    return script_page(
        "sheet",
        title,
        data=data.replace("<", r"\u003c"),  # in a script, "<" could end it
        columns=json.dumps(COLUMNS),
    )


def script_page(name: str, title: str, **parts: str) -> str:
    """A page with a script: the template, style and script of that name in ``assets``."""
    template, style, script = (
        (files("parataxis.lab.diagnose") / "assets" / f"{name}.{suffix}").read_text("utf-8")
        for suffix in ("html", "css", "js")
    )
    head = page_head(title, style, scripts=True)
    return Template(template).substitute(head=head, title=escape(title), script=script, **parts)
