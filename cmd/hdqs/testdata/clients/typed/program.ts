// Asks both name sets with a typed client and prints, for each, rows, total and the sum of a field. There is no cast and no `any`, so the
// compiler checks what the interface description says of fields and parameters.
import createClient from "openapi-fetch";
import type { paths as ContractPaths } from "./contract.js";
import type { paths as HAPIPaths } from "./hapi.js";

const [base, identifier] = process.argv.slice(2);
if (base === undefined || identifier === undefined) throw new Error("usage: program BASE IDENTIFIER");

const neutral = createClient<ContractPaths>({ baseUrl: base });
const events = await neutral.GET("/api/v2/coordination-context/conflict-events", {
  params: { query: { app_identifier: identifier, location_code: "AFG", event_type: "demonstration", limit: 5000 } },
});
if (events.error !== undefined) throw new Error(JSON.stringify(events.error));
let fatalities = 0;
for (const row of events.data.data) fatalities += row.fatalities ?? 0;
const first: string | undefined = events.data.data[0]?.location_name;
console.log(["contract", events.data.data.length, events.response.headers.get("X-Total-Count"), fatalities, first].join("\t"));

const hapi = createClient<HAPIPaths>({ baseUrl: base + "/hapi" });
const phases = await hapi.GET("/api/v2/food-security-nutrition-poverty/food-security", {
  params: { query: { app_identifier: identifier, ipc_phase: "3+", ipc_type: "current" } },
});
if (phases.error !== undefined) throw new Error(JSON.stringify(phases.error));
let people = 0;
for (const row of phases.data.data) people += row.population_in_phase;
const phase: "1" | "2" | "3" | "4" | "5" | "3+" | "all" | undefined = phases.data.data[0]?.ipc_phase;
console.log(["hapi", phases.data.data.length, phases.response.headers.get("X-Total-Count"), people, phase].join("\t"));

// A value that the interface does not list does not compile.
// @ts-expect-error
await hapi.GET("/api/v2/food-security-nutrition-poverty/food-security", { params: { query: { ipc_phase: "6" } } });
