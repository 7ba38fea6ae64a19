// Where a photo is in the server's queue, asked now and then while its answer is awaited.

const FIRST_LOOK = 700; // milliseconds after the upload: most pictures are there by then
const OFTEN = 1000;
const SELDOM = 5000;

/**
 * @typedef {object} Place
 * @property {"waiting" | "working"} state
 * @property {number} before how many are served first
 * @property {number} seconds until it should be done
 */

/** A name for a request that nobody guesses. `randomUUID` is missing where a page comes without HTTPS. */
export function newRequestId() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/**
 * Looks for the request `id` until `signal` says that it is answered.
 * @param {string} id @param {AbortSignal} signal @param {(place: Place | null) => void} onPlace null: the server does not say
 */
export async function watchQueue(id, signal, onPlace) {
  let pause = FIRST_LOOK;
  while (await passed(pause, signal)) {
    const place = await placeOf(id, signal);
    if (signal.aborted) return;
    onPlace(place);
    // Who waits long need not ask often.
    pause = Math.min(Math.max(((place?.seconds ?? 0) * 1000) / 4, OFTEN), SELDOM);
  }
}

/** @returns {Promise<Place | null>} */
async function placeOf(id, signal) {
  try {
    const answer = await fetch(`/queue?id=${id}`, { signal });
    return answer.ok ? ((await answer.json()).request ?? null) : null;
  } catch {
    return null;
  }
}

/** @returns {Promise<boolean>} false where `signal` came first */
function passed(milliseconds, signal) {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve(false);
    const stop = () => {
      clearTimeout(timer);
      resolve(false);
    };
    const timer = setTimeout(() => {
      signal.removeEventListener("abort", stop);
      resolve(true);
    }, milliseconds);
    signal.addEventListener("abort", stop, { once: true });
  });
}
