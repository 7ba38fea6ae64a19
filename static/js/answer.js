// What the server's headers say, as values. Pure: text in, values out.

/** File name of a Content-Disposition header (RFC 6266), or null. @param {string | null} header */
export function fileNameOf(header) {
  const encoded = /filename\*\s*=\s*UTF-8''([^;\s]+)/i.exec(header ?? "");
  if (encoded) {
    try {
      return decodeURIComponent(encoded[1]);
    } catch {
      // Fall through to the plain name.
    }
  }
  const plain = /filename\s*=\s*(?:"([^"]*)"|([^;\s]+))/i.exec(header ?? "");
  return plain ? (plain[1] ?? plain[2]) : null;
}

/**
 * Seconds of work in a Server-Timing header: its `total`, else the sum of its parts; 0 where it came from the cache.
 * @param {string | null} header
 */
export function serverSeconds(header) {
  const parts = [...(header ?? "").matchAll(/([\w-]+)[^,]*?;\s*dur\s*=\s*"?([\d.]+)/g)];
  const names = parts.map(([, name]) => name);
  if (names.includes("cache") && !names.includes("infer")) return 0;
  const total = parts.find(([, name]) => name === "total");
  const milliseconds = total ? Number(total[2]) : parts.reduce((sum, [, , duration]) => sum + Number(duration), 0);
  return milliseconds / 1000;
}

/** Sides of an X-Size header such as `768x512`. @param {string | null} header @returns {[number, number] | null} */
export function sizeOf(header) {
  const sides = /^(\d+)\D+(\d+)$/.exec((header ?? "").trim());
  return sides ? [Number(sides[1]), Number(sides[2])] : null;
}

/** The codes of an X-Notice header. @param {string | null} header @returns {string[]} */
export function noticesOf(header) {
  return (header ?? "").split(",").map((code) => code.trim()).filter(Boolean);
}

/** Seconds of a Retry-After header (a number or a date), or null. @param {string | null} header */
export function retrySeconds(header, now = Date.now()) {
  if (!header) return null;
  const seconds = /^\d+$/.test(header.trim()) ? Number(header) : (Date.parse(header) - now) / 1000;
  return Number.isFinite(seconds) ? Math.max(0, Math.ceil(seconds)) : null;
}
