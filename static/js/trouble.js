const MOST_TRIES = 3;

/** The panel that says what did not work, and what to do about it; sends again by itself when the server said when. */
export class Trouble {
  #clock = 0;
  #tries = 0;
  #leaving = null;

  /**
   * @param {{panel: HTMLElement, title: HTMLElement, words: HTMLElement, wait: HTMLElement, retry: HTMLElement,
   *   desk: import("./key-desk.js").KeyDesk}} parts
   * @param {import("./text.js").Text} text
   * @param {() => void} again sends the same photo once more
   */
  constructor(parts, text, again) {
    Object.assign(this, parts);
    this.text = text;
    this.again = again;
    this.retry.addEventListener("click", () => this.again());
  }

  /** @param {import("./problem.js").Problem} problem @param {boolean} retriable whether there is a photo to send again */
  show(problem, retriable) {
    this.hide();
    this.#leaving = new AbortController();
    this.panel.hidden = false;
    // Set after the panel is there: an alert region speaks of changes, not of what it holds when it appears.
    this.title.textContent = this.text(problem.code === "unauthorized" ? "key.title" : "error.title");
    this.words.textContent = problem.message;
    this.retry.hidden = !retriable || problem.final;
    if (retriable && problem.code === "unauthorized") this.desk.open();
    if (retriable && problem.code === "offline") addEventListener("online", () => this.again(), { once: true, signal: this.#leaving.signal });
    if (retriable && problem.retryAfter !== null && this.#tries < MOST_TRIES) this.#countDown(problem.retryAfter);
  }

  hide() {
    clearInterval(this.#clock);
    this.#leaving?.abort();
    this.panel.hidden = true;
    this.wait.hidden = true;
    this.desk.close();
    this.words.textContent = "";
  }

  /** Counts tries anew: something else was asked for. */
  reset() {
    this.#tries = 0;
  }

  #countDown(seconds) {
    const end = Date.now() + seconds * 1000;
    const tick = () => {
      const left = Math.ceil((end - Date.now()) / 1000);
      this.wait.textContent = this.text("error.retry-in", { seconds: Math.max(0, left) });
      if (left > 0) return;
      clearInterval(this.#clock);
      this.#tries += 1;
      this.again();
    };
    this.retry.hidden = true;
    this.wait.hidden = false;
    tick();
    this.#clock = setInterval(tick, 250);
  }
}
