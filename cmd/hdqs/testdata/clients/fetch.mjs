// Fetches pages with Node's fetch: node fetch.mjs < PLAN. Plan and output are those of fetch.py.
import { createHash } from "node:crypto";
import { createInterface } from "node:readline";

for await (const line of createInterface({ input: process.stdin })) {
  const [name, url, accept] = line.split("\t");
  const answer = await fetch(url, { headers: accept === "-" ? {} : { "Accept-Encoding": accept } });
  const body = new Uint8Array(await answer.arrayBuffer());
  console.log([name, answer.status, body.length, createHash("sha256").update(body).digest("hex")].join("\t"));
}
