"""Where a long run is done: on this machine, or on a cluster."""

import os
from collections.abc import Iterable, Iterator
from contextlib import redirect_stdout
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from parataxis.cli.terminal import warn
from parataxis.errors import InputError
from parataxis.scale.cluster import Cluster, ray_package
from parataxis.scale.reading import Batch
from parataxis.scale.run import Engine
from parataxis.scale.work import Encoded, SplitterTask, Work

__all__ = ["EngineName", "make_engine"]


class EngineName(StrEnum):
    """Where the work is done."""

    LOCAL = "local"
    RAY = "ray"


def make_engine(
    name: EngineName,
    address: str | None,
    task: SplitterTask,
    *,
    most: int | None,
    device: str | None = None,
) -> Engine | None:
    """The engine that the command line asks for; None is that of this machine."""
    if name is EngineName.LOCAL:
        if address is not None:
            raise InputError("--address is that of a Ray cluster; add --engine ray.")
        return None
    if device is not None and ":" in device:
        raise InputError("On a cluster each actor has its own GPU; give --device cuda.")
    splitter = task.load()
    if splitter.keeps_books:
        raise InputError(
            f'The splitter "{splitter.name}" keeps its books in one process; leave --engine out.'
        )
    ray_package()
    return _Quiet(Cluster(address, most=most, device=device, tell=warn))


@dataclass(frozen=True)
class _Quiet:
    """Keeps what Ray prints to standard output out of the results there."""

    engine: Engine

    def __call__(self, batches: Iterable[Batch], work: Work) -> Iterator[tuple[Batch, Encoded]]:
        """Do the work."""
        with Path(os.devnull).open("w", encoding="utf-8") as nowhere, redirect_stdout(nowhere):
            yield from self.engine(batches, work)
