const TICK = 200; // milliseconds between two looks at the clock
const SENT_SHARE = 30; // per cent of the bar for the upload, the rest for the work
const LATE = 1.6; // times the usual after which it counts as late

/** The panel with words, bar and cancel button that shows while a job runs. */
export class Progress {
  #clock = 0;

  /** @param {{panel: HTMLElement, step: HTMLElement, usual: HTMLElement, bar: HTMLProgressElement}} parts */
  constructor(parts, text) {
    Object.assign(this, parts);
    this.text = text;
  }

  preparing() {
    this.panel.hidden = false;
    this.#show(this.text("work.preparing"), "", 0);
  }

  /** @param {number} share of the upload, 0 to 1 */
  sending(share) {
    this.#show(this.text("work.sending", { percent: Math.round(share * 100) }), "", share * SENT_SHARE);
  }

  /** @param {number | null} usual seconds it usually takes, null where unknown */
  working(usual) {
    const start = performance.now();
    const tick = () => this.#work((performance.now() - start) / 1000, usual);
    clearInterval(this.#clock);
    this.#clock = setInterval(tick, TICK);
    tick();
  }

  end() {
    clearInterval(this.#clock);
    this.panel.hidden = true;
  }

  #work(elapsed, usual) {
    // Nears the end without reaching it: only the answer does.
    const share = 1 - Math.exp((-2 * elapsed) / Math.max(usual ?? 2, 0.5));
    this.#show(this.text("work.drawing"), this.#comparison(elapsed, usual), SENT_SHARE + (100 - SENT_SHARE) * share);
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
