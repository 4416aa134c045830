"""What other programs read."""

import json
import re
from xml.etree import ElementTree

import pytest

from parataxis.lint import Edit, LintFinding
from parataxis.lint.output import LintOutput, Located, written
from parataxis.lint.rules import Reason

FIRST = LintFinding(
    start=4,
    end=40,
    line=1,
    column=5,
    end_line=2,
    end_column=7,
    sentence='Ann, "100 %" sure, left & <sang>.',
    reasons=(Reason.TOO_LONG, Reason.NESTED_CLAUSES),
    words=30,
    limit=25,
    simple=("Ann left.", "Ann sang."),
    confidence=0.914,
    is_sure=True,
    is_fixable=True,
    edit=Edit(4, 40, "Ann left. Ann sang."),
)
SECOND = LintFinding(0, 9, 3, 1, 3, 10, "It is so.", (Reason.SEVERAL_IDEAS,), 16, 25)
FOUND = [Located("docs/a b,c.md", FIRST), Located("z.rst", SECOND), Located("z.rst", SECOND)]


def output(form: LintOutput) -> str:
    return written(FOUND, 7, form)


def test_text_has_place_reason_sentence_and_rewrite() -> None:
    assert output(LintOutput.TEXT) == (
        "docs/a b,c.md:1:5: Too long (30 words, at most 25); nested clauses.\n"
        '    Ann, "100 %" sure, left & <sang>.\n'
        "  → Ann left. Ann sang. (confidence 0.91)\n"
        "z.rst:3:1: Several ideas in one sentence.\n"
        "    It is so.\n"
        "z.rst:3:1: Several ideas in one sentence.\n"
        "    It is so.\n"
        "3 findings in 2 of 7 files; --fix can rewrite 1 of them.\n"
    )
    assert written([], 1, LintOutput.TEXT) == "1 file, no findings.\n"


def test_json_has_everything() -> None:
    record = json.loads(output(LintOutput.JSON))
    assert record["files"] == 7
    first = record["findings"][0]
    assert first["path"] == "docs/a b,c.md"
    assert first["reasons"] == ["too-long", "nested-clauses"]
    assert first["edit"] == {"start": 4, "end": 40, "text": "Ann left. Ann sang."}
    assert first["simple"] == ["Ann left.", "Ann sang."]
    assert (first["line"], first["column"], first["confidence"]) == (1, 5, 0.914)


def test_sarif_has_what_the_specification_requires() -> None:
    """The properties that SARIF 2.1.0 says SHALL be there, by section."""
    log = json.loads(output(LintOutput.SARIF))
    assert log["version"] == "2.1.0"  # 3.13.2
    (run,) = log["runs"]  # 3.13.4
    driver = run["tool"]["driver"]  # 3.14.6, 3.18.2
    assert driver["name"] == "parataxis"  # 3.19.8
    ids = [rule["id"] for rule in driver["rules"]]  # 3.49.3
    assert len(set(ids)) == len(ids)
    assert run["columnKind"] in ("utf16CodeUnits", "unicodeCodePoints")  # 3.14.27
    for result in run["results"]:
        assert result["message"]["text"]  # 3.27.11
        assert ids[result["ruleIndex"]] == result["ruleId"]  # 3.27.6
        assert result["level"] in ("none", "note", "warning", "error")  # 3.27.10
        for location in result["locations"]:
            place = location["physicalLocation"]
            assert re.fullmatch(r"[\w%./-]+", place["artifactLocation"]["uri"])  # 3.10.1
            assert place["region"]["startLine"] >= 1  # 3.30.5
            assert place["region"]["startColumn"] >= 1  # 3.30.6
        for fix in result.get("fixes", ()):
            for change in fix["artifactChanges"]:  # 3.55.3
                assert change["artifactLocation"]["uri"]  # 3.56.2
                for replacement in change["replacements"]:  # 3.56.3
                    region = replacement["deletedRegion"]  # 3.57.3
                    assert (region["charOffset"], region["charLength"]) == (4, 36)
                    assert replacement["insertedContent"]["text"]  # 3.57.4
    fingerprints = [result["partialFingerprints"]["sentence/v1"] for result in run["results"]]
    assert len(set(fingerprints)) == 3


def test_github_escapes_what_its_commands_use() -> None:
    first, second, _ = output(LintOutput.GITHUB).splitlines()
    assert first.startswith(
        "::warning file=docs/a b%2Cc.md,line=1,endLine=2,"
        "title=parataxis%3A too-long::Too long (30 words, at most 25); nested clauses."
    )
    assert second.startswith("::warning file=z.rst,line=3,endLine=3,col=1,endColumn=10,title=")
    odd = LintFinding(0, 1, 1, 1, 1, 2, "", (Reason.TOO_LONG,), 9, 8, simple=("5 %\n.",))
    assert "5 %25%0A." in written([Located("a", odd)], 1, LintOutput.GITHUB)


def test_checkstyle_is_xml_of_its_kind() -> None:
    root = ElementTree.fromstring(output(LintOutput.CHECKSTYLE))
    assert root.tag == "checkstyle"
    files = {file.get("name"): list(file) for file in root}
    assert [len(errors) for errors in files.values()] == [1, 2]
    (error,) = files["docs/a b,c.md"]
    assert error.tag == "error"
    assert (error.get("line"), error.get("column")) == ("1", "5")
    assert error.get("severity") in ("ignore", "info", "warning", "error")
    assert error.get("source") == "parataxis.too-long"
    assert "Suggestion: Ann left. Ann sang." in (error.get("message") or "")


def test_checkstyle_leaves_out_what_xml_cannot_hold() -> None:
    odd = LintFinding(0, 1, 1, 1, 1, 2, "", (Reason.TOO_LONG,), 9, 8, simple=("A\x0cB.",))
    root = ElementTree.fromstring(written([Located("a\x01", odd)], 1, LintOutput.CHECKSTYLE))
    assert "A B." in (root[0][0].get("message") or "")


def test_codeclimate_has_the_fields_that_gitlab_reads() -> None:
    issues = json.loads(output(LintOutput.CODECLIMATE))
    assert len({issue["fingerprint"] for issue in issues}) == 3
    for issue in issues:
        assert issue["type"] == "issue"
        assert issue["check_name"]
        assert issue["description"]
        assert issue["severity"] in ("info", "minor", "major", "critical", "blocker")
        assert issue["location"]["path"]
        assert issue["location"]["lines"]["begin"] >= 1


@pytest.mark.parametrize("form", list(LintOutput))
def test_no_findings_are_valid_output_too(form: LintOutput) -> None:
    text = written([], 2, form)
    if form in (LintOutput.JSON, LintOutput.SARIF, LintOutput.CODECLIMATE):
        json.loads(text)
    elif form is LintOutput.CHECKSTYLE:
        assert len(ElementTree.fromstring(text)) == 0
