"""docs/checks.md says what the code does."""

import re
from pathlib import Path

from parataxis.checks import lexicon
from parataxis.rewrite.record import FindingKind

PAGE = (Path(__file__).parents[2] / "docs" / "checks.md").read_text(encoding="utf-8")


def test_documentation_prints_the_words_that_may_be_inserted() -> None:
    (printed,) = re.findall(r"^> (time result .*)$", PAGE, flags=re.MULTILINE)
    assert set(printed.split()) == lexicon.INSERTABLE


def test_documentation_has_a_section_for_each_kind() -> None:
    assert re.findall(r"^### (.*)$", PAGE, flags=re.MULTILINE) == [
        kind.value for kind in FindingKind
    ]
