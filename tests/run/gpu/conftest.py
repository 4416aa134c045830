"""The shipped models, run by torch on the CPU: what a GPU computes, but slowly."""

import pytest
import torch

from parataxis.run.gpu.models import DeviceModels


@pytest.fixture(scope="session")
def models() -> DeviceModels:
    torch.set_num_threads(1)
    return DeviceModels.load("cpu")
