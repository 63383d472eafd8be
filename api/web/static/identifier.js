// Makes an application identifier in the browser, so that the address is not sent anywhere.
"use strict";
const form = document.getElementById("identifier");
const show = (text, wrong) => {
  form.elements.result.value = wrong ? "" : text;
  document.getElementById("wrong").textContent = wrong ? text : "";
  document.getElementById("made").hidden = Boolean(wrong) || text === "";
};
form.addEventListener("submit", (event) => {
  event.preventDefault();
  const application = form.elements.application.value.trim();
  const email = form.elements.email.value.trim();
  if ([...application].length < 4 || application.includes(":")) {
    return show(form.dataset.name, true);
  }
  if (!form.elements.email.validity.valid || email === "") {
    return show(form.dataset.address, true);
  }
  const bytes = new TextEncoder().encode(application + ":" + email);
  show(btoa(String.fromCharCode(...bytes)), false);
  form.elements.result.focus();
  form.elements.result.select();
});
form.elements.copy.addEventListener("click", () => {
  form.elements.result.select();
  navigator.clipboard?.writeText(form.elements.result.value);
});
document.getElementById("script").hidden = false;
