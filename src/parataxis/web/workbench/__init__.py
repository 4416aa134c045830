"""The page of ``parataxis serve``: paste a text, read its rewrite beside it, decide, take it away."""

from parataxis.web.workbench.routes import router

__all__ = ["router"]
