"""The findings as people and programs read them: text, JSON, SARIF, annotations of GitHub,
Checkstyle and Code Climate."""

import hashlib
import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum
from typing import NamedTuple
from urllib.parse import quote
from xml.sax.saxutils import quoteattr

from parataxis import __version__
from parataxis.lint import LintFinding
from parataxis.lint.rules import SUMMARIES, Reason
from parataxis.report import counted


class LintOutput(StrEnum):
    """How findings are written."""

    TEXT = "text"
    JSON = "json"
    SARIF = "sarif"
    GITHUB = "github"
    CHECKSTYLE = "checkstyle"
    CODECLIMATE = "codeclimate"


class Located(NamedTuple):
    """A finding in the file ``path``, which is written with slashes."""

    path: str
    finding: LintFinding


def fingerprint(path: str, sentence: str) -> str:
    """What a finding is recognised by, whatever its line is."""
    words = " ".join(sentence.split())
    return hashlib.sha256(f"{path}\0{words}".encode()).hexdigest()[:32]


def written(found: Sequence[Located], files: int, form: LintOutput) -> str:
    """All findings in ``files`` files, in one of the formats."""
    match form:
        case LintOutput.TEXT:
            return _text(found, files)
        case LintOutput.JSON:
            findings = [_record(*each) for each in found]
            return _json({"version": __version__, "files": files, "findings": findings})
        case LintOutput.SARIF:
            return _json(_sarif(found))
        case LintOutput.GITHUB:
            return "".join(_annotation(*each) for each in found)
        case LintOutput.CHECKSTYLE:
            return _checkstyle(found)
        case LintOutput.CODECLIMATE:
            return _json(_codeclimate(found))


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, indent=1) + "\n"


def _text(found: Sequence[Located], files: int) -> str:
    if not found:
        return f"{counted(files, 'file')}, no findings.\n"
    lines = []
    for path, finding in found:
        lines.append(f"{path}:{finding.line}:{finding.column}: {finding.message}")
        lines.append(f"    {finding.sentence}")
        if finding.simple:
            lines.append(f"  → {finding.suggestion} ({_how_sure(finding)})")
    touched = len({path for path, _ in found})
    count = f"{counted(len(found), 'finding')} in {touched} of {counted(files, 'file')}"
    fixable = sum(finding.is_fixable for _, finding in found)
    more = f"; --fix can rewrite {fixable:,} of them" if fixable else ""
    return "\n".join([*lines, f"{count}{more}.\n"])


def _how_sure(finding: LintFinding) -> str:
    return f"confidence {finding.confidence or 0:.2f}"


def _advice(finding: LintFinding) -> str:
    """The message with the suggestion, for formats with one text."""
    if not finding.simple:
        return finding.message
    return f"{finding.message} Suggestion: {finding.suggestion} ({_how_sure(finding)})"


_FIELDS = (
    *("line", "column", "end_line", "end_column", "start", "end", "reasons", "message"),
    *("words", "limit", "sentence", "simple", "confidence"),
)


def _record(path: str, finding: LintFinding) -> dict[str, object]:
    return {
        "path": path,
        **{name: getattr(finding, name) for name in _FIELDS},
        "fixable": finding.is_fixable,
        "edit": finding.edit._asdict() if finding.edit else None,
    }


def _sarif(found: Sequence[Located]) -> dict[str, object]:
    """SARIF 2.1.0 (OASIS, 2020). A result has one rule: the first reason."""
    rules = list(Reason)
    return {
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [
            {
                "tool": {
                    "driver": {
                        "name": "parataxis",
                        "semanticVersion": __version__,
                        "rules": [
                            {
                                "id": reason.value,
                                "shortDescription": {"text": SUMMARIES[reason]},
                                "defaultConfiguration": {"level": "warning"},
                            }
                            for reason in rules
                        ],
                    }
                },
                "columnKind": "unicodeCodePoints",
                "results": [
                    _result(*each, place, rules.index(each.finding.reasons[0]))
                    for each, place in zip(found, _occurrences(found), strict=True)
                ],
            }
        ],
    }


def _result(path: str, finding: LintFinding, identity: str, rule: int) -> dict[str, object]:
    artifact = {"uri": quote(path)}
    result: dict[str, object] = {
        "ruleId": finding.reasons[0].value,
        "ruleIndex": rule,
        "level": "warning",
        "message": {"text": _advice(finding)},
        "locations": [
            {
                "physicalLocation": {
                    "artifactLocation": artifact,
                    "region": {
                        "startLine": finding.line,
                        "startColumn": finding.column,
                        "endLine": finding.end_line,
                        "endColumn": finding.end_column,
                    },
                }
            }
        ],
        "partialFingerprints": {"sentence/v1": identity},
        "properties": {
            "reasons": list(finding.reasons),
            "words": finding.words,
            "confidence": finding.confidence,
        },
    }
    if finding.edit:
        start, end, text = finding.edit
        change = {
            "deletedRegion": {"charOffset": start, "charLength": end - start},
            "insertedContent": {"text": text},
        }
        result["fixes"] = [
            {
                "description": {"text": "Split the sentence."},
                "artifactChanges": [{"artifactLocation": artifact, "replacements": [change]}],
            }
        ]
    return result


def _occurrences(found: Iterable[Located]) -> list[str]:
    """The fingerprint of each finding; the second of the same in a file gets another one."""
    seen: Counter[str] = Counter()
    made = []
    for path, finding in found:
        own = fingerprint(path, finding.sentence)
        made.append(fingerprint(own, str(seen[own])) if seen[own] else own)
        seen[own] += 1
    return made


_MESSAGE = {"%": "%25", "\r": "%0D", "\n": "%0A"}
_PROPERTY = {**_MESSAGE, ":": "%3A", ",": "%2C"}


def _annotation(path: str, finding: LintFinding) -> str:
    """A workflow command of GitHub Actions; % and line breaks are escaped, in properties also : and
    the comma. Columns are only allowed within a line."""

    def escaped(text: str, codes: Mapping[str, str]) -> str:
        return "".join(codes.get(char, char) for char in text)

    properties = {"file": path, "line": str(finding.line), "endLine": str(finding.end_line)}
    if finding.line == finding.end_line:
        properties |= {"col": str(finding.column), "endColumn": str(finding.end_column)}
    properties["title"] = f"parataxis: {finding.reasons[0]}"
    named = ",".join(f"{name}={escaped(value, _PROPERTY)}" for name, value in properties.items())
    return f"::warning {named}::{escaped(_advice(finding), _MESSAGE)}\n"


_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def _checkstyle(found: Sequence[Located]) -> str:
    lines = ['<?xml version="1.0" encoding="UTF-8"?>', '<checkstyle version="8.0">']
    for path in dict.fromkeys(path for path, _ in found):
        lines.append(f" <file name={quoteattr(path)}>")
        for finding in (each for own, each in found if own == path):
            lines.append(
                f'  <error line="{finding.line}" column="{finding.column}" severity="warning" '
                f"message={quoteattr(_advice(finding))} "
                f'source="parataxis.{finding.reasons[0]}"/>'
            )
        lines.append(" </file>")
    return _NOT_XML.sub(" ", "\n".join([*lines, "</checkstyle>\n"]))


def _codeclimate(found: Sequence[Located]) -> list[dict[str, object]]:
    """What GitLab shows in merge requests, by the specification of Code Climate's engines."""
    return [
        {
            "type": "issue",
            "check_name": f"parataxis/{finding.reasons[0]}",
            "description": _advice(finding),
            "categories": ["Clarity"],
            "severity": "minor",
            "fingerprint": identity,
            "location": {
                "path": path,
                "lines": {"begin": finding.line, "end": finding.end_line},
            },
        }
        for (path, finding), identity in zip(found, _occurrences(found), strict=True)
    ]
