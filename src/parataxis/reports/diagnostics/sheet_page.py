"""The sheet of an error analysis as a page: a person corrects the marks in the browser and saves
them as CSV. The page needs no other file and no network."""

import json
from collections.abc import Iterable
from html import escape
from importlib.resources import files

from parataxis.reports.diagnostics.sheet import COLUMNS, Line
from parataxis.reports.document import page_head

__all__ = ["sheet_page"]


def sheet_page(title: str, lines: Iterable[Line]) -> str:
    """The page."""
    assets = files("parataxis.reports")
    style = (assets / "assets" / "report.css").read_text(encoding="utf-8")
    own = assets / "diagnostics" / "assets"
    style += (own / "sheet.css").read_text(encoding="utf-8")
    script = (own / "sheet.js").read_text(encoding="utf-8")
    # No "<" may stand in a script, or a sentence could end it.
    data = json.dumps([_cells(line) for line in lines], ensure_ascii=False).replace("<", r"\u003c")
    return f"""{page_head(title, style, scripts=True)}
<h1>{escape(title)}</h1>
<p>The checks have marked each simple sentence. Correct the marks: <kbd>1</kbd> correct (all and
only what the source says), <kbd>2</kbd> unsupported (something the source does not say),
<kbd>3</kbd> repeated (said before); <kbd>↑</kbd> and <kbd>↓</kbd> go from line to line. A fact of
the source that no sentence says is missing; untick what is not, and add what is. Nothing leaves
this page: save the sheet as CSV, and make the table with <code>parataxis diagnose table</code>.</p>
<div class="bar"><button id="save" type="button">Save as CSV</button>
<label class="button">Go on from a CSV <input id="load" type="file" accept=".csv,text/csv"></label>
<span id="state" role="status"></span></div>
<div class="wide"><table id="table" aria-label="Counts"></table></div>
<main id="sheet"></main>
<footer><p>Made with Parataxis.</p></footer>
<script id="data" type="application/json">{data}</script>
<script>
const COLUMNS = {json.dumps(COLUMNS)};
{script}</script>
</body>
</html>
"""


def _cells(line: Line) -> list[str]:
    number = "" if line.number is None else str(line.number)
    checks = line.checks.value if line.checks else ""
    head = [line.system, line.id, line.source, number, line.text]
    return [*head, checks, line.mark.value, line.why]
