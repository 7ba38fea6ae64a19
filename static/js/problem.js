/** Something that did not work, said so that a person can act on it. */
export class Problem extends Error {
  /**
   * @param {string} code stable: the server's, or one of ours (offline, network, timeout, unreadable)
   * @param {string} sentence what the person reads
   * @param {{retryAfter?: number | null, final?: boolean}} [more] retryAfter: seconds after which the same request is
   *   worth sending again; final: the same request can never succeed
   */
  constructor(code, sentence, { retryAfter = null, final = false } = {}) {
    super(sentence);
    this.code = code;
    this.retryAfter = retryAfter;
    this.final = final;
  }
}
