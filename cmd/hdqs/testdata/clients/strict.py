"""Asks an MCP server as models do that get its tools in the strict form of OpenAI, and has the SDK of Gemini read them.

strict.py URL COUNTRY prints how many rows of idps the country has, and what the SDKs have made of the tools."""

import asyncio
import json
import sys

from agents.mcp import MCPServerStreamableHttp, MCPUtil
from agents.tool_context import ToolContext
from google.genai import _extra_utils, types
from mcp import ClientSession
from mcp.client.streamable_http import streamablehttp_client


def left_open(schema: dict) -> object:
    """A value that leaves an argument or filter open."""
    if schema["type"] == "object":
        assert schema["additionalProperties"] is False and schema["required"] == list(schema["properties"]), schema
        return {name: left_open(of) for name, of in schema["properties"].items()}
    return {"string": "", "array": [], "integer": schema.get("minimum", 0), "boolean": False}[schema["type"]]


async def strict(url: str, country: str) -> None:
    async with MCPServerStreamableHttp({"url": url}) as server:
        tools = {}
        for tool in await server.list_tools():
            tools[tool.name] = MCPUtil.to_function_tool(tool, server, True)
            assert tools[tool.name].strict_json_schema, tool.name

        async def call(name: str, **chosen: object) -> dict:
            arguments = left_open(tools[name].params_json_schema)
            filters = chosen.pop("filters", {})
            arguments.update(chosen)
            if filters:
                arguments["filters"].update(filters)
            text = json.dumps(arguments)
            context = ToolContext(context=None, tool_name=name, tool_call_id="1", tool_arguments=text)
            answer = await tools[name].on_invoke_tool(context, text)
            if isinstance(answer, str):
                answer = json.loads(answer)
            return json.loads(answer["text"])

        rows = await call("rows", list="idps", filters={"location_code": country})
        more = await call("rows", list="idps", filters={"more": [f"location_code={country}"]})
        counted = await call("aggregate", list="idps", filters={"location_code": country}, measures=["count"])
        assert rows["total"] == more["total"] == counted["rows"][0]["count"], (rows, more, counted)
        everywhere = await call("rows", list="idps")
        assert everywhere["total"] > rows["total"], everywhere
        found = await call("find", words="refugees", kind="any")
        assert found["total"] > 0, found
        figure = await call("figure", figure="population", countries=[country])
        assert figure["total"] == 1, figure
        print(len(tools), "strict tools,", rows["total"], "rows of", country)


async def gemini(url: str) -> None:
    async with streamablehttp_client(url) as (read, write, _), ClientSession(read, write) as session:
        await session.initialize()
        config = types.GenerateContentConfig(tools=[session])
        parsed, _ = await _extra_utils.parse_config_for_mcp_sessions(config)
        declared = [f for tool in parsed.tools for f in tool.function_declarations]
        print(len(declared), "declarations of functions for Gemini")


asyncio.run(strict(sys.argv[1], sys.argv[2]))
asyncio.run(gemini(sys.argv[1]))
