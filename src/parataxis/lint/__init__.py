"""The linter: sentences that are hard to read, why they are, and how they could be written.

:func:`lint_text` is a pure function of a text, for editors and other programs; the command
``parataxis lint`` works on files. A sentence is reported at most once, with all reasons.
"""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from parataxis.cli.options import find_settings
from parataxis.lint.readers import LintFormat, Source, format_of, read_source
from parataxis.lint.rules import Judge, LintSettings, LintVerdict, Reason
from parataxis.rewrite.record import Rewrite
from parataxis.splitters.settings import SplitSettings

__all__ = [
    "Edit",
    "Judge",
    "LintFinding",
    "LintFormat",
    "LintSettings",
    "Reason",
    "findings_of",
    "format_of",
    "lint_settings",
    "lint_text",
    "load_judge",
]


class Edit(NamedTuple):
    """Write ``text`` in the place of the characters ``start`` to ``end`` of the file."""

    start: int
    end: int
    text: str


@dataclass(frozen=True)
class LintFinding:
    """A sentence that is hard to read.

    ``start`` and ``end`` are characters of the text of the file; ``line`` and ``column`` count from
    1, and ``end_column`` is the first column after the sentence. A Word document has no lines: its
    line is the number of the paragraph, and ``start`` and ``end`` are characters of that.
    ``sentence`` and ``simple`` are shown to the writer; ``simple`` is empty if there is no
    suggestion. ``edit`` writes the suggestion with all its markup, if that can be done.
    """

    start: int
    end: int
    line: int
    column: int
    end_line: int
    end_column: int
    sentence: str
    reasons: tuple[Reason, ...]
    words: int
    limit: int
    simple: tuple[str, ...] = ()
    confidence: float | None = None
    is_sure: bool = False
    """Whether the strict mode takes the suggestion too."""
    is_fixable: bool = False
    """Whether ``--fix`` writes the suggestion."""
    edit: Edit | None = None
    number: int = 0
    """The number of the sentence among those of the file that are looked at."""
    rewrite: Rewrite | None = None
    """The rewrite of the sentence as the splitter saw it, with the origin of each word."""

    @property
    def suggestion(self) -> str:
        """The simple sentences as one text, or ""."""
        return " ".join(self.simple)

    @property
    def message(self) -> str:
        """What is wrong, in one sentence.

        >>> reasons = (Reason.TOO_LONG, Reason.NESTED_CLAUSES)
        >>> LintFinding(0, 9, 1, 1, 1, 10, "", reasons, 31, 25).message
        'Too long (31 words, at most 25); nested clauses.'
        """
        said = {
            Reason.TOO_LONG: f"too long ({self.words} words, at most {self.limit})",
            Reason.SEVERAL_IDEAS: "several ideas in one sentence",
            Reason.NESTED_CLAUSES: "nested clauses",
            Reason.FAR_CONDITION: "a condition far from its consequence",
        }
        text = "; ".join(said[reason] for reason in self.reasons)
        return f"{text[:1].upper()}{text[1:]}."


def lint_settings(folder: Path) -> LintSettings:
    """The settings of the linter in the files of a project; see
    :func:`parataxis.cli.options.find_settings`."""
    names = {each.name for each in fields(LintSettings)}
    settings = find_settings(folder)
    given = dict(settings.commands.get("lint", {}))
    if settings.path and "keep_phrases" in given:
        path = settings.path.parent / str(given["keep_phrases"])
        given["keep_phrases"] = SplitSettings.given(keep_phrases=path).keep_phrases
    return LintSettings(**{name: value for name, value in given.items() if name in names})  # type: ignore[arg-type]


@lru_cache(8)
def load_judge(settings: LintSettings) -> Judge:
    """The judge with these settings, which loads its models once and remembers sentences."""
    return Judge(settings)


def lint_text(
    text: str | bytes,
    format: LintFormat | str = LintFormat.TEXT,
    settings: LintSettings | None = None,
) -> list[LintFinding]:
    """The findings in a text, in order; a Word document is given as bytes.

    >>> lint_text("It rained.")
    []
    """
    source = read_source(text, LintFormat(format))
    judge = load_judge(settings or LintSettings())
    return findings_of(source, judge([sentence.text for sentence in source.sentences]))


def findings_of(source: Source, verdicts: Sequence[LintVerdict | None]) -> list[LintFinding]:
    """The findings in a file, from the verdicts on its sentences."""
    reported = {i: verdict for i, verdict in enumerate(verdicts) if verdict is not None}
    rewrites = {i: each.rewrite for i, each in reported.items() if each.rewrite is not None}
    writable = source.writable(rewrites) if rewrites else {}
    findings = []
    for i, verdict in reported.items():
        sentence = source.sentences[i]
        rewrite, edit = verdict.rewrite, writable.get(i)
        findings.append(
            LintFinding(
                sentence.start,
                sentence.end,
                *source.place(sentence, sentence.start),
                *source.place(sentence, sentence.end),
                sentence.shown(sentence.text),
                verdict.reasons,
                verdict.words,
                verdict.limit,
                tuple(map(sentence.shown, rewrite.simple)) if rewrite else (),
                rewrite.confidence if rewrite else None,
                verdict.is_sure,
                is_fixable=verdict.is_sure and i in writable,
                edit=Edit(*edit[0], edit[1]) if edit else None,
                number=i,
                rewrite=rewrite,
            )
        )
    return findings
