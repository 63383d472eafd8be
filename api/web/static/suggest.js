// Offers names while somebody types into a field that has them. Without this script the fields work
// as they are.
"use strict";
const from = document.currentScript.dataset.from;
for (const input of document.querySelectorAll("input[data-suggest]:not([list])")) {
  const names = document.createElement("datalist");
  names.id = input.id + "-names";
  input.after(names);
  input.setAttribute("list", names.id);
  const { suggest, value, several } = input.dataset;
  // Of several names with commas between them, the last is being typed.
  const before = () => several === undefined ? "" : input.value.match(/^(.*,\s*)?/)[0];
  const typed = () => input.value.slice(before().length).trim();
  const pages = new Map(); // of questions, by their names, which a search can read in another way
  let waits;
  const offer = async (text) => {
    const kind = suggest === "all" ? "" : "&kind=" + suggest;
    const answer = await fetch(from + "?q=" + encodeURIComponent(text) + kind);
    if (!answer.ok || typed() !== text) return;
    const found = (await answer.json()).results;
    pages.clear();
    names.replaceChildren(...found.map((r) => {
      const option = document.createElement("option");
      option.value = before() + (value === "code" ? r.code : r.name);
      const isQuestion = ["figure", "list"].includes(r.kind) && r.address.includes("?");
      if (isQuestion && !pages.has(option.value)) pages.set(option.value, r.address); // the first of a name is meant
      option.label = [value === "code" ? r.name : r.kind, r.within].filter(Boolean).join(", ");
      // Browsers leave out what does not have the text, such as the name of a country for DRC.
      if (!(option.value + option.label).toLowerCase().includes(text.toLowerCase())) option.label = text + ": " + option.label;
      return option;
    }));
  };
  input.addEventListener("input", (event) => {
    clearTimeout(waits);
    const isChosen = !event.inputType || event.inputType === "insertReplacementText";
    if (isChosen && suggest === "all") {
      const page = pages.get(input.value);
      return page ? location.assign(page) : input.form.requestSubmit();
    }
    const text = typed();
    if (!isChosen && text.length > 1) waits = setTimeout(offer, 150, text);
  });
}
