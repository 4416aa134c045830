"""Splitting a column of a Ray dataset, with ``dataset.map_batches``.

Use it in existing Ray Data pipelines. To split files on a cluster, use the command ``parataxis
split --engine ray``.
"""

import os
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import chain
from typing import Any, Unpack

import numpy as np

from parataxis import api
from parataxis.errors import InputError
from parataxis.rewrite.jsonl import to_json
from parataxis.rewrite.record import Rewrite
from parataxis.run.cache import RewriteCache
from parataxis.run.encode import OutputFormat, RecordEncoder
from parataxis.run.files import arrow
from parataxis.run.gpu.server import Machine, load_models
from parataxis.run.pipeline import SplitterTask, Work, require_device_splitter
from parataxis.run.tables import cell_complaint, cell_texts
from parataxis.run.units import CellKind, cell_spans, joined
from parataxis.splitters.settings import SettingOptions, SplitSettings
from parataxis.syntax.onnx import THREADS_VARIABLE
from parataxis.text.documents import Document

__all__ = ["RaySplitter"]

_ADDED = ("simple", "rewrite", "error")


class RaySplitter:
    """A class for ``map_batches``: each actor makes one, and so loads the models once.

    ``column`` holds text, which is cut into sentences as in ``parataxis split --column``; with
    ``cell="sentence"`` it holds one sentence in each row. Three columns are added: "simple", the
    simple sentences of the row; "rewrite", the whole record as a line of JSON; and "error", which
    says, for a row without text, why the others are empty. The record says where each word came
    from if ``provenance`` is true.

    The other options are those of :class:`parataxis.Splitter`. With a ``device`` such as
    "cuda" the models run there, and ``jobs`` processes compose and check beside it: give an actor
    a GPU (``num_gpus=1``), cores for its processes, and large batches then. Else an actor uses one
    thread, unless ``PARATAXIS_THREADS`` says otherwise. Batches are Arrow tables
    (``batch_format="pyarrow"``) or dicts of numpy arrays.

    >>> import numpy
    >>> split = RaySplitter("text", splitter="source")
    >>> made = split({"text": numpy.array(["It rained.", None])})
    >>> list(made["simple"]), list(made["error"])
    ([['It rained.'], []], [None, 'there is nothing in the column "text"'])
    """

    def __init__(
        self,
        column: str,
        *,
        splitter: str = api.DEFAULT_SPLITTER,
        cell: str = CellKind.TEXT,
        provenance: bool = False,
        device: str | None = None,
        jobs: int = 1,
        **options: Unpack[SettingOptions],
    ) -> None:
        if jobs < 1:
            raise InputError(f"There must be at least one job, not {jobs}.")
        if device is None and jobs > 1:
            raise InputError("Jobs are processes beside a device; without one, use more actors.")
        if device is not None:
            require_device_splitter(splitter)
        os.environ.setdefault(THREADS_VARIABLE, "1")
        self.column, self.cell, self.provenance = column, CellKind(cell), provenance
        task = SplitterTask(splitter, SplitSettings.given(**options))
        if not task.load().tracks_costs:
            task.cache = RewriteCache(splitter)
        work = Work(task, RecordEncoder(OutputFormat.JSONL), task.load().name)
        self._in_context = task.in_context
        self._rewrite: Callable[[Sequence[str]], Sequence[Rewrite]] = partial(_rewritten, work)
        if device is not None and jobs == 1:
            self._rewrite = partial(_rewritten, work.on(load_models(device)))
        elif device is not None:
            machine = Machine(lambda models: partial(_rewritten, work.on(models)), device, jobs)

            def in_parts(texts: Sequence[str]) -> list[Rewrite]:
                size = max(1, -(-len(texts) // jobs))
                parts = [texts[start : start + size] for start in range(0, len(texts), size)]
                return list(chain(*machine(*parts))) if texts else []

            self._rewrite = in_parts

    def __call__(self, batch: Any) -> Any:
        if isinstance(batch, Mapping):
            return {**batch, **_arrays(self._columns(batch, list(batch)))}
        pa = arrow()
        if not isinstance(batch, pa.Table):
            raise InputError('Ask for batches of Arrow or numpy, as batch_format="pyarrow" does.')
        added = self._columns(batch, batch.column_names)
        types = (pa.list_(pa.string()), pa.string(), pa.string())
        for (name, values), kind in zip(added.items(), types, strict=True):
            batch = batch.append_column(name, pa.array(values, kind))
        return batch

    def _columns(self, batch: Any, names: Sequence[str]) -> dict[str, list[Any]]:
        if self.column not in names:
            raise InputError(f'The dataset has no column "{self.column}"; name one that it has.')
        if taken := [name for name in _ADDED if name in names]:
            raise InputError(f'The dataset has a column "{taken[0]}" already; drop or rename it.')
        texts = _texts(batch[self.column])
        errors = [cell_complaint(text, self.column) or None for text in texts]
        good = [text for text, error in zip(texts, errors, strict=True) if text and not error]
        spans = [cell_spans(text, self.cell) for text in good]
        sentences = iter(self._rewrite([span.text for each in spans for span in each]))
        made = [[next(sentences) for _ in each] for each in spans]
        if self.cell is CellKind.TEXT:
            following = (
                Document(text, each).following for text, each in zip(good, spans, strict=True)
            )
            made = list(map(self._in_context, made, following))
        rewrites = map(joined, good, spans, made)
        found = [None if error else next(rewrites) for error in errors]
        simple = [list(each.simple) if each else [] for each in found]
        bare = {} if self.provenance else {"provenance": None}
        records = [each and to_json(each.model_copy(update=bare)) for each in found]
        return dict(zip(_ADDED, (simple, records, errors), strict=True))


def _rewritten(work: Work, texts: Sequence[str]) -> list[Rewrite]:
    return work.rewrites(texts)[0]


def _texts(column: Any) -> list[str | None]:
    if not isinstance(column, np.ndarray):
        return cell_texts(column)
    cells = [None if cell is None or cell != cell else cell for cell in column.tolist()]
    for cell in cells:
        if cell is not None and not isinstance(cell, str):
            raise InputError(f"{cell!r} is no text; convert the column to text.")
    return [cell and cell.strip() for cell in cells]


def _arrays(columns: Mapping[str, list[Any]]) -> dict[str, Any]:
    """Arrays of objects; numpy would make a matrix of lists that happen to be of one length."""
    arrays = {}
    for name, values in columns.items():
        arrays[name] = np.empty(len(values), object)
        arrays[name][:] = values
    return arrays
