// Browser storage that may be barred (private windows, settings): then nothing is remembered, and nothing breaks.
// A shelf is `localStorage`, kept for good, or `sessionStorage`, gone with the tab.

/** @param {string} key @param {"localStorage" | "sessionStorage"} [shelf] @returns {string | null} */
export function recall(key, shelf = "localStorage") {
  try {
    return globalThis[shelf].getItem(key);
  } catch {
    return null;
  }
}

/** Keeps `value` under `key`; null forgets it. @param {string} key @param {string | null} value */
export function remember(key, value, shelf = "localStorage") {
  try {
    if (value === null) globalThis[shelf].removeItem(key);
    else globalThis[shelf].setItem(key, value);
  } catch {
    // Not remembered, that is all.
  }
}
