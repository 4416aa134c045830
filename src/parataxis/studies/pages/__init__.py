"""The web application of a study: pages for writers, raters and the organiser, and a JSON API.

Needs the extra ``[study]``.
"""

from parataxis.errors import needs

with needs("The pages of a study need FastAPI, Jinja2 and other packages", "study"):
    import argon2  # noqa: F401
    import fastapi  # noqa: F401
    import itsdangerous  # noqa: F401
    import jinja2  # noqa: F401
    import python_multipart  # noqa: F401
