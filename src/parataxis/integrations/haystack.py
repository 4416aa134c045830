"""Claims as documents of Haystack: a component for indexing pipelines."""

from typing import Any

from haystack import Document, component, default_from_dict, default_to_dict

from parataxis.api import DEFAULT_SPLITTER, Splitter
from parataxis.integrations.claims import claim_metadata, text_claims

__all__ = ["ClaimSplitter"]


@component
class ClaimSplitter:
    """Makes each claim of a document a document; ``options`` are those of ``parataxis.claims``.

    The metadata of a claim are those of its document, ``source_id`` (the id of the document) and
    the fields of :func:`~parataxis.integrations.claims.claim_metadata`: ``parent`` is the source
    sentence at ``start`` to ``end``.
    """

    def __init__(
        self, splitter: str = DEFAULT_SPLITTER, options: dict[str, Any] | None = None
    ) -> None:
        self.splitter, self.options = splitter, options or {}
        self._splitter = Splitter(splitter, **{"level": "atomic", **self.options})

    def to_dict(self) -> dict[str, Any]:
        """The settings, as a pipeline saves them."""
        return default_to_dict(self, splitter=self.splitter, options=self.options)

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> "ClaimSplitter":
        """The component with saved settings."""
        return default_from_dict(cls, data)

    @component.output_types(documents=list[Document])
    def run(self, documents: list[Document]) -> dict[str, list[Document]]:
        """The claims of documents; one without text has none."""
        return {
            "documents": [
                Document(
                    content=claim.text,
                    meta={**each.meta, "source_id": each.id, **claim_metadata(claim)},
                )
                for each in documents
                for claim in text_claims(self._splitter, each.content or "")
            ]
        }
