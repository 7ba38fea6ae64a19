import { neededSide, shrink } from "./shrink.js";

const FALLBACK_NAME = "photo";

/** The photo in the booth: the file as it came, an address to show it by, and what of it travels to the server. */
export class Photo {
  #uploads = new Map();

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
  async showIn(image) {
    image.src = this.url;
    try {
      await image.decode();
    } catch {
      return false;
    }
    this.sides = [image.naturalWidth, image.naturalHeight];
    return true;
  }

  /** @param {string} size as wished @returns {Promise<{blob: Blob, format: string | null}>} as in shrink.js */
  forSize(size) {
    const needed = neededSide(size);
    if (!this.#uploads.has(needed)) this.#uploads.set(needed, shrink(this.file, needed, this.mostBytes));
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
