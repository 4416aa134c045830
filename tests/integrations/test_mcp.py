"""``parataxis mcp`` answers a real client over standard input and output."""

import json
import os
import sys
from typing import Any

import anyio
import pytest

mcp = pytest.importorskip("mcp")

MILL = "The mill, which was built in 1850, burned down."
SERVER = mcp.StdioServerParameters(
    command=sys.executable, args=["-m", "parataxis", "mcp"], env=dict(os.environ)
)


async def ask() -> dict[str, Any]:
    async with mcp.Client(SERVER) as client:
        answers: dict[str, Any] = {
            "tools": {tool.name: tool for tool in (await client.list_tools()).tools}
        }
        for name, arguments in {
            "split": {"text": f"{MILL}  It rained."},
            "check": {"source": "He may not go.", "simple": ["He may go."]},
            "claims": {"text": "Ann said that Bob sang and that Eve danced."},
            "lint": {"text": f"It rained. {MILL}", "max_words": 5},
            "bad": {"text": " "},
        }.items():
            tool = "split" if name == "bad" else name
            answers[name] = await client.call_tool(tool, arguments)
    return answers


def test_mcp_serves_a_client() -> None:
    answers = anyio.run(ask)
    tools = answers.pop("tools")
    assert list(tools) == ["split", "check", "claims", "lint"]
    assert all(tool.description for tool in tools.values())
    assert tools["split"].input_schema["required"] == ["text"]
    bad = answers.pop("bad")
    assert bad.is_error
    assert "The text is empty; give at least one sentence." in bad.content[0].text
    found = {name: answer.structured_content for name, answer in answers.items()}
    assert json.loads(answers["split"].content[0].text) == found["split"]
    assert found["split"]["text"] == "The mill burned down. It was built in 1850.  It rained."
    assert [each["source"] for each in found["split"]["rewrites"]] == [MILL]
    assert [each["message"] for each in found["check"]["findings"]] == [
        "The negation 'not' is missing."
    ]
    assert [
        (each["text"], [scope["kind"] for scope in each["scope"]])
        for each in found["claims"]["claims"]
    ] == [
        ("Ann said that Bob sang.", ["attribution"]),
        ("Ann said that Eve danced.", ["attribution"]),
    ]
    (finding,) = found["lint"]["findings"]
    assert (finding["line"], finding["column"], finding["sentence"]) == (1, 12, MILL)
