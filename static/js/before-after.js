const STEP = 2;
const LEAP = 10;
const SWEEP = 1100; // milliseconds of the curtain-like reveal
const REST = 24; // where it ends: most of the anime picture shows, and enough of the photo to invite a pull
const SLENDER = 2.5; // a frame longer than this leaves no room for the handle and the words
const calm = matchMedia("(prefers-reduced-motion: reduce)");

/** Share of the photo after a key, in per cent; null for keys that do nothing here. */
function moved(split, key) {
  switch (key) {
    case "ArrowRight": case "ArrowUp": return split + STEP;
    case "ArrowLeft": case "ArrowDown": return split - STEP;
    case "PageUp": return split + LEAP;
    case "PageDown": return split - LEAP;
    case "Home": return 0;
    case "End": return 100;
    default: return null;
  }
}

/**
 * `<before-after>`: the photo left of a handle, the anime picture right of it, in one frame.
 * Moves by mouse, touch and keys. With `single` it shows the anime picture alone.
 */
export class BeforeAfter extends HTMLElement {
  #leaving = null;
  #sweep = 0;
  #split = REST;
  /** Where a finger came down that may yet scroll the page. @type {PointerEvent | null} */
  #touch = null;
  /** @type {(percent: number) => string} how a screen reader hears the handle's place */
  spoken = (percent) => `${percent} %`;

  connectedCallback() {
    if (!this.firstElementChild) this.append(document.getElementById("before-after-parts").content.cloneNode(true));
    this.#leaving = new AbortController();
    const until = { signal: this.#leaving.signal };
    this.addEventListener("pointerdown", (event) => this.#grab(event), until);
    this.addEventListener("pointermove", (event) => this.hasPointerCapture(event.pointerId) && this.#pull(event), until);
    this.addEventListener("pointerup", (event) => this.#touch && this.#follow(event), until);
    this.handle.addEventListener("keydown", (event) => this.#press(event), until);
    this.split = this.#split;
  }

  disconnectedCallback() {
    this.#leaving?.abort();
    cancelAnimationFrame(this.#sweep);
  }

  get handle() {
    return this.querySelector("[role=slider]");
  }

  get split() {
    return this.#split;
  }

  /** Share of the frame's width that shows the photo, in per cent. */
  set split(percent) {
    this.#split = Math.min(100, Math.max(0, percent));
    this.style.setProperty("--split", this.#split.toFixed(2));
    const whole = Math.round(this.#split);
    this.handle.setAttribute("aria-valuenow", String(whole));
    this.handle.setAttribute("aria-valuetext", this.spoken(whole));
  }

  /**
   * @param {{photo: string | null, anime: string, width: number, height: number, photoAlt: string, animeAlt: string}} pair
   *   photo: address of the photo, or null where there is none to compare with; width, height: of the anime picture
   */
  show({ photo, anime, width, height, photoAlt, animeAlt }) {
    const [before, after] = this.querySelectorAll("img");
    const ratio = Math.min(SLENDER, Math.max(1 / SLENDER, width / height));
    this.style.setProperty("--ratio", String(ratio));
    this.toggleAttribute("boxed", ratio !== width / height);
    this.toggleAttribute("single", photo === null);
    if (photo !== null) Object.assign(before, { src: photo, alt: photoAlt });
    Object.assign(after, { src: anime, alt: animeAlt });
  }

  /** Draws the anime picture over the photo. */
  reveal() {
    this.split = REST;
    if (calm.matches || this.hasAttribute("single")) return;
    const start = performance.now();
    const step = (now) => {
      const share = Math.min(1, Math.max(0, (now - start) / SWEEP));
      this.split = 100 - (100 - REST) * (1 - (1 - share) ** 3);
      if (share < 1) this.#sweep = requestAnimationFrame(step);
    };
    this.split = 100;
    this.#sweep = requestAnimationFrame(step);
  }

  #grab(event) {
    if (this.hasAttribute("single") || event.button !== 0) return;
    this.setPointerCapture(event.pointerId);
    this.#touch = event.pointerType === "touch" ? event : null;
    if (!this.#touch) this.#follow(event);
  }

  #pull(event) {
    const sideways = !this.#touch
      || Math.abs(event.clientX - this.#touch.clientX) > Math.abs(event.clientY - this.#touch.clientY);
    if (sideways) this.#follow(event);
  }

  #follow(event) {
    this.#touch = null;
    cancelAnimationFrame(this.#sweep);
    const frame = this.getBoundingClientRect();
    this.split = ((event.clientX - frame.left) / frame.width) * 100;
  }

  #press(event) {
    const split = moved(Math.round(this.#split), event.key);
    if (split === null || event.ctrlKey || event.altKey || event.metaKey) return;
    event.preventDefault();
    cancelAnimationFrame(this.#sweep);
    this.split = split;
  }
}

customElements.define("before-after", BeforeAfter);
