"""Splitting a column of a Ray dataset, with ``dataset.map_batches``.

This is for pipelines that are made of Ray Data already. To split files on a cluster, the command
``parataxis split --engine ray`` is all that is needed.
"""

import os
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from parataxis import api
from parataxis.errors import InputError
from parataxis.rewrite.jsonl import to_json
from parataxis.scale.arrow import arrow
from parataxis.scale.encode import Encoder, Form
from parataxis.scale.gpu.server import load_models
from parataxis.scale.gpu.splitter import Models
from parataxis.scale.tables import cell_complaint, cell_texts
from parataxis.scale.work import SplitterTask, Work
from parataxis.syntax.onnx import THREADS_VARIABLE

__all__ = ["Splitter"]

_ADDED = ("simple", "rewrite", "error")


class Splitter:
    """A class for ``map_batches``: each actor makes one, and so loads the models once.

    ``column`` holds one sentence in each row, as in ``parataxis split --column``. Three columns
    are added: "simple", the simple sentences; "rewrite", the whole record as a line of JSON; and
    "error", which says, where there is no sentence in a row, why the others are empty.

    ``strict`` and ``beam`` are those of :class:`parataxis.Splitter`. With a ``device`` such as
    "cuda" the models run there; give each actor a share of a GPU then (``num_gpus``). An actor
    uses one thread, unless ``PARATAXIS_THREADS`` says otherwise. Batches are Arrow tables
    (``batch_format="pyarrow"``) or dicts of numpy arrays.

    >>> import numpy
    >>> made = Splitter("text", splitter="source")({"text": numpy.array(["It rained.", None])})
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
        device: str | None = None,
    ) -> None:
        os.environ.setdefault(THREADS_VARIABLE, "1")
        self.column = column
        task = SplitterTask(splitter, strict=strict, beam=beam, models=_models(splitter, device))
        self._work = Work(task, Encoder(Form.JSONL), task.load().name)

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
        rewrites = iter(self._work.rewrites(good)[0])
        found = [None if error else next(rewrites) for error in errors]
        columns = (
            [list(rewrite.simple) if rewrite else [] for rewrite in found],
            [to_json(rewrite) if rewrite else None for rewrite in found],
            errors,
        )
        return dict(zip(_ADDED, columns, strict=True))


def _texts(column: Any) -> list[str | None]:
    if not isinstance(column, np.ndarray):
        # Of a block in which all are missing, Arrow does not know that they should be text.
        return [None] * len(column) if column.type == arrow().null() else cell_texts(column)
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


def _models(splitter: str, device: str | None) -> Models | None:
    if device is None:
        return None
    if splitter != api.DEFAULT_SPLITTER:
        raise InputError(
            f'Only the splitter "{api.DEFAULT_SPLITTER}" runs on a GPU, not "{splitter}".'
        )
    return load_models(device)
