const TICK = 200; // milliseconds between two looks at the clock
const SENT_SHARE = 30; // per cent of the bar for the upload, the rest for the work
const LATE = 1.6; // times the usual after which it counts as late

/** The panel with words, bar and cancel button that shows while a job runs. */
export class Progress {
  #clock = 0;
  /** Where the photo is in the queue, if it waits there. @type {import("./queue.js").Place | null} */
  #place = null;
  #placedAt = 0;
  #start = 0;

  /** @param {{panel: HTMLElement, step: HTMLElement, usual: HTMLElement, bar: HTMLProgressElement}} parts */
  constructor(parts, text) {
    Object.assign(this, parts);
    this.text = text;
  }

  /** Whether the photo waits for its turn. */
  get waits() {
    return this.#place !== null;
  }

  preparing() {
    this.#place = null;
    this.panel.hidden = false;
    this.#show(this.text("work.preparing"), "", 0);
  }

  /** @param {number} share of the upload, 0 to 1 */
  sending(share) {
    this.#show(this.text("work.sending", { percent: Math.round(share * 100) }), "", share * SENT_SHARE);
  }

  /** @param {number | null} usual seconds it usually takes, null where unknown */
  working(usual) {
    this.#start = performance.now();
    const tick = () => this.#work(secondsSince(this.#start), usual);
    clearInterval(this.#clock);
    this.#clock = setInterval(tick, TICK);
    tick();
  }

  /**
   * The photo is here in the server's queue.
   * @param {import("./queue.js").Place | null} place
   * @returns {string} what there is to say about it
   */
  place(place) {
    const waited = this.waits;
    this.#place = place?.state === "waiting" ? place : null;
    this.#placedAt = performance.now();
    // What it usually takes counts from its turn.
    if (waited && !this.waits) this.#start = this.#placedAt;
    return this.#queue();
  }

  end() {
    this.#place = null;
    clearInterval(this.#clock);
    this.panel.hidden = true;
  }

  #work(elapsed, usual) {
    if (this.#place) {
      const left = Math.max(this.#place.seconds - secondsSince(this.#placedAt), 1);
      return this.#advance(this.text("work.waiting"), this.#queue(), elapsed / (elapsed + left));
    }
    // Nears the end without reaching it: only the answer does.
    const share = 1 - Math.exp((-2 * elapsed) / Math.max(usual ?? 2, 0.5));
    this.#advance(this.text("work.drawing"), this.#comparison(elapsed, usual), share);
  }

  /** @param {number} share of what comes after the upload, 0 to 1; the bar never goes back */
  #advance(step, words, share) {
    this.#show(step, words, Math.max(this.bar.value, SENT_SHARE + (100 - SENT_SHARE) * share));
  }

  #queue() {
    if (!this.#place) return "";
    const seconds = Math.max(1, Math.round(this.#place.seconds));
    return this.text("work.before", { count: this.#place.before, seconds });
  }

  #comparison(elapsed, usual) {
    if (usual === null) return "";
    if (elapsed > Math.max(usual, 1) * LATE) return this.text("work.longer");
    return this.text("work.usual", { seconds: usual < 1 ? usual.toFixed(1) : Math.round(usual) });
  }

  #show(step, usual, value) {
    this.step.textContent = step;
    this.usual.textContent = usual;
    this.bar.value = value;
  }
}

/** @param {number} moment of performance.now() */
function secondsSince(moment) {
  return (performance.now() - moment) / 1000;
}
