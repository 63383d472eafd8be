// Starts swagger-ui with the description that the page names.
"use strict";
const place = document.getElementById("swagger-ui");

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
  const answer = await fetch(place.dataset.description);
  if (!answer.ok) throw new Error("status " + answer.status);
  const description = await answer.json();
  if (location.hash.startsWith("#/")) history.replaceState(null, "", known(location.hash, description));
  place.replaceChildren();
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

start().catch((fault) => {
  place.textContent = `The description of the service could not be loaded (${fault.message}). Load the page again.`;
});
