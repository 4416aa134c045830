"""Claims as nodes of LlamaIndex: a ``NodeParser``."""

from collections.abc import Sequence
from typing import Any

from llama_index.core.bridge.pydantic import Field, PrivateAttr
from llama_index.core.node_parser import NodeParser
from llama_index.core.node_parser.node_utils import build_nodes_from_splits
from llama_index.core.schema import BaseNode, Document, MetadataMode

from parataxis.api import DEFAULT_SPLITTER, Splitter
from parataxis.integrations.claims import claim_metadata, text_claims

__all__ = ["ClaimNodeParser"]


class ClaimNodeParser(NodeParser):
    """Makes each claim of a document a node; ``options`` are those of ``parataxis.claims``.

    ``start_char_idx`` and ``end_char_idx`` of a node are the place of its source sentence, which is
    ``parent`` in its metadata; its relation ``SOURCE`` is the document. The metadata are not
    embedded and not shown to language models, except those of the document.
    """

    splitter: str = DEFAULT_SPLITTER
    options: dict[str, Any] = Field(default_factory=dict)
    _splitter: Splitter | None = PrivateAttr(default=None)

    @classmethod
    def class_name(cls) -> str:
        """The name under which a pipeline is saved."""
        return "ClaimNodeParser"

    def _parse_nodes(
        self, nodes: Sequence[BaseNode], show_progress: bool = False, **kwargs: Any
    ) -> list[BaseNode]:
        if self._splitter is None:
            self._splitter = Splitter(self.splitter, **{"level": "atomic", **self.options})
        found: list[BaseNode] = []
        for node in nodes:
            text = node.get_content(metadata_mode=MetadataMode.NONE)
            claims = text_claims(self._splitter, text)
            made = build_nodes_from_splits([c.text for c in claims], node, id_func=self.id_func)
            for claim, each in zip(claims, made, strict=True):
                each.metadata = claim_metadata(claim)
                hidden = list(each.metadata)
                each.excluded_embed_metadata_keys = [*each.excluded_embed_metadata_keys, *hidden]
                each.excluded_llm_metadata_keys = [*each.excluded_llm_metadata_keys, *hidden]
            found += made
        return found

    def _postprocess_parsed_nodes(
        self, nodes: list[BaseNode], parent_doc_map: dict[str, Document]
    ) -> list[BaseNode]:
        """Set the places from the claims: a claim is rarely a piece of its document."""
        done = super()._postprocess_parsed_nodes(nodes, parent_doc_map)
        for node in done:
            for name, key in (("start_char_idx", "start"), ("end_char_idx", "end")):
                setattr(node, name, node.metadata[key])
        return done
