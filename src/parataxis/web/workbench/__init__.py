"""The page of ``parataxis serve``: a text, its rewrite beside it, and what to do with it."""

from parataxis.web.workbench.routes import router

__all__ = ["router"]
