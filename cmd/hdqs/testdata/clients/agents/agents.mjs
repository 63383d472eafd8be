// Asks an MCP server at a URL with the client of TypeScript, in each of its modes.
import assert from "node:assert/strict";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";

for (const options of [
  { supportedProtocolVersions: ["2025-06-18"] },
  { versionNegotiation: { mode: "legacy" } },
  { versionNegotiation: { mode: { pin: "2026-07-28" } } },
]) {
  const client = new Client({ name: "test", version: "1" }, options);
  await client.connect(new StreamableHTTPClientTransport(new URL(process.argv[2])));
  const { tools } = await client.listTools();
  assert.deepEqual(tools.map((t) => t.name), ["aggregate", "changes", "figure", "find", "rows", "source"]);
  const found = await client.callTool({ name: "find", arguments: { words: "refugees" } });
  assert.ok(found.structuredContent.results.length > 0);
  const rows = await client.callTool({ name: "rows", arguments: { list: "idps", limit: 3 } });
  assert.equal(rows.structuredContent.rows.length, 3);
  const wrong = await client.callTool({ name: "rows", arguments: { list: "idp" } });
  assert.ok(wrong.isError && wrong.content[0].text.includes('"instead"'));
  const { contents } = await client.readResource({ uri: "hdqs://dictionary" });
  assert.ok(contents[0].text.includes("admin_level"));
  console.log(client.getNegotiatedProtocolVersion());
  await client.close();
}
