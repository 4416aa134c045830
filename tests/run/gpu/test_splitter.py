"""The splitter with its models on a device, in this process and in one of their own."""

import os
import signal
from pathlib import Path

import numpy as np
import pytest

from parataxis.api import Splitter
from parataxis.errors import ParataxisError
from parataxis.run.gpu.models import DeviceModels
from parataxis.run.gpu.server import RemoteModels, served
from parataxis.run.gpu.splitter import DevicePointerSplitter, Sentences
from parataxis.splitters.settings import SplitSettings
from parataxis.syntax.analyser import load_analyser

SENTENCES = [
    "The dam, which was built in 1931, broke in May, and the water flooded three villages.",
    "It rained.",
    "[A link](https://example.org), which leads nowhere, is left alone.",
    "...",
]


def test_splitter_rewrites_as_on_the_cpu(models: DeviceModels) -> None:
    ours = list(Splitter(DevicePointerSplitter(models), beam=2).pipe(SENTENCES))
    cpu = list(Splitter("pointer", beam=2).pipe(SENTENCES))
    assert [rewrite.simple for rewrite in ours] == [rewrite.simple for rewrite in cpu]
    assert [len(rewrite.simple) for rewrite in ours] == [3, 1, 1, 1]
    assert [rewrite.provenance for rewrite in ours] == [rewrite.provenance for rewrite in cpu]
    assert [rewrite.note for rewrite in ours] == [rewrite.note for rewrite in cpu]


def test_splitter_keeps_its_models_when_adjusted(models: DeviceModels) -> None:
    adjusted = DevicePointerSplitter(models, window=7).adjusted(SplitSettings(strict=True, beam=1))
    assert isinstance(adjusted, DevicePointerSplitter)
    assert (adjusted.beam, adjusted.settings.strict, adjusted.window) == (1, True, 7)


def test_splitter_analyses_have_roles_when_asked(models: DeviceModels) -> None:
    analyser = DevicePointerSplitter(models)._loaded_analyser()
    ours, empty = analyser.pipe(["Ann saw Bob.", ""])
    assert ours == load_analyser()("Ann saw Bob.")
    assert not len(empty)


def test_splitter_asks_the_process_that_has_the_models(
    models: DeviceModels, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    here = list(DevicePointerSplitter(models, beam=1).pipe(SENTENCES[:2]))
    others = _children(os.getpid())  # such as servers that other tests have started
    with served("cpu") as address:
        remote = RemoteModels(address)
        assert list(DevicePointerSplitter(remote, beam=1).pipe(SENTENCES[:2])) == here
        # An error is reported to the client that caused it, and the server goes on.
        unknown = np.full((1, 16), 10**6)
        wrong = Sentences(
            16, unknown, unknown * 0, unknown[:, :2] * 0, np.zeros((1, 1), np.float32)
        )
        with pytest.raises(ParataxisError, match="The process with the GPU failed: IndexError"):
            remote.analyse([wrong])
        with pytest.raises(ParataxisError, match="failed: AttributeError"):
            remote.search([None], 1)  # type: ignore[list-item]
        assert remote.analyse([]) == []
        assert list(DevicePointerSplitter(remote, beam=1).pipe(SENTENCES[:2])) == here
        (server,) = [
            int(pid)
            for pid in _children(os.getpid())
            if pid not in others and "resource_tracker" not in _command(pid)
        ]
        os.kill(server, signal.SIGKILL)
        with pytest.raises(ParataxisError, match="The process with the GPU has ended"):
            remote.search([], 1)


def test_splitter_says_why_the_models_could_not_be_loaded() -> None:
    with (
        pytest.raises(ParataxisError, match="could not be put on cuda: torch finds no GPU here"),
        served("cuda"),
    ):
        pass


def _children(parent: int) -> list[str]:
    tasks = Path(f"/proc/{parent}/task").iterdir()
    return [pid for task in tasks for pid in (task / "children").read_text().split()]


def _command(pid: str) -> str:
    return Path(f"/proc/{pid}/cmdline").read_text()
