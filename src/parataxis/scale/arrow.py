"""The package pyarrow, imported when it is first needed."""

from typing import TYPE_CHECKING

from parataxis.errors import ParataxisError

if TYPE_CHECKING:
    from types import ModuleType

__all__ = ["arrow"]


def arrow() -> "ModuleType":
    """The package, which Parquet, zstandard and files elsewhere need."""
    try:
        import pyarrow
    except ImportError as error:
        raise ParataxisError(
            "Parquet, .zst files and addresses such as s3://... need pyarrow; install it with: "
            "pip install 'parataxis[scale]'."
        ) from error
    module: ModuleType = pyarrow
    return module
