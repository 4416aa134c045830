"""The plan of the house: what CONTRIBUTING.md shows of the packages is drawn from the code.

Run ``python tests/test_architecture.py`` after a change to packages; it draws the plan again.
"""

import ast
import re
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "parataxis"
PAGE = ROOT / "CONTRIBUTING.md"
BEGIN, END = "<!-- plan: begin -->", "<!-- plan: end -->"

# The two halves of cli lie at opposite ends: main knows every command, and every command uses
# the terminal and the options.
ROOMS = {"cli.terminal": "terminal", "cli.options": "terminal"}
LEFT_OUT = {"", "__main__"}


def modules() -> dict[str, Path]:
    """Every module, by its name without ``parataxis.``, and its file."""
    found = {}
    for path in sorted(SOURCE.rglob("*.py")):
        parts = path.relative_to(SOURCE).with_suffix("").parts
        found[".".join(part for part in parts if part != "__init__")] = path
    return found


def room(module: str) -> str:
    """The box of the plan that a module belongs to: its package, or itself."""
    return ROOMS.get(module, module.partition(".")[0])


def imports(module: str, known: dict[str, Path]) -> set[str]:
    """The modules of ours that a module imports anywhere."""
    found = set()
    for node in ast.walk(ast.parse(known[module].read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module and not node.level:
            base = node.module
            names = [f"{base}.{alias.name}" for alias in node.names] + [base]
        elif isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        else:
            continue
        own = [name.removeprefix("parataxis.") for name in names if name.startswith("parataxis.")]
        found |= {name for name in own if name in known}
    return found


def arrows() -> dict[str, set[str]]:
    """Which box imports which."""
    known = modules()
    found: dict[str, set[str]] = defaultdict(set)
    for module in known:
        if room(module) not in LEFT_OUT:
            found[room(module)] |= {room(name) for name in imports(module, known)}
    return {name: targets - {name} - LEFT_OUT for name, targets in found.items()}


def reachable(start: str, edges: dict[str, set[str]]) -> set[str]:
    """Every box that can be reached from one by one arrow or more."""
    seen: set[str] = set()
    waiting = list(edges[start])
    while waiting:
        name = waiting.pop()
        if name not in seen:
            seen.add(name)
            waiting += edges[name]
    return seen


def drawn(edges: dict[str, set[str]]) -> str:
    """The arrows that no longer way replaces, as a Mermaid diagram."""
    lines = ["```mermaid", "flowchart TD"]
    for name in sorted(edges):
        further = set().union(*(reachable(target, edges) for target in edges[name]), set())
        lines += [f"    {name} --> {target}" for target in sorted(edges[name] - further)]
    return "\n".join([*lines, "```"])


def table() -> str:
    """What lives in each package, in its own words, and how much it is."""
    sizes: dict[str, list[int]] = defaultdict(list)
    words: dict[str, str] = {}
    for module, path in modules().items():
        text = path.read_text(encoding="utf-8")
        sizes[room(module)].append(text.count("\n"))
        if module == room(module):
            summary = (ast.get_docstring(ast.parse(text)) or "").partition("\n\n")[0]
            words[module] = re.sub(r"``(.+?)``", r"`\1`", " ".join(summary.split()))
    words["terminal"] = "Standard output, progress and messages; the options that commands share."
    rows = ["| package | what lives there | files | lines |", "|---|---|--:|--:|"]
    for name in sorted(sizes.keys() - LEFT_OUT):
        hundreds = round(sum(sizes[name]), -2) or "< 50"
        rows.append(f"| `{name}` | {words[name]} | {len(sizes[name])} | {hundreds} |")
    return "\n".join(rows)


def plan() -> str:
    """Picture and table, as they stand in CONTRIBUTING.md; lines are rounded to hundreds."""
    return f"{BEGIN}\n{drawn(arrows())}\n\n{table()}\n{END}"


def test_architecture_has_one_direction() -> None:
    edges = arrows()
    circles = [name for name in edges if name in reachable(name, edges)]
    assert circles == []


def test_architecture_is_drawn_in_contributing() -> None:
    message = "run: python tests/test_architecture.py"
    assert plan() in PAGE.read_text(encoding="utf-8"), message


def test_architecture_has_no_two_public_classes_of_one_name() -> None:
    found = defaultdict(list)
    for module, path in modules().items():
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                found[node.name].append(module)
    assert {name: where for name, where in found.items() if len(where) > 1} == {}


WALK = """
import sys, threading
walked = set()
def note(frame, event, argument):
    code = frame.f_code
    if event == "call" and "/parataxis/" in code.co_filename and code.co_name != "<module>":
        walked.add(code.co_filename)
sys.setprofile(note)
threading.setprofile(note)
from parataxis.cli.main import main
code = main(["split", "The mill, which Ann sold in May, burned down, and the owner left."])
sys.setprofile(None)
loaded = [name for name in sys.modules if name.partition(".")[0] == "parataxis"]
print(code, len(walked), len(loaded))
"""


def test_architecture_one_sentence_takes_a_short_walk() -> None:
    done = subprocess.run(
        [sys.executable, "-c", WALK], capture_output=True, text=True, check=True, timeout=600
    )
    code, files, loaded = map(int, done.stdout.splitlines()[-1].split())
    assert code == 0
    assert files <= 50
    assert loaded <= 80


if __name__ == "__main__":
    text = PAGE.read_text(encoding="utf-8")
    before, after = text.partition(BEGIN)[0], text.partition(END)[2]
    PAGE.write_text(f"{before}{plan()}{after}", encoding="utf-8")
