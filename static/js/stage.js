import "./before-after.js";
import "./photo-camera.js";

/** The inside of the booth: shows the photo, the camera or the pair. */
export class Stage {
  #sign;

  /** @param {{booth: HTMLElement, view: HTMLElement, sign: HTMLElement}} parts @param {import("./text.js").Text} text */
  constructor({ booth, view, sign }, text) {
    this.booth = booth;
    this.view = view;
    this.#sign = sign;
    this.text = text;
  }

  /** @param {"empty" | "camera" | "working" | "done" | "problem"} state */
  set state(state) {
    this.booth.dataset.state = state;
    this.#sign.textContent = this.text(state === "empty" ? "sign.open" : `sign.${state}`);
  }

  get state() {
    return this.booth.dataset.state;
  }

  clear() {
    this.view.replaceChildren();
  }

  /** Shows the photo at once, or says that this browser cannot. @param {import("./photo.js").Photo} photo */
  async showPhoto(photo) {
    const image = document.createElement("img");
    image.className = "photo";
    image.alt = this.text("photo.alt");
    this.view.replaceChildren(image);
    const shown = await photo.showIn(image);
    if (!shown && image.isConnected) image.replaceWith(document.getElementById("unseen-photo-parts").content.cloneNode(true));
  }

  /**
   * Lays the anime picture over the photo where both show the same view, else shows it alone.
   * @param {{photo: import("./photo.js").Photo, url: string, sides: [number, number], title: string}} result
   */
  showPair({ photo, url, sides: [width, height], title }) {
    let pair = this.view.querySelector("before-after");
    const fresh = pair === null;
    if (fresh) {
      pair = document.createElement("before-after");
      pair.spoken = (percent) => this.text("result.slider.value", { percent });
      this.view.replaceChildren(pair);
    }
    pair.show({
      photo: photo.matches([width, height]) ? photo.url : null, anime: url, width, height,
      photoAlt: this.text("photo.alt"), animeAlt: this.text("result.alt", { style: title }),
    });
    if (fresh) pair.reveal();
    return pair;
  }

  /** @param {{onShot: (file: File) => void, onClose: () => void, onFail: () => void}} acts */
  showCamera({ onShot, onClose, onFail }) {
    const camera = document.createElement("photo-camera");
    camera.addEventListener("shot", ({ detail }) => onShot(detail));
    camera.addEventListener("close", onClose);
    camera.addEventListener("fail", onFail);
    this.view.replaceChildren(camera);
  }

  /** A flash, as booths have them. */
  flash() {
    const stage = this.view.parentElement;
    stage.classList.add("flash");
    setTimeout(() => stage.classList.remove("flash"), 600);
  }
}
