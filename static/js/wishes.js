/**
 * What the form asks for, without what is empty.
 * @param {HTMLFormElement} form
 * @returns {Record<string, string>} option -> value, as POST /convert takes them
 */
export function wishesOf(form) {
  const entries = [...new FormData(form)].filter(([name, value]) => name !== "image" && value !== "");
  return Object.fromEntries(entries);
}

/** The chosen style's title in the page's language. @param {HTMLFormElement} form */
export function styleTitle(form) {
  return form.querySelector("[name=style]:checked")?.dataset.title ?? "";
}
