/**
 * What the form asks for, without what is empty.
 * @param {HTMLFormElement} form
 * @returns {Record<string, string>} option -> value, as POST /convert takes them
 */
export function wishesOf(form) {
  const entries = [...new FormData(form)].filter(([name, value]) => name !== "image" && value !== "");
  return Object.fromEntries(entries);
}

/** Makes the form ask for `wishes` again, as wishesOf read them. @param {HTMLFormElement} form */
export function restoreWishes(form, wishes) {
  for (const field of form.querySelectorAll("[name]:not([type=file])")) {
    const wish = wishes[field.name] ?? "";
    if (field.type === "radio") field.checked = field.value === wish;
    else field.value = wish;
    field.dispatchEvent(new Event("input", { bubbles: true }));
  }
}

/** The chosen style's title in the page's language. @param {HTMLFormElement} form */
export function styleTitle(form) {
  return form.querySelector("[name=style]:checked")?.dataset.title ?? "";
}
