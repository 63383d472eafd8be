// The public service has its interactive reference at /docs, with addresses such as
// /docs#/Metadata/get_locations. Here it is beside the reference, so these addresses lead there.
"use strict";
if (location.hash.startsWith("#/")) {
  location.replace(document.currentScript.dataset.interactive + location.hash);
}
