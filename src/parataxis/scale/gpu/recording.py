"""Work on tensors that lie at fixed places: on a GPU it is recorded once and then played back, so
that hundreds of operators cost the host as little as one."""

import gc
import threading
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import torch

__all__ = ["Recording", "current", "new_pool"]

_one_at_a_time = threading.Lock()
"""Threads may play recordings side by side, but not make them."""


class Recording:
    """What ``work`` does, again and again. Recordings that are never played at the same time can
    share a pool of memory."""

    def __init__(self, work: Callable[[], None], device: torch.device, pool: Any = None) -> None:
        self._work = work
        self._graph: torch.cuda.CUDAGraph | None = None
        if device.type == "cuda":
            with _one_at_a_time:
                self._record(pool)

    def __call__(self) -> None:
        """Do it once more."""
        if self._graph is None:
            self._work()
        else:
            self._graph.replay()

    def _record(self, pool: Any) -> None:
        aside = torch.cuda.Stream()  # type: ignore[no-untyped-call]
        aside.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(aside):  # what is made on first use is made before the recording
            self._work()
            self._work()
        torch.cuda.current_stream().wait_stream(aside)
        gc.collect()
        self._graph = torch.cuda.CUDAGraph()
        # Other threads may use the GPU meanwhile.
        with torch.cuda.graph(self._graph, pool=pool, capture_error_mode="thread_local"):
            self._work()


def current(device: torch.device) -> AbstractContextManager[object]:
    """Makes a device the one on which this thread starts kernels and makes streams."""
    return torch.cuda.device(device) if device.type == "cuda" else nullcontext()


def new_pool(device: torch.device) -> Any:
    """Memory that recordings can share."""
    return torch.cuda.graph_pool_handle() if device.type == "cuda" else None
