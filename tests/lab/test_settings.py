"""Settings of training runs."""

from pathlib import Path

import pytest

from parataxis.errors import InputError
from parataxis.lab.training import read_settings


@pytest.fixture
def config(tmp_path: Path) -> Path:
    path = tmp_path / "config.toml"
    path.write_text('epochs = 3\nname = "a"\n[sizes]\ndropout = 0.1\n', encoding="utf-8")
    return path


def test_settings_are_changed_by_name_and_keep_their_type(config: Path) -> None:
    settings = read_settings(config, {"epochs": "5", "sizes.dropout": "0.2"})
    assert settings == {"epochs": 5, "name": "a", "sizes": {"dropout": 0.2}}
    assert isinstance(settings["epochs"], int)


@pytest.mark.parametrize("name", ["epoch", "sizes", "sizes.width", "size.dropout", "name"])
def test_settings_refuse_a_name_that_is_no_number(config: Path, name: str) -> None:
    with pytest.raises(InputError, match="no number called"):
        read_settings(config, {name: "1"})


def test_settings_refuse_what_is_no_number(config: Path) -> None:
    with pytest.raises(InputError, match="must be a number"):
        read_settings(config, {"epochs": "many"})
