/**
 * The page's sentences in its language.
 * @typedef {(key: string, fields?: Record<string, string | number>) => string} Text
 */

/** @param {Record<string, string>} sentences @returns {Text} An unknown key throws: a sentence is missing. */
export function makeText(sentences) {
  return (key, fields = {}) => {
    if (!(key in sentences)) throw new Error(`No sentence named ${key}`);
    return sentences[key].replace(/\{(\w+)\}/g, (_, name) => String(fields[name]));
  };
}
