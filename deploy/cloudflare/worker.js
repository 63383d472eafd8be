// A Cloudflare Worker as a cache in front of hdqs. `make edge` runs this very file with workerd, the
// runtime of the platform, and a cache that does what the documentation of the Cache API says.
//
// Settings: the variable ORIGIN is the address of the replicas, https://origin.example.org, a host of
// the same zone for which no cache rule exists. Replicas run with --cache-tag and --base-url. Purge
// by tag what 'hdqs publish' prints, once the replicas serve the new snapshot. Turn "Block AI bots" off for
// /mcp, /llms.txt and /bulk/: they are for programs. The Cache API has no effect on workers.dev.
//
// One cached answer serves all callers in one data centre, whatever their app identifier, the order of
// their parameters, ranges, GET or HEAD. X-Cache says HIT, MISS, STALE or BYPASS. Misses at the same
// time each reach the service, since requests of a Worker share nothing; the service answers them as one.

const label = "app_identifier";
const identifierFields = ["X-CATALOG-API-APP-IDENTIFIER", "X-HDX-HAPI-APP-IDENTIFIER"];

export default {
  async fetch(request, env, context) {
    const url = new URL(request.url);
    const path = url.pathname;
    const query = url.search.slice(1);
    const parts = splitQuery(path, query);
    if (passes(request, path) || unnamed(request, path, parts.label)) {
      return marked(await ask(request, env, path, query), "BYPASS");
    }
    // The platform sends "gzip, br" here for all browsers, and takes care of other codings itself.
    const coding = codingOf(request.headers.get("Accept-Encoding") || "");
    const form = formOf(request, path);
    const headers = new Headers(request.headers);
    headers.set("Accept", form);
    const key = new Request(`${env.ORIGIN}/${encodeURIComponent(coding)}~${encodeURIComponent(form)}~${path}?${parts.key}`);
    const job = { request: new Request(request, { headers }), env, context, path, query: parts.sent, coding, key, kept: await caches.default.match(key) };
    return answer(job);
  },
};

// answer uses the kept answer, if there is one, for as long as its Cache-Control allows.
async function answer(job) {
  const { kept, request } = job;
  if (!kept) {
    if (request.method === "HEAD") { // it costs the service no body, and nothing is kept
      return marked(await ask(request, job.env, job.path, job.query, { "Accept-Encoding": job.coding }), "MISS");
    }
    return marked(await refresh(job), "MISS");
  }
  const age = (Date.now() - Number(kept.headers.get("X-Edge-Stored"))) / 1000;
  const ages = agesOf(kept.headers.get("X-Edge-Control"));
  if (age < ages.fresh) {
    return unwrap(kept, request, "HIT", age);
  }
  if (age < ages.fresh + ages.whileRevalidate) {
    job.context.waitUntil(refresh(job).catch(() => {})); // the stale answer stays
    return unwrap(kept, request, "STALE", age);
  }
  let fresh;
  try {
    fresh = await refresh(job);
  } catch {
    fresh = unreachable();
  }
  if (fresh.status >= 500 && age < ages.fresh + ages.ifError) {
    return unwrap(kept, request, "STALE", age);
  }
  return marked(request.method === "HEAD" ? new Response(null, fresh) : fresh, "EXPIRED");
}

// refresh asks the service with the entity tag of what is kept, and keeps the answer. It resolves
// once that is kept or, for a larger answer, while it is.
async function refresh(job) {
  const { kept, key } = job;
  const tag = kept && kept.headers.get("ETag");
  const conditions = tag ? { "If-None-Match": tag } : {};
  const got = await ask(new Request(job.request, { method: "GET" }), job.env, job.path, job.query,
    { "Accept-Encoding": job.coding, ...conditions });
  let fresh = got;
  if (got.status === 304 && kept) {
    const headers = new Headers(kept.headers);
    for (const [name, value] of got.headers) {
      headers.set(name, value);
    }
    headers.delete("Content-Length"); // of no body
    const again = await caches.default.match(key); // kept itself may be on its way to the client
    if (!again) {
      return ask(new Request(job.request, { method: "GET" }), job.env, job.path, job.query,
        { "Accept-Encoding": job.coding });
    }
    fresh = new Response(again.body, { status: kept.status, headers });
    fresh.headers.delete("X-Edge-Stored");
    fresh.headers.delete("X-Edge-Control");
  }
  const control = fresh.headers.get("Cache-Control") || "";
  const ages = agesOf(control);
  if (fresh.status >= 500 || fresh.status === 206 || !ages.fresh || /no-store|no-cache|private/i.test(control)) {
    return fresh;
  }
  const copy = fresh.clone();
  const headers = new Headers(copy.headers);
  headers.set("X-Edge-Stored", String(Date.now()));
  headers.set("X-Edge-Control", control);
  headers.set("Cache-Control", `public, s-maxage=${ages.fresh + Math.max(ages.whileRevalidate, ages.ifError)}`);
  headers.delete("Vary"); // the coding is in the key
  headers.delete("Set-Cookie");
  job.context.waitUntil(caches.default.put(key, new Response(copy.body, { status: copy.status, headers })));
  return fresh;
}

// ask sends a request to the service. What a client sent goes with it, but for what no answer depends on.
async function ask(request, env, path, query, more = {}) {
  const headers = new Headers(request.headers);
  for (const name of ["Authorization", "Cookie", "X-Forwarded-For"]) {
    headers.delete(name);
  }
  const client = headers.get("CF-Connecting-IP");
  if (client) {
    headers.set("X-Forwarded-For", client); // whose exports these are
  }
  if (Object.keys(more).length > 0) {
    for (const name of ["Range", "If-Range", "If-None-Match", "If-Modified-Since"]) {
      headers.delete(name);
    }
    for (const [name, value] of Object.entries(more)) {
      headers.set(name, value || "identity");
    }
  }
  const target = env.ORIGIN + path + (query ? "?" + query : "");
  const init = { method: request.method, headers, redirect: "manual" };
  if (request.method !== "GET" && request.method !== "HEAD") {
    init.body = request.body;
  }
  try {
    return await fetch(target, init);
  } catch (failure) {
    return unreachable();
  }
}

// passes: requests that no cached answer may serve. Agents send messages to /mcp by POST; bulk files
// are read in parts; a path with a percent sign may be another spelling of any path; clients of OData choose
// forms by Accept that the service lets no cache keep.
function passes(request, path) {
  if (request.method !== "GET" && request.method !== "HEAD") {
    return true;
  }
  if (/^(\/hapi|\/contract)?\/bulk\//.test(path) || path === "/mcp" || path.includes("%")) {
    return true;
  }
  const accept = request.headers.get("Accept") || "";
  return /^\/odata\//.test(path) && (/metadata=(none|full)|ieee754compatible=true/i.test(accept) ||
    /^\/odata\/v4\/.metadata$/.test(path) && /application\/json/i.test(accept) && !/\/xml|text\/|\*\/\*/i.test(accept));
}

// unnamed: a request without an app identifier, or with one that cannot be one, goes to the service,
// which says what is wrong. The identifier is a label, not a credential: no answer depends on it.
function unnamed(request, path, given) {
  if (!/^(\/hapi|\/contract)?\/api/.test(path) || /\/api\/v[12]\/(encode_app_identifier|util\/version)$/.test(path)) {
    return false;
  }
  const named = given + identifierFields.map((name) => request.headers.get(name) || "").join("");
  return !/^(?:[A-Za-z0-9+\/_=-]|%(?:2[BbFf]|3[Dd]|20)){8,}$/.test(named);
}

// splitQuery takes the app identifier out of the key, and puts parameters of lists in a fixed order
// where that loses nothing: each has a plain name and occurs once. Names that the service does not know
// stay, since it says so in X-Unknown-Params, and refuses some.
function splitQuery(path, query) {
  const pairs = query.split("&");
  const at = pairs.findIndex((pair) => pair.startsWith(label + "="));
  const given = at < 0 ? "" : pairs[at].slice(label.length + 1);
  if (at >= 0) {
    pairs.splice(at, 1);
  }
  const named = pairs.filter((pair) => pair !== "");
  const names = new Set(named.map((pair) => pair.slice(0, pair.indexOf("="))));
  const plain = /\/api\//.test(path) && names.size === named.length &&
    named.every((pair) => /^[a-z0-9_]+=./.test(pair)) && named.length > 0;
  if (!plain) {
    return { key: pairs.join("&"), sent: query, label: given };
  }
  const key = named.sort().join("&");
  return { key, sent: key + (given ? `&${label}=${given}` : ""), label: given };
}

// formOf: maps (/ogc) and paths that nothing is at have an answer for browsers and one for programs, which
// Accept chooses. The service is sent one of two values of Accept, and each has a copy of its own.
function formOf(request, path) {
  const accept = request.headers.get("Accept") || "";
  const page = accept.includes("text/html") && !accept.includes("json") &&
    !/^(\/hapi|\/contract)?\/(api|bulk|odata\/)/.test(path);
  return page ? "text/html" : "*/*";
}

// codingOf: who accepts gzip gets gzip. Fields with weights are rare; each gets a copy of its own.
function codingOf(field) {
  return field.includes(";") ? field : /\bgzip\b/i.test(field) ? "gzip" : "";
}

function agesOf(control) {
  const seconds = (name) => Number((new RegExp(`(?:^|[ ,])${name}=([0-9]+)`).exec(control || "") || [0, 0])[1]);
  return {
    fresh: /s-maxage=/.test(control || "") ? seconds("s-maxage") : seconds("max-age"),
    whileRevalidate: seconds("stale-while-revalidate"),
    ifError: seconds("stale-if-error"),
  };
}

// unwrap makes an answer to a request of what is kept.
function unwrap(kept, request, state, age) {
  const headers = new Headers(kept.headers);
  headers.set("Cache-Control", headers.get("X-Edge-Control"));
  headers.set("Vary", "Accept-Encoding");
  headers.set("Age", String(Math.floor(age)));
  for (const name of ["X-Edge-Control", "X-Edge-Stored", "CF-Cache-Status"]) {
    headers.delete(name);
  }
  const tag = headers.get("ETag");
  const asked = request.headers.get("If-None-Match");
  if (tag && asked && asked.split(",").some((one) => opaque(one) === opaque(tag) || one.trim() === "*")) {
    headers.delete("Content-Length");
    headers.delete("Content-Encoding");
    return marked(new Response(null, { status: 304, headers }), state);
  }
  return marked(new Response(request.method === "HEAD" ? null : kept.body, { status: kept.status, headers }), state);
}

const opaque = (tag) => tag.trim().replace(/^W\//, "");

function unreachable() {
  return new Response('{"detail":"No replica of the service can be reached; try again after Retry-After"}', {
    status: 502,
    headers: {
      "Content-Type": "application/json", "Cache-Control": "no-store", "Retry-After": "5",
      "Access-Control-Allow-Origin": "*",
    },
  });
}

function marked(response, state) {
  const out = new Response(response.body, response);
  out.headers.set("X-Cache", state);
  if (state !== "BYPASS") {
    out.headers.set("Accept-Ranges", "none");
  }
  return out;
}
