"""``parataxis mcp``: a server of the Model Context Protocol, for assistants and agents."""

from collections.abc import Callable
from functools import lru_cache, wraps
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import Field

from parataxis import __version__
from parataxis.api import Splitter, with_findings
from parataxis.errors import ParataxisError, needs
from parataxis.rewrite.record import Level, Rewrite

if TYPE_CHECKING:
    from mcp.server import MCPServer

_Text = Annotated[str, Field(description="English text, of any number of sentences.")]
_MaxWords = Annotated[int | None, Field(description="Split sentences of more words further.")]
_SHOWN = {"source", "simple", "findings", "note", "confidence"}


def mcp() -> None:
    """Serve the Model Context Protocol on standard input and output.

    An assistant that starts this command can split text, check rewrites, find claims and lint.
    """
    make_server().run("stdio")


def make_server() -> "MCPServer":
    """The server with its tools."""
    with needs("The Model Context Protocol needs the package mcp", "mcp"):
        from mcp.server import MCPServer
        from mcp.server.mcpserver.exceptions import ToolError

    def answered(tool: Callable[..., dict[str, Any]]) -> Callable[..., dict[str, Any]]:
        """The tool; the client is told what is wrong with its input."""

        @wraps(tool)
        def run(**arguments: Any) -> dict[str, Any]:
            try:
                return tool(**arguments)
            except ParataxisError as error:
                raise ToolError(str(error)) from error

        return run

    server = MCPServer(
        "parataxis",
        version=__version__,
        instructions="Splits long English sentences into simple ones with the same meaning, says "
        "how sure it is, and finds atomic claims. It runs offline and adds no content words.",
        log_level="WARNING",
    )
    for tool in (split, check, claims, lint):
        server.tool(structured_output=True)(answered(tool))
    return server


@lru_cache(maxsize=8)
def _splitter(level: Level, max_words: int | None, strict: bool) -> Splitter:
    return Splitter(level=level, max_words=max_words, strict=strict)


def split(
    text: _Text, level: Level = Level.PLAIN, max_words: _MaxWords = None, strict: bool = False
) -> dict[str, Any]:
    """Split long sentences into simple ones with the same meaning; the rest of the text is
    unchanged. The level says how far: light, plain or atomic. With strict, a sentence stays whole
    unless its split is sure. Gives the new text and the rewrite of each sentence that was split."""
    result = _splitter(level, max_words, strict).split(text)
    split_ones = [each for each in result.rewrites if each.is_split]
    return {"text": result.text, "rewrites": [_shown(rewrite) for rewrite in split_ones]}


def check(source: str, simple: list[str]) -> dict[str, Any]:
    """Check whether simple sentences say the same as a source sentence: lost and new facts,
    repetitions, fragments, ambiguous pronouns, changed relations."""
    rewrite = Rewrite(source=source, simple=tuple(simple), splitter="given")
    (checked,) = with_findings([rewrite])
    return {"findings": _shown(checked)["findings"]}


def claims(text: _Text) -> dict[str, Any]:
    """Find the atomic, self-contained claims of a text, each with its source sentence, its place,
    what it is said under (a condition, somebody's word, ...), and its links to other claims."""
    found = _splitter(Level.ATOMIC, None, False).claims(text)
    return {"claims": [claim.model_dump(mode="json", exclude_none=True) for claim in found]}


def lint(
    text: _Text,
    max_words: Annotated[int | None, Field(description="The most words of a sentence.")] = None,
) -> dict[str, Any]:
    """Find the sentences of a text that are hard to read, with the reasons and a suggestion."""
    from parataxis.lint import LintSettings, lint_text

    settings = LintSettings(max_words=max_words)
    return {
        "findings": [
            {
                "line": found.line,
                "column": found.column,
                "sentence": found.sentence,
                "message": found.message,
                "suggestion": found.suggestion,
                "is_sure": found.is_sure,
            }
            for found in lint_text(text, settings=settings)
        ]
    }


def _shown(rewrite: Rewrite) -> dict[str, Any]:
    return rewrite.model_dump(mode="json", include=_SHOWN, exclude_none=True)
