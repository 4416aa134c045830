"""Claims as documents of LangChain, LlamaIndex and Haystack, with the real packages: parents,
places and metadata are kept."""

import json
from typing import Any

import pytest

from parataxis import InputError

MILL = "It rained. The mill, which was built in 1850, burned down."
CLAIMS = ["It rained.", "The mill was built in 1850.", "The mill burned down."]
PARENTS = ["It rained.", MILL[11:], MILL[11:]]


def require_places(metadatas: list[dict[str, Any]]) -> None:
    assert [MILL[each["start"] : each["end"]] for each in metadatas] == PARENTS
    assert [each["parent"] for each in metadatas] == PARENTS
    assert [each["claim"] for each in metadatas] == ["1#1", "2#1", "2#2"]
    assert [[MILL[a:b] for a, b in each["spans"]] for each in metadatas] == [
        ["It rained."],
        ["The mill", "was built in 1850"],
        ["The mill", "burned down."],
    ]
    json.dumps(metadatas)  # plain data, which any store can hold


def test_langchain_splits_documents_into_claims() -> None:
    documents = pytest.importorskip("langchain_core.documents")
    from parataxis.integrations.langchain import ClaimTextSplitter

    splitter = ClaimTextSplitter()
    assert splitter.split_text(MILL) == CLAIMS
    assert splitter.split_text(" ") == []
    given = documents.Document(page_content=MILL, metadata={"file": "mill.txt"}, id="d1")
    made = splitter.transform_documents([given])
    assert [each.page_content for each in made] == CLAIMS
    require_places([each.metadata for each in made])
    assert {(each.metadata["file"], each.metadata["parent_id"]) for each in made} == {
        ("mill.txt", "d1")
    }
    assert [
        each.metadata["file"] for each in splitter.create_documents([MILL], [{"file": "a"}])
    ] == [
        "a",
        "a",
        "a",
    ]
    assert ClaimTextSplitter(level="light").split_text(MILL) == ["It rained.", MILL[11:]]
    with pytest.raises(InputError, match="has no levels"):
        ClaimTextSplitter("rules")


def test_llamaindex_parses_documents_into_claims() -> None:
    schema = pytest.importorskip("llama_index.core.schema")
    from llama_index.core.ingestion import IngestionPipeline

    from parataxis.integrations.llamaindex import ClaimNodeParser

    document = schema.Document(text=MILL, id_="d1", metadata={"file": "mill.txt"})
    nodes = IngestionPipeline(transformations=[ClaimNodeParser()]).run(documents=[document])
    assert [node.get_content() for node in nodes] == CLAIMS
    require_places([node.metadata for node in nodes])
    assert {node.ref_doc_id for node in nodes} == {"d1"}
    assert {node.metadata["file"] for node in nodes} == {"mill.txt"}
    assert [MILL[node.start_char_idx : node.end_char_idx] for node in nodes] == PARENTS
    # Only what describes the document is embedded with the claim.
    shown = nodes[1].get_content(metadata_mode=schema.MetadataMode.EMBED)
    assert shown == f"file: mill.txt\n\n{CLAIMS[1]}"
    assert nodes[1].prev_node.node_id == nodes[0].node_id
    light = ClaimNodeParser(options={"level": "light"})
    assert [node.get_content() for node in light([document])] == ["It rained.", MILL[11:]]


def test_haystack_splits_documents_into_claims() -> None:
    haystack = pytest.importorskip("haystack")
    from parataxis.integrations.haystack import ClaimSplitter

    pipeline = haystack.Pipeline()
    pipeline.add_component("claims", ClaimSplitter(options={"beam": 2}))
    trusted = ["parataxis.integrations.haystack"]
    pipeline = haystack.Pipeline.loads(pipeline.dumps(), allowed_modules=trusted)
    assert pipeline.get_component("claims").options == {"beam": 2}
    document = haystack.Document(content=MILL, meta={"file": "mill.txt"})
    empty = haystack.Document(content=None)
    made = pipeline.run({"claims": {"documents": [document, empty]}})["claims"]["documents"]
    assert [each.content for each in made] == CLAIMS
    require_places([each.meta for each in made])
    assert {(each.meta["file"], each.meta["source_id"]) for each in made} == {
        ("mill.txt", document.id)
    }
    assert len({each.id for each in made}) == 3
