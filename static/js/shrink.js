// Makes a large photo smaller before it travels. The canvas also drops whatever the file knew about its owner.

const LEAST_SIDE = 2048; // faces are cut from the upload itself, so they need their pixels
const OVERSAMPLING = 2.5; // upload's longest side over the answer's
const QUALITY = 0.92;

/** More than the phone sensors in use have; decoding what is larger could cost the browser its life. */
export const MOST_PIXELS = 120e6;

/** What the server would answer with for an upload of this type: kept, although a canvas may write another. */
const ANSWER_FORMATS = {
  "image/jpeg": "jpeg", "image/heic": "jpeg", "image/heif": "jpeg", "image/png": "png", "image/webp": "webp",
  "image/avif": "avif", "image/gif": "png", "image/bmp": "png", "image/tiff": "png",
};

/**
 * Longest side an upload needs for an answer of `size` pixels; Infinity where every pixel counts.
 * @param {string} size a number of pixels, or `original`
 */
export function neededSide(size) {
  return size === "original" ? Infinity : Math.max(LEAST_SIDE, Math.round(OVERSAMPLING * Number(size)));
}

/**
 * @param {Blob} file
 * @param {[number, number] | null} sides as the browser shows it; null where it cannot
 * @param {number} needed longest side in pixels that the upload must keep
 * @param {number} mostBytes a file above this is written anew even if its sides are small
 * @returns {Promise<{blob: Blob, format: string | null}>} the file itself, format null, where shrinking is of no use or
 *   too much for the browser; else a smaller picture, upright, and the format the answer should have
 */
export async function shrink(file, sides, needed, mostBytes) {
  const untouched = { blob: file, format: null };
  const format = ANSWER_FORMATS[file.type];
  if (!format || sides === null || needed === Infinity) return untouched;
  const scale = Math.min(1, needed / Math.max(...sides));
  if (scale === 1 && file.size <= mostBytes) return untouched;
  try {
    const bitmap = await createImageBitmap(file, { imageOrientation: "from-image" });
    const blob = await draw(bitmap, scale, format === "jpeg" ? "image/jpeg" : "image/webp");
    return blob && blob.size < file.size ? { blob, format } : untouched;
  } catch {
    return untouched; // the server may read it all the same, or say what is wrong with it
  }
}

/** @param {ImageBitmap} bitmap @returns {Promise<Blob | null>} */
function draw(bitmap, scale, type) {
  const canvas = document.createElement("canvas");
  canvas.width = Math.max(1, Math.round(bitmap.width * scale));
  canvas.height = Math.max(1, Math.round(bitmap.height * scale));
  const context = canvas.getContext("2d");
  context.imageSmoothingQuality = "high";
  context.drawImage(bitmap, 0, 0, canvas.width, canvas.height);
  bitmap.close();
  return new Promise((resolve) => canvas.toBlob(resolve, type, QUALITY));
}
