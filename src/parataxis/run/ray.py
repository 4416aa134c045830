"""Splitting a column of a Ray dataset, with ``dataset.map_batches``.

Use it in existing Ray Data pipelines. To split files on a cluster, use the command ``parataxis
split --engine ray``.
"""

import os
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import chain
from typing import Any

import numpy as np

from parataxis import api
from parataxis.errors import InputError
from parataxis.rewrite.jsonl import to_json
from parataxis.rewrite.record import Rewrite
from parataxis.run.encode import OutputFormat, RecordEncoder
from parataxis.run.files import arrow
from parataxis.run.gpu.server import Machine, load_models
from parataxis.run.rows import CellKind, cell_spans, joined
from parataxis.run.tables import cell_complaint, cell_texts
from parataxis.run.work import SplitterTask, Work, require_device_splitter
from parataxis.syntax.onnx import THREADS_VARIABLE

__all__ = ["RaySplitter"]

_ADDED = ("simple", "rewrite", "error")


class RaySplitter:
    """A class for ``map_batches``: each actor makes one, and so loads the models once.

    ``column`` holds text, which is cut into sentences as in ``parataxis split --column``; with
    ``cell="sentence"`` it holds one sentence in each row. Three columns are added: "simple", the
    simple sentences of the row; "rewrite", the whole record as a line of JSON; and "error", which
    says, for a row without text, why the others are empty.

    ``strict`` and ``beam`` are those of :class:`parataxis.Splitter`. With a ``device`` such as
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
        strict: bool = False,
        beam: int | None = None,
        cell: str = CellKind.TEXT,
        device: str | None = None,
        jobs: int = 1,
    ) -> None:
        os.environ.setdefault(THREADS_VARIABLE, "1")
        self.column, self.cell = column, CellKind(cell)
        _check_device(splitter, device, jobs)
        task = SplitterTask(splitter, strict=strict, beam=beam)
        work = Work(task, RecordEncoder(OutputFormat.JSONL), task.load().name)
        self._rewrite: _Rewriter = partial(_rewritten, work)
        if device is not None and jobs == 1:
            self._rewrite = partial(_rewritten, work.on(load_models(device)))
        elif device is not None:
            machine = Machine(lambda models: partial(_rewritten, work.on(models)), device, jobs)
            self._rewrite = lambda texts: (
                list(chain(*machine(*_parts(texts, jobs)))) if texts else []
            )

    def __call__(self, batch: Any) -> Any:
        """The batch with the three columns."""
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
        rewrites = iter(
            joined(text, each, [next(sentences) for _ in each])
            for text, each in zip(good, spans, strict=True)
        )
        found = [([], None) if error else _cells(next(rewrites)) for error in errors]
        columns = [simple for simple, _ in found], [record for _, record in found], errors
        return dict(zip(_ADDED, columns, strict=True))


_Rewriter = Callable[[Sequence[str]], Sequence[Rewrite]]


def _rewritten(work: Work, texts: Sequence[str]) -> list[Rewrite]:
    return work.rewrites(texts)[0]


def _cells(rewrite: Rewrite) -> tuple[list[str], str | None]:
    return list(rewrite.simple), to_json(rewrite)


def _parts(texts: Sequence[str], count: int) -> list[Sequence[str]]:
    """The texts in so many parts of about one size, none of them empty."""
    size = max(1, -(-len(texts) // count))
    return [texts[start : start + size] for start in range(0, len(texts), size)]


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


def _check_device(splitter: str, device: str | None, jobs: int) -> None:
    if jobs < 1:
        raise InputError(f"There must be at least one job, not {jobs}.")
    if device is None and jobs > 1:
        raise InputError("Jobs are processes beside a device; without one, ask for more actors.")
    if device is not None:
        require_device_splitter(splitter)
