import { fileNameOf, noticesOf, retrySeconds, serverSeconds, sizeOf } from "./answer.js";
import { Problem } from "./problem.js";
import { newRequestId, watchQueue } from "./queue.js";

/**
 * @typedef {object} Answer
 * @property {Blob} image
 * @property {string | null} fileName
 * @property {string[]} notices codes such as `no-face`
 * @property {[number, number] | null} size width and height in pixels
 * @property {number} seconds what the server worked, 0 where it remembered the answer
 */

const PATIENCE = 20; // seconds beyond the server's own deadline before we stop listening

/**
 * Posts one photo. XMLHttpRequest, because fetch cannot tell how far an upload is.
 * @param {{photo: Blob, name: string, wishes: Record<string, string>}} order
 * @param {{text: import("./text.js").Text, deadline: number, key: string, signal: AbortSignal,
 *   onSent: (share: number) => void, onWorking: () => void, onPlace: (place: import("./queue.js").Place | null) => void}} how
 *   key: what the service asks for, empty where it asks for none; onPlace: told where the photo is in the queue
 * @returns {Promise<Answer>} rejects with Problem, or with the signal's reason when aborted
 */
export function convert({ photo, name, wishes }, { text, deadline, key, signal, onSent, onWorking, onPlace }) {
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(signal.reason);
    const request = new XMLHttpRequest();
    const id = newRequestId();
    const answered = new AbortController();
    let patience = 0;
    const giveUp = () => {
      request.abort();
      reject(new Problem("timeout", text("error.timeout")));
    };
    const stop = () => {
      request.abort();
      reject(signal.reason);
    };
    signal.addEventListener("abort", stop, { once: true });
    request.upload.addEventListener("progress", (event) => {
      if (event.lengthComputable) onSent(event.loaded / event.total);
    });
    request.upload.addEventListener("load", () => {
      patience = setTimeout(giveUp, (deadline + PATIENCE) * 1000);
      onWorking();
      watchQueue(id, answered.signal, onPlace);
    });
    request.addEventListener("load", () => read(request, text).then(resolve, reject));
    request.addEventListener("error", () => reject(disconnected(text)));
    request.addEventListener("loadend", () => {
      clearTimeout(patience);
      answered.abort();
      signal.removeEventListener("abort", stop);
    });
    request.open("POST", "/convert");
    request.responseType = "blob";
    request.setRequestHeader("Accept", "image/*, application/problem+json;q=0.9");
    request.setRequestHeader("Accept-Language", document.documentElement.lang);
    request.setRequestHeader("X-Request-Id", id);
    if (key) request.setRequestHeader("Authorization", `Bearer ${key}`);
    request.send(asForm(photo, name, wishes));
  });
}

/** @returns {FormData} */
function asForm(photo, name, wishes) {
  const form = new FormData();
  for (const [option, value] of Object.entries(wishes)) form.append(option, value);
  form.append("image", photo, name);
  return form;
}

/** @returns {Problem} */
function disconnected(text) {
  return navigator.onLine ? new Problem("network", text("error.network")) : new Problem("offline", text("error.offline"));
}

/** @param {XMLHttpRequest} request @returns {Promise<Answer>} */
async function read(request, text) {
  const type = request.getResponseHeader("Content-Type") ?? "";
  if (request.status === 200 && type.startsWith("image/")) {
    return {
      image: request.response,
      fileName: fileNameOf(request.getResponseHeader("Content-Disposition")),
      notices: noticesOf(request.getResponseHeader("X-Notice")),
      size: sizeOf(request.getResponseHeader("X-Size")),
      seconds: serverSeconds(request.getResponseHeader("Server-Timing")),
    };
  }
  throw await problemOf(request, type, text);
}

async function problemOf(request, type, text) {
  const retryAfter = retrySeconds(request.getResponseHeader("Retry-After"));
  try {
    if (!type.includes("json")) throw new TypeError(type);
    const { code, detail } = JSON.parse(await request.response.text());
    return new Problem(String(code), String(detail), { retryAfter, final: request.status < 500 && retryAfter === null });
  } catch {
    return new Problem("unreadable", text("error.unreadable"), { retryAfter });
  }
}
