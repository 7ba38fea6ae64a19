import { recall, remember } from "./storage.js";

const KEY = "usual-seconds";
const KEPT = 5;

/** How long the server usually works on a picture, by kind of picture, from its last answers. */
export class UsualTime {
  constructor() {
    this.seconds = parsed(recall(KEY));
  }

  /** @param {string} kind @returns {number | null} median of the last seconds, null before the first answer */
  of(kind) {
    const known = [...(this.seconds[kind] ?? [])].sort((a, b) => a - b);
    return known.length ? known[Math.floor(known.length / 2)] : null;
  }

  /** @param {string} kind @param {number} seconds 0 = the answer was remembered, which teaches nothing */
  learn(kind, seconds) {
    if (!(seconds > 0)) return;
    this.seconds[kind] = [...(this.seconds[kind] ?? []), seconds].slice(-KEPT);
    remember(KEY, JSON.stringify(this.seconds));
  }
}

/** @returns {Record<string, number[]>} only what has the right shape: storage is no place to trust */
function parsed(stored) {
  try {
    const entries = Object.entries(JSON.parse(stored ?? "{}"));
    return Object.fromEntries(entries.filter(([, times]) => Array.isArray(times) && times.every(Number.isFinite)));
  } catch {
    return {};
  }
}
