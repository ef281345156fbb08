/** The big screen: as many rows as fit its height, and one page of them after the other. */

/** As the style says, in units of the type's size. */
const ROW_REM = 4;
/** The head of the table, and the margin below it. */
const REST_REM = 6;
const ROWS_MIN = 3;
const ROWS_MAX = 50;
const TURN_MS = 10_000;
/** Places that are shown in turn; who is further down looks at the board itself. */
const PLACES_MAX = 100;

/** How many rows fit below an element's upper edge. @param {Element} element */
export function rowsThatFit(element) {
  const rem = parseFloat(getComputedStyle(document.documentElement).fontSize);
  const height = innerHeight - (element.getBoundingClientRect().top + scrollY) - REST_REM * rem;
  return Math.min(ROWS_MAX, Math.max(ROWS_MIN, Math.floor(height / (ROW_REM * rem))));
}

/**
 * Where the page after this one begins; the first one, after the last.
 * @param {{first: number, rows: number, total: number}} page
 */
export function nextPage({ first, rows, total }) {
  const next = first + rows;
  return next > Math.min(total, PLACES_MAX) ? 1 : next;
}

/** Calls again and again, until it is stopped. */
export class Rotation {
  /** @type {number | undefined} */
  #timer;
  #turn;

  /** @param {() => void} turn shows the next page */
  constructor(turn) {
    this.#turn = turn;
  }

  start() {
    this.stop();
    this.#timer = setInterval(this.#turn, TURN_MS);
  }

  stop() {
    clearInterval(this.#timer);
  }
}
