"""Asks an MCP server at a URL with the client of Python, once for each mode of it."""

import asyncio
import sys

from mcp import Client


async def main(url: str) -> None:
    for mode in ("legacy", "2026-07-28"):
        async with Client(url, mode=mode) as client:
            tools = [t.name for t in (await client.list_tools()).tools]
            found = await client.call_tool("find", {"words": "refugees"})
            rows = await client.call_tool("rows", {"list": "idps", "limit": 3})
            wrong = await client.call_tool("rows", {"list": "idp"})
            text = await client.read_resource("hdqs://dictionary")
            assert tools == ["aggregate", "changes", "figure", "find", "rows", "source"], tools
            assert found.structured_content["results"] and len(rows.structured_content["rows"]) == 3
            assert wrong.is_error and '"instead"' in wrong.content[0].text
            assert "admin_level" in text.contents[0].text
            print(client.protocol_version)


asyncio.run(main(sys.argv[1]))
