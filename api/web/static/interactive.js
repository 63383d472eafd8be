// Starts swagger-ui with the description that the page names: at once for a link to an endpoint, else
// when somebody asks for it, since it is large.
"use strict";
const place = document.getElementById("swagger-ui"), ask = place.querySelector("button");

// load adds an element to the page and waits until what it names is there.
const load = (tag, properties) => new Promise((done, fail) => {
  document.head.append(Object.assign(document.createElement(tag), properties, {onload: done, onerror: () => fail(new Error("a file is missing"))}));
});

// mend gives what swagger-ui has made the names and levels that screen readers need.
function mend() {
  const each = (selector, names) => {
    for (const e of place.querySelectorAll(selector)) {
      for (const [name, value] of Object.entries(names)) {
        const text = typeof value === "function" ? value(e) : value;
        if (text && e.getAttribute(name) !== text) e.setAttribute(name, text);
      }
    }
  };
  each("h3", {"aria-level": "2"});
  each("h4", {"aria-level": "3"});
  each("h5", {"aria-level": "4"});
  each(".scheme-container", {role: "region", "aria-label": "Server and identifier"});
  each(".filter", {role: "search", "aria-label": "Endpoints by tag or path"});
  each("section.models", {"aria-label": "Schemas"});
  each("#servers", {"aria-label": "Server"});
  each("tr[data-param-name] :is(input, select, textarea)", {"aria-label": (e) => e.closest("tr").dataset.paramName});
  each("select:not([aria-label], [id])", {"aria-label": "Media type"});
  each("td.col_header", {role: "columnheader"});
  for (const a of place.querySelectorAll("button a[href]")) a.removeAttribute("href"); // the button does the same
}

// nameOf is what an operation is called whatever the version and path: get_idps is the name of
// get_idps_api_v1_affected_people_idps_get.
const nameOf = (operation) => operation.split("_api_v")[0];

// known returns the fragment of this description for one of another version of the service, where
// tags and paths may have other names.
function known(fragment, description) {
  const [, tag = "", operation = ""] = decodeURIComponent(fragment).split("/");
  const operations = Object.values(description.paths).flatMap((path) => Object.values(path));
  const found = operations.find((o) => operation !== "" && nameOf(o.operationId) === nameOf(operation));
  const name = found?.tags[0] ?? description.tags.find((t) => t.name.toLowerCase() === tag.toLowerCase())?.name;
  if (name === undefined) return fragment;
  return "#/" + [name, found?.operationId].filter(Boolean).map(encodeURIComponent).join("/");
}

async function start() {
  ask.disabled = true;
  const styles = place.dataset.styles.split(" ").map((href) => load("link", {rel: "stylesheet", href}));
  const [answer] = await Promise.all([fetch(place.dataset.description), load("script", {src: place.dataset.script}), ...styles]);
  if (!answer.ok) throw new Error("status " + answer.status);
  const description = await answer.json();
  if (location.hash.startsWith("#/")) history.replaceState(null, "", known(location.hash, description));
  place.replaceChildren();
  new MutationObserver(mend).observe(place, {childList: true, subtree: true});
  SwaggerUIBundle({
    spec: description,
    domNode: place,
    deepLinking: true,
    docExpansion: "none",
    defaultModelsExpandDepth: 0,
    displayRequestDuration: true,
    filter: true,
    persistAuthorization: true,
    validatorUrl: null,
  });
}

const begin = () => start().catch((fault) => {
  place.textContent = `The description of the service could not be loaded (${fault.message}). Load the page again.`;
});
ask.hidden = false;
ask.addEventListener("click", begin);
if (location.hash.startsWith("#/")) begin();
