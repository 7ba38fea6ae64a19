import { convert } from "./convert.js";
import { focusUnlessElsewhere } from "./focus.js";
import { Photo } from "./photo.js";
import { Problem } from "./problem.js";
import { restoreWishes, styleTitle, wishesOf } from "./wishes.js";

const MIB = 1024 * 1024;
const SUFFIXES = { "image/jpeg": "jpg", "image/png": "png", "image/webp": "webp", "image/avif": "avif" };

/**
 * What happens from the photo to the picture: one photo, one job at a time. A new wish stops the job before it.
 * @typedef {{image: Blob, url: string, sides: [number, number], name: string, notices: string[]}} Picture
 */
export class Booth {
  /** @type {Photo | null} */
  #photo = null;
  /** @type {AbortController | null} */
  #job = null;
  /** Pictures of the photo in the booth, by wishes: going back to a style costs nothing. @type {Map<string, Picture>} */
  #pictures = new Map();

  /**
   * @param {object} parts
   * @param {HTMLFormElement} parts.form
   * @param {import("./stage.js").Stage} parts.stage
   * @param {import("./progress.js").Progress} parts.progress
   * @param {import("./tray.js").Tray} parts.tray
   * @param {import("./usual-time.js").UsualTime} parts.usual
   * @param {{max_upload_mib: number, deadline: number}} parts.limits
   * @param {import("./text.js").Text} parts.text
   * @param {() => string} parts.key what the service asks for, empty where nothing was asked
   * @param {{note: (...keys: string[]) => string, announce: (words: string) => void,
   *   trouble: (problem: Problem) => void, calm: () => void}} parts.say
   */
  constructor(parts) {
    Object.assign(this, parts);
  }

  get hasPhoto() {
    return this.#photo !== null;
  }

  /**
   * A photo enters: it shows at once and is drawn.
   * @param {File} file @param {string[]} notes keys of what there is to say about how it came
   */
  take(file, notes = []) {
    this.#leave();
    this.#notes = notes;
    this.#photo = new Photo(file, this.limits.max_upload_mib * MIB);
    this.#shown = this.stage.showPhoto(this.#photo);
    return this.draw();
  }

  #shown = Promise.resolve();
  /** @type {string[]} */
  #notes = [];
  /** What was asked for the picture that shows. @type {Record<string, string> | null} */
  #granted = null;

  /** Draws the photo in the booth as the form wishes. */
  async draw() {
    if (!this.#photo) return;
    this.#job?.abort();
    const job = new AbortController();
    this.#job = job;
    const wishes = wishesOf(this.form);
    const key = JSON.stringify(wishes);
    try {
      const picture = this.#pictures.get(key) ?? await this.#order(wishes, job.signal);
      await this.#shown;
      if (job.signal.aborted) return;
      this.#pictures.set(key, picture);
      this.#granted = wishes;
      this.#present(picture);
    } catch (error) {
      if (!job.signal.aborted) this.#fail(error);
    }
  }

  /** Stops the job. What was there before it stays, and the form says so. */
  cancel() {
    this.#job?.abort();
    this.progress.end();
    this.say.announce(this.text("work.cancelled"));
    if (!this.#granted) return this.startOver();
    restoreWishes(this.form, this.#granted);
    this.stage.state = "done";
    this.tray.panel.hidden = false;
  }

  /** Empties the booth. */
  startOver() {
    this.#leave();
    this.stage.clear();
    this.stage.state = "empty";
  }

  #leave() {
    this.#job?.abort();
    this.progress.end();
    this.tray.withdraw();
    this.say.note();
    this.say.calm();
    this.#granted = null;
    for (const { url } of this.#pictures.values()) URL.revokeObjectURL(url);
    this.#pictures.clear();
    this.#photo?.forget();
    this.#photo = null;
  }

  /** @param {Record<string, string>} wishes @param {AbortSignal} signal @returns {Promise<Picture>} */
  async #order(wishes, signal) {
    this.#showWork();
    const { blob, format } = await this.#photo.forSize(wishes.size);
    signal.throwIfAborted();
    if (blob.size > this.limits.max_upload_mib * MIB) throw this.#tooLarge();
    const kind = [wishes.style, wishes.size, wishes.face].filter(Boolean).join(" ");
    const answer = await convert(
      { photo: blob, name: this.#photo.name, wishes: format ? { format, ...wishes } : wishes },
      {
        text: this.text, deadline: this.limits.deadline, key: this.key(), signal,
        onSent: (share) => this.progress.sending(share),
        onWorking: () => this.progress.working(this.usual.of(kind)),
        onPlace: (place) => this.#wait(place),
      },
    );
    this.usual.learn(kind, answer.seconds);
    return this.#asPicture(answer);
  }

  async #asPicture({ image, fileName, notices, size }) {
    const name = fileName ?? `anime.${SUFFIXES[image.type] ?? "png"}`;
    return { image, url: URL.createObjectURL(image), sides: size ?? await measured(image), name, notices };
  }

  /** @param {import("./queue.js").Place | null} place */
  #wait(place) {
    const first = !this.progress.waits;
    const words = this.progress.place(place);
    if (first && words) this.say.announce(words);
  }

  #showWork() {
    this.say.calm();
    this.say.note(...this.#notes);
    this.tray.panel.hidden = true;
    this.stage.state = "working";
    this.progress.preparing();
    this.say.announce(this.text("work.drawing"));
  }

  /** @param {Picture} picture */
  #present(picture) {
    const title = styleTitle(this.form);
    const [width, height] = picture.sides;
    this.progress.end();
    this.say.calm();
    this.stage.state = "done";
    const pair = this.stage.showPair({ photo: this.#photo, url: picture.url, sides: picture.sides, title });
    this.tray.offer(picture.image, picture.name, picture.url);
    const noted = this.say.note(...this.#notes, ...picture.notices.map((code) => `notice.${code}`));
    this.say.announce(`${this.text("result.done", { style: title, width, height })} ${noted}`.trim());
    focusUnlessElsewhere(pair.hasAttribute("single") ? this.tray.download : pair.handle, this.stage.booth);
  }

  #tooLarge() {
    return new Problem("file-too-large", this.text("error.code.file-too-large", { limit: this.limits.max_upload_mib }), { final: true });
  }

  #fail(error) {
    this.progress.end();
    this.stage.state = "problem";
    if (!(error instanceof Problem)) console.error(error);
    this.say.trouble(error instanceof Problem ? error : new Problem("unreadable", this.text("error.unreadable")));
  }
}

/** @param {Blob} image @returns {Promise<[number, number]>} */
async function measured(image) {
  const bitmap = await createImageBitmap(image);
  const sides = [bitmap.width, bitmap.height];
  bitmap.close();
  return sides;
}
