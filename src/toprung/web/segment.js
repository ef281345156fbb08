/**
 * A part of a ladder: consecutive standings, wherever they begin. It grows at both ends as the
 * viewer scrolls and lets go at the far end, so that it never holds more than ROWS_MAX rows.
 * No player is in it twice.
 */

/** @typedef {import("./api.js").Standing} Standing */
/** @typedef {import("./api.js").Page} Page */
/** @typedef {{limit: number, cursor?: string, from?: number}} Part */

export const PAGE_ROWS = 50;
export const ROWS_MAX = 300;

export class Segment {
  /** How many rows are asked for at once. */
  pageRows = PAGE_ROWS;
  /** @type {Standing[]} */
  rows = [];
  total = 0;
  /** The place of the first row, counted from 1 without ties. */
  first = 1;
  /** @type {string | null} the cursor behind the last row; null when only its place is known */
  #next = null;

  /** The part to ask for to see all of this anew. @returns {Part} */
  get whole() {
    return { from: this.first, limit: Math.max(this.pageRows, this.rows.length) };
  }

  /** The part behind the last row; null at the end. @returns {Part | null} */
  get after() {
    const behind = this.first + this.rows.length;
    if (behind > this.total) return null;
    return this.#next === null ? { from: behind, limit: PAGE_ROWS } : { cursor: this.#next, limit: PAGE_ROWS };
  }

  /** The part before the first row; null at the beginning. @returns {Part | null} */
  get before() {
    const from = Math.max(1, this.first - PAGE_ROWS);
    return this.first === 1 ? null : { from, limit: this.first - from };
  }

  /** Whether the rows are exactly those that a live top brings. */
  get isHead() {
    return this.first === 1 && this.rows.length <= this.pageRows;
  }

  /**
   * Hold these rows instead.
   * @param {{standings: Standing[], total: number, next?: string | null}} page
   * @param {number} [first]
   */
  replace({ standings, total, next }, first = 1) {
    this.rows = standings;
    this.first = first;
    this.total = total;
    this.#next = next ?? null;
  }

  /** @param {Page} page what `after` asked for */
  append({ standings, total, next }) {
    this.rows.push(...this.#unknown(standings));
    this.total = total;
    this.#next = next;
    const surplus = Math.max(0, this.rows.length - ROWS_MAX);
    this.rows.splice(0, surplus);
    this.first += surplus;
  }

  /** @param {Page} page what `before` asked for */
  prepend({ standings, total }) {
    this.rows.unshift(...this.#unknown(standings));
    this.first = Math.max(1, this.first - standings.length);
    this.total = total;
    if (this.rows.length > ROWS_MAX) {
      this.rows.length = ROWS_MAX;
      this.#next = null;
    }
  }

  /** @param {Standing[]} standings */
  #unknown(standings) {
    const known = new Set(this.rows.map((row) => row.player));
    return standings.filter((row) => !known.has(row.player));
  }
}
