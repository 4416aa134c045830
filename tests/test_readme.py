"""The README and its neighbours keep their word: commands, example, picture, links, versions."""

import doctest
import re
import shlex
from pathlib import Path

import pytest

import parataxis

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
FIRST_SCREEN = README.partition("\n## ")[0]
PAGES = [*ROOT.glob("*.md"), *ROOT.glob("docs/*.md"), *ROOT.glob("benchmarks/*.md")]
VERSION = re.escape(parataxis.__version__)
RELEASE = re.escape(parataxis.__version__.partition(".dev")[0])


def commands(text: str) -> list[str]:
    """The lines of the blocks marked sh, which ``.ci/run`` runs."""
    return "".join(re.findall(r"^```sh\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)).splitlines()


def quotations(text: str) -> list[list[str]]:
    """The lines of each block quotation, without their numbers."""
    blocks = re.findall(r"(?:^> .*\n)+", text, re.MULTILINE)
    return [re.findall(r"^> (?:\d+\. )?(.*)", block, re.MULTILINE) for block in blocks]


def test_readme_has_two_commands_and_both_on_its_first_screen() -> None:
    assert len(commands(README)) == 2
    assert commands(FIRST_SCREEN) == commands(README)
    assert len(FIRST_SCREEN.splitlines()) < 40


def test_readme_example_is_what_the_default_splitter_writes() -> None:
    (source,), simple = quotations(FIRST_SCREEN)
    rewrite = parataxis.Splitter(check=True)(source)
    assert list(rewrite.simple) == simple
    assert rewrite.findings == ()


def test_readme_first_command_splits_its_sentence() -> None:
    program, subcommand, sentence = shlex.split(commands(README)[0].partition(" && ")[2])
    assert (program, subcommand) == ("parataxis", "split")
    result = parataxis.split(sentence)
    assert len(result.simple) > 1
    assert f"```text\n{result}\n```" in FIRST_SCREEN


def test_readme_python_example_is_true() -> None:
    failed, tried = doctest.testfile(str(ROOT / "README.md"), module_relative=False)
    assert tried > 0
    assert failed == 0


def test_readme_picture_is_a_small_png() -> None:
    picture = (ROOT / "docs" / "images" / "rewrite.png").read_bytes()
    assert picture.startswith(b"\x89PNG")
    assert len(picture) < 150_000


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_readme_links_lead_somewhere(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    for target, anchor in re.findall(r"\]\(([^)#\s]*)(?:#([^)\s]*))?\)", text):
        if "://" in target or target.startswith("../../actions/"):  # a page of the forge
            continue
        place = page.parent / target if target else page
        assert place.exists(), target
        if anchor:
            assert anchor in anchors(place.read_text(encoding="utf-8")), f"{target}#{anchor}"


def anchors(text: str) -> set[str]:
    """What a link can name in a page: its headings, as GitHub writes them."""
    headings = re.findall(r"^#+ (.*)", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def test_readme_index_of_the_docs_names_every_page() -> None:
    index = (ROOT / "docs" / "README.md").read_text(encoding="utf-8")
    for page in (ROOT / "docs").glob("*.md"):
        assert page.name == "README.md" or f"({page.name})" in index


@pytest.mark.parametrize(
    ("name", "pattern"),
    [("CITATION.cff", rf"^version: {VERSION}$"), ("CHANGELOG.md", rf"^## {RELEASE} \(")],
)
def test_readme_neighbours_name_this_version(name: str, pattern: str) -> None:
    assert re.search(pattern, (ROOT / name).read_text(encoding="utf-8"), re.MULTILINE)
