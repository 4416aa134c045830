"""The language server of ``parataxis lsp``: shows what the linter finds while somebody types, and
offers to split a sentence."""

import asyncio
import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache, partial
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from parataxis import __version__
from parataxis.api import Splitter
from parataxis.errors import ParataxisError, needs
from parataxis.lint import (
    LintFinding,
    LintFormat,
    LintSettings,
    findings_of,
    format_of,
    lint_settings,
    load_judge,
)
from parataxis.lint.readers import Source, read_source
from parataxis.rewrite.record import Origin, Rewrite

with needs("The language server needs pygls", "lsp"):
    from lsprotocol import types
    from pygls.lsp.server import LanguageServer

PAUSE = 0.3
"""Seconds without typing after which a text is linted."""
LARGEST = 1_000_000
"""Characters of the largest text that is linted."""
_SOURCE = "parataxis"
_LINE_END = re.compile(r"\r\n|\r|\n")
_LANGUAGES = {
    "plaintext": LintFormat.TEXT,
    "text": LintFormat.TEXT,
    "markdown": LintFormat.MARKDOWN,
    "html": LintFormat.HTML,
    "restructuredtext": LintFormat.RST,
    "rst": LintFormat.RST,
    "asciidoc": LintFormat.ASCIIDOC,
    "adoc": LintFormat.ASCIIDOC,
    "python": LintFormat.PYTHON,
}
"""The formats of the languages that editors name."""
_UNITS = {
    types.PositionEncodingKind.Utf8: "utf-8",
    types.PositionEncodingKind.Utf16: "utf-16-le",
    types.PositionEncodingKind.Utf32: "utf-32-le",
}


_OPTIONS = {
    "rules": "rules",
    "maxWords": "max_words",
    "max-words": "max_words",
    "confidence": "confidence",
}
"""The settings that an editor can send."""


class Positions:
    """Converts places in a text to the lines and columns of an editor, and back."""

    def __init__(self, text: str, encoding: types.PositionEncodingKind | str) -> None:
        self._text = text
        self._starts = [0, *(match.end() for match in _LINE_END.finditer(text))]
        self._codec = _UNITS[types.PositionEncodingKind(encoding)]
        self._width = {"utf-8": 1, "utf-16-le": 2, "utf-32-le": 4}[self._codec]

    def position(self, offset: int) -> types.Position:
        line = bisect_right(self._starts, offset) - 1
        before = self._text[self._starts[line] : offset].encode(self._codec, "surrogatepass")
        return types.Position(line, len(before) // self._width)

    def range(self, start: int, end: int) -> types.Range:
        return types.Range(self.position(start), self.position(end))

    def offset(self, position: types.Position) -> int:
        if position.line >= len(self._starts):
            return len(self._text)
        ends = [*self._starts[1:], len(self._text)]
        line = self._text[self._starts[position.line] : ends[position.line]]
        units = line.encode(self._codec, "surrogatepass")[: position.character * self._width]
        return self._starts[position.line] + len(units.decode(self._codec, "ignore"))


@dataclass(frozen=True)
class LintedText:
    """A text, what the linter found in it, and how it is shown to the editor."""

    text: str
    form: LintFormat
    settings: LintSettings
    encoding: types.PositionEncodingKind | str

    @cached_property
    def positions(self) -> Positions:
        return Positions(self.text, self.encoding)

    @cached_property
    def source(self) -> Source:
        return read_source(self.text, self.form)

    @cached_property
    def findings(self) -> Mapping[int, LintFinding]:
        """The findings by the index of the sentence."""
        judge = load_judge(self.settings)
        verdicts = judge([sentence.text for sentence in self.source.sentences])
        return {each.number: each for each in findings_of(self.source, verdicts)}

    def diagnostics(self) -> list[types.Diagnostic]:
        return [self._diagnostic(each) for each in self.findings.values()]

    def _diagnostic(self, finding: LintFinding) -> types.Diagnostic:
        return types.Diagnostic(
            range=self.positions.range(finding.start, finding.end),
            message=finding.message,
            severity=types.DiagnosticSeverity.Information,
            code=finding.reasons[0],
            source=_SOURCE,
        )

    def at(self, start: int, end: int) -> Iterator[int]:
        """The sentences that overlap a place."""
        for index, sentence in enumerate(self.source.sentences):
            if sentence.start <= end and start <= sentence.end:
                yield index

    def actions(self, uri: str, wanted: types.Range) -> list[types.CodeAction]:
        """Ways to split the sentence at a place, the suggestion of the linter first."""
        start, end = map(self.positions.offset, (wanted.start, wanted.end))
        return [each for index in self.at(start, end) for each in self._splits(uri, index)]

    def _splits(self, uri: str, index: int) -> Iterator[types.CodeAction]:
        sentence, finding = self.source.sentences[index], self.findings.get(index)
        found = [finding.rewrite] if finding and finding.rewrite else []
        known = {each.simple for each in found}
        others = alternatives(sentence.text, self.settings.keep_phrases)
        found += [each for each in others if each.simple not in known]
        for number, rewrite in enumerate(found):
            writable = self.source.writable({index: rewrite}).get(index)
            if writable is None:
                continue
            (start, end), text = writable
            is_suggestion = bool(finding and rewrite is finding.rewrite)
            name = "Split this sentence" if number == 0 else f"Split this sentence ({number + 1})"
            sure = "" if rewrite.confidence is None else f" [{rewrite.confidence:.0%} sure]"
            shown = " | ".join(map(sentence.shown, rewrite.simple))
            edit = types.TextEdit(self.positions.range(start, end), text)
            yield types.CodeAction(
                title=f"{name}{sure}: {_cut(shown, 120)}",
                kind=types.CodeActionKind.QuickFix,
                diagnostics=[self._diagnostic(finding)] if finding else None,
                is_preferred=True if is_suggestion and finding and finding.is_sure else None,
                edit=types.WorkspaceEdit(changes={uri: [edit]}),
            )

    def hover(self, place: types.Position) -> types.Hover | None:
        """What is wrong with the sentence at a place, and its suggestion with the origin of its
        words."""
        offset = self.positions.offset(place)
        for index in self.at(offset, offset):
            if finding := self.findings.get(index):
                value = "\n\n".join([f"**Parataxis**: {finding.message}", *_explained(finding)])
                shown = types.MarkupContent(types.MarkupKind.Markdown, value)
                return types.Hover(shown, self.positions.range(finding.start, finding.end))
        return None


@lru_cache(256)
def alternatives(sentence: str, keep_phrases: tuple[str, ...]) -> tuple[Rewrite, ...]:
    """The rewrites that are offered for a sentence beside the suggestion."""
    return tuple(_splitter(keep_phrases).alternatives(sentence))


@lru_cache(1)
def _splitter(keep_phrases: tuple[str, ...]) -> Splitter:
    return Splitter(keep_phrases=keep_phrases)


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most - 1].rstrip()}…"


def _explained(finding: LintFinding) -> Iterator[str]:
    """The suggestion of a finding and the origin of its words, as paragraphs of Markdown."""
    if not finding.simple:
        yield "No good split of this sentence was found."
        return
    sure = "" if finding.confidence is None else f" ({finding.confidence:.0%} sure)"
    listed = "\n".join(f"{n}. {_escaped(each)}" for n, each in enumerate(finding.simple, start=1))
    yield f"Suggestion{sure}:\n\n{listed}"
    rewrite = finding.rewrite
    if rewrite is None or rewrite.provenance is None:
        return
    tokens = [token for sentence in rewrite.provenance for token in sentence]
    added = [t.text for t in tokens if t.origin is Origin.INSERTED and t.text[:1].isalnum()]
    changed = [
        f"{t.text} (was {rewrite.source[slice(*t.source)]})"
        for t in tokens
        if t.origin is Origin.INFLECTED and t.source
    ]
    for name, words in (("Added", added), ("Other form", changed)):
        if words:
            yield f"{name}: {_escaped(', '.join(words))}"
    if not added and not changed:
        yield "All words come from the sentence."


def _escaped(text: str) -> str:
    return re.sub(r"([\\`*_{}\[\]<>#|])", r"\\\1", text)


class ParataxisServer(LanguageServer):
    """The language server. The models run in one thread, so that typing is never blocked."""

    def __init__(self) -> None:
        super().__init__(
            _SOURCE, __version__, text_document_sync_kind=types.TextDocumentSyncKind.Full
        )
        self.settings = LintSettings()
        self.root: Path | None = None
        self.linted: dict[str, LintedText] = {}
        self._waiting: dict[str, asyncio.Task[None]] = {}
        self._models = ThreadPoolExecutor(1, "parataxis-lsp")

    def configure(self, options: object, folder: Path | None) -> None:
        """Take the settings of the project and those of the editor, which win. What is wrong with
        them is shown, and the usual settings are used."""
        given = options if isinstance(options, dict) else {}
        own = {name: given[key] for key, name in _OPTIONS.items() if given.get(key) is not None}
        try:
            self.settings = replace(lint_settings(folder) if folder else LintSettings(), **own)
        except (ParataxisError, TypeError) as error:
            self.settings = LintSettings()
            self.window_show_message(
                types.ShowMessageParams(types.MessageType.Warning, f"Parataxis: {error}")
            )

    def text_of(self, uri: str) -> LintedText | None:
        """The text of a document as it is now, if it is of a format that is linted."""
        document = self.workspace.get_text_document(uri)
        known = _LANGUAGES.get(document.language_id or "")
        form = known or format_of(unquote(urlsplit(uri).path))
        if form in (None, LintFormat.WORD) or len(document.source) > LARGEST:
            return None
        before = self.linted.get(uri)
        encoding = self.workspace.position_encoding or types.PositionEncodingKind.Utf16
        made = LintedText(document.source, form, self.settings, encoding)
        if before == made:  # what was found in it is kept
            return before
        self.linted[uri] = made
        return made

    def lint_soon(self, uri: str, pause: float = PAUSE) -> None:
        """Lint a document after a pause in typing."""
        if waiting := self._waiting.pop(uri, None):
            waiting.cancel()
        self._waiting[uri] = asyncio.ensure_future(self._lint(uri, pause))

    async def _lint(self, uri: str, pause: float) -> None:
        await asyncio.sleep(pause)
        version = self.workspace.get_text_document(uri).version
        text = self.text_of(uri)
        found = await self.think(text.diagnostics, []) if text else []
        if version == self.workspace.get_text_document(uri).version:
            self.text_document_publish_diagnostics(
                types.PublishDiagnosticsParams(uri, found, version)
            )

    async def think(self, ask: Any, default: Any) -> Any:
        """Call a function that needs the models; what it raises is shown once, and not fatal."""
        loop = asyncio.get_running_loop()
        try:
            return await loop.run_in_executor(self._models, ask)
        except ParataxisError as error:
            self.window_log_message(types.LogMessageParams(types.MessageType.Warning, str(error)))
            return default

    def forget(self, uri: str) -> None:
        """Drop what is known of a closed document."""
        if waiting := self._waiting.pop(uri, None):
            waiting.cancel()
        self.linted.pop(uri, None)
        self.text_document_publish_diagnostics(types.PublishDiagnosticsParams(uri, []))


def make_server() -> ParataxisServer:
    """The language server with its handlers."""
    server = ParataxisServer()

    @server.feature(types.INITIALIZE)
    def initialize(params: types.InitializeParams) -> None:
        if params.root_uri:
            server.root = Path(unquote(urlsplit(params.root_uri).path))
        server.configure(params.initialization_options, server.root)

    @server.feature(types.WORKSPACE_DID_CHANGE_CONFIGURATION)
    def configured(params: types.DidChangeConfigurationParams) -> None:
        given = params.settings if isinstance(params.settings, dict) else {}
        server.configure(given.get(_SOURCE, given), server.root)
        for uri in list(server.linted):
            server.lint_soon(uri, 0)

    @server.feature(types.TEXT_DOCUMENT_DID_OPEN)
    async def opened(params: types.DidOpenTextDocumentParams) -> None:
        server.lint_soon(params.text_document.uri, 0)

    @server.feature(types.TEXT_DOCUMENT_DID_CHANGE)
    async def changed(params: types.DidChangeTextDocumentParams) -> None:
        server.lint_soon(params.text_document.uri)

    @server.feature(types.TEXT_DOCUMENT_DID_CLOSE)
    async def closed(params: types.DidCloseTextDocumentParams) -> None:
        server.forget(params.text_document.uri)

    @server.feature(
        types.TEXT_DOCUMENT_CODE_ACTION,
        types.CodeActionOptions(code_action_kinds=[types.CodeActionKind.QuickFix]),
    )
    async def actions(params: types.CodeActionParams) -> list[types.CodeAction]:
        text = server.text_of(params.text_document.uri)
        ask = text and partial(text.actions, params.text_document.uri, params.range)
        return list(await server.think(ask, [])) if ask else []

    @server.feature(types.TEXT_DOCUMENT_HOVER)
    async def hover(params: types.HoverParams) -> types.Hover | None:
        text = server.text_of(params.text_document.uri)
        found: types.Hover | None = None
        if text:
            found = await server.think(partial(text.hover, params.position), None)
        return found

    return server
