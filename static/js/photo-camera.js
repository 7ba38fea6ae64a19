const WISH = { width: { ideal: 1920 }, height: { ideal: 1440 } };
const QUALITY = 0.95;

/**
 * `<photo-camera>`: a live preview with a shutter. The selfie camera's preview is mirrored, as in a looking glass; the
 * photo is not. Fires `shot` (detail: File), `close`, and `fail` when no camera can be had. Leaving stops the camera.
 */
export class PhotoCamera extends HTMLElement {
  #leaving = null;
  /** @type {MediaStream | null} */
  #stream = null;
  #facing = "user";

  /** Whether this browser lets a page use a camera at all (it needs HTTPS or localhost). */
  static get usable() {
    return Boolean(navigator.mediaDevices?.getUserMedia);
  }

  connectedCallback() {
    this.append(document.getElementById("camera-parts").content.cloneNode(true));
    this.#leaving = new AbortController();
    const acts = { shoot: () => this.#shoot(), switch: () => this.#turn(), close: () => this.#say("close") };
    for (const key of this.querySelectorAll("[data-do]")) {
      key.addEventListener("click", acts[key.dataset.do], { signal: this.#leaving.signal });
    }
    this.#part("switch").hidden = true;
    this.#part("shoot").disabled = true;
    this.#open();
  }

  disconnectedCallback() {
    this.#leaving?.abort();
    this.#stop();
    this.replaceChildren();
  }

  #part(name) {
    return this.querySelector(`[data-do=${name}]`);
  }

  #say(name, detail = null) {
    this.dispatchEvent(new CustomEvent(name, { detail }));
  }

  #stop() {
    for (const track of this.#stream?.getTracks() ?? []) track.stop();
    this.#stream = null;
  }

  async #open() {
    const { signal } = this.#leaving;
    this.#stop();
    try {
      const stream = await navigator.mediaDevices.getUserMedia({ video: { facingMode: this.#facing, ...WISH }, audio: false });
      this.#stream = stream;
      if (signal.aborted) return this.#stop(); // closed while the browser was asking
      await this.#show(stream);
    } catch (error) {
      if (!signal.aborted) this.#say("fail", error);
    }
  }

  /** @param {MediaStream} stream */
  async #show(stream) {
    const video = this.querySelector("video");
    const { facingMode } = stream.getVideoTracks()[0].getSettings();
    video.classList.toggle("lens--mirror", facingMode !== "environment");
    video.srcObject = stream;
    await video.play();
    this.#part("shoot").disabled = false;
    this.#part("shoot").focus({ preventScroll: true });
    const devices = await navigator.mediaDevices.enumerateDevices();
    const shutOut = this.#leaving.signal.aborted;
    if (!shutOut) this.#part("switch").hidden = devices.filter(({ kind }) => kind === "videoinput").length < 2;
  }

  #turn() {
    this.#facing = this.#facing === "user" ? "environment" : "user";
    this.#open();
  }

  #shoot() {
    const video = this.querySelector("video");
    const canvas = document.createElement("canvas");
    canvas.width = video.videoWidth;
    canvas.height = video.videoHeight;
    canvas.getContext("2d").drawImage(video, 0, 0);
    canvas.toBlob((blob) => this.#say("shot", new File([blob], "camera.jpg", { type: blob.type })), "image/jpeg", QUALITY);
  }
}

customElements.define("photo-camera", PhotoCamera);
