"""What mkdocs does with this folder beyond its settings.

Pages of the repository that lie outside of ``docs`` become pages of the site, and a link to any
other file of the repository becomes plain text. Docstrings keep their examples.
"""

import re
from pathlib import Path
from posixpath import dirname, join, normpath, relpath
from typing import Any

import griffe
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

ROOT = Path(__file__).parents[1]

OUTSIDE = {
    "CHANGELOG.md": "changelog.md",
    "CODE_OF_CONDUCT.md": "conduct.md",
    "CONTRIBUTING.md": "contributing.md",
    "SECURITY.md": "security.md",
    "benchmarks/README.md": "programs.md",
    "data/benchmark/README.md": "benchmark.md",
    "data/rewrites/README.md": "rewrites.md",
    "examples/hsplit-study/README.md": "hsplit-study.md",
    "examples/memorisation/README.md": "memorisation-example.md",
    "examples/study/README.md": "study-example.md",
    "examples/vscode/README.md": "vscode.md",
    "src/parataxis/checks/model/CARD.md": "cards/verifier.md",
    "src/parataxis/lab/pointer/TRIED.md": "tried-pointer.md",
    "src/parataxis/lab/verifier/TRIED.md": "tried-verifier.md",
    "src/parataxis/splitters/pointer/model/CARD.md": "cards/pointer.md",
    "src/parataxis/syntax/model/CARD.md": "cards/analyser.md",
}
"""Files of the repository, and the pages of the site that they become."""

_LINK = re.compile(r"(!?)\[((?:[^\[\]]|\[[^\[\]]*\])*)\]\(([^)\s#]+)(#[^)\s]*)?\)")
_FENCE = re.compile(r"^(```\w+) .+$", re.MULTILINE)
"""A block of code whose first line tells the tests more than its language."""
_ROLE = re.compile(r":[a-z]+:`~?([^`]+)`")
_EXAMPLE = re.compile(r"^>>> .*(?:\n\S.*)*", re.MULTILINE)


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages that lie outside of this folder."""
    for source, page in OUTSIDE.items():
        if (ROOT / source).exists():
            files.append(File.generated(config, page, abs_src_path=str(ROOT / source)))
    files.append(File.generated(config, "llms.txt", abs_src_path=str(ROOT / "llms.txt")))
    return files


def on_page_markdown(markdown: str, page: Page, **_: Any) -> str:
    """Let links to files of the repository lead to pages of the site, or nowhere."""
    places = {name: source for source, name in OUTSIDE.items()}
    here = places.get(page.file.src_uri, f"docs/{page.file.src_uri}")

    def follow(link: re.Match[str]) -> str:
        mark, text, target, anchor = link[1], link[2], link[3], link[4] or ""
        if "://" in target or target.startswith("mailto:"):
            return link[0]
        found = normpath(join(dirname(here), target))
        if found == "README.md":
            found = "docs/README.md"
        if found in OUTSIDE and (ROOT / found).exists():
            inside = OUTSIDE[found]
        elif found.startswith("docs/"):
            inside = found.removeprefix("docs/")
        elif (ROOT / found).exists():
            return text
        else:
            return link[0]
        return f"{mark}[{text}]({relpath(inside, dirname(page.file.src_uri) or '.')}{anchor})"

    return _LINK.sub(follow, _FENCE.sub(r"\1", markdown))


class Docstrings(griffe.Extension):
    """Docstrings as Markdown: names of other objects as code, examples as blocks."""

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        if obj.docstring:
            plain = _ROLE.sub(r"`\1`", obj.docstring.value)
            obj.docstring.value = _EXAMPLE.sub(r"```pycon\n\g<0>\n```", plain)
