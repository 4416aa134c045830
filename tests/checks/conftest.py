import pytest

from parataxis.checks import Checker
from parataxis.syntax.analyser import load_analyser


@pytest.fixture(scope="session")
def checker() -> Checker:
    """A checker with the analyser that ships with the package."""
    return Checker(load_analyser())
