"""The service: an API that splits, checks and analyses, and the page that uses it.

Needs the extra ``[serve]``. Nothing that is sent to it is written down.
"""

from parataxis.errors import ParataxisError

try:
    import fastapi  # noqa: F401
    import prometheus_client  # noqa: F401
    import python_multipart  # noqa: F401
except ImportError as error:
    raise ParataxisError(
        "The service needs FastAPI and its company; install them with: "
        "pip install 'parataxis[serve]'."
    ) from error

from parataxis.web.service.app import make_app
from parataxis.web.service.settings import Settings

__all__ = ["Settings", "make_app"]
