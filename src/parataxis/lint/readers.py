"""Readers: the running text of a file, sentence by sentence, with its place in the file.

Code, tables, quotations, front matter, headings and what consists of a link are left out. Text
between the comments ``parataxis: off`` and ``parataxis: on`` is left out too.
"""

import ast
import io
import re
import textwrap
import tokenize
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from itertools import groupby
from pathlib import PurePath

from parataxis.errors import InputError, needs
from parataxis.rewrite.record import Rewrite
from parataxis.run.documents import DocumentReport, FormattedDocument, decode
from parataxis.run.documents.markup import Block, MarkupDocument, placeholder
from parataxis.text.documents import Document, read_document, running_sentences
from parataxis.text.layout import LINE
from parataxis.text.segments import Span, join_run, sentence_spans


class LintFormat(StrEnum):
    """The formats that are read."""

    TEXT = "text"
    MARKDOWN = "markdown"
    HTML = "html"
    WORD = "word"
    RST = "rst"
    ASCIIDOC = "asciidoc"
    PYTHON = "python"


SUFFIXES = {
    ".txt": LintFormat.TEXT,
    ".text": LintFormat.TEXT,
    ".md": LintFormat.MARKDOWN,
    ".markdown": LintFormat.MARKDOWN,
    ".html": LintFormat.HTML,
    ".htm": LintFormat.HTML,
    ".docx": LintFormat.WORD,
    ".rst": LintFormat.RST,
    ".rest": LintFormat.RST,
    ".adoc": LintFormat.ASCIIDOC,
    ".asciidoc": LintFormat.ASCIIDOC,
    ".asc": LintFormat.ASCIIDOC,
    ".py": LintFormat.PYTHON,
    ".pyi": LintFormat.PYTHON,
}


def format_of(path: PurePath | str) -> LintFormat | None:
    """The format of a file by its suffix.

    >>> format_of("guide.RST"), format_of("guide.pdf")
    (<LintFormat.RST: 'rst'>, None)
    """
    return SUFFIXES.get(PurePath(path).suffix.lower())


@dataclass(frozen=True)
class ProseSentence:
    """A sentence as a splitter gets it (``text``) at ``start`` to ``end`` of the text of the file,
    or, in a Word document, of the paragraph with the number ``paragraph``. ``names`` are the words
    that stand for code or the like in it, and what they stand for. ``key`` finds it again in its
    document."""

    text: str
    start: int
    end: int
    names: Mapping[str, str] = field(default_factory=dict)
    paragraph: int = 0
    key: int = 0

    def shown(self, text: str) -> str:
        """A text made of this sentence, with its code."""
        if not self.names:
            return text
        found = re.compile(rf"\b(?:{'|'.join(map(re.escape, self.names))})\b")
        return found.sub(lambda match: self.names[match.group()], text)


Replacement = tuple[tuple[int, int], str]
"""A place in a file, and what to write there."""


class Source:
    """The running text of a file. ``text`` is "" for a Word document, which has no lines."""

    is_written = False
    """Whether such files can be written."""

    def __init__(self, text: str, sentences: Sequence[ProseSentence]) -> None:
        self.text, self.sentences = text, sentences

    def place(self, sentence: ProseSentence, offset: int) -> tuple[int, int]:
        """The line and column of an offset; in Word, the paragraph and the character in it."""
        number = bisect_right(self._lines, offset)
        return number, offset - self._lines[number - 1] + 1

    def following(self, number: int) -> str:
        """The sentence that follows one in its paragraph, or the empty text."""
        return ""

    def writable(self, rewrites: Mapping[int, Rewrite]) -> Mapping[int, Replacement | None]:
        """The rewrites, by the index of the sentence, that can be written into the file without a
        loss, and what to write where. That is None in a Word document."""
        return {}

    def rewritten(self, rewrites: Mapping[int, Rewrite]) -> bytes:
        """The file with rewrites of some sentences."""
        raise NotImplementedError

    @property
    def lines(self) -> list[str]:
        """The lines of the file, or the paragraphs of a Word document."""
        return self.text.splitlines(keepends=True)

    @cached_property
    def _lines(self) -> list[int]:
        return [0, *(match.end() for match in re.finditer(r"\r\n|\r|\n", self.text))]


class _TextSource(Source):
    """A plain text."""

    is_written = True

    @cached_property
    def _following(self) -> Mapping[int, str]:
        document = read_document(self.text)
        starts = (span.start for span in document.sentences)
        return dict(zip(starts, document.following, strict=True))

    def following(self, number: int) -> str:
        return self._following.get(self.sentences[number].start, "")

    def writable(self, rewrites: Mapping[int, Rewrite]) -> Mapping[int, Replacement]:
        document = Document(self.text, ())
        made = {}
        for index, rewrite in rewrites.items():
            own = self.sentences[index]
            span = Span(own.start, own.end, own.text)
            made[index] = (own.start, own.end), document.lay_out(span, rewrite.simple)
        return made

    def rewritten(self, rewrites: Mapping[int, Rewrite]) -> bytes:
        parts, end = [], 0
        for (first, last), text in self.writable(rewrites).values():
            parts += [self.text[end:first], text]
            end = last
        return "".join([*parts, self.text[end:]]).encode()


class _DocumentSource(Source):
    """A document with formatting."""

    is_written = True

    def __init__(
        self, text: str, sentences: Sequence[ProseSentence], document: FormattedDocument
    ) -> None:
        super().__init__(text, sentences)
        self._document = document

    @cached_property
    def _following(self) -> list[str]:
        return self._document.following

    def following(self, number: int) -> str:
        return self._following[self.sentences[number].key]

    def place(self, sentence: ProseSentence, offset: int) -> tuple[int, int]:
        if isinstance(self._document, MarkupDocument):
            return super().place(sentence, offset)
        return sentence.paragraph + 1, offset + 1

    def writable(self, rewrites: Mapping[int, Rewrite]) -> Mapping[int, Replacement | None]:
        document = self._document
        keys = [
            (number, each.start)
            for number, paragraph in enumerate(document.paragraphs)
            for each in paragraph.sentences
        ]
        made: Mapping[tuple[int, int], Replacement | None]
        if isinstance(document, MarkupDocument):
            made = document.edits(self._all(rewrites))
        else:
            changes = document.changes(self._all(rewrites), DocumentReport())
            made = {(change.paragraph, change.sentence.start): None for change in changes}
        own = {index: keys[self.sentences[index].key] for index in rewrites}
        return {index: made[key] for index, key in own.items() if key in made}

    def rewritten(self, rewrites: Mapping[int, Rewrite]) -> bytes:
        return self._document.rewritten(self._all(rewrites))[0]

    @property
    def lines(self) -> list[str]:
        if isinstance(self._document, MarkupDocument):
            return super().lines
        return [f"{paragraph.text}\n" for paragraph in self._document.paragraphs]

    def _all(self, rewrites: Mapping[int, Rewrite]) -> list[Rewrite]:
        """A rewrite for each sentence of the document, which has more sentences than are linted."""
        own = {self.sentences[index].key: rewrite for index, rewrite in rewrites.items()}
        return [
            own.get(key) or Rewrite(source=text, simple=(text,), splitter="source")
            for key, text in enumerate(self._document.sentences)
        ]


def read_source(data: bytes | str, form: LintFormat, name: str = "The text") -> Source:
    """Read the running text of a file; raises InputError if it is not in that format."""
    if form is LintFormat.WORD:
        if isinstance(data, str):
            raise InputError(f"{name} is text, and a Word document is not; give its bytes.")
        from parataxis.run.documents.docx import DocxDocument

        document = DocxDocument(data, name)
        matches = [(n, re.fullmatch(_SWITCH, text.strip())) for n, text in document.comments()]
        return _read_formatted(document, "", [(n, m["state"] == "on") for n, m in matches if m])
    text = decode(data, name) if isinstance(data, bytes) else data
    match form:
        case LintFormat.MARKDOWN:
            from parataxis.run.documents.markdown import MarkdownDocument

            return _read_formatted(MarkdownDocument(text), text, _markdown_switches(text))
        case LintFormat.HTML:
            from parataxis.run.documents.html import HtmlDocument

            return _read_formatted(HtmlDocument(text), text, _switches(_COMMENT_SWITCH, text))
        case LintFormat.TEXT:
            return _read_text(text)
        case LintFormat.RST:
            return _read_runs(text, *_rst_runs(text), _RST)
        case LintFormat.ASCIIDOC:
            return _read_runs(text, *_asciidoc_runs(text), _ASCIIDOC)
        case LintFormat.PYTHON:
            return _read_runs(text, *_python_runs(text, name), _PYTHON)


Switches = Sequence[tuple[int, bool]]
"""Where linting is switched on or off, in order: a place, or a paragraph of a Word document."""
_SWITCH = r"parataxis:\s*(?P<state>off|on)\b"


def _switches(pattern: re.Pattern[str], text: str) -> list[tuple[int, bool]]:
    return [(match.start(), match["state"] == "on") for match in pattern.finditer(text)]


def _is_on(switches: Switches, place: int) -> bool:
    number = bisect_right(switches, place, key=lambda switch: switch[0])
    return not number or switches[number - 1][1]


_QUOTED = re.compile(r"[\"“][^\"“”]*[\"”]|«[^«»]*»")


def _is_quotation(sentence: str) -> bool:
    """Whether most of a sentence stands in quotation marks.

    >>> _is_quotation('"I came, and I saw," he said.'), _is_quotation('The word "and" joins.')
    (True, False)
    """
    quoted = sum(len(match.group().split()) for match in _QUOTED.finditer(sentence))
    return 2 * quoted > len(sentence.split())


# ---------------------------------------------------------------- documents with formatting

_COMMENT_SWITCH = re.compile(rf"(?<!`)<!--\s*{_SWITCH}\s*-->")


def _markdown_switches(text: str) -> Switches:
    """The comments outside of code."""
    found = _switches(_COMMENT_SWITCH, text)
    if not found:
        return found
    from markdown_it import MarkdownIt

    starts = [match.start() for match in LINE.finditer(text)]
    code = [
        range(starts[token.map[0]], starts[min(token.map[1], len(starts) - 1)])
        for token in MarkdownIt("commonmark").parse(text)
        if token.type in ("fence", "code_block") and token.map
    ]
    return [switch for switch in found if not any(switch[0] in each for each in code)]


def _read_formatted(document: FormattedDocument, text: str, switches: Switches = ()) -> Source:
    sentences = []
    key = -1
    for number, paragraph in enumerate(document.paragraphs):
        block = document.blocks[number] if isinstance(document, MarkupDocument) else None
        for sentence in paragraph.sentences:
            key += 1
            start, end = block.region(sentence) if block else (sentence.start, sentence.end)
            if (
                paragraph.surroundings
                or _is_quotation(sentence.text)
                or (block and _is_link(block, sentence.start, sentence.end))
                or not _is_on(switches, start if block else number)
            ):
                continue
            names = _verbatim_names(block, sentence.verbatim) if block else {}
            sentences.append(ProseSentence(sentence.text, start, end, names, number, key))
    return _DocumentSource(text, sentences, document)


def _is_link(block: Block, start: int, end: int) -> bool:
    """Whether all words of a sentence are those of links."""
    words = [cell for cell in block.cells[start:end] if cell.char.isalnum()]
    return all(
        any(not each.is_formatting and each.opening[:2] in ("[", "<a") for each in cell.chain)
        for cell in words
    )


def _verbatim_names(block: Block, ranges: Iterable[tuple[int, int]]) -> dict[str, str]:
    names = {}
    for first, last in ranges:
        word, raw = block.text[first:last], block.cells[first].raw
        if word not in raw:
            names[word] = raw
    return names


# ------------------------------------------------------------------------------------ text

_FRONT_MATTER = re.compile(r"---[ \t]*\r?\n.*?\n(?:---|\.\.\.)[ \t]*(?:\r?\n|\Z)", re.DOTALL)
_TEXT_SWITCH = re.compile(
    rf"^[ \t]*+(?:(?:#|//|<!--|\.\.|%)[ \t]*+)?{_SWITCH}[ \t]*+(?:-->)?$", re.M
)
_UNDERLINE = re.compile(r"(?:={3,}|-{3,}|~{3,})\s*$")


def _read_text(text: str) -> Source:
    front = _FRONT_MATTER.match(text)
    shown = text[: front.end()] if front else ""
    prose = [re.sub(r"\S", " ", shown)]  # as long as the text, with blanks for what is left out
    lines = [match.group() for match in LINE.finditer(text, len(shown))]
    for line, following in zip(lines, [*lines[1:], ""], strict=True):
        body = line.strip()
        is_heading = body.startswith("#") or body.isupper() or _UNDERLINE.match(following)
        is_left_out = is_heading or body.startswith(">") or _TEXT_SWITCH.match(line.rstrip())
        prose.append(re.sub(r"\S", " ", line) if is_left_out else line)
    switches = _switches(_TEXT_SWITCH, text)
    sentences = [
        ProseSentence(span.text, span.start, span.end)
        for span in running_sentences("".join(prose))
        if not _is_quotation(span.text) and _is_on(switches, span.start)
    ]
    return _TextSource(text, sentences)


# ------------------------------------------------------------- text with markup, by its lines

Run = Sequence[tuple[int, int]]
"""Running text: the pieces of lines that it consists of."""
Inline = Sequence[tuple[re.Pattern[str], bool]]
"""Markup in a sentence: what it looks like, and whether it is code, for which a word stands. Of
other markup the groups are the text."""


def _inline(**patterns: str) -> Inline:
    return [(re.compile(each), name.startswith("code")) for name, each in patterns.items()]


_STARRED = r"(?<![\w*])\*{1,2}(?=\S)([^*\n]+?)(?<=\S)\*{1,2}(?![\w*])"
_RST = _inline(
    code=r"``.+?``",
    named=r"(?::[\w.+:-]+:)?`([^`<]*[^`<\s])\s*<[^`>]*>`_{0,2}",
    code_role=r":[\w.+:-]+:`[^`\s]+`(?:_{1,2})?|\|[^|\s][^|]*\|_{0,2}",
    role=r":[\w.+:-]+:`([^`]+)`",
    reference=r"`([^`]+)`_{0,2}",
    note=r"\s?\[(?:#?[\w-]*|\*)\]_",
    starred=_STARRED,
    word=r"\b([A-Za-z0-9]+)__?(?![\w`])",
    escaped=r"\\(\S)",
)
_PYTHON = _inline(
    code=r"``.+?``|(?::[\w.+:-]+:)?`[^`\s]+`",
    named=r":[\w.+:-]+:`([^`<]*[^`<\s])\s*<[^`>]*>`",
    role=r":[\w.+:-]+:`([^`]+)`",
    code_ticked=r"`[^`]+`",
    starred=_STARRED,
)
_ASCIIDOC = _inline(
    code=r"(?<!\w)(`{1,2}|\+{1,3})[^`+]+?\1(?!\w)|\{[\w-]+\}|(?:kbd|btn|menu|image|icon|stem|pass):[^\s\[]*\[[^\]]*\]",
    note=r"\s?footnote(?:ref)?:\w*\[[^\]]*\]|\(\(\(?[^)]*\)\)\)?|\[\[[^\]]*\]\]",
    link=r"(?:link:|xref:|mailto:|https?://)[^\s\[]*\[([^\],]+)(?:,[^\]]*)?\]",
    reference=r"<<[^,>]*,\s*([^>]+)>>",
    code_reference=r"<<[^>]*>>|(?:https?://|link:|xref:)[^\s\[]*(?:\[\])?",
    span=r"\[[.#][^\]]*\]#([^#]+)#",
    starred=_STARRED,
    underlined=r"(?<![\w_])_{1,2}(?=\S)([^_\n]+?)(?<=\S)_{1,2}(?![\w_])",
)


def _plain(text: str, inline: Inline) -> tuple[str, dict[str, str]]:
    """A sentence without its markup, and the words that stand for code in it.

    >>> _plain("Use :func:`os.walk` and ``a = b`` with *care*.", _RST)
    ('Use Xb and Xa with care.', {'Xa': '``a = b``', 'Xb': ':func:`os.walk`'})
    """
    names: dict[str, str] = {}
    made: dict[str, str] = {}

    def stand_in(match: re.Match[str]) -> str:
        raw = match.group()
        word = placeholder(raw.strip("`+"), len(made))
        if word not in raw:
            names[word] = raw
        made[f"\0{len(made)}\0"] = word
        return f"\0{len(made) - 1}\0"

    for pattern, is_code in inline:
        if is_code:
            text = pattern.sub(stand_in, text)
        else:
            text = pattern.sub(lambda match: match[1] if match.re.groups else "", text)
    for mark, word in made.items():
        text = text.replace(mark, word)
    return text, names


def _read_runs(text: str, runs: Iterable[Run], switches: Switches, inline: Inline) -> Source:
    sentences = []
    for run in runs:
        joined, place = join_run(text, run)
        for span in sentence_spans(joined):
            own, names = _plain(span.text, inline)
            first, last = place(span.start), place(span.end - 1) + 1
            if own.strip() and not _is_quotation(own) and _is_on(switches, first):
                sentences.append(ProseSentence(" ".join(own.split()), first, last, names))
    return Source(text, sentences)


def _line_pieces(text: str) -> list[tuple[int, int]]:
    """Start and end of each line, without line end and white space after it."""
    return [
        (match.start(), match.start() + len(match.group().rstrip()))
        for match in LINE.finditer(text)
    ]


def _dedented(text: str, pieces: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """The pieces of lines without the indentation that they share."""
    bodies = [text[start:end] for start, end in pieces]
    margin = min((len(each) - len(each.lstrip()) for each in bodies if each.strip()), default=0)
    return [(min(start + margin, end), end) for start, end in pieces]


# --------------------------------------------------------------------------- reStructuredText

_RST_LEFT_OUT = frozenset(
    ["block_quote", "citation", "comment", "docinfo", "doctest_block", "field_name", "line_block"]
) | {
    *("literal_block", "math_block", "option_list_item", "raw", "rubric", "system_message"),
    *("substitution_definition", "table", "title", "topic"),
}
_SPHINX = re.compile(r"^([ \t]*\.\. )(?:versionadded|versionchanged|deprecated|seealso)::.*$", re.M)


def _rst_runs(text: str) -> tuple[list[Run], Switches]:
    """The paragraphs that docutils finds. It says where they begin only roughly, so their lines are
    looked for."""
    with needs("reStructuredText needs docutils", "rst"):
        from docutils import nodes
        from docutils.core import publish_doctree
    settings = {
        "report_level": 5,
        "halt_level": 5,
        "file_insertion_enabled": False,
        "raw_enabled": False,
        "_disable_config": True,
        "warning_stream": io.StringIO(),
    }
    # A directive of Sphinx is unknown to docutils, which would leave out what is in it.
    known = _SPHINX.sub(r"\1note::", text)
    tree = publish_doctree(known, settings_overrides=settings)
    pieces = _line_pieces(text)
    bodies = [known[start:end].strip() for start, end in _line_pieces(known)]
    runs: list[Run] = []
    switches = []
    line = 0
    for node in tree.findall():
        if not isinstance(node, nodes.paragraph | nodes.FixedTextElement):
            continue
        is_comment = isinstance(node, nodes.comment)
        shown = f".. {node.astext()}" if is_comment else node.rawsource or node.astext()
        wanted = [each.strip() for each in shown.strip().splitlines()]
        at = _find_lines(bodies, wanted, line) if wanted else None
        if at is None:
            continue
        line = at + len(wanted)  # also after code, in which the next paragraph may stand as well
        if is_comment and (found := re.fullmatch(_SWITCH, node.astext().strip())):
            switches.append((pieces[at][0], found["state"] == "on"))
        above = node.parent
        while above is not None and above.tagname not in _RST_LEFT_OUT:
            above = above.parent
        if above is None and isinstance(node, nodes.paragraph):
            runs.append(
                [
                    (end - len(own), end)
                    for own, (_, end) in zip(wanted, pieces[at:line], strict=True)
                ]
            )
    return runs, sorted(switches)


def _find_lines(bodies: Sequence[str], wanted: Sequence[str], begin: int) -> int | None:
    """Where these lines stand; before the first one there may be the marker of a list."""
    first, *rest = wanted
    for at in range(begin, len(bodies) - len(rest)):
        if bodies[at].endswith(first) and list(bodies[at + 1 : at + 1 + len(rest)]) == rest:
            return at
    return None


# ------------------------------------------------------------------------------------ AsciiDoc

_DELIMITER = re.compile(r"(?:-{4,}|\.{4,}|={4,}|\*{4,}|_{4,}|\+{4,}|/{4,}|[|,:!]={3,}|`{3,}.*|--)$")
_TRANSPARENT = re.compile(r"(?:={4,}|\*{4,}|--)$")
"""The delimiters of blocks with running text in them: examples, sidebars, open blocks."""
_ADOC_MARKER = re.compile(
    r"\s*(?:[*\-.]{1,6}|\d{1,3}\.|[a-z]\.|<\d+>|<\.>)\s+(?:\[[ xX*]\]\s+)?"
    r"|(?:NOTE|TIP|IMPORTANT|WARNING|CAUTION):\s+|\s*[^:\s][^:]*:{2,4}(?:\s+|$)"
)
_ADOC_LEFT_OUT = re.compile(
    r"=+ |#+ |\.[^\s.]|:!?[\w-]+!?:(?: |$)|\[.*\]$|\w+::\S*\[.*\]$|//|\+$|'{3}$|<{3}$"
)
_ADOC_STYLE = re.compile(
    r"\[(?:quote|verse|source|listing|literal|stem|pass|latexmath|asciimath|,)"
)
_ADOC_SWITCH = re.compile(rf"//\s*{_SWITCH}\s*$")


def _asciidoc_runs(text: str) -> tuple[list[Run], Switches]:
    """The paragraphs and list items outside of code, tables and quotations."""
    runs: list[list[tuple[int, int]]] = [[]]
    switches = []
    closing = ""
    is_styled = is_skipped = False
    is_header = text.lstrip().startswith("= ")
    for start, end in _line_pieces(text):
        line = text[start:end]
        if closing:
            closing = "" if line == closing else closing
            continue
        if switch := _ADOC_SWITCH.match(line):
            switches.append((start, switch["state"] == "on"))
        if not line.strip():
            is_header = is_skipped = False
            runs.append([])
            continue
        if is_header or is_skipped:
            continue
        if _DELIMITER.match(line):
            runs.append([])
            if is_styled or not _TRANSPARENT.match(line):
                closing = "```" if line.startswith("```") else line
            is_styled = False
            continue
        if _ADOC_LEFT_OUT.match(line):
            is_styled = is_styled or bool(_ADOC_STYLE.match(line))
            runs.append([])
            continue
        marker = _ADOC_MARKER.match(line)
        if not runs[-1] and (is_styled or (line[0].isspace() and not marker)):
            is_skipped, is_styled = True, False  # code, or a quotation
            continue
        if marker:
            runs.append([])
            start += marker.end()
        if start < end:
            runs[-1].append((start + len(text[start:end]) - len(text[start:end].lstrip()), end))
    return [run for run in runs if run], switches


# -------------------------------------------------------------------------------------- Python

_DIRECTIVE = re.compile(
    r"#(?:!|:)|#\s*(?:-\*-|type:|noqa|pragma|fmt:|isort:|pylint:|mypy:|ruff:|pyright:|%%|SPDX-)"
)
_PYTHON_SWITCH = re.compile(rf"#\s*{_SWITCH}\s*$")
_STRING = re.compile(r"[rRuU]?(\"\"\"|'''|\"|')(.*)\1", re.DOTALL)
_FIELD = re.compile(r"\s*(?::[a-z]+[^:\n]*:\s+|[-*+]\s+|\d{1,2}[.)]\s+)")
_ARGUMENT = re.compile(r"\s*\*{0,2}\w+(?: \([^)]*\))?: (?=\S)")
_SECTION = re.compile(r"\s*[A-Z]\w+(?: \w+)?:$")
_NONE = 1000  # the indentation of no section
_DOC_LEFT_OUT = re.compile(r"\s*(?:[-=~^]{3,}$|[\w*][\w*, ]* : \S|\.\. |@\w+)")


def _python_runs(text: str, name: str) -> tuple[list[Run], Switches]:
    """Comments and docstrings."""
    try:
        tree = ast.parse(text)
        tokens = list(tokenize.generate_tokens(io.StringIO(text).readline))
    except (SyntaxError, ValueError, tokenize.TokenError) as error:
        line = getattr(error, "lineno", None)
        where = f", line {line}" if line else ""
        raise InputError(f"{name}{where}: this is not Python that can be read.") from error
    starts = [0, *(match.end() for match in re.finditer("\n", text))]
    comments = [token for token in tokens if token.type == tokenize.COMMENT]
    switches = [
        (starts[token.start[0] - 1] + token.start[1], found["state"] == "on")
        for token in comments
        if (found := _PYTHON_SWITCH.match(token.string))
    ]
    runs = [*_comment_runs(comments, starts), *_docstring_runs(tree, text, starts)]
    return sorted((run for run in runs if run), key=lambda run: run[0]), switches


def _comment_runs(comments: Sequence[tokenize.TokenInfo], starts: Sequence[int]) -> Iterator[Run]:
    """Comments on consecutive lines belong together, unless they are code."""
    own = [token for token in comments if not _DIRECTIVE.match(token.string)]
    for _, group in groupby(
        enumerate(own), key=lambda pair: (pair[1].start[0] - pair[0], pair[1].start[1])
    ):
        block = [token for _, token in group]
        bodies = [token.string.lstrip("#").removeprefix(" ") for token in block]
        if _is_code(bodies):
            continue
        run: list[tuple[int, int]] = []
        for token, body in zip(block, bodies, strict=True):
            end = starts[token.end[0] - 1] + token.end[1]
            if not body.strip() or _is_code([body]):
                yield run
                run = []
            else:
                run.append((end - len(body), end))
        yield run


def _is_code(lines: Sequence[str]) -> bool:
    """Whether lines are Python: one word is, too, but not more than a word on each line."""
    try:
        tree = ast.parse(textwrap.dedent("\n".join(lines)))
    except (SyntaxError, ValueError):
        return False
    return not all(isinstance(e, ast.Expr) and isinstance(e.value, ast.Name) for e in tree.body)


def _docstring_runs(tree: ast.Module, text: str, starts: Sequence[int]) -> Iterator[Run]:
    for node in ast.walk(tree):
        kinds = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
        if not isinstance(node, kinds) or ast.get_docstring(node, clean=False) is None:
            continue
        string = node.body[0]
        line = text[starts[string.lineno - 1] :].partition("\n")[0]
        column = len(line.encode()[: string.col_offset].decode())
        begin = starts[string.lineno - 1] + column
        source = ast.get_source_segment(text, string) or ""
        quoted = _STRING.fullmatch(source)
        if quoted:
            yield from _docstring_lines(text, begin + quoted.start(2), begin + quoted.end(2))


def _docstring_lines(text: str, begin: int, end: int) -> Iterator[Run]:
    """The paragraphs of a docstring and its fields, without examples and code."""
    first, *rest = [(begin + start, begin + stop) for start, stop in _line_pieces(text[begin:end])]
    run: list[tuple[int, int]] = []
    skipped_from = -1  # the least indentation of code that is left out
    is_example = is_literal = False
    before = 0
    section = _NONE
    for start, stop in [first, *_dedented(text, rest)]:
        line = text[start:stop]
        indent = len(line) - len(line.lstrip())
        if not line.strip():
            is_example = False
            if is_literal:
                skipped_from, is_literal = before + 1, False
            yield run
            run = []
            continue
        if skipped_from >= 0 and indent < skipped_from:
            skipped_from = -1
        is_example = is_example or line.lstrip().startswith(">>>")
        if is_example or skipped_from >= 0:
            continue
        is_literal = line.endswith("::")
        is_left_out = bool(_SECTION.match(line) or _DOC_LEFT_OUT.match(line))
        section = indent if _SECTION.match(line) else section if indent > section else _NONE
        marker = _FIELD.match(line) or (_ARGUMENT.match(line) if indent > section else None)
        if is_left_out or marker or (run and indent < before):
            yield run
            run = []
        before = indent
        if not is_left_out:
            run.append((start + (marker.end() if marker else indent), stop))
    yield run
