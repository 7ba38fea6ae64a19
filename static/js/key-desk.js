import { focusUnlessElsewhere } from "./focus.js";
import { recall, remember } from "./storage.js";

const NAME = "service-key";
const SHELF = "sessionStorage"; // gone with the tab

/** Asks for the key that some services want. It stays in this tab; where storage is barred, until the page is left. */
export class KeyDesk {
  #key = recall(NAME, SHELF) ?? "";

  /**
   * @param {{panel: HTMLElement, form: HTMLFormElement, field: HTMLInputElement, booth: HTMLElement}} parts
   * @param {() => void} again sends the same photo once more
   */
  constructor(parts, again) {
    Object.assign(this, parts);
    this.form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.#key = this.field.value;
      remember(NAME, this.#key, SHELF);
      again();
    });
  }

  /** The key given last; empty where none was. */
  get key() {
    return this.#key;
  }

  open() {
    this.panel.hidden = false;
    this.field.value = "";
    this.field.setAttribute("aria-invalid", String(this.#key !== ""));
    focusUnlessElsewhere(this.field, this.booth);
  }

  close() {
    this.panel.hidden = true;
  }
}
