"""Claims as documents of LangChain: a ``TextSplitter``."""

from collections.abc import Mapping
from typing import Any, Unpack

from langchain_core.documents import Document
from langchain_text_splitters import TextSplitter

from parataxis.api import DEFAULT_SPLITTER, Splitter
from parataxis.integrations.claims import claim_metadata, text_claims
from parataxis.splitters.registry import SentenceSplitter
from parataxis.splitters.settings import SettingOptions

__all__ = ["ClaimTextSplitter"]


class ClaimTextSplitter(TextSplitter):
    """Makes each claim of a text a document; the options are those of ``parataxis.claims``.

    The metadata of a claim are those of its document and the fields of
    :func:`~parataxis.integrations.claims.claim_metadata`: ``parent`` is the source sentence at
    ``start`` to ``end``. ``split_documents`` also keeps the id of the document as ``parent_id``.
    """

    def __init__(
        self,
        splitter: str | SentenceSplitter = DEFAULT_SPLITTER,
        **options: Unpack[SettingOptions],
    ) -> None:
        super().__init__()
        options.setdefault("level", "atomic")
        self._splitter = Splitter(splitter, **options)

    def split_text(self, text: str) -> list[str]:
        """The claims of a text."""
        return [claim.text for claim in text_claims(self._splitter, text)]

    def create_documents(
        self, texts: list[str], metadatas: list[dict[Any, Any]] | None = None
    ) -> list[Document]:
        """The claims of texts, each with the metadata of its text."""
        given: list[Mapping[Any, Any]] = [*(metadatas or ({} for _ in texts))]
        return [
            Document(page_content=claim.text, metadata={**metadata, **claim_metadata(claim)})
            for text, metadata in zip(texts, given, strict=True)
            for claim in text_claims(self._splitter, text)
        ]

    def split_documents(self, documents: Any) -> list[Document]:
        """The claims of documents."""
        found = list(documents)
        named = [{**each.metadata, **({"parent_id": each.id} if each.id else {})} for each in found]
        return self.create_documents([each.page_content for each in found], named)
