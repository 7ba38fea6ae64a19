import { canCopy, canShare, copy, share } from "./hand-over.js";

/** Save, share and copy under the picture; each appears only where the browser can do it. */
export class Tray {
  /** @type {File | null} */
  #file = null;

  /**
   * @param {{panel: HTMLElement, download: HTMLAnchorElement, share: HTMLElement, copy: HTMLElement}} parts
   * @param {(key: string) => void} tell says a sentence of the page
   */
  constructor(parts, tell) {
    Object.assign(this, parts);
    this.share.addEventListener("click", () => share(this.#file).catch(() => tell("result.share.failed")));
    this.copy.addEventListener("click", () => copy(this.#file).then(() => tell("result.copied"), () => tell("result.copy.failed")));
  }

  /** @param {Blob} image @param {string} name file name @param {string} url address of the image */
  offer(image, name, url) {
    this.#file = new File([image], name, { type: image.type });
    Object.assign(this.download, { href: url, download: name });
    this.share.hidden = !canShare(this.#file);
    this.copy.hidden = !canCopy();
    this.panel.hidden = false;
  }

  withdraw() {
    this.panel.hidden = true;
    this.#file = null;
  }
}
