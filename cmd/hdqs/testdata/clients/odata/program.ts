// Adds up deaths, page by page, with the types that odata2ts makes of $metadata.
import type {conflict_events, funding_by_country_year} from "./model/HdqsModel.js";

type Page<T> = {value: T[]; "@odata.nextLink"?: string};

const base = process.argv[2] ?? "";

async function* records<T>(query: string): AsyncGenerator<T> {
  for (let next: string | undefined = base + query; next !== undefined; ) {
    const answer = await fetch(next, {headers: {Prefer: "odata.maxpagesize=50", Accept: "application/json"}});
    if (!answer.ok) throw new Error(await answer.text());
    const page = (await answer.json()) as Page<T>;
    yield* page.value;
    next = page["@odata.nextLink"];
  }
}

let count = 0;
let deaths = 0;
for await (const event of records<conflict_events>("conflict_events?$filter=location_code eq 'AFG'")) {
  const fatalities: number | null = event.fatalities;
  const start: string = event.reference_period_start;
  if (start.length !== "2024-05-17".length) throw new Error(start);
  count++;
  deaths += fatalities ?? 0;
}
const sums: funding_by_country_year[] = [];
for await (const sum of records<funding_by_country_year>("funding_by_country_year")) sums.push(sum);
console.log(`${count}\t${deaths}\t${sums.length > 0}`);
