"""A GPU and the processes beside it, for one who hands in batches as they come: an actor of a
cluster. It is what one machine does with ``--device``: one process owns the GPU, the others compose
and check."""

import os
from collections.abc import Callable
from concurrent.futures.process import BrokenProcessPool
from contextlib import ExitStack
from multiprocessing import active_children
from multiprocessing.connection import wait
from socket import gethostname
from threading import Lock
from typing import Generic, TypeVar

from parataxis.errors import ParataxisError
from parataxis.run.gpu.server import RemoteModels, served
from parataxis.run.gpu.splitter import Models
from parataxis.run.pool import Processes

S = TypeVar("S")
R = TypeVar("R")

_MOMENT = 3.0
"""Seconds in which a process that has hung up is gone."""


class Machine(Generic[S, R]):
    """Does work with the models on ``device``, in ``jobs`` processes, which start with the first
    item. ``work`` says what is done, once it has the models. It may be called from many threads,
    and each waits for what it handed in.

    Where one of its processes is lost, this process ends, and so do they all: to a cluster it is a
    lost actor, whose batches are sent to others.
    """

    def __init__(self, work: Callable[[Models], Callable[[S], R]], device: str, jobs: int) -> None:
        self._work, self._device, self._jobs = work, device, jobs
        self._lock = Lock()
        self._held = ExitStack()
        self._processes: Processes[S, R] | None = None
        self._sentinels: list[int] = []

    def __call__(self, *items: S) -> list[R]:
        """Work on items side by side; the results, in order."""
        processes = self._started()
        try:
            return [future.result() for future in [processes.submit(item) for item in items]]
        except BrokenProcessPool:
            os._exit(1)
        except ParataxisError:
            if wait(self._sentinels, timeout=_MOMENT):
                os._exit(1)
            raise

    def _started(self) -> Processes[S, R]:
        with self._lock:
            if self._processes is None:
                try:
                    models = RemoteModels(self._held.enter_context(served(self._device)))
                except ParataxisError as error:
                    raise ParataxisError(f"On {gethostname()}: {error}") from error
                self._sentinels = [process.sentinel for process in active_children()]
                self._processes = Processes(self._work(models), self._jobs, threads=1)
            return self._processes
