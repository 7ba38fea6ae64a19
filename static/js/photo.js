import { MOST_PIXELS, neededSide, shrink } from "./shrink.js";

const FALLBACK_NAME = "photo";

/** The photo in the booth: the file as it came, an address to show it by, and what of it travels to the server. */
export class Photo {
  #uploads = new Map();
  /** @type {Promise<boolean>} */
  #looked = Promise.resolve(false);

  /** @param {File} file @param {number} mostBytes what the server takes */
  constructor(file, mostBytes) {
    this.file = file;
    this.name = file.name || FALLBACK_NAME;
    this.url = URL.createObjectURL(file);
    this.mostBytes = mostBytes;
    /** Sides as shown, upright; null until known, and where the browser cannot show this kind. */
    this.sides = null;
  }

  /** Fills `image` with the photo. @param {HTMLImageElement} image @returns {Promise<boolean>} false: cannot be shown */
  showIn(image) {
    this.#looked = new Promise((resolve) => {
      // Not decode(): the sides are known long before every pixel is drawn.
      image.addEventListener("load", () => {
        const sides = [image.naturalWidth, image.naturalHeight];
        const bearable = sides[0] * sides[1] <= MOST_PIXELS;
        if (bearable) this.sides = sides;
        resolve(bearable);
      }, { once: true });
      image.addEventListener("error", () => resolve(false), { once: true });
    });
    image.src = this.url;
    return this.#looked;
  }

  /** What to send for an answer of this size. @param {string} size as wished; see shrink.js */
  async forSize(size) {
    await this.#looked;
    const needed = neededSide(size);
    if (!this.#uploads.has(needed)) this.#uploads.set(needed, shrink(this.file, this.sides, needed, this.mostBytes));
    return this.#uploads.get(needed);
  }

  /** Whether a picture of these sides shows the same view, and so can lie over the photo. */
  matches([width, height]) {
    if (this.sides === null) return false;
    const [ownWidth, ownHeight] = this.sides;
    // Rounding to whole pixels moves each side by at most half a pixel.
    return Math.abs(width * ownHeight - height * ownWidth) <= Math.max(ownWidth, ownHeight) + 1;
  }

  /** The photo leaves the booth. */
  forget() {
    URL.revokeObjectURL(this.url);
    this.#uploads.clear();
  }
}
