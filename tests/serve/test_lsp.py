"""The language server, asked by a real client over standard input and output."""

import asyncio
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("pygls", reason="needs the extra [lsp]")

from lsprotocol import types
from pygls.lsp.client import LanguageClient

from parataxis import Splitter
from parataxis.serve.lsp import Positions

GOODS = (
    "The goods, which the Buyer had ordered in May, arrived late, and the Seller, a company "
    "registered in Norway, repaid the price to the Buyer within thirty days."
)
URI = "file:///letters/letter.md"
SECONDS = 120


class Editor(LanguageClient):
    """An editor: it notes the diagnostics of each version of each document, and messages."""

    def __init__(self) -> None:
        super().__init__("editor", "1")
        self.shown: dict[tuple[str, int | None], list[types.Diagnostic]] = {}
        self.messages: list[str] = []
        self.news = asyncio.Condition()

        @self.feature(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)
        async def _(params: types.PublishDiagnosticsParams) -> None:
            async with self.news:
                self.shown[params.uri, params.version] = list(params.diagnostics)
                self.news.notify_all()

        @self.feature(types.WINDOW_SHOW_MESSAGE)
        async def _(params: types.ShowMessageParams) -> None:
            async with self.news:
                self.messages.append(params.message)
                self.news.notify_all()

    async def until(self, condition: Callable[[], bool]) -> None:
        async with self.news:
            await asyncio.wait_for(self.news.wait_for(condition), SECONDS)

    async def open(self, text: str, language: str = "markdown") -> list[types.Diagnostic]:
        """Open a document, and wait for what is found in it."""
        item = types.TextDocumentItem(URI, language, 1, text)
        self.text_document_did_open(types.DidOpenTextDocumentParams(item))
        await self.until(lambda: (URI, 1) in self.shown)
        return self.shown[URI, 1]

    async def type(self, text: str, version: int) -> list[types.Diagnostic]:
        document = types.VersionedTextDocumentIdentifier(version, URI)
        whole = types.TextDocumentContentChangeWholeDocument(text)
        self.text_document_did_change(types.DidChangeTextDocumentParams(document, [whole]))
        await self.until(lambda: (URI, version) in self.shown)
        return self.shown[URI, version]

    async def actions(self, found: types.Range) -> list[types.CodeAction]:
        document = types.TextDocumentIdentifier(URI)
        given = await self.text_document_code_action_async(
            types.CodeActionParams(document, found, types.CodeActionContext([]))
        )
        return [each for each in given or [] if isinstance(each, types.CodeAction)]


@asynccontextmanager
async def editing(**options: Any) -> AsyncIterator[Editor]:
    editor = Editor()
    await editor.start_io(sys.executable, "-m", "parataxis", "lsp", "--stdio")
    await editor.initialize_async(types.InitializeParams(types.ClientCapabilities(), **options))
    editor.initialized(types.InitializedParams())
    yield editor
    await editor.shutdown_async(None)
    editor.exit(None)
    await editor.stop()


def applied(text: str, action: types.CodeAction) -> str:
    """The text after an action, whose positions count units of UTF-16."""
    assert action.edit
    assert action.edit.changes
    ((uri, (edit,)),) = action.edit.changes.items()
    assert uri == URI
    places = Positions(text, types.PositionEncodingKind.Utf16)
    start, end = places.offset(edit.range.start), places.offset(edit.range.end)
    return text[:start] + edit.new_text + text[end:]


def test_lsp_finds_splits_and_explains_while_somebody_types() -> None:
    before = "# A 😀 letter\n\nIt 😀 rained. "

    async def work() -> None:
        async with editing() as editor:
            (found,) = await editor.open(f"{before}{GOODS}\n")
            assert found.range.start == types.Position(2, len("It xx rained. "))
            assert found.message.startswith("Too long (28 words, at most 25)")
            assert (found.source, found.code) == ("parataxis", "too-long")
            assert found.severity is types.DiagnosticSeverity.Information

            offered = await editor.actions(found.range)
            assert offered[0].title.startswith("Split this sentence [")
            assert len(offered) > 2, "there are alternatives"
            text = f"{before}{GOODS}\n"
            written = [applied(text, each) for each in offered]
            assert len(set(written)) == len(written)
            for each in written:
                assert each.startswith(before)
                assert each.endswith("\n")
            simple = {" ".join(each.simple) for each in Splitter().alternatives(GOODS)}
            assert simple & {each[len(before) : -1] for each in written}

            hovered = await editor.text_document_hover_async(
                types.HoverParams(types.TextDocumentIdentifier(URI), types.Position(2, 40))
            )
            assert hovered
            assert isinstance(hovered.contents, types.MarkupContent)
            assert "Suggestion (" in hovered.contents.value
            assert "Added: was" in hovered.contents.value

            assert await editor.type(f"{before}\n", 2) == []
            (again,) = await editor.type(f"{GOODS}\n", 3)
            assert again.range.start == types.Position(0, 0)
            closed = types.DidCloseTextDocumentParams(types.TextDocumentIdentifier(URI))
            editor.text_document_did_close(closed)
            await editor.until(lambda: editor.shown.get((URI, None)) == [])

    asyncio.run(work())


def test_lsp_takes_settings_of_the_project_and_of_the_editor(tmp_path: Path) -> None:
    (tmp_path / ".parataxis.toml").write_text("[lint]\nmax-words = 5\n")
    text = "The tenant pays the rent on the first day of each month.\n"

    async def work() -> None:
        async with editing(root_uri=tmp_path.as_uri()) as editor:
            (found,) = await editor.open(text, "plaintext")
            assert "at most 5" in found.message
            settings: Any = {"parataxis": {"maxWords": 40}}
            editor.workspace_did_change_configuration(types.DidChangeConfigurationParams(settings))
            await editor.until(lambda: editor.shown[URI, 1] == [])
            settings = {"parataxis": {"rules": "poetry"}}
            editor.workspace_did_change_configuration(types.DidChangeConfigurationParams(settings))
            await editor.until(lambda: bool(editor.messages))
            assert 'There is no rule set "poetry"' in editor.messages[0]

    asyncio.run(work())


def test_lsp_keeps_the_phrases_of_the_project(tmp_path: Path) -> None:
    (tmp_path / "terms.txt").write_text("the Seller, a company registered in Norway\n")
    (tmp_path / ".parataxis.toml").write_text('[lint]\nmax-words = 5\nkeep-phrases = "terms.txt"\n')

    async def work() -> None:
        async with editing(root_uri=tmp_path.as_uri()) as editor:
            (found,) = await editor.open(GOODS, "plaintext")
            actions = await editor.actions(found.range)
            assert actions
            for action in actions:
                assert "he Seller, a company registered in Norway" in applied(GOODS, action)

    asyncio.run(work())


def test_lsp_leaves_other_languages_alone() -> None:
    async def work() -> None:
        async with editing() as editor:
            item = types.TextDocumentItem("file:///a.rs", "rust", 1, f"// {GOODS}")
            editor.text_document_did_open(types.DidOpenTextDocumentParams(item))
            await editor.until(lambda: ("file:///a.rs", 1) in editor.shown)
            assert editor.shown["file:///a.rs", 1] == []

    asyncio.run(work())


@pytest.mark.parametrize(
    ("encoding", "columns"),
    [("utf-8", [0, 4, 5, 6]), ("utf-16", [0, 2, 3, 4]), ("utf-32", [0, 1, 2, 3])],
)
def test_lsp_positions_count_as_the_editor_does(encoding: str, columns: list[int]) -> None:
    text = "a\r\n😀b\u2028c\rd"
    places = Positions(text, encoding)
    found = [places.position(offset) for offset in (3, 4, 5)]
    assert [(each.line, each.character) for each in found] == [(1, each) for each in columns[:3]]
    assert [places.offset(each) for each in found] == [3, 4, 5]
    assert places.position(len(text) - 1) == types.Position(2, 0), "U+2028 ends no line"
    assert places.offset(types.Position(99, 0)) == len(text)
