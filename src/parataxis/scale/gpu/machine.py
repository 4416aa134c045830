"""A GPU and the processes beside it, for one who hands in batches as they come: an actor of a
cluster. It is what one machine does with ``--device``: one process owns the GPU, the others compose
and check."""

import os
from collections.abc import Sequence
from concurrent.futures.process import BrokenProcessPool
from contextlib import ExitStack
from multiprocessing import active_children
from multiprocessing.connection import wait
from socket import gethostname
from threading import Lock

from parataxis.errors import ParataxisError
from parataxis.scale.gpu.server import RemoteModels, served
from parataxis.scale.pool import Processes
from parataxis.scale.units import Unit
from parataxis.scale.work import Encoded, Work

__all__ = ["Machine"]

_MOMENT = 3.0
"""Seconds in which a process that has hung up is gone."""


class Machine:
    """Does work with the models on ``device``, in ``jobs`` processes, which start with the first
    batch. It is called from many threads, and each waits for its batch.

    Where one of its processes is lost, this process ends, and so do they all: to a cluster it is a
    lost actor, whose batches are sent to others.
    """

    def __init__(self, work: Work, device: str, jobs: int) -> None:
        self._work, self._device, self._jobs = work, device, jobs
        self._lock = Lock()
        self._held = ExitStack()
        self._processes: Processes[Sequence[Unit], Encoded] | None = None
        self._sentinels: list[int] = []

    def __call__(self, units: Sequence[Unit]) -> Encoded:
        """Work on one batch."""
        processes = self._started()
        try:
            return processes.submit(units).result()
        except BrokenProcessPool:
            os._exit(1)
        except ParataxisError:
            if wait(self._sentinels, timeout=_MOMENT):
                os._exit(1)
            raise

    def _started(self) -> Processes[Sequence[Unit], Encoded]:
        with self._lock:
            if self._processes is None:
                try:
                    models = RemoteModels(self._held.enter_context(served(self._device)))
                except ParataxisError as error:
                    raise ParataxisError(f"On {gethostname()}: {error}") from error
                self._sentinels = [process.sentinel for process in active_children()]
                self._processes = Processes(self._work.on(models), self._jobs, threads=1)
            return self._processes
