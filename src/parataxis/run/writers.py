"""The output formats of ``split``: each turns units and their rewrites into pieces of text."""

import json
from collections.abc import Sequence
from enum import StrEnum
from typing import Protocol

from parataxis.rewrite.jsonl import to_json
from parataxis.run.streams import ExplainedSentence
from parataxis.run.units import Unit


class OutputFormat(StrEnum):
    """What ``split`` can write."""

    TEXT = "text"
    JSON = "json"
    JSONL = "jsonl"
    PARQUET = "parquet"
    DIFF = "diff"
    HTML = "html"


class Writer(Protocol):
    """Makes one format; ``end`` is asked for even when the work was interrupted."""

    def start(self) -> str:
        """What comes before the first unit."""

    def unit(self, unit: Unit, results: Sequence[ExplainedSentence]) -> str:
        """One unit."""

    def end(self) -> str:
        """What comes after the last unit."""


def make_writer(
    form: OutputFormat, *, title: str, explain: bool, header: bool, colour: bool
) -> Writer:
    """The writer of a format; ``title`` is for a page, ``header`` says whether a diff has ids."""
    match form:
        case OutputFormat.TEXT:
            return _ExplanationWriter(colour=colour) if explain else _TextWriter()
        case OutputFormat.JSON:
            return _JsonWriter()
        case OutputFormat.JSONL:
            return _JsonLinesWriter()
        case OutputFormat.DIFF:
            return _DiffWriter(header=header, colour=colour)
        case OutputFormat.HTML:
            return _HtmlWriter(title)
        case OutputFormat.PARQUET:
            raise ValueError("only a long run writes Parquet")


class _Plain:
    def start(self) -> str:
        return ""

    def end(self) -> str:
        return ""


class _TextWriter(_Plain):
    def unit(self, unit: Unit, results: Sequence[ExplainedSentence]) -> str:
        return unit.rebuild([result.rewrite for result in results])


class _JsonLinesWriter(_Plain):
    def unit(self, unit: Unit, results: Sequence[ExplainedSentence]) -> str:
        return "".join(f"{_record(result)}\n" for result in results)


class _JsonWriter:
    """The same records in one array."""

    def __init__(self) -> None:
        self._separator = "\n"

    def start(self) -> str:
        return "["

    def unit(self, unit: Unit, results: Sequence[ExplainedSentence]) -> str:
        pieces = []
        for result in results:
            pieces.append(self._separator + _record(result))
            self._separator = ",\n"
        return "".join(pieces)

    def end(self) -> str:
        return "\n]\n"


class _DiffWriter(_Plain):
    def __init__(self, *, header: bool, colour: bool) -> None:
        self._header = header
        self._colour = colour

    def unit(self, unit: Unit, results: Sequence[ExplainedSentence]) -> str:
        from parataxis.rewrite.render import render_diff

        return "".join(
            render_diff(r.rewrite, r.patterns, header=self._header, colour=self._colour)
            for r in results
        )


class _ExplanationWriter(_Plain):
    def __init__(self, *, colour: bool) -> None:
        self._colour = colour
        self._separator = ""

    def unit(self, unit: Unit, results: Sequence[ExplainedSentence]) -> str:
        from parataxis.rewrite.render import render_explanation

        pieces = []
        for result in results:
            text = render_explanation(result.rewrite, result.patterns or (), colour=self._colour)
            pieces.append(self._separator + text)
            self._separator = "\n"
        return "".join(pieces)


class _HtmlWriter:
    def __init__(self, title: str) -> None:
        self._title = title

    def start(self) -> str:
        from parataxis.rewrite.render import page_start

        return page_start(self._title)

    def unit(self, unit: Unit, results: Sequence[ExplainedSentence]) -> str:
        from parataxis.rewrite.render import page_entry

        return "".join(page_entry(r.rewrite, r.patterns or ()) for r in results)

    def end(self) -> str:
        from parataxis.rewrite.render import page_end

        return page_end()


def _record(result: ExplainedSentence) -> str:
    """The JSON form of a rewrite, with the patterns of its source where they were asked for."""
    line = to_json(result.rewrite)
    if result.patterns is None:
        return line
    source = result.rewrite.source
    patterns = [
        {"pattern": p.pattern, "words": source[p.start : p.end], "start": p.start, "end": p.end}
        for p in result.patterns
    ]
    record = {**json.loads(line), "patterns": patterns}
    return json.dumps(record, ensure_ascii=False, separators=(",", ":"))
